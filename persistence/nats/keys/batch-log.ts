/**
 * Batches of keys in the stream of a cluster's keys: reading one, and destroying keys in it.
 *
 * 1. Once the topic of a batch has a message, it always has one: an emptied batch stays as a message without keys.
 * 2. A destruction appends the batch without the keys. It expects the message that was the stream's newest just before
 *    the batch was read, so that a paused writer with an old view is refused. Then all older messages of the topic are
 *    erased, also those that an interrupted destruction left.
 * 3. A leader that was just elected may show an older version of a batch. The messages before the new one show that: a
 *    key that is absent from one of them was destroyed already, and is destroyed again before they are erased.
 * 4. A batch counts as absent only after this node has appended a message: the leader then has that message and all
 *    before it.
 */
import { decodeBatch, encodeBatch, groupIds, topicOf, withoutKeys, type KeyBatch } from './batches.ts';
import type { KeyLog } from '../../key-log.ts';
import { causeOf, LogUnreachable } from '../../shard-log.ts';
import { pauseFor, type Timing } from '../timing.ts';

interface FoundBatch {
  readonly seq: number;
  readonly batch: KeyBatch;
}

/** How many messages are under way at a time. */
const BATCHES_AT_A_TIME = 32;
/** How often a refill is tried: those of other nodes may come first, and each try takes some milliseconds. */
const TRIES_MAX = 200;
const PAUSE_MS = 2;
const PAUSE_MS_MAX = 50;

const PROOF_TOPIC = 'proof';

/**
 * The newest version of a batch, or null when it is not known to be there (rule 4). Rejects with LogUnreachable,
 * BatchUnreadable.
 */
async function newestBatch(log: KeyLog, topic: string): Promise<FoundBatch | null> {
  const message = await log.newest(topic);
  return message === null ? null : { seq: message.seq, batch: decoded(topic, message.body) };
}

/** Appends a message, so that later reads see all that was appended before it (rule 4). Rejects with LogUnreachable. */
async function proveCurrent(log: KeyLog): Promise<void> {
  const answer = await log.replace(PROOF_TOPIC, Buffer.alloc(1));
  if (answer.outcome === 'APPENDED') return;
  throw new LogUnreachable('the stream of keys cannot be written', causeOf(answer));
}

/** The newest versions of batches by topic; a topic without an entry is proved to have no batch. */
export async function readBatches(
  log: KeyLog,
  topics: readonly string[],
  isAbsent: (topic: string) => boolean = () => false,
): Promise<ReadonlyMap<string, FoundBatch>> {
  const found = new Map<string, FoundBatch>();
  const read = async (topic: string): Promise<void> => {
    const batch = await newestBatch(log, topic);
    if (batch !== null) found.set(topic, batch);
  };
  await inParts(topics, read);
  const missing = topics.filter((topic) => !found.has(topic) && !isAbsent(topic));
  if (missing.length === 0) return found;
  await proveCurrent(log);
  await inParts(missing, read);
  return found;
}

/**
 * Destroys keys: when it resolves, the stream has them nowhere. Rejects with LogUnreachable; a repeated call goes on.
 */
export async function destroyKeys(log: KeyLog, ids: Iterable<string>, timing: Timing): Promise<void> {
  const pending = new Map([...groupIds(ids)].map(([topic, { indexes }]) => [topic, indexes]));
  let tries = 0;
  while (pending.size > 0) {
    if (tries === TRIES_MAX) throw new LogUnreachable('keys cannot be destroyed: other messages come in between');
    if (tries > 0) await pauseFor(timing, Math.min(PAUSE_MS * tries, PAUSE_MS_MAX));
    const topics = [...pending.keys()].slice(0, BATCHES_AT_A_TIME);
    const settled = await destroyInSome(log, new Map(topics.map((topic) => [topic, pending.get(topic)!])));
    for (const topic of settled) pending.delete(topic);
    tries = settled.length > 0 ? 0 : tries + 1;
  }
}

/**
 * One try; returns the topics where nothing is left to do. To the others, the places of keys that came back are added
 * (rule 3).
 */
async function destroyInSome(log: KeyLog, pending: ReadonlyMap<string, Set<number>>): Promise<readonly string[]> {
  // Before the batches are read (rule 2).
  let expectedSeq = await log.lastSeq();
  const topics = [...pending.keys()];
  const found = await readBatches(log, topics);
  const absent = topics.filter((topic) => !found.has(topic));
  // The proof appended a message, so that no expectation holds any more.
  if (absent.length > 0) return absent;
  const settled: string[] = [];
  const work = [...found].map(async ([topic, before]) => {
    const batch = withoutKeys(before.batch, pending.get(topic)!);
    let { seq } = before;
    if (batch !== before.batch) {
      expectedSeq += 1;
      const answer = await log.append(topic, encodeBatch(batch), expectedSeq - 1);
      if (answer.outcome !== 'APPENDED') return;
      seq = answer.seq;
    }
    const cameBack = await eraseBefore(log, topic, { seq, batch });
    if (cameBack.length === 0) settled.push(topic);
    for (const index of cameBack) pending.get(topic)!.add(index);
  });
  await allSettled(work);
  return settled;
}

/**
 * Erases the older messages of a topic; returns the places of keys that one of them does not have any more, and erases
 * none then (rule 3).
 */
async function eraseBefore(log: KeyLog, topic: string, newest: FoundBatch): Promise<readonly number[]> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const oldest = await log.oldest(topic);
    if (oldest === null) throw new LogUnreachable('the stream of keys has not all of its messages yet');
    if (oldest.seq >= newest.seq) return [];
    const { keys } = decoded(topic, oldest.body);
    const cameBack = [...newest.batch.keys.keys()].filter((index) => !keys.has(index));
    if (cameBack.length > 0) return cameBack;
    await log.erase(oldest.seq);
  }
  throw new LogUnreachable('older messages of keys cannot be erased');
}

function decoded(topic: string, body: Uint8Array): KeyBatch {
  const batch = decodeBatch(body);
  if (topicOf(batch) !== topic) throw new Error(`the batch of keys ${topicOf(batch)} is in the place of ${topic}`);
  return batch;
}

async function inParts(topics: readonly string[], work: (topic: string) => Promise<void>): Promise<void> {
  for (let begin = 0; begin < topics.length; begin += BATCHES_AT_A_TIME)
    await allSettled(topics.slice(begin, begin + BATCHES_AT_A_TIME).map(work));
}

/** Waits for all, so that nothing is under way afterwards; then rejects as the first one did. */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(work);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
