/** Applies facts to a waiting room. */
import { follow } from '#machines/compile.ts';
import { waitingRoomTransitions } from '#machines/waiting-room.ts';
import { invariant, unreachable } from '../invariant.ts';
import { createQueuePositions, fillReserved, reserveSlots } from './queue-positions.ts';
import { addWaiting, admitEntry, endEntry, entryOf, findEntry } from './queue-entries.ts';
import { drawUnderWay, newWaitingRoom, noteAdmissions, OPENING, waitingRoomOf, type Draw } from './state.ts';
import { DROPS_PER_TURN_MAX } from './admission.ts';
import type { FactData, FactOf } from '../fact.ts';
import type { WaitingRoomState } from './state.ts';

/** The types of facts that concern the waiting room. */
type WaitingRoomFactType =
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

/** The pause after a turn that dropped as many stale entries as allowed, so that other turns run in between. */
const SWEEP_PAUSE_MS = 10;

type WaitingRoomFact = { [Type in WaitingRoomFactType]: FactOf<Type> }[WaitingRoomFactType];

/** Applies a fact of the waiting room that happened at a moment. */
export function evolveWaitingRoom(state: WaitingRoomState, happened: WaitingRoomFact, at: number): void {
  applyFact(state, happened, at);
  if (state.waitingRoom !== null) state.waitingRoom.factCount += 1;
}

function applyFact(state: WaitingRoomState, { type, data }: WaitingRoomFact, at: number): void {
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

function evolveWaitingRoomAdded(state: WaitingRoomState, data: FactData['WaitingRoomAdded']): void {
  const { opensAt, drawSeed, drawCommitment } = data;
  invariant(state.waitingRoom === null, 'an event has at most one waiting room');
  const committed = drawSeed === null ? null : { seed: drawSeed, commitment: drawCommitment! };
  const room = newWaitingRoom(opensAt, committed);
  state.waitingRoom = room;
  if (opensAt === null) room.status = follow(waitingRoomTransitions, room.status, 'OPEN_AT_ONCE');
  else state.deadlines.add(OPENING, opensAt);
}

function evolveWaitingRoomRescheduled(state: WaitingRoomState, data: FactData['WaitingRoomRescheduled']): void {
  const room = state.waitingRoom;
  invariant(room?.status === 'PRE_QUEUE', 'an opening is moved only before it is reached');
  room.opensAt = data.opensAt;
  state.deadlines.add(OPENING, data.opensAt);
}

function evolveWaitingRoomRemoved(state: WaitingRoomState): void {
  invariant(state.waitingRoom !== null, 'a waiting room that is removed exists');
  state.waitingRoom = null;
}

function evolveWaitingRoomPaused(state: WaitingRoomState): void {
  const room = waitingRoomOf(state);
  room.status = follow(waitingRoomTransitions, room.status, 'PAUSE');
}

function evolveWaitingRoomResumed(state: WaitingRoomState): void {
  const room = waitingRoomOf(state);
  room.status = follow(waitingRoomTransitions, room.status, 'RESUME');
}

// ── the draw ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Fixes everybody who waits as the pool of the draw, and reserves as many slots at the front of new positions. */
function evolveDrawStarted(state: WaitingRoomState, { entryCount, opening }: FactData['DrawStarted']): void {
  const room = waitingRoomOf(state);
  const { draw, entries } = room;
  room.status = follow(waitingRoomTransitions, room.status, 'START_DRAW');
  invariant(draw !== null && entries.positions.size === entryCount, 'everybody who waits takes part in the draw');
  draw.opening = opening ?? null;
  draw.pool = entries.positions;
  draw.entryCount = entryCount;
  entries.positions = createQueuePositions();
  reserveSlots(entries.positions, entryCount);
}

function evolveLineDrawn(state: WaitingRoomState, { from, entryIds }: FactData['LineDrawn']): void {
  const draw = drawUnderWay(state);
  invariant(draw !== null && draw.order.length === from, 'the pieces of a draw follow one another');
  for (const entryId of entryIds) placeDrawn(state, draw, entryId);
}

/** Gives the next reserved slot to an entry that was drawn, or leaves it empty when the entry has ended meanwhile. */
export function placeDrawn(state: WaitingRoomState, draw: Draw, entryId: string): void {
  const { entries } = waitingRoomOf(state);
  const entry = findEntry(entries, entryId);
  const slot = fillReserved(entries.positions, entry?.status === 'WAITING' ? entry : null);
  if (entry?.status === 'WAITING') entry.slot = slot;
  draw.order.push(entry?.id ?? entryId);
}

function evolveDrawFinished(state: WaitingRoomState, { entriesDigest }: FactData['DrawFinished'], at: number): void {
  const room = waitingRoomOf(state);
  const { draw } = room;
  invariant(
    draw !== null && draw.order.length === draw.entryCount,
    'a draw is finished when everybody in the pool is drawn',
  );
  room.status = follow(waitingRoomTransitions, room.status, 'FINISH_DRAW');
  draw.pool = null;
  draw.entriesDigest = entriesDigest;
  draw.drawnAt = at;
}

// ── the entries ──────────────────────────────────────────────────────────────────────────────────────────────────────

function evolveQueueEntryJoined(state: WaitingRoomState, data: FactData['QueueEntryJoined'], at: number): void {
  addWaiting(waitingRoomOf(state).entries, data.entryId, data.sessionKey, at);
}

function evolveQueueEntriesAdmitted(state: WaitingRoomState, data: FactData['QueueEntriesAdmitted'], at: number): void {
  const { entries, admissions, status } = waitingRoomOf(state);
  invariant(status === 'OPEN', 'people are admitted only while the room is open');
  noteAdmissions(admissions, at, data.entryIds.length);
  for (const entryId of data.entryIds) {
    admitEntry(entries, entryOf(entries, entryId), { admittedAt: at, expiresAt: data.passExpiresAt });
    state.deadlines.add(entryId, data.passExpiresAt);
  }
}

function evolveQueueEntriesDropped(state: WaitingRoomState, data: FactData['QueueEntriesDropped'], at: number): void {
  const room = waitingRoomOf(state);
  for (const entryId of data.entryIds) endEntry(room.entries, entryOf(room.entries, entryId), 'DROP', at);
  if (data.entryIds.length >= DROPS_PER_TURN_MAX) room.sweepNotBefore = at + SWEEP_PAUSE_MS;
}

function evolveQueuePassSpent(
  state: WaitingRoomState,
  { entryId, withoutKey }: FactData['QueuePassSpent'],
  at: number,
): void {
  if (withoutKey === undefined) return endEntryOf(state, entryId, 'SPEND', at);
  const entry = entryOf(waitingRoomOf(state).entries, entryId);
  invariant(entry.status === 'ADMITTED' && entry.pass !== null, 'only a live pass is spent');
  entry.pass = { ...entry.pass, spentWithoutKey: true };
}

function endEntryOf(state: WaitingRoomState, entryId: string, trigger: 'LEAVE' | 'EXPIRE' | 'SPEND', at: number): void {
  const { entries } = waitingRoomOf(state);
  endEntry(entries, entryOf(entries, entryId), trigger, at);
}
