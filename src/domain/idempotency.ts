/**
 * The answers to requests that carried an idempotency key, kept for a day. A refused request is not kept: it is decided anew.
 *
 * 1. The first answer under a key stands; the same key with another digest is refused.
 * 2. Records leave in the order in which they came, when they are a day old or the book is full. Both follow from the moments of
 *    facts, so that a replay keeps the same records (I9).
 * 3. A book is full by the bytes that it keeps, and by its number of records. An answer is kept packed: it shows a hold as it was
 *    then, which nothing else keeps once the hold has changed.
 */
import { oldestOf } from './collections/maps.ts';
import { pack, unpack } from './collections/packing.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { IdempotencyMark } from './fact.ts';

/** How long an answer is repeated. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000;

/** An event that gets more within a day drops its oldest sooner. */
export const IDEMPOTENCY_RECORDS_MAX = 500_000;

/** The same for what all records of an event take: some 200,000 of usual size (300 B). */
export const IDEMPOTENCY_BYTES_MAX = 64 * 1024 * 1024;

/** What a record takes beside its characters: two strings and an entry of a Map. */
const RECORD_OVERHEAD_BYTES = 112;

export interface IdempotencyRecord<Answer> {
  readonly key: string;
  readonly digest: string;
  readonly at: number;
  readonly answer: Answer;
}

/** The moment stands first, so that it can be read without unpacking the answer. */
type Kept<Answer> = readonly [at: number, digest: string, answer: Answer];

const FIRST_NUMBER = /\d+/;

/** Records by key, in the order in which they came. */
export class IdempotencyBook<Answer> {
  readonly #packed = new Map<string, string>();
  #bytes = 0;

  get size(): number {
    return this.#packed.size;
  }

  /** What the records take in memory, about. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): IdempotencyRecord<Answer> | undefined {
    const text = this.#packed.get(key);
    if (text === undefined) return undefined;
    const [at, digest, answer] = unpack(text) as Kept<Answer>;
    return { key, digest, at, answer };
  }

  /** Puts a record at the end, in place of one with its key. */
  add({ key, digest, at, answer }: IdempotencyRecord<Answer>): void {
    this.delete(key);
    const text = pack([at, digest, answer] satisfies Kept<Answer>);
    this.#packed.set(key, text);
    this.#bytes += bytesOf(key, text);
  }

  delete(key: string): void {
    const text = this.#packed.get(key);
    if (text === undefined) return;
    this.#packed.delete(key);
    this.#bytes -= bytesOf(key, text);
  }

  /** Drops what is a day old at a moment, and the oldest while the book is full (2, 3). */
  dropOld(now: number): void {
    for (let oldest = oldestOf(this.#packed); oldest !== undefined; oldest = oldestOf(this.#packed)) {
      const isFull = this.size > IDEMPOTENCY_RECORDS_MAX || this.#bytes > IDEMPOTENCY_BYTES_MAX;
      if (!isFull && momentOf(this.#packed.get(oldest)!) + IDEMPOTENCY_WINDOW_MS > now) return;
      this.delete(oldest);
    }
  }

  *values(): Generator<IdempotencyRecord<Answer>> {
    for (const key of this.#packed.keys()) yield this.get(key)!;
  }
}

function momentOf(text: string): number {
  return Number(FIRST_NUMBER.exec(text)![0]);
}

function bytesOf(key: string, text: string): number {
  return key.length + text.length + RECORD_OVERHEAD_BYTES;
}

export function noIdempotency<Answer>(): IdempotencyBook<Answer> {
  return new IdempotencyBook();
}

/** The record under the mark's key: null when there is none, IDEMPOTENCY_KEY_REUSED when it was of another request. */
export function recall<Answer>(
  book: IdempotencyBook<Answer>,
  mark: IdempotencyMark | null,
  now: number,
): IdempotencyRecord<Answer> | Refusal | null {
  const record = mark === null ? undefined : book.get(mark.key);
  if (mark === null || record === undefined || record.at + IDEMPOTENCY_WINDOW_MS <= now) return null;
  return record.digest === mark.digest ? record : refuse('IDEMPOTENCY_KEY_REUSED', {});
}

/** Keeps the answer to a marked request and drops what is too old. */
export function remember<Answer>(
  book: IdempotencyBook<Answer>,
  mark: IdempotencyMark | null,
  at: number,
  answer: Answer,
): void {
  if (mark === null) return;
  book.add({ key: mark.key, digest: mark.digest, at, answer });
  book.dropOld(at);
}
