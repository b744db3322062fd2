/**
 * The service's time as far as this page knows it: a buyer's own clock may be minutes off, and windows end by the
 * service's.
 */
import { useEffect, useState } from 'preact/hooks';

const TOLERANCE_MS = 250;

let offsetMs: number | null = null;
const followers = new Set<() => void>();

/**
 * Takes note of the service's time in a message. What was long under way says less than the truth, so the latest
 * reading ever had counts: the service's clock never runs back.
 */
export function noteServiceTime(ms: number): void {
  const offset = ms - Date.now();
  if (offsetMs !== null && offset < offsetMs + TOLERANCE_MS) return;
  offsetMs = offset;
  for (const follow of followers) follow();
}

export function serviceNow(): number {
  return Date.now() + (offsetMs ?? 0);
}

/** The service's time, anew each second and whenever it turns out to be another. */
export function useServiceNow(): number {
  const [now, setNow] = useState(serviceNow);
  useEffect(() => {
    const follow = (): void => setNow(serviceNow());
    const timer = setInterval(follow, 1_000);
    followers.add(follow);
    follow();
    return () => {
      clearInterval(timer);
      followers.delete(follow);
    };
  }, []);
  return now;
}
