/**
 * Money given back: which refunds are one and the same, and how much may be given back.
 *
 * 1. Never more is given back than came, in each currency by itself.
 * 2. A refund with a reference that the order has already is a repeat and counts once; spaces around a reference do not count.
 * 3. What an operator noted without a reference and what the provider reports with the same amount are one refund, in whichever
 *    order they come; each note is matched with one report at most. Another refund needs a reference of its own.
 */
import { fact, type Fact } from '../fact.ts';
import { refundable, refundDueCents, type Order } from './order.ts';
import { sealMark } from './erasure.ts';
import { orderById } from './state.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import type { PaymentProviderName } from '../catalogue/definition.ts';
import type { CommandOf } from '../command.ts';
import type { OrderTurn } from './turn.ts';
import type { RefundView } from '../views.ts';
import type { EventState } from '../event-state.ts';
import type { Decision } from '../decision.ts';

/** As long as the ids of any provider; an operator's may be a line of a bank statement. */
export const REFUND_REFERENCE_LENGTH_MAX = 255;

/**
 * Records money that was given back; nothing for a repeat (2). ORDER_NOT_FOUND, for an order of another provider than the one that
 * reports too; REFUND_TOO_HIGH.
 */
export function decideRecordRefund(
  state: EventState,
  given: CommandOf<'RecordRefund'>,
  turn: OrderTurn,
): Decision | Refusal {
  const command = { ...given, reference: given.reference?.trim() ?? null };
  const order = orderById(state, command.orderId);
  if (isRefusal(order)) return order;
  const facts = factsOfRefund(order, command, turn);
  if (isRefusal(facts)) return facts;
  return { facts, reply: { shows: 'ORDER', orderId: order.id, repeated: facts.length === 0 } };
}

function factsOfRefund(order: Order, command: CommandOf<'RecordRefund'>, turn: OrderTurn): readonly Fact[] | Refusal {
  const { purchase } = order;
  const { provider, amountCents, reference } = command;
  if (provider !== null && provider !== purchase.paymentProvider) return refuse('ORDER_NOT_FOUND', {});
  if (isKnown(order, command)) return [];
  const currency = command.currency ?? purchase.currency;
  const details = { orderId: order.id, ...referenceOf(reference), ...reporterOf(provider) };
  const markOf = () => sealMark(order.id, 'RefundRecorded', command, turn);
  const twin = twinOf(order, command, currency);
  if (twin !== undefined) {
    const due = refundDueCents(order);
    return [
      fact('RefundRecorded', {
        ...details,
        ...markOf(),
        refundId: twin.id,
        sameAs: twin.id,
        amountCents: 0,
        refundDueCents: due,
      }),
    ];
  }
  const limit = refundable(order, currency);
  if (amountCents > limit) return refuse('REFUND_TOO_HIGH', { refundable: limit, requested: amountCents });
  const isOwn = currency === purchase.currency;
  const due = Math.max(0, refundDueCents(order) - (isOwn ? amountCents : 0));
  const refundId = turn.newId('ref');
  return [
    fact('RefundRecorded', {
      ...details,
      ...markOf(),
      refundId,
      amountCents,
      refundDueCents: due,
      ...(!isOwn && { currency }),
    }),
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
