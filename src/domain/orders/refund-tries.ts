/**
 * The tries to execute a refund: when one is due, what it may ask the provider for, and what its answer changes.
 *
 * Owns the decisions only; `payments/refund-outbox.ts` calls the providers.
 *
 * 1. Before it asks, a try reads what was given back there. A refund that the journal does not know is recorded and
 *    deducted; a refund that is under way there is deducted. If nothing is left, the refund is FAILED.
 * 2. A provider keeps its first answer under a key. The key is the refund's id; once the provider has answered that
 *    nothing was given back, the number of that try follows it.
 * 3. Without a clear answer a refund is tried again after pauses that grow from 5 seconds to an hour, and after 72
 *    hours it needs an operator. A refund that the provider works on is queried daily. All pauses follow the service's
 *    clock.
 */
import { failed, succeeded } from './refund-requests.ts';
import { fact, type Fact, type FactData, type RefundFailure } from '../fact.ts';
import { sumOf } from '../money.ts';
import { notGivenBack, providerOf, refundStatusOf, reservedCents, type Order, type Payment } from './order.ts';
import { recordOf, sessionOf, twinOf } from './refunds.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../refusal.ts';
import { orderById, type OrderState, type OrderTurn } from './state.ts';
import { valuesReply, type Decision } from '../decision.ts';
import type { CommandOf, ProviderRefund, RefundRequest } from '../command.ts';
import type { PaymentProviderName } from '../catalogue/definition.ts';
import type { RefundStatus } from '#machines/refund.ts';
import type { RefundSums, RefundView } from '../view.ts';

const SECOND_MS = 1_000;
const HOUR_MS = 3_600 * SECOND_MS;
const PAUSE_MS_MIN = 5 * SECOND_MS;
const ASKED_ABOUT_EVERY_MS = 24 * HOUR_MS;
const UNCLEAR_MS_MAX = 72 * HOUR_MS;

// ── what is due ──────────────────────────────────────────────────────────────────────────────────────────────────────

/** A refund that is to be tried now. */
export interface DueRefund {
  readonly orderId: string;
  readonly refundId: string;
  readonly provider: PaymentProviderName;
  /** The session through which the money came; null where the provider never named one. */
  readonly checkoutSessionId: string | null;
}

export interface DueRefunds {
  readonly due: readonly DueRefund[];
  /** When the next one of the event is due; null where none is PENDING. */
  readonly nextAt: number | null;
}

/** Up to `limit` refunds of the event that are to be tried now. */
export function listDueRefunds({ orders }: OrderState, limit: number, now: number): DueRefunds {
  const due = orders.refunds.dueBy(now, limit).flatMap(({ refundId, orderNumber }): DueRefund[] => {
    const order = orders.inOrder.at(orderNumber);
    const refund = order.refunds.find(({ id }) => id === refundId);
    const provider = providerOf(order);
    if (refund === undefined || provider === null) return [];
    return [{ orderId: order.id, refundId, provider, checkoutSessionId: sessionOf(order, refund.paymentId) }];
  });
  const { nextAt } = orders.refunds;
  return { due, nextAt: Number.isFinite(nextAt) ? nextAt : null };
}

/** The payments whose money came through the session of a refund's payment, in the refund's currency. */
function paidThroughSessionOf(order: Order, refund: RefundView): readonly Payment[] {
  const wanted = refund.currency ?? order.purchase.currency;
  const payment = order.payments.find(({ id }) => id === refund.paymentId);
  const first = payment?.strayOf ?? payment?.id;
  return order.payments.filter(
    ({ id, strayOf, status, currency }) =>
      status === 'PAID' && currency === wanted && (id === first || strayOf === first),
  );
}

// ── before it is asked for ───────────────────────────────────────────────────────────────────────────────────────────

/**
 * Compares what the provider says was given back with the journal, and answers what is left to ask for (rule 1).
 * ORDER_NOT_FOUND, NOT_FOUND.
 */
export function decideMatchRefunds(
  state: OrderState,
  command: CommandOf<'MatchRefunds'>,
  turn: OrderTurn,
): Decision | Refusal {
  const about = refundOf(state, command);
  if (isRefusal(about)) return about;
  const { order, refund } = about;
  const { facts, amountCents } = isTried(refund) ? compare(order, refund, command.found, turn) : NOTHING_TO_ASK;
  const checkoutSessionId = sessionOf(order, refund.paymentId);
  const request: RefundRequest | null =
    amountCents === 0 || checkoutSessionId === null
      ? null
      : {
          orderId: order.id,
          refundId: refund.id,
          checkoutSessionId,
          amountCents,
          currency: refund.currency ?? order.purchase.currency,
          key: refund.keyTry === undefined ? refund.id : `${refund.id}-${refund.keyTry}`,
        };
  return { facts, reply: valuesReply<'MatchRefunds'>({ request }) };
}

interface Comparison {
  readonly facts: readonly Fact[];
  /** What is to be asked for; 0 where nothing is. */
  readonly amountCents: number;
}

const NOTHING_TO_ASK: Comparison = { facts: [], amountCents: 0 };

const isTried = ({ status }: RefundView): boolean => status === 'PENDING';

function refundOf(
  state: OrderState,
  { orderId, refundId }: { readonly orderId: string; readonly refundId: string },
): { readonly order: Order; readonly refund: RefundView } | Refusal {
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  const refund = order.refunds.find(({ id }) => id === refundId);
  return refund === undefined ? refuse('NOT_FOUND', {}) : { order, refund };
}

function compare(order: Order, refund: RefundView, found: readonly ProviderRefund[], turn: OrderTurn): Comparison {
  const own = found.find(({ refundId, status }) => refundId === refund.id && status !== 'FAILED');
  const currency = refund.currency ?? order.purchase.currency;
  const others = found.filter(
    (each) => each !== own && each.status !== 'FAILED' && (currencyOf(order, each) ?? currency) === currency,
  );
  const { facts, takenOff, recorded } = recordOthers(order, refund, others, turn);
  if (own !== undefined)
    return { facts: [...facts, ...factsOfOwn(order, refund, own, recorded, turn.now)], amountCents: 0 };
  const failure = found.find(({ refundId }) => refundId === refund.id);
  if (failure !== undefined) {
    const { reference, failure: why = FAILED_THERE } = failure;
    return { facts: [...facts, failed(order, refund, why, { isTry: true, reference })], amountCents: 0 };
  }
  const reservedElse = reservedCents(order, currency) - refund.amountCents;
  const unreserved = notGivenBack(order, currency) - reservedElse - recorded;
  const paid = sumOf(paidThroughSessionOf(order, refund), (payment) => payment.amountCents);
  const leftThere = paid - sumOf(others, ({ amountCents }) => amountCents);
  const amountCents = Math.min(refund.amountCents - takenOff, unreserved, leftThere);
  if (amountCents <= 0)
    return { facts: [...facts, failed(order, refund, NOTHING_DUE, { isTry: true })], amountCents: 0 };
  if (amountCents === refund.amountCents) return { facts, amountCents };
  const { tries = 0, nextTryAt = turn.now } = refund;
  const reduced = answered(order, refund, 'REDUCED', { amountCents, tries, nextTryAt });
  return { facts: [...facts, reduced], amountCents };
}

/** The currency of what the provider says was given back; null where the journal does not know it. */
function currencyOf({ refunds, purchase }: Order, { refundId, reference }: ProviderRefund): string | null {
  const known = refunds.find((each) => each.id === refundId || each.reference === reference);
  return known === undefined ? null : (known.currency ?? purchase.currency);
}

const NOTHING_DUE = { code: 'NOTHING_DUE', message: 'all of it was given back already' };
const FAILED_THERE = { code: 'FAILED', message: 'the provider says that the money did not go' };

/**
 * Records refunds that the journal does not know, or whose payment it does not know, and adds up what is deducted for
 * them.
 */
function recordOthers(
  order: Order,
  refund: RefundView,
  others: readonly ProviderRefund[],
  turn: OrderTurn,
): { readonly facts: readonly Fact[]; readonly takenOff: number; readonly recorded: number } {
  const provider = providerOf(order);
  const currency = refund.currency ?? order.purchase.currency;
  const checkoutSessionId = sessionOf(order, refund.paymentId);
  const facts: Fact[] = [];
  let takenOff = 0;
  let recorded = 0;
  // A refund that the provider lists under its own id matches no other entry of the list.
  let unmatched: readonly RefundView[] = order.refunds.filter(({ id }) => !others.some((each) => each.refundId === id));
  for (const { reference, refundId, amountCents, status } of others) {
    const known = order.refunds.find(
      (each) => each.status !== 'FAILED' && (each.reference === reference || each.id === refundId),
    );
    // An operator's note names no payment. Until the payment is recorded, this one would be asked for the money again
    // and again.
    const isComplete =
      known?.status !== undefined || (known && sessionOf(order, known.paymentId) === checkoutSessionId);
    // The recorded amount was limited by a refund that has failed since: no more than had come could be recorded.
    const isShort = known !== undefined && refundStatusOf(known) === 'SUCCEEDED' && known.amountCents < amountCents;
    if ((isComplete && !isShort) || provider === null) continue;
    const found = { provider, reference, amountCents, checkoutSessionId };
    const twin = known ?? twinOf({ ...order, refunds: unmatched }, found, currency);
    const unknown = isShort ? amountCents - known.amountCents : twin === undefined ? amountCents : 0;
    takenOff += unknown;
    const added = Math.min(unknown, notGivenBack(order, currency) - recorded);
    if (status === 'PENDING' || (unknown > 0 && added === 0)) continue;
    unmatched = unmatched.filter((each) => each !== twin);
    const record = {
      type: 'RecordRefund',
      orderId: order.id,
      checkoutSessionId,
      amountCents: added,
      currency,
      reference,
      provider,
      operator: null,
      note: null,
    } as const;
    facts.push(recordOf(order, record, twin, turn));
    recorded += added;
  }
  return { facts, takenOff, recorded };
}

/** The refund is there already, from a try whose answer was lost. */
function factsOfOwn(
  order: Order,
  refund: RefundView,
  { reference, amountCents, status }: ProviderRefund,
  recorded: number,
  now: number,
): readonly Fact[] {
  const currency = refund.currency ?? order.purchase.currency;
  const isRecorded = order.refunds.some(
    (other) => other !== refund && other.status !== 'FAILED' && other.reference === reference,
  );
  const given = Math.min(amountCents, notGivenBack(order, currency) - recorded);
  if (isRecorded || given <= 0) return [failed(order, refund, NOTHING_DUE, { isTry: true })];
  if (status === 'PENDING') return [atProvider(order, refund, reference, now)];
  return [succeeded(order, refund, { reference, amountCents: given, isTry: true })];
}

// ── once it was asked for ────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Decides on a provider's answer, or on its absence; nothing changes where a report came first. ORDER_NOT_FOUND,
 * NOT_FOUND.
 */
export function decideAnswerRefund(
  state: OrderState,
  command: CommandOf<'AnswerRefund'>,
  { now }: OrderTurn,
): Decision | Refusal {
  const about = refundOf(state, command);
  if (isRefusal(about)) return about;
  const { order, refund } = about;
  const facts = isTried(refund) ? [factOfAnswer(order, refund, command.answer, now)] : [];
  return { facts, reply: valuesReply<'AnswerRefund'>({}) };
}

function factOfAnswer(
  order: Order,
  refund: RefundView,
  answer: CommandOf<'AnswerRefund'>['answer'],
  now: number,
): Fact {
  const { tries: before = 0, amountCents, unclearSince = now, unclearTries = 0 } = refund;
  const tries = before + 1;
  switch (answer.outcome) {
    case 'SUCCEEDED':
      return succeeded(order, refund, { amountCents, ...answer, isTry: true });
    case 'PENDING':
      return atProvider(order, refund, answer.reference, now);
    case 'FAILED':
      return failed(order, refund, answer.failure ?? FAILED_THERE, { isTry: true, reference: answer.reference });
    case 'REFUSED':
      return answered(order, refund, 'NEEDS_OPERATOR', { failure: answer.failure, tries, keyTry: tries });
    case 'UNCLEAR': {
      const keyTry = answer.isAnswered && { keyTry: tries };
      const endsAt = unclearSince + UNCLEAR_MS_MAX;
      if (now >= endsAt) return answered(order, refund, 'NEEDS_OPERATOR', { failure: NO_ANSWER, tries, ...keyTry });
      const pauseMs = Math.min(PAUSE_MS_MIN * 2 ** unclearTries, HOUR_MS);
      return answered(order, refund, 'UNCLEAR', { tries, nextTryAt: Math.min(now + pauseMs, endsAt), ...keyTry });
    }
  }
}

const NO_ANSWER: RefundFailure = { code: 'NO_CLEAR_ANSWER', message: 'the provider gave no clear answer for 72 hours' };

/** The provider works on it (rule 3). */
function atProvider(order: Order, refund: RefundView, reference: string, now: number): Fact {
  const { tries = 0 } = refund;
  return answered(order, refund, 'PENDING', { tries: tries + 1, reference, nextTryAt: now + ASKED_ABOUT_EVERY_MS });
}

type Answered = FactData['RefundAnswered'];

function answered(
  { id: orderId }: Order,
  { id: refundId, amountCents, currency }: RefundView,
  answer: Answered['answer'],
  more: Pick<Answered, 'tries'> & Partial<Answered>,
): Fact {
  const about = { orderId, refundId, answer, amountCents, ...(currency !== undefined && { currency }) };
  return fact('RefundAnswered', { ...about, operator: null, note: null, ...more });
}

// ── refunds of the event ─────────────────────────────────────────────────────────────────────────────────────────────

export interface RefundPage {
  /** What all refunds of the event come to, and what is due. */
  readonly sums: RefundSums;
  readonly refunds: readonly (RefundView & { readonly orderId: string; readonly currency: string })[];
  readonly nextAfter: string | null;
}

/** Orders that one reading looks at. */
const REFUNDED_ORDERS_MAX = 200;

/**
 * A page of the refunds of the event; even if it is not the last, it may have fewer than `limit`, or none.
 * VALIDATION_ERROR for a position that no page ended with.
 */
export function listRefunds(
  { orders }: OrderState,
  {
    status,
    after,
    limit,
  }: { readonly status: RefundStatus | null; readonly after: string | null; readonly limit: number },
): RefundPage | Refusal {
  const [, number = '0', index = '-1'] = /^(\d{1,16})\.(\d{1,16})$/.exec(after ?? '0.-1') ?? [];
  if (after !== null && index === '-1') {
    return refuseProblems([{ path: ['cursor'], message: 'is not a cursor of this list' }]);
  }
  const { refunds: all } = orders;
  const refunds: RefundPage['refunds'][number][] = [];
  const numbers = all.ordersFrom(Number(number), REFUNDED_ORDERS_MAX + 1);
  for (const each of numbers.slice(0, REFUNDED_ORDERS_MAX)) {
    const { id: orderId, purchase, refunds: ofOrder } = orders.inOrder.at(each);
    for (const [place, refund] of ofOrder.entries()) {
      if (each === Number(number) && place <= Number(index)) continue;
      if (status !== null && refundStatusOf(refund) !== status) continue;
      refunds.push({ currency: purchase.currency, ...refund, orderId });
      if (refunds.length === limit) return { sums: all.sums, refunds, nextAfter: `${each}.${place}` };
    }
  }
  const next = numbers[REFUNDED_ORDERS_MAX];
  // No refund of the order before the next one is left.
  return { sums: all.sums, refunds, nextAfter: next === undefined ? null : `${next - 1}.${Number.MAX_SAFE_INTEGER}` };
}
