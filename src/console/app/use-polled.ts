/** Asks again and again while the page is looked at; what was answered last stays until there is something newer. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { troubleText } from './api.ts';

export interface Polled<Value> {
  readonly value: Value | null;
  readonly trouble: string | null;
  /** Asks now. */
  readonly again: () => void;
}

/** `ask` is given what it answered before. A new `key` starts over. Without `everyMs` it is asked once, and by `again`. */
export function usePolled<Value>(
  key: string,
  ask: (before: Value | null) => Promise<Value>,
  everyMs: number | null,
): Polled<Value> {
  const [state, setState] = useState<{ key: string; value: Value | null; trouble: string | null }>({
    key,
    value: null,
    trouble: null,
  });
  const latest = useRef({ value: null as Value | null, ask });
  latest.current.ask = ask;
  const [round, setRound] = useState(0);

  useEffect(() => {
    latest.current.value = null;
  }, [key]);

  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = async (): Promise<void> => {
      try {
        const value = document.hidden ? latest.current.value : await latest.current.ask(latest.current.value);
        if (isOver) return;
        latest.current.value = value;
        setState({ key, value, trouble: null });
      } catch (error) {
        if (isOver) return;
        setState({ key, value: latest.current.value, trouble: troubleText(error) });
      }
      if (everyMs !== null) timer = setTimeout(() => void next(), everyMs);
    };
    void next();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [key, round, everyMs]);

  const isFresh = state.key === key;
  return {
    value: isFresh ? state.value : null,
    trouble: isFresh ? state.trouble : null,
    again: () => setRound((before) => before + 1),
  };
}
