/**
 * The engine: journal, clock, index, timers and snapshots, put together and taken apart in order.
 *
 * Owns the order of the start (lock, watermark, chain, index, ready), of the stop, and what happens when the journal
 * cannot be written. Knows no HTTP. Called by `src/service.ts`, by `holdfast load --offline` and by tests.
 *
 * 1. Ready only after the journal was proved and every event is in the index (engine: "one way to come alive").
 * 2. Disk full: every live box office is dropped, because it ran ahead; reads go on from what is on disk, changes are
 *    Overloaded, and all goes on by itself when the journal can be written again.
 * 3. An I/O error is final: `onFatal` is told, nothing is answered any more.
 */
import { lastArchivedAt } from '#persistence/sqlite/archive.ts';
import { JournalDamaged } from '#persistence/faults.ts';
import { openSqliteJournal, type SqliteJournal, type SqliteJournalOptions } from '#persistence/sqlite/journal.ts';
import { newestHeaders, SnapshotFolder, type SnapshotHeader } from '#persistence/snapshots.ts';
import type { FactRow, JournalFault } from '#persistence/journal.ts';
import { isKnownFact, UnknownFact } from '#domain/replay.ts';
import type { ServiceStatus } from '#machines/service.ts';
import { activateService, type ActivationSource } from './activation.ts';
import { findArchived } from './archived-events.ts';
import { inBackground, reportTrouble } from './trouble.ts';
import { createClock, LATEST_MOMENT, type ServiceClock, type TimeSource } from './clock.ts';
import { EventIndex } from './event-index.ts';
import { createIdSource } from './id-source.ts';
import { Overloaded } from './overloaded.ts';
import { ServiceAnswers } from './service-answers.ts';
import { SERVICE_FACT_TYPES, SERVICE_STREAM } from './service-facts.ts';
import type { NotificationCursor, ServiceAnswer, ServiceFact, ServiceState } from './service-facts.ts';
import { startServiceStatus, type ServiceStatusActor } from './service-status.ts';
import { runSnapshotRound, type RoundOptions, type SnapshotRound } from './snapshot-rounds.ts';
import { startSpaceGuard, type SpaceGuard } from './space-guard.ts';
import { startSnapshotter, type Snapshotter, type SnapshotJob, type SnapshotOutcome } from './snapshotter.ts';
import { StartSurvey, type StartPlan } from './start-survey.ts';
import { startTimers, type Timers } from './timers.ts';

export interface EngineOptions {
  readonly folder: string;
  readonly liveEventsMax: number;
  readonly mailboxCommandsMax: number;
  /** The machine's clock and stopwatch unless a test brings its own; one function is both. */
  readonly clockSource?: TimeSource | (() => number);
  /** Free space below which nothing new is claimed (see `space-guard.ts`); without it nobody looks. */
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
  readonly status: ServiceStatus;
  /** Whether the journal held no fact at all when it was opened. */
  readonly wasEmpty: boolean;
  /** How far notifications had come when the journal was opened; null when nothing was ever told. */
  readonly notificationCursor: NotificationCursor | null;
  readonly space: Pick<SpaceGuard, 'freeBytes' | 'isLow'>;
  /** When the newest snapshot was asked for, in milliseconds since 1970; null when there is none. */
  readonly lastSnapshotAt: number | null;
  /** Why not everything can be taken on now, or null. */
  readonly trouble: string | null;
  /** What is not as it should be though everything can be taken on: `clock`, and `event:<id>` of broken events. */
  readonly degraded: readonly string[];
  /** What was answered to requests about the service. */
  readonly answers: ServiceAnswers;
  /** Resolves when everything that ran out while the service was down is settled; it takes requests before. */
  readonly settled: Promise<void>;
  /** Appends a fact of the service itself; resolves when it is durable. */
  record(fact: ServiceFact): Promise<void>;
  /** Moves the clock forward once that is durable; returns the new moment, or null where that would be beyond LATEST_MOMENT. */
  advanceClock(seconds: number): Promise<number | null>;
  /**
   * Snapshots everything that has grown since its last snapshot or whose newest one is bad, awake or asleep; with `prune`, facts
   * before the snapshots that were there move to the archive. Without `proveAll` only streams that grew are looked at. Rejects
   * with Overloaded when the archive could not be written.
   */
  takeSnapshots(options?: Partial<RoundOptions>): Promise<SnapshotRound>;
  /** When the journal was last pruned, or, before the first time, when its oldest fact happened; milliseconds since 1970. */
  readonly lastPrunedAt: number;
  /** Facts after the sequence number that this answers are still needed, and are not pruned. */
  keepFactsAfter(neededAfter: () => number): void;
  /** No new work is taken on from here; what was accepted is finished. */
  drain(): void;
  /** Makes durable what was accepted, snapshots as time allows, closes. */
  stop(options?: { readonly snapshotMsMax?: number }): Promise<void>;
}

/** Between looks at which live box offices have grown enough for a snapshot, and which are over and not asked for. */
const LOOK_MS = 15_000;

/** An event that was due while too many others were being activated is tried again after this. */
const WAKE_AGAIN_MS = 1_000;

/** Broken events that are named; `holdfast_events_broken` counts all of them. */
const DEGRADED_MAX = 100;

/** After an archive that could not be written; room on a disk is not made in a moment. */
const PRUNE_RETRY_SECONDS = 60;

/**
 * Opens a data folder and starts serving from it. Rejects with FolderInUse, JournalDamaged, JournalTooNew or
 * JournalFault as the journal does, and with UnknownFact when a newer version wrote to it.
 */
export async function startEngine(options: EngineOptions): Promise<Engine> {
  const service = startServiceStatus();
  const found = new StartSurvey();
  const journal = await openSqliteJournal({
    ...options.journal,
    folder: options.folder,
    onProgress: options.onProgress,
    onRow: (row) => {
      refuseUnknown(row);
      found.see(row);
    },
  });
  const snapshots = new SnapshotFolder(options.folder, { onBad: reportBadSnapshot });
  const headers = newestHeaders(options.folder);
  const source: ActivationSource = {
    newestSnapshot: (eventId, atMostSeq) => snapshots.newest(eventId, atMostSeq),
    factsAfter: (eventId, afterSeq) => journal.factsOf(eventId, afterSeq),
  };
  const { archived, state } = await readArchived(source, journal, headers);
  const lastSnapshot = { at: headers.reduce((latest, { at }) => Math.max(latest, at), 0) };
  const clock = createClock(options.clockSource, {
    offsetMs: state.clockOffsetMs,
    notBefore: Math.max(found.lastAt, archived.lastAt ?? 0, lastSnapshot.at),
    onLeap: reportLeap,
  });
  const snapshotter = startSnapshotter(options.folder, () => journal.baseSeq);
  const { freeBytesMin = 0 } = options;
  const space = await startSpaceGuard({ folder: options.folder, freeBytesMin });
  const snapshot = async (job: SnapshotJob): Promise<SnapshotOutcome> => {
    const outcome = await snapshotter.take(job);
    if (outcome.trouble !== null) return outcome;
    snapshots.noteWritten(job.eventId, outcome.seq);
    lastSnapshot.at = job.at;
    return outcome;
  };
  const wakeInTime = async (eventId: string): Promise<void> => {
    const isTurnedAway = (await wake(events, journal, eventId)) === 'TURNED_AWAY';
    if (isTurnedAway) timers.schedule(eventId, clock.now() + WAKE_AGAIN_MS);
  };
  const timers = startTimers(clock, wakeInTime);
  const events = new EventIndex({
    journal,
    clock,
    ids: createIdSource(),
    mailboxCommandsMax: options.mailboxCommandsMax,
    liveEventsMax: options.liveEventsMax,
    isShortOfSpace: () => space.isLow,
    source,
    schedule: (eventId, at) => timers.schedule(eventId, at),
    snapshot,
  });
  const { archivedHeads } = journal;
  const plan = found.enter(events, {
    headers,
    archived: archived.definitions,
    archivedHeads,
    streams: journal.streams(),
  });
  for (const eventId of archived.lostIds) events.noteLost(eventId);
  reportFolder(journal, archived.lostIds);
  followJournal({ journal, events, service, space }, options.onFatal);
  const look = setInterval(() => {
    inBackground('snapshot', events.actors.snapshotGrown());
    inBackground('activation', events.actors.evictOver());
  }, LOOK_MS);
  look.unref();
  service.send('RECOVERED');
  const settled = settleOverdue(plan, { wakeInTime, timers, events, journal, clock });
  inBackground('activation', settled);
  const snapshotStream = (eventId: string, seq: number): Promise<SnapshotOutcome> =>
    eventId === SERVICE_STREAM
      ? snapshot({ eventId, eventNumber: 0, seq, at: clock.now(), about: null })
      : events.actors.snapshotAsOf(eventId, seq);
  const needs = { after: () => Number.MAX_SAFE_INTEGER };
  const now = () => clock.now();
  const roundPorts = { journal, snapshots, snapshot: snapshotStream, neededAfter: () => needs.after(), now };
  const takeRound = (asked: RoundOptions) => runSnapshotRound(roundPorts, asked);
  const { notifications } = state;
  const lastPrune = { at: Math.min(lastArchivedAt(options.folder) ?? found.firstAt ?? clock.now(), clock.now()) };
  const parts = {
    options,
    journal,
    clock,
    events,
    service,
    snapshotter,
    space,
    lastSnapshot,
    lastPrune,
    timers,
    look,
    takeRound,
    needs,
    notifications,
    answers: state.answers ?? [],
    settled: settled.catch(() => {}),
  };
  return assemble(parts, journal.durableSeq === 0);
}

interface Parts {
  readonly options: EngineOptions;
  readonly journal: SqliteJournal;
  readonly clock: ServiceClock;
  readonly events: EventIndex;
  readonly service: ServiceStatusActor;
  readonly snapshotter: Snapshotter;
  readonly space: SpaceGuard;
  readonly lastSnapshot: { readonly at: number };
  readonly lastPrune: { at: number };
  readonly timers: Timers;
  readonly look: NodeJS.Timeout;
  readonly takeRound: (asked: RoundOptions) => Promise<SnapshotRound>;
  readonly needs: { after: () => number };
  readonly notifications: NotificationCursor | null;
  readonly answers: readonly ServiceAnswer[];
  readonly settled: Promise<void>;
}

function assemble(parts: Parts, wasEmpty: boolean): Engine {
  const { options, journal, clock, events, service, snapshotter, space, timers, look, takeRound } = parts;
  let stopped: Promise<void> | null = null;
  let lastRound: Promise<unknown> = Promise.resolve();
  let lastAdvance: Promise<unknown> = Promise.resolve();

  const takeSnapshots = ({ prune = false, proveAll = true } = {}): Promise<SnapshotRound> => {
    const round = lastRound
      .then(() => takeRound({ prune, proveAll }))
      .then((done) => {
        if (prune) parts.lastPrune.at = clock.now();
        return done;
      })
      .catch((error: unknown) => {
        throw new Overloaded(`the journal was not pruned: ${String(error)}`, PRUNE_RETRY_SECONDS, error);
      });
    lastRound = round.catch(() => {});
    return round;
  };

  const record = async (fact: ServiceFact): Promise<void> => {
    if (journal.status !== 'OPEN') throw new Overloaded('the journal cannot be written now', 1);
    const facts = [{ type: fact.type, data: JSON.stringify(fact.data) }];
    const seq = journal.append({ eventId: SERVICE_STREAM, at: clock.now(), facts });
    await journal.durable(seq).catch((fault: unknown) => {
      throw new Overloaded('the change could not be written', 1, fault);
    });
  };

  /** One at a time: each is bounded by, and adds to, what the one before has come to. */
  const advance = async (seconds: number): Promise<number | null> => {
    const stepMs = Math.round(seconds * 1000);
    if (clock.now() + stepMs > LATEST_MOMENT) return null;
    await record({ type: 'ClockAdvanced', data: { offsetMs: clock.offsetMs + stepMs } });
    clock.advance(stepMs);
    return clock.now();
  };

  const close = async (snapshotMsMax: number): Promise<void> => {
    service.send('DRAIN');
    clearInterval(look);
    timers.stop();
    space.stop();
    if (journal.status === 'OPEN') await within(snapshotMsMax, events.actors.snapshotGrown(1));
    await snapshotter.stop();
    await journal.close();
    service.send('STOP');
  };

  return {
    folder: options.folder,
    journal,
    clock,
    events,
    wasEmpty,
    notificationCursor: parts.notifications,
    space,
    get lastSnapshotAt() {
      return parts.lastSnapshot.at === 0 ? null : parts.lastSnapshot.at;
    },
    get status() {
      return service.status;
    },
    get trouble() {
      return troubleOf(service.status) ?? space.trouble;
    },
    get degraded() {
      const broken = events.actors.broken.ids(DEGRADED_MAX).map((eventId) => `event:${eventId}`);
      return clock.isDegraded ? ['clock', ...broken] : broken;
    },
    settled: parts.settled,
    record,
    answers: new ServiceAnswers(parts.answers, { now: () => clock.now(), record }),
    advanceClock(seconds) {
      const advanced = lastAdvance.then(() => advance(seconds));
      lastAdvance = advanced.catch(() => {});
      return advanced;
    },
    takeSnapshots,
    get lastPrunedAt() {
      return parts.lastPrune.at;
    },
    keepFactsAfter(neededAfter) {
      parts.needs.after = neededAfter;
    },
    drain: () => service.send('DRAIN'),
    stop: ({ snapshotMsMax = 3_000 } = {}) => (stopped ??= close(snapshotMsMax)),
  };
}

function troubleOf(status: ServiceStatus): string | null {
  switch (status) {
    case 'READY':
      return null;
    case 'STARTING':
      return 'recovering';
    case 'READ_ONLY':
      return 'the disk is full: the journal cannot be written';
    case 'DRAINING':
      return 'shutting down';
    case 'STOPPED':
      return 'stopped';
  }
}

/** A fact that a newer version wrote would be missed only when its event is asked for; better to refuse at the start. */
function refuseUnknown({ seq, eventId, type }: FactRow): void {
  const isKnown = eventId === SERVICE_STREAM ? Object.hasOwn(SERVICE_FACT_TYPES, type) : isKnownFact(type);
  if (!isKnown) throw new UnknownFact(seq, type);
}

/** Drops what ran ahead of a full disk, comes back with it, and gives up on a broken one. */
function followJournal(
  { journal, events, service, space }: Pick<Parts, 'journal' | 'events' | 'service' | 'space'>,
  onFatal: (fault: JournalFault) => void,
): void {
  journal.onStatus((status, fault) => {
    if (status === 'CLOSED') return;
    events.actors.retireAll();
    inBackground('space-guard', space.look());
    if (status === 'OPEN') {
      service.send('WRITABLE');
      return;
    }
    reportTrouble('journal', `${fault?.message ?? 'the journal cannot be written'} ${fault?.hint ?? ''}`, fault);
    service.send(status === 'FULL' ? 'DISK_FULL' : 'FAIL');
    if (status === 'BROKEN' && fault !== null) onFatal(fault);
  });
}

/** Settles, one event after the other, what may have run out while the service was down; events that are over come last. */
async function settleOverdue(
  { due, unknown }: StartPlan,
  {
    wakeInTime,
    timers,
    events,
    journal,
    clock,
  }: Pick<Parts, 'timers' | 'events' | 'journal' | 'clock'> & {
    readonly wakeInTime: (eventId: string) => Promise<void>;
  },
): Promise<void> {
  const now = clock.now();
  for (const { eventId, at } of due) if (at > now) timers.schedule(eventId, at);
  const overdue = [...due.filter(({ at }) => at <= now).map(({ eventId }) => eventId), ...unknown];
  const over = overdue.filter((eventId) => events.isOver(eventId));
  for (const eventId of [...overdue.filter((each) => !over.includes(each)), ...over]) {
    if (journal.status === 'CLOSED') return;
    await wakeInTime(eventId);
  }
}

async function wake(events: EventIndex, journal: SqliteJournal, eventId: string): Promise<'DONE' | 'TURNED_AWAY'> {
  try {
    await events.actors.settleDue(eventId);
    return 'DONE';
  } catch (error) {
    if (error instanceof Overloaded) return 'TURNED_AWAY';
    if (journal.status !== 'CLOSED') reportTrouble('activation', `${eventId} could not be activated`, error);
    return 'DONE';
  }
}

/**
 * The clock's offset and how far notifications came. Where the archive that has them is lost the sale goes on without: the clock
 * still never goes back, and notifications keep their ids when they are sent again.
 */
async function readServiceState(
  source: ActivationSource,
  { baseSeq, durableSeq }: SqliteJournal,
): Promise<ServiceState> {
  try {
    return await activateService(source, durableSeq);
  } catch (error) {
    if (!(error instanceof JournalDamaged)) throw error;
    reportTrouble('archive', `the service's own archived facts are done without: ${error.message}`, error);
    return activateService(source, durableSeq, baseSeq);
  }
}

/** What the journal no longer tells by itself. Closes the journal when that cannot be read. */
async function readArchived(source: ActivationSource, journal: SqliteJournal, headers: readonly SnapshotHeader[]) {
  try {
    const archived = await findArchived(journal.archivedHeads, headers, (type) => journal.surveyArchive(type));
    return { archived, state: await readServiceState(source, journal) };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

/** What operators should know of the folder as it was found. */
function reportFolder({ notPrivate }: SqliteJournal, lostIds: readonly string[]): void {
  for (const path of notPrivate) {
    reportTrouble('data-folder', `others may read ${path}: it belongs to another user, whose it is to change that`);
  }
  for (const eventId of lostIds) {
    reportTrouble(
      'archive',
      `${eventId} cannot be activated: its facts are in an archive file that is damaged or missing`,
    );
  }
}

function reportBadSnapshot(path: string, reason: string): void {
  reportTrouble('snapshot', `${path} is skipped for an older one: ${reason}`);
}

function reportLeap({ byMs, aheadMs }: { readonly byMs: number; readonly aheadMs: number }): void {
  const seconds = (ms: number): string => `${Math.round(Math.abs(ms) / 1000)} s`;
  const leap = `the machine's clock leapt ${byMs > 0 ? 'ahead' : 'back'} by ${seconds(byMs)}`;
  const now = `it is ${seconds(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service's, which goes on by a stopwatch`;
  reportTrouble(
    'clock',
    `${leap}; ${now}. When the machine's clock is right, restart the service to take it over`,
    null,
  );
}

function within(ms: number, work: Promise<unknown>): Promise<unknown> {
  const timeUp = new Promise((resolve) => setTimeout(resolve, ms).unref());
  return Promise.race([work, timeUp]);
}
