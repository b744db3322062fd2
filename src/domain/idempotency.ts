/**
 * What was answered to requests that carried an idempotency key, for a day.
 *
 * Owns the book of keys of one event. The requests themselves belong to `holds.ts` and `orders.ts`, whose facts carry the
 * mark; this book is their memory. Only answers are remembered: a refused request is judged anew.
 *
 * 1. The first answer under a key stands; the same key with another digest is refused.
 * 2. Records leave in the order they came, when they are a day old or the book is full, by the moments of facts
 *    alone, so that a replay forgets the same records (I9).
 */
import { oldestOf } from './oldest.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { IdempotencyMark } from './fact.ts';

/** How long an answer is repeated. */
export const IDEMPOTENCY_WINDOW_MS = 24 * 60 * 60 * 1000;

/** Bounds the memory of keys (about 200 B each); an event that gets more within a day forgets its oldest sooner. */
export const IDEMPOTENCY_RECORDS_MAX = 500_000;

export interface IdempotencyRecord<Answer> {
  readonly key: string;
  readonly digest: string;
  readonly at: number;
  readonly answer: Answer;
}

/** Records by key, in the order in which they came. */
export type IdempotencyBook<Answer> = Map<string, IdempotencyRecord<Answer>>;

export function noIdempotency<Answer>(): IdempotencyBook<Answer> {
  return new Map();
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

/** Remembers the answer to a marked request and forgets what is too old. */
export function remember<Answer>(
  book: IdempotencyBook<Answer>,
  mark: IdempotencyMark | null,
  at: number,
  answer: Answer,
): void {
  if (mark === null) return;
  book.delete(mark.key);
  book.set(mark.key, { key: mark.key, digest: mark.digest, at, answer });
  for (let oldest = oldestOf(book); oldest !== undefined; oldest = oldestOf(book)) {
    if (book.get(oldest)!.at + IDEMPOTENCY_WINDOW_MS > at && book.size <= IDEMPOTENCY_RECORDS_MAX) break;
    book.delete(oldest);
  }
}
