/**
 * Verification of a data folder, states included: every fact that was written is there, and they add up to what they must.
 *
 * Beyond what `persistence/verify.ts` proves of bytes, every event is replayed from its facts, one event at a time, and its books are
 * compared with each other. It only reads, also beside a serving process.
 *
 * 1. Everything is checked as of one moment: the view is opened first, and newer facts are left out.
 * 2. A replay begins at the first fact, or, where that was pruned, at the oldest good snapshot that covers the archive; without
 *    such a snapshot the archive is replayed as well.
 * 3. A good snapshot of today's format equals the replay up to its fact, by fingerprint (I9); the books agree there and at the
 *    end (I7, I8). From a snapshot of an older format the replay goes on, as the service did when it started with this version.
 * 4. The state's fingerprint covers every event and the service itself, by id: equal folders have equal fingerprints.
 */
import { createHash } from 'node:crypto';
import { viewJournal, type JournalView } from '#persistence/sqlite/view.ts';
import { errorCode, JournalDamaged } from '#persistence/faults.ts';
import { fingerprintOf, readSnapshot } from '#persistence/snapshots.ts';
import { keysPath } from '#persistence/sqlite/key-file.ts';
import { verifyJournal, type Finding, type SnapshotFinding, type VerifyReport } from '#persistence/verify.ts';
import { auditEventState, type Discrepancy } from '#domain/audit.ts';
import { addFigures, figuresOf, NO_FIGURES, type Figures } from '#domain/figures.ts';
import { initialState, type EventState } from '#domain/event-state.ts';
import { replayFact } from '#domain/replay.ts';
import { formatOf, restoreEventState, restorePiece, SNAPSHOT_FORMAT, snapshotPieces } from '#domain/snapshot.ts';
import { KEYED_TYPES, KeyCheck, type KeysReport } from './key-check.ts';
import { eventNumberIn } from './reading.ts';
import {
  evolveService,
  newServiceState,
  readServiceFact,
  restoreService,
  SERVICE_STREAM,
  servicePieces,
  type ServiceState,
} from './service-facts.ts';
import type { FactRow } from '#persistence/journal.ts';

export interface FolderReport extends VerifyReport {
  readonly events: number;
  readonly figures: Figures;
  /** Snapshots that were equal to the replay up to their fact. */
  readonly snapshotsReplayed: number;
  /** When the last fact happened, in milliseconds since 1970; null when there is none. */
  readonly lastAt: number | null;
  readonly keys: KeysReport;
  /** Of all states at the head, in hex; null when some could not be replayed. */
  readonly stateFingerprint: string | null;
}

export interface VerificationOptions {
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
  figures(): Figures;
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
    const check = new StateCheck(folder, view);
    if (trouble === null) await check.run(report.snapshots, listener);
    return {
      ...report,
      lastAt: lastAt ?? report.lastArchivedFactAt,
      events: check.events,
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

const PROBLEMS_MAX = 100;
const DEFECT_HINT =
  'Report it: a defect wrote this, or somebody else did. What was answered up to there can be restored.';

class StateCheck {
  readonly problems: Finding[] = [];
  moreProblems = 0;
  events = 0;
  snapshotsReplayed = 0;
  figures: Figures = NO_FIGURES;
  readonly #folder: string;
  readonly #view: JournalView | null;
  readonly #fingerprints: [eventId: string, fingerprint: string][] = [];
  #isWhole = true;

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
    if (!this.#isWhole) return null;
    const hash = createHash('sha256');
    for (const [eventId, fingerprint] of this.#fingerprints) hash.update(`${JSON.stringify(eventId)} ${fingerprint}\n`);
    return hash.digest('hex');
  }

  /** Replays a stream and compares it with its snapshots, which come oldest first. */
  async #checkStream(eventId: string, snapshots: readonly SnapshotFinding[]): Promise<void> {
    const view = this.#view!;
    const where = eventId === SERVICE_STREAM ? 'the service' : `event ${eventId}`;
    if (eventId !== SERVICE_STREAM) this.events += 1;
    const archivedSeq = view.archivedHeads.get(eventId) ?? 0;
    let lastSeq = 0;
    try {
      const start = await openReplica(view, eventId, archivedSeq, snapshots);
      let { replica } = start;
      lastSeq = start.seq;
      const ahead = snapshots.filter(({ seq }) => seq > lastSeq);
      for (const row of await view.factsOf(eventId, lastSeq)) {
        while ((ahead[0]?.seq ?? Infinity) < row.seq) replica = await this.#compare(replica, ahead.shift()!, where);
        replica.apply(row);
        lastSeq = row.seq;
      }
      for (const snapshot of ahead.filter(({ seq }) => seq <= view.headSeq)) {
        replica = await this.#compare(replica, snapshot, where);
      }
      this.#finish(eventId, replica, where);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const isDamage = error instanceof JournalDamaged;
      const hint = isDamage ? error.hint : `${DEFECT_HINT} holdfast restore --to NEW_DIR --seq ${lastSeq}`;
      this.#fail(`its replay stops after fact ${lastSeq}: ${message}`, where, hint);
    }
  }

  /** Compares a state with a snapshot of it, and returns the one to go on from (3). */
  async #compare(replica: Replica, { eventId, path, fingerprint }: SnapshotFinding, where: string): Promise<Replica> {
    this.#audit(replica, `${where}, as of ${path}`);
    if (fingerprintOf(replica.pieces()) === fingerprint) {
      this.snapshotsReplayed += 1;
      return replica;
    }
    const older = await readOlderFormat(path);
    if (older !== null) return restoreReplica(eventId ?? SERVICE_STREAM, older);
    const hint = `Delete ${path}: the journal decides, and a new snapshot is taken from it. Report it.`;
    this.#add({ what: 'a snapshot is not what its facts add up to', where: `${where}, ${path}`, hint });
    return replica;
  }

  #finish(eventId: string, replica: Replica, where: string): void {
    this.#audit(replica, where);
    this.#fingerprints.push([eventId, fingerprintOf(replica.pieces())]);
    this.figures = addFigures(this.figures, replica.figures());
  }

  #audit(replica: Replica, where: string): void {
    for (const found of replica.audit()) {
      this.#add({ what: found.what, where: `${where}, ${found.where}`, hint: DEFECT_HINT });
    }
  }

  #fail(what: string, where: string, hint: string): void {
    this.#isWhole = false;
    this.#add({ what, where: `${where} in ${this.#folder}`, hint });
  }

  #add(finding: Finding): void {
    if (this.problems.length < PROBLEMS_MAX) this.problems.push(finding);
    else this.moreProblems += 1;
  }
}

/** A state to replay into: the oldest good snapshot that covers the archive, or empty, to replay the archive too. */
async function openReplica(
  view: JournalView,
  eventId: string,
  archivedSeq: number,
  snapshots: readonly SnapshotFinding[],
): Promise<{ readonly replica: Replica; readonly seq: number }> {
  if (archivedSeq === 0) return { replica: await emptyReplica(view, eventId), seq: 0 };
  for (const { path, seq } of snapshots) {
    if (seq < archivedSeq) continue;
    try {
      return { replica: restoreReplica(eventId, (await readSnapshot(path)).pieces), seq };
    } catch (error) {
      // A serving process may have deleted an old one meanwhile.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
  return { replica: await emptyReplica(view, eventId), seq: 0 };
}

/** The pieces of a snapshot that an older version wrote in its own format; null for one of today's, or one that is gone. */
async function readOlderFormat(path: string): Promise<readonly string[] | null> {
  try {
    const { pieces } = await readSnapshot(path);
    return formatOf(pieces[0] ?? '{}') < SNAPSHOT_FORMAT ? pieces : null;
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
    figures: () => figuresOf(state),
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
    figures: () => NO_FIGURES,
  };
}
