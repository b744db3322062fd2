/**
 * Applies facts to holds, and what orders do to the holds that became theirs. A hold's lines change the inventories of
 * their performances.
 *
 * 1. Holds that ended are kept for reading. One with an order stays with it, in a compact form once nothing more is
 *    expected of the order. The others keep their lines for some minutes, unless they were replaced, and the rest of
 *    their record for two hours (`ended-holds.ts`).
 */
import { follow } from '#machines/compile.ts';
import { holdTransitions } from '#machines/hold.ts';
import { followStock, type PerformanceState } from '../inventory/performance.ts';
import { invariant } from '../invariant.ts';
import { beyond } from './wanted-lines.ts';
import { isLive, noteDeadline, type Hold, type Holds } from './state.ts';
import type { HoldState } from './state.ts';
import type { FactData, HoldLine } from '../fact.ts';

export function evolveHoldPlaced(state: HoldState, data: FactData['HoldPlaced'], at: number): void {
  const { holds } = state;
  const replaced = holds.activeBySession.get(data.sessionKey);
  invariant((replaced?.id ?? null) === data.replacedHoldId, 'a session has at most one ACTIVE hold (I8)');
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
  countActive(state, hold, 1);
  changeEachLine(state, hold, (performance, line) => performance.inventory.take(hold, line));
  noteDeadline(state.holds, hold);
}

export function evolveHoldChanged(state: HoldState, data: FactData['HoldChanged']): void {
  const hold = holdOf(state.holds, data.holdId);
  hold.status = follow(holdTransitions, hold.status, 'CHANGE');
  changeEachLine(state, hold, (performance, line) => performance.inventory.giveBack(line));
  // At the ceiling of hold_max_minutes `expiresAt` is unchanged, so the deadline and the claims that name it stay
  // valid.
  const isMoved = data.expiresAt !== hold.expiresAt;
  const before = isMoved ? undefined : hold.lines;
  countActive(state, hold, -1);
  hold.lines = data.lines;
  hold.expiresAt = data.expiresAt;
  countActive(state, hold, 1);
  changeEachLine(state, hold, (performance, line) => performance.inventory.take(hold, line, before));
  if (isMoved) noteDeadline(state.holds, hold);
}

export function evolveHoldReleased(state: HoldState, data: FactData['HoldReleased'], at: number): void {
  endHold(state, holdOf(state.holds, data.holdId), 'RELEASE', at);
}

export function evolveHoldExpired(state: HoldState, data: FactData['HoldExpired'], at: number): void {
  endHold(state, holdOf(state.holds, data.holdId), 'EXPIRE', at);
}

/** An order takes the hold over; its window becomes the payment window. A free order's is over at once and has none. */
export function convertHold(state: HoldState, holdId: string, orderId: string, expiresAt: number | null): void {
  const hold = holdOf(state.holds, holdId);
  hold.status = follow(holdTransitions, hold.status, 'CONVERT');
  countActive(state, hold, -1);
  state.holds.activeBySession.delete(hold.sessionKey);
  hold.orderId = orderId;
  if (expiresAt === null) return;
  hold.expiresAt = expiresAt;
  rescheduleHold(state, hold);
  noteDeadline(state.holds, hold);
}

/** The first money of the order landed: what was held is sold. */
export function consumeHold(state: HoldState, holdId: string): void {
  const hold = holdOf(state.holds, holdId);
  hold.status = follow(holdTransitions, hold.status, 'CONSUME');
  changeEachLine(state, hold, (performance, line) => performance.inventory.sell(line));
}

/** Money landed late and the same tickets can still be had: they are taken again and sold. */
export function reclaimHold(state: HoldState, holdId: string): void {
  const hold = holdOf(state.holds, holdId);
  hold.status = follow(holdTransitions, hold.status, 'RECLAIM');
  changeEachLine(state, hold, (performance, line) => performance.inventory.retake(line));
}

/** The order of the hold was amended: first the places that it gave up return to sale, then the new ones are sold. */
export function amendHold(state: HoldState, holdId: string, lines: readonly HoldLine[]): void {
  const hold = holdOf(state.holds, holdId);
  hold.status = follow(holdTransitions, hold.status, 'AMEND');
  const before = hold.lines;
  hold.lines = lines;
  for (const line of beyond(before, lines)) performanceOf(state, line).inventory.returnSold(line);
  for (const line of beyond(lines, before)) performanceOf(state, line).inventory.retake(line);
  for (const line of [...before, ...lines]) followStock(performanceOf(state, line));
}

/** The operator cancelled a paid order: what was sold returns to sale. */
export function returnHold(state: HoldState, holdId: string): void {
  const hold = holdOf(state.holds, holdId);
  hold.status = follow(holdTransitions, hold.status, 'RETURN');
  changeEachLine(state, hold, (performance, line) => performance.inventory.returnSold(line));
}

/** The order of the hold ended before money came: its tickets return to sale. */
export function endConvertedHold(state: HoldState, holdId: string, trigger: 'RELEASE' | 'EXPIRE', at: number): void {
  endHold(state, holdOf(state.holds, holdId), trigger, at);
}

function endHold(state: HoldState, hold: Hold, trigger: 'RELEASE' | 'REPLACE' | 'EXPIRE', at: number): void {
  const { holds } = state;
  // The entry of a replaced hold is overwritten and not deleted: a Map from which a key is deleted and put in again and
  // again keeps dead entries that every look-up walks (measured: 40 µs a turn in a Map of 7,500).
  if (hold.status === 'ACTIVE') {
    countActive(state, hold, -1);
    if (trigger !== 'REPLACE') holds.activeBySession.delete(hold.sessionKey);
  }
  hold.status = follow(holdTransitions, hold.status, trigger);
  changeEachLine(state, hold, (performance, line) => performance.inventory.giveBack(line));
  if (hold.orderId === null) forgetItems(holds, holds.ended.add(hold, trigger, at));
}

/** So many of the holds that ended lose their items, the oldest first. */
export function cutOldestHolds(holds: Holds, count: number, at: number): void {
  forgetItems(holds, holds.ended.cutOldest(count, at));
}

function forgetItems({ byId }: Holds, cut: readonly Hold[]): void {
  for (const hold of cut) {
    byId.delete(hold.id);
    // Its deadline may stay in the heaps of claims for as long as its window was.
    hold.lines = [];
  }
}

/** A hold that a fact is about, to be changed. */
function holdOf(holds: Holds, holdId: string): Hold {
  const hold = holds.byId.open(holdId);
  invariant(hold !== undefined, 'a hold that a fact names exists');
  return hold;
}

function performanceOf(state: HoldState, { performanceId }: HoldLine): PerformanceState {
  const performance = state.performances.get(performanceId);
  invariant(performance !== undefined, `a performance that a hold's line names exists: ${performanceId}`);
  return performance;
}

function changeEachLine(
  state: HoldState,
  hold: Hold,
  change: (performance: PerformanceState, line: HoldLine) => void,
): void {
  for (const line of hold.lines) {
    const performance = performanceOf(state, line);
    change(performance, line);
    followStock(performance);
  }
}

/** Counts an ACTIVE hold on its performances, on each once. Hot: nothing is allocated. */
export function countActive(state: HoldState, { lines }: Hold, sign: 1 | -1): void {
  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index]!;
    if (index === 0 || !isOnBefore(lines, index)) performanceOf(state, line).activeHolds += sign;
  }
}

/** Whether a line before one is on the same performance. */
function isOnBefore(lines: readonly HoldLine[], index: number): boolean {
  const { performanceId } = lines[index]!;
  for (let before = 0; before < index; before += 1) if (lines[before]!.performanceId === performanceId) return true;
  return false;
}

/** A new definition has rebuilt the inventories: live holds note anew when their tickets return. */
export function rescheduleHolds(state: HoldState): void {
  for (const hold of state.holds.byId.objects()) if (isLive(hold)) rescheduleHold(state, hold);
}

/** Notes with each inventory when the tickets of a hold return. */
export function rescheduleHold(state: HoldState, hold: Hold): void {
  for (const line of hold.lines) performanceOf(state, line).inventory.reschedule(hold, [line]);
}
