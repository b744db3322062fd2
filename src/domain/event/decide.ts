/**
 * Decide: from a command and the state of an event to facts and a reply, or a refusal. One line for each command says
 * which aggregate answers it; decisions of several aggregates are combined below.
 *
 * 1. Nothing is mutated (I2); the same state, command and turn give the same decision.
 * 2. Time, ids and seeds come with the turn (I1).
 * 3. The order of the checks is the API's: idempotency key, hold or pass, performances, types, seats, stock.
 */
import { decideDefinition, performancesToCancel } from './definition-change.ts';
import { valuesReply, type Decision } from '../decision.ts';
import { fact, type DateCancellation, type Fact } from '../fact.ts';
import { decideChangeHold, decideExpireHold, decidePlaceHold, decideReleaseHold } from '../holds/decide.ts';
import { unreachable } from '../invariant.ts';
import { decideBlockSeats, decideUnblockSeats } from '../inventory/decide.ts';
import { decideSellAtCounter, decideStartCheckout } from '../orders/checkout.ts';
import {
  decideCancelOrder,
  decideRequestMail,
  decideExpireOrder,
  decideOpenPayment,
  decideRecordCheckoutSession,
} from '../orders/decide.ts';
import { decideCancelNextOrders } from '../orders/amendments/cancelled-dates.ts';
import { decideAmendment } from '../orders/amendments/decide.ts';
import { decideExpireAmendment, factsOfAmendmentReport } from '../orders/amendments/pending.ts';
import { decideEraseDueOrders, decideEraseOrder } from '../orders/erasure.ts';
import { decideRecordPayment } from '../orders/payments.ts';
import {
  decideAskNextRefunds,
  decideExecuteDueRefunds,
  decideExecuteRefund,
  executionOf,
  withAutomaticRefunds,
} from '../orders/refund-requests.ts';
import { decideAnswerRefund, decideMatchRefunds } from '../orders/refund-tries.ts';
import { decideRecordRefund, decideResolveRefund } from '../orders/refunds.ts';
import { liveOrdersOn, liveOrdersOnOthers, type OrderTurn } from '../orders/state.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { decideDropOldest } from './retained-records.ts';
import { idempotencyOf, recallDecision, rememberAnswer, withStoredDigest } from './repeats.ts';
import {
  type RoomTurn,
  decideJoinQueue,
  decideLeaveQueue,
  decidePollQueue,
  decideQueueDeadline,
  decideRecordDraw,
  decideRoom,
  isOfQueue,
  roomConflicts,
} from '../waiting-room/decide.ts';
import { decideAtDoors } from '../doors/decide.ts';
import { hasEntered } from '../doors/state.ts';
import { doorConflicts } from '../doors/stations.ts';
import { unlessBusy } from '../orders/open-sessions.ts';
import { decideSteerSale } from '../steering.ts';
import type { EventState } from './state.ts';
import type { Command, CommandOf } from '../command.ts';

/**
 * What a turn brings along: the moment, sources of ids and seeds, the hashing of draws, and the sealing of personal
 * data.
 */
export interface Turn extends OrderTurn, RoomTurn {}

/**
 * Decides a command; one that repeats a request under its idempotency key gets the first answer. A command that would
 * wait too long for its payment provider is refused.
 */
export function decide(state: EventState, given: Command, turn: Turn): Decision | Refusal {
  const decision = decideOnce(state, given, turn);
  const busyProviders = 'busyProviders' in given ? given.busyProviders : undefined;
  return busyProviders === undefined || isRefusal(decision) ? decision : unlessBusy(state, decision, busyProviders);
}

function decideOnce(state: EventState, given: Command, turn: Turn): Decision | Refusal {
  const command = withStoredDigest(state, given, turn);
  const idempotency = idempotencyOf(command);
  if (idempotency === null) return decideWithRefunds(state, command, turn);
  const earlier = recallDecision(state, command, idempotency, turn.now);
  if (earlier !== null) return earlier;
  const decision = decideWithRefunds(state, command, turn);
  return isRefusal(decision) ? decision : rememberAnswer(command, decision, idempotency);
}

function decideWithRefunds(state: EventState, command: Command, turn: Turn): Decision | Refusal {
  const decision = decideCommand(state, command, turn);
  return isRefusal(decision) ? decision : withAutomaticRefunds(state, decision, turn);
}

function decideCommand(state: EventState, command: Command, turn: Turn): Decision | Refusal {
  switch (command.type) {
    case 'PlaceHold':
      return decidePlaceHold(state, command, turn);
    case 'ChangeHold':
      return decideChangeHold(state, command, turn.now);
    case 'ReleaseHold':
      return decideReleaseHold(state, command);
    case 'StartCheckout':
      return decideStartCheckout(state, command, turn);
    case 'SellAtCounter':
      return decideSellAtCounter(state, command, turn);
    case 'OpenPayment':
      return decideOpenPayment(state, command, turn);
    case 'RecordCheckoutSession':
      return decideRecordCheckoutSession(state, command);
    case 'RecordPayment':
      return decideRecordPayment(state, command, turn, factsOfAmendmentReport);
    case 'CancelOrder':
      return decideCancelOrder(state, command, turn);
    case 'AmendOrder':
    case 'CancelAmendment':
      return decideAmendment(state, command, turn, (ticketId) => hasEntered(state, ticketId));
    case 'RecordRefund':
      return decideRecordRefund(state, command, turn);
    case 'ExecuteRefund':
      return decideExecuteRefund(state, command, turn);
    case 'ExecuteDueRefunds':
      return decideExecuteDueRefunds(state, command);
    case 'AskNextRefunds':
      return decideAskNextRefunds(state, command, turn);
    case 'MatchRefunds':
      return decideMatchRefunds(state, command, turn);
    case 'AnswerRefund':
      return decideAnswerRefund(state, command, turn);
    case 'ResolveRefund':
      return decideResolveRefund(state, command, turn);
    case 'RequestMail':
      return decideRequestMail(state, command, turn);
    case 'EraseOrder':
      return decideEraseOrder(state, command);
    case 'EraseDueOrders':
      return decideEraseDueOrders(state, command, turn.now);
    case 'AddStation':
    case 'RevokeStation':
    case 'RecordScans':
    case 'ScanByHand':
    case 'SyncStation':
    case 'TakeFeed':
      return decideAtDoors(state, command, turn);
    case 'JoinQueue':
      return decideJoinQueue(state, command, turn);
    case 'PollQueue':
      return decidePollQueue(state, command, turn.now);
    case 'LeaveQueue':
      return decideLeaveQueue(state, command, turn.now);
    case 'RecordDraw':
      return decideRecordDraw(state, command);
    case 'SettleDeadline':
      return { facts: settle(state, command.subjectId, turn), reply: valuesReply<'SettleDeadline'>({}) };
    case 'DropOldest':
      return decideDropOldest(state, command);
    case 'DefineEvent':
      return defineEvent(state, command, turn);
    case 'SteerSale':
      return decideSteerSale(state, command);
    case 'CancelPerformance':
      return cancelPerformance(state, command);
    case 'CancelNextOrders':
      return decideCancelNextOrders(state, command, turn);
    case 'BlockSeats':
      return decideBlockSeats(state, command);
    case 'UnblockSeats':
      return decideUnblockSeats(state, command);
    default:
      return unreachable(command);
  }
}

// ── what concerns several aggregates ─────────────────────────────────────────────────────────────────────────────────

/**
 * Ends the subject whose time has run out: of the waiting room, an amendment, a hold, or the order that took the hold
 * over.
 */
function settle(state: EventState, subjectId: string, turn: Turn): readonly Fact[] {
  if (isOfQueue(subjectId)) return decideQueueDeadline(state, subjectId, turn);
  const ended = decideExpireAmendment(state, subjectId, turn.now);
  if (ended.length > 0) return ended;
  const expired = decideExpireHold(state, subjectId, turn.now);
  return expired.length > 0 ? expired : decideExpireOrder(state.holds.byId.get(subjectId), turn.now);
}

/** A definition is taken over with all that follows from it: performances that it cancels, and the waiting room. */
function defineEvent(state: EventState, command: CommandOf<'DefineEvent'>, turn: Turn): Decision | Refusal {
  const { definition } = command;
  const elsewhere = [...roomConflicts(state, definition, turn.now), ...doorConflicts(state, definition, turn.now)];
  const defined = decideDefinition(state, command, elsewhere);
  if (isRefusal(defined)) return defined;
  const changed = defined.length > 0;
  const version = state.definitionVersion + defined.length;
  const reply = valuesReply<'DefineEvent'>({ eventId: definition.id, version, changed });
  if (!changed) return { facts: [], reply };
  const cancelled = performancesToCancel(state, definition).map((id) => factOfCancellation(id, command));
  return { facts: [...defined, ...cancelled, ...decideRoom(state, definition, turn)], reply };
}

function cancelPerformance(state: EventState, command: CommandOf<'CancelPerformance'>): Decision | Refusal {
  const { performanceId, executes = false, operator } = command;
  const performance = state.performances.get(performanceId);
  if (performance === undefined) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  const isNew = performance.status !== 'CANCELLED';
  const facts = isNew ? [factOfCancellation(performanceId, command)] : [];
  const live = isNew ? liveOrdersOn(state, performanceId) : 0;
  const amendedOrders = live > 0 && command.orders === 'TICKETS' ? liveOrdersOnOthers(state, performanceId) : 0;
  const reply = valuesReply<'CancelPerformance'>({
    releasedHolds: isNew ? performance.activeHolds : 0,
    cancelledOrders: live - amendedOrders,
    amendedOrders,
  });
  const isToExecute = executes && (live > 0 || state.orders.refunds.toAsk(performanceId).length > 0);
  return { facts: isToExecute ? [...facts, ...executionOf(state, performanceId, operator)] : facts, reply };
}

/** A performance does not take place: later turns end the holds and orders on it (`decideCancelNextOrders`). */
function factOfCancellation(performanceId: string, { operator, note, orders }: DateCancellation): Fact {
  return fact('PerformanceCancelled', { performanceId, operator, note, ...(orders !== undefined && { orders }) });
}
