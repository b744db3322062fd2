/**
 * Elapsed milliseconds, for bounded slices of work and for pauses. It is not a time of day and never part of a fact.
 */
export function stopwatchMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** Rests once a slice of so many milliseconds is used up; otherwise costs a reading of the stopwatch. */
export function inSlices(
  sliceMs: number,
  rest: () => Promise<unknown>,
  elapsedMs = stopwatchMs,
): () => Promise<void> | undefined {
  let begin = elapsedMs();
  const pause = async (): Promise<void> => {
    await rest();
    begin = elapsedMs();
  };
  return () => (elapsedMs() - begin < sliceMs ? undefined : pause());
}
