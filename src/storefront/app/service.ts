/**
 * The service that these pages use: its address and that of the pages, which the page's meta tags name, a client, and its time.
 *
 * A buyer's own clock may be minutes off, and a hold ends by the service's clock. So countdowns use the time that the
 * service last sent.
 */
import { useEffect, useState } from 'preact/hooks';
import { createClient, type Client } from '#client/client.ts';

/**
 * The service's address: '' for the page's own origin. The query may name it only where the page allows that, because a
 * link could otherwise show another storefront under the name of this one.
 */
function apiBase(): string {
  const given = metaContent('holdfast-api');
  const base = given === '?api' ? (new URLSearchParams(location.search).get('api') ?? '') : given;
  return base.replace(/\/+$/, '');
}

function metaContent(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
}

function storage(): Storage | null {
  try {
    return globalThis.localStorage;
  } catch {
    return null;
  }
}

export const store = storage();
export const client: Client = createClient({ baseUrl: apiBase(), store });

/** The path with which all addresses of the pages begin; it ends with a slash. */
export const pagesBase = metaContent('holdfast-base') || '/';

/** The address of a page that the service itself renders. */
export function serviceAddress(path: string): string {
  return `${apiBase()}${path}`;
}

// ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

const TOLERANCE_MS = 250;

let offsetMs: number | null = null;
const followers = new Set<() => void>();

/**
 * Records the service's time in a message. A slow message shows an earlier time than the true one, and the service's clock
 * never runs back: so the latest time wins.
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

/** The service's time, updated each second and at each correction. */
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
