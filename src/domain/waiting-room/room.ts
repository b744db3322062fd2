/**
 * A waiting room as a value: its doors, its draw, its entries and its admissions.
 *
 * What goes on in it is decided in `waiting-room.ts`, its draw in `drawing.ts`, its coming and going in `room-definition.ts`; facts are
 * applied in `waiting-room-evolve.ts`.
 */
import { waitingRoomTransitions, type WaitingRoomStatus } from '#machines/waiting-room.ts';
import { noAdmissions, type RecentAdmissions } from './admissions.ts';
import { invariant } from '../invariant.ts';
import { noEntries, type QueueEntries, type QueueEntry } from './queue-entries.ts';
import type { Line } from './queue-positions.ts';

/** The name under which the wait for the opening runs out. */
export const OPENING = 'room';

/** The draw of a room that has an opening time, from its seal to its proof. */
export interface Draw {
  readonly seed: string;
  readonly commitment: string;
  /** Made when the draw begins; null before, and in a draw that was begun before there were openings. */
  opening: string | null;
  /** Everybody who takes part, in order of arrival; null but while the draw is under way. */
  pool: Line<QueueEntry> | null;
  entryCount: number;
  /** The ids drawn so far, in line order. */
  readonly order: string[];
  /** Null until the draw is held. */
  entriesDigest: string | null;
  drawnAt: number | null;
}

export interface WaitingRoom {
  status: WaitingRoomStatus;
  /** When the doors open or opened; null when they were open from the start. */
  opensAt: number | null;
  /** Null in a room without an opening time. */
  readonly draw: Draw | null;
  readonly entries: QueueEntries;
  readonly admissions: RecentAdmissions;
  /** Facts of this room so far. They change nothing about what is for sale. */
  factCount: number;
  /** Before this moment no sweep begins. Soft. */
  sweepNotBefore: number;
}

/** What fixes a draw before its opening. */
export interface DrawSeal {
  readonly seed: string;
  readonly commitment: string;
}

/** A room whose doors were never open. */
export function makeRoom(opensAt: number | null, seal: DrawSeal | null): WaitingRoom {
  return {
    status: waitingRoomTransitions.initial,
    opensAt,
    draw: seal === null ? null : sealedDraw(seal),
    entries: noEntries(),
    admissions: noAdmissions(),
    factCount: 0,
    sweepNotBefore: 0,
  };
}

function sealedDraw({ seed, commitment }: DrawSeal): Draw {
  return { seed, commitment, opening: null, pool: null, entryCount: 0, order: [], entriesDigest: null, drawnAt: null };
}

/** The room of an event that is known to have one. */
export function roomOf(state: { readonly waitingRoom: WaitingRoom | null }): WaitingRoom {
  invariant(state.waitingRoom !== null, 'the event has a waiting room');
  return state.waitingRoom;
}

/** Whether the doors are open. A room that pauses keeps them open and admits nobody. */
export function isRoomOpen({ status }: WaitingRoom): boolean {
  return status === 'OPEN' || status === 'PAUSED';
}
