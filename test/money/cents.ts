/** Cents as the contract rounds and shares them; the service's own arithmetic is not used here. */

/** `numerator` / `denominator`, half up; both whole and not negative. */
export function halfUp(numerator: number, denominator: number): number {
  return Math.floor((2 * numerator + denominator) / (2 * denominator));
}

/** So many per cent of an amount, half up; a percentage has at most one decimal. */
export function percent(cents: number, percentage: number): number {
  return halfUp(cents * Math.round(percentage * 10), 1000);
}

/** Parts that differ by at most a cent, the larger ones first. */
export function split(cents: number, parts: number): number[] {
  const all: number[] = [];
  for (let left = cents, n = parts; n > 0; n -= 1) {
    const part = Math.ceil(left / n);
    all.push(part);
    left -= part;
  }
  return all;
}

export function sum(amounts: Iterable<number>): number {
  let all = 0;
  for (const amount of amounts) all += amount;
  return all;
}
