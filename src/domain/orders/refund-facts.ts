/** Applies facts to the refunds of an order: requested, answered, given back. */
import { follow } from '#machines/compile.ts';
import { refundTransitions } from '#machines/refund.ts';
import { invariant } from '../invariant.ts';
import { foreignCurrencies, isCovered, notGivenBack, refundStatusOf, type Order } from './order.ts';
import { openOrder, type Orders, type OrderState } from './state.ts';
import type { FactData, FactOf, FactType, SealedOperatorNote } from '../fact.ts';

/** The types of facts that may change what is due to a buyer. */
const MONEY: ReadonlySet<FactType> = new Set<FactType>([
  'PaymentRecorded',
  'StrayMoneyRecorded',
  'OrderPaid',
  'OrderExpired',
  'OrderAmended',
  'OrderCancelled',
  'RefundRequested',
  'RefundAnswered',
  'RefundRecorded',
]);

/**
 * Counts what is due to the order of a fact, the fees that the order keeps, and its refund; with -1 takes out the
 * values from before the fact.
 */
export function countRefunds(
  orders: Orders,
  { type, data }: { readonly type: FactType; readonly data: { readonly orderId: string; readonly refundId?: string } },
  sign: 1 | -1,
): void {
  if (!MONEY.has(type)) return;
  const order = openOrder(orders, data.orderId);
  orders.refunds.noteDue(order, sign);
  orders.money.noteFees(order, sign);
  if (data.refundId === undefined) return;
  const id = 'sameAs' in data ? data.sameAs : data.refundId;
  orders.refunds.note(
    order,
    order.refunds.find((refund) => refund.id === id),
    sign,
  );
}

/** Notes the execution of everything that is due, until all of it is requested. */
export function noteDueRefunds(
  { orders }: OrderState,
  happened: FactOf<'DueRefundsOrdered' | 'DueRefundsAsked'>,
): void {
  if (happened.type === 'DueRefundsOrdered') orders.executing.push(happened.data as FactData['DueRefundsOrdered']);
  else orders.executing.shift();
}

export function evolveRefundRequested(state: OrderState, data: FactData['RefundRequested'], at: number): void {
  const { orderId, refundId: id, ...said } = data;
  const order = openOrder(state.orders, orderId);
  const tried = { tries: 0, unclearSince: at, nextTryAt: at };
  order.refunds.push({ id, at, ...said, status: refundTransitions.initial, ...tried });
}

const triggerOfAnswer = { FAILED: 'FAIL', NEEDS_OPERATOR: 'STOP', RETRY: 'RETRY' } as const;

export function evolveRefundAnswered(state: OrderState, data: FactData['RefundAnswered'], at: number): void {
  const order = openOrder(state.orders, data.orderId);
  const index = order.refunds.findIndex(({ id }) => id === data.refundId);
  const known = order.refunds[index];
  invariant(known !== undefined, 'an answer about a refund names one of its order');
  const { answer, amountCents, tries, reference, failure, keyTry, nextTryAt } = data;
  const { nextTryAt: _nextTryAt, unclearTries = 0, failure: _failure, reportReference, ...before } = known;
  const status = refundStatusOf(known);
  // A reduced refund is not at the provider yet: the report was about another refund of its former amount.
  const isReported = reportReference !== undefined && answer !== 'REDUCED';
  if (answer === 'FAILED' && status === 'SUCCEEDED') {
    const { finishedAt = known.at, currency = order.purchase.currency } = known;
    state.orders.money.noteRefund(finishedAt, known.amountCents, currency, -1);
  }
  const isUnclear = answer === 'UNCLEAR';
  const isClear = answer === 'PENDING' || answer === 'RETRY';
  const isOpen = answer === 'PENDING' || answer === 'UNCLEAR' || answer === 'REDUCED';
  order.refunds[index] = {
    ...before,
    status: isOpen ? status : follow(refundTransitions, status, triggerOfAnswer[answer]),
    amountCents,
    tries,
    ...(isReported && { reportReference }),
    ...(reference !== undefined && { reference }),
    ...(failure !== undefined && { failure }),
    ...(keyTry !== undefined && { keyTry }),
    ...(isUnclear && { unclearTries: unclearTries + 1 }),
    ...(answer === 'REDUCED' && unclearTries > 0 && { unclearTries }),
    ...(isClear && { unclearSince: at }),
    ...(nextTryAt !== undefined && { nextTryAt }),
    ...(answer === 'FAILED' && { finishedAt: at }),
  };
  addNote(order, index, data);
}

/** Adds the data of a further record of a refund; a second note is kept, but not shown. */
function addNote(order: Order, index: number, { operator, note, sealedNote }: SealedOperatorNote): void {
  const known = order.refunds[index]!;
  const isNoted = known.note !== null || known.sealedNote !== undefined;
  order.refunds[index] = {
    ...known,
    operator: known.operator ?? operator,
    note: known.note ?? note,
    ...(!isNoted && sealedNote !== undefined && { sealedNote }),
  };
  if (isNoted && sealedNote !== undefined) order.unshownNotes = [...(order.unshownNotes ?? []), sealedNote];
}

/**
 * Adds a refund to its order, or a further record to a known refund; a refund that was requested has then succeeded.
 */
export function evolveRefundRecorded(state: OrderState, data: FactData['RefundRecorded'], at: number): void {
  const order = openOrder(state.orders, data.orderId);
  const { refundId: id, amountCents, operator, note, sealedNote, provider, sameAs } = data;
  const { reference, reportReference, paymentId, isExecuted, tries = 0 } = data;
  const said = {
    ...(paymentId !== undefined && { paymentId }),
    ...(reference !== undefined && { reference }),
    ...(reportReference !== undefined && { reportReference }),
    ...(provider !== undefined && { provider }),
  };
  const sealed = sealedNote !== undefined && { sealedNote };
  if (sameAs !== undefined) {
    const index = order.refunds.findIndex((refund) => refund.id === sameAs);
    const known = order.refunds[index];
    invariant(known !== undefined, 'a record of a refund that is known names it');
    const isOfOther = (known.provider === undefined) !== (provider === undefined);
    const sum = known.amountCents + amountCents;
    order.refunds[index] = { ...known, ...said, amountCents: sum, ...(isOfOther && { isMatched: true }) };
    const { finishedAt = known.at, currency = order.purchase.currency } = known;
    if (amountCents > 0) {
      // It counts once, as after a restore.
      state.orders.money.noteRefund(finishedAt, known.amountCents, currency, -1);
      state.orders.money.noteRefund(finishedAt, sum, currency);
    }
    invariant(isCovered(order), 'no more is given back than was paid');
    return addNote(order, index, data);
  }
  const currency = currencyOf(order, data);
  const isOwn = currency === order.purchase.currency;
  if (isExecuted === true) {
    const index = order.refunds.findIndex((refund) => refund.id === id);
    const known = order.refunds[index];
    invariant(known !== undefined, 'a refund that was executed was requested before');
    const { nextTryAt: _nextTryAt, unclearTries: _unclearTries, failure: _failure, ...before } = known;
    const status = follow(refundTransitions, refundStatusOf(known), 'SUCCEED');
    order.refunds[index] = { ...before, ...said, status, amountCents, tries, finishedAt: at };
    addNote(order, index, data);
  } else {
    order.refunds.push({ id, amountCents, operator, note, at, ...said, ...sealed, ...(!isOwn && { currency }) });
  }
  state.orders.money.noteRefund(at, amountCents, currency);
  invariant(isCovered(order), 'no more is given back than was paid');
}

/**
 * Facts of the first version name no currency: an amount that the order's own currency cannot cover was of another one.
 * Reserved money counts as available, because it may be the refund itself, or was given back at the provider's page
 * meanwhile.
 */
function currencyOf(order: Order, { amountCents, currency }: FactData['RefundRecorded']): string {
  const own = order.purchase.currency;
  if (currency !== undefined) return currency;
  if (amountCents <= notGivenBack(order, own)) return own;
  return [...foreignCurrencies(order)].find((foreign) => amountCents <= notGivenBack(order, foreign)) ?? own;
}
