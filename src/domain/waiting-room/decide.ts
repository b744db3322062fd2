/**
 * The waiting room of an event: who has a place in line, who is admitted when, and whose pass is good.
 *
 * Owns joining, polling and leaving, admissions and passes. The room as a value is in `room.ts`, its entries and their indexes in
 * `queue-entries.ts`, its draw in `drawing.ts`. Called by `box-office.ts`.
 *
 * 1. In no span of 60 s are more people admitted than the rate; with waiting_room_max_admitted never more passes live than that.
 * 2. People are admitted from the front. Nobody who is still there is overtaken; a ghost is dropped and uses up no admission.
 * 3. A ghost is a WAITING entry that was not seen for waiting_room_inactivity_seconds: from that millisecond on it reads EXPIRED.
 *    What was seen is soft state, changed by `noteEntrySeen` after a command is decided; a poll that admits nobody has no facts.
 * 4. The work of one turn is bounded (…_MAX); what is left is done by the turns that follow.
 */
import { admittedLately } from './admissions.ts';
import { decideOpening } from './draw-decisions.ts';
import { fact, type Fact } from '../fact.ts';
import { peopleFrom, rankOf } from './queue-positions.ts';
import { findEndedEntry, findEntry, findLiveEntry, lastSeen, noteSeen, type QueueEntry } from './queue-entries.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { isRoomOpen, OPENING, roomOf, type WaitingRoom } from './room.ts';
import type { Command, CommandOf } from '../command.ts';
import type { EventDefinition } from '../catalogue/definition.ts';
import type { RoomTurn } from './room-definition.ts';
import type { QueueEntryView, WaitingRoomFigures } from '../views.ts';
import { isPublished, type EventState } from '../event-state.ts';
import type { TurnIds } from '../ids.ts';
import type { Decision, NamedReply } from '../decision.ts';
import { isOnSale } from '../inventory/performance.ts';

/** Some 600 MB; who would be the next is asked to come back later. */
export const WAITING_ENTRIES_MAX = 2_000_000;

/** Under 4 ms of a turn and 185 KB of journal; a faster room admits the rest with the next poll. */
export const ADMISSIONS_PER_TURN_MAX = 5_000;

/** Under 1 ms of a turn; crowds that vanish at once are dropped in many turns. */
export const DROPS_PER_TURN_MAX = 1_000;

/** How long the sweep pauses after a turn that dropped as many as it may, so that others have their turns between. */
export const SWEEP_PAUSE_MS = 10;

/** The name under which patience with the silent runs out. */
const SILENCE = 'line';

const MINUTE_MS = 60_000;

// ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Judges the pass of a session that wants to reserve: null when it may. A session key of null stands for a request that may leave
 * it out: for such requests a pass is good for one order. QUEUE_PASS_REQUIRED, QUEUE_PASS_INVALID; an event without a waiting
 * room asks for no pass.
 */
export function checkPass(
  state: EventState,
  sessionKey: string | null,
  queuePass: string | null,
  now: number,
): Refusal | null {
  if (state.waitingRoom === null) return null;
  if (queuePass === null) return refuse('QUEUE_PASS_REQUIRED', {});
  const entry = findEntry(state.waitingRoom.entries, queuePass);
  const holds = entry?.status === 'ADMITTED' && now < entry.pass!.expiresAt;
  const owns = sessionKey === null ? entry?.pass?.spentWithoutKey !== true : entry?.sessionKey === sessionKey;
  return holds && owns ? null : refuse('QUEUE_PASS_INVALID', {});
}

/** An entry, for its owner: an unknown id and another session's key get the same QUEUE_ENTRY_NOT_FOUND. */
export function findOwnEntry(state: EventState, entryId: string, sessionKey: string): QueueEntry | Refusal {
  if (state.waitingRoom === null) return refuse('QUEUE_ENTRY_NOT_FOUND', {});
  const { entries } = state.waitingRoom;
  const entry = findEntry(entries, entryId) ?? findEndedEntry(entries, entryId, sessionKey);
  return entry?.sessionKey === sessionKey ? entry : refuse('QUEUE_ENTRY_NOT_FOUND', {});
}

/** An entry as its owner sees it: QUEUE_ENTRY_NOT_FOUND. */
export function viewOwnEntry(
  state: EventState,
  entryId: string,
  sessionKey: string,
  now: number,
): QueueEntryView | Refusal {
  const entry = findOwnEntry(state, entryId, sessionKey);
  return isRefusal(entry) ? entry : viewEntry(state, entry, now);
}

/** Cost: a walk down the tree of the line. */
function viewEntry(state: EventState, entry: QueueEntry, now: number): QueueEntryView {
  const room = roomOf(state);
  const { waitingRoomRate: rate, waitingRoomPauseWhenSoldOut: pauses } = state.plan.definition;
  const inLine = entry.status === 'WAITING' && isRoomOpen(room);
  const position = inLine ? rankOf(room.entries.line, entry.slot) : null;
  return {
    id: entry.id,
    eventId: state.eventId,
    status: entry.status,
    position,
    waitingAhead: position === null ? 0 : position - 1,
    estimatedMinutes: estimatedMinutes(room, entry, position, rate, now),
    open: isRoomOpen(room),
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

/** Whether the room has no place for this session, which has none yet. */
export function isRoomFull(state: EventState, sessionKey: string, entriesMax = WAITING_ENTRIES_MAX): boolean {
  if (state.waitingRoom === null) return false;
  const { entries } = state.waitingRoom;
  return entries.waitingCount >= entriesMax && findLiveEntry(entries, sessionKey) === undefined;
}

/** What operators see of the room; null where there is none. */
export function waitingRoomFigures(state: EventState, now: number): WaitingRoomFigures | null {
  if (state.waitingRoom === null) return null;
  const { status, opensAt, draw, entries, admissions } = state.waitingRoom;
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

/** Whether somebody who waits has been silent for too long (3). */
function isStale(state: EventState, room: WaitingRoom, entry: QueueEntry, now: number): boolean {
  return entry.status === 'WAITING' && ghostFrom(state, room, entry) <= now;
}

function ghostFrom(state: EventState, room: WaitingRoom, entry: QueueEntry): number {
  return lastSeen(room.entries, entry) + Math.round(state.plan.definition.waitingRoomInactivitySeconds * 1000);
}

/** Whether a noted deadline of an entry or of the opening still stands. */
export function queueDeadlineStands(state: EventState, subjectId: string, at: number): boolean {
  const room = state.waitingRoom;
  if (room === null) return false;
  if (subjectId === OPENING) return room.status === 'PRE_QUEUE' && room.opensAt === at;
  const entry = findEntry(room.entries, subjectId);
  return entry?.status === 'ADMITTED' && entry.pass!.expiresAt === at;
}

/** When the next of those who wait becomes a ghost. Moves with every poll, so it is asked for and not noted. */
export function silenceDeadline(state: EventState): { readonly subjectId: string; readonly at: number } | null {
  const room = state.waitingRoom;
  if (room === null || room.entries.silent === null) return null;
  return { subjectId: SILENCE, at: Math.max(ghostFrom(state, room, room.entries.silent), room.sweepNotBefore) };
}

/** Whether a deadline concerns the room or one of its entries. */
export function isOfQueue(subjectId: string): boolean {
  return subjectId === OPENING || subjectId === SILENCE || subjectId.startsWith('que_');
}

// ── soft state ───────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Notes that whoever polls or joins again is still there, unless it is too late. Soft state: the actor calls it after the command is
 * decided, at the moment of the turn, and nothing of it is kept (3). Constant time.
 */
export function noteEntrySeen(state: EventState, command: Command, now: number): void {
  const room = state.waitingRoom;
  if (room === null || (command.type !== 'PollQueue' && command.type !== 'JoinQueue')) return;
  const { entries } = room;
  const entry =
    command.type === 'PollQueue' ? findEntry(entries, command.entryId) : findLiveEntry(entries, command.sessionKey);
  if (entry?.status !== 'WAITING' || entry.sessionKey !== command.sessionKey) return;
  if (!isStale(state, room, entry, now)) noteSeen(entries, entry, now);
}

/** Counts everybody who waits as just seen: what was soft is lost when an event comes alive again. Constant time. */
export function markEverybodySeen(state: EventState, now: number): void {
  if (state.waitingRoom !== null) state.waitingRoom.entries.presumedSeenAt = now;
}

// ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What joining needs of a turn. */
interface JoinTurn extends TurnIds {
  readonly now: number;
}

/** Gives a session a place, unless it has one, and admits whoever may be. EVENT_NOT_FOUND, QUEUE_NOT_ENABLED. */
export function decideJoinQueue(
  state: EventState,
  { sessionKey }: CommandOf<'JoinQueue'>,
  turn: JoinTurn,
): Decision | Refusal {
  if (!isPublished(state)) return refuse('EVENT_NOT_FOUND', {});
  const newEntryId = turn.newId('que');
  const { now } = turn;
  const room = state.waitingRoom;
  if (room === null) return refuse('QUEUE_NOT_ENABLED', {});
  const live = findLiveEntry(room.entries, sessionKey) ?? null;
  if (live !== null && !isStale(state, room, live, now)) {
    return { facts: moveLine(state, room, now, null, null), reply: entryReply(live.id, sessionKey) };
  }
  const dropped = live === null ? [] : [fact('QueueEntriesDropped', { entryIds: [live.id] })];
  const joined = fact('QueueEntryJoined', { entryId: newEntryId, sessionKey });
  const facts = [...dropped, joined, ...moveLine(state, room, now, live, newEntryId)];
  return { facts, reply: entryReply(newEntryId, sessionKey, true) };
}

function entryReply(entryId: string, sessionKey: string, joined = false): NamedReply {
  return { shows: 'ENTRY', entryId, sessionKey, joined };
}

/** Moves the line for whoever is in front; the one who asks is dropped first when it is a ghost. QUEUE_ENTRY_NOT_FOUND. */
export function decidePollQueue(
  state: EventState,
  { entryId, sessionKey }: CommandOf<'PollQueue'>,
  now: number,
): Decision | Refusal {
  const entry = findOwnEntry(state, entryId, sessionKey);
  if (isRefusal(entry)) return entry;
  const room = roomOf(state);
  const reply = entryReply(entryId, sessionKey);
  if (!isStale(state, room, entry, now)) return { facts: moveLine(state, room, now, null, null), reply };
  const dropped = fact('QueueEntriesDropped', { entryIds: [entryId] });
  return { facts: [dropped, ...moveLine(state, room, now, entry, null)], reply };
}

/** Lets a session go; an entry that is over stays as it is. QUEUE_ENTRY_NOT_FOUND. */
export function decideLeaveQueue(
  state: EventState,
  { entryId, sessionKey }: CommandOf<'LeaveQueue'>,
  now: number,
): Decision | Refusal {
  const entry = findOwnEntry(state, entryId, sessionKey);
  if (isRefusal(entry)) return entry;
  const reply = entryReply(entryId, sessionKey);
  if (entry.status !== 'WAITING' && entry.status !== 'ADMITTED') return { facts: [], reply };
  const hasGone = isStale(state, roomOf(state), entry, now);
  const left = hasGone ? fact('QueueEntriesDropped', { entryIds: [entryId] }) : fact('QueueEntryLeft', { entryId });
  return { facts: [left], reply };
}

/**
 * What the placing of an order makes of its pass. On an event that limits how many passes live at once it ends. Elsewhere it
 * goes on, but not for a request without a session key: whoever overhears a pass places one order with it, not many.
 */
export function decideSpendPass(
  state: EventState,
  sessionKey: string | null,
  queuePass: string | null,
): readonly Fact[] {
  const room = state.waitingRoom;
  if (room === null) return [];
  const entry =
    sessionKey === null ? findEntry(room.entries, queuePass ?? '') : findLiveEntry(room.entries, sessionKey);
  if (entry?.status !== 'ADMITTED') return [];
  if (state.plan.definition.waitingRoomMaxAdmitted !== null) return [fact('QueuePassSpent', { entryId: entry.id })];
  return sessionKey === null ? [fact('QueuePassSpent', { entryId: entry.id, withoutKey: true })] : [];
}

/** Settles what ran out in the room: a pass, the wait for the opening, or the patience with those who are silent. */
export function decideQueueDeadline(state: EventState, subjectId: string, turn: RoomTurn): readonly Fact[] {
  const { now } = turn;
  const room = state.waitingRoom;
  if (room === null) return [];
  if (subjectId === OPENING) return decideOpening(room, turn);
  if (subjectId === SILENCE) return dropStaleEntries(state, room, now);
  const entry = findEntry(room.entries, subjectId);
  const isOver = entry?.status === 'ADMITTED' && entry.pass!.expiresAt <= now;
  return isOver ? [fact('QueuePassExpired', { entryId: subjectId })] : [];
}

/** Drops those who were silent for too long, the longest first. */
function dropStaleEntries(state: EventState, room: WaitingRoom, now: number): readonly Fact[] {
  const entryIds: string[] = [];
  let entry = room.entries.silent;
  while (entry !== null && entryIds.length < DROPS_PER_TURN_MAX && isStale(state, room, entry, now)) {
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
  state: EventState,
  room: WaitingRoom,
  now: number,
  gone: QueueEntry | null,
  joinerId: string | null,
): readonly Fact[] {
  if (!isRoomOpen(room)) return [];
  const { definition } = state.plan;
  const isSoldOut = definition.waitingRoomPauseWhenSoldOut && !isAnythingLeft(state, now);
  if (isSoldOut) return room.status === 'PAUSED' ? [] : [fact('WaitingRoomPaused', {})];
  const resumed = room.status === 'PAUSED' ? [fact('WaitingRoomResumed', {})] : [];
  const places = admissionsLeft(room, definition, now);
  if (places <= 0) return resumed;
  const { admitted, dropped } = callUp(state, room, now, gone, places, joinerId);
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
  state: EventState,
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
    (isStale(state, room, entry, now) ? dropped : admitted).push(entry.id);
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
function isAnythingLeft({ plan, performances }: EventState, now: number): boolean {
  const rows = plan.rows.filter(({ sellingStage: { definition } }) => (definition.endsAt ?? Infinity) > now);
  return plan.performances.some((performance) => {
    const performanceState = performances.get(performance.id);
    if (performanceState === undefined || !isOnSale(performanceState, performance, now)) return false;
    return rows.some((row) => performanceState.inventory.left(row) >= row.ticketType.groupSize);
  });
}
