/**
 * The ids of scans that are in no ticket's text: of codes that are no ticket of the event, refused scans beyond the
 * bound of a ticket, and UNDOs. A repeat is recognized by its id for as long as the event is kept, in some 24 bytes
 * each.
 *
 * 1. An id is kept as 64 bits of hash. What was read is kept as a keyed digest of 32 bits, because it may be any code
 *    with personal data.
 * 2. Records are in the order of their arrival, and none ever leaves.
 */
import { GIVEN, type Given } from '#client/doors/scan.ts';
import { hashOf, HashTables } from '../collections/hash-tables.ts';

export interface RefusedScan {
  readonly verdict: Given;
  readonly given: Given | null;
  readonly digest: number;
  /** A gate decided, not a station without a network. */
  readonly isOfGate: boolean;
}

/** As a snapshot keeps a record: both halves of its id's hash, the digest, verdict, given and, of a gate's, true. */
export type RefusedRow = readonly [
  a: number,
  b: number,
  digest: number,
  verdict: Given,
  given: Given | null,
  isOfGate?: true,
];

const WORDS_PER_RECORD = 4;
const RECORDS_MIN = 16;
const GIVEN_SHIFT = 8;
const GATE_BIT = 1 << 16;

const ID_SEED_A = 0x51ed270b;
const ID_SEED_B = 0x2c1b3c6d;

export class RefusedScans {
  /** The two halves of an id's hash, the digest, and verdict and given. */
  #words = new Uint32Array(RECORDS_MIN * WORDS_PER_RECORD);
  #count = 0;
  readonly #tables = new HashTables(1, (slots, at) => this.#words[(slots[at]! - 1) * WORDS_PER_RECORD]!);

  get count(): number {
    return this.#count;
  }

  find(id: string): RefusedScan | null {
    const number = this.#numberOf(id);
    return number === null ? null : this.#at(number);
  }

  /** Adds a scan, or changes what is known of it. */
  put(id: string, scan: RefusedScan): void {
    const known = this.#numberOf(id);
    const record = [hashOf(id, ID_SEED_A) >>> 0, hashOf(id, ID_SEED_B) >>> 0, scan.digest, stateOf(scan)];
    if (known === null) this.#append(record);
    else this.#words.set(record, known * WORDS_PER_RECORD);
  }

  /** All records, in their order; `restore` takes them. */
  *rows(): Generator<RefusedRow> {
    for (let number = 0; number < this.#count; number += 1) {
      const [a = 0, b = 0] = this.#words.subarray(number * WORDS_PER_RECORD);
      const { verdict, given, digest, isOfGate } = this.#at(number);
      yield isOfGate ? [a, b, digest, verdict, given, true] : [a, b, digest, verdict, given];
    }
  }

  /** Adds a record behind those before it. */
  restore([a, b, digest, verdict, given, isOfGate]: RefusedRow): void {
    this.#append([a, b, digest, stateOf({ verdict, given, isOfGate: isOfGate === true })]);
  }

  #at(number: number): RefusedScan {
    const [, , digest = 0, state = 0] = this.#words.subarray(
      number * WORDS_PER_RECORD,
      (number + 1) * WORDS_PER_RECORD,
    );
    const verdict = GIVEN[state & ((1 << GIVEN_SHIFT) - 1)]!;
    const given = GIVEN[((state & (GATE_BIT - 1)) >>> GIVEN_SHIFT) - 1] ?? null;
    return { verdict, given, digest, isOfGate: (state & GATE_BIT) !== 0 };
  }

  #numberOf(id: string): number | null {
    const [a, b] = [hashOf(id, ID_SEED_A) >>> 0, hashOf(id, ID_SEED_B) >>> 0];
    const slots = this.#tables.slotsOf(a);
    if (slots === undefined) return null;
    for (let at = this.#tables.firstAt(slots, a); slots[at] !== 0; at = this.#tables.nextAt(slots, at)) {
      const begin = (slots[at]! - 1) * WORDS_PER_RECORD;
      if (this.#words[begin] === a && this.#words[begin + 1] === b) return slots[at]! - 1;
    }
    return null;
  }

  #append(record: readonly number[]): void {
    const begin = this.#count * WORDS_PER_RECORD;
    if (begin === this.#words.length) {
      const words = new Uint32Array(Math.ceil((this.#count * 5) / 4) * WORDS_PER_RECORD);
      words.set(this.#words);
      this.#words = words;
    }
    this.#words.set(record, begin);
    this.#count += 1;
    const table = this.#tables.tableFor(record[0]!);
    let at = this.#tables.firstAt(table.slots, record[0]!);
    while (table.slots[at] !== 0) at = this.#tables.nextAt(table.slots, at);
    table.slots[at] = this.#count;
    table.used += 1;
  }
}

function stateOf({ verdict, given, isOfGate }: Omit<RefusedScan, 'digest'>): number {
  const decided = ((given === null ? -1 : GIVEN.indexOf(given)) + 1) << GIVEN_SHIFT;
  return GIVEN.indexOf(verdict) | decided | (isOfGate ? GATE_BIT : 0);
}
