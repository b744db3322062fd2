/**
 * Whether this version can take a data folder over, found out without writing to it and beside the service that runs on
 * it.
 *
 * `verification.ts` replays every fact and compares every snapshot; here is what concerns a change of versions: facts
 * that this version does not know, how long a start and the first answers of the largest events take, and to which
 * older version one can go back.
 *
 * 1. Times are measured by doing the work: the journal is proved as a start proves it, events are activated as for a
 *    request.
 * 2. A folder that cannot be read to its end is still described as far as it can be; verification names what is
 *    missing.
 */
import { newestHeaders, readSnapshot, SnapshotFolder, listSnapshots } from '#persistence/snapshots.ts';
import { errorCode, JournalDamaged, JournalTooNew } from '#persistence/faults.ts';
import { recoverHead } from '#persistence/sqlite/recovery.ts';
import { viewJournal, type JournalView } from '#persistence/sqlite/view.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { FactData } from '#domain/fact.ts';
import { isKnownFact } from '#domain/event/replay.ts';
import { formatOf } from '#domain/event/snapshot.ts';
import { activate } from '#actors/activation.ts';
import { FormatTrace, type WayBack } from './format-changes.ts';
import { SERVICE_FACT_TYPES, SERVICE_STREAM } from '#engine/service-facts.ts';
import { verifyFolder, type FolderReport, type VerificationListener } from './verification.ts';

interface UnknownFacts {
  readonly type: string;
  readonly count: number;
  readonly firstSeq: number;
  readonly eventIds: readonly string[];
}

/** An event's activation, as for its first request after a start. */
interface ActivationTime {
  readonly eventId: string;
  readonly facts: number;
  /** Facts that no snapshot covers. */
  readonly factsReplayed: number;
  /** Null when it cannot be activated. */
  readonly ms: number | null;
}

export interface UpgradeReport {
  /** The version of the program that wrote to the folder last; null where none was noted. */
  readonly writtenBy: string | null;
  /** What verification found; null where the journal's own format is too new to be read at all. */
  readonly verification: FolderReport | null;
  readonly unknownFacts: readonly UnknownFacts[];
  /** The newest definition of every event. */
  readonly definitions: readonly EventDefinition[];
  /** Until the service is ready, as far as reading the folder goes. Null when the journal cannot be proved. */
  readonly startMs: number | null;
  /** The largest events, the slowest first. */
  readonly firstAnswers: readonly ActivationTime[];
  readonly waysBack: readonly WayBack[];
  /** Why nothing could be read. */
  readonly tooNew: { readonly message: string; readonly hint: string } | null;
}

const LARGEST_EVENTS = 5;
const EVENT_IDS_MAX = 10;

type UpgradeListener = VerificationListener & {
  readonly onStep?: (step: string, done: number, total: number) => void;
};

/** Checks a folder for a start with this version. Throws only when the disk cannot be read. */
export async function checkUpgrade(folder: string, listener: UpgradeListener = {}): Promise<UpgradeReport> {
  let verification: FolderReport;
  try {
    verification = await verifyFolder(folder, listener);
  } catch (error) {
    if (!(error instanceof JournalTooNew)) throw error;
    const tooNew = { message: error.message, hint: error.hint };
    return { ...NOTHING_READ, tooNew };
  }
  const startMs = await timeStart(folder);
  const view = viewOf(folder);
  if (view === null) return { ...NOTHING_READ, verification, startMs };
  try {
    const survey = await surveyFacts(view, listener);
    const firstAnswers = await timeLargest(folder, view, survey.factsByEvent, listener);
    await seeSnapshots(folder, view, survey.trace);
    const { unknown, definitions } = survey;
    return {
      writtenBy: view.writtenBy,
      verification,
      startMs,
      firstAnswers,
      unknownFacts: [...unknown.values()],
      definitions: [...definitions.values()],
      waysBack: survey.trace.waysBack(),
      tooNew: null,
    };
  } finally {
    view.close();
  }
}

const NOTHING_READ: UpgradeReport = {
  writtenBy: null,
  verification: null,
  unknownFacts: [],
  definitions: [],
  startMs: null,
  firstAnswers: [],
  waysBack: [],
  tooNew: null,
};

/** The view of the journal; null when verification has reported why there is none. */
function viewOf(folder: string): JournalView | null {
  try {
    return viewJournal(folder);
  } catch (error) {
    if (error instanceof JournalDamaged || errorCode(error).startsWith('SQLITE_')) return null;
    throw error;
  }
}

// ── facts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Survey {
  readonly unknown: Map<string, { type: string; count: number; firstSeq: number; eventIds: string[] }>;
  readonly definitions: Map<string, EventDefinition>;
  readonly factsByEvent: Map<string, number>;
  readonly trace: FormatTrace;
}

/** One pass over archive and journal, as far as they can be read (rule 2). */
async function surveyFacts(view: JournalView, { onStep }: UpgradeListener): Promise<Survey> {
  const survey: Survey = {
    unknown: new Map(),
    definitions: new Map(),
    factsByEvent: new Map(),
    trace: new FormatTrace(),
  };
  let from = 0;
  for (;;) {
    try {
      for await (const row of view.facts(from)) {
        if (row.seq % 4096 === 0) onStep?.('reading facts', row.seq, view.headSeq);
        noteFact(survey, row);
      }
      return survey;
    } catch (error) {
      // Where the archive is broken the journal is still read.
      if (!(error instanceof JournalDamaged) || from >= view.baseSeq) return survey;
      from = view.baseSeq;
    }
  }
}

type Row = Parameters<FormatTrace['see']>[0];

function noteFact({ unknown, definitions, factsByEvent, trace }: Survey, row: Row): void {
  const { seq, eventId, type, data } = row;
  trace.see(row);
  if (eventId !== SERVICE_STREAM) factsByEvent.set(eventId, (factsByEvent.get(eventId) ?? 0) + 1);
  if (type === 'EventDefined') definitions.set(eventId, (JSON.parse(data) as FactData['EventDefined']).definition);
  const isKnown = eventId === SERVICE_STREAM ? Object.hasOwn(SERVICE_FACT_TYPES, type) : isKnownFact(type);
  if (isKnown) return;
  const entry = unknown.get(type) ?? { type, count: 0, firstSeq: seq, eventIds: [] };
  unknown.set(type, entry);
  entry.count += 1;
  if (entry.eventIds.length < EVENT_IDS_MAX && !entry.eventIds.includes(eventId)) entry.eventIds.push(eventId);
}

/** Notes the formats of the newest snapshots. A bad one is verification's to report. */
async function seeSnapshots(folder: string, view: JournalView, trace: FormatTrace): Promise<void> {
  const newest = new Map<string, string>();
  for (const { path, header } of listSnapshots(folder)) if (header !== null) newest.set(header.eventId, path);
  for (const [eventId, path] of newest) {
    if (eventId === SERVICE_STREAM) continue;
    try {
      const { pieces } = await readSnapshot(path);
      trace.seeSnapshot(formatOf(pieces[0] ?? '{}'), view.archivedHeads.has(eventId));
    } catch {
      continue;
    }
  }
}

// ── times ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** How long a start reads: the chain of the journal, every fact in it, and the headers of the snapshots. */
async function timeStart(folder: string): Promise<number | null> {
  const begin = stopwatchMs();
  try {
    await recoverHead(folder, { onRow: () => {} });
    newestHeaders(folder);
    return stopwatchMs() - begin;
  } catch {
    return null;
  }
}

async function timeLargest(
  folder: string,
  view: JournalView,
  factsByEvent: ReadonlyMap<string, number>,
  { onStep }: UpgradeListener,
): Promise<ActivationTime[]> {
  const largest = [...factsByEvent].toSorted(([, a], [, b]) => b - a).slice(0, LARGEST_EVENTS);
  const times: ActivationTime[] = [];
  for (const [eventId, facts] of largest) {
    onStep?.('activating the largest events', times.length, largest.length);
    times.push({ eventId, facts, ...(await timeActivation(folder, view, eventId)) });
  }
  return times.toSorted((a, b) => (b.ms ?? 0) - (a.ms ?? 0));
}

async function timeActivation(
  folder: string,
  view: JournalView,
  eventId: string,
): Promise<Pick<ActivationTime, 'ms' | 'factsReplayed'>> {
  const snapshots = new SnapshotFolder(folder);
  const source = {
    newestSnapshot: (id: string, atMostSeq?: number) => snapshots.newest(id, atMostSeq),
    factsAfter: (id: string, afterSeq: number) => view.factsOf(id, afterSeq),
  };
  const begin = stopwatchMs();
  try {
    const { factsReplayed } = await activate(source, eventId, null, view.heads.get(eventId));
    return { ms: stopwatchMs() - begin, factsReplayed };
  } catch {
    return { ms: null, factsReplayed: 0 };
  }
}
