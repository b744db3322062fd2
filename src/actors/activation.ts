/**
 * The one way to activate an event: its newest good snapshot, and the facts after it. Without a good snapshot every
 * fact is replayed, those in the archive included. A state that was made on this path in advance replaces both, up to
 * its last fact.
 *
 * 1. The work is done in slices, so that other events are served in between. The objects that a slice makes stay alive,
 *    so the garbage collector must copy all of them. It is called every few slices, because by itself it copies 16 MB
 *    at once, in 20 to 40 ms.
 * 2. Snapshots are taken on the same path, so that each of them proves that the journal gives the state that was.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import { initialState, type EventState } from '#domain/event/state.ts';
import { replayFact } from '#domain/event/replay.ts';
import { restoreEventState, restorePiece } from '#domain/event/snapshot.ts';
import { inSlices, stopwatchMs } from '#persistence/stopwatch.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { FactData } from '#domain/fact.ts';
import type { Snapshot } from '#persistence/snapshots.ts';

/** Where activation reads from. */
export interface ActivationSource {
  /** The newest good snapshot of the event, at or before `atMostSeq`. */
  newestSnapshot(eventId: string, atMostSeq?: number): Promise<Snapshot | null>;
  /** The durable facts of the event after a sequence number, archived ones included. */
  factsAfter(eventId: string, afterSeq: number): Iterable<FactRow> | Promise<Iterable<FactRow>>;
  /** A state of the event that was made before it was needed, handed out once; null where there is none. */
  takeAhead?(eventId: string): Promise<Activated | null> | null;
  /** Elapsed milliseconds, for slices only: they never reach a fact. The machine's own when absent. */
  stopwatchMs?(): number;
}

export interface Activated {
  readonly state: EventState;
  /** The last fact that the state includes. */
  readonly lastSeq: number;
  readonly factsReplayed: number;
}

/** A snapshot of an event to be taken, as of a durable fact. */
export interface SnapshotJob {
  readonly eventId: string;
  readonly eventNumber: number;
  readonly seq: number;
  readonly at: number;
  /** What the event index needs of the event without reading the snapshot. */
  readonly about: unknown;
  /** Absent where the snapshot thread reads the facts from the folder's journal itself. */
  readonly given?: GivenFacts;
}

/** The facts of a stream whose journal is not a file. */
export interface GivenFacts {
  /** Has the stream's earlier snapshots, and gets the new one. */
  readonly folder: string;
  /** The rows are all facts of the stream after this one, in order; a snapshot in the folder covers those up to it. */
  readonly afterSeq: number;
  readonly rows: readonly FactRow[];
}

export interface SnapshotOutcome {
  readonly eventId: string;
  readonly seq: number;
  /** Hash of the state's pieces; null when the snapshot could not be taken. */
  readonly fingerprint: string | null;
  readonly trouble: string | null;
}

/** Work of one slice, well under the 10 ms that the loop may stand still. */
const SLICE_MS = 3;

/** After so many slices there are some 3 MB of young objects (rule 1). */
const SLICES_PER_COLLECTION = 2;

/**
 * Rebuilds the state of an event; its number comes from its facts when it is not known. Rejects with the Defect or
 * UnknownFact of the replay, and with JournalDamaged when facts are missing.
 */
export async function activate(
  source: ActivationSource,
  eventId: string,
  eventNumber: number | null,
  atMostSeq: number = Number.MAX_SAFE_INTEGER,
): Promise<Activated> {
  const pause = slicer(source.stopwatchMs ?? stopwatchMs);
  const begin =
    (atMostSeq === Number.MAX_SAFE_INTEGER ? await source.takeAhead?.(eventId) : null) ??
    (await fromSnapshot(source, eventId, atMostSeq, pause));
  let { state, lastSeq, factsReplayed } = begin;
  for (const row of await source.factsAfter(eventId, lastSeq)) {
    if (row.seq > atMostSeq) break;
    state ??= initialState(eventId, numberIn(row) ?? eventNumber ?? 0);
    replayFact(state, row);
    lastSeq = row.seq;
    factsReplayed += 1;
    if (factsReplayed % 64 === 0) await pause();
  }
  state ??= initialState(eventId, eventNumber ?? 0);
  if (eventNumber !== null && state.eventNumber !== eventNumber) {
    throw new Error(`${eventId} has the number ${state.eventNumber} in its facts, not ${eventNumber}: start again`);
  }
  return { state, lastSeq, factsReplayed };
}

interface Begin extends Omit<Activated, 'state'> {
  readonly state: EventState | null;
}

/** The newest snapshot's state; null without a snapshot. */
async function fromSnapshot(
  source: ActivationSource,
  eventId: string,
  atMostSeq: number,
  pause: () => Promise<void> | undefined,
): Promise<Begin> {
  const snapshot = await source.newestSnapshot(eventId, atMostSeq);
  const state = snapshot === null ? null : await restoreInSlices(snapshot.pieces, pause);
  return { state, lastSeq: snapshot?.header.seq ?? 0, factsReplayed: 0 };
}

/** The number that an event's first fact gives it; null for any other fact. */
function numberIn({ type, data }: FactRow): number | null {
  return type === 'EventDefined' ? (JSON.parse(data) as FactData['EventDefined']).eventNumber : null;
}

async function restoreInSlices(pieces: readonly string[], pause: () => Promise<void> | undefined): Promise<EventState> {
  const [first = '', ...further] = pieces;
  const state = restoreEventState(first);
  for (const piece of further) {
    restorePiece(state, piece);
    await pause();
  }
  return state;
}

/** Yields to the event loop when a slice is used up. */
function slicer(elapsedMs: () => number): () => Promise<void> | undefined {
  let slices = 0;
  const rest = async (): Promise<void> => {
    slices += 1;
    if (slices % SLICES_PER_COLLECTION === 0 && isMainThread) {
      await nextRound();
      collectYoung();
    }
    await nextRound();
  };
  return inSlices(SLICE_MS, rest, elapsedMs);
}

let collect: ((options: { readonly type: 'minor' }) => void) | null = null;

/**
 * Makes the garbage collector move the young objects that are still used, now. Node has no other way than the function
 * of this flag.
 */
function collectYoung(): void {
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as typeof collect;
  }
  collect!({ type: 'minor' });
}
