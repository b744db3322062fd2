/**
 * Elapsed milliseconds, for bounded slices of work and for pauses. It is not a time of day and never part of a fact.
 */
export function stopwatchMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
