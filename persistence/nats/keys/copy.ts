/**
 * All keys of a cluster at once: reading them for a copy, and writing those of a copy into a cluster that has none.
 *
 * 1. Keys are destroyed while they are read. What is read again then comes again, with the destroyed keys named.
 * 2. The identity is written last: until then the keys in the stream belong to no cluster, no node starts on it, and
 *    another import begins anew.
 */
import { KeysUnusable, type Key, type KeysIdentity } from '../../keys.ts';
import { decodeBatch, encodeBatch, idOf, topicOf, type KeyBatch } from './batches.ts';
import type { KeyLog } from '../../key-log.ts';
import { encodeIdentity, IDENTITY_TOPIC, readIdentity } from './keys.ts';
import { causeOf, LogUnreachable } from '../../shard-log.ts';
import { machineTiming, pauseFor, type Timing } from '../timing.ts';

export interface KeysPart {
  readonly keys: readonly Key[];
  /** Keys that are gone; a part before may have had them (rule 1). */
  readonly destroyedIds: readonly string[];
}

const MESSAGES_AT_A_TIME = 64;
const TRIES_MAX = 50;
const PAUSE_MS = 200;
const BATCH_TOPIC = 'keys.';

/** The identity of a cluster's keys; null when the stream has none. Rejects with LogUnreachable. */
export function readKeysIdentity(log: KeyLog, timing: Timing = machineTiming): Promise<KeysIdentity | null> {
  return readIdentity(log, timing);
}

/** Every key that is there, and the ids of the destroyed ones (rule 1). Rejects with LogUnreachable. */
export async function* readAllKeys(log: KeyLog): AsyncIterable<KeysPart> {
  let readSeq = 0;
  for (let lastSeq = await log.lastSeq(); readSeq < lastSeq; lastSeq = await log.lastSeq()) {
    for await (const { topic, body } of log.read(readSeq + 1, lastSeq)) {
      if (topic.startsWith(BATCH_TOPIC)) yield partOf(decodeBatch(body));
    }
    readSeq = lastSeq;
  }
}

/**
 * Writes the keys of a copy into a stream without an identity. Each batch comes once, and only some are in memory at a
 * time. Rejects with KeysUnusable where it has one, and with LogUnreachable.
 */
export async function importKeys(
  log: KeyLog,
  identity: KeysIdentity,
  batches: Iterable<KeyBatch>,
  timing: Timing = machineTiming,
): Promise<void> {
  if ((await readIdentity(log, timing)) !== null) {
    throw new KeysUnusable('the cluster has keys already', 'Import into a cluster that no node has used.');
  }
  await eraseAll(log);
  let some: KeyBatch[] = [];
  const putSome = async (): Promise<void> => {
    await Promise.all(some.map((batch) => putSurely(log, batch, timing)));
    some = [];
  };
  for (const batch of batches) {
    some.push(batch);
    if (some.length === MESSAGES_AT_A_TIME) await putSome();
  }
  await putSome();
  await appendIdentity(log, identity, timing);
}

function partOf(batch: KeyBatch): KeysPart {
  return {
    keys: [...batch.keys].map(([index, key]) => ({ id: idOf(batch, index), key })),
    destroyedIds: [...batch.destroyed].map((index) => idOf(batch, index)),
  };
}

/** Erases what an interrupted import left (rule 2). */
async function eraseAll(log: KeyLog): Promise<void> {
  const lastSeq = await log.lastSeq();
  for await (const { seq } of log.read(1, lastSeq)) await log.erase(seq);
}

/** A batch that is there twice does no harm: both messages say the same. */
async function putSurely(log: KeyLog, batch: KeyBatch, timing: Timing): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const answer = await log.put(topicOf(batch), encodeBatch(batch));
    if (answer.outcome === 'APPENDED') return;
    if (tries === TRIES_MAX) throw unwritten(causeOf(answer));
    await pauseFor(timing, PAUSE_MS);
  }
}

async function appendIdentity(log: KeyLog, identity: KeysIdentity, timing: Timing): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    const answer = await log.append(IDENTITY_TOPIC, encodeIdentity(identity), await log.lastSeq());
    if (answer.outcome === 'APPENDED') return;
    const known = await log.newest(IDENTITY_TOPIC);
    if (known !== null && encodeIdentity(identity).equals(known.body)) return;
    if (known !== null) throw new KeysUnusable('the cluster has keys already', 'Stop the node that made them.');
    if (tries === TRIES_MAX) throw unwritten(causeOf(answer));
    await pauseFor(timing, PAUSE_MS);
  }
}

function unwritten(cause: unknown): LogUnreachable {
  return new LogUnreachable('the stream of keys cannot be written', cause);
}
