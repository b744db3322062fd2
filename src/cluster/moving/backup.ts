/**
 * Copies the facts of all shards of a cluster into an ordinary data folder, which a single machine serves from. Nodes
 * may serve meanwhile.
 *
 * 1. Every shard is read from its first fact, archive and log, and its whole chain is checked. It ends with what was in
 *    its log when its reading began; everything that was answered before the backup began is in it.
 * 2. The keys of personal data are read after all facts, so that no fact of the copy lacks its key. What was erased
 *    meanwhile has no key in the copy.
 * 3. What only a cluster has is left out: the index of events, which follows from their definitions, and the cursor of
 *    notifications of each shard, in whose place one cursor stands at the end.
 */
import { readServiceFact, SERVICE_STREAM, type NotificationCursor } from '#engine/service-facts.ts';
import { refuseKeys } from '#persistence/folder/backup.ts';
import { removeIfPresent } from '#persistence/files.ts';
import { ArchiveBucket } from '#persistence/nats/objects/archive-bucket.ts';
import type { Objects } from '#persistence/objects.ts';
import { readKeysIdentity } from '#persistence/nats/keys/copy.ts';
import { copyKeysToFile } from './key-file-copy.ts';
import type { KeyLog } from '#persistence/key-log.ts';
import { wholeLog } from '#persistence/nats/objects/purge.ts';
import { readShardFacts } from '#persistence/nats/log/shard-facts.ts';
import type { ShardLog } from '#persistence/shard-log.ts';
import { ShardMerge, type MergeReport } from '#persistence/folder/shard-merge.ts';
import type { FactRow, Unit } from '#persistence/journal.ts';

/** Where the facts of a cluster are. */
export interface ShardStore {
  readonly shards: number;
  log(shard: number): ShardLog;
  /** The archives of all shards. */
  readonly archive: Objects;
}

interface ClusterBackupOptions {
  readonly out: string;
  readonly keys: KeysToBackUp;
  /** Whether facts of this type may have notifications. */
  readonly isNotifiable: (type: string) => boolean;
  /** `of` is what is being done, `done` of `total` of it. */
  readonly onProgress?: (of: 'shards' | 'facts', done: number, total: number) => void;
}

interface KeysToBackUp {
  /** Null where the cluster has no stream of keys. */
  readonly log: KeyLog | null;
  /** A file that must not exist; null leaves the keys out. */
  readonly to: string | null;
}

export interface ClusterBackupReport extends MergeReport {
  /** The copy of the keys; null where the cluster has none, or none were wanted. */
  readonly keys: string | null;
}

/** Facts of the service that only a cluster has (rule 3). */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'NotificationsDelivered',
  'EventReserved',
  'EventIndexed',
  'EventReservationEnded',
]);

/**
 * Rejects with CopyRefused, ChainBroken, ObjectDamaged, or an error of a store that cannot be reached; nothing is left
 * then.
 */
export async function backUpCluster(
  store: ShardStore,
  { out, keys, isNotifiable, onProgress }: ClusterBackupOptions,
): Promise<ClusterBackupReport> {
  refuseKeys(keys.to === null ? null : { to: keys.to });
  const merge = new ShardMerge(out);
  try {
    const cursors = new Map<number, NotificationCursor>();
    for (let shard = 0; shard < store.shards; shard += 1) {
      onProgress?.('shards', shard, store.shards);
      const log = wholeLog(store.log(shard), new ArchiveBucket(store.archive, shard));
      await merge.stage(shard, readShardFacts(log), (fact) => {
        if (fact.eventId !== SERVICE_STREAM) return true;
        noteCursor(cursors, shard, fact);
        return !LEFT_OUT.has(fact.type);
      });
    }
    const copied = await copyKeys(keys);
    const undelivered = new UndeliveredFacts();
    const report = await merge.finish({
      keysId: copied.keysId,
      merged(shard, newSeq, { seq, eventId, type }) {
        if (isNotifiable(type)) undelivered.see(cursors.get(shard) ?? null, seq, eventId, newSeq);
      },
      atEnd: (headSeq, lastAt) => (cursors.size === 0 ? [] : [cursorUnit(undelivered.cursor(headSeq), lastAt)]),
      onProgress: (done, total) => onProgress?.('facts', done, total),
    });
    return { ...report, keys: copied.file };
  } catch (error) {
    merge.discard();
    if (keys.to !== null) removeIfPresent(keys.to);
    throw error;
  }
}

async function copyKeys({ log, to }: KeysToBackUp): Promise<{ keysId: string | null; file: string | null }> {
  const identity = log && (await readKeysIdentity(log));
  if (log === null || identity === null) return { keysId: null, file: null };
  if (to !== null) await copyKeysToFile(log, identity, to);
  return { keysId: identity.keysId, file: to };
}

function noteCursor(cursors: Map<number, NotificationCursor>, shard: number, row: FactRow): void {
  const fact = readServiceFact(row);
  if (fact?.type === 'NotificationsDelivered') cursors.set(shard, fact.data);
}

/** The fact that says how far notifications were delivered. */
export function cursorUnit(cursor: NotificationCursor, at: number): Unit {
  return {
    eventId: SERVICE_STREAM,
    at,
    facts: [{ type: 'NotificationsDelivered', data: JSON.stringify(cursor) }],
  };
}

/**
 * The facts that a cursor of notifications does not cover yet, by event, when facts get other sequence numbers.
 *
 * A fact was delivered in the new numbering exactly when it was in the old one: nothing is left out and nothing is sent
 * twice. Facts that can have no message count as delivered, so that the cursor lists only events with something to
 * deliver.
 */
export class UndeliveredFacts {
  readonly #behind = new Map<string, number>();

  /** Notes a fact under its new number, when the cursor of its old numbering does not cover it. */
  see(cursor: NotificationCursor | null, oldSeq: number, eventId: string, newSeq: number): void {
    if (cursor === null || oldSeq <= (cursor.behind[eventId] ?? cursor.throughSeq)) return;
    if (!this.#behind.has(eventId)) this.#behind.set(eventId, newSeq - 1);
  }

  /** The cursor of the new numbering, whose newest fact is `throughSeq`. */
  cursor(throughSeq: number): NotificationCursor {
    return { throughSeq, behind: Object.fromEntries(this.#behind) };
  }
}
