/**
 * Values that come and go, each under a number, which the next value gets once it is gone.
 *
 * A `Map` or `Set` whose entries come and go takes a new table every few entries. The table that it leaves leads to the
 * next one, so that a table which has become old makes everything old that later ones hold.
 */
export class Slots<Value extends object> {
  readonly #values: (Value | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#values.length - this.#free.length;
  }

  /** Returns the number of the value. */
  add(value: Value): number {
    const number = this.#free.pop() ?? this.#values.length;
    this.#values[number] = value;
    return number;
  }

  /** Takes out the value of a number; undefined where it has none. */
  take(number: number): Value | undefined {
    const value = this.#values[number];
    if (value === undefined) return undefined;
    this.#values[number] = undefined;
    this.#free.push(number);
    return value;
  }

  *values(): Generator<Value> {
    for (const value of this.#values) if (value !== undefined) yield value;
  }
}
