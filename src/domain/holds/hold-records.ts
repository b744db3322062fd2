/**
 * The holds of an event: those that live or whose order is open as objects, those of settled orders packed, in some 200 bytes.
 *
 * What a reader gets of a packed hold is a copy; who changes one takes it with `open`. A hold of a settled order has its order's
 * number for its own. Holds that ended without an order are among the objects for a while, and then in `ended-records.ts`.
 */
import { IdIndex } from '../collections/hash-tables.ts';
import { pack, unpack } from '../collections/packing.ts';
import { ShardedMap } from '../collections/maps.ts';
import type { Hold } from './hold.ts';

/** Numbers in one array: one that outgrows its memory is copied whole. */
const CHUNK_RECORDS = 4_096;

export class HoldRecords {
  readonly #objects = new ShardedMap<Hold>();
  readonly #packed: (string | undefined)[][] = [];
  readonly #index = new IdIndex();
  #packedCount = 0;

  get size(): number {
    return this.#objects.size + this.#packedCount;
  }

  has(id: string): boolean {
    return this.get(id) !== undefined;
  }

  get(id: string): Hold | undefined {
    return this.#objects.get(id) ?? this.#find(id)?.hold;
  }

  set(id: string, hold: Hold): void {
    this.#objects.set(id, hold);
  }

  delete(id: string): void {
    this.#objects.delete(id);
  }

  *keys(): Generator<string> {
    for (const { id } of this.values()) yield id;
  }

  *values(): Generator<Hold> {
    yield* this.#objects.values();
    yield* this.settled();
  }

  /** Those kept as objects: every live hold is one of them. */
  objects(): Iterable<Hold> {
    return this.#objects.values();
  }

  /** Those of settled orders, in the order of their orders. */
  *settled(): Generator<Hold> {
    for (const chunk of this.#packed) {
      for (const text of chunk ?? []) if (text !== undefined) yield unpack(text) as Hold;
    }
  }

  /** A hold to be changed. */
  open(id: string): Hold | undefined {
    const object = this.#objects.get(id);
    if (object !== undefined) return object;
    const found = this.#find(id);
    if (found === undefined) return undefined;
    const { hold, number } = found;
    this.#packed[Math.floor(number / CHUNK_RECORDS)]![number % CHUNK_RECORDS] = undefined;
    this.#packedCount -= 1;
    this.#objects.set(id, hold);
    return hold;
  }

  /** Packs the hold of an order that is settled, under the order's number. */
  settle(hold: Hold, number: number): void {
    this.#objects.delete(hold.id);
    const index = Math.floor(number / CHUNK_RECORDS);
    while (this.#packed.length <= index) this.#packed.push([]);
    const chunk = this.#packed[index]!;
    const place = number % CHUNK_RECORDS;
    while (chunk.length <= place) chunk.push(undefined);
    if (chunk[place] === undefined) this.#packedCount += 1;
    chunk[place] = pack(hold);
    this.#index.add(hold.id, number);
  }

  #find(id: string): { readonly hold: Hold; readonly number: number } | undefined {
    for (const number of this.#index.candidates(id)) {
      const text = this.#packed[Math.floor(number / CHUNK_RECORDS)]?.[number % CHUNK_RECORDS];
      if (text === undefined) continue;
      const hold = unpack(text) as Hold;
      if (hold.id === id) return { hold, number };
    }
    return undefined;
  }
}
