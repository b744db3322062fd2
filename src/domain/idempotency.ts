/**
 * The answers to requests that carried an idempotency key, kept for a day. A refused request is not kept: it is decided
 * anew.
 *
 * 1. The first answer under a key stands; the same key with another digest is refused.
 * 2. Records leave in the order in which they came, when they are a day old or the book is full. Both follow from the
 *    moments of facts, so that a replay keeps the same records (I9).
 * 3. A book is full by the bytes that it keeps, and by its number of records. An answer is kept packed: it may show a
 *    hold as it was then, which nothing else keeps once the hold has changed.
 */
import { oldestOf } from './collections/maps.ts';
import { pack, unpack } from './collections/packing.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { IdempotencyKey } from './fact.ts';

/** How long an answer is repeated. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000;

/** An event with more records within a day drops its oldest sooner. */
const IDEMPOTENCY_RECORDS_MAX = 500_000;

/** The same for what all records of an event take: some 200,000 of usual size (300 B). */
export const IDEMPOTENCY_BYTES_MAX = 64 * 1024 * 1024;

/** What a record takes beside its characters: two strings, an object and an entry of a Map. */
const RECORD_OVERHEAD_BYTES = 144;

export interface IdempotencyRecord<Answer> {
  readonly key: string;
  readonly digest: string;
  readonly at: number;
  readonly answer: Answer;
}

/** The moment stands first, so that it can be read without unpacking the answer. */
type StoredAnswer<Answer> = readonly [at: number, digest: string, answer: Answer];

/** An object of its own, so that an answer can be replaced where it stands (`oldestOf`). */
interface Packed {
  text: string;
}

const FIRST_NUMBER = /\d+/;

/** Records by key, in the order in which they came. */
export class IdempotencyBook<Answer> {
  readonly #packed = new Map<string, Packed>();
  #bytes = 0;

  get size(): number {
    return this.#packed.size;
  }

  /** What the records take in memory, about. */
  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): IdempotencyRecord<Answer> | undefined {
    const packed = this.#packed.get(key);
    if (packed === undefined) return undefined;
    const [at, digest, answer] = unpack(packed.text) as StoredAnswer<Answer>;
    return { key, digest, at, answer };
  }

  /** Puts a record at the end, in place of one with its key. */
  add({ key, digest, at, answer }: IdempotencyRecord<Answer>): void {
    this.delete(key);
    const text = pack([at, digest, answer] satisfies StoredAnswer<Answer>);
    this.#packed.set(key, { text });
    this.#bytes += bytesOf(key, text);
  }

  /** Puts another form of its answer into a record, which keeps its place and its moment. */
  replace({ key, digest, at }: IdempotencyRecord<Answer>, answer: Answer): void {
    const packed = this.#packed.get(key)!;
    this.#bytes -= bytesOf(key, packed.text);
    packed.text = pack([at, digest, answer] satisfies StoredAnswer<Answer>);
    this.#bytes += bytesOf(key, packed.text);
  }

  delete(key: string): void {
    const packed = this.#packed.get(key);
    if (packed === undefined) return;
    this.#packed.delete(key);
    this.#bytes -= bytesOf(key, packed.text);
  }

  /** Drops what is a day old at a moment, and the oldest while the book is full (rules 2 and 3). */
  dropOld(now: number): void {
    for (let oldest = oldestOf(this.#packed); oldest !== undefined; oldest = oldestOf(this.#packed)) {
      const isFull = this.size > IDEMPOTENCY_RECORDS_MAX || this.#bytes > IDEMPOTENCY_BYTES_MAX;
      if (!isFull && momentOf(this.#packed.get(oldest)!.text) + IDEMPOTENCY_WINDOW_MS > now) return;
      this.delete(oldest);
    }
  }

  /** Drops so many, the oldest first. */
  dropOldest(count: number): void {
    for (let dropped = 0; dropped < count; dropped += 1) {
      const oldest = oldestOf(this.#packed);
      if (oldest === undefined) return;
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

/** The record under the key: null when there is none, IDEMPOTENCY_KEY_REUSED when it was of another request. */
export function recall<Answer>(
  book: IdempotencyBook<Answer>,
  idempotency: IdempotencyKey | null,
  now: number,
): IdempotencyRecord<Answer> | Refusal | null {
  const record = idempotency === null ? undefined : book.get(idempotency.key);
  if (idempotency === null || record === undefined || record.at + IDEMPOTENCY_WINDOW_MS <= now) return null;
  return record.digest === idempotency.digest ? record : refuse('IDEMPOTENCY_KEY_REUSED', {});
}

/** Keeps the answer to a marked request and drops what is too old. */
export function remember<Answer>(
  book: IdempotencyBook<Answer>,
  idempotency: IdempotencyKey | null,
  at: number,
  answer: Answer,
): void {
  if (idempotency === null) return;
  book.add({ key: idempotency.key, digest: idempotency.digest, at, answer });
  book.dropOld(at);
}
