/**
 * Hash tables that keep hashes in place of ids and keys, for a million entries and more.
 *
 * A Map keeps its keys and costs some 95 bytes an id (measured), most of what a finished order may cost. The hashes are
 * no secrets and protect nothing: a caller compares the id that it found, or accepts what the width of the hash says.
 *
 * 1. A slot is a fixed number of words. Its first word is 0 where the slot is empty.
 * 2. Entries stand at the first empty slot at or behind the one that their hash names (open addressing).
 * 3. At most three of four slots of a table are used. Then it is laid out anew with half of its slots used, without
 *    those whose last word is 0. A lower share would take more memory; with a higher one each entry would be moved four
 *    times on average.
 */

/** A well mixed hash of 32 bits; different seeds give independent hashes. */
export function hashOf(text: string, seed: number): number {
  let hash = seed ^ text.length;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Tables grow one by one, each in well under a millisecond at a million entries. */
const TABLES = 64;
const TABLE_BITS = 6;
const HASHES_A_TABLE = 2 ** (32 - TABLE_BITS);
const SLOTS_MIN = 8;

interface Table {
  slots: Int32Array;
  /** Slots that are not empty. */
  used: number;
}

/** The tables of rules 1 to 3: the low bits of a hash say which table, those above them which slot. */
export class HashTables {
  readonly #width: number;
  readonly #hashAt: (slots: Int32Array, at: number) => number;
  readonly #tables: (Table | undefined)[] = new Array<undefined>(TABLES).fill(undefined);

  /** `hashAt` gives the hash of the entry in a slot, for when its table grows. */
  constructor(wordsPerSlot: number, hashAt: (slots: Int32Array, at: number) => number) {
    this.#width = wordsPerSlot;
    this.#hashAt = hashAt;
  }

  /** The slots among which entries of a hash are; undefined when there are none. */
  slotsOf(hash: number): Int32Array | undefined {
    return this.#tables[hash & (TABLES - 1)]?.slots;
  }

  /** The table of a hash with space for one entry more; a caller that fills an empty slot adds 1 to `used`. */
  tableFor(hash: number): Table {
    const index = hash & (TABLES - 1);
    const table = (this.#tables[index] ??= { slots: new Int32Array(SLOTS_MIN * this.#width), used: 0 });
    if (table.used * this.#width * 4 >= table.slots.length * 3) this.#layOutAnew(table);
    return table;
  }

  /** Where the search for a hash begins. */
  firstAt(slots: Int32Array, hash: number): number {
    return Math.floor(((hash >>> TABLE_BITS) * (slots.length / this.#width)) / HASHES_A_TABLE) * this.#width;
  }

  /** The slot behind another; the first one follows on the last. */
  nextAt(slots: Int32Array, at: number): number {
    const next = at + this.#width;
    return next === slots.length ? 0 : next;
  }

  #layOutAnew(table: Table): void {
    const { slots } = table;
    const width = this.#width;
    let kept = 0;
    for (let last = width - 1; last < slots.length; last += width) if (slots[last] !== 0) kept += 1;
    const laidOut = new Int32Array(Math.max(SLOTS_MIN, 2 * kept) * width);
    for (let from = 0; from < slots.length; from += width) {
      if (slots[from + width - 1] === 0) continue;
      let to = this.firstAt(laidOut, this.#hashAt(slots, from));
      while (laidOut[to] !== 0) to = this.nextAt(laidOut, to);
      for (let word = 0; word < width; word += 1) laidOut[to + word] = slots[from + word]!;
    }
    table.slots = laidOut;
    table.used = kept;
  }
}

const ID_SEED = 0x2545f491;

/**
 * From ids to the numbers of records, some 12 to 24 bytes an id. Several ids may lead to one number, and one id to
 * several candidates: the caller compares the id with the record. Nothing is ever taken out.
 */
export class IdIndex {
  /** A slot: the number plus one, and the hash. */
  readonly #tables = new HashTables(2, (slots, at) => slots[at + 1]!);

  /** Notes that an id leads to a number below 2³¹ - 1; once, however often it is noted. */
  add(id: string, number: number): void {
    const hash = idHash(id);
    const table = this.#tables.tableFor(hash);
    const { slots } = table;
    let at = this.#tables.firstAt(slots, hash);
    for (; slots[at] !== 0; at = this.#tables.nextAt(slots, at)) {
      if (slots[at] === number + 1 && slots[at + 1] === hash) return;
    }
    slots[at] = number + 1;
    slots[at + 1] = hash;
    table.used += 1;
  }

  /** The number that the id leads to and that `isIt`, null where there is none. A generator took thrice as long. */
  find(id: string, isIt: (number: number) => boolean): number | null {
    const hash = idHash(id);
    const slots = this.#tables.slotsOf(hash);
    if (slots === undefined) return null;
    for (let at = this.#tables.firstAt(slots, hash); slots[at] !== 0; at = this.#tables.nextAt(slots, at)) {
      if (slots[at + 1] === hash && isIt(slots[at]! - 1)) return slots[at]! - 1;
    }
    return null;
  }

  /** The numbers that ids with the hash lead to. */
  *hashed(hash: number): Generator<number> {
    const slots = this.#tables.slotsOf(hash);
    if (slots === undefined) return;
    for (let at = this.#tables.firstAt(slots, hash); slots[at] !== 0; at = this.#tables.nextAt(slots, at)) {
      if (slots[at + 1] === hash) yield slots[at]! - 1;
    }
  }
}

/** Never 0, by rule 3. The numbers of orders are parts of it: it never changes. */
export function idHash(id: string): number {
  return hashOf(id, ID_SEED) || 1;
}

/** All hashes whose bits but the last `leftOut` are these. */
export function hashesOf(bits: number, leftOut: number): readonly number[] {
  return Array.from({ length: 2 ** leftOut }, (_, end) => (bits << leftOut) | end);
}

const TALLY_SEED_A = 0x1656667b;
const TALLY_SEED_B = 0x27d4eb2f;

/**
 * Counts by a key of which only 64 bits of hash are kept, some 18 to 36 bytes a key where a Map takes 110 (measured);
 * for tallies over all buyers. Two keys share a count only if both halves of their hashes agree; a client that makes up
 * such a pair adds to another buyer's count, as it can by giving that buyer's key.
 */
export class HashedTally {
  /** A slot: both halves of the hash, of which the first is never 0, and the count. */
  readonly #tables = new HashTables(3, (slots, at) => slots[at + 1]!);
  #size = 0;

  /** How many keys have a count other than 0. */
  get size(): number {
    return this.#size;
  }

  get(key: string): number | undefined {
    const a = hashOf(key, TALLY_SEED_A) | 1;
    const b = hashOf(key, TALLY_SEED_B);
    const slots = this.#tables.slotsOf(b);
    if (slots === undefined) return undefined;
    const count = slots[this.#find(slots, a, b) + 2]!;
    return count === 0 ? undefined : count;
  }

  /** Changes a key's count, which is 0 at first. */
  add(key: string, change: number): void {
    if (change === 0) return;
    const a = hashOf(key, TALLY_SEED_A) | 1;
    const b = hashOf(key, TALLY_SEED_B);
    const table = this.#tables.tableFor(b);
    const { slots } = table;
    const at = this.#find(slots, a, b);
    const before = slots[at + 2]!;
    if (slots[at] === 0) table.used += 1;
    slots[at] = a;
    slots[at + 1] = b;
    slots[at + 2] = before + change;
    this.#size += (before + change === 0 ? 0 : 1) - (before === 0 ? 0 : 1);
  }

  /** Where a key stands, or would stand. */
  #find(slots: Int32Array, a: number, b: number): number {
    let at = this.#tables.firstAt(slots, b);
    while (slots[at] !== 0 && (slots[at] !== a || slots[at + 1] !== b)) at = this.#tables.nextAt(slots, at);
    return at;
  }
}
