/** The holds of an event back from a snapshot. */
import { shareIds } from '../hold-line.ts';
import { invariant } from '../invariant.ts';
import { rescheduleHold } from './evolve.ts';
import { isLive, type Hold } from './state.ts';
import type { EventState } from '../event-state.ts';

/** A hold as a snapshot keeps it. */
export type HoldRecord = Hold;

/** Restores a hold from a record that was parsed just now. The inventories have its tickets, but not when they return. */
export function restoreHold(state: EventState, hold: HoldRecord): void {
  shareIds(hold.lines, state.plan);
  state.holds.byId.set(hold.id, hold);
  if (hold.status === 'ACTIVE') state.holds.activeBySession.set(hold.sessionKey, hold);
  if (!isLive(hold)) return;
  rescheduleHold(state, hold);
  state.holds.deadlines.add(hold, hold.expiresAt);
}

/** Restores the hold of a settled order, which was restored before. */
export function restoreSettledHold({ holds, orders }: EventState, hold: HoldRecord): void {
  const order = orders.byId.get(hold.orderId ?? '');
  invariant(order !== undefined, 'the snapshot has the order of a settled hold');
  holds.byId.settle(hold, order.number);
}

/** Restores when a hold ended. Format 1 does not say it; such a hold was over at the end of its window. */
export function restoreEndedHold({ holds }: EventState, holdId: string, endedAt: number | null): void {
  const hold = holds.byId.get(holdId);
  invariant(hold !== undefined, 'the snapshot has the hold that ended');
  holds.ended.restoreWhole(hold, endedAt ?? hold.expiresAt);
}
