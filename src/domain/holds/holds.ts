/**
 * Holds: tickets that nobody else can buy, for the length of a window.
 *
 * Owns the holds of one event and the rule of one ACTIVE hold per session. What a hold takes of each date's stock is
 * applied through `inventory.ts`; which tickets it may have is decided by `reservation.ts`; orders that take a hold
 * over belong to `orders.ts`. Called by `box-office.ts`.
 *
 * 1. A session has at most one ACTIVE hold (I8); placing another releases the first in the same fact.
 * 2. From the millisecond of `expiresAt` on a hold is over: the actor settles what is due before every other turn.
 * 3. A refusal leaves the hold as it was, window included (decide mutates nothing, I2).
 * 4. Holds that ended are kept for reading. Those with an order stay with it, packed once it is settled. The others stay whole for
 *    WHOLE_MS, at most WHOLE_HOLDS_MAX of them, and then without their items for two hours (`ended-records.ts`), however many end.
 */
import { follow } from '#machines/compile.ts';
import { holdTransitions, type HoldTrigger } from '#machines/hold.ts';
import { fact, type Fact, type FactData, type HoldLine } from '../fact.ts';
import { recall, remember } from '../idempotency.ts';
import { giveBack, reschedule, retake, returnSold, sell, take } from '../inventory/inventory.ts';
import { invariant } from '../invariant.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { rearrange, reserve } from './reservation.ts';
import { checkPass } from '../waiting-room/decide.ts';
import type { CommandOf } from '../command.ts';
import type { Hold } from './hold.ts';
import type { TurnIds } from '../ids.ts';
import type { Decision } from '../decision.ts';
import type { HoldItemView, HoldView, IdempotentAnswer } from '../views.ts';
import { isPublished, type EventState } from '../event-state.ts';
import { followStock, type PerformanceState } from '../inventory/performance.ts';
import { findAnyHold, type HoldBook, isLive } from './hold-book.ts';

export type { Hold };

// ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The session's own ACTIVE hold, which counts as free for that session. */
export function activeHoldOf(state: EventState, sessionKey: string | null): Hold | null {
  return (sessionKey === null ? undefined : state.holds.activeBySession.get(sessionKey)) ?? null;
}

/** A hold, for its owner: an unknown id and another session's key get the same HOLD_NOT_FOUND. */
export function findOwnHold(state: EventState, holdId: string, sessionKey: string): Hold | Refusal {
  return findAnyHold(state.holds, holdId, sessionKey) ?? refuse('HOLD_NOT_FOUND', {});
}

/** The hold as its owner sees it: HOLD_NOT_FOUND. */
export function findHold(state: EventState, holdId: string, sessionKey: string): HoldView | Refusal {
  const hold = findOwnHold(state, holdId, sessionKey);
  return isRefusal(hold) ? hold : viewHold(state, hold);
}

export function viewHold(state: EventState, hold: Hold): HoldView {
  const { id, status, expiresAt, orderId, lines } = hold;
  return { id, eventId: state.eventId, status, expiresAt, orderId, items: viewLines(state, lines) };
}

export function viewLines(stock: EventState, lines: readonly HoldLine[]): readonly HoldItemView[] {
  return lines.map((line) => ({
    ticketTypeId: line.ticketTypeId,
    sellingStageId: line.sellingStageId,
    performanceId: line.performanceId,
    quantity: line.quantity,
    ticketCount: line.ticketCount,
    seatIds: line.seatIds,
    seatLabels: line.seatIds.length === 0 ? line.seatIds : seatLabels(stock, line),
  }));
}

function seatLabels(stock: EventState, line: HoldLine): readonly string[] {
  const seating = stock.plan.ticketTypeById.get(line.ticketTypeId)?.locality.seating;
  return line.seatIds.map((seatId) => seating?.labels[seating.indexOf.get(seatId) ?? -1] ?? seatId);
}

// ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What a hold needs of a turn. */
interface HoldTurn extends TurnIds {
  readonly now: number;
}

/**
 * Places a hold in place of the session's previous one, which counts as free while the new one is checked.
 * Refuses in order: EVENT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED, QUEUE_PASS_*, then as `reserve`.
 */
export function decidePlaceHold(
  state: EventState,
  command: CommandOf<'PlaceHold'>,
  turn: HoldTurn,
): Decision | Refusal {
  if (!isPublished(state)) return refuse('EVENT_NOT_FOUND', {});
  const { now } = turn;
  const record = recall(state.idempotency, command.idempotency, now);
  if (record !== null) return isRefusal(record) ? record : placedBefore(record.answer);
  const passRefusal = checkPass(state, command.sessionKey, command.queuePass, now);
  if (passRefusal !== null) return passRefusal;
  const holdId = turn.newId('hld');
  const replaced = activeHoldOf(state, command.sessionKey);
  const lines = reserve(state, command.items, replaced, now);
  if (isRefusal(lines)) return lines;
  const firstPlacedAt = replaced?.firstPlacedAt ?? now;
  const placed: FactData['HoldPlaced'] = {
    holdId,
    sessionKey: command.sessionKey,
    lines,
    expiresAt: windowEnd(state, firstPlacedAt, replaced?.expiresAt ?? now, now),
    firstPlacedAt,
    replacedHoldId: replaced?.id ?? null,
    idempotency: command.idempotency,
  };
  return { facts: [fact('HoldPlaced', placed)], reply: { shows: 'HOLD', holdId, sessionKey: command.sessionKey } };
}

/** The decision on a request that is repeated under its idempotency key. */
function placedBefore(answer: IdempotentAnswer): Decision {
  invariant(answer.of === 'HOLD', 'a key marks requests of one route, because the route is in the digest');
  return { facts: [], reply: { shows: 'VALUES', reply: { outcome: 'DONE', hold: answer.hold, replayed: true } } };
}

/** Changes a hold's lines; the window restarts. HOLD_NOT_FOUND, HOLD_EXPIRED, HOLD_NOT_ACTIVE, then as `rearrange`. */
export function decideChangeHold(state: EventState, command: CommandOf<'ChangeHold'>, now: number): Decision | Refusal {
  const { holdId, sessionKey } = command;
  const hold = findOwnHold(state, holdId, sessionKey);
  if (isRefusal(hold)) return hold;
  const over = refuseUnless(hold, 'CHANGE');
  if (over !== null) return over;
  const lines = rearrange(state, hold, command.items, now);
  if (isRefusal(lines)) return lines;
  const expiresAt = windowEnd(state, hold.firstPlacedAt, hold.expiresAt, now);
  const facts = [fact('HoldChanged', { holdId, lines, expiresAt })];
  return { facts, reply: { shows: 'HOLD', holdId, sessionKey } };
}

/** Releases a hold: HOLD_NOT_FOUND; HOLD_NOT_ACTIVE unless it is ACTIVE or RELEASED already, which is no change. */
export function decideReleaseHold(state: EventState, command: CommandOf<'ReleaseHold'>): Decision | Refusal {
  const { holdId, sessionKey } = command;
  const hold = findOwnHold(state, holdId, sessionKey);
  if (isRefusal(hold)) return hold;
  const { status } = hold;
  if (status !== 'ACTIVE' && status !== 'RELEASED') return refuse('HOLD_NOT_ACTIVE', { status });
  const facts = status === 'ACTIVE' ? [fact('HoldReleased', { holdId })] : [];
  return { facts, reply: { shows: 'HOLD', holdId, sessionKey } };
}

/** Releases every ACTIVE hold with a line on one of the performances. */
export function releaseHoldsOn({ holds }: EventState, performanceIds: ReadonlySet<string>): readonly Fact[] {
  const facts: Fact[] = [];
  for (const hold of holds.byId.objects()) {
    const isConcerned = hold.status === 'ACTIVE' && hold.lines.some((line) => performanceIds.has(line.performanceId));
    if (isConcerned) facts.push(fact('HoldReleased', { holdId: hold.id }));
  }
  return facts;
}

/** Ends a hold whose window ran out; nothing when it is over already or not due. */
export function decideExpireHold(state: EventState, holdId: string, now: number): readonly Fact[] {
  const hold = state.holds.byId.get(holdId);
  const due = hold !== undefined && hold.status === 'ACTIVE' && hold.expiresAt <= now;
  return due ? [fact('HoldExpired', { holdId })] : [];
}

/** Null when the hold is ACTIVE and may take the trigger; HOLD_EXPIRED when its window ran out, else HOLD_NOT_ACTIVE. */
export function refuseUnless(hold: Hold, trigger: HoldTrigger): Refusal | null {
  if (hold.status === 'ACTIVE' && holdTransitions.next(hold.status, trigger) !== undefined) return null;
  return hold.status === 'EXPIRED' ? refuse('HOLD_EXPIRED', {}) : refuse('HOLD_NOT_ACTIVE', { status: hold.status });
}

/**
 * A full window from now, cut at the ceiling of hold_max_minutes. A hold that lives beyond the ceiling, because a later
 * definition lowered it, keeps the end that it has: a change never takes time away that was promised, and adds none.
 */
function windowEnd(stock: EventState, firstPlacedAt: number, endSoFar: number, now: number): number {
  const { holdWindowMs, holdLifeMaxMs } = stock.plan;
  const end = now + holdWindowMs;
  return holdLifeMaxMs === null ? end : Math.min(end, Math.max(firstPlacedAt + holdLifeMaxMs, endSoFar));
}

// ── evolve ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export function evolveHoldPlaced(state: EventState, data: FactData['HoldPlaced'], at: number): void {
  const { holds } = state;
  const replaced = holds.activeBySession.get(data.sessionKey);
  invariant((replaced?.id ?? null) === data.replacedHoldId, 'a session has one ACTIVE hold (I8)');
  if (replaced !== undefined) endHold(state, replaced, 'REPLACE', at);
  const hold: Hold = {
    id: data.holdId,
    sessionKey: data.sessionKey,
    status: holdTransitions.initial,
    lines: data.lines,
    expiresAt: data.expiresAt,
    firstPlacedAt: data.firstPlacedAt,
    orderId: null,
  };
  holds.byId.set(hold.id, hold);
  holds.activeBySession.set(hold.sessionKey, hold);
  eachHoldLine(state, hold, (performance, line) => take(performance.inventory, hold, line));
  state.deadlines.add(hold.id, hold.expiresAt);
  if (data.idempotency !== null) {
    remember(state.idempotency, data.idempotency, at, { of: 'HOLD', hold: viewHold(state, hold) });
  }
}

export function evolveHoldChanged(state: EventState, data: FactData['HoldChanged']): void {
  const hold = holdOf(state.holds, data.holdId);
  hold.status = follow(holdTransitions, hold.status, 'CHANGE');
  eachHoldLine(state, hold, (performance, line) => giveBack(performance.inventory, line));
  // At the ceiling of hold_max_minutes the window stays: what was noted of its end stands, and is not noted again.
  const isMoved = data.expiresAt !== hold.expiresAt;
  const before = isMoved ? undefined : hold.lines;
  hold.lines = data.lines;
  hold.expiresAt = data.expiresAt;
  eachHoldLine(state, hold, (performance, line) => take(performance.inventory, hold, line, before));
  if (isMoved) state.deadlines.add(hold.id, hold.expiresAt);
}

export function evolveHoldReleased(state: EventState, data: FactData['HoldReleased'], at: number): void {
  endHold(state, holdOf(state.holds, data.holdId), 'RELEASE', at);
}

export function evolveHoldExpired(state: EventState, data: FactData['HoldExpired'], at: number): void {
  endHold(state, holdOf(state.holds, data.holdId), 'EXPIRE', at);
}

/** An order takes the hold over; its window becomes the payment window. A free order's is over at once and has none. */
export function convertHold(state: EventState, holdId: string, orderId: string, expiresAt: number | null): void {
  const hold = holdOf(state.holds, holdId);
  hold.status = follow(holdTransitions, hold.status, 'CONVERT');
  state.holds.activeBySession.delete(hold.sessionKey);
  hold.orderId = orderId;
  if (expiresAt === null) return;
  hold.expiresAt = expiresAt;
  for (const line of hold.lines) reschedule(dateOf(state, line).inventory, hold, [line]);
  state.deadlines.add(hold.id, expiresAt);
}

/** The first money of the order landed: what was held is sold. */
export function consumeHold(state: EventState, holdId: string): void {
  const hold = holdOf(state.holds, holdId);
  hold.status = follow(holdTransitions, hold.status, 'CONSUME');
  eachHoldLine(state, hold, (performance, line) => sell(performance.inventory, line));
}

/** Money landed late and the same tickets can still be had: they are taken again and sold. */
export function reclaimHold(state: EventState, holdId: string): void {
  const hold = holdOf(state.holds, holdId);
  hold.status = follow(holdTransitions, hold.status, 'RECLAIM');
  eachHoldLine(state, hold, (performance, line) => retake(performance.inventory, line));
}

/** The operator cancelled a paid order: what was sold returns to sale. */
export function returnHold(state: EventState, holdId: string): void {
  const hold = holdOf(state.holds, holdId);
  hold.status = follow(holdTransitions, hold.status, 'RETURN');
  eachHoldLine(state, hold, (performance, line) => returnSold(performance.inventory, line));
}

/** The order of the hold ended before money came: its tickets return to sale. */
export function endConvertedHold(state: EventState, holdId: string, trigger: 'RELEASE' | 'EXPIRE', at: number): void {
  endHold(state, holdOf(state.holds, holdId), trigger, at);
}

function endHold(state: EventState, hold: Hold, trigger: 'RELEASE' | 'REPLACE' | 'EXPIRE', at: number): void {
  const { holds } = state;
  // A replaced hold's place is taken by the new one. Deleted first, a key that is put in again and again would leave a
  // trail of dead entries in the Map, which every look at it walks (measured: 40 µs a turn in a Map of 7,500).
  if (hold.status === 'ACTIVE' && trigger !== 'REPLACE') holds.activeBySession.delete(hold.sessionKey);
  hold.status = follow(holdTransitions, hold.status, trigger);
  eachHoldLine(state, hold, (performance, line) => giveBack(performance.inventory, line));
  if (hold.orderId === null) for (const { id } of holds.ended.add(hold, at)) holds.byId.delete(id);
}

/** Packs the hold of an order that is settled, under the order's number (4). */
export function settleHold({ byId }: HoldBook, holdId: string, orderNumber: number): void {
  const hold = byId.open(holdId);
  if (hold !== undefined) byId.settle(hold, orderNumber);
}

/** A hold that a fact is about, to be changed. */
function holdOf(holds: HoldBook, holdId: string): Hold {
  const hold = holds.byId.open(holdId);
  invariant(hold !== undefined, 'a fact names a hold that is there');
  return hold;
}

function dateOf(stock: EventState, line: HoldLine): PerformanceState {
  const performance = stock.performances.get(line.performanceId);
  invariant(performance !== undefined, `a line names a date that is not there: ${line.performanceId}`);
  return performance;
}

function eachHoldLine(
  stock: EventState,
  hold: Hold,
  change: (performance: PerformanceState, line: HoldLine) => void,
): void {
  for (const line of hold.lines) {
    const performance = dateOf(stock, line);
    change(performance, line);
    followStock(performance);
  }
}

// ── snapshot ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A hold as a snapshot keeps it; the book is restored in its own order. */
export type HoldRecord = Hold;

/** Puts a hold of a snapshot back; the inventories have its share already, but not its claim on a release time. */
export function restoreHold(state: EventState, record: HoldRecord): void {
  const hold: Hold = { ...record };
  state.holds.byId.set(hold.id, hold);
  if (hold.status === 'ACTIVE') state.holds.activeBySession.set(hold.sessionKey, hold);
  if (!isLive(hold)) return;
  for (const line of hold.lines) reschedule(dateOf(state, line).inventory, hold, [line]);
  state.deadlines.add(hold.id, hold.expiresAt);
}
