/**
 * Decide: from a command and the state of an event to facts and a reply, or a refusal. One line for each command says which
 * aggregate answers it.
 *
 * 1. Nothing is mutated (I2); the same state, command and turn give the same decision.
 * 2. Time, ids and seeds come with the turn (I1).
 * 3. The order of the checks is the API's: idempotency key, hold or pass, performances, types, seats, stock.
 */
import { decided, type Decision } from './decision.ts';
import { decideDefineEvent } from './catalogue/decide.ts';
import { decideRecordDraw, drawUnderWay } from './waiting-room/draw-decisions.ts';
import { fact, type Fact, type OperatorMark } from './fact.ts';
import {
  decideChangeHold,
  decideExpireHold,
  decidePlaceHold,
  decideReleaseHold,
  recallAnswer,
  viewHold,
} from './holds/holds.ts';
import { invariant, unreachable } from './invariant.ts';
import { cancelOrdersOn, decideExpireOrder } from './orders/orders.ts';
import { decideBlockSeats, decideUnblockSeats } from './inventory/performances.ts';
import { isRefusal, refuse, type Refusal } from './refusal.ts';
import { countOf, countSeats, decideOnce } from './repeats.ts';
import { decideRoom, roomConflicts } from './waiting-room/room-definition.ts';
import { decideOnOrder, startCheckout, type Door } from './orders/commands.ts';
import {
  decideJoinQueue,
  decideLeaveQueue,
  decidePollQueue,
  decideQueueDeadline,
  isOfQueue,
  decideSpendPass,
  checkPass,
  viewLiveEntry,
  viewOwnEntry,
} from './waiting-room/decide.ts';
import type { Command, CommandOf, Replies } from './command.ts';
import type { TurnIds } from './ids.ts';
import type { RoomTurn } from './waiting-room/room-definition.ts';

import { isPublished, type EventState } from './event-state.ts';
import { findAnyHold } from './holds/hold-book.ts';

/** What a turn brings along: the moment, sources of ids and seeds, and the hashing of draws. */
export interface Turn extends TurnIds, RoomTurn {}

/** Judges a command. Mutates nothing; the same office, command and turn give the same answer. */
export function decide(state: EventState, command: Command, turn: Turn): Decision | Refusal {
  return decideOnce(state, command, turn.now, () => decideAnew(state, command, turn));
}

function decideAnew(state: EventState, command: Command, turn: Turn): Decision | Refusal {
  switch (command.type) {
    case 'PlaceHold':
      return isPublished(state) ? placeHold(state, command, turn) : refuse('EVENT_NOT_FOUND', {});
    case 'ChangeHold':
      return decided(decideChangeHold(state, command, turn.now), 'ChangeHold', () => shownHold(state, command));
    case 'ReleaseHold':
      return decided(decideReleaseHold(state, command), 'ReleaseHold', () => shownHold(state, command));
    case 'StartCheckout':
      if (!isPublished(state)) return refuse('EVENT_NOT_FOUND', {});
      return startCheckout(state, command, turn, doorFor(state, command, turn.now));
    case 'OpenPayment':
    case 'RecordCheckoutSession':
    case 'RecordPayment':
    case 'CancelOrder':
    case 'RecordRefund':
      return decideOnOrder(state, command, turn);
    case 'SettleDeadline':
      return decided(settle(state, command.subjectId, turn), 'SettleDeadline', () => ({}));
    case 'JoinQueue':
      return isPublished(state) ? joinQueue(state, command, turn) : refuse('EVENT_NOT_FOUND', {});
    case 'PollQueue':
      return decided(decidePollQueue(state, command, turn.now), 'PollQueue', () => shownEntry(state, command, turn));
    case 'LeaveQueue':
      return decided(decideLeaveQueue(state, command, turn.now), 'LeaveQueue', () => shownEntry(state, command, turn));
    case 'RecordDraw':
      return decided(decideRecordDraw(state, command), 'RecordDraw', () => ({
        drawnEntries: drawUnderWay(state)?.order.length ?? command.from + command.entryIds.length,
      }));
    case 'DefineEvent':
      return defineEvent(state, command, turn);
    case 'CancelPerformance':
      return cancelPerformance(state, command);
    case 'BlockSeats': {
      const facts = decideBlockSeats(state, command);
      return decided(facts, 'BlockSeats', () => ({ blockedSeats: countSeats(facts) }));
    }
    case 'UnblockSeats': {
      const facts = decideUnblockSeats(state, command);
      return decided(facts, 'UnblockSeats', () => ({ unblockedSeats: countSeats(facts) }));
    }
    default:
      return unreachable(command);
  }
}

function placeHold(state: EventState, command: CommandOf<'PlaceHold'>, turn: Turn): Decision | Refusal {
  const recalled = recallAnswer(state, command, turn.now);
  if (recalled !== null) {
    if (isRefusal(recalled)) return recalled;
    const { answer } = recalled;
    invariant(answer.of === 'HOLD', 'a key marks requests of one route, because the route is in the digest');
    return decided([], 'PlaceHold', () => ({ hold: answer.hold, replayed: true }));
  }
  const passRefusal = checkPass(state, command.sessionKey, command.queuePass, turn.now);
  if (passRefusal !== null) return passRefusal;
  const holdId = turn.newId('hld');
  const { sessionKey } = command;
  const facts = decidePlaceHold(state, command, holdId, turn.now);
  return decided(facts, 'PlaceHold', () => ({ ...shownHold(state, { holdId, sessionKey }), replayed: false }));
}

function shownHold(
  state: EventState,
  { holdId, sessionKey }: { readonly holdId: string; readonly sessionKey: string },
): Replies['ChangeHold'] {
  const hold = findAnyHold(state.holds, holdId, sessionKey);
  invariant(hold !== undefined, 'a hold that was just decided on is there');
  return { hold: viewHold(state, hold) };
}

/** The waiting room as a checkout passes through it; whoever takes over a hold is the session that placed it. */
function doorFor(state: EventState, command: CommandOf<'StartCheckout'>, now: number): Door {
  const { sessionKey, queuePass, holdId } = command;
  const hold = holdId === null ? undefined : state.holds.byId.get(holdId);
  return {
    checkPass: () => checkPass(state, sessionKey, queuePass, now),
    spendPass: () => decideSpendPass(state, hold?.sessionKey ?? sessionKey, queuePass),
  };
}

/** Ends what has run out: of the waiting room, a hold or, where an order has taken it over, the order. */
function settle(state: EventState, subjectId: string, turn: Turn): readonly Fact[] {
  if (isOfQueue(subjectId)) return decideQueueDeadline(state, subjectId, turn);
  const expired = decideExpireHold(state, subjectId, turn.now);
  return expired.length > 0 ? expired : decideExpireOrder(state.holds.byId.get(subjectId), turn.now);
}

function joinQueue(state: EventState, command: CommandOf<'JoinQueue'>, turn: Turn): Decision | Refusal {
  const { now } = turn;
  const facts = decideJoinQueue(state, command, turn.newId('que'), now);
  return decided(facts, 'JoinQueue', () => ({
    entry: viewLiveEntry(state, command.sessionKey, now),
    joined: !isRefusal(facts) && facts.some(({ type }) => type === 'QueueEntryJoined'),
  }));
}

function shownEntry(
  state: EventState,
  { entryId, sessionKey }: CommandOf<'PollQueue' | 'LeaveQueue'>,
  { now }: Turn,
): Replies['PollQueue'] {
  const entry = viewOwnEntry(state, entryId, sessionKey, now);
  invariant(!isRefusal(entry), 'an entry that was just decided on is there');
  return { entry };
}

function defineEvent(state: EventState, command: CommandOf<'DefineEvent'>, turn: Turn): Decision | Refusal {
  const { definition } = command;
  const facts = decideDefineEvent(state, command, roomConflicts(state, definition, turn.now), {
    cancelPerformances: (performanceIds) => factsOfCancellation(state, performanceIds, command),
    changeRoom: () => decideRoom(state, definition, turn),
  });
  return decided(facts, 'DefineEvent', () => ({
    eventId: definition.id,
    version: state.definitionVersion,
    changed: !isRefusal(facts) && facts.length > 0,
  }));
}

function cancelPerformance(state: EventState, command: CommandOf<'CancelPerformance'>): Decision | Refusal {
  const { performanceId } = command;
  const performance = state.performances.get(performanceId);
  if (performance === undefined) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  const facts = performance.status === 'CANCELLED' ? [] : factsOfCancellation(state, [performanceId], command);
  return decided(facts, 'CancelPerformance', () => ({
    releasedHolds: countOf(facts, 'HoldReleased'),
    cancelledOrders: countOf(facts, 'OrderCancelled'),
  }));
}

/** Dates do not take place: holds with a line on one are released, and orders with a ticket on one cancelled whole. */
function factsOfCancellation(
  state: EventState,
  performanceIds: readonly string[],
  { operator, note }: OperatorMark,
): readonly Fact[] {
  if (performanceIds.length === 0) return [];
  const cancelledIds = new Set(performanceIds);
  const facts = performanceIds.map((performanceId) => fact('PerformanceCancelled', { performanceId, operator, note }));
  for (const hold of state.holds.byId.objects()) {
    const isConcerned = hold.status === 'ACTIVE' && hold.lines.some((line) => cancelledIds.has(line.performanceId));
    if (isConcerned) facts.push(fact('HoldReleased', { holdId: hold.id }));
  }
  return [...facts, ...cancelOrdersOn(state, cancelledIds, { operator, note })];
}
