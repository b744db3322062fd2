/**
 * Records of holds and queue entries that ended lately, in some 28 bytes each: id, session, how each ended and when.
 *
 * Holds and queue entries that are over stay readable for two hours, however many others end meanwhile. At a thousand a
 * second for two hours that is some 200 MB; as objects it would be three gigabytes.
 *
 * 1. An id is kept as 64 bits of hash, its session key as 29: nothing is found for a made-up id. A client that has a
 *    true id but not its key learns that it is over with a chance of one in 500 million.
 * 2. A record leaves between KEPT_MS and KEPT_MS + GENERATION_MS after it was added, by the moments of facts alone
 *    (I9).
 * 3. Records are kept in generations, in the order of adding; a generation is removed whole.
 */
import { hashOf, HashTables } from './hash-tables.ts';

/** How long a record can be read at least. */
export const KEPT_MS = 2 * 60 * 60 * 1000;

const GENERATION_MS = 10 * 60 * 1000;

/** Records in one pair of arrays. */
const CHUNK_RECORDS = 256;

const WORDS_PER_RECORD = 3;
const STATUS_BITS = 3;
const STATUS_MASK = (1 << STATUS_BITS) - 1;

/** What the tables have for a record: two to three slots of four bytes. */
const TABLE_BYTES = 8;

/** A generation of fewer is searched from end to end, without tables. */
const SCANNED_MAX = 256;

const ID_SEED_A = 0x1b873593;
const ID_SEED_B = 0x38b34ae5;
const KEY_SEED = 0x5c4bcea9;

export interface EndedRecord<Status extends string> {
  readonly status: Status;
  readonly times: readonly number[];
}

/** One generation as a snapshot keeps it: for each record three words and its times. */
export interface EndedPart {
  /** Null when it is not known: its records are as old as the next one that is added. */
  readonly beganAt: number | null;
  readonly numbers: readonly number[];
}

interface Chunk {
  readonly words: Uint32Array;
  readonly times: Float64Array;
}

interface Generation {
  beganAt: number | null;
  readonly chunks: Chunk[];
  count: number;
  /** Numbers plus one, by the second half of the id's hash; null while it is small. */
  tables: HashTables | null;
}

export class EndedRecords<Status extends string> {
  readonly #statuses: readonly Status[];
  readonly #timesPerRecord: number;
  readonly #generations: Generation[] = [];

  constructor(statuses: readonly Status[], timesPerRecord: number) {
    this.#statuses = statuses;
    this.#timesPerRecord = timesPerRecord;
  }

  get size(): number {
    return this.#generations.reduce((sum, { count }) => sum + count, 0);
  }

  /** What the records take in memory, about. */
  get bytes(): number {
    return this.size * (4 * WORDS_PER_RECORD + 8 * this.#timesPerRecord + TABLE_BYTES);
  }

  /** How many ended in a status. Cost: a pass over all of them. */
  countOf(status: Status): number {
    const wanted = this.#statuses.indexOf(status);
    let count = 0;
    for (const generation of this.#generations) {
      for (let number = 0; number < generation.count; number += 1) {
        const { words } = chunkOf(generation, number);
        if ((words[(number % CHUNK_RECORDS) * WORDS_PER_RECORD + 2]! & STATUS_MASK) === wanted) count += 1;
      }
    }
    return count;
  }

  /** Adds a record that is not there, at the moment of a fact, and forgets what is too old. */
  add(id: string, sessionKey: string, { status, times }: EndedRecord<Status>, at: number): void {
    const generations = this.#generations;
    for (let first = generations[0]; first !== undefined && isOver(first, at); first = generations[0])
      generations.shift();
    const keyAndStatus = (hashOf(sessionKey, KEY_SEED) << STATUS_BITS) | this.#statuses.indexOf(status);
    const words = [hashOf(id, ID_SEED_A) >>> 0, hashOf(id, ID_SEED_B) >>> 0, keyAndStatus >>> 0] as const;
    this.#append(this.#generationAt(at), words, times);
  }

  /** Forgets the oldest generation, before its time. */
  dropOldest(): void {
    this.#generations.shift();
  }

  /** The record of an id; with a session key only where it is that key's. */
  find(id: string, sessionKey: string | null): EndedRecord<Status> | null {
    const a = hashOf(id, ID_SEED_A) >>> 0;
    const b = hashOf(id, ID_SEED_B) >>> 0;
    const key = sessionKey === null ? null : (hashOf(sessionKey, KEY_SEED) << STATUS_BITS) >>> STATUS_BITS;
    for (let index = this.#generations.length - 1; index >= 0; index -= 1) {
      const generation = this.#generations[index]!;
      for (const number of candidates(generation, a, b)) {
        const { words, times } = chunkOf(generation, number);
        const position = number % CHUNK_RECORDS;
        const keyAndStatus = words[position * WORDS_PER_RECORD + 2]!;
        if (key !== null && keyAndStatus >>> STATUS_BITS !== key) continue;
        const begin = position * this.#timesPerRecord;
        return {
          status: this.#statuses[keyAndStatus & STATUS_MASK]!,
          times: [...times.subarray(begin, begin + this.#timesPerRecord)],
        };
      }
    }
    return null;
  }

  // ── snapshot ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Everything, in parts of at most so many records. */
  *parts(recordsMax: number): Generator<EndedPart> {
    for (const generation of this.#generations) {
      const { beganAt, count } = generation;
      for (let begin = 0; begin < count; begin += recordsMax) {
        const numbers: number[] = [];
        for (let number = begin; number < Math.min(count, begin + recordsMax); number += 1) {
          const { words, times } = chunkOf(generation, number);
          const position = number % CHUNK_RECORDS;
          numbers.push(...words.subarray(position * WORDS_PER_RECORD, (position + 1) * WORDS_PER_RECORD));
          numbers.push(...times.subarray(position * this.#timesPerRecord, (position + 1) * this.#timesPerRecord));
        }
        yield { beganAt, numbers };
      }
    }
  }

  /** Adds what a part holds, behind the parts before it. */
  restore({ beganAt, numbers }: EndedPart): void {
    const last = this.#generations.at(-1);
    const generation = last !== undefined && last.beganAt === beganAt ? last : this.#newGeneration(beganAt);
    const width = WORDS_PER_RECORD + this.#timesPerRecord;
    for (let begin = 0; begin < numbers.length; begin += width) {
      const words = [numbers[begin]!, numbers[begin + 1]!, numbers[begin + 2]!] as const;
      this.#append(generation, words, numbers.slice(begin + WORDS_PER_RECORD, begin + width));
    }
  }

  /**
   * Adds a record of an older snapshot, which did not say when it ended; it is as old as the next one that is added.
   */
  adopt(id: string, sessionKey: string, record: EndedRecord<Status>): void {
    const last = this.#generations.at(-1);
    if (last?.beganAt !== null) this.#newGeneration(null);
    const keyAndStatus = (hashOf(sessionKey, KEY_SEED) << STATUS_BITS) | this.#statuses.indexOf(record.status);
    const words = [hashOf(id, ID_SEED_A) >>> 0, hashOf(id, ID_SEED_B) >>> 0, keyAndStatus >>> 0] as const;
    this.#append(this.#generations.at(-1)!, words, record.times);
  }

  // ── generations ────────────────────────────────────────────────────────────────────────────────────────────────────

  #generationAt(at: number): Generation {
    const last = this.#generations.at(-1);
    if (last === undefined) return this.#newGeneration(at);
    last.beganAt ??= at;
    return at < last.beganAt + GENERATION_MS ? last : this.#newGeneration(at);
  }

  #newGeneration(beganAt: number | null): Generation {
    const generation: Generation = { beganAt, chunks: [], count: 0, tables: null };
    this.#generations.push(generation);
    return generation;
  }

  #append(generation: Generation, words: readonly [number, number, number], times: readonly number[]): void {
    const number = generation.count;
    const position = number % CHUNK_RECORDS;
    if (position === 0) {
      generation.chunks.push({
        words: new Uint32Array(CHUNK_RECORDS * WORDS_PER_RECORD),
        times: new Float64Array(CHUNK_RECORDS * this.#timesPerRecord),
      });
    }
    const chunk = generation.chunks.at(-1)!;
    // Word by word: 'set' with an array costs 0.2 µs a record (measured).
    for (let each = 0; each < WORDS_PER_RECORD; each += 1) {
      chunk.words[position * WORDS_PER_RECORD + each] = words[each]!;
    }
    for (let each = 0; each < times.length; each += 1)
      chunk.times[position * this.#timesPerRecord + each] = times[each]!;
    generation.count += 1;
    if (generation.tables !== null) enter(generation, number);
    else if (generation.count > SCANNED_MAX) {
      generation.tables = new HashTables(1, (slots, at) => idHashOf(generation, slots[at]! - 1));
      for (let each = 0; each < generation.count; each += 1) enter(generation, each);
    }
  }
}

function isOver({ beganAt }: Generation, at: number): boolean {
  return beganAt !== null && beganAt + GENERATION_MS + KEPT_MS <= at;
}

function chunkOf(generation: Generation, number: number): Chunk {
  return generation.chunks[Math.floor(number / CHUNK_RECORDS)]!;
}

/** The numbers of the records whose id has these hashes. */
function* candidates(generation: Generation, a: number, b: number): Generator<number> {
  const { tables, count } = generation;
  if (tables === null) {
    for (let number = 0; number < count; number += 1) if (hasId(generation, number, a, b)) yield number;
    return;
  }
  const slots = tables.slotsOf(b);
  if (slots === undefined) return;
  for (let at = tables.firstAt(slots, b); slots[at] !== 0; at = tables.nextAt(slots, at)) {
    const number = slots[at]! - 1;
    if (hasId(generation, number, a, b)) yield number;
  }
}

function hasId(generation: Generation, number: number, a: number, b: number): boolean {
  const { words } = chunkOf(generation, number);
  const begin = (number % CHUNK_RECORDS) * WORDS_PER_RECORD;
  return words[begin] === a && words[begin + 1] === b;
}

/** The half of the id's hash that says where a record stands in the tables. */
function idHashOf(generation: Generation, number: number): number {
  return chunkOf(generation, number).words[(number % CHUNK_RECORDS) * WORDS_PER_RECORD + 1]!;
}

function enter(generation: Generation, number: number): void {
  const tables = generation.tables!;
  const hash = idHashOf(generation, number);
  const table = tables.tableFor(hash);
  let at = tables.firstAt(table.slots, hash);
  while (table.slots[at] !== 0) at = tables.nextAt(table.slots, at);
  table.slots[at] = number + 1;
  table.used += 1;
}
