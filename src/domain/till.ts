/**
 * The till: commands about orders and their money, each with its answer.
 *
 * Owns nothing; the decisions are made in `checkout.ts`, `payments.ts` and `orders.ts`, the answers in `order-views.ts`.
 * Called by `box-office.ts`, which asks the waiting room about a start without a hold.
 */
import { decideStartCheckout } from './checkout.ts';
import { decided, type Decision } from './decision.ts';
import { invariant, unreachable } from './invariant.ts';
import { viewOrder, viewPayment } from './order-views.ts';
import { decideCancelOrder, firstPaymentOf, type Order, type OrderOffice, type Payment } from './orders.ts';
import {
  decideOpenPayment,
  decideRecordCheckoutSession,
  decideRecordPayment,
  findReported,
  waitingPayment,
} from './payments.ts';
import { decideRecordRefund } from './refunds.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import type { Command, CommandOf, Replies } from './command.ts';
import type { Fact } from './fact.ts';
import type { TurnIds } from './ids.ts';

/** The part of a turn that orders need. */
interface TillTurn extends TurnIds {
  readonly now: number;
}

/** The waiting room, as a checkout without a hold meets it. */
export interface Door {
  /** Judges the session's pass: null when it may reserve. */
  judgePass(): Refusal | null;
  /** What the placing of an order makes of the session's pass. */
  spendPass(): readonly Fact[];
}

export type OrderCommand = Extract<
  Command,
  { readonly type: 'OpenPayment' | 'RecordCheckoutSession' | 'RecordPayment' | 'CancelOrder' | 'RecordRefund' }
>;

/** Starts a checkout, or finds the one that was started before. */
export function startCheckout(
  office: OrderOffice,
  command: CommandOf<'StartCheckout'>,
  turn: TillTurn,
  door: Door,
): Decision | Refusal {
  const started = decideStartCheckout(office, command, turn, turn.now, door.judgePass);
  if (isRefusal(started)) return started;
  const { how, orderId, facts } = started;
  const spent = how === 'PLACED' ? door.spendPass() : [];
  return decided([...facts, ...spent], 'StartCheckout', () => {
    const order = orderOf(office, orderId);
    const payment = firstPaymentOf(order);
    return {
      order: viewOrder(office, order),
      payment: payment === null ? null : viewPayment(order, payment),
      resumed: how === 'RESUMED',
      replayed: how === 'REPLAYED',
    };
  });
}

/** Judges a command about an order that was placed. */
export function decideOnOrder(office: OrderOffice, command: OrderCommand, turn: TillTurn): Decision | Refusal {
  switch (command.type) {
    case 'OpenPayment': {
      const facts = decideOpenPayment(office, command, turn, turn.now);
      return decided(facts, 'OpenPayment', () => shownPayment(office, command.orderId, waitingPayment));
    }
    case 'RecordCheckoutSession': {
      const facts = decideRecordCheckoutSession(office, command);
      const find = (order: Order): Payment | null => order.payments.find(({ id }) => id === command.paymentId) ?? null;
      return decided(facts, 'RecordCheckoutSession', () => shownPayment(office, command.orderId, find));
    }
    case 'RecordPayment':
      return recordPayment(office, command, turn);
    case 'CancelOrder': {
      const facts = decideCancelOrder(office, command);
      return decided(facts, 'CancelOrder', () => shownOrder(office, command.orderId));
    }
    case 'RecordRefund': {
      const facts = decideRecordRefund(office, command, turn);
      return decided(facts, 'RecordRefund', () => ({
        ...shownOrder(office, command.orderId),
        repeated: !isRefusal(facts) && facts.length === 0,
      }));
    }
    default:
      return unreachable(command);
  }
}

function recordPayment(office: OrderOffice, command: CommandOf<'RecordPayment'>, turn: TillTurn): Decision | Refusal {
  const facts = decideRecordPayment(office, command, turn, turn.now);
  return decided(facts, 'RecordPayment', () => {
    const found = findReported(office, command);
    const repeated = found !== null && !isRefusal(facts) && facts.length === 0;
    return { order: found === null ? null : viewOrder(office, found.order), repeated };
  });
}

function shownOrder(office: OrderOffice, orderId: string): Replies['CancelOrder'] {
  return { order: viewOrder(office, orderOf(office, orderId)) };
}

function shownPayment(
  office: OrderOffice,
  orderId: string,
  find: (order: Order) => Payment | null,
): Replies['OpenPayment'] {
  const order = orderOf(office, orderId);
  const payment = find(order);
  invariant(payment !== null, 'a payment that was just decided on is there');
  return { order: viewOrder(office, order), payment: viewPayment(order, payment) };
}

function orderOf(office: OrderOffice, orderId: string): Order {
  const order = office.orders.byId.get(orderId);
  invariant(order !== undefined, 'an order that was just decided on is there');
  return order;
}
