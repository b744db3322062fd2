/**
 * Refunds that the service executes: over which payments an amount is given back, and how a refund ends.
 *
 * 1. An amount is given back over the PAID payments of its currency, the newest first, one refund each; over one
 *    payment where it is named.
 * 2. Reserved amounts are not requested again: recorded, pending and executed refunds together never exceed what came.
 * 3. An event with automatic refunds requests money that becomes due by a payment or a cancellation, in the turn that
 *    makes it due. Money that is due again because a refund failed is not requested, because somebody must look at it.
 * 4. Money that was paid in cash is due like other money, but no provider is asked for it: it is given back by hand and
 *    recorded.
 */
import { sealMark } from './erasure.ts';
import { fact, type Fact, type OperatorNote, type RefundFailure } from '../fact.ts';
import {
  datesOfRefunds,
  isCash,
  isReserved,
  notGivenBack,
  providerOf,
  refundable,
  refundDueCents,
  type Order,
  type Payment,
} from './order.ts';
import { refundsToAsk, roomAtProvider, roomOf } from './open-refunds.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { orderById, type OrderState, type OrderTurn } from './state.ts';
import type { CommandOf } from '../command.ts';
import { valuesReply, type Decision } from '../decision.ts';
import type { CurrencyAmount, RefundView } from '../view.ts';

// ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Has money given back at the provider. ORDER_NOT_FOUND; NOT_FOUND for a payment that the order has not, or that is not
 * PAID; REFUND_TOO_HIGH where the amount exceeds the money that came and is neither given back nor reserved, and where
 * nothing is due.
 */
export function decideExecuteRefund(
  state: OrderState,
  command: CommandOf<'ExecuteRefund'>,
  turn: OrderTurn,
): Decision | Refusal {
  const { orderId, amountCents, paymentId } = command;
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  const named = order.payments.find(({ id, status }) => id === paymentId && status === 'PAID');
  if (paymentId !== null && named === undefined) return refuse('NOT_FOUND', {});
  const own = named?.currency ?? order.purchase.currency;
  const asked = amountCents === null ? toAsk(order, named) : [{ currency: own, amountCents }];
  const limit = roomFor(order, own, named);
  if (asked.length === 0) return refuse('REFUND_TOO_HIGH', { refundable: limit, requested: 0 });
  if (amountCents !== null && amountCents > limit) {
    return refuse('REFUND_TOO_HIGH', { refundable: limit, requested: amountCents });
  }
  const facts = asked.flatMap((each) => requests(order, each, named, command, turn));
  return { facts, reply: { shows: 'ORDER', orderId, repeated: false } };
}

/** What is due and not reserved, in each currency; for a named payment, at most what it can give back. */
function toAsk(order: Order, named: Payment | undefined): readonly CurrencyAmount[] {
  return refundsToAsk(order)
    .filter(({ currency }) => named === undefined || currency === named.currency)
    .map(({ currency, amountCents }) => ({
      currency,
      amountCents: Math.min(amountCents, roomFor(order, currency, named)),
    }))
    .filter(({ amountCents }) => amountCents > 0);
}

/** What a provider may give back in a currency, or of one payment of it (rules 2 and 4). */
function roomFor(order: Order, currency: string, named: Payment | undefined): number {
  const limit = Math.min(refundable(order, currency), roomAtProvider(order, currency));
  if (named === undefined) return limit;
  return isCash(order, named) ? 0 : Math.min(limit, roomOf(order, named));
}

/** One refund for each payment that an amount is given back over (rule 1). */
function requests(
  order: Order,
  { currency, amountCents }: CurrencyAmount,
  named: Payment | undefined,
  by: OperatorNote,
  turn: OrderTurn,
  amendmentId?: string,
): readonly Fact[] {
  const paid = order.payments.filter(
    (payment) => payment.status === 'PAID' && payment.currency === currency && !isCash(order, payment),
  );
  const newestFirst = paid.reverse().sort((one, other) => (other.paidAt ?? 0) - (one.paidAt ?? 0));
  const facts: Fact[] = [];
  let left = amountCents;
  for (const payment of named === undefined ? newestFirst : [named]) {
    const part = Math.min(left, roomOf(order, payment));
    if (part === 0) continue;
    left -= part;
    facts.push(
      fact('RefundRequested', {
        orderId: order.id,
        refundId: turn.newId('ref'),
        paymentId: payment.id,
        ...(amendmentId !== undefined && { amendmentId }),
        amountCents: part,
        ...currencyOf(order, currency),
        ...sealMark(order.id, 'RefundRecorded', by, turn),
      }),
    );
  }
  return facts;
}

// ── everything that is due ───────────────────────────────────────────────────────────────────────────────────────────

/**
 * Starts the turns that request everything due (`decideAskNextRefunds`), because there may be tens of thousands;
 * nothing where such turns are to begin anyway. PERFORMANCE_NOT_FOUND; REFUND_SUM_CHANGED where the sum to request
 * differs from the confirmed one.
 */
export function decideExecuteDueRefunds(
  state: OrderState,
  { performanceId, confirm, operator }: CommandOf<'ExecuteDueRefunds'>,
): Decision | Refusal {
  if (performanceId !== null && !state.performances.has(performanceId)) {
    return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  }
  const { refunds } = state.orders;
  const toAsk = refunds.toAsk(performanceId);
  const confirmed = confirm.filter(({ amountCents }) => amountCents > 0);
  const isSame =
    confirmed.length === toAsk.length &&
    toAsk.every((sum) =>
      confirmed.some(({ currency, amountCents }) => currency === sum.currency && amountCents === sum.amountCents),
    );
  if (!isSame) {
    return refuse('REFUND_SUM_CHANGED', {
      due: toAsk.map(({ amountCents: amount, currency }) => ({ amount, currency })),
    });
  }
  const facts = toAsk.length === 0 ? [] : executionOf(state, performanceId, operator);
  return { facts, reply: valuesReply<'ExecuteDueRefunds'>({ sums: refunds.sums }) };
}

/** The fact that everything due is to be requested, of a date or of all; none where such turns are to begin anyway. */
export function executionOf(
  { orders: { executing } }: OrderState,
  performanceId: string | null,
  operator: string | null,
): readonly Fact[] {
  // The first one may have passed orders to which something is due since.
  const isToCome = executing
    .slice(1)
    .some((each) => each.performanceId === null || each.performanceId === performanceId);
  return isToCome ? [] : [fact('DueRefundsOrdered', { performanceId, operator })];
}

/** Refunds that one turn asks for, and those of the same order beyond: some 1.5 ms. */
const REFUNDS_A_TURN = 10;

/** Asks for what is due to a part of the orders; the last part ends the execution. */
export function decideAskNextRefunds(
  { orders: { inOrder, executing } }: OrderState,
  { after, limit }: CommandOf<'AskNextRefunds'>,
  turn: OrderTurn,
): Decision {
  const [execution] = executing;
  const begin = after === null ? 0 : after + 1;
  const end = Math.min(inOrder.length, begin + limit);
  const facts: Fact[] = [];
  let number = begin;
  if (execution !== undefined) {
    const { performanceId, operator } = execution;
    for (; number < end && facts.length < REFUNDS_A_TURN; number += 1) {
      const order = inOrder.at(number);
      if (performanceId !== null && !datesOfRefunds(order).has(performanceId)) continue;
      for (const each of refundsToAsk(order)) {
        facts.push(...requests(order, each, undefined, { operator, note: null }, turn));
      }
    }
    if (number === inOrder.length) facts.push(fact('DueRefundsAsked', { performanceId }));
  }
  const nextAfter = execution !== undefined && number < inOrder.length ? number - 1 : null;
  return { facts, reply: valuesReply<'AskNextRefunds'>({ nextAfter }) };
}

const NOBODY = { operator: null, note: null };

/** The facts, with requests for the refunds that they make due, where the event has automatic refunds (rule 3). */
export function withAutomaticRefunds(state: OrderState, decision: Decision, turn: OrderTurn): Decision {
  if (state.plan.definition.refunds !== 'AUTOMATIC') return decision;
  const refunds = decision.facts.flatMap((happened) => {
    const order = orderOwing(state, happened, decision.facts);
    return order === null ? [] : requestsOfDue(order, turn);
  });
  return refunds.length === 0 ? decision : { ...decision, facts: [...decision.facts, ...refunds] };
}

/** The refunds of everything that is due to an order and not asked for, after an amendment or by itself. */
export function requestsOfDue(order: Order, turn: OrderTurn, amendmentId?: string): readonly Fact[] {
  return toAsk(order, undefined).flatMap((each) => requests(order, each, undefined, NOBODY, turn, amendmentId));
}

/** The order of a fact that may make money due, as its money stands after the fact; null for another fact. */
function orderOwing({ orders }: OrderState, { type, data }: Fact, facts: readonly Fact[]): Order | null {
  if (type !== 'OrderCancelled' && type !== 'PaymentRecorded' && type !== 'StrayMoneyRecorded') return null;
  const order = orders.byId.get(data.orderId);
  if (order === undefined) return null;
  if (type === 'OrderCancelled') return data.amendmentId === undefined ? { ...order, status: 'CANCELLED' } : null;
  const isCounted = type === 'PaymentRecorded' && data.isCounted;
  // Only a session from before an amendment brings more than was left to pay.
  if (isCounted && data.refundDueCents === 0) return null;
  const { paymentId, amountCents, currency } = data;
  const known = order.payments.find(({ id }) => id === (type === 'PaymentRecorded' ? paymentId : data.strayOf))!;
  // Money for an amendment is used by the amendment in the same turn.
  if (isCounted && known.amendmentId !== undefined) return null;
  const paidAt = Number.POSITIVE_INFINITY;
  const paid: Payment = { ...known, id: paymentId, amountCents, currency, status: 'PAID', isCounted, paidAt };
  const others = order.payments.filter(({ id }) => id !== paymentId);
  const isCancelled = facts.some((other) => other.type === 'OrderCancelled' && other.data.orderId === order.id);
  const status = isCancelled ? 'CANCELLED' : isCounted ? 'PARTIALLY_PAID' : order.status;
  return { ...order, payments: [...others, paid], status };
}

// ── ending ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const currencyOf = ({ purchase }: Order, currency: string) => currency !== purchase.currency && { currency };

/** What is due in the currency of a refund after so much more is given back. */
function dueAfter(order: Order, { currency = order.purchase.currency }: RefundView, givenBackCents: number): number {
  const isOwn = currency === order.purchase.currency;
  return Math.max(0, (isOwn ? refundDueCents(order) : notGivenBack(order, currency)) - givenBackCents);
}

/** The fact that a refund was given back; the amount never exceeds the money that came and was not given back. */
export function succeeded(
  order: Order,
  refund: RefundView,
  {
    reference,
    amountCents,
    isTry,
    by = NOBODY,
  }: {
    readonly reference: string | null;
    readonly amountCents: number;
    readonly isTry: boolean;
    readonly by?: OperatorNote;
  },
): Fact {
  const { id: refundId, currency, paymentId, tries = 0 } = refund;
  const provider = providerOf(order);
  const given = Math.min(amountCents, notGivenBack(order, currency ?? order.purchase.currency));
  return fact('RefundRecorded', {
    orderId: order.id,
    refundId,
    amountCents: given,
    refundDueCents: currency === undefined ? dueAfter(order, refund, given) : refundDueCents(order),
    ...by,
    ...(currency !== undefined && { currency }),
    ...(paymentId !== undefined && { paymentId }),
    ...(reference !== null && { reference }),
    ...(by === NOBODY && provider !== null && { provider }),
    isExecuted: true,
    tries: tries + (isTry ? 1 : 0),
  });
}

/** The fact that a refund failed: its amount is due again. */
export function failed(
  order: Order,
  refund: RefundView,
  failure: RefundFailure,
  { isTry = false, reference, by = NOBODY }: { isTry?: boolean; reference?: string; by?: OperatorNote } = {},
): Fact {
  const { id: refundId, amountCents, currency, tries = 0 } = refund;
  const refundDue = dueAfter(order, refund, isReserved(refund) ? 0 : -amountCents);
  return fact('RefundAnswered', {
    orderId: order.id,
    refundId,
    answer: 'FAILED',
    amountCents,
    ...(currency !== undefined && { currency }),
    tries: tries + (isTry ? 1 : 0),
    ...(reference !== undefined && { reference }),
    failure,
    refundDueCents: refundDue,
    ...by,
  });
}
