/** Money: whole cents in safe integers; every amount of the domain is made here. */

/**
 * The most that an order may come to, or a payment may bring: a hundred billion units, far inside the safe integers.
 */
export const AMOUNT_CENTS_MAX = 10_000_000_000_000;

/** Percents are exact to this many parts, so that 33.333333 in a catalogue is taken as written. */
const PERCENT_PARTS = 1_000_000;

/** Whether the figure can be money: whole, not negative and not above AMOUNT_CENTS_MAX. */
export function isAmount(cents: number): boolean {
  return Number.isSafeInteger(cents) && cents >= 0 && cents <= AMOUNT_CENTS_MAX;
}

/** A share of an amount, rounded half up to whole cents. */
export function percentOf(amountCents: number, percent: number): number {
  const whole = BigInt(100 * PERCENT_PARTS);
  const scaled = BigInt(amountCents) * BigInt(Math.round(percent * PERCENT_PARTS));
  return Number((2n * scaled + whole) / (2n * whole));
}

/** The share of so many of a number of equal parts, rounded half up to whole cents. */
export function shareOf(amountCents: number, parts: number, of: number): number {
  const doubled = 2 * amountCents * parts + of;
  // Faster, and nearly always possible: a large order has thousands of shares to calculate.
  if (Number.isSafeInteger(doubled)) return (doubled - (doubled % (2 * of))) / (2 * of);
  return Number((2n * BigInt(amountCents) * BigInt(parts) + BigInt(of)) / (2n * BigInt(of)));
}

/** Parts that differ by at most a cent, the larger ones first. */
export function splitEvenly(amountCents: number, parts: number): readonly number[] {
  const least = Math.floor(amountCents / parts);
  const larger = amountCents % parts;
  return Array.from({ length: parts }, (_, index) => (index < larger ? least + 1 : least));
}

/** The sum of a figure over items. */
export function sumOf<Item>(items: Iterable<Item>, figure: (item: Item) => number): number {
  let sum = 0;
  for (const item of items) sum += figure(item);
  return sum;
}

/** Adds to the tally under a key; a tally of zero is forgotten, so that equal tallies are equal maps. */
export function addToTally(tally: Map<string, number>, key: string, change: number): void {
  const sum = (tally.get(key) ?? 0) + change;
  if (sum === 0) tally.delete(key);
  else tally.set(key, sum);
}
