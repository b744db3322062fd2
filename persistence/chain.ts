/**
 * The texts and hashes of the chain over a journal: each batch has a hash over the previous batch's hash and its own
 * facts. Every store of facts has the same chain; `sqlite/chain.ts` writes, walks and copies it in a database.
 */
import { createHash } from 'node:crypto';

/** A fact with every column that the chain covers. */
export interface StoredFact {
  readonly seq: number;
  readonly at: number;
  readonly eventId: string;
  readonly type: string;
  readonly data: string;
  /** Sequence number of the stream's fact before this one; 0 when this is its first. */
  readonly prev: number;
  /** Sequence number of the last fact of the unit that this one belongs to. */
  readonly unit: number;
}

const SPACE = ' '.charCodeAt(0);

const NEWLINE = '\n'.charCodeAt(0);

const ZERO = '0'.charCodeAt(0);

const NINE = '9'.charCodeAt(0);

/**
 * The text of a fact that the chain hashes: every column, with lengths before the texts, so that no two facts have the
 * same text.
 */
export function canonicalText(fact: StoredFact): string {
  const { seq, at, eventId, type, data, prev, unit } = fact;
  return `${seq} ${at} ${prev} ${unit} ${eventId.length} ${type.length} ${data.length} ${eventId}${type}${data}\n`;
}

/**
 * The hash of a batch: SHA-256 over the previous batch's hash and the canonical texts of its facts, joined, in UTF-8.
 */
export function batchHash(previousHash: Uint8Array, canonicalTexts: string | Uint8Array): Buffer {
  return createHash('sha256').update(previousHash).update(canonicalTexts).digest();
}

/** A value of a row of `journal`, and how many a row has: seq, at, event_id, type, data, prev, unit. */
export type FactValue = number | string;

export const COLUMNS = 7;

/**
 * `factsIn` without an object for each fact: the values of all columns of the first fact in the order of the table,
 * then of the second, and so on.
 */
export function columnValues(canonicalTexts: string): FactValue[] {
  const values: FactValue[] = [];
  let place = 0;
  const nextNumber = (): number => {
    let number = 0;
    for (;;) {
      const code = canonicalTexts.charCodeAt(place++);
      if (code === SPACE) return number;
      if (!(code >= ZERO && code <= NINE)) throw new Error('the numbers of a fact must be integers from 0 on');
      number = number * 10 + (code - ZERO);
    }
  };
  const nextText = (length: number): string => canonicalTexts.slice(place, (place += length));
  while (place < canonicalTexts.length) {
    const seq = nextNumber();
    const at = nextNumber();
    const prev = nextNumber();
    const unit = nextNumber();
    const eventIdLength = nextNumber();
    const typeLength = nextNumber();
    const dataLength = nextNumber();
    values.push(seq, at, nextText(eventIdLength), nextText(typeLength), nextText(dataLength), prev, unit);
    if (canonicalTexts.charCodeAt(place++) !== NEWLINE) throw new Error(`fact ${seq} must end where its text says`);
  }
  return values;
}

type Columns = [seq: number, at: number, eventId: string, type: string, data: string, prev: number, unit: number];

/** The inverse of `canonicalText` for facts whose texts are joined. */
export function factsIn(canonicalTexts: string): StoredFact[] {
  const values = columnValues(canonicalTexts);
  const facts: StoredFact[] = [];
  for (let place = 0; place < values.length; place += COLUMNS) {
    const [seq, at, eventId, type, data, prev, unit] = values.slice(place, place + COLUMNS) as Columns;
    facts.push({ seq, at, eventId, type, data, prev, unit });
  }
  return facts;
}
