/**
 * The till: commands about orders and their money, each with its answer.
 *
 * Owns nothing; the decisions are made in `checkout.ts`, `payments.ts` and `orders.ts`, the answers in `order-views.ts`.
 * Called by `box-office.ts`, which asks the waiting room about a start without a hold.
 */
import { decideStartCheckout } from './checkout.ts';
import { decided, type Decision } from '../decision.ts';
import { invariant, unreachable } from '../invariant.ts';
import { viewOrder, viewPayment } from './view.ts';
import { decideCancelOrder, firstPaymentOf, type Order, type Payment } from './orders.ts';
import {
  decideOpenPayment,
  decideRecordCheckoutSession,
  decideRecordPayment,
  findReported,
  waitingPayment,
} from './payments.ts';
import { decideRecordRefund } from './refunds.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import type { Command, CommandOf, Replies } from '../command.ts';
import type { Fact } from '../fact.ts';
import type { TurnIds } from '../ids.ts';
import type { EventState } from '../event-state.ts';

/** The part of a turn that orders need. */
interface OrderTurn extends TurnIds {
  readonly now: number;
}

/** The waiting room, as a checkout without a hold meets it. */
export interface Door {
  /** Judges the session's pass: null when it may reserve. */
  checkPass(): Refusal | null;
  /** What the placing of an order makes of the session's pass. */
  spendPass(): readonly Fact[];
}

export type OrderCommand = Extract<
  Command,
  { readonly type: 'OpenPayment' | 'RecordCheckoutSession' | 'RecordPayment' | 'CancelOrder' | 'RecordRefund' }
>;

/** Starts a checkout, or finds the one that was started before. */
export function startCheckout(
  state: EventState,
  command: CommandOf<'StartCheckout'>,
  turn: OrderTurn,
  door: Door,
): Decision | Refusal {
  const started = decideStartCheckout(state, command, turn, turn.now, door.checkPass);
  if (isRefusal(started)) return started;
  const { how, orderId, facts } = started;
  const spent = how === 'PLACED' ? door.spendPass() : [];
  return decided([...facts, ...spent], 'StartCheckout', () => {
    const order = orderOf(state, orderId);
    const payment = firstPaymentOf(order);
    return {
      order: viewOrder(state, order),
      payment: payment === null ? null : viewPayment(order, payment),
      resumed: how === 'RESUMED',
      replayed: how === 'REPLAYED',
    };
  });
}

/** Judges a command about an order that was placed. */
export function decideOnOrder(state: EventState, command: OrderCommand, turn: OrderTurn): Decision | Refusal {
  switch (command.type) {
    case 'OpenPayment': {
      const facts = decideOpenPayment(state, command, turn, turn.now);
      return decided(facts, 'OpenPayment', () => shownPayment(state, command.orderId, waitingPayment));
    }
    case 'RecordCheckoutSession': {
      const facts = decideRecordCheckoutSession(state, command);
      const find = (order: Order): Payment | null => order.payments.find(({ id }) => id === command.paymentId) ?? null;
      return decided(facts, 'RecordCheckoutSession', () => shownPayment(state, command.orderId, find));
    }
    case 'RecordPayment':
      return recordPayment(state, command, turn);
    case 'CancelOrder': {
      const facts = decideCancelOrder(state, command);
      return decided(facts, 'CancelOrder', () => shownOrder(state, command.orderId));
    }
    case 'RecordRefund': {
      const facts = decideRecordRefund(state, command, turn);
      return decided(facts, 'RecordRefund', () => ({
        ...shownOrder(state, command.orderId),
        repeated: !isRefusal(facts) && facts.length === 0,
      }));
    }
    default:
      return unreachable(command);
  }
}

function recordPayment(state: EventState, command: CommandOf<'RecordPayment'>, turn: OrderTurn): Decision | Refusal {
  const facts = decideRecordPayment(state, command, turn, turn.now);
  return decided(facts, 'RecordPayment', () => {
    const found = findReported(state, command);
    const repeated = found !== null && !isRefusal(facts) && facts.length === 0;
    return { order: found === null ? null : viewOrder(state, found.order), repeated };
  });
}

function shownOrder(state: EventState, orderId: string): Replies['CancelOrder'] {
  return { order: viewOrder(state, orderOf(state, orderId)) };
}

function shownPayment(
  state: EventState,
  orderId: string,
  find: (order: Order) => Payment | null,
): Replies['OpenPayment'] {
  const order = orderOf(state, orderId);
  const payment = find(order);
  invariant(payment !== null, 'a payment that was just decided on is there');
  return { order: viewOrder(state, order), payment: viewPayment(order, payment) };
}

function orderOf(state: EventState, orderId: string): Order {
  const order = state.orders.byId.get(orderId);
  invariant(order !== undefined, 'an order that was just decided on is there');
  return order;
}
