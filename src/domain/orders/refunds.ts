/**
 * Money given back: which records are of the same refund, and how much may be given back.
 *
 * 1. Never more is given back than came, in each currency by itself.
 * 2. A refund with a reference that the order has already is a repeat and counts once; spaces around a reference do not
 *    count.
 * 3. What an operator noted without a reference and what the provider reports with the same amount are one refund, in
 *    whichever order they come; each note is matched with one report at most. Another refund needs a reference of its
 *    own. One that an operator resolved as given back without a reference is such a note.
 * 4. A refund that was executed here is recognized by its id or reference, and only moves forward: a report that is
 *    delivered late changes nothing. Any other refund is recorded once it has succeeded.
 * 5. A report that names no refund and whatever else is known of the same amount are one refund, in whichever order
 *    they come; each refund has one such report at most. The report may be about a refund that the provider began and
 *    that has failed since. Counted as another refund it would hide that money is due; a try finds what was given back
 *    besides.
 * 6. Two records that name payments of different sessions are two refunds, because installments are usually equal.
 * 7. Reports come in any order: a failed refund is kept even if nothing else is known of it, so that an older report
 *    does not count it as given back.
 */
import { fact, type Fact } from '../fact.ts';
import { isReserved, notGivenBack, providerOf, refundable, refundDueCents, type Order, type Payment } from './order.ts';
import { failed, succeeded } from './refund-requests.ts';
import { sealMark } from './erasure.ts';
import { orderById, type OrderTurn, type OrderState } from './state.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../refusal.ts';
import type { PaymentProviderName } from '../catalogue/definition.ts';
import type { CommandOf } from '../command.ts';
import type { RefundView } from '../view.ts';
import type { Decision } from '../decision.ts';

/** As long as the ids of any provider; an operator's may be a line of a bank statement. */
export const REFUND_REFERENCE_LENGTH_MAX = 255;

/**
 * Records money that was given back; nothing for a repeat (rule 2). ORDER_NOT_FOUND, for an order of another provider
 * than the one that reports too; REFUND_TOO_HIGH.
 */
export function decideRecordRefund(
  state: OrderState,
  given: CommandOf<'RecordRefund'>,
  turn: OrderTurn,
): Decision | Refusal {
  const command = { ...given, reference: given.reference?.trim() ?? null };
  const order = orderOf(state, command);
  if (isRefusal(order)) return order;
  const facts = factsOfRefund(order, command, turn);
  if (isRefusal(facts)) return facts;
  return { facts, reply: { shows: 'ORDER', orderId: order.id, repeated: facts.length === 0 } };
}

/** By its id, or else by the session that the report names: ORDER_NOT_FOUND. */
function orderOf(state: OrderState, { orderId, checkoutSessionId }: CommandOf<'RecordRefund'>): Order | Refusal {
  if (orderId !== null) return orderById(state, orderId);
  return state.orders.byPayment.get(checkoutSessionId ?? '') ?? refuse('ORDER_NOT_FOUND', {});
}

function factsOfRefund(order: Order, command: CommandOf<'RecordRefund'>, turn: OrderTurn): readonly Fact[] | Refusal {
  const { purchase } = order;
  const { provider, amountCents } = command;
  if (provider !== null && provider !== providerOf(order)) return refuse('ORDER_NOT_FOUND', {});
  const executed = executedOf(order, command);
  if (executed !== undefined) return factsOfReport(order, executed, command);
  if (command.status === 'PENDING' || isKnown(order, command)) return [];
  const currency = command.currency ?? purchase.currency;
  const twin = twinOf(order, command, currency);
  if (command.status === 'FAILED') return factsOfFailure(order, command, twin, turn);
  // Money that a provider gave back is gone, whatever else was requested.
  const limit = provider === null ? refundable(order, currency) : notGivenBack(order, currency);
  if (twin === undefined && amountCents > limit) {
    return refuse('REFUND_TOO_HIGH', { refundable: limit, requested: amountCents });
  }
  return [recordOf(order, twin === undefined ? command : { ...command, amountCents: 0 }, twin, turn)];
}

/**
 * The fact of money that was given back elsewhere; where its twin is recorded already, only of the amount beyond it.
 */
export function recordOf(
  order: Order,
  command: CommandOf<'RecordRefund'>,
  twin: RefundView | undefined,
  turn: OrderTurn,
): Fact {
  const { purchase } = order;
  const { amountCents, provider, currency } = command;
  const isOwn = currency === null || currency === purchase.currency;
  const due = refundDueCents(order);
  // For a report that names only the charge, the matching note is a guess, so it must not bind later reports.
  const isNoted = twin?.status === undefined && command.reference !== null;
  const saysPayment = twin === undefined || (isNoted && sessionOf(order, twin.paymentId) !== command.checkoutSessionId);
  const known = { refundId: twin?.id ?? turn.newId('ref'), ...(twin !== undefined && { sameAs: twin.id }) };
  return fact('RefundRecorded', {
    orderId: order.id,
    ...referencesOf(command),
    ...reporterOf(provider),
    ...(saysPayment && paymentIdOf(order, command)),
    ...sealMark(order.id, 'RefundRecorded', command, turn),
    ...known,
    amountCents,
    refundDueCents: isOwn ? Math.max(0, due - amountCents) : due,
    ...((twin === undefined || amountCents > 0) && !isOwn && { currency }),
  });
}

/** The refund that a report of a provider is about, where it was executed here, or has failed since (rule 4). */
function executedOf({ refunds }: Order, command: CommandOf<'RecordRefund'>): RefundView | undefined {
  const { provider, refundId, reference, status } = command;
  if (provider === null) return undefined;
  const byId = refunds.find((refund) => refund.id === refundId && refund.status !== undefined);
  // A refund under the id of a failed one is recorded as another refund, with the reference.
  if (reference === null || (byId !== undefined && byId.status !== 'FAILED')) return byId;
  const byReference = refunds.findLast(
    (refund) => refund.reference === reference && (refund.status !== undefined || status === 'FAILED'),
  );
  return byReference ?? byId;
}

/** What a report of a refund that is known by its id or reference changes (rule 4). */
function factsOfReport(order: Order, refund: RefundView, command: CommandOf<'RecordRefund'>): readonly Fact[] {
  const { status = 'SUCCEEDED', amountCents, reference, failure = REPORTED_FAILED } = command;
  if (status === 'PENDING') return [];
  if (status === 'FAILED')
    return refund.status === 'FAILED' ? [] : [failed(order, refund, failure, referencesOf(command))];
  return isReserved(refund) ? [succeeded(order, refund, { reference, amountCents, isTry: false })] : [];
}

/**
 * A refund that was made elsewhere has failed: its recorded amount is taken off, and a report of its success may still
 * come (rule 7).
 */
function factsOfFailure(
  order: Order,
  command: CommandOf<'RecordRefund'>,
  twin: RefundView | undefined,
  turn: OrderTurn,
): readonly Fact[] {
  const { amountCents, currency, checkoutSessionId = null, failure = REPORTED_FAILED } = command;
  if (twin !== undefined) return [failed(order, twin, failure, referencesOf(command))];
  const paid = paidIn(order, currency);
  // The payment of a failed refund does not matter, and not every provider names its session.
  const payment = checkoutSessionId === null ? paid.at(-1) : paid.find(isOfSession(order, checkoutSessionId));
  if (payment === undefined) return [];
  const isOwn = currency === null || currency === order.purchase.currency;
  const said = { refundId: turn.newId('ref'), amountCents, paymentId: payment.id, ...(!isOwn && { currency }) };
  const requested = fact('RefundRequested', { orderId: order.id, ...said, operator: null, note: null });
  const refund = { ...said, id: said.refundId, at: turn.now, operator: null, note: null };
  return [requested, failed(order, { ...refund, status: 'PENDING' }, failure, referencesOf(command))];
}

const REPORTED_FAILED = { code: 'FAILED', message: 'the provider reports that the money did not go' };

/** The payment of the session that a report names, in its currency. */
function paymentIdOf(order: Order, { checkoutSessionId = null, currency }: CommandOf<'RecordRefund'>) {
  const payment = checkoutSessionId !== null && paidIn(order, currency).find(isOfSession(order, checkoutSessionId));
  return payment !== false && payment !== undefined && { paymentId: payment.id };
}

function paidIn({ payments, purchase }: Order, currency: string | null): readonly Payment[] {
  return payments.filter((each) => each.status === 'PAID' && each.currency === (currency ?? purchase.currency));
}

/** The session through which the money of a payment came; for stray money, the session of another payment. */
export function sessionOf({ payments }: Pick<Order, 'payments'>, paymentId: string | undefined): string | null {
  const payment = payments.find(({ id }) => id === paymentId);
  return payments.find(({ id }) => id === (payment?.strayOf ?? paymentId))?.checkoutSessionId ?? null;
}

const isOfSession = (order: Order, checkoutSessionId: string) => (payment: Payment) =>
  sessionOf(order, payment.id) === checkoutSessionId;

const referencesOf = ({ reference, reportReference }: CommandOf<'RecordRefund'>) => ({
  ...(reference !== null && { reference }),
  ...(reportReference !== undefined && { reportReference }),
});
const reporterOf = (provider: PaymentProviderName | null) => provider !== null && { provider };

/**
 * Whether the order has a refund of this reference (rule 2). The first version kept a provider's in the note, and the
 * reference of a report that names no refund was kept as that of the refund.
 */
function isKnown({ refunds }: Order, command: CommandOf<'RecordRefund'>): boolean {
  const { provider, reportReference } = command;
  const reference = command.reference ?? reportReference;
  if (reference === undefined) return false;
  const oldNote = provider === null ? undefined : `${provider} ${reference}`;
  return refunds.some(
    (refund) =>
      refund.reference === reference ||
      (reportReference !== undefined && refund.reportReference === reportReference) ||
      (refund.note !== null && refund.note === oldNote),
  );
}

/**
 * Another record of the same refund (rules 3, 5 and 6). A refund that was executed here and is named is no operator's
 * note.
 */
export function twinOf(
  { refunds, purchase, payments }: Pick<Order, 'purchase' | 'payments'> & { readonly refunds: readonly RefundView[] },
  {
    amountCents,
    provider,
    reference,
    reportReference,
    checkoutSessionId = null,
  }: Pick<
    CommandOf<'RecordRefund'>,
    'amountCents' | 'provider' | 'reference' | 'reportReference' | 'checkoutSessionId'
  >,
  currency: string,
): RefundView | undefined {
  const isOfOtherSession = ({ paymentId }: RefundView): boolean => {
    const session = sessionOf({ payments }, paymentId);
    return session !== null && checkoutSessionId !== null && session !== checkoutSessionId;
  };
  const ofSameMoney = refunds.filter(
    (refund) =>
      refund.amountCents === amountCents &&
      (refund.currency ?? purchase.currency) === currency &&
      !isOfOtherSession(refund),
  );
  if (reportReference !== undefined) {
    const isBegun = ({ status, reference: named }: RefundView): boolean => status !== 'FAILED' || named !== undefined;
    return ofSameMoney.find((refund) => refund.reportReference === undefined && isBegun(refund));
  }
  const isReport = provider !== null;
  return ofSameMoney.find((refund) => {
    const isResolved = isReport && refund.status === 'SUCCEEDED';
    if (refund.status !== undefined && !isResolved) return false;
    const isUnnamed = refund.reference === undefined;
    const isReported = refund.provider !== undefined;
    if (isReport) return isUnnamed && (!isReported || refund.reportReference !== undefined);
    return isReported && refund.isMatched !== true && (isUnnamed || reference === null);
  });
}

/**
 * What an operator decides about a refund that needs one: it is tried anew, or was given back, or was not.
 * ORDER_NOT_FOUND; NOT_FOUND; REFUND_NOT_OPEN; VALIDATION_ERROR for the reference of another refund; REFUND_TOO_HIGH
 * where that much cannot have been given back.
 */
export function decideResolveRefund(
  state: OrderState,
  command: CommandOf<'ResolveRefund'>,
  turn: OrderTurn,
): Decision | Refusal {
  const { orderId, refundId, outcome } = command;
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  const refund = order.refunds.find(({ id }) => id === refundId);
  if (refund === undefined) return refuse('NOT_FOUND', {});
  const { status = 'SUCCEEDED', currency, amountCents, tries = 0 } = refund;
  if (status !== 'NEEDS_OPERATOR') return refuse('REFUND_NOT_OPEN', { status });
  const reference = command.reference?.trim() ?? null;
  if (reference !== null && order.refunds.some((other) => other !== refund && other.reference === reference)) {
    return refuseProblems([
      { path: ['reference'], message: 'must not be the reference of another refund of the order' },
    ]);
  }
  const limit = notGivenBack(order, currency ?? order.purchase.currency);
  // The provider's report of the same money (rule 3): the money counts there.
  const noted = {
    ...({ type: 'RecordRefund', orderId, reference, amountCents, currency: currency ?? null, provider: null } as const),
    ...{ operator: command.operator, note: null, checkoutSessionId: sessionOf(order, refund.paymentId) },
  };
  const reported = reference === null ? twinOf(order, noted, currency ?? order.purchase.currency) : undefined;
  if (outcome === 'GIVEN_BACK' && reported === undefined && amountCents > limit) {
    return refuse('REFUND_TOO_HIGH', { refundable: limit, requested: amountCents });
  }
  const by = sealMark(orderId, 'RefundRecorded', command, turn);
  const referred = reference !== null && { reference };
  const decided = {
    RETRY: () =>
      fact('RefundAnswered', {
        orderId,
        refundId,
        answer: 'RETRY',
        amountCents,
        ...(currency !== undefined && { currency }),
        tries,
        nextTryAt: turn.now,
        ...by,
      }),
    GIVEN_BACK: () => {
      const given = { reference, isTry: false, by };
      if (reported === undefined) return succeeded(order, refund, { ...given, amountCents });
      const matched = recordOf(order, { ...noted, amountCents: 0 }, reported, turn);
      return [succeeded(order, refund, { ...given, amountCents: 0 }), matched];
    },
    NOT_GIVEN_BACK: () => failed(order, refund, refund.failure ?? NOT_GIVEN_BACK, { ...referred, by }),
  };
  return { facts: [decided[outcome]()].flat(), reply: { shows: 'ORDER', orderId, repeated: false } };
}

const NOT_GIVEN_BACK = { code: 'NOT_GIVEN_BACK', message: 'an operator says that the money was not given back' };
