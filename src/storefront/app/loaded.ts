/** Something that is asked of the service when a page is shown. */
import { useEffect, useState } from 'preact/hooks';

export interface Loaded<Value> {
  readonly value: Value | null;
  readonly error: unknown;
  /** Asks again; what is shown stays until the answer comes. */
  readonly reload: () => void;
}

/** Asks whenever `key` changes and when asked to; the answer before stays in sight meanwhile if the key is the same. */
export function useLoaded<Value>(key: string | null, load: (signal: AbortSignal) => Promise<Value>): Loaded<Value> {
  const [state, setState] = useState<{ key: string | null; value: Value | null; error: unknown }>({
    key,
    value: null,
    error: null,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ key, value, error: null }),
      (error: unknown) =>
        !abort.signal.aborted && setState((old) => ({ key, value: old.key === key ? old.value : null, error })),
    );
    return () => abort.abort();
  }, [key, round]);
  const isCurrent = state.key === key;
  return {
    value: isCurrent ? state.value : null,
    error: isCurrent ? state.error : null,
    reload: () => setRound((n) => n + 1),
  };
}
