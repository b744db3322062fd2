/** Lists that are kept in an order. */

/**
 * The number of leading items for which it holds; it must hold for none behind them. Tries all of them first, else a
 * binary search.
 */
export function countLeading<Item>(items: readonly Item[], holds: (item: Item) => boolean): number {
  let [low, high] = [0, items.length];
  if (high > 0 && holds(items[high - 1]!)) return high;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(items[middle]!)) low = middle + 1;
    else high = middle;
  }
  return low;
}
