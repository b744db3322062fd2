/**
 * The one way in which a box office comes alive: its newest good snapshot, and the facts after it.
 *
 * Used at start, at the first request for a cold event, after a failed write, and by the snapshot worker. Works in slices,
 * so that other events are served in between.
 */
import { openBoxOffice, type BoxOffice } from '#domain/box-office.ts';
import { replayFact } from '#domain/replay.ts';
import { restoreOffice, restorePiece } from '#domain/snapshot.ts';
import { stopwatchMs } from '#persistence/files.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { Snapshot } from '#persistence/snapshots.ts';

/** Where activation reads from. */
export interface ActivationSource {
  /** The newest good snapshot of the event, at or before `atMostSeq`. */
  newestSnapshot(eventId: string, atMostSeq?: number): Promise<Snapshot | null>;
  /** The durable facts of the event after a sequence number. */
  factsAfter(eventId: string, afterSeq: number): Iterable<FactRow>;
  /** Elapsed milliseconds, for slices only: they never reach a fact. The machine's own when absent. */
  stopwatchMs?(): number;
}

export interface Activated {
  readonly office: BoxOffice;
  /** The last fact that the state includes. */
  readonly lastSeq: number;
  readonly factsReplayed: number;
}

/** Work of one slice, well under the 10 ms that the loop may stand still. */
const SLICE_MS = 3;

/** Brings an event's box office back. Rejects with the Defect or UnknownFact that a replay ran into. */
export async function activate(
  source: ActivationSource,
  eventId: string,
  eventNumber: number,
  atMostSeq: number = Number.MAX_SAFE_INTEGER,
): Promise<Activated> {
  const pause = slicer(source.stopwatchMs ?? stopwatchMs);
  const snapshot = await source.newestSnapshot(eventId, atMostSeq);
  const office =
    snapshot === null ? openBoxOffice(eventId, eventNumber) : await restoreInSlices(snapshot.pieces, pause);
  let lastSeq = snapshot?.header.seq ?? 0;
  let factsReplayed = 0;
  for (const row of source.factsAfter(eventId, lastSeq)) {
    if (row.seq > atMostSeq) break;
    replayFact(office, row);
    lastSeq = row.seq;
    factsReplayed += 1;
    if (factsReplayed % 64 === 0) await pause();
  }
  return { office, lastSeq, factsReplayed };
}

async function restoreInSlices(pieces: readonly string[], pause: () => Promise<void> | undefined): Promise<BoxOffice> {
  const [first = '', ...further] = pieces;
  const office = restoreOffice(first);
  for (const piece of further) {
    restorePiece(office, piece);
    await pause();
  }
  return office;
}

/** Gives the loop back when a slice is used up; otherwise costs a look at the clock. */
function slicer(elapsedMs: () => number): () => Promise<void> | undefined {
  let begin = elapsedMs();
  return () => {
    if (elapsedMs() - begin < SLICE_MS) return undefined;
    return new Promise((resolve) => {
      setImmediate(() => {
        begin = elapsedMs();
        resolve();
      });
    });
  };
}
