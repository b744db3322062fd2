/**
 * The waiting room of an event: its doors, the draw of its line, and who is admitted when.
 *
 * Owns the doors, the draw and the admissions; entries and their indexes belong to `queue-entries.ts`, the fairness of an order to
 * `draw.ts`, coming and going of the room itself to `room-definition.ts`. Called by `box-office.ts`; `judgePass` by
 * whatever reserves tickets.
 *
 * 1. In no span of 60 s are more people admitted than the rate; with waiting_room_max_admitted never more passes live than that.
 * 2. People are admitted from the front. Nobody who is still there is overtaken; a ghost is dropped and uses up no admission.
 * 3. A ghost is a WAITING entry that was not seen for waiting_room_inactivity_seconds: from that millisecond on it reads EXPIRED.
 *    What was seen is soft state, brought by `touchEntry` before a command is decided; a poll that admits nobody has no facts.
 * 4. Drawn are those who wait when the doors open. The pool is frozen then, so that a draw taken up again finds the same people;
 *    whoever comes later stands behind all of them.
 * 5. The work of one turn is bounded (…_MAX); what is left is done by the turns that follow.
 */
import { waitingRoomLaw, type WaitingRoomStatus } from '#machines/waiting-room.ts';
import { admittedLately, noAdmissions, type RecentAdmissions } from './admissions.ts';
import type { Deadlines } from './deadlines.ts';
import { drawOrder, type Hashing } from './draw.ts';
import { fact, type Fact } from './fact.ts';
import { left } from './inventory.ts';
import { invariant } from './invariant.ts';
import { peopleFrom, rankOf, type Line } from './line.ts';
import { isOnSale, type Stock } from './performances.ts';
import {
  findEntry,
  findLiveEntry,
  lastSeen,
  noEntries,
  noteSeen,
  type QueueEntries,
  type QueueEntry,
} from './queue-entries.ts';
import { isRefusal, refuse, type Refusal } from './refusal.ts';
import type { Command, CommandOf } from './command.ts';
import type { EventDefinition } from './catalogue.ts';
import type { DrawView, QueueEntryView, WaitingRoomFigures } from './views.ts';

/** Under 4 ms of a turn and 185 KB of journal; a faster room admits the rest with the next poll. */
export const ADMISSIONS_PER_TURN_MAX = 5_000;

/** Under 1 ms of a turn; crowds that vanish at once are dropped in many turns. */
export const DROPS_PER_TURN_MAX = 1_000;

/** How long the sweep pauses after a turn that dropped as many as it may, so that others have their turns between. */
export const SWEEP_PAUSE_MS = 10;

/** Larger crowds are drawn off the thread; so many are drawn in the turn that opens the doors, in about 8 ms. */
export const DRAW_IN_TURN_MAX = 2_000;

/** Entries in one fact of a drawn line: 37 KB of journal. */
export const DRAWN_ENTRIES_PER_FACT_MAX = 1_000;

const MINUTE_MS = 60_000;

/** Names of what the room lets run out, beside the ids of its entries: the wait for the opening, patience with the silent. */
export const OPENING = 'room';
const SILENCE = 'line';

/** The draw of a room that has an opening time, from its seal to its proof. */
export interface Draw {
  readonly seed: string;
  readonly commitment: string;
  /** Everybody who takes part, in order of arrival; null but while the draw is under way (4). */
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

/** What the waiting room needs of the box office around it. */
export interface QueueOffice extends Stock {
  readonly eventId: string;
  waitingRoom: WaitingRoom | null;
  readonly deadlines: Deadlines;
}

/** A room whose doors were never open. */
export function makeRoom(opensAt: number | null, seal: { readonly seed: string; readonly commitment: string } | null) {
  const room: WaitingRoom = {
    status: waitingRoomLaw.initial,
    opensAt,
    draw: seal === null ? null : { ...seal, pool: null, entryCount: 0, order: [], entriesDigest: null, drawnAt: null },
    entries: noEntries(),
    admissions: noAdmissions(),
    factCount: 0,
    sweepNotBefore: 0,
  };
  return room;
}

// ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Judges the pass of a session that wants to reserve: null when it may. A session key of null stands for a request that may leave
 * it out. QUEUE_PASS_REQUIRED, QUEUE_PASS_INVALID; an event without a waiting room asks for no pass.
 */
export function judgePass(
  office: QueueOffice,
  sessionKey: string | null,
  queuePass: string | null,
  now: number,
): Refusal | null {
  if (office.waitingRoom === null) return null;
  if (queuePass === null) return refuse('QUEUE_PASS_REQUIRED', {});
  const entry = findEntry(office.waitingRoom.entries, queuePass);
  const holds = entry?.status === 'ADMITTED' && now < entry.pass!.expiresAt;
  const owns = sessionKey === null || entry?.sessionKey === sessionKey;
  return holds && owns ? null : refuse('QUEUE_PASS_INVALID', {});
}

/** An entry, for its owner: an unknown id and another session's key get the same QUEUE_ENTRY_NOT_FOUND. */
export function findOwnEntry(office: QueueOffice, entryId: string, sessionKey: string): QueueEntry | Refusal {
  const entry = office.waitingRoom === null ? undefined : findEntry(office.waitingRoom.entries, entryId);
  return entry?.sessionKey === sessionKey ? entry : refuse('QUEUE_ENTRY_NOT_FOUND', {});
}

/** An entry as its owner sees it: QUEUE_ENTRY_NOT_FOUND. */
export function viewOwnEntry(
  office: QueueOffice,
  entryId: string,
  sessionKey: string,
  now: number,
): QueueEntryView | Refusal {
  const entry = findOwnEntry(office, entryId, sessionKey);
  return isRefusal(entry) ? entry : viewEntry(office, entry, now);
}

/** The live entry of a session that has one. */
export function viewLiveEntry(office: QueueOffice, sessionKey: string, now: number): QueueEntryView {
  const entry = findLiveEntry(roomOf(office).entries, sessionKey);
  invariant(entry !== undefined, 'the session has a live queue entry');
  return viewEntry(office, entry, now);
}

/** Cost: a walk down the tree of the line. */
function viewEntry(office: QueueOffice, entry: QueueEntry, now: number): QueueEntryView {
  const room = roomOf(office);
  const { waitingRoomRate: rate, waitingRoomPauseWhenSoldOut: pauses } = office.plan.definition;
  const inLine = entry.status === 'WAITING' && areDoorsOpen(room);
  const position = inLine ? rankOf(room.entries.line, entry.slot) : null;
  return {
    id: entry.id,
    eventId: office.eventId,
    status: entry.status,
    position,
    waitingAhead: position === null ? 0 : position - 1,
    estimatedMinutes: estimatedMinutes(room, entry, position, rate, now),
    open: areDoorsOpen(room),
    opensAt: room.opensAt,
    admittedAt: entry.pass?.admittedAt ?? null,
    passExpiresAt: entry.pass?.expiresAt ?? null,
    rate,
    drawCommitment: room.draw?.commitment ?? null,
    soldOut: pauses ? entry.status === 'WAITING' && room.status === 'PAUSED' : null,
  };
}

function estimatedMinutes(
  room: WaitingRoom,
  entry: QueueEntry,
  position: number | null,
  rate: number,
  now: number,
): number {
  if (entry.status !== 'WAITING') return 0;
  if (position !== null) return Math.ceil(position / rate);
  return Math.max(0, Math.ceil((room.opensAt! - now) / MINUTE_MS));
}

/** Whether the doors are open. A room that pauses keeps them open and admits nobody. */
export function areDoorsOpen({ status }: WaitingRoom): boolean {
  return status === 'OPEN' || status === 'PAUSED';
}

/** What operators see of the room; null where there is none. */
export function waitingRoomFigures(office: QueueOffice, now: number): WaitingRoomFigures | null {
  if (office.waitingRoom === null) return null;
  const { status, opensAt, draw, entries, admissions } = office.waitingRoom;
  return {
    status,
    opensAt,
    waiting: entries.waitingCount,
    admitted: entries.passes.size,
    admittedLastMinute: admittedLately(admissions, now),
    joined: entries.joinedCount,
    drawCommitment: draw?.commitment ?? null,
  };
}

/** The draw that is under way and was begun by too many to be held in one turn; null when there is none. */
export function drawUnderWay(office: QueueOffice): Draw | null {
  return office.waitingRoom?.status === 'DRAWING' ? office.waitingRoom.draw : null;
}

/** A page of the proof of the room's draw; null where there is none. Cost: 0.5 µs an entry shown. */
export function viewDraw(
  office: QueueOffice,
  page: { readonly offset: number; readonly limit: number },
  hashing: Hashing,
): DrawView | null {
  const draw = office.waitingRoom?.draw ?? null;
  if (draw === null) return null;
  const { seed, commitment: drawCommitment, drawnAt, entryCount, entriesDigest, order } = draw;
  const { eventId } = office;
  if (drawnAt === null) {
    const nothing = { seed: null, drawnAt: null, count: 0, entriesDigest: null, entries: [] };
    return { eventId, status: 'pending', drawCommitment, ...nothing };
  }
  const entries = order.slice(page.offset, page.offset + page.limit).map((entryId) => hashing.sha256(entryId));
  return { eventId, status: 'drawn', drawCommitment, seed, drawnAt, count: entryCount, entriesDigest, entries };
}

/** The ids of everybody who takes part in a draw. The pool is frozen, so that it may be read in pieces (4). */
export function* poolIds({ pool }: Draw): Generator<string> {
  if (pool !== null) for (const { id } of peopleFrom(pool)) yield id;
}

/** Whether somebody who waits has been silent for too long (3). */
function isGhost(office: QueueOffice, room: WaitingRoom, entry: QueueEntry, now: number): boolean {
  return entry.status === 'WAITING' && ghostFrom(office, room, entry) <= now;
}

function ghostFrom(office: QueueOffice, room: WaitingRoom, entry: QueueEntry): number {
  return lastSeen(room.entries, entry) + Math.round(office.plan.definition.waitingRoomInactivitySeconds * 1000);
}

/** Whether a noted deadline of an entry or of the opening still stands. */
export function queueDeadlineStands(office: QueueOffice, subjectId: string, at: number): boolean {
  const room = office.waitingRoom;
  if (room === null) return false;
  if (subjectId === OPENING) return room.status === 'PRE_QUEUE' && room.opensAt === at;
  const entry = findEntry(room.entries, subjectId);
  return entry?.status === 'ADMITTED' && entry.pass!.expiresAt === at;
}

/** When the next of those who wait becomes a ghost. Moves with every poll, so it is asked for and not noted. */
export function silenceDeadline(office: QueueOffice): { readonly subjectId: string; readonly at: number } | null {
  const room = office.waitingRoom;
  if (room === null || room.entries.silent === null) return null;
  return { subjectId: SILENCE, at: Math.max(ghostFrom(office, room, room.entries.silent), room.sweepNotBefore) };
}

/** Whether a deadline concerns the room or one of its entries. */
export function isOfQueue(subjectId: string): boolean {
  return subjectId === OPENING || subjectId === SILENCE || subjectId.startsWith('que_');
}

/** The room of an event that is known to have one. */
export function roomOf(office: QueueOffice): WaitingRoom {
  invariant(office.waitingRoom !== null, 'the event has a waiting room');
  return office.waitingRoom;
}

// ── soft state ───────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Notes that whoever polls or joins again is still there, unless it is too late. Soft state: the actor calls it before it has the
 * command decided, at the moment of the turn, and nothing of it is kept (3). Constant time.
 */
export function touchEntry(office: QueueOffice, command: Command, now: number): void {
  const room = office.waitingRoom;
  if (room === null || (command.type !== 'PollQueue' && command.type !== 'JoinQueue')) return;
  const { entries } = room;
  const entry =
    command.type === 'PollQueue' ? findEntry(entries, command.entryId) : findLiveEntry(entries, command.sessionKey);
  if (entry?.status !== 'WAITING' || entry.sessionKey !== command.sessionKey) return;
  if (!isGhost(office, room, entry, now)) noteSeen(entries, entry, now);
}

/** Counts everybody who waits as just seen: what was soft is lost when an event comes alive again. Constant time. */
export function presumeEverybodySeen(office: QueueOffice, now: number): void {
  if (office.waitingRoom !== null) office.waitingRoom.entries.presumedSeenAt = now;
}

// ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Gives a session a place, unless it has one, and moves the line. QUEUE_NOT_ENABLED. */
export function decideJoinQueue(
  office: QueueOffice,
  { sessionKey }: CommandOf<'JoinQueue'>,
  entryId: string,
  now: number,
): readonly Fact[] | Refusal {
  const room = office.waitingRoom;
  if (room === null) return refuse('QUEUE_NOT_ENABLED', {});
  const live = findLiveEntry(room.entries, sessionKey) ?? null;
  const isBack = live !== null && !isGhost(office, room, live, now);
  if (isBack) return moveLine(office, room, now, null, null);
  const dropped = live === null ? [] : [fact('QueueEntriesDropped', { entryIds: [live.id] })];
  const joined = fact('QueueEntryJoined', { entryId, sessionKey });
  return [...dropped, joined, ...moveLine(office, room, now, live, entryId)];
}

/** Moves the line for whoever is in front; the one who asks is dropped first when it is a ghost. QUEUE_ENTRY_NOT_FOUND. */
export function decidePollQueue(
  office: QueueOffice,
  { entryId, sessionKey }: CommandOf<'PollQueue'>,
  now: number,
): readonly Fact[] | Refusal {
  const entry = findOwnEntry(office, entryId, sessionKey);
  if (isRefusal(entry)) return entry;
  const room = roomOf(office);
  if (!isGhost(office, room, entry, now)) return moveLine(office, room, now, null, null);
  return [fact('QueueEntriesDropped', { entryIds: [entryId] }), ...moveLine(office, room, now, entry, null)];
}

/** Lets a session go; an entry that is over stays as it is. QUEUE_ENTRY_NOT_FOUND. */
export function decideLeaveQueue(
  office: QueueOffice,
  { entryId, sessionKey }: CommandOf<'LeaveQueue'>,
  now: number,
): readonly Fact[] | Refusal {
  const entry = findOwnEntry(office, entryId, sessionKey);
  if (isRefusal(entry)) return entry;
  if (entry.status !== 'WAITING' && entry.status !== 'ADMITTED') return [];
  if (isGhost(office, roomOf(office), entry, now)) return [fact('QueueEntriesDropped', { entryIds: [entryId] })];
  return [fact('QueueEntryLeft', { entryId })];
}

/** Ends the pass of a session whose order is placed, on an event that limits how many passes live at once. */
export function decideSpendPass(
  office: QueueOffice,
  sessionKey: string | null,
  queuePass: string | null,
): readonly Fact[] {
  const room = office.waitingRoom;
  if (room === null || office.plan.definition.waitingRoomMaxAdmitted === null) return [];
  const entry =
    sessionKey === null ? findEntry(room.entries, queuePass ?? '') : findLiveEntry(room.entries, sessionKey);
  return entry?.status === 'ADMITTED' ? [fact('QueuePassSpent', { entryId: entry.id })] : [];
}

/** Settles what ran out in the room: a pass, the wait for the opening, or the patience with those who are silent. */
export function decideQueueDeadline(
  office: QueueOffice,
  subjectId: string,
  now: number,
  hashing: Hashing,
): readonly Fact[] {
  const room = office.waitingRoom;
  if (room === null) return [];
  if (subjectId === OPENING) return openDoors(room, now, hashing);
  if (subjectId === SILENCE) return dropGhosts(office, room, now);
  const entry = findEntry(room.entries, subjectId);
  const isOver = entry?.status === 'ADMITTED' && entry.pass!.expiresAt <= now;
  return isOver ? [fact('QueuePassExpired', { entryId: subjectId })] : [];
}

/** Takes over the next piece of an order that was drawn off the thread; nothing when it was taken over before. */
export function decideRecordDraw(office: QueueOffice, command: CommandOf<'RecordDraw'>): readonly Fact[] {
  const draw = drawUnderWay(office);
  const { from, entryIds, entriesDigest } = command;
  if (draw === null || draw.order.length !== from || entryIds.length === 0) return [];
  const drawn = fact('LineDrawn', { from, entryIds });
  return from + entryIds.length < draw.entryCount ? [drawn] : [drawn, fact('DrawFinished', { entriesDigest })];
}

/** The opening is reached: the draw begins and, where few take part, is held at once. */
function openDoors(room: WaitingRoom, now: number, hashing: Hashing): readonly Fact[] {
  const { status, opensAt, draw, entries } = room;
  if (status !== 'PRE_QUEUE' || opensAt === null || opensAt > now) return [];
  const entryCount = entries.line.size;
  const started = fact('DrawStarted', { entryCount });
  if (entryCount > DRAW_IN_TURN_MAX) return [started];
  const ids = Array.from(peopleFrom(entries.line), ({ id }) => id);
  const { entryIds, entriesDigest } = drawOrder(draw!.seed, ids, hashing);
  const facts = [started];
  for (let from = 0; from < entryCount; from += DRAWN_ENTRIES_PER_FACT_MAX) {
    facts.push(fact('LineDrawn', { from, entryIds: entryIds.slice(from, from + DRAWN_ENTRIES_PER_FACT_MAX) }));
  }
  return [...facts, fact('DrawFinished', { entriesDigest })];
}

/** Drops those who were silent for too long, the longest first. */
function dropGhosts(office: QueueOffice, room: WaitingRoom, now: number): readonly Fact[] {
  const entryIds: string[] = [];
  let entry = room.entries.silent;
  while (entry !== null && entryIds.length < DROPS_PER_TURN_MAX && isGhost(office, room, entry, now)) {
    entryIds.push(entry.id);
    entry = entry.seenAfter;
  }
  return entryIds.length === 0 ? [] : [fact('QueueEntriesDropped', { entryIds })];
}

/**
 * Pauses or resumes the room as the stock has it, and admits from the front as many as may be. `gone` is dropped in this turn
 * already; a `joinerId` stands behind everybody.
 */
function moveLine(
  office: QueueOffice,
  room: WaitingRoom,
  now: number,
  gone: QueueEntry | null,
  joinerId: string | null,
): readonly Fact[] {
  if (!areDoorsOpen(room)) return [];
  const { definition } = office.plan;
  const isSoldOut = definition.waitingRoomPauseWhenSoldOut && !isAnythingLeft(office, now);
  if (isSoldOut) return room.status === 'PAUSED' ? [] : [fact('WaitingRoomPaused', {})];
  const resumed = room.status === 'PAUSED' ? [fact('WaitingRoomResumed', {})] : [];
  const places = admissionsLeft(room, definition, now);
  if (places <= 0) return resumed;
  const { admitted, dropped } = callUp(office, room, now, gone, places, joinerId);
  const facts: Fact[] = resumed;
  if (dropped.length > 0) facts.push(fact('QueueEntriesDropped', { entryIds: dropped }));
  if (admitted.length > 0) {
    const passExpiresAt = now + Math.round(definition.waitingRoomMinutes * MINUTE_MS);
    facts.push(fact('QueueEntriesAdmitted', { entryIds: admitted, passExpiresAt }));
  }
  return facts;
}

/** Goes through the line from the front: who is there is admitted, ghosts are dropped, until the places or the work run out. */
function callUp(
  office: QueueOffice,
  room: WaitingRoom,
  now: number,
  gone: QueueEntry | null,
  places: number,
  joinerId: string | null,
): { readonly admitted: readonly string[]; readonly dropped: readonly string[] } {
  const admitted: string[] = [];
  const dropped: string[] = [];
  for (const entry of peopleFrom(room.entries.line)) {
    if (admitted.length === places || dropped.length === DROPS_PER_TURN_MAX) return { admitted, dropped };
    if (entry === gone) continue;
    (isGhost(office, room, entry, now) ? dropped : admitted).push(entry.id);
  }
  if (joinerId !== null && admitted.length < places) admitted.push(joinerId);
  return { admitted, dropped };
}

/** How many may be admitted at this moment (1). */
function admissionsLeft({ admissions, entries }: WaitingRoom, definition: EventDefinition, now: number): number {
  const { waitingRoomRate, waitingRoomMaxAdmitted } = definition;
  const inSpan = waitingRoomRate - admittedLately(admissions, now);
  const atOnce = waitingRoomMaxAdmitted === null ? inSpan : waitingRoomMaxAdmitted - entries.passes.size;
  return Math.min(inSpan, atOnce, ADMISSIONS_PER_TURN_MAX);
}

/** Whether a unit of anything could be bought now, or when its stage begins. */
function isAnythingLeft({ plan, dates }: Stock, now: number): boolean {
  const rows = plan.rows.filter(({ sellingStage: { definition } }) => (definition.endsAt ?? Infinity) > now);
  return plan.performances.some((performance) => {
    const date = dates.get(performance.id);
    if (date === undefined || !isOnSale(date, performance, now)) return false;
    return rows.some((row) => left(date.inventory, row) >= row.ticketType.groupSize);
  });
}
