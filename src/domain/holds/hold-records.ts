/**
 * The holds of an event by id: holds of settled orders packed, in some 200 bytes each, all others as objects.
 *
 * 1. What is read of a packed hold is a copy. To change one, take it with `open`.
 * 2. A packed hold is kept under the number of its order.
 * 3. A hold that ended without an order is an object until `ended-holds.ts` says that only its end is kept.
 */
import { IdIndex } from '../collections/hash-tables.ts';
import { pack, unpack } from '../collections/packing.ts';
import { ShardedMap } from '../collections/maps.ts';
import type { HoldStatus } from '#machines/hold.ts';
import type { HoldLine } from '../fact.ts';

/** The tickets that one session keeps for a while. */
export interface Hold {
  readonly id: string;
  readonly sessionKey: string;
  status: HoldStatus;
  lines: readonly HoldLine[];
  expiresAt: number;
  /** When the session's chain of replaced holds began. */
  readonly firstPlacedAt: number;
  /** The order that took it over. */
  orderId: string | null;
  /** The idempotency key whose answer the hold is as long as nothing changes it. */
  answerKey?: string | undefined;
}

/** Order numbers in one array: an array that outgrows its memory is copied whole. */
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

  /** The holds kept as objects; every live hold is one of them. */
  objects(): Iterable<Hold> {
    return this.#objects.values();
  }

  /** The holds of settled orders, by order number. */
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

  /** Packs the hold of an order that is settled, under the order's number; one that was not opened since is packed. */
  settle(id: string, number: number): void {
    const hold = this.#objects.get(id);
    if (hold === undefined) return;
    this.#objects.delete(id);
    this.restoreSettled(hold, number);
  }

  /** Puts the hold of a settled order in packed. */
  restoreSettled(hold: Hold, number: number): void {
    const index = Math.floor(number / CHUNK_RECORDS);
    while (this.#packed.length <= index) this.#packed.push([]);
    const chunk = this.#packed[index]!;
    const offset = number % CHUNK_RECORDS;
    while (chunk.length <= offset) chunk.push(undefined);
    if (chunk[offset] === undefined) this.#packedCount += 1;
    chunk[offset] = pack(hold);
    this.#index.add(hold.id, number);
  }

  #find(id: string): { readonly hold: Hold; readonly number: number } | undefined {
    let hold: Hold | undefined;
    const number = this.#index.find(id, (each) => {
      const text = this.#packed[Math.floor(each / CHUNK_RECORDS)]?.[each % CHUNK_RECORDS];
      hold = text === undefined ? undefined : (unpack(text) as Hold);
      return hold?.id === id;
    });
    return number === null ? undefined : { hold: hold!, number };
  }
}
