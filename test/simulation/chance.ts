/** Random numbers from a seed: everything random in a simulation comes from one. */
export interface Chance {
  /** At least 0 and less than 1. */
  next(): number;
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number;
  /** True in so many of a hundred cases. */
  percent(share: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Picks a name by its weight; at least one weight is positive. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name;
}

/** The generator mulberry32 by Tommy Ettinger (public domain), after a mixing of the seed. */
export function chanceOf(seed: number): Chance {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    next,
    between: (least, most) => least + Math.floor(next() * (most - least + 1)),
    percent: (share) => next() * 100 < share,
    pick: (items) => items[Math.floor(next() * items.length)]!,
    weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
      const entries = Object.entries(weights) as [Name, number][];
      let left = next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
      for (const [name, weight] of entries) {
        left -= weight;
        if (left < 0) return name;
      }
      return entries.findLast(([, weight]) => weight > 0)![0];
    },
  };
}
