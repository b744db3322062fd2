/**
 * The engine: journal, clock, events, timers and snapshots, started and stopped in order. It knows no HTTP.
 *
 * 1. The engine is READY only after the journal was proved and every event is in the index.
 * 2. When the disk is full every actor in memory is retired, because its memory is ahead of the journal. Reads go on
 *    from what is on the disk, changes are refused with Overloaded, and everything goes on when the journal can be
 *    written again.
 * 3. An I/O error is final: `onFatal` is called, and nothing is answered any more.
 */
import product from '../../package.json' with { type: 'json' };
import { openSqliteJournal, type SqliteJournal, type SqliteJournalOptions } from '#persistence/sqlite/journal.ts';
import { newestHeaders, SnapshotFolder, type SnapshotHeader } from '#persistence/snapshots.ts';
import type { FactRow, JournalFault } from '#persistence/journal.ts';
import type { KeyStore } from '#persistence/keys.ts';
import { isKnownFact, UnknownFact } from '#domain/event/replay.ts';
import type { ActivationSource } from '#actors/activation.ts';
import { watchArchive, type ArchiveWatch } from './archive-watch.ts';
import { readArchived } from './archived-events.ts';
import { createClock, reportLeap, type ServiceClock, type TimeSource } from '#actors/clock.ts';
import { EventIndex } from '#actors/event-index.ts';
import { createIdSource } from '#actors/crypto.ts';
import { KeyDestruction } from '#privacy/key-destruction.ts';
import { destroyAfterDoubt, KeySurvey, noteErasures, openFolderKeys } from '#privacy/folder-keys.ts';
import { SalesByMinute } from './sales-by-minute.ts';
import { newestFacts } from './shown-facts.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { createSealer } from '#privacy/sealing.ts';
import {
  CURSOR_FACTS,
  DELIVERED,
  deliveredThrough,
  SERVICE_FACT_TYPES,
  SERVICE_STREAM,
  type Delivered,
  type NotificationCursor,
} from './service-facts.ts';
import { startServiceStatus, troubleOf, type ServiceStatusActor } from './service-status.ts';
import { ServiceStream } from './service-stream.ts';
import { startPruneSchedule, type PruneSchedule } from './prune-schedule.ts';
import { SnapshotRounds, type SnapshotRound } from './snapshot-rounds.ts';
import { startSpaceGuard, type SpaceGuard } from './space-guard.ts';
import { StartSurvey } from './start-survey.ts';
import { startTimers, type Timers } from './timers.ts';
import { inBackground, reportTrouble } from '#actors/trouble.ts';
import type { Deployment, DeploymentState, EnginePort, FactFollower, SnapshotSummary } from './deployment.ts';

export interface EngineOptions {
  readonly folder: string;
  readonly liveEventsMax: number;
  readonly waitingRepliesMax: number;
  /** The machine's clock and stopwatch unless a test brings its own; one function is both. */
  readonly clockSource?: TimeSource | (() => number);
  /** Free space below which new claims are refused (see `space-guard.ts`); 0 turns that off. */
  readonly freeBytesMin?: number | null;
  /** False leaves personal data open; for measurements of what sealing costs. */
  readonly isSealing?: boolean;
  /** Passed on to the journal; for tests. */
  readonly journal?: Partial<SqliteJournalOptions>;
  readonly onProgress?: SqliteJournalOptions['onProgress'];
  /** Whether the start accepts that keys of personal data are lost (see `folder-keys.ts`). */
  readonly keysLost?: boolean;
  /** The deliveries that a prune waits for; all where it is not given. A delivery that was switched off is left out. */
  readonly keepsUndelivered?: readonly Delivered[];
  /** Prunes by schedule; without it the engine prunes only on request. */
  readonly pruning?: { readonly everyMs: number; readonly onPruned: (round: SnapshotRound) => void };
  /** The journal is broken; the process must stop. */
  readonly onFatal: (fault: JournalFault) => void;
}

/** What the service needs, and what commands and tests reach directly. */
export interface Engine extends Deployment, EnginePort {
  readonly folder: string;
  readonly journal: SqliteJournal;
  readonly keys: KeyStore;
  readonly events: EventIndex;
  /** The service's own facts, the sandbox clock and answers under idempotency keys. */
  readonly stream: ServiceStream;
  /** Snapshots of every stream, and prunes. */
  readonly snapshots: SnapshotRounds;
  /** Resolves when everything that ran out while the service was down is settled; requests are accepted before. */
  readonly settled: Promise<void>;
}

/** Between two checks which actors have grown enough for a snapshot, and which events are over and not used. */
const MAINTENANCE_MS = 15_000;

/** Broken events that are named; `holdfast_events_broken` counts all of them. */
const DEGRADED_MAX = 100;

const SNAPSHOT_MS_MAX = 3_000;

/**
 * Opens a data folder and starts serving from it. Rejects with FolderInUse, JournalDamaged, JournalTooNew or
 * JournalFault as the journal does, and with UnknownFact when a newer version wrote to it.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  // 1. What is on the disk: lock, watermark, chain; snapshots; archived events and the service's own state; keys.
  const { folder, freeBytesMin = 0 } = options;
  const { survey, journal, keys, snapshotFolder, source, headers, archived, service, start } =
    await openFolder(options);
  const lastSnapshotAt = headers.reduce((latest, { at }) => Math.max(latest, at), 0);
  // 2. The clock goes on from the last fact.
  const clock = createClock(options.clockSource, {
    offsetMs: service.clockOffsetMs,
    notBefore: Math.max(survey.lastAt, archived.lastAt ?? 0, lastSnapshotAt),
    onLeap: reportLeap,
  });
  const stream = new ServiceStream(journal, clock, service.answers ?? []);
  const keyDestruction = new KeyDestruction(keys);
  // 3. The guard of free space, and the snapshot thread.
  const space = await startSpaceGuard({ folder, freeBytesMin });
  const archive = watchArchive({ folder, baseSeq: () => journal.baseSeq });
  const snapshots = new SnapshotRounds({
    folder,
    journal,
    snapshots: snapshotFolder,
    snapshotEvent: (eventId, seq) => events.actors.snapshotAsOf(eventId, seq),
    beforePrune: () => noteErasures(journal, keys, keyDestruction),
    afterPrune: () => void archive.check(),
    now: () => clock.now(),
    lastSnapshotAt: lastSnapshotAt === 0 ? null : lastSnapshotAt,
    firstFactAt: survey.firstAt,
  });
  const cursors = { notifications: service.notifications, mail: service.mail ?? null };
  for (const delivered of options.keepsUndelivered ?? DELIVERED) keepAfter(snapshots, delivered, cursors[delivered]);
  // 4. The events: timers, index, actors.
  const timers = startTimers({
    clock,
    settleDue: (eventId) => events.actors.settleDue(eventId),
    isOver: (eventId) => events.isOver(eventId),
    isClosed: () => journal.status === 'CLOSED',
  });
  const events: EventIndex = new EventIndex({
    journal,
    clock,
    ids: createIdSource(),
    ...(options.isSealing !== false && { sealingOf: createSealer(keys) }),
    keyDestruction,
    waitingRepliesMax: options.waitingRepliesMax,
    liveEventsMax: options.liveEventsMax,
    isShortOfSpace: () => space.isLow,
    source,
    schedule: (eventId, at) => timers.schedule(eventId, at),
    snapshot: (job) => snapshots.take(job),
  });
  const { archivedHeads } = journal;
  const plan = survey.enter(events, {
    headers,
    archived: archived.definitions,
    archivedHeads,
    streams: journal.streams(),
  });
  for (const eventId of archived.lostIds) events.noteLost(eventId);
  // 5. Ready: what ran out while the service was down is settled beside the first requests.
  const status = startServiceStatus();
  followJournal({ journal, events, status, space, keyDestruction }, options.onFatal);
  status.send('RECOVERED');
  const settled = timers.settleOverdue(plan);
  inBackground('activation', settled);
  void archive.check();
  const sales = salesOf(journal, clock);
  const parts = { folder, journal, keys, clock, events, stream, snapshots, ...start, settled: settled.catch(() => {}) };
  return assemble(parts, { status, timers, space, archive, cursors, sales, pruning: options.pruning });
}

function salesOf(journal: SqliteJournal, clock: ServiceClock): SalesByMinute {
  return new SalesByMinute({
    factsAfter: (eventId, afterSeq) => journal.factsOf(eventId, afterSeq),
    durableSeq: () => journal.durableSeq,
    archivedSeq: () => journal.baseSeq,
    now: () => clock.now(),
  });
}

function keepAfter(snapshots: SnapshotRounds, delivered: Delivered, cursor: NotificationCursor | null): void {
  if (cursor !== null) snapshots.keepFactsAfter(delivered, () => deliveredThrough(cursor));
}

/** Opens the journal and reads what it does not say by itself; the survey sees every fact on the way. */
async function openFolder({ folder, journal: journalOptions, onProgress, keysLost = false }: EngineOptions) {
  const survey = new StartSurvey();
  const keySurvey = new KeySurvey();
  const onRow = (row: FactRow): void => {
    refuseUnknown(row);
    survey.see(row);
    keySurvey.see(row);
  };
  const journal = await openSqliteJournal({ program: product.version, ...journalOptions, folder, onProgress, onRow });
  const snapshotFolder = new SnapshotFolder(folder, {
    onBad: (path, reason) => reportTrouble('snapshot', `${path} is skipped for an older one: ${reason}`),
  });
  for (const path of snapshotFolder.setAsideAfter(journal.durableSeq))
    reportTrouble('snapshot', `${path} is set aside: the journal ends before it, at fact ${journal.durableSeq}`);
  const headers = newestHeaders(folder);
  const source: ActivationSource = {
    newestSnapshot: (eventId, atMostSeq) => snapshotFolder.newest(eventId, atMostSeq),
    factsAfter: (eventId, afterSeq) => journal.factsOf(eventId, afterSeq),
  };
  const { archived, service } = await readArchived(source, journal, headers);
  for (const path of journal.notPrivate) {
    reportTrouble('data-folder', `others may read ${path}: it belongs to another user, whose it is to change that`);
  }
  try {
    const keys = await openFolderKeys({ folder, journal, survey: keySurvey, isLossAccepted: keysLost });
    const start = startOf(survey, journal, headers);
    return { survey, journal, keys, snapshotFolder, source, headers, archived, service, start };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

function startOf(
  { facts }: StartSurvey,
  journal: SqliteJournal,
  headers: readonly SnapshotHeader[],
): Pick<EnginePort, 'wasEmpty' | 'found'> {
  const wasEmpty = journal.durableSeq === 0;
  const snapshots = new Set(headers.map(({ eventId }) => eventId)).size;
  const lastStop = journal.wasCutOff ? 'not clean' : wasEmpty ? 'none' : 'clean';
  return { wasEmpty, found: { facts, afterFact: journal.baseSeq, snapshots, lastStop } };
}

/** A fact of a newer version would be noticed only when its event is activated; the start is refused instead. */
function refuseUnknown({ seq, eventId, type }: FactRow): void {
  const isKnown = eventId === SERVICE_STREAM ? Object.hasOwn(SERVICE_FACT_TYPES, type) : isKnownFact(type);
  if (!isKnown) throw new UnknownFact(seq, type);
}

interface Running {
  readonly status: ServiceStatusActor;
  readonly timers: Timers;
  readonly space: SpaceGuard;
  readonly archive: ArchiveWatch;
  readonly sales: SalesByMinute;
  /** How far deliveries had come when the journal was opened; null of one that never began. */
  readonly cursors: Readonly<Record<Delivered, NotificationCursor | null>>;
  readonly pruning: EngineOptions['pruning'];
}

type Followers = Pick<Engine, 'journal' | 'events'> &
  Pick<Running, 'status' | 'space'> & { readonly keyDestruction: KeyDestruction };

/** Follows the status of the journal (rules 2 and 3). */
function followJournal(
  { journal, events, status, space, keyDestruction }: Followers,
  onFatal: (fault: JournalFault) => void,
): void {
  let certainSeq = journal.durableSeq;
  journal.onStatus((journalStatus, fault) => {
    if (journalStatus === 'CLOSED') return keyDestruction.stop();
    events.actors.retireAll();
    inBackground('space-guard', space.check());
    if (journalStatus === 'OPEN') {
      destroyAfterDoubt(journal, certainSeq, keyDestruction);
      status.send('WRITABLE');
      return;
    }
    certainSeq = journal.durableSeq;
    reportTrouble('journal', `${fault?.message ?? 'the journal cannot be written'} ${fault?.hint ?? ''}`, fault);
    status.send(journalStatus === 'FULL' ? 'DISK_FULL' : 'FAIL');
    if (journalStatus === 'BROKEN' && fault !== null) onFatal(fault);
  });
}

type Parts = Pick<
  Engine,
  'folder' | 'journal' | 'keys' | 'clock' | 'events' | 'stream' | 'snapshots' | 'wasEmpty' | 'found' | 'settled'
>;

function assemble(parts: Parts, running: Running): Engine {
  const { journal, keys, events, stream, snapshots } = parts;
  const { status, timers, space, archive, cursors, sales, pruning } = running;
  const maintenance = setInterval(() => {
    // On a disk that is nearly full a snapshot would take the space that the guard keeps for sales under way.
    if (!space.isLow) inBackground('snapshot', events.actors.snapshotDue());
    inBackground('activation', events.actors.evictOver());
  }, MAINTENANCE_MS);
  maintenance.unref();
  const schedule = pruning && pruneBySchedule(pruning, parts, running);
  const followers = new Map<Delivered, FactFollower>();
  let stopped: Promise<void> | null = null;
  const stop = async (snapshotMsMax: number): Promise<void> => {
    await Promise.all(Array.from(followers.values(), (follower) => follower.stop()));
    status.send('DRAIN');
    clearInterval(maintenance);
    schedule?.stop();
    timers.stop();
    space.stop();
    archive.stop();
    sales.stop();
    if (journal.status === 'OPEN') await within(snapshotMsMax, events.actors.snapshotGrown());
    await snapshots.stop();
    await closeKeys(keys);
    await journal.close();
    status.send('STOP');
  };
  const engine: Engine = {
    ...parts,
    personalData: new PersonalDataReader(keys),
    state: () => stateOf(parts, running, followers.get('notifications')?.deliveredSeq ?? null),
    get isStopping() {
      return status.status === 'DRAINING' || status.status === 'STOPPED';
    },
    serving: () => engine,
    get opened() {
      return Promise.resolve(engine);
    },
    whenReady: () => Promise.resolve(),
    owns: () => true,
    active: () => events.actors.active(),
    notInMemory: () => events.notInMemory,
    pastRetention: () => events.pastRetention(),
    newestFacts: (request) => Promise.resolve(newestFacts(journal, request)),
    saleByMinute: (request) => sales.read(request),
    advanceClock: (seconds) => stream.advanceClock(seconds),
    takeSnapshots: (options, idempotency) => stream.once(idempotency, () => snapshotAll(snapshots, options)),
    async followFacts(delivered, open) {
      const cursor = cursors[delivered];
      const deliveredSeq = cursor === null ? journal.baseSeq : deliveredThrough(cursor);
      if (deliveredSeq < journal.baseSeq)
        reportTrouble(delivered, notDelivered(delivered, deliveredSeq, journal.baseSeq));
      const opened = await open({
        label: '',
        journal,
        cursor,
        events,
        storeCursor: (data) => stream.record({ type: CURSOR_FACTS[delivered], data }),
      });
      followers.set(delivered, opened);
      snapshots.keepFactsAfter(delivered, () => opened.deliveredSeq);
    },
    drain: () => Promise.resolve(status.send('DRAIN')),
    stop: ({ snapshotMsMax = SNAPSHOT_MS_MAX } = {}) => (stopped ??= stop(snapshotMsMax)),
  };
  return engine;
}

function stateOf({ journal, clock, events, snapshots }: Parts, running: Running, notifiedSeq: number | null) {
  const { space, status, archive } = running;
  const broken = events.actors.broken.ids(DEGRADED_MAX).map((eventId) => `event:${eventId}`);
  const degraded = [...(clock.isDegraded ? ['clock'] : []), ...(archive.problems > 0 ? ['archive'] : []), ...broken];
  return {
    phase: 'SERVING',
    cluster: null,
    trouble: troubleOf(status.status) ?? space.trouble,
    degraded,
    events: events.size,
    brokenEvents: events.actors.broken.count,
    archiveProblems: archive.problems,
    journal: { appendedSeq: journal.appendedSeq, durableSeq: journal.durableSeq },
    freeBytes: space.freeBytes,
    snapshotAgeSeconds: (clock.now() - (snapshots.lastSnapshotAt ?? clock.now())) / 1_000,
    notifiedSeq,
  } satisfies DeploymentState;
}

function pruneBySchedule(
  { everyMs, onPruned }: NonNullable<EngineOptions['pruning']>,
  { clock, snapshots }: Parts,
  { status, space }: Running,
): PruneSchedule {
  return startPruneSchedule(everyMs, {
    clock,
    lastPrunedAt: () => snapshots.lastPrunedAt,
    mayPrune: () => troubleOf(status.status) === null && space.trouble === null,
    prune: () => snapshots.takeRound({ prune: true, proveAll: false }),
    onPruned,
  });
}

function notDelivered(delivered: Delivered, deliveredSeq: number, baseSeq: number): string {
  const [before, after] = {
    notifications: ['nobody was notified', `holdfast notify --from ${deliveredSeq + 1} sends them`],
    mail: ['no mail was sent', 'no mail is sent of them'],
  }[delivered];
  return `facts ${deliveredSeq + 1} to ${baseSeq} were moved to the archive while ${before}: ${after}`;
}

async function snapshotAll(snapshots: SnapshotRounds, options: { readonly prune: boolean }): Promise<SnapshotSummary> {
  const { seq, outcomes, archived } = await snapshots.takeRound(options);
  const failed = outcomes.filter(({ trouble }) => trouble !== null).length;
  return { seq, taken: outcomes.length - failed, failed, archived };
}

/**
 * Closes the keys before the journal, which has the folder's lock. Unused keys that cannot be removed now do no harm:
 * the stop goes on.
 */
async function closeKeys(keys: KeyStore): Promise<void> {
  try {
    await keys.close();
  } catch (fault) {
    reportTrouble('keys', `keys.db was not closed in order: ${String(fault)}`, fault);
  }
}

function within(ms: number, work: Promise<unknown>): Promise<unknown> {
  const timeUp = new Promise((resolve) => setTimeout(resolve, ms).unref());
  return Promise.race([work, timeUp]);
}
