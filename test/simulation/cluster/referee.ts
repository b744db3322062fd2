/**
 * Follows every message that a simulated log commits, and every answer that a client gets, and fails the run where a
 * promise is broken.
 *
 * Knows the truth, because it sees the log itself and who sent each message. It shares the codec of records with the
 * product, and nothing of how records are read, counted or chained.
 *
 * 1. A batch counts when its epoch is the newest claim before it. Its sender is the process that made that claim.
 * 2. Facts that count have numbers without gaps, the hash of the chain, and the links of their streams.
 * 3. An operation has its facts once, together, in their order.
 * 4. When a change is answered, its facts are in the log and count, at the position that the answer says.
 * 5. An answer was made from a whole beginning of its ledger, and from one that was the newest at some moment between
 *    the question and the answer: not older than anything that was answered before the question (linearizable per
 *    event).
 */
import { createHash } from 'node:crypto';
import assert from 'node:assert/strict';
import { decodeRecord } from '#persistence/nats/log/records.ts';
import type { BatchRecord } from '#persistence/nats/log/records.ts';
import { digestAfter, FIRST_DIGEST, type LedgerFact, type LedgerSnapshot, type Seen } from './ledger.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { Entry } from './simulated-log.ts';

/** A fact of a ledger that counts. */
interface Line {
  readonly op: string | null;
  readonly seq: number;
  readonly isUnitEnd: boolean;
  readonly digest: number;
}

interface Book {
  readonly lines: Line[];
  /** The largest position that any answer had. */
  answered: number;
}

/** What is known of one shard's log. */
interface ShardTruth {
  epoch: number;
  owner: SimulatedProcess | null;
  factSeq: number;
  hash: Buffer;
  /** The newest fact of each stream. */
  readonly heads: Map<string, number>;
}

/** What a fact says to the referee. */
export interface ReadFact {
  /** Unique to what a client wanted done; null where nobody asked for it. */
  readonly op: string | null;
  readonly digestKey: Pick<LedgerFact, 'op' | 'part'>;
  /** Whether it is the first of its unit, and the last; null where that is not said. */
  readonly place: { readonly isFirst: boolean; readonly isLast: boolean } | null;
}

/** Reads facts of ledgers. */
export function readLedgerFact(_type: string, data: string): ReadFact {
  const { op, part, parts } = JSON.parse(data) as LedgerFact;
  return { op, digestKey: { op, part }, place: { isFirst: part === 0, isLast: part === parts - 1 } };
}

/** A question that is under way. */
export interface Question {
  readonly eventId: string;
  /** Null for a reading. */
  readonly op: string | null;
  /** The largest position that was answered before. */
  readonly answeredBefore: number;
}

export class Referee {
  readonly counts = { claims: 0, batches: 0, voids: 0, facts: 0, answers: 0, reads: 0, refusals: 0 };
  readonly #shards: ShardTruth[];
  readonly #readFact: (type: string, data: string) => ReadFact;
  readonly #books = new Map<string, Book>();
  /** Where each operation's last fact is in its ledger. */
  readonly #positions = new Map<string, number>();

  constructor(shards: number, readFact: (type: string, data: string) => ReadFact) {
    this.#readFact = readFact;
    this.#shards = Array.from({ length: shards }, () => ({
      epoch: 0,
      owner: null,
      factSeq: 0,
      hash: Buffer.alloc(32),
      heads: new Map(),
    }));
  }

  // ── the log ────────────────────────────────────────────────────────────────────────────────────────────────────────

  note(shard: number, { seq, body, process }: Entry): void {
    const truth = this.#shards[shard]!;
    const record = decodeRecord(body);
    if (record.kind === 'claim') {
      this.counts.claims += 1;
      truth.epoch = seq;
      truth.owner = process;
      return;
    }
    if (record.epoch !== truth.epoch) {
      assert.ok(record.epoch < truth.epoch, `message ${seq} of shard ${shard} has an epoch that was never claimed`);
      this.counts.voids += 1;
      return;
    }
    assert.equal(process, truth.owner, `message ${seq} of shard ${shard} counts and is not the owner's`);
    if (record.kind === 'proof') return;
    this.counts.batches += 1;
    this.#noteBatch(truth, record, `message ${seq} of shard ${shard}`);
  }

  #noteBatch(truth: ShardTruth, { firstSeq, lastSeq, hash, canonicalTexts }: BatchRecord, where: string): void {
    assert.equal(firstSeq, truth.factSeq + 1, `${where} continues the facts`);
    const digest = createHash('sha256').update(truth.hash).update(canonicalTexts).digest();
    assert.equal(digest.toString('hex'), hash, `${where} continues the chain`);
    const facts = canonicalTexts.split('\n').slice(0, -1);
    assert.equal(facts.length, lastSeq - firstSeq + 1, `${where} has its facts`);
    for (const [index, text] of facts.entries()) this.#noteFact(truth, text, firstSeq + index, where);
    truth.factSeq = lastSeq;
    truth.hash = digest;
  }

  #noteFact(truth: ShardTruth, text: string, expectedSeq: number, where: string): void {
    const match = /^(\d+) \d+ (\d+) (\d+) (\d+) (\d+) \d+ (.*)$/.exec(text);
    assert.ok(match, `${where} is readable`);
    const [seq, prev, unit, eventIdLength, typeLength] = match.slice(1, 6).map(Number) as [
      number,
      number,
      number,
      number,
      number,
    ];
    const eventId = match[6]!.slice(0, eventIdLength);
    const type = match[6]!.slice(eventIdLength, eventIdLength + typeLength);
    const { op, digestKey, place } = this.#readFact(type, match[6]!.slice(eventIdLength + typeLength));
    assert.equal(seq, expectedSeq, `${where} has no gap`);
    assert.equal(prev, truth.heads.get(eventId) ?? 0, `${where} links fact ${seq} to the one before it`);
    truth.heads.set(eventId, seq);
    const { lines } = this.#bookOf(eventId);
    const before = lines.at(-1);
    const isUnitEnd = unit === seq;
    if (place !== null) {
      const isNext = place.isFirst ? before?.isUnitEnd !== false : before?.op === op && !before.isUnitEnd;
      assert.ok(isNext, `${where}: fact ${seq} of ${op} follows its unit`);
      assert.equal(place.isLast, isUnitEnd, `${where} keeps the unit of fact ${seq}`);
    }
    assert.ok(op === null || !this.#positions.has(op), `${op} happened twice, in ${where} the second time`);
    lines.push({ op, seq, isUnitEnd, digest: digestAfter(before?.digest ?? FIRST_DIGEST, digestKey) });
    if (op !== null && isUnitEnd) this.#positions.set(op, lines.length);
    this.counts.facts += 1;
  }

  // ── answers ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A client is about to ask. */
  ask(eventId: string, op: string | null): Question {
    return { eventId, op, answeredBefore: this.#bookOf(eventId).answered };
  }

  /** A client got an answer. */
  answer({ eventId, op, answeredBefore }: Question, seen: Seen): void {
    const book = this.#bookOf(eventId);
    const what = op === null ? `a reading of ${eventId}` : `the answer to ${op} of ${eventId}`;
    this.#checkBeginning(book, seen, what);
    if (op !== null && !seen.isRefused) {
      this.counts.answers += 1;
      const position = this.#positions.get(op);
      assert.notEqual(position, undefined, `${what}: it is not in the log`);
      assert.equal(seen.position, position, `${what}: it is at another place in the log`);
    } else if (op === null) this.counts.reads += 1;
    else this.counts.refusals += 1;
    assert.ok(
      seen.position >= answeredBefore,
      `${what} is stale: it has ${seen.position} facts, ${answeredBefore} were answered before it was asked`,
    );
    book.answered = Math.max(book.answered, seen.position);
  }

  /** A snapshot was stored as of a fact: everything in it counts. */
  snapshot(eventId: string, { seq, count, digest }: LedgerSnapshot): void {
    const { lines } = this.#bookOf(eventId);
    const what = `the snapshot of ${eventId} as of fact ${seq}`;
    assert.ok(count <= lines.length, `${what} has ${count} facts where the log has ${lines.length}`);
    if (count === 0) return;
    assert.equal(lines[count - 1]!.seq, seq, `${what} ends with its fact`);
    assert.equal(lines[count - 1]!.digest, digest, `${what} was made from the facts of the log`);
  }

  /** How many facts of a ledger count. */
  lengthOf(eventId: string): number {
    return this.#bookOf(eventId).lines.length;
  }

  hasHappened(op: string): boolean {
    return this.#positions.has(op);
  }

  /** What is shown is a beginning of the ledger that ends with a whole unit. */
  #checkBeginning({ lines }: Book, { position, digest }: Seen, what: string): void {
    assert.ok(position <= lines.length, `${what} shows ${position} facts where the log has ${lines.length}`);
    const last = lines[position - 1];
    assert.equal(digest, last?.digest ?? FIRST_DIGEST, `${what} was made from other facts than those of the log`);
    assert.ok(last?.isUnitEnd !== false, `${what} ends inside a unit`);
  }

  #bookOf(eventId: string): Book {
    let book = this.#books.get(eventId);
    if (book === undefined) this.#books.set(eventId, (book = { lines: [], answered: 0 }));
    return book;
  }
}
