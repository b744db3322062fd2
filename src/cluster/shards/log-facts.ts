/**
 * Facts of a shard that are no longer in its owner's memory, read from the log and its archive. It is done for
 * operators and where a snapshot turns out to be damaged, not for requests.
 */
import { emptyHead, applyRecord, readRecord } from '#persistence/nats/log/head.ts';
import { FACTS_READ_MAX, newestFacts } from '#engine/shown-facts.ts';
import { inPassing } from '#engine/sales-by-minute.ts';
import { factsIn } from '#persistence/chain.ts';
import type { FactsPage, FactsRequest } from '#engine/deployment.ts';
import type { FactRow, Journal } from '#persistence/journal.ts';
import type { ShardLog } from '#persistence/shard-log.ts';

/** Messages of the first try to find a page of facts; each has one fact at least. */
const MESSAGES_READ_MIN = 256;

/**
 * The facts of a stream after one. Cost: a pass over the whole log. `whole` has every message from the first one on.
 */
export async function readStream(whole: ShardLog, eventId: string, afterSeq: number): Promise<readonly FactRow[]> {
  const rows: FactRow[] = [];
  const head = emptyHead();
  for await (const { seq, body } of whole.read(1, await whole.lastSeq())) {
    const applied = applyRecord(head, seq, readRecord(seq, body));
    if (applied.outcome !== 'COUNTED') continue;
    for (const row of applied.rows) if (row.eventId === eventId && row.seq > afterSeq) rows.push(row);
  }
  return rows;
}

/** An owner's claim, and the newest fact before it. */
export interface ClaimAt {
  readonly epoch: number;
  readonly factSeq: number;
}

/**
 * The facts of a stream after one, handed on as they are read, with pauses. Cost: of facts after the claim, a pass over
 * the messages since `afterSeq`; else over the whole log.
 */
export async function* streamFacts(
  whole: ShardLog,
  claim: ClaimAt,
  eventId: string,
  afterSeq: number,
): AsyncGenerator<FactRow> {
  const lastSeq = await whole.lastSeq();
  const isOwn = afterSeq >= claim.factSeq;
  // A batch counts where its epoch is that of the newest claim before it.
  let epoch = isOwn ? claim.epoch : 0;
  const pause = inPassing();
  for await (const { seq, body } of whole.read(isOwn ? await placeOf(whole, claim, afterSeq, lastSeq) : 1, lastSeq)) {
    await pause();
    const record = readRecord(seq, body);
    if (record.kind === 'claim') epoch = seq;
    if (record.kind !== 'batch' || record.epoch !== epoch || record.lastSeq <= afterSeq) continue;
    for (const { seq: factSeq, at, eventId: stream, type, data } of factsIn(record.canonicalTexts)) {
      if (stream === eventId && factSeq > afterSeq) yield { seq: factSeq, at, eventId, type, data };
    }
  }
}

/** A message since the claim, near the end of the log; no message before it has a fact after `afterSeq`. */
async function placeOf(whole: ShardLog, { epoch }: ClaimAt, afterSeq: number, lastSeq: number): Promise<number> {
  for (let messages = 1; ; messages *= 4) {
    const seq = lastSeq - messages + 1;
    if (seq <= epoch) return epoch;
    const message = await whole.get(seq);
    const record = message === null ? null : readRecord(seq, message.body);
    if (record?.kind === 'batch' && record.epoch === epoch && record.firstSeq <= afterSeq + 1) return seq;
  }
}

/** A page of a shard's newest facts: from memory where it has them all, else from the end of the log. */
export async function newestFactsOf(
  journal: Pick<Journal, 'durableSeq' | 'read'>,
  whole: ShardLog,
  request: FactsRequest,
): Promise<FactsPage> {
  const { durableSeq } = journal;
  const end = Math.min(request.before ?? Number.MAX_SAFE_INTEGER, durableSeq + 1);
  const beginSeq = Math.max(1, end - FACTS_READ_MAX);
  const kept = [...journal.read({ afterSeq: beginSeq - 1 })];
  if (kept.length === durableSeq - beginSeq + 1) return newestFacts(journal, request);
  const rows = await readBack(whole, beginSeq);
  const read = ({ afterSeq = 0 }: { readonly afterSeq?: number } = {}) => rows.filter(({ seq }) => seq > afterSeq);
  return newestFacts({ durableSeq, read }, request);
}

/** The facts from one on, read from the end of the log backwards. */
async function readBack(whole: ShardLog, beginSeq: number): Promise<readonly FactRow[]> {
  const lastSeq = await whole.lastSeq();
  for (let messages = MESSAGES_READ_MIN; ; messages *= 4) {
    const rows = await readPart(whole, Math.max(1, lastSeq - messages + 1), lastSeq);
    if (messages >= lastSeq || (rows[0]?.seq ?? Number.POSITIVE_INFINITY) <= beginSeq) return rows;
  }
}

/**
 * The facts of a part of the log. A batch that counts takes the place of a void one with the same numbers, which came
 * before it.
 */
async function readPart(whole: ShardLog, fromSeq: number, throughSeq: number): Promise<readonly FactRow[]> {
  const rows: FactRow[] = [];
  for await (const message of whole.read(fromSeq, throughSeq)) {
    const record = readRecord(message.seq, message.body);
    if (record.kind !== 'batch') continue;
    while ((rows.at(-1)?.seq ?? 0) >= record.firstSeq) rows.pop();
    for (const { seq, at, eventId, type, data } of factsIn(record.canonicalTexts)) {
      rows.push({ seq, at, eventId, type, data });
    }
  }
  return rows;
}
