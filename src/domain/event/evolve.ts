/**
 * Evolve: applies a fact to the state of an event. One line for each fact says which aggregate applies it.
 *
 * A fact is never refused (I2). A fact that cannot follow on the state is a defect: the code is wrong or the journal is
 * corrupt.
 */
import { compileSalePlan } from '../catalogue/sale-plan.ts';
import {
  evolveHoldChanged,
  evolveHoldExpired,
  evolveHoldPlaced,
  evolveHoldReleased,
  rescheduleHolds,
} from '../holds/evolve.ts';
import {
  evolvePerformanceCancelled,
  evolvePlan,
  evolveSeatsBlocked,
  evolveSeatsUnblocked,
} from '../inventory/evolve.ts';
import { invariant } from '../invariant.ts';
import { noteDueRefunds } from '../orders/refund-facts.ts';
import { evolveAmendmentEnded, evolveAmendmentRequested, evolveOrderAmended } from '../orders/amendments/evolve.ts';
import { evolveOrders, forgetDone, noteCancelled } from '../orders/evolve.ts';
import { dropOldest } from './retained-records.ts';
import { keepAnswer, keepHoldAsItWas, keepHoldsAsShown } from './repeats.ts';
import { evolveDoors, rebaseDoors } from '../doors/evolve.ts';
import { evolveWaitingRoom } from '../waiting-room/evolve.ts';
import { evolveSaleSteered } from '../steering.ts';
import type { EventState } from './state.ts';
import type { Fact, FactData } from '../fact.ts';

/** Applies a fact that happened at a moment. Throws a Defect when the fact cannot follow on the state. */
export function evolve(state: EventState, happened: Fact, at: number): void {
  state.revision += 1;
  apply(state, happened, at);
  if (state.cancelling.size > 0) forgetDone(state);
}

function apply(state: EventState, happened: Fact, at: number): void {
  switch (happened.type) {
    case 'EventDefined':
      return evolveEventDefined(state, happened.data, at);
    case 'SaleSteered':
      return evolveSaleSteered(state, happened.data);
    case 'PerformanceCancelled':
      evolvePerformanceCancelled(state, happened.data);
      return noteCancelled(state, happened.data);
    case 'SeatsBlocked':
      return evolveSeatsBlocked(state, happened.data);
    case 'SeatsUnblocked':
      return evolveSeatsUnblocked(state, happened.data);
    case 'OldestDropped':
      return dropOldest(state, happened.data.of, at);
    case 'CheckoutResumed':
    case 'RequestAnswered':
      return keepAnswer(state, happened, at);
    case 'HoldPlaced':
      // The replaced hold is looked up by its session, as it is next: by its id it would be looked up once more.
      keepHoldAsItWas(state, state.holds.activeBySession.get(happened.data.sessionKey), at);
      evolveHoldPlaced(state, happened.data, at);
      return keepAnswer(state, happened, at);
    case 'HoldChanged':
      keepHoldAsItWas(state, state.holds.byId.get(happened.data.holdId), at);
      return evolveHoldChanged(state, happened.data);
    case 'HoldReleased':
    case 'HoldExpired':
      keepHoldAsItWas(state, state.holds.byId.get(happened.data.holdId), at);
      return (happened.type === 'HoldReleased' ? evolveHoldReleased : evolveHoldExpired)(state, happened.data, at);
    case 'OrderPlaced':
      keepHoldAsItWas(state, state.holds.byId.get(happened.data.holdId), at);
      evolveOrders(state, happened, at);
      return keepAnswer(state, happened, at);
    case 'DueRefundsOrdered':
    case 'DueRefundsAsked':
      return noteDueRefunds(state, happened);
    case 'AmendmentRequested':
      return evolveAmendmentRequested(state, happened, at);
    case 'AmendmentEnded':
      return evolveAmendmentEnded(state, happened);
    case 'OrderAmended':
      return evolveOrderAmended(state, happened, at);
    case 'SoldAtCounter':
    case 'PaymentRequested':
    case 'CheckoutSessionOpened':
    case 'PaymentClosed':
    case 'PaymentRecorded':
    case 'StrayMoneyRecorded':
    case 'OrderPaid':
    case 'TicketsIssued':
    case 'OrderExpired':
    case 'OrderCancelled':
    case 'RefundRequested':
    case 'RefundAnswered':
    case 'RefundRecorded':
    case 'MailRequested':
    case 'OrderErased':
      return evolveOrders(state, happened, at);
    case 'StationAdded':
    case 'StationRevoked':
    case 'TicketsScanned':
    case 'TicketScannedByHand':
    case 'FeedTaken':
      return evolveDoors(state, happened, at);
    default:
      return evolveWaitingRoom(state, happened, at);
  }
}

function evolveEventDefined(state: EventState, data: FactData['EventDefined'], at: number): void {
  invariant(data.version === state.definitionVersion + 1, 'the versions of a definition follow one another');
  state.definitionVersion = data.version;
  const plan = compileSalePlan(data.definition);
  keepHoldsAsShown(state, plan, at);
  evolvePlan(state, plan);
  rescheduleHolds(state);
  rebaseDoors(state);
}
