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
import {
  CURSOR_FACTS,
  DELIVERED,
  readServiceFact,
  SERVICE_STREAM,
  type Delivered,
  type NotificationCursor,
  type QueueOf,
} from '#engine/service-facts.ts';
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
  /** The queues of facts of which something is delivered. */
  readonly queues: Queues;
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
  ...Object.values(CURSOR_FACTS),
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
  { out, keys, queues, onProgress }: ClusterBackupOptions,
): Promise<ClusterBackupReport> {
  refuseKeys(keys.to === null ? null : { to: keys.to });
  const merge = new ShardMerge(out);
  try {
    const cursors = perDelivery(() => new Map<number, NotificationCursor>());
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
    const undelivered = perDelivery(() => new UndeliveredFacts());
    const report = await merge.finish({
      keysId: copied.keysId,
      merged(shard, newSeq, row) {
        for (const of of DELIVERED)
          undelivered[of].see(cursors[of].get(shard) ?? null, row.seq, queues[of](row), newSeq);
      },
      atEnd: (headSeq, lastAt) =>
        DELIVERED.filter((of) => cursors[of].size > 0).map((of) =>
          cursorUnit(of, undelivered[of].cursor(headSeq), lastAt),
        ),
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

function noteCursor(cursors: Cursors, shard: number, row: FactRow): void {
  const fact = readServiceFact(row);
  if (fact?.type === 'NotificationsDelivered') cursors.notifications.set(shard, fact.data);
  if (fact?.type === 'MailDelivered') cursors.mail.set(shard, fact.data);
}

type Cursors = Readonly<Record<Delivered, Map<number, NotificationCursor>>>;

/** The queues of facts by what is delivered of them. */
export type Queues = Readonly<Record<Delivered, QueueOf>>;

/** Something made for each delivery. */
export function perDelivery<Made>(make: () => Made): Readonly<Record<Delivered, Made>> {
  return { notifications: make(), mail: make() };
}

/** The fact that says how far something was delivered. */
export function cursorUnit(delivered: Delivered, cursor: NotificationCursor, at: number): Unit {
  return { eventId: SERVICE_STREAM, at, facts: [{ type: CURSOR_FACTS[delivered], data: JSON.stringify(cursor) }] };
}

/**
 * The facts that a cursor does not cover yet, by queue, when facts get other sequence numbers.
 *
 * A fact was delivered in the new numbering exactly when it was in the old one: nothing is left out and nothing is sent
 * twice. Facts that can have no message count as delivered, so that the cursor lists only queues with something to
 * deliver.
 */
export class UndeliveredFacts {
  readonly #behind = new Map<string, number>();

  /** Notes a fact under its new number, when the cursor of its old numbering does not cover it. */
  see(cursor: NotificationCursor | null, oldSeq: number, queue: string | null, newSeq: number): void {
    if (cursor === null || queue === null || oldSeq <= (cursor.behind[queue] ?? cursor.throughSeq)) return;
    if (!this.#behind.has(queue)) this.#behind.set(queue, newSeq - 1);
  }

  /** The cursor of the new numbering, whose newest fact is `throughSeq`. */
  cursor(throughSeq: number): NotificationCursor {
    return { throughSeq, behind: Object.fromEntries(this.#behind) };
  }
}
