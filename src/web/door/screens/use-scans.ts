/** The scans of a screen, one after another: what is shown of them, and codes that are read again at once. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { signal } from '../app/signals.ts';
import type { ScanStation, ShownScan } from '../app/station.ts';
import { toneOf } from './verdict-screen.tsx';

/** The same code within this time is not sent again. */
const REPEATED_MS = 5_000;
const ADMIT_SHOWN_MS = 1_500;

/** A scan with the time at which it was shown, by the service's clock. */
export interface LastShown extends ShownScan {
  readonly at: number;
}

type Notice = 'repeated' | 'notStored';

export function useScans(station: ScanStation, kind: 'ENTRY' | 'EXIT') {
  const [shown, setShown] = useState<ShownScan | null>(null);
  const [last, setLast] = useState<LastShown | null>(null);
  const [isChecking, setChecking] = useState(false);
  const [notice, setNotice] = useState<Notice | null>(null);
  const isBusy = useRef(false);
  const readAt = useRef(new Map<string, number>());
  const isHeld = shown !== null && toneOf(shown.verdict) !== 'good';

  useEffect(() => {
    const { dataset } = document.documentElement;
    if (shown === null) delete dataset['verdict'];
    else dataset['verdict'] = shown.verdict;
    if (shown === null || isHeld) return;
    const timer = setTimeout(() => setShown(null), ADMIT_SHOWN_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  useEffect(() => () => void delete document.documentElement.dataset['verdict'], []);

  const take = async (scan: () => Promise<ShownScan | null>): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    setChecking(true);
    setNotice(null);
    try {
      const result = await scan();
      if (result !== null) {
        setShown(result);
        setLast({ ...result, at: station.now() });
        signal(toneOf(result.verdict));
      }
    } catch {
      setNotice('notStored');
      signal('bad');
    } finally {
      isBusy.current = false;
      setChecking(false);
    }
  };

  /** A code that stays before the camera is read all the time, and is another scan only after it was away. */
  const read = (text: string, from: 'camera' | 'typed'): void => {
    const code = text.trim();
    if (isBusy.current || isHeld || code === '') return;
    const now = performance.now();
    const key = `${kind} ${code}`;
    const isRepeated = now - (readAt.current.get(key) ?? -Infinity) < REPEATED_MS;
    if (!isRepeated || from === 'camera') readAt.current.set(key, now);
    for (const [each, at] of readAt.current) if (now - at >= REPEATED_MS) readAt.current.delete(each);
    if (isRepeated) {
      if (from === 'typed') setNotice('repeated');
      return;
    }
    void take(() => station.scan(code, kind));
  };
  return { shown, last, isChecking, notice, take, read, dismiss: () => setShown(null) };
}
