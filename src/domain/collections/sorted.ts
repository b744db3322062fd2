/** Lists that are kept in an order. */

/** How many items come first for which it holds, and for none behind them: all of them at once, else by halving. */
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
