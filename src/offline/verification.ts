/**
 * Verification of a data folder, states included: every fact that was written is there, and they add up to what they
 * must.
 *
 * Beyond what `persistence/folder/verify.ts` proves of bytes, every event is replayed from its facts, one event at a
 * time, and its books are compared with each other. It only reads, also beside a serving process.
 *
 * 1. Everything is checked as of one moment: the view is opened first, and newer facts are left out.
 * 2. A replay begins at the first fact, which may lie in the archive. Where that cannot be read, it begins at the
 *    oldest good snapshot after which every fact can.
 * 3. A good snapshot of today's format equals the replay up to its fact, by fingerprint (I9); the books agree there and
 *    at the end (I7, I8). From a snapshot of an older format the replay goes on, as the service did when it started
 *    with this version.
 * 4. Where the journal is damaged, everything is as of the last fact before that, which a restore brings back. What the
 *    damage does to later facts is not reported as well.
 * 5. The state's fingerprint covers every event and the service itself, by id: equal folders have equal fingerprints.
 */
import { createHash } from 'node:crypto';
import { viewJournal, type JournalView } from '#persistence/sqlite/view.ts';
import { errorCode, JournalDamaged, messageOf, reasonOf, type Finding } from '#persistence/faults.ts';
import { fingerprintOf, readSnapshot } from '#persistence/snapshots.ts';
import { keysPath } from '#persistence/sqlite/key-file.ts';
import { PROBLEMS_MAX, verifyJournal, type SnapshotFinding, type VerifyReport } from '#persistence/folder/verify.ts';
import { auditEventState, type Discrepancy } from '#domain/event/audit.ts';
import { addCounts, countsOf, NO_COUNTS, type EventCounts } from '#domain/event/operator-view.ts';
import { initialState, type EventState } from '#domain/event/state.ts';
import { Defect } from '#domain/invariant.ts';
import { replayFact, UnknownFact } from '#domain/event/replay.ts';
import { formatOf, restoreEventState, restorePiece, SNAPSHOT_FORMAT, snapshotPieces } from '#domain/event/snapshot.ts';
import { KEYED_TYPES, KeyCheck, type KeysReport } from './key-check.ts';
import { eventNumberIn } from './events.ts';
import {
  evolveService,
  newServiceState,
  readServiceFact,
  restoreService,
  SERVICE_STREAM,
  servicePieces,
  type ServiceState,
} from '#engine/service-facts.ts';
import type { FactRow } from '#persistence/journal.ts';

export interface FolderReport extends VerifyReport {
  readonly events: number;
  readonly figures: EventCounts;
  /** Snapshots that were equal to the replay up to their fact. */
  readonly snapshotsReplayed: number;
  /** When the last fact happened, in milliseconds since 1970; null when there is none. */
  readonly lastAt: number | null;
  readonly keys: KeysReport;
  /** Events, or the service, that could not be replayed; they are not in `figures`. */
  readonly leftOut: number;
  /** Of all states at `provedSeq`, in hex; null when some could not be replayed. */
  readonly stateFingerprint: string | null;
}

interface VerificationOptions {
  /** The file of keys to look into, `keys.db` of the folder when not given; null leaves keys out. */
  readonly keys?: string | null | undefined;
}

export interface VerificationListener {
  /** `of` is what is being done, `done` of `total` of it. */
  readonly onProgress?: (of: 'chain' | 'replay', done: number, total: number) => void;
}

/** A state that a stream is replayed into. */
interface Replica {
  apply(row: FactRow): void;
  pieces(): Iterable<string>;
  audit(): readonly Discrepancy[];
  figures(): EventCounts;
}

/** Verifies a folder from its bytes to its books. Throws only JournalTooNew. */
export async function verifyFolder(
  folder: string,
  listener: VerificationListener = {},
  { keys = keysPath(folder) }: VerificationOptions = {},
): Promise<FolderReport> {
  const { view, trouble } = viewOf(folder);
  const keyCheck = new KeyCheck(keys);
  let lastAt: number | null = null;
  try {
    const report = await verifyJournal(folder, {
      onProgress: ({ seq, headSeq }) => listener.onProgress?.('chain', seq, headSeq),
      onRow(row) {
        lastAt = row.at;
        keyCheck.see(row);
      },
      archived: { types: KEYED_TYPES, onRow: (row) => keyCheck.see(row) },
    });
    const found = keyCheck.finish(report.keysId);
    const check = new StateCheck(folder, view?.through(report.provedSeq) ?? null);
    if (trouble === null) await check.run(report.snapshots, listener);
    return {
      ...report,
      lastAt: lastAt ?? report.lastArchivedFactAt,
      events: check.events,
      leftOut: check.leftOut,
      figures: check.figures,
      snapshotsReplayed: check.snapshotsReplayed,
      stateFingerprint: trouble === null ? check.stateFingerprint() : null,
      keys: found.report,
      problems: [...report.problems, ...found.problems, ...check.problems],
      moreProblems: report.moreProblems + check.moreProblems,
    };
  } finally {
    keyCheck.close();
    view?.close();
  }
}

/** The view of the folder's journal; damage that makes it unreadable is reported by `verifyJournal`. */
function viewOf(folder: string): { readonly view: JournalView | null; readonly trouble: unknown } {
  try {
    return { view: viewJournal(folder), trouble: null };
  } catch (error) {
    if (error instanceof JournalDamaged || errorCode(error).startsWith('SQLITE_'))
      return { view: null, trouble: error };
    throw error;
  }
}

const DEFECT_HINT = 'Report it: a defect wrote this, or somebody else did.';

class StateCheck {
  readonly problems: Finding[] = [];
  moreProblems = 0;
  events = 0;
  leftOut = 0;
  snapshotsReplayed = 0;
  figures: EventCounts = NO_COUNTS;
  readonly #folder: string;
  readonly #view: JournalView | null;
  readonly #fingerprints: [eventId: string, fingerprint: string][] = [];

  constructor(folder: string, view: JournalView | null) {
    this.#folder = folder;
    this.#view = view;
  }

  async run(snapshots: readonly SnapshotFinding[], { onProgress }: VerificationListener): Promise<void> {
    const streams = [...(this.#view?.heads.keys() ?? [])].sort();
    for (const [index, eventId] of streams.entries()) {
      onProgress?.('replay', index, streams.length);
      const own = snapshots.filter((each) => each.eventId === eventId && each.fingerprint !== null);
      await this.#checkStream(eventId, own);
    }
    onProgress?.('replay', streams.length, streams.length);
  }

  stateFingerprint(): string | null {
    if (this.leftOut > 0) return null;
    const hash = createHash('sha256');
    for (const [eventId, fingerprint] of this.#fingerprints) hash.update(`${JSON.stringify(eventId)} ${fingerprint}\n`);
    return hash.digest('hex');
  }

  /** Replays a stream and compares it with its snapshots, which come oldest first. */
  async #checkStream(eventId: string, snapshots: readonly SnapshotFinding[]): Promise<void> {
    const view = this.#view!;
    const where = eventId === SERVICE_STREAM ? 'the service' : `event ${eventId}`;
    if (eventId !== SERVICE_STREAM) this.events += 1;
    let next: FactRow | null = null;
    try {
      const { rows, ...start } = await openReplica(view, eventId, snapshots);
      let { replica } = start;
      const ahead = snapshots.filter(({ seq }) => seq > start.seq);
      for (const row of rows) {
        next = row;
        while ((ahead[0]?.seq ?? Infinity) < row.seq) replica = await this.#compare(replica, ahead.shift()!, where);
        replica.apply(row);
        next = null;
      }
      for (const snapshot of ahead.filter(({ seq }) => seq <= view.headSeq)) {
        replica = await this.#compare(replica, snapshot, where);
      }
      this.#finish(eventId, replica, where);
    } catch (error) {
      this.leftOut += 1;
      this.#add({ ...this.#whyNotReplayed(error, next), where: `${where} in ${this.#folder}` });
    }
  }

  /** `row` is the fact that could not be applied; null where facts could not be read. */
  #whyNotReplayed(error: unknown, row: FactRow | null): Pick<Finding, 'what' | 'hint'> {
    if (error instanceof JournalDamaged || error instanceof UnknownFact)
      return { what: `it cannot be replayed: ${reasonOf(error)}`, hint: error.hint };
    if (row === null) return { what: `it cannot be replayed: ${messageOf(error)}`, hint: DEFECT_HINT };
    const fault =
      error instanceof Defect ? 'contradicts the facts before it; the rule that does not hold' : 'cannot be applied';
    const restore = `holdfast restore ${this.#folder} --to NEW_DIR --seq ${row.seq - 1}`;
    return {
      what: `fact ${row.seq} (${row.type}) ${fault}: ${messageOf(error)}`,
      hint: `${DEFECT_HINT} Everything before it can be restored: ${restore}`,
    };
  }

  /** Compares a state with a snapshot of it, and returns the one to go on from (rule 3). */
  async #compare(replica: Replica, { eventId, path, fingerprint }: SnapshotFinding, where: string): Promise<Replica> {
    this.#audit(replica, `${where}, as of ${path}`);
    if (fingerprintOf(replica.pieces()) === fingerprint) {
      this.snapshotsReplayed += 1;
      return replica;
    }
    const pieces = (await readPieces(path)) ?? [];
    if (formatOf(pieces[0] ?? '{}') < SNAPSHOT_FORMAT) return restoreReplica(eventId ?? SERVICE_STREAM, pieces);
    const hint = `Delete ${path}: the journal decides, and a new snapshot is taken from it. Report it.`;
    this.#add({ what: 'a snapshot is not what its facts add up to', where: `${where}, ${path}`, hint });
    return replica;
  }

  #finish(eventId: string, replica: Replica, where: string): void {
    this.#audit(replica, where);
    this.#fingerprints.push([eventId, fingerprintOf(replica.pieces())]);
    this.figures = addCounts(this.figures, replica.figures());
  }

  #audit(replica: Replica, where: string): void {
    for (const found of replica.audit()) {
      this.#add({ what: found.what, where: `${where}, ${found.where}`, hint: DEFECT_HINT });
    }
  }

  #add(finding: Finding): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(finding);
    else this.moreProblems += 1;
  }
}

interface ReplayStart {
  readonly replica: Replica;
  /** The last fact that the state includes. */
  readonly seq: number;
  readonly rows: Iterable<FactRow>;
}

/** A state to replay into and the facts after it (rule 2); snapshots come oldest first. */
async function openReplica(
  view: JournalView,
  eventId: string,
  snapshots: readonly SnapshotFinding[],
): Promise<ReplayStart> {
  try {
    return { replica: await emptyReplica(view, eventId), seq: 0, rows: await view.factsOf(eventId) };
  } catch (error) {
    if (!(error instanceof JournalDamaged)) throw error;
    const [oldest, ...newer] = snapshots;
    if (oldest === undefined) throw error;
    const pieces = await readPieces(oldest.path);
    const rows = await view.factsOf(eventId, oldest.seq).catch(() => null);
    if (pieces === null || rows === null) return openReplica(view, eventId, newer);
    return { replica: restoreReplica(eventId, pieces), seq: oldest.seq, rows };
  }
}

/** The pieces of a snapshot; null for one that is gone, because a serving process has deleted an old one meanwhile. */
async function readPieces(path: string): Promise<readonly string[] | null> {
  try {
    return (await readSnapshot(path)).pieces;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

async function emptyReplica(view: JournalView, eventId: string): Promise<Replica> {
  if (eventId === SERVICE_STREAM) return serviceReplica(newServiceState());
  return eventReplica(initialState(eventId, await eventNumberIn(view, eventId)));
}

function restoreReplica(eventId: string, pieces: readonly string[]): Replica {
  if (eventId === SERVICE_STREAM) return serviceReplica(restoreService(pieces));
  const [first = '', ...further] = pieces;
  const state = restoreEventState(first);
  for (const piece of further) restorePiece(state, piece);
  return eventReplica(state);
}

function eventReplica(state: EventState): Replica {
  return {
    apply: (row) => replayFact(state, row),
    pieces: () => snapshotPieces(state),
    audit: () => auditEventState(state),
    figures: () => countsOf(state),
  };
}

function serviceReplica(state: ServiceState): Replica {
  return {
    apply(row) {
      const own = readServiceFact(row);
      if (own !== null) evolveService(state, own);
    },
    pieces: () => servicePieces(state),
    audit: () => [],
    figures: () => NO_COUNTS,
  };
}
