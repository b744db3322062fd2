/**
 * Moves a single machine's data folder, journal and archive, into an empty cluster.
 *
 * 1. The cluster must be empty and unused: no heartbeat of a node is heard, and no shard has a record. A node that
 *    starts meanwhile fences the import, which then fails.
 * 2. Every batch of the folder is proved while it is read. Facts go to the shard of their event, with their moment,
 *    their units and their order; the chain of each shard is computed anew.
 * 3. The index of events is written when all other facts are durable, so that no node shows an event before it is
 *    complete.
 * 4. The keys of personal data are in the cluster before the first fact that needs them, without those of erased
 *    orders. Where a sealed text lacks its key though nobody erased it, the folder is refused, unless that is accepted.
 * 5. The one cursor of notifications becomes a cursor of every shard, and so does that of mails. The sandbox clock
 *    cannot be moved in a cluster, so that a folder in which it was moved is refused.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setImmediate as nextRound } from 'node:timers/promises';
import { entryOf, type IndexedEvent } from '#actors/event-entry.ts';
import { keyIdsOf } from '#privacy/folder-keys.ts';
import {
  DELIVERED,
  evolveService,
  newServiceState,
  readServiceFact,
  SERVICE_STREAM,
  type ServiceState,
  type Delivered,
} from '#engine/service-facts.ts';
import type { FactData } from '#domain/fact.ts';
import { KeyCheck } from '#offline/key-check.ts';
import type { Finding } from '#persistence/faults.ts';
import type { WholeFolder } from '#persistence/folder/backup.ts';
import type { FactRow, Unit } from '#persistence/journal.ts';
import { claimShard } from '#persistence/nats/log/claim.ts';
import { importKeys, readKeysIdentity } from '#persistence/nats/keys/copy.ts';
import { batchesOfFile } from './key-file-copy.ts';
import type { KeyLog } from '#persistence/key-log.ts';
import type { ShardJournal } from '#persistence/nats/log/journal.ts';
import { KeyReader } from '#persistence/sqlite/key-file.ts';
import type { StoredFact } from '#persistence/chain.ts';
import { pauseFor, type Timing, nodeTiming } from '#persistence/nats/timing.ts';
import { cursorUnit, perDelivery, type Queues, type ShardStore, UndeliveredFacts } from './backup.ts';
import type { Bus } from '../calls/bus.ts';
import { heartbeatSubject, readHeartbeat } from '../calls/membership.ts';
import { INDEX_SHARD, shardOf } from '../directory/placement.ts';

export interface KeysToImport {
  /** The file of keys; it may be missing where nothing is sealed. */
  readonly file: string;
  /** The stream of the cluster's keys. */
  readonly log: KeyLog;
  /** Notes at the cluster which keys it is sealed with. */
  note(keysId: string): Promise<void>;
  /** Whether an operator accepts that texts whose keys are lost read as erased (rule 4). */
  readonly isLossAccepted: boolean;
}

interface ClusterImportOptions {
  readonly folder: WholeFolder;
  readonly keys: KeysToImport;
  readonly store: Pick<ShardStore, 'shards' | 'log'>;
  /** The streams of the stores of snapshots, checkpoints and archives that have something. */
  filledBuckets(): Promise<readonly string[]>;
  readonly bus: Pick<Bus, 'subscribe'>;
  /** The prefix of all subjects. */
  readonly cluster: string;
  readonly queues: Queues;
  readonly time?: Timing;
  /** `of` is what is being done, up to fact `done` of `total`. */
  readonly onProgress?: (of: 'reading' | 'importing', done: number, total: number) => void;
}

export interface ImportReport {
  readonly facts: number;
  readonly events: number;
  /** Shards that have an event. */
  readonly shardsUsed: number;
  /** Sealed texts that can be opened in the cluster, and those whose keys are lost. */
  readonly openable: number;
  readonly lost: number;
}

/** The cluster or the folder is not as it must be; nothing was written. */
export class ImportRefused extends Error {
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.name = 'ImportRefused';
    this.hint = hint;
  }
}

/** The import failed before its end, and the cluster has a part of the folder. */
export class ImportFailed extends Error {
  readonly hint: string;
  constructor(cluster: string, cause: unknown) {
    super(`the import ended before its end: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.name = 'ImportFailed';
    this.hint =
      `The cluster ${cluster} has a part of the folder, and the folder is unchanged. Delete the streams whose names begin with ` +
      `${cluster}_ or OBJ_${cluster}_ (nats stream rm), or choose another CLUSTER_NAME, and import again before any node starts.`;
  }
}

/** Longer than a node that serves is silent. */
const LISTEN_MS = 1_600;

/** Facts under way; more make larger messages and take more memory. */
const SLICE_FACTS = 20_000;
const BATCH_UNITS_MAX = 1_000;
const SHARDS_AT_ONCE = 8;
const BATCHES_A_SLICE = 64;

/** Rejects with ImportRefused, ImportFailed, JournalDamaged, or LogUnreachable when a check could not be made. */
export async function importFolder(options: ClusterImportOptions): Promise<ImportReport> {
  const { folder, cluster, keys } = options;
  const { service, sealed } = await readWhole(options);
  await refuseLiveNodes(options);
  await refuseFilled(options);
  await refuseKeys(options);
  const into = new ClusterImport(options, service);
  try {
    await into.claim();
    await moveKeys(keys, sealed.erasedIds);
    for (const { facts } of folder.batches()) {
      for (const unit of unitsIn(facts)) into.add(unit);
      if (into.isSliceFull) await into.settle();
    }
    folder.refuseGrown();
    return { ...(await into.finish()), openable: sealed.openable, lost: sealed.lost };
  } catch (error) {
    into.abandon();
    throw new ImportFailed(cluster, error);
  }
}

/** What the facts say about keys. */
interface SealedFacts {
  readonly openable: number;
  readonly lost: number;
  /** The keys of erased orders. */
  readonly erasedIds: ReadonlySet<string>;
}

/**
 * What the service's own facts add up to and what keys say; reads the folder to its end, so that damage is found before
 * anything is written.
 */
async function readWhole(
  options: ClusterImportOptions,
): Promise<{ readonly service: ServiceState; readonly sealed: SealedFacts }> {
  const { folder, keys } = options;
  const service = newServiceState();
  const check = new KeyCheck(keys.file);
  try {
    const erasedIds = await readFacts(options, service, check);
    refuseMovedClock(service);
    const { report, losses } = check.finish(folder.keysId);
    if (!keys.isLossAccepted) refuseLosses(losses);
    return { service, sealed: { erasedIds, openable: report.openable - report.kept, lost: report.lost } };
  } finally {
    check.close();
  }
}

/** Returns the keys that erasures name. */
async function readFacts(
  { folder, onProgress }: ClusterImportOptions,
  service: ServiceState,
  check: KeyCheck,
): Promise<ReadonlySet<string>> {
  const erasedIds = new Set<string>();
  let batches = 0;
  for (const { row, facts } of folder.batches()) {
    for (const fact of facts) {
      const own = readServiceFact(fact);
      if (own !== null) evolveService(service, own);
      check.see(fact);
      if (fact.type === 'OrderErased') for (const id of keyIdsOf(fact)) erasedIds.add(id);
    }
    batches += 1;
    if (batches % BATCHES_A_SLICE !== 0) continue;
    onProgress?.('reading', row.lastSeq, folder.headSeq);
    await nextRound();
  }
  return erasedIds;
}

function refuseLosses([loss]: readonly Finding[]): void {
  if (loss === undefined) return;
  throw new ImportRefused(
    `${loss.where}: ${loss.what}`,
    'Put keys.db back from a copy of the keys, or name a copy with --keys FILE; or, where there is none, import with KEYS_LOST=accept: the ' +
      'personal data of those orders then reads as erased.',
  );
}

/** Writes the keys of the folder, before any fact (rule 4). */
async function moveKeys({ file, log, note }: KeysToImport, erasedIds: ReadonlySet<string>): Promise<void> {
  if (!existsSync(file)) return;
  const reader = new KeyReader(file);
  try {
    await importKeys(log, reader.identity, batchesOfFile(reader, erasedIds));
    await note(reader.identity.keysId);
  } finally {
    reader.close();
  }
}

async function refuseKeys({ keys: { log }, cluster }: ClusterImportOptions): Promise<void> {
  if ((await readKeysIdentity(log)) !== null) throw notEmpty(cluster, 'it has keys of personal data');
}

function refuseMovedClock(service: ServiceState): void {
  if (service.clockOffsetMs === 0) return;
  throw new ImportRefused(
    'the sandbox clock of this folder was moved, and a cluster has no sandbox clock',
    'Import the folder of a shop that sells, or load its catalogue files at a node.',
  );
}

async function refuseLiveNodes({ bus, cluster, time = nodeTiming }: ClusterImportOptions): Promise<void> {
  const names = new Set<string>();
  const unsubscribe = bus.subscribe(heartbeatSubject(cluster), ({ data }) => {
    names.add(readHeartbeat(data)?.node ?? 'one of another version');
  });
  await pauseFor(time, LISTEN_MS);
  unsubscribe();
  if (names.size === 0) return;
  throw new ImportRefused(
    `nodes of the cluster ${cluster} are running: ${[...names].sort().join(', ')}`,
    'Stop all nodes first; an import goes into a cluster that was never used.',
  );
}

/**
 * The contents of a store would be read beside the logs: a checkpoint of an earlier cluster would hide what is
 * imported.
 */
async function refuseFilled({ store, filledBuckets, cluster }: ClusterImportOptions): Promise<void> {
  for (const shards of groupsOf(store.shards)) {
    const lastSeqs = await Promise.all(shards.map((shard) => store.log(shard).lastSeq()));
    const filled = shards.find((_, index) => lastSeqs[index] !== 0);
    if (filled !== undefined) throw notEmpty(cluster, `shard ${filled} has records`);
  }
  const [bucket] = await filledBuckets();
  if (bucket !== undefined) throw notEmpty(cluster, `the stream ${bucket} has objects`);
}

function notEmpty(cluster: string, why: string): ImportRefused {
  return new ImportRefused(
    `the cluster is not empty: ${why}`,
    `Choose another CLUSTER_NAME, or delete the streams whose names begin with ${cluster}_ and OBJ_${cluster}_ (nats stream rm) if nothing in it is needed.`,
  );
}

/** The numbers of all shards in groups, so that only a few requests are under way. */
function* groupsOf(shards: number): Generator<number[]> {
  for (let from = 0; from < shards; from += SHARDS_AT_ONCE)
    yield Array.from({ length: Math.min(SHARDS_AT_ONCE, shards - from) }, (_, index) => from + index);
}

function* unitsIn(facts: readonly StoredFact[]): Generator<readonly StoredFact[]> {
  for (let from = 0; from < facts.length;) {
    const { unit } = facts[from]!;
    const end = facts.findLastIndex((fact) => fact.unit === unit) + 1;
    yield facts.slice(from, end);
    from = end;
  }
}

class ClusterImport {
  readonly #options: ClusterImportOptions;
  readonly #service: ServiceState;
  readonly #journals: ShardJournal[] = [];
  readonly #entries = new Map<string, IndexedEvent>();
  readonly #undelivered: readonly Readonly<Record<Delivered, UndeliveredFacts>>[];
  #facts = 0;
  #unsettled = 0;
  #doneSeq = 0;
  #lastAt = 0;

  constructor(options: ClusterImportOptions, service: ServiceState) {
    this.#options = options;
    this.#service = service;
    this.#undelivered = Array.from({ length: options.store.shards }, () => perDelivery(() => new UndeliveredFacts()));
  }

  get isSliceFull(): boolean {
    return this.#unsettled >= SLICE_FACTS;
  }

  /** Becomes the owner of every shard. */
  async claim(): Promise<void> {
    const { store } = this.#options;
    const node = `import-${randomUUID()}`;
    for (const shards of groupsOf(store.shards)) {
      const claims = await Promise.all(
        shards.map((shard) => claimShard(store.log(shard), { node, checkpoint: null, batchUnitsMax: BATCH_UNITS_MAX })),
      );
      for (const claim of claims) {
        if (claim.outcome === 'LOST') throw new Error(`the node ${claim.owner} has claimed a shard meanwhile`);
        this.#journals.push(claim.journal);
      }
    }
  }

  /** Appends a unit to its shard. */
  add(unit: readonly StoredFact[]): void {
    const [first] = unit;
    const { eventId, at } = first!;
    this.#doneSeq = unit.at(-1)!.seq;
    this.#lastAt = Math.max(this.#lastAt, at);
    // Each shard gets a cursor of its own at the end, and no clock was moved.
    const kept = unit.filter((fact) => eventId !== SERVICE_STREAM || fact.type === 'ServiceRequestAnswered');
    if (kept.length === 0) return;
    const shard = shardOf(eventId, this.#journals.length);
    const facts = kept.map(({ type, data }) => ({ type, data }));
    const firstSeq = this.#append(shard, { eventId, at, facts }) - kept.length + 1;
    for (const [index, fact] of kept.entries()) {
      this.#noteDefinition(fact);
      for (const of of DELIVERED) {
        const queue = this.#options.queues[of](fact);
        this.#undelivered[shard]![of].see(this.#service[of] ?? null, fact.seq, queue, firstSeq + index);
      }
    }
    this.#facts += kept.length;
    this.#unsettled += kept.length;
  }

  /** Waits until everything that was added is in the logs. */
  async settle(): Promise<void> {
    await Promise.all(this.#journals.map((journal) => journal.durable(journal.appendedSeq)));
    for (const journal of this.#journals) {
      for (const { eventId, lastSeq } of journal.streams()) journal.release(eventId, lastSeq);
    }
    this.#unsettled = 0;
    this.#options.onProgress?.('importing', this.#doneSeq, this.#options.folder.headSeq);
    await nextRound();
  }

  /** Writes the cursors, then the index (rule 3), and closes the journals. */
  async finish(): Promise<Pick<ImportReport, 'facts' | 'events' | 'shardsUsed'>> {
    await this.settle();
    const shardsUsed = this.#journals.filter(({ appendedSeq }) => appendedSeq > 0).length;
    for (const of of DELIVERED.filter((each) => (this.#service[each] ?? null) !== null)) {
      for (const [shard, journal] of this.#journals.entries())
        this.#append(shard, cursorUnit(of, this.#undelivered[shard]![of].cursor(journal.appendedSeq), this.#lastAt));
      await this.settle();
    }
    const entries = [...this.#entries.values()].sort((a, b) => a.eventNumber - b.eventNumber);
    for (const entry of entries) {
      const facts = [{ type: 'EventIndexed', data: JSON.stringify({ entry }) }];
      this.#append(INDEX_SHARD, { eventId: SERVICE_STREAM, at: this.#lastAt, facts });
    }
    await this.settle();
    await Promise.all(this.#journals.map((journal) => journal.close()));
    return { facts: this.#facts, events: entries.length, shardsUsed };
  }

  abandon(): void {
    for (const journal of this.#journals) journal.abandon();
  }

  #append(shard: number, unit: Unit): number {
    return this.#journals[shard]!.append(unit);
  }

  #noteDefinition({ type, eventId, data }: FactRow): void {
    if (type === 'EventDefined') this.#entries.set(eventId, entryOf(JSON.parse(data) as FactData['EventDefined']));
  }
}
