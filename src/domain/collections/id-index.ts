/**
 * From ids to the numbers of records, without keeping the ids: a hash table of 32-bit hashes, some 12 to 24 bytes an id.
 *
 * Several ids may lead to one number, and one id to several candidates: whoever looks compares the id with the record. Nothing is
 * ever taken out. A Map with its keys costs some 95 bytes an id (measured), most of what a finished order may cost.
 */
import { hashOf } from './id-hash.ts';

/** Tables grow one by one, each in well under a millisecond at a million ids. */
const TABLES = 64;
const SLOTS_MIN = 8;
const SEED = 0x2545f491;

interface Table {
  /** Two words a slot: the hash, and the number plus one; 0 is empty. */
  slots: Int32Array;
  used: number;
}

export class IdIndex {
  readonly #tables: (Table | undefined)[] = new Array<undefined>(TABLES).fill(undefined);

  /** Notes that an id leads to a number, below 2³¹ - 1; once, however often it is noted. */
  add(id: string, number: number): void {
    const hash = hashOf(id, SEED);
    const table = (this.#tables[tableOf(hash)] ??= { slots: new Int32Array(2 * SLOTS_MIN), used: 0 });
    if (table.used * 8 >= table.slots.length * 3) grow(table);
    if (insert(table.slots, hash, number + 1)) table.used += 1;
  }

  /** The numbers that the id may lead to. */
  *candidates(id: string): Generator<number> {
    const hash = hashOf(id, SEED);
    const slots = this.#tables[tableOf(hash)]?.slots;
    if (slots === undefined) return;
    for (let slot = slotOf(hash, slots); slots[slot + 1] !== 0; slot = (slot + 2) % slots.length) {
      if (slots[slot] === hash) yield slots[slot + 1]! - 1;
    }
  }
}

/** The low bits say which table, those above them which slot. */
function tableOf(hash: number): number {
  return hash & (TABLES - 1);
}

function slotOf(hash: number, slots: Int32Array): number {
  return 2 * ((hash >>> 6) & (slots.length / 2 - 1));
}

/** False when the pair was there. */
function insert(slots: Int32Array, hash: number, value: number): boolean {
  let slot = slotOf(hash, slots);
  for (; slots[slot + 1] !== 0; slot = (slot + 2) % slots.length) {
    if (slots[slot] === hash && slots[slot + 1] === value) return false;
  }
  slots[slot] = hash;
  slots[slot + 1] = value;
  return true;
}

function grow(table: Table): void {
  const { slots } = table;
  table.slots = new Int32Array(2 * slots.length);
  for (let slot = 0; slot < slots.length; slot += 2) {
    if (slots[slot + 1] !== 0) insert(table.slots, slots[slot]!, slots[slot + 1]!);
  }
}
