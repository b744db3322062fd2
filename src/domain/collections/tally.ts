/** Adds to a tally, of which nothing is kept at 0. */
export function addTo(tally: Map<string, number>, key: string, sign: 1 | -1): void {
  const count = (tally.get(key) ?? 0) + sign;
  if (count > 0) tally.set(key, count);
  else tally.delete(key);
}
