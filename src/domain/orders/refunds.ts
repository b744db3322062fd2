/**
 * Money given back: what of an order is owed, in which currency, and which refunds are one and the same.
 *
 * Owns the decision on refunds and the sums by currency; an order's own sums are in `orders.ts`, the providers' reports of refunds
 * come through `payments/webhooks.ts`.
 *
 * 1. Never more is given back than came, in each currency by itself. Amounts of two currencies are never added up.
 * 2. A refund with a reference that the order has already is a repeat and counts once. Spaces around a reference are ignored.
 * 3. What an operator noted without a reference and what the provider reports with the same amount are one refund, in whichever
 *    order they come; each note is matched with one report at most. A refund that is another one needs a reference of its own.
 */
import { fact, type Fact, type FactData } from '../fact.ts';
import { invariant } from '../invariant.ts';
import { orderById, paidCents, refundDueCents, refundedCents, type Order } from './orders.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import type { PaymentProviderName } from '../catalogue/definition.ts';
import type { CommandOf } from '../command.ts';
import type { TurnIds } from '../ids.ts';
import type { CurrencyAmount, RefundView } from '../views.ts';
import type { EventState } from '../event-state.ts';
import type { Decision } from '../decision.ts';

/** As long as the ids of any provider; an operator's may be a line of a bank statement. */
export const REFUND_REFERENCE_LENGTH_MAX = 255;

/** All that is owed to the buyer, by currency; the order's own is the first. */
export function refundsDue(order: Order): readonly CurrencyAmount[] {
  const { currency } = order.purchase;
  const all = [{ amountCents: refundDueCents(order), currency }];
  for (const foreign of foreignCurrencies(order)) {
    all.push({ amountCents: refundable(order, foreign), currency: foreign });
  }
  return all.filter(({ amountCents }) => amountCents > 0);
}

/** What came in a currency and was not given back. */
export function refundable(order: Order, currency: string): number {
  if (currency === order.purchase.currency) return Math.max(0, paidCents(order) - refundedCents(order));
  let left = 0;
  for (const payment of order.payments) {
    if (payment.status === 'PAID' && payment.currency === currency) left += payment.amountCents;
  }
  for (const refund of order.refunds) if (refund.currency === currency) left -= refund.amountCents;
  return Math.max(0, left);
}

function foreignCurrencies({ payments, purchase }: Order): ReadonlySet<string> {
  const foreign = payments.filter(({ status, currency }) => status === 'PAID' && currency !== purchase.currency);
  return new Set(foreign.map(({ currency }) => currency));
}

/**
 * Records money that was given back; nothing for a repeat (2). ORDER_NOT_FOUND, for an order of another provider than the one that
 * reports too; REFUND_TOO_HIGH.
 */
export function decideRecordRefund(
  state: EventState,
  given: CommandOf<'RecordRefund'>,
  ids: TurnIds,
): Decision | Refusal {
  const command = { ...given, reference: given.reference?.trim() ?? null };
  const order = orderById(state, command.orderId);
  if (isRefusal(order)) return order;
  const facts = factsOfRefund(order, command, ids);
  if (isRefusal(facts)) return facts;
  return { facts, reply: { shows: 'ORDER', orderId: order.id, repeated: facts.length === 0 } };
}

function factsOfRefund(order: Order, command: CommandOf<'RecordRefund'>, ids: TurnIds): readonly Fact[] | Refusal {
  const { purchase } = order;
  const { provider, amountCents, reference, operator, note } = command;
  if (provider !== null && provider !== purchase.paymentProvider) return refuse('ORDER_NOT_FOUND', {});
  if (isKnown(order, command)) return [];
  const currency = command.currency ?? purchase.currency;
  const details = { orderId: order.id, operator, note, ...referenceOf(reference), ...reporterOf(provider) };
  const twin = twinOf(order, command, currency);
  if (twin !== undefined) {
    const due = refundDueCents(order);
    return [
      fact('RefundRecorded', { ...details, refundId: twin.id, sameAs: twin.id, amountCents: 0, refundDueCents: due }),
    ];
  }
  const limit = refundable(order, currency);
  if (amountCents > limit) return refuse('REFUND_TOO_HIGH', { refundable: limit, requested: amountCents });
  const isOwn = currency === purchase.currency;
  const due = Math.max(0, refundDueCents(order) - (isOwn ? amountCents : 0));
  const refundId = ids.newId('ref');
  return [
    fact('RefundRecorded', { ...details, refundId, amountCents, refundDueCents: due, ...(!isOwn && { currency }) }),
  ];
}

const referenceOf = (reference: string | null) => reference !== null && { reference };
const reporterOf = (provider: PaymentProviderName | null) => provider !== null && { provider };

/** Whether the order has a refund of this reference (2); the first version kept a provider's in the note. */
function isKnown({ refunds }: Order, { reference, provider }: CommandOf<'RecordRefund'>): boolean {
  if (reference === null) return false;
  const oldNote = provider === null ? undefined : `${provider} ${reference}`;
  return refunds.some((refund) => refund.reference === reference || (refund.note !== null && refund.note === oldNote));
}

/** The other side's record of the same refund (3). */
function twinOf(
  { refunds, purchase }: Order,
  { amountCents, provider, reference }: CommandOf<'RecordRefund'>,
  currency: string,
): RefundView | undefined {
  const isReport = provider !== null;
  if (!isReport && reference !== null) return undefined;
  return refunds.find((refund) => {
    const isSameMoney = refund.amountCents === amountCents && (refund.currency ?? purchase.currency) === currency;
    if (!isSameMoney || refund.isMatched === true) return false;
    return isReport ? refund.provider === undefined && refund.reference === undefined : refund.provider !== undefined;
  });
}

/** Adds a refund to its order, or adds what a further record says of one that is there. */
export function keepRefund(order: Order, data: FactData['RefundRecorded'], at: number): void {
  const { refundId: id, amountCents, operator, note, reference, provider, sameAs } = data;
  const said = { ...referenceOf(reference ?? null), ...reporterOf(provider ?? null) };
  if (sameAs !== undefined) {
    const index = order.refunds.findIndex((refund) => refund.id === sameAs);
    const known = order.refunds[index];
    invariant(known !== undefined && known.isMatched !== true, 'a refund is matched once (3)');
    const mark = { operator: known.operator ?? operator, note: known.note ?? note };
    order.refunds[index] = { ...known, ...mark, ...said, isMatched: true };
    return;
  }
  const currency = currencyOf(order, data);
  const isOwn = currency === order.purchase.currency;
  order.refunds.push({ id, amountCents, operator, note, at, ...said, ...(!isOwn && { currency }) });
  invariant(isCovered(order), 'never more is given back than was paid (1)');
}

/** Facts of the first version name no currency: what cannot be the order's own money was that of another. */
function currencyOf(order: Order, { amountCents, currency }: FactData['RefundRecorded']): string {
  const own = order.purchase.currency;
  if (currency !== undefined) return currency;
  if (amountCents <= refundable(order, own)) return own;
  return [...foreignCurrencies(order)].find((foreign) => amountCents <= refundable(order, foreign)) ?? own;
}

/** Over all currencies, because the first version did not tell them apart. */
export function isCovered({ payments, refunds }: Order): boolean {
  const came = payments.reduce((sum, { status, amountCents }) => sum + (status === 'PAID' ? amountCents : 0), 0);
  return refunds.reduce((sum, { amountCents }) => sum + amountCents, 0) <= came;
}
