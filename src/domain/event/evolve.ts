/**
 * Evolve: applies a fact to the state of an event. One line for each fact says which aggregate applies it.
 *
 * A fact is never refused (I2). One that cannot follow on the state is a defect: the code is wrong or the journal is corrupt.
 */
import { compileSalePlan } from './catalogue/sale-plan.ts';
import {
  evolveHoldChanged,
  evolveHoldExpired,
  evolveHoldPlaced,
  evolveHoldReleased,
  rescheduleHolds,
} from './holds/evolve.ts';
import {
  evolvePerformanceCancelled,
  evolvePlan,
  evolveSeatsBlocked,
  evolveSeatsUnblocked,
} from './inventory/evolve.ts';
import { invariant } from './invariant.ts';
import { evolveOrders, noteCancelled } from './orders/evolve.ts';
import { evolveRequestAnswered } from './repeats.ts';
import { evolveWaitingRoom } from './waiting-room/evolve.ts';
import type { EventState } from './event-state.ts';
import type { Fact, FactData } from './fact.ts';

/** Applies a fact that happened at a moment. Throws a Defect when the fact cannot follow on what was before. */
export function evolve(state: EventState, happened: Fact, at: number): void {
  state.revision += 1;
  switch (happened.type) {
    case 'EventDefined':
      return evolveEventDefined(state, happened.data);
    case 'PerformanceCancelled':
      evolvePerformanceCancelled(state, happened.data);
      return noteCancelled(state, happened.data);
    case 'SeatsBlocked':
      return evolveSeatsBlocked(state, happened.data);
    case 'SeatsUnblocked':
      return evolveSeatsUnblocked(state, happened.data);
    case 'RequestAnswered':
      return evolveRequestAnswered(state, happened.data, at);
    case 'HoldPlaced':
      return evolveHoldPlaced(state, happened.data, at);
    case 'HoldChanged':
      return evolveHoldChanged(state, happened.data);
    case 'HoldReleased':
      return evolveHoldReleased(state, happened.data, at);
    case 'HoldExpired':
      return evolveHoldExpired(state, happened.data, at);
    case 'OrderPlaced':
    case 'CheckoutResumed':
    case 'PaymentRequested':
    case 'CheckoutSessionOpened':
    case 'PaymentClosed':
    case 'PaymentRecorded':
    case 'StrayMoneyRecorded':
    case 'OrderPaid':
    case 'TicketsIssued':
    case 'OrderExpired':
    case 'OrderCancelled':
    case 'RefundRecorded':
    case 'OrderErased':
      return evolveOrders(state, happened, at);
    default:
      return evolveWaitingRoom(state, happened, at);
  }
}

function evolveEventDefined(state: EventState, data: FactData['EventDefined']): void {
  invariant(data.version === state.definitionVersion + 1, 'the versions of a definition follow one another');
  state.definitionVersion = data.version;
  evolvePlan(state, compileSalePlan(data.definition));
  rescheduleHolds(state);
}
