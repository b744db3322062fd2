/**
 * How an event gets, moves and loses its waiting room when its definition changes.
 *
 * Decides what a new definition makes of the room; what goes on inside belongs to `waiting-room.ts`. Called by `box-office.ts`.
 *
 * 1. A room with an opening time has its draw sealed in the turn that makes it. The seed never changes while anybody is in it.
 * 2. Before the doors open the opening may be moved. Without an opening time they open at once, and the draw is held.
 * 3. Open doors do not close: a later opening is refused, unless nobody ever came; then the room is made anew.
 * 4. Without a waiting room there is no line: every place in it is gone, and no pass is asked for.
 */
import { commitmentOf, type Hashing } from './draw.ts';
import { fact, type Fact } from '../fact.ts';
import type { EventDefinition } from '../catalogue/definition.ts';
import type { Problem } from '../refusal.ts';
import type { WaitingRoom } from './room.ts';
import type { EventState } from '../event-state.ts';

/** What a turn brings that makes a room. */
export interface RoomTurn {
  readonly now: number;
  readonly hashing: Hashing;
  /** 32 random bytes in hex, made at this call: the seed or the opening of a draw. */
  newSeed(): string;
}

/** Why a definition cannot be taken over while the room is as it is. */
export function roomConflicts(state: EventState, definition: EventDefinition, now: number): readonly Problem[] {
  const room = state.waitingRoom;
  if (room === null || !definition.waitingRoom || !wouldClose(room, definition, now) || isUntouched(room)) return [];
  const message = 'the doors of the waiting room are open and people have come; they cannot be closed again';
  return [{ path: ['waiting_room_opens_at'], message }];
}

/** What a definition that is taken over makes of the room. */
export function decideRoom(state: EventState, definition: EventDefinition, turn: RoomTurn): readonly Fact[] {
  const room = state.waitingRoom;
  const { waitingRoomOpensAt: opensAt } = definition;
  if (room === null) return definition.waitingRoom ? [factOfNewRoom(opensAt, turn)] : [];
  if (!definition.waitingRoom) return [fact('WaitingRoomRemoved', {})];
  if (room.status === 'PRE_QUEUE') {
    return opensAt === room.opensAt ? [] : [fact('WaitingRoomRescheduled', { opensAt: opensAt ?? turn.now })];
  }
  return wouldClose(room, definition, turn.now) ? [fact('WaitingRoomRemoved', {}), factOfNewRoom(opensAt, turn)] : [];
}

function factOfNewRoom(opensAt: number | null, { newSeed, hashing }: RoomTurn): Fact {
  if (opensAt === null) return fact('WaitingRoomAdded', { opensAt, drawSeed: null, drawCommitment: null });
  const drawSeed = newSeed();
  return fact('WaitingRoomAdded', { opensAt, drawSeed, drawCommitment: commitmentOf(drawSeed, hashing) });
}

/** Whether doors that are open, or about to be, would have to close again. */
function wouldClose(room: WaitingRoom, { waitingRoomOpensAt: opensAt }: EventDefinition, now: number): boolean {
  return room.status !== 'PRE_QUEUE' && opensAt !== null && opensAt !== room.opensAt && opensAt > now;
}

function isUntouched({ entries }: WaitingRoom): boolean {
  return entries.joinedCount === 0;
}
