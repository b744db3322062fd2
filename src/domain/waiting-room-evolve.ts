/**
 * What facts make of a waiting room.
 *
 * The facts themselves are decided in `waiting-room.ts` and, as to the room as a whole, in `room-definition.ts`. Called by
 * `box-office.ts`, in a turn as in a replay; a fact that cannot follow on what was before is a defect.
 */
import { follow } from '#machines/compile.ts';
import { waitingRoomLaw } from '#machines/waiting-room.ts';
import { noteAdmissions } from './admissions.ts';
import { noteDeadline } from './deadlines.ts';
import { invariant, unreachable } from './invariant.ts';
import { createLine, fillReserved, reserveSlots } from './line.ts';
import { addWaiting, admitEntry, endEntry, entryOf, findEntry } from './queue-entries.ts';
import { drawUnderWay } from './drawing.ts';
import { makeRoom, OPENING, roomOf, type Draw, type QueueOffice } from './room.ts';
import { DROPS_PER_TURN_MAX, SWEEP_PAUSE_MS } from './waiting-room.ts';
import type { FactData, FactOf } from './fact.ts';

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
export function evolveWaitingRoom(office: QueueOffice, happened: QueueFact, at: number): void {
  applyFact(office, happened, at);
  if (office.waitingRoom !== null) office.waitingRoom.factCount += 1;
}

function applyFact(office: QueueOffice, { type, data }: QueueFact, at: number): void {
  switch (type) {
    case 'WaitingRoomAdded':
      return evolveWaitingRoomAdded(office, data);
    case 'WaitingRoomRescheduled':
      return evolveWaitingRoomRescheduled(office, data);
    case 'WaitingRoomRemoved':
      return evolveWaitingRoomRemoved(office);
    case 'WaitingRoomPaused':
      return evolveWaitingRoomPaused(office);
    case 'WaitingRoomResumed':
      return evolveWaitingRoomResumed(office);
    case 'DrawStarted':
      return evolveDrawStarted(office, data);
    case 'LineDrawn':
      return evolveLineDrawn(office, data);
    case 'DrawFinished':
      return evolveDrawFinished(office, data, at);
    case 'QueueEntryJoined':
      return evolveQueueEntryJoined(office, data, at);
    case 'QueueEntriesAdmitted':
      return evolveQueueEntriesAdmitted(office, data, at);
    case 'QueueEntriesDropped':
      return evolveQueueEntriesDropped(office, data, at);
    case 'QueueEntryLeft':
      return endEntryOf(office, data.entryId, 'LEAVE', at);
    case 'QueuePassExpired':
      return endEntryOf(office, data.entryId, 'EXPIRE', at);
    case 'QueuePassSpent':
      return evolveQueuePassSpent(office, data, at);
    default:
      return unreachable(type);
  }
}

// ── the room ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function evolveWaitingRoomAdded(office: QueueOffice, data: FactData['WaitingRoomAdded']): void {
  const { opensAt, drawSeed, drawCommitment } = data;
  invariant(office.waitingRoom === null, 'an event has one waiting room');
  const seal = drawSeed === null ? null : { seed: drawSeed, commitment: drawCommitment! };
  const room = makeRoom(opensAt, seal);
  office.waitingRoom = room;
  if (opensAt === null) room.status = follow(waitingRoomLaw, room.status, 'OPEN_AT_ONCE');
  else noteDeadline(office.deadlines, OPENING, opensAt);
}

function evolveWaitingRoomRescheduled(office: QueueOffice, data: FactData['WaitingRoomRescheduled']): void {
  const room = office.waitingRoom;
  invariant(room?.status === 'PRE_QUEUE', 'only an opening that is still to come is moved');
  room.opensAt = data.opensAt;
  noteDeadline(office.deadlines, OPENING, data.opensAt);
}

function evolveWaitingRoomRemoved(office: QueueOffice): void {
  invariant(office.waitingRoom !== null, 'a room that is removed was there');
  office.waitingRoom = null;
}

function evolveWaitingRoomPaused(office: QueueOffice): void {
  const room = roomOf(office);
  room.status = follow(waitingRoomLaw, room.status, 'PAUSE');
}

function evolveWaitingRoomResumed(office: QueueOffice): void {
  const room = roomOf(office);
  room.status = follow(waitingRoomLaw, room.status, 'RESUME');
}

// ── the draw ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Freezes everybody who waits as the pool of the draw, and sets their places aside at the front of a new line. */
function evolveDrawStarted(office: QueueOffice, { entryCount, opening }: FactData['DrawStarted']): void {
  const room = roomOf(office);
  const { draw, entries } = room;
  room.status = follow(waitingRoomLaw, room.status, 'START_DRAW');
  invariant(draw !== null && entries.line.size === entryCount, 'everybody who waits takes part in the draw');
  draw.opening = opening ?? null;
  draw.pool = entries.line;
  draw.entryCount = entryCount;
  entries.line = createLine();
  reserveSlots(entries.line, entryCount);
}

function evolveLineDrawn(office: QueueOffice, { from, entryIds }: FactData['LineDrawn']): void {
  const draw = drawUnderWay(office);
  invariant(draw !== null && draw.order.length === from, 'the pieces of a drawn line follow one another');
  for (const entryId of entryIds) placeDrawn(office, draw, entryId);
}

/** Gives the next place of the drawn line to an entry, or passes over it when it ended meanwhile. */
export function placeDrawn(office: QueueOffice, draw: Draw, entryId: string): void {
  const { entries } = roomOf(office);
  const entry = findEntry(entries, entryId);
  const slot = fillReserved(entries.line, entry?.status === 'WAITING' ? entry : null);
  if (entry?.status === 'WAITING') entry.slot = slot;
  draw.order.push(entry?.id ?? entryId);
}

function evolveDrawFinished(office: QueueOffice, { entriesDigest }: FactData['DrawFinished'], at: number): void {
  const room = roomOf(office);
  const { draw } = room;
  invariant(draw !== null && draw.order.length === draw.entryCount, 'everybody in the pool is drawn');
  room.status = follow(waitingRoomLaw, room.status, 'FINISH_DRAW');
  draw.pool = null;
  draw.entriesDigest = entriesDigest;
  draw.drawnAt = at;
}

// ── the entries ──────────────────────────────────────────────────────────────────────────────────────────────────────

function evolveQueueEntryJoined(office: QueueOffice, data: FactData['QueueEntryJoined'], at: number): void {
  addWaiting(roomOf(office).entries, data.entryId, data.sessionKey, at);
}

function evolveQueueEntriesAdmitted(office: QueueOffice, data: FactData['QueueEntriesAdmitted'], at: number): void {
  const { entries, admissions, status } = roomOf(office);
  invariant(status === 'OPEN', 'people are admitted through open doors');
  noteAdmissions(admissions, at, data.entryIds.length);
  for (const entryId of data.entryIds) {
    admitEntry(entries, entryOf(entries, entryId), { admittedAt: at, expiresAt: data.passExpiresAt });
    noteDeadline(office.deadlines, entryId, data.passExpiresAt);
  }
}

function evolveQueueEntriesDropped(office: QueueOffice, data: FactData['QueueEntriesDropped'], at: number): void {
  const room = roomOf(office);
  for (const entryId of data.entryIds) endEntry(room.entries, entryOf(room.entries, entryId), 'DROP', at);
  if (data.entryIds.length >= DROPS_PER_TURN_MAX) room.sweepNotBefore = at + SWEEP_PAUSE_MS;
}

function evolveQueuePassSpent(
  office: QueueOffice,
  { entryId, withoutKey }: FactData['QueuePassSpent'],
  at: number,
): void {
  if (withoutKey === undefined) return endEntryOf(office, entryId, 'SPEND', at);
  const entry = entryOf(roomOf(office).entries, entryId);
  invariant(entry.status === 'ADMITTED' && entry.pass !== null, 'only a live pass is spent');
  entry.pass = { ...entry.pass, spentWithoutKey: true };
}

function endEntryOf(office: QueueOffice, entryId: string, trigger: 'LEAVE' | 'EXPIRE' | 'SPEND', at: number): void {
  const { entries } = roomOf(office);
  endEntry(entries, entryOf(entries, entryId), trigger, at);
}
