/** What runs out next in an event, over all its aggregates. */
import { nextToEnd } from '../holds/state.ts';
import { isAskingForRefunds, isCancelling } from '../orders/state.ts';
import { queueDeadlineStands, staleEntryDeadline } from '../waiting-room/decide.ts';
import { OPENING } from '../waiting-room/state.ts';
import type { EventState } from './state.ts';

export interface Deadline {
  readonly subjectId: string;
  readonly at: number;
}

/** What runs out next, or null; once its moment has come, the command SettleDeadline settles it. */
export function nextDeadline(state: EventState): Deadline | null {
  return earliestOf(state, () => true);
}

/**
 * When there is something to do next without a request, or null. The orders of a cancelled performance are to be
 * cancelled at once; where somebody executes all that is due, it is to be requested at once. Unlike deadlines, this
 * does not come before every turn, because it may take many turns. Tries of refunds are work of
 * `payments/refund-outbox.ts`, which learns of the event when it is activated.
 */
export function nextWorkAt(state: EventState): number | null {
  if (isCancelling(state) || isAskingForRefunds(state)) return 0;
  const at = Math.min(nextDeadline(state)?.at ?? Number.POSITIVE_INFINITY, state.orders.refunds.nextAt);
  return Number.isFinite(at) ? at : null;
}

/**
 * The next deadline except the opening of a waiting room, which is decided only at its moment because nobody may
 * foresee the draw. Only for a state that is discarded, because the opening is dropped from its deadlines.
 */
export function nextEnding(state: EventState): Deadline | null {
  return earliestOf(state, (subjectId) => subjectId !== OPENING);
}

function earliestOf(state: EventState, isIncluded: (subjectId: string) => boolean): Deadline | null {
  const hold = nextToEnd(state.holds);
  const ofRoom = state.deadlines.length === 0 ? null : earliestOfRoom(state, isIncluded);
  const silence = staleEntryDeadline(state);
  let next: Deadline | null = silence;
  if (ofRoom !== null && (next === null || ofRoom.at < next.at)) next = ofRoom;
  const amendment = state.orders.pendingAmendments.next();
  if (amendment !== null && (next === null || amendment.at < next.at))
    next = { subjectId: amendment.id, at: amendment.at };
  if (hold !== null && (next === null || hold.expiresAt < next.at)) next = { subjectId: hold.id, at: hold.expiresAt };
  return next;
}

function earliestOfRoom(state: EventState, isIncluded: (subjectId: string) => boolean): Deadline | null {
  const stands = (subjectId: string, at: number): boolean =>
    isIncluded(subjectId) && queueDeadlineStands(state, subjectId, at);
  state.deadlines.clean(stands);
  const noted = state.deadlines.first(stands);
  return noted === null ? null : { subjectId: noted.item, at: noted.at };
}
