/** The waiting room of an event as its state keeps it: its status, its draw, its entries and its latest admissions. */
import { waitingRoomTransitions, type WaitingRoomStatus } from '#machines/waiting-room.ts';
import { invariant } from '../invariant.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { LazyHeap } from '../collections/lazy-heap.ts';
import type { InventoryState } from '../inventory/performance.ts';
import { findEndedEntry, findEntry, noEntries, type QueueEntries, type QueueEntry } from './queue-entries.ts';
import { peopleFrom, type QueuePositions } from './queue-positions.ts';

/** The subject of the deadline at which the room opens. */
export const OPENING = 'room';

/** What the waiting room keeps of one event, and what it may read. */
export interface WaitingRoomState extends InventoryState {
  /** Null in an event without a waiting room. */
  waitingRoom: WaitingRoom | null;
  /** When the room opens and passes run out, by the id of the subject. */
  readonly deadlines: LazyHeap<string>;
}

export interface WaitingRoom {
  status: WaitingRoomStatus;
  /** When the room opens or opened; null when it was open from the start. */
  opensAt: number | null;
  /** Null in a room without an opening time. */
  readonly draw: Draw | null;
  readonly entries: QueueEntries;
  readonly admissions: RecentAdmissions;
  /** Facts of this room so far. They change nothing about what is for sale. */
  factCount: number;
  /** Before this moment no sweep of stale entries begins. Soft. */
  sweepNotBefore: number;
}

/** The draw of a room that has an opening time, from its commitment to its proof. */
export interface Draw extends DrawCommitment {
  /** Made when the draw begins; null before, and in a draw that was begun before there were openings. */
  opening: string | null;
  /** Everybody who takes part, in order of arrival; null unless the draw is under way. */
  pool: QueuePositions<QueueEntry> | null;
  entryCount: number;
  /** The ids drawn so far, first place first. */
  readonly order: string[];
  /** Null until the draw is held. */
  entriesDigest: string | null;
  drawnAt: number | null;
}

/** What is fixed of a draw before its opening: the secret seed, and its hash, which is shown. */
interface DrawCommitment {
  readonly seed: string;
  readonly commitment: string;
}

/** A room that was never open. */
export function newWaitingRoom(opensAt: number | null, committed: DrawCommitment | null): WaitingRoom {
  return {
    status: waitingRoomTransitions.initial,
    opensAt,
    draw: committed === null ? null : newDraw(committed),
    entries: noEntries(),
    admissions: { batches: [], total: 0 },
    factCount: 0,
    sweepNotBefore: 0,
  };
}

function newDraw({ seed, commitment }: DrawCommitment): Draw {
  return { seed, commitment, opening: null, pool: null, entryCount: 0, order: [], entriesDigest: null, drawnAt: null };
}

/** The part of an event's state that this file needs. */
interface HasWaitingRoom {
  readonly waitingRoom: WaitingRoom | null;
}

/** The room of an event that is known to have one. */
export function waitingRoomOf({ waitingRoom }: HasWaitingRoom): WaitingRoom {
  invariant(waitingRoom !== null, 'the event has a waiting room');
  return waitingRoom;
}

/** Whether the room is open. While it pauses it stays open and admits nobody. */
export function isRoomOpen({ status }: WaitingRoom): boolean {
  return status === 'OPEN' || status === 'PAUSED';
}

/** An entry, for its owner: an unknown id and another session's key get the same QUEUE_ENTRY_NOT_FOUND. */
export function findOwnEntry(
  { waitingRoom }: HasWaitingRoom,
  entryId: string,
  sessionKey: string,
): QueueEntry | Refusal {
  if (waitingRoom === null) return refuse('QUEUE_ENTRY_NOT_FOUND', {});
  const { entries } = waitingRoom;
  const entry = findEntry(entries, entryId) ?? findEndedEntry(entries, entryId, sessionKey);
  return entry?.sessionKey === sessionKey ? entry : refuse('QUEUE_ENTRY_NOT_FOUND', {});
}

// ── the draw ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The draw that is under way because too many take part to hold it in one turn; null when there is none. */
export function drawUnderWay({ waitingRoom }: HasWaitingRoom): Draw | null {
  return waitingRoom?.status === 'DRAWING' ? waitingRoom.draw : null;
}

/** The ids of everybody who takes part in a draw. The pool does not change, so that it may be read in pieces. */
export function* poolIds({ pool }: Draw): Generator<string> {
  if (pool !== null) for (const { id } of peopleFrom(pool)) yield id;
}

// ── admissions ───────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The span in which no more are admitted than the rate. It is half open: of two admissions at `t` and `t + 60,000` only
 * one lies in any span, so that from that millisecond on another may be admitted.
 */
const ADMISSION_SPAN_MS = 60_000;

/** Admissions of one turn. */
export interface AdmissionBatch {
  readonly at: number;
  readonly count: number;
}

/** The batches of the last span, oldest first; older ones may stay until the next admission. */
interface RecentAdmissions {
  readonly batches: AdmissionBatch[];
  total: number;
}

/** How many people were admitted in the span that ends with `now`, `now` included. */
export function admittedLately({ batches, total }: RecentAdmissions, now: number): number {
  let recent = total;
  for (const { at, count } of batches) {
    if (at > now - ADMISSION_SPAN_MS) break;
    recent -= count;
  }
  return recent;
}

/** Notes the admissions of a turn and forgets those that lie in no span with them. */
export function noteAdmissions(admissions: RecentAdmissions, at: number, count: number): void {
  const { batches } = admissions;
  while (batches.length > 0 && batches[0]!.at <= at - ADMISSION_SPAN_MS) admissions.total -= batches.shift()!.count;
  batches.push({ at, count });
  admissions.total += count;
}
