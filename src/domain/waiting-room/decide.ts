/**
 * The waiting room of an event: joining, polling and leaving, passes, the draw, and the effect of a new definition.
 * `admission.ts` decides who is admitted, `last-seen.ts` who is stale.
 *
 * 1. Those who wait when the room opens take part in the draw. The pool does not change from then on, so that a draw
 *    that is taken up again finds the same people.
 * 2. The opening is made in the same turn that fixes the pool and is recorded with it: nobody who sees it can still
 *    join or leave the draw, and a draw that is taken up again has the same one.
 * 3. A piece of a draw is recorded once, and in order, however often it comes.
 * 4. A room with an opening time gets the seed of its draw in the turn that makes it. The seed never changes while
 *    anybody is in it.
 * 5. Before the room opens its opening may be moved. Without an opening time it opens at once, and the draw is held.
 * 6. An open room does not close: a later opening is refused, unless nobody ever joined; then the room is made anew.
 * 7. An event that loses its waiting room loses all entries, and asks for no pass.
 */
import { valuesReply, type Decision, type ReplyReference } from '../decision.ts';
import { fact, type Fact } from '../fact.ts';
import { isPublished } from '../catalogue/state.ts';
import type { WaitingRoomState } from './state.ts';
import { isRefusal, refuse, type Problem, type Refusal } from '../refusal.ts';
import { refuseWhilePaused } from '../steering.ts';
import { admitNext, staleEntryIds } from './admission.ts';
import { commitmentOf, drawOrder, type Hashing } from './draw.ts';
import { isStale, staleFrom } from './last-seen.ts';
import { findEntry, findLiveEntry } from './queue-entries.ts';
import { peopleFrom } from './queue-positions.ts';
import { drawUnderWay, findOwnEntry, OPENING, waitingRoomOf, type WaitingRoom } from './state.ts';
import type { EventDefinition } from '../catalogue/definition.ts';
import type { CommandOf } from '../command.ts';
import type { TurnIds } from '../ids.ts';

/** More are drawn off the thread; so many are drawn in the turn that opens the room, in about 8 ms. */
export const DRAW_IN_TURN_MAX = 2_000;

/** Entries in one fact of a drawn order: 37 KB of journal. */
export const DRAWN_ENTRIES_PER_FACT_MAX = 1_000;

/** The subject of the deadline at which the least recently seen entry becomes stale. */
const STALE_ENTRY = 'line';

/** What a turn brings that decides about a room. */
export interface RoomTurn {
  readonly now: number;
  readonly hashing: Hashing;
  /** 32 random bytes in hex, made at this call: the seed or the opening of a draw. */
  newSeed(): string;
}

/** What joining needs of a turn. */
interface JoinTurn extends TurnIds {
  readonly now: number;
}

// ── entries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Gives a session an entry, unless it has one, and admits as many as allowed. EVENT_NOT_FOUND, QUEUE_NOT_ENABLED;
 * SALE_PAUSED while nobody may join.
 */
export function decideJoinQueue(
  state: WaitingRoomState,
  { sessionKey }: CommandOf<'JoinQueue'>,
  turn: JoinTurn,
): Decision | Refusal {
  const { now } = turn;
  if (!isPublished(state)) return refuse('EVENT_NOT_FOUND', {});
  const room = state.waitingRoom;
  if (room === null) return refuse('QUEUE_NOT_ENABLED', {});
  const live = findLiveEntry(room.entries, sessionKey) ?? null;
  if (live !== null && !isStale(state, room, live, now)) {
    return { facts: admitNext(state, room, now, null, null), reply: entryReply(live.id, sessionKey) };
  }
  const paused = refuseWhilePaused(state);
  if (paused !== null) return paused;
  const entryId = turn.newId('que');
  const dropped = live === null ? [] : [fact('QueueEntriesDropped', { entryIds: [live.id] })];
  const joined = fact('QueueEntryJoined', { entryId, sessionKey });
  const facts = [...dropped, joined, ...admitNext(state, room, now, live, entryId)];
  return { facts, reply: entryReply(entryId, sessionKey, true) };
}

/** Admits as many as allowed; the entry that polls is dropped first when it is stale. QUEUE_ENTRY_NOT_FOUND. */
export function decidePollQueue(
  state: WaitingRoomState,
  { entryId, sessionKey }: CommandOf<'PollQueue'>,
  now: number,
): Decision | Refusal {
  const entry = findOwnEntry(state, entryId, sessionKey);
  if (isRefusal(entry)) return entry;
  const room = waitingRoomOf(state);
  const reply = entryReply(entryId, sessionKey);
  if (!isStale(state, room, entry, now)) return { facts: admitNext(state, room, now, null, null), reply };
  const dropped = fact('QueueEntriesDropped', { entryIds: [entryId] });
  return { facts: [dropped, ...admitNext(state, room, now, entry, null)], reply };
}

/** Ends the entry of a session; one that has ended already stays as it is. QUEUE_ENTRY_NOT_FOUND. */
export function decideLeaveQueue(
  state: WaitingRoomState,
  { entryId, sessionKey }: CommandOf<'LeaveQueue'>,
  now: number,
): Decision | Refusal {
  const entry = findOwnEntry(state, entryId, sessionKey);
  if (isRefusal(entry)) return entry;
  const reply = entryReply(entryId, sessionKey);
  if (entry.status !== 'WAITING' && entry.status !== 'ADMITTED') return { facts: [], reply };
  const ended = isStale(state, waitingRoomOf(state), entry, now)
    ? fact('QueueEntriesDropped', { entryIds: [entryId] })
    : fact('QueueEntryLeft', { entryId });
  return { facts: [ended], reply };
}

function entryReply(entryId: string, sessionKey: string, joined = false): ReplyReference {
  return { shows: 'ENTRY', entryId, sessionKey, joined };
}

// ── passes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Checks the pass of a session that wants to reserve: null when it may. A session key of null stands for a request that
 * may leave it out: for such requests a pass is good for one order. QUEUE_PASS_REQUIRED, QUEUE_PASS_INVALID; an event
 * without a waiting room asks for no pass.
 */
export function checkPass(
  state: WaitingRoomState,
  sessionKey: string | null,
  queuePass: string | null,
  now: number,
): Refusal | null {
  if (state.waitingRoom === null) return null;
  if (queuePass === null) return refuse('QUEUE_PASS_REQUIRED', {});
  const entry = findEntry(state.waitingRoom.entries, queuePass);
  const isLive = entry?.status === 'ADMITTED' && now < entry.pass!.expiresAt;
  const isOwn = sessionKey === null ? entry?.pass?.spentWithoutKey !== true : entry?.sessionKey === sessionKey;
  return isLive && isOwn ? null : refuse('QUEUE_PASS_INVALID', {});
}

/**
 * What happens to the pass when an order is placed. On an event that limits live passes, the pass ends. Elsewhere it
 * stays good, but not for a request without a session key, so that an intercepted pass is good for one order only.
 */
export function decideSpendPass(
  state: WaitingRoomState,
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

// ── deadlines ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Whether a deadline concerns the room or one of its entries. */
export function isOfQueue(subjectId: string): boolean {
  return subjectId === OPENING || subjectId === STALE_ENTRY || subjectId.startsWith('que_');
}

/** Whether a noted deadline of an entry or of the opening still stands. */
export function queueDeadlineStands({ waitingRoom: room }: WaitingRoomState, subjectId: string, at: number): boolean {
  if (room === null) return false;
  if (subjectId === OPENING) return room.status === 'PRE_QUEUE' && room.opensAt === at;
  const entry = findEntry(room.entries, subjectId);
  return entry?.status === 'ADMITTED' && entry.pass!.expiresAt === at;
}

/** When the next entry becomes stale. It moves with every poll, so it is computed and not noted. */
export function staleEntryDeadline(
  state: WaitingRoomState,
): { readonly subjectId: string; readonly at: number } | null {
  const room = state.waitingRoom;
  if (room === null || room.entries.leastRecentlySeen === null) return null;
  const at = staleFrom(state, room, room.entries.leastRecentlySeen);
  return { subjectId: STALE_ENTRY, at: Math.max(at, room.sweepNotBefore) };
}

/** Settles a deadline of the room: the end of a pass, the opening, or the moment when an entry becomes stale. */
export function decideQueueDeadline(state: WaitingRoomState, subjectId: string, turn: RoomTurn): readonly Fact[] {
  const { now } = turn;
  const room = state.waitingRoom;
  if (room === null) return [];
  if (subjectId === OPENING) return decideOpening(room, turn);
  if (subjectId === STALE_ENTRY) {
    const entryIds = staleEntryIds(state, room, now);
    return entryIds.length === 0 ? [] : [fact('QueueEntriesDropped', { entryIds })];
  }
  const entry = findEntry(room.entries, subjectId);
  const isOver = entry?.status === 'ADMITTED' && entry.pass!.expiresAt <= now;
  return isOver ? [fact('QueuePassExpired', { entryId: subjectId })] : [];
}

// ── the draw ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The opening is reached: the draw begins and, where few take part, is held at once. */
function decideOpening(room: WaitingRoom, { now, newSeed, hashing }: RoomTurn): readonly Fact[] {
  const { status, opensAt, draw, entries } = room;
  if (status !== 'PRE_QUEUE' || opensAt === null || opensAt > now) return [];
  const entryCount = entries.positions.size;
  const opening = newSeed();
  const started = fact('DrawStarted', { entryCount, opening });
  if (entryCount > DRAW_IN_TURN_MAX) return [started];
  const ids = Array.from(peopleFrom(entries.positions), ({ id }) => id);
  const { entryIds, entriesDigest } = drawOrder({ seed: draw!.seed, opening }, ids, hashing);
  const facts = [started];
  for (let from = 0; from < entryCount; from += DRAWN_ENTRIES_PER_FACT_MAX) {
    facts.push(fact('LineDrawn', { from, entryIds: entryIds.slice(from, from + DRAWN_ENTRIES_PER_FACT_MAX) }));
  }
  return [...facts, fact('DrawFinished', { entriesDigest })];
}

/** Records the next piece of an order that was drawn off the thread; nothing when it was recorded before (rule 3). */
export function decideRecordDraw(state: WaitingRoomState, command: CommandOf<'RecordDraw'>): Decision {
  const draw = drawUnderWay(state);
  const { from, entryIds, entriesDigest } = command;
  const end = from + entryIds.length;
  if (draw === null) return { facts: [], reply: drawnSoFar(end) };
  if (draw.order.length !== from || entryIds.length === 0) return { facts: [], reply: drawnSoFar(draw.order.length) };
  const facts = [fact('LineDrawn', { from, entryIds })];
  if (end >= draw.entryCount) facts.push(fact('DrawFinished', { entriesDigest }));
  return { facts, reply: drawnSoFar(end) };
}

function drawnSoFar(drawnEntries: number): ReplyReference {
  return valuesReply<'RecordDraw'>({ drawnEntries });
}

// ── the definition ───────────────────────────────────────────────────────────────────────────────────────────────────

/** Why a definition cannot be taken over while the room is as it is (rule 6). */
export function roomConflicts(state: WaitingRoomState, definition: EventDefinition, now: number): readonly Problem[] {
  const room = state.waitingRoom;
  if (room === null || !definition.waitingRoom || !wouldClose(room, definition, now)) return [];
  if (room.entries.joinedCount === 0) return [];
  const message = 'the doors of the waiting room are open and people have come; they cannot be closed again';
  return [{ path: ['waiting_room_opens_at'], message }];
}

/** The facts about the room when a definition is taken over. */
export function decideRoom(state: WaitingRoomState, definition: EventDefinition, turn: RoomTurn): readonly Fact[] {
  const room = state.waitingRoom;
  const { waitingRoomOpensAt: opensAt } = definition;
  if (room === null) return definition.waitingRoom ? [roomAdded(opensAt, turn)] : [];
  if (!definition.waitingRoom) return [fact('WaitingRoomRemoved', {})];
  if (room.status === 'PRE_QUEUE') {
    return opensAt === room.opensAt ? [] : [fact('WaitingRoomRescheduled', { opensAt: opensAt ?? turn.now })];
  }
  return wouldClose(room, definition, turn.now) ? [fact('WaitingRoomRemoved', {}), roomAdded(opensAt, turn)] : [];
}

function roomAdded(opensAt: number | null, { newSeed, hashing }: RoomTurn): Fact {
  if (opensAt === null) return fact('WaitingRoomAdded', { opensAt, drawSeed: null, drawCommitment: null });
  const drawSeed = newSeed();
  return fact('WaitingRoomAdded', { opensAt, drawSeed, drawCommitment: commitmentOf(drawSeed, hashing) });
}

/** Whether a room that is open, or about to be, would have to close again. */
function wouldClose(room: WaitingRoom, { waitingRoomOpensAt: opensAt }: EventDefinition, now: number): boolean {
  return room.status !== 'PRE_QUEUE' && opensAt !== null && opensAt !== room.opensAt && opensAt > now;
}
