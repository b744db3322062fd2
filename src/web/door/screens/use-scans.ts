/**
 * The scans of a screen, one after another: what is shown of them, codes that are read again at once, and codes of
 * scanners that type.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import { signal } from '../app/signals.ts';
import type { ScanStation, ShownScan } from '../app/station.ts';
import { toneOf } from './verdict-screen.tsx';

/** The same code within this time is not sent again. */
const REPEATED_MS = 5_000;
const ADMIT_SHOWN_MS = 1_500;
/** What was typed before a longer pause belongs to no code. */
const PAUSE_MS_MAX = 1_000;

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
  // A code may be half typed when the page is drawn again.
  const latest = useRef(read);
  latest.current = read;
  useEffect(() => followTypedCodes((code) => latest.current(code, 'typed')), []);
  return { shown, last, isChecking, notice, take, read, dismiss: () => setShown(null) };
}

/**
 * Codes of scanners that type: characters in quick succession, then Enter, wherever the focus is. What is typed into a
 * field belongs to the field. The returned function ends it.
 */
function followTypedCodes(onCode: (code: string) => void): () => void {
  let typed = '';
  let last = 0;
  const follow = (event: KeyboardEvent): void => {
    const { key, timeStamp, target, ctrlKey, altKey, metaKey } = event;
    if (target instanceof HTMLElement && target.closest('input, select, textarea') !== null) return;
    if (timeStamp - last > PAUSE_MS_MAX) typed = '';
    last = timeStamp;
    if (key === 'Enter' && typed !== '') {
      event.preventDefault();
      event.stopImmediatePropagation();
      const code = typed;
      typed = '';
      onCode(code);
    } else if (key.length === 1 && !ctrlKey && !altKey && !metaKey) {
      // The space that belongs to a code presses no button.
      if (typed !== '') event.preventDefault();
      if (typed !== '' || key !== ' ') typed += key;
    }
  };
  addEventListener('keydown', follow, { capture: true });
  return () => removeEventListener('keydown', follow, { capture: true });
}
