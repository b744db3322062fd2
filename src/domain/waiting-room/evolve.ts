/**
 * What facts make of a waiting room.
 *
 * The facts themselves are decided in `waiting-room.ts` and, as to the room as a whole, in `room-definition.ts`. Called by
 * `box-office.ts`, in a turn as in a replay; a fact that cannot follow on what was before is a defect.
 */
import { follow } from '#machines/compile.ts';
import { waitingRoomTransitions } from '#machines/waiting-room.ts';
import { noteAdmissions } from './admissions.ts';
import { invariant, unreachable } from '../invariant.ts';
import { createQueuePositions, fillReserved, reserveSlots } from './queue-positions.ts';
import { addWaiting, admitEntry, endEntry, entryOf, findEntry } from './queue-entries.ts';
import { drawUnderWay } from './draw-decisions.ts';
import { makeRoom, OPENING, roomOf, type Draw } from './room.ts';
import { DROPS_PER_TURN_MAX, SWEEP_PAUSE_MS } from './decide.ts';
import type { FactData, FactOf } from '../fact.ts';
import type { EventState } from '../event-state.ts';

/** The types of facts that concern the waiting room. */
export type QueueFactType =
  | 'WaitingRoomAdded'
  | 'WaitingRoomRescheduled'
  | 'WaitingRoomRemoved'
  | 'WaitingRoomPaused'
  | 'WaitingRoomResumed'
  | 'DrawStarted'
  | 'LineDrawn'
  | 'DrawFinished'
  | 'QueueEntryJoined'
  | 'QueueEntriesAdmitted'
  | 'QueueEntriesDropped'
  | 'QueueEntryLeft'
  | 'QueuePassExpired'
  | 'QueuePassSpent';

export type QueueFact = { [Type in QueueFactType]: FactOf<Type> }[QueueFactType];

/** Applies a fact of the waiting room that happened at a moment. */
export function evolveWaitingRoom(state: EventState, happened: QueueFact, at: number): void {
  applyFact(state, happened, at);
  if (state.waitingRoom !== null) state.waitingRoom.factCount += 1;
}

function applyFact(state: EventState, { type, data }: QueueFact, at: number): void {
  switch (type) {
    case 'WaitingRoomAdded':
      return evolveWaitingRoomAdded(state, data);
    case 'WaitingRoomRescheduled':
      return evolveWaitingRoomRescheduled(state, data);
    case 'WaitingRoomRemoved':
      return evolveWaitingRoomRemoved(state);
    case 'WaitingRoomPaused':
      return evolveWaitingRoomPaused(state);
    case 'WaitingRoomResumed':
      return evolveWaitingRoomResumed(state);
    case 'DrawStarted':
      return evolveDrawStarted(state, data);
    case 'LineDrawn':
      return evolveLineDrawn(state, data);
    case 'DrawFinished':
      return evolveDrawFinished(state, data, at);
    case 'QueueEntryJoined':
      return evolveQueueEntryJoined(state, data, at);
    case 'QueueEntriesAdmitted':
      return evolveQueueEntriesAdmitted(state, data, at);
    case 'QueueEntriesDropped':
      return evolveQueueEntriesDropped(state, data, at);
    case 'QueueEntryLeft':
      return endEntryOf(state, data.entryId, 'LEAVE', at);
    case 'QueuePassExpired':
      return endEntryOf(state, data.entryId, 'EXPIRE', at);
    case 'QueuePassSpent':
      return evolveQueuePassSpent(state, data, at);
    default:
      return unreachable(type);
  }
}

// ── the room ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function evolveWaitingRoomAdded(state: EventState, data: FactData['WaitingRoomAdded']): void {
  const { opensAt, drawSeed, drawCommitment } = data;
  invariant(state.waitingRoom === null, 'an event has one waiting room');
  const seal = drawSeed === null ? null : { seed: drawSeed, commitment: drawCommitment! };
  const room = makeRoom(opensAt, seal);
  state.waitingRoom = room;
  if (opensAt === null) room.status = follow(waitingRoomTransitions, room.status, 'OPEN_AT_ONCE');
  else state.deadlines.add(OPENING, opensAt);
}

function evolveWaitingRoomRescheduled(state: EventState, data: FactData['WaitingRoomRescheduled']): void {
  const room = state.waitingRoom;
  invariant(room?.status === 'PRE_QUEUE', 'only an opening that is still to come is moved');
  room.opensAt = data.opensAt;
  state.deadlines.add(OPENING, data.opensAt);
}

function evolveWaitingRoomRemoved(state: EventState): void {
  invariant(state.waitingRoom !== null, 'a room that is removed was there');
  state.waitingRoom = null;
}

function evolveWaitingRoomPaused(state: EventState): void {
  const room = roomOf(state);
  room.status = follow(waitingRoomTransitions, room.status, 'PAUSE');
}

function evolveWaitingRoomResumed(state: EventState): void {
  const room = roomOf(state);
  room.status = follow(waitingRoomTransitions, room.status, 'RESUME');
}

// ── the draw ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Freezes everybody who waits as the pool of the draw, and sets their places aside at the front of a new line. */
function evolveDrawStarted(state: EventState, { entryCount, opening }: FactData['DrawStarted']): void {
  const room = roomOf(state);
  const { draw, entries } = room;
  room.status = follow(waitingRoomTransitions, room.status, 'START_DRAW');
  invariant(draw !== null && entries.line.size === entryCount, 'everybody who waits takes part in the draw');
  draw.opening = opening ?? null;
  draw.pool = entries.line;
  draw.entryCount = entryCount;
  entries.line = createQueuePositions();
  reserveSlots(entries.line, entryCount);
}

function evolveLineDrawn(state: EventState, { from, entryIds }: FactData['LineDrawn']): void {
  const draw = drawUnderWay(state);
  invariant(draw !== null && draw.order.length === from, 'the pieces of a drawn line follow one another');
  for (const entryId of entryIds) placeDrawn(state, draw, entryId);
}

/** Gives the next place of the drawn line to an entry, or passes over it when it ended meanwhile. */
export function placeDrawn(state: EventState, draw: Draw, entryId: string): void {
  const { entries } = roomOf(state);
  const entry = findEntry(entries, entryId);
  const slot = fillReserved(entries.line, entry?.status === 'WAITING' ? entry : null);
  if (entry?.status === 'WAITING') entry.slot = slot;
  draw.order.push(entry?.id ?? entryId);
}

function evolveDrawFinished(state: EventState, { entriesDigest }: FactData['DrawFinished'], at: number): void {
  const room = roomOf(state);
  const { draw } = room;
  invariant(draw !== null && draw.order.length === draw.entryCount, 'everybody in the pool is drawn');
  room.status = follow(waitingRoomTransitions, room.status, 'FINISH_DRAW');
  draw.pool = null;
  draw.entriesDigest = entriesDigest;
  draw.drawnAt = at;
}

// ── the entries ──────────────────────────────────────────────────────────────────────────────────────────────────────

function evolveQueueEntryJoined(state: EventState, data: FactData['QueueEntryJoined'], at: number): void {
  addWaiting(roomOf(state).entries, data.entryId, data.sessionKey, at);
}

function evolveQueueEntriesAdmitted(state: EventState, data: FactData['QueueEntriesAdmitted'], at: number): void {
  const { entries, admissions, status } = roomOf(state);
  invariant(status === 'OPEN', 'people are admitted through open doors');
  noteAdmissions(admissions, at, data.entryIds.length);
  for (const entryId of data.entryIds) {
    admitEntry(entries, entryOf(entries, entryId), { admittedAt: at, expiresAt: data.passExpiresAt });
    state.deadlines.add(entryId, data.passExpiresAt);
  }
}

function evolveQueueEntriesDropped(state: EventState, data: FactData['QueueEntriesDropped'], at: number): void {
  const room = roomOf(state);
  for (const entryId of data.entryIds) endEntry(room.entries, entryOf(room.entries, entryId), 'DROP', at);
  if (data.entryIds.length >= DROPS_PER_TURN_MAX) room.sweepNotBefore = at + SWEEP_PAUSE_MS;
}

function evolveQueuePassSpent(
  state: EventState,
  { entryId, withoutKey }: FactData['QueuePassSpent'],
  at: number,
): void {
  if (withoutKey === undefined) return endEntryOf(state, entryId, 'SPEND', at);
  const entry = entryOf(roomOf(state).entries, entryId);
  invariant(entry.status === 'ADMITTED' && entry.pass !== null, 'only a live pass is spent');
  entry.pass = { ...entry.pass, spentWithoutKey: true };
}

function endEntryOf(state: EventState, entryId: string, trigger: 'LEAVE' | 'EXPIRE' | 'SPEND', at: number): void {
  const { entries } = roomOf(state);
  endEntry(entries, entryOf(entries, entryId), trigger, at);
}
