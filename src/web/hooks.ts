/**
 * Hooks of the pages of storefront and console: data from the service, the page's address, and the focus.
 *
 *  1. An answer stays visible until a newer one comes, also after a failure; a new `key` starts without one.
 *  2. An answer that comes after its key was replaced, or after the component is gone, is dropped.
 *  3. A hidden page does not repeat a request.
 */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Loaded<Value> {
  readonly value: Value | null;
  /** What the last request threw; null after an answer. */
  readonly error: unknown;
  /** Sends the request again now. */
  readonly reload: () => void;
}

interface LoadState<Value> {
  readonly key: string | null;
  readonly value: Value | null;
  readonly error: unknown;
}

/**
 * Loads a value whenever `key` changes, after `reload`, and every `everyMs` where that is given. `load` gets the value
 * before it. Nothing is loaded while `key` is null. `known` is the value of the first key, where the page came with it.
 */
export function useLoaded<Value>(
  key: string | null,
  load: (signal: AbortSignal, before: Value | null) => Promise<Value>,
  everyMs: number | null = null,
  known: Value | null = null,
): Loaded<Value> {
  const [state, setState] = useState<LoadState<Value>>({ key, value: known, error: null });
  const [round, setRound] = useState(0);
  const latest = useRef({ key, value: known, load });
  const isKnown = useRef(known !== null);
  if (latest.current.key !== key) latest.current = { key, value: null, load };
  latest.current.load = load;

  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (error: unknown): void => setState({ key, value: latest.current.value, error });
    const loadOnce = async (): Promise<void> => {
      try {
        const value = await latest.current.load(abort.signal, latest.current.value);
        if (abort.signal.aborted) return;
        latest.current.value = value;
        show(null);
      } catch (error) {
        if (abort.signal.aborted) return;
        show(error);
      }
    };
    const repeat = async (isFirst: boolean): Promise<void> => {
      if (isKnown.current) isKnown.current = false;
      else if (isFirst || !document.hidden) await loadOnce();
      if (everyMs !== null && !abort.signal.aborted) timer = setTimeout(() => void repeat(false), everyMs);
    };
    // A request that failed without a network is repeated by itself when the network is back.
    const again = (): void => void loadOnce();
    void repeat(true);
    addEventListener('online', again);
    return () => {
      abort.abort();
      clearTimeout(timer);
      removeEventListener('online', again);
    };
  }, [key, round, everyMs]);

  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : null,
    error: isCurrent ? state.error : null,
    reload: () => setRound((n) => n + 1),
  };
}

/** The value; while a new one is awaited, the previous one. */
export function useKept<Value>(value: Value | null): Value | null {
  const kept = useRef(value);
  return (kept.current = value ?? kept.current);
}

/** The part of the page's address that `read` takes, read again at each `event` of a changed address. */
export function useAddress(event: 'popstate' | 'hashchange', read: () => string): string {
  const [address, setAddress] = useState(read);
  // Not an effect after the next frame: somebody may press a link before that.
  useLayoutEffect(() => {
    const follow = (): void => setAddress(read());
    addEventListener(event, follow);
    return () => removeEventListener(event, follow);
  }, []);
  return address;
}

/**
 * Whether the page was painted since the component came. What takes a slow phone long is made after that, in a task of
 * its own: the rest of the page is seen and answers meanwhile. `prepare` is a task before that.
 */
export function usePainted(prepare: () => void = () => {}): boolean {
  const [isPainted, setPainted] = useState(false);
  useEffect(() => {
    // An effect runs after the frame, but in its task.
    let timer = setTimeout(() => {
      prepare();
      timer = setTimeout(() => setPainted(true));
    });
    return () => clearTimeout(timer);
  }, []);
  return isPainted;
}

/** Whether a media query holds now. */
export function useMedia(query: string): boolean {
  const [holds, setHolds] = useState(() => matchMedia(query).matches);
  useLayoutEffect(() => {
    const media = matchMedia(query);
    const follow = (): void => setHolds(media.matches);
    follow();
    media.addEventListener('change', follow);
    return () => media.removeEventListener('change', follow);
  }, [query]);
  return holds;
}

/**
 * Keeps the focus in a part of the page when the element that had it goes away, such as a button that did its work: the
 * element to watch. Once nothing is `isBusy`, a focus that was lost goes to the part's primary action, else to its
 * heading: never to the document's body, from where a keyboard begins again at the top.
 */
export function useFocusWithin(isBusy: boolean) {
  const section = useRef<HTMLElement>(null);
  const hadFocus = useRef(false);
  useEffect(() => {
    const isInside = (target: EventTarget | null): boolean => section.current?.contains(target as Node | null) ?? false;
    const follow = ({ target }: Event): void => {
      hadFocus.current = isInside(target);
    };
    document.addEventListener('focusin', follow);
    document.addEventListener('pointerdown', follow);
    return () => {
      document.removeEventListener('focusin', follow);
      document.removeEventListener('pointerdown', follow);
    };
  }, []);
  useEffect(() => {
    const isLost = document.activeElement === null || document.activeElement === document.body;
    if (isBusy || !hadFocus.current || !isLost) return;
    const next = section.current?.querySelector<HTMLElement>('.primary:not(:disabled)');
    (next ?? section.current?.querySelector<HTMLElement>('h2'))?.focus({ preventScroll: true });
  });
  return section;
}

/** Calls `close` where Escape is pressed while it is on, and nothing else takes the key: from its first paint on. */
export function useEscape(isOn: boolean, close: () => void): void {
  useLayoutEffect(() => {
    if (!isOn) return;
    const follow = ({ key, defaultPrevented }: KeyboardEvent): void => {
      if (key === 'Escape' && !defaultPrevented) close();
    };
    addEventListener('keydown', follow);
    return () => removeEventListener('keydown', follow);
  }, [isOn]);
}
