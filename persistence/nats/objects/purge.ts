/**
 * Dropping from a shard's log what no start needs, and reading the log as if nothing had been dropped.
 *
 * 1. Messages up to the older of two good checkpoints may go, so that the newer one may be bad.
 * 2. They go only when objects of the archive that have them were read and proved, now.
 * 3. A purge may be cut off anywhere and repeated, by another owner too.
 */

import type { ArchiveBucket } from './archive-bucket.ts';
import type { Checkpoints } from './checkpoints.ts';
import { ObjectDamaged } from '../../objects.ts';
import type { LogMessage, ShardLog } from '../../shard-log.ts';

/**
 * Purges the log of a shard; returns the last message that may be gone. When a step fails it rejects, and has dropped
 * nothing.
 */
export async function purgeLog(log: ShardLog, archive: ArchiveBucket, checkpoints: Checkpoints): Promise<number> {
  const throughSeq = await checkpoints.purgeableSeq();
  const archivedSeq = await archive.throughSeq();
  if (throughSeq > archivedSeq) await archive.add(log.read(archivedSeq + 1, throughSeq));
  const beginSeq = await firstSeqOf(log, throughSeq);
  if (beginSeq === null) return throughSeq;
  await prove(archive, beginSeq, throughSeq);
  await log.purge(throughSeq + 1);
  return throughSeq;
}

/**
 * The first message up to one that was not purged; null when there is none. Messages are purged from the beginning
 * only.
 */
async function firstSeqOf(log: ShardLog, throughSeq: number): Promise<number | null> {
  let least = 1;
  let most = throughSeq + 1;
  while (least < most) {
    const middle = Math.floor((least + most) / 2);
    if ((await log.get(middle)) === null) least = middle + 1;
    else most = middle;
  }
  return least > throughSeq ? null : least;
}

/**
 * Proves objects that have all messages from one to another (rule 2). Rejects with ObjectDamaged when there are none.
 */
async function prove(archive: ArchiveBucket, fromSeq: number, throughSeq: number): Promise<void> {
  let provedSeq = fromSeq - 1;
  let damage: ObjectDamaged | null = null;
  for (const part of await archive.parts()) {
    if (part.toSeq <= provedSeq || part.fromSeq > provedSeq + 1 || provedSeq >= throughSeq) continue;
    try {
      await archive.prove(part);
      provedSeq = part.toSeq;
    } catch (error) {
      if (!(error instanceof ObjectDamaged)) throw error;
      damage = error;
    }
  }
  if (provedSeq >= throughSeq) return;
  throw damage ?? new ObjectDamaged(`of the archive with message ${provedSeq + 1}`, 'it is gone');
}

/** A log with the archive before it. */
export function wholeLog(log: ShardLog, archive: ArchiveBucket): ShardLog {
  return {
    append: (body, expectedLastSeq) => log.append(body, expectedLastSeq),
    lastSeq: () => log.lastSeq(),
    get: async (seq) => (await log.get(seq)) ?? (await archived(archive, seq)),
    read: (fromSeq, throughSeq) => readWhole(log, archive, fromSeq, throughSeq),
    async *follow(fromSeq, signal) {
      const archivedSeq = await archive.throughSeq();
      if (fromSeq <= archivedSeq) yield* readWhole(log, archive, fromSeq, archivedSeq);
      const beginSeq = Math.max(fromSeq, archivedSeq + 1);
      yield* withoutGaps(log.follow(beginSeq, signal), archive, beginSeq, Infinity);
    },
    purge: (beforeSeq) => log.purge(beforeSeq),
  };
}

async function archived(archive: ArchiveBucket, seq: number): Promise<LogMessage | null> {
  if (seq < 1 || seq > (await archive.throughSeq())) return null;
  for await (const message of archive.read(seq, seq)) return message;
  return null;
}

/** From the archive as far as it goes; where it is bad, from the log, which may still have the messages. */
async function* readWhole(
  log: ShardLog,
  archive: ArchiveBucket,
  fromSeq: number,
  throughSeq: number,
): AsyncGenerator<LogMessage> {
  const archivedSeq = Math.min(await archive.throughSeq(), throughSeq);
  let next = fromSeq;
  try {
    if (next <= archivedSeq) {
      for await (const message of archive.read(next, archivedSeq)) {
        yield message;
        next = message.seq + 1;
      }
    }
  } catch (error) {
    if (!(error instanceof ObjectDamaged)) throw error;
  }
  if (next <= throughSeq) yield* withoutGaps(log.read(next, throughSeq), archive, next, throughSeq);
}

/** Takes from the archive what was purged before it could be read. */
async function* withoutGaps(
  messages: AsyncIterable<LogMessage>,
  archive: ArchiveBucket,
  fromSeq: number,
  throughSeq: number,
): AsyncGenerator<LogMessage> {
  let next = fromSeq;
  for await (const message of messages) {
    if (message.seq > next) yield* archive.read(next, Math.min(message.seq - 1, throughSeq));
    if (message.seq > throughSeq) return;
    yield message;
    next = message.seq + 1;
  }
}
