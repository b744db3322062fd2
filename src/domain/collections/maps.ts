/** Maps that stay fast at a million keys, and where their oldest keys are taken out again and again. */

import { hashOf } from './hash-tables.ts';

/**
 * A Map that outgrows its table copies it whole: measured, 56 ms at 262,000 keys and 180 ms at a million. Parts grow
 * one by one, each in well under a millisecond at that size.
 */
export const PARTS = 256;

/** The slots of a new part. */
const SLOTS_MIN = 8;

/**
 * Slots that a search looks at. Keys chosen to have one hash lie beyond them in a Map, which cannot be slowed down in
 * this way.
 */
const PROBES_MAX = 32;

const NO_SLOTS = new Int32Array(2);

interface Part<Value> {
  /** Pairs of a hash and the position of its entry plus one, by open addressing; 0 where a slot is empty. */
  slots: Int32Array;
  /** Keys and values in turn, in the order of insertion; both undefined where an entry was deleted. */
  readonly entries: (string | Value | undefined)[];
  /** Positions of the keys that are in no slot; null where there are none. */
  beyond: Map<string, number> | null;
  size: number;
}

/**
 * A map in many parts. Its order is that of the parts, and in each that of insertion: the same for a copy filled in
 * this order. It must not change while somebody goes over it.
 *
 * A part is the compact dictionary of R. Hettinger ("More compact dictionaries with faster lookup", 2012): the entries
 * in order, and a table of their hashes and positions. Measured against parts that are Maps: a turn that places a hold
 * takes 0.6 of the time.
 */
export class ShardedMap<Value> {
  readonly #parts: (Part<Value> | undefined)[] = new Array<undefined>(PARTS).fill(undefined);
  #size = 0;
  /** The key that was looked up or put in last: a turn often looks it up again, or puts it in where it was absent. */
  #lastKey = '';
  #lastHash = hashOf('', 0);
  #lastValue: Value | undefined = undefined;

  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    if (key === this.#lastKey) return this.#lastValue;
    const part = this.#parts[partOf(key)];
    const hash = hashOf(key, 0);
    const at = part === undefined ? -1 : find(part, key, hash);
    this.#lastKey = key;
    this.#lastHash = hash;
    this.#lastValue = at < 0 ? undefined : (part!.entries[at + 1] as Value);
    return this.#lastValue;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  set(key: string, value: Value & {}): void {
    const isLast = key === this.#lastKey;
    const hash = isLast ? this.#lastHash : hashOf(key, 0);
    const isNew = isLast && this.#lastValue === undefined;
    this.#lastKey = key;
    this.#lastHash = hash;
    this.#lastValue = value;
    const part = (this.#parts[partOf(key)] ??= newPart());
    const at = isNew ? -1 : find(part, key, hash);
    if (at >= 0) {
      part.entries[at + 1] = value;
      return;
    }
    if (part.entries.length * 3 >= part.slots.length * 2) layOutAnew(part);
    part.entries.push(key, value);
    enter(part, hash, part.entries.length - 2);
    part.size += 1;
    this.#size += 1;
  }

  delete(key: string): boolean {
    const part = this.#parts[partOf(key)];
    const at = part === undefined ? -1 : find(part, key, hashOf(key, 0));
    if (at < 0) return false;
    if (key === this.#lastKey) this.#lastValue = undefined;
    part!.entries[at] = undefined;
    part!.entries[at + 1] = undefined;
    part!.beyond?.delete(key);
    part!.size -= 1;
    this.#size -= 1;
    return true;
  }

  /**
   * Reads in advance most of the memory that look-ups of these keys will read, and with `read` that of their values.
   * Each step is done for all keys before the next step, so that the processor waits for many addresses at once.
   * Answers the sum of the values read, because a compiler leaves out unused reads.
   */
  readAhead(keys: readonly string[], read: (value: Value) => number): number {
    const parts = keys.map((key) => this.#parts[partOf(key)]);
    const slots = keys.map((key, n) => firstSlot(parts[n]?.slots ?? NO_SLOTS, hashOf(key, 0)));
    const positions = parts.map((part, n) => part?.slots[slots[n]! + 1] ?? 0);
    let sum = 0;
    for (const [n, position] of positions.entries()) {
      const key = position === 0 ? undefined : (parts[n]!.entries[position - 1] as string | undefined);
      if (key !== undefined) sum += key.length + read(parts[n]!.entries[position] as Value);
    }
    return sum;
  }

  *keys(): Generator<string> {
    for (const part of this.#parts) yield* definedFrom<string>(part, 0);
  }

  *values(): Generator<Value> {
    for (let part = 0; part < PARTS; part += 1) yield* this.valuesOf(part);
  }

  /** The values of one part, so that a map may be gone over part by part, and change in between. */
  valuesOf(part: number): Generator<Value> {
    return definedFrom<Value>(this.#parts[part], 1);
  }
}

/** The keys (from 0) or the values (from 1) of a part. */
function* definedFrom<Each>(part: Part<unknown> | undefined, first: 0 | 1): Generator<Each> {
  if (part === undefined) return;
  for (let at = first; at < part.entries.length; at += 2) {
    if (part.entries[at] !== undefined) yield part.entries[at] as Each;
  }
}

/** Ids end in random characters, so their ends spread them; keys that a client chose to collide only share one part. */
function partOf(key: string): number {
  const end = key.length - 1;
  return (key.charCodeAt(end) * 31 + key.charCodeAt(end - 1) * 7 + key.charCodeAt(end - 2)) & (PARTS - 1);
}

function newPart<Value>(): Part<Value> {
  return { slots: new Int32Array(2 * SLOTS_MIN), entries: [], beyond: null, size: 0 };
}

/**
 * Where the search for a hash begins. Slots are in the order of hashes, so that a table of any length is laid out in
 * one pass.
 */
function firstSlot(slots: Int32Array, hash: number): number {
  return 2 * Math.floor(((hash >>> 0) / 2 ** 32) * (slots.length >> 1));
}

/** The position of a key's entry, or -1. */
function find({ slots, entries, beyond }: Part<unknown>, key: string, hash: number): number {
  let slot = firstSlot(slots, hash);
  for (let probe = 0; probe < PROBES_MAX; probe += 1) {
    const position = slots[slot + 1]! - 1;
    if (position < 0) return -1;
    if (slots[slot] === hash && entries[position] === key) return position;
    slot = slot + 2 === slots.length ? 0 : slot + 2;
  }
  return beyond?.get(key) ?? -1;
}

/** Writes the position of an entry into the table; its key must not be there yet. */
function enter(part: Part<unknown>, hash: number, position: number): void {
  const { slots } = part;
  let slot = firstSlot(slots, hash);
  for (let probe = 0; probe < PROBES_MAX; probe += 1) {
    if (slots[slot + 1] === 0) {
      slots[slot] = hash;
      slots[slot + 1] = position + 1;
      return;
    }
    slot = slot + 2 === slots.length ? 0 : slot + 2;
  }
  part.beyond ??= new Map();
  part.beyond.set(part.entries[position] as string, position);
}

/** Moves the entries together, and gives the part three slots for each: two of three may be used. */
function layOutAnew(part: Part<unknown>): void {
  const { slots, entries, beyond } = part;
  const moved = closeGaps(entries);
  part.slots = new Int32Array(2 * Math.max(SLOTS_MIN, 3 * part.size));
  part.beyond = null;
  for (let slot = 0; slot < slots.length; slot += 2) {
    const position = slots[slot + 1]! === 0 ? -1 : moved[(slots[slot + 1]! - 1) >> 1]!;
    if (position >= 0) enter(part, slots[slot]!, position);
  }
  for (const [key, position] of beyond ?? []) enter(part, hashOf(key, 0), moved[position >> 1]!);
}

/** Returns by half their old positions where the entries are now; -1 for those that were deleted. */
function closeGaps(entries: Part<unknown>['entries']): Int32Array {
  const moved = new Int32Array(entries.length >> 1).fill(-1);
  let end = 0;
  for (let position = 0; position < entries.length; position += 2) {
    if (entries[position] === undefined) continue;
    entries[end] = entries[position];
    entries[end + 1] = entries[position + 1];
    moved[position >> 1] = end;
    end += 2;
  }
  entries.length = end;
  return moved;
}

type Keyed = ReadonlySet<string> | ReadonlyMap<string, unknown>;

interface Cursor {
  readonly entries: Iterator<[string, unknown]>;
  readonly oldest: [string, unknown];
}

const cursors = new WeakMap<Keyed, Cursor>();

/**
 * The key that was put in first of those that are there, in constant time; undefined when there is none. A fresh
 * iterator steps over every key deleted before it (measured with 10,000 finished holds: a quarter of all time that
 * turns took); one that is kept continues where it stood.
 */
export function oldestOf(keyed: Keyed): string | undefined {
  const known = cursors.get(keyed);
  if (known !== undefined && isThere(keyed, known.oldest)) return known.oldest[0];
  return advance(keyed, known?.entries) ?? advance(keyed, undefined);
}

/** Moves to the next entry. An iterator that came to its end never continues, so that a new one begins. */
function advance(keyed: Keyed, entries: Iterator<[string, unknown]> = keyed.entries()): string | undefined {
  const next = entries.next();
  if (next.done === true) return undefined;
  cursors.set(keyed, { entries, oldest: next.value });
  return next.value[0];
}

/** Whether an entry is still the one that the cursor met: a key that was put in anew stands at the end. */
function isThere(keyed: Keyed, [key, value]: [string, unknown]): boolean {
  return keyed instanceof Map ? keyed.get(key) === value : keyed.has(key);
}

/** Adds to a tally, of which nothing is kept at 0. */
export function addTo(tally: Map<string, number>, key: string, sign: 1 | -1): void {
  const count = (tally.get(key) ?? 0) + sign;
  if (count > 0) tally.set(key, count);
  else tally.delete(key);
}
