/**
 * The engine: journal, clock, events, timers and snapshots, started and stopped in order. It knows no HTTP.
 *
 * 1. The engine is READY only after the journal was proved and every event is in the index.
 * 2. When the disk is full every actor in memory is retired, because its memory is ahead of the journal. Reads go on from what is on
 *    the disk, changes are refused with Overloaded, and everything goes on when the journal can be written again.
 * 3. An I/O error is final: `onFatal` is called, and nothing is answered any more.
 */
import { openSqliteJournal, type SqliteJournal, type SqliteJournalOptions } from '#persistence/sqlite/journal.ts';
import { newestHeaders, SnapshotFolder } from '#persistence/snapshots.ts';
import type { FactRow, JournalFault } from '#persistence/journal.ts';
import { isKnownFact, UnknownFact } from '#domain/replay.ts';
import type { ServiceStatus } from '#machines/service.ts';
import type { ActivationSource } from './activation.ts';
import { readArchived } from './archived-events.ts';
import { createClock, reportLeap, type ServiceClock, type TimeSource } from './clock.ts';
import { EventIndex } from './event-index.ts';
import { createIdSource } from './crypto.ts';
import { SERVICE_FACT_TYPES, SERVICE_STREAM, type NotificationCursor } from './service-facts.ts';
import { startServiceStatus, troubleOf, type ServiceStatusActor } from './service-status.ts';
import { ServiceStream } from './service-stream.ts';
import { SnapshotRounds } from './snapshot-rounds.ts';
import { startSpaceGuard, type SpaceGuard } from './space-guard.ts';
import { StartSurvey } from './start-survey.ts';
import { startTimers, type Timers } from './timers.ts';
import { inBackground, reportTrouble } from './trouble.ts';

export interface EngineOptions {
  readonly folder: string;
  readonly liveEventsMax: number;
  readonly waitingRepliesMax: number;
  /** The machine's clock and stopwatch unless a test brings its own; one function is both. */
  readonly clockSource?: TimeSource | (() => number);
  /** Free space below which new claims are refused (see `space-guard.ts`); 0 turns that off. */
  readonly freeBytesMin?: number | null;
  /** Passed on to the journal; for tests. */
  readonly journal?: Partial<SqliteJournalOptions>;
  readonly onProgress?: SqliteJournalOptions['onProgress'];
  /** The journal is broken; the process must stop. */
  readonly onFatal: (fault: JournalFault) => void;
}

export interface Engine {
  readonly folder: string;
  readonly journal: SqliteJournal;
  readonly clock: ServiceClock;
  readonly events: EventIndex;
  /** The service's own facts, the sandbox clock and answers under idempotency keys. */
  readonly stream: ServiceStream;
  /** Snapshots of every stream, and prunes. */
  readonly snapshots: SnapshotRounds;
  readonly space: Pick<SpaceGuard, 'freeBytes' | 'isLow'>;
  readonly status: ServiceStatus;
  /** Whether the journal held no fact at all when it was opened. */
  readonly wasEmpty: boolean;
  /** How far notifications had come when the journal was opened; null when no receiver was ever notified. */
  readonly notificationCursor: NotificationCursor | null;
  /** Why not every request can be accepted now, or null. */
  readonly trouble: string | null;
  /** What is not in order though every request can be accepted: `clock`, and `event:<id>` of broken events. */
  readonly degraded: readonly string[];
  /** Resolves when everything that ran out while the service was down is settled; requests are accepted before. */
  readonly settled: Promise<void>;
  /** From here on no new work is accepted; what was accepted is finished. */
  drain(): void;
  /** Makes durable what was accepted, takes snapshots as time allows, closes. */
  stop(options?: { readonly snapshotMsMax?: number }): Promise<void>;
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
  // 1. What is on the disk: lock, watermark, chain; snapshots; archived events and the service's own state.
  const { folder, freeBytesMin = 0 } = options;
  const { survey, journal, snapshotFolder, source, headers, archived, service } = await openFolder(options);
  const wasEmpty = journal.durableSeq === 0;
  const lastSnapshotAt = headers.reduce((latest, { at }) => Math.max(latest, at), 0);
  // 2. The clock goes on from the last fact.
  const clock = createClock(options.clockSource, {
    offsetMs: service.clockOffsetMs,
    notBefore: Math.max(survey.lastAt, archived.lastAt ?? 0, lastSnapshotAt),
    onLeap: reportLeap,
  });
  const stream = new ServiceStream(journal, clock, service.answers ?? []);
  // 3. The guard of free space, and the snapshot thread.
  const space = await startSpaceGuard({ folder, freeBytesMin });
  const snapshots = new SnapshotRounds({
    folder,
    journal,
    snapshots: snapshotFolder,
    snapshotEvent: (eventId, seq) => events.actors.snapshotAsOf(eventId, seq),
    now: () => clock.now(),
    lastSnapshotAt: lastSnapshotAt === 0 ? null : lastSnapshotAt,
    firstFactAt: survey.firstAt,
  });
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
  followJournal({ journal, events, status, space }, options.onFatal);
  status.send('RECOVERED');
  const settled = timers.settleOverdue(plan);
  inBackground('activation', settled);
  const parts = { folder, journal, clock, events, stream, snapshots, space, wasEmpty };
  const { notifications: notificationCursor } = service;
  return assemble({ ...parts, notificationCursor, settled: settled.catch(() => {}) }, { status, timers, space });
}

/** Opens the journal and reads what it does not say by itself; the survey sees every fact on the way. */
async function openFolder({ folder, journal: journalOptions, onProgress }: EngineOptions) {
  const survey = new StartSurvey();
  const onRow = (row: FactRow): void => {
    refuseUnknown(row);
    survey.see(row);
  };
  const journal = await openSqliteJournal({ ...journalOptions, folder, onProgress, onRow });
  const snapshotFolder = new SnapshotFolder(folder, {
    onBad: (path, reason) => reportTrouble('snapshot', `${path} is skipped for an older one: ${reason}`),
  });
  const headers = newestHeaders(folder);
  const source: ActivationSource = {
    newestSnapshot: (eventId, atMostSeq) => snapshotFolder.newest(eventId, atMostSeq),
    factsAfter: (eventId, afterSeq) => journal.factsOf(eventId, afterSeq),
  };
  const { archived, service } = await readArchived(source, journal, headers);
  for (const path of journal.notPrivate) {
    reportTrouble('data-folder', `others may read ${path}: it belongs to another user, whose it is to change that`);
  }
  return { survey, journal, snapshotFolder, source, headers, archived, service };
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
}

/** Follows the status of the journal (2, 3). */
function followJournal(
  { journal, events, status, space }: Pick<Engine, 'journal' | 'events'> & Omit<Running, 'timers'>,
  onFatal: (fault: JournalFault) => void,
): void {
  journal.onStatus((journalStatus, fault) => {
    if (journalStatus === 'CLOSED') return;
    events.actors.retireAll();
    inBackground('space-guard', space.check());
    if (journalStatus === 'OPEN') {
      status.send('WRITABLE');
      return;
    }
    reportTrouble('journal', `${fault?.message ?? 'the journal cannot be written'} ${fault?.hint ?? ''}`, fault);
    status.send(journalStatus === 'FULL' ? 'DISK_FULL' : 'FAIL');
    if (journalStatus === 'BROKEN' && fault !== null) onFatal(fault);
  });
}

type Parts = Omit<Engine, 'status' | 'trouble' | 'degraded' | 'drain' | 'stop'>;

function assemble(parts: Parts, { status, timers, space }: Running): Engine {
  const { journal, clock, events, snapshots } = parts;
  const maintenance = setInterval(() => {
    inBackground('snapshot', events.actors.snapshotDue());
    inBackground('activation', events.actors.evictOver());
  }, MAINTENANCE_MS);
  maintenance.unref();
  let stopped: Promise<void> | null = null;
  const stop = async (snapshotMsMax: number): Promise<void> => {
    status.send('DRAIN');
    clearInterval(maintenance);
    timers.stop();
    space.stop();
    if (journal.status === 'OPEN') await within(snapshotMsMax, events.actors.snapshotGrown());
    await snapshots.stop();
    await journal.close();
    status.send('STOP');
  };
  return {
    ...parts,
    get status() {
      return status.status;
    },
    get trouble() {
      return troubleOf(status.status) ?? space.trouble;
    },
    get degraded() {
      const broken = events.actors.broken.ids(DEGRADED_MAX).map((eventId) => `event:${eventId}`);
      return clock.isDegraded ? ['clock', ...broken] : broken;
    },
    drain: () => status.send('DRAIN'),
    stop: ({ snapshotMsMax = SNAPSHOT_MS_MAX } = {}) => (stopped ??= stop(snapshotMsMax)),
  };
}

function within(ms: number, work: Promise<unknown>): Promise<unknown> {
  const timeUp = new Promise((resolve) => setTimeout(resolve, ms).unref());
  return Promise.race([work, timeUp]);
}
