/**
 * Holds, orders and payments of the reference model, and an order's money and units, counted from plain lists.
 *
 * Functions without state of their own.
 */
import type { HoldLine, OrderItem } from '#domain/fact.ts';

export interface ModelHold {
  readonly id: string;
  readonly sessionKey: string;
  status: 'ACTIVE' | 'CONVERTED' | 'CONSUMED' | 'RELEASED' | 'EXPIRED';
  lines: readonly HoldLine[];
  expiresAt: number;
  readonly firstPlacedAt: number;
  orderId: string | null;
  /** The time of the fact that ended it; null before. */
  endedAt: number | null;
}

export interface ModelPayment {
  readonly installment: number;
  readonly amountCents: number;
  readonly currency: string;
  status: 'WAITING' | 'OVER';
  session: string | null;
  isCounted: boolean;
  paidCents: number | null;
  webhookId: string | null;
  readonly strayOf: string | null;
}

export interface ModelOrder {
  readonly id: string;
  readonly holdId: string;
  status: 'PENDING' | 'PARTIALLY_PAID' | 'CONFIRMED' | 'EXPIRED' | 'CANCELLED';
  cause: string | null;
  readonly placedAt: number;
  readonly email: string;
  codes: ReadonlySet<string>;
  ticketCount: number;
  beers: number;
  totalCents: number;
  /** What was paid and what is left, one after the other. */
  installmentsCents: readonly number[];
  items: readonly OrderItem[];
  feesCents: number;
  goodwillCents: number;
  /** How many there were. */
  amendments: number;
  /** Tickets that amendments made void. */
  readonly voided: string[];
  isEndedByAmendment: boolean;
  readonly expiresAt: number | null;
  readonly payments: Map<string, ModelPayment>;
  tickets: readonly string[];
  readonly provider: string;
  readonly currency: string;
  /** Those that were given back. */
  refunds: ModelRefund[];
  /** Sealed texts that are not erased. */
  sealedTexts: number;
  isErased: boolean;
}

interface ModelRefund {
  readonly id: string;
  readonly amountCents: number;
  readonly currency: string;
  reference: string | null;
  /** Of which payment, where somebody said so. */
  paymentId: string | null;
  /** Who reported it: the operator, the provider, or both. */
  readonly reportedBy: Set<'OPERATOR' | 'PROVIDER' | 'CHARGE'>;
}

/** A unit of an order with the item that it is of. */
interface Unit {
  readonly item: OrderItem;
  readonly ticketIds: readonly string[];
}

/** The units of an order, in the order of its tickets. */
export function unitsOf({ items, tickets }: ModelOrder): readonly Unit[] {
  let begin = 0;
  return items.flatMap((item) =>
    Array.from({ length: item.quantity }, () => {
      const ticketIds = tickets.slice(begin, (begin += item.ticketCount / item.quantity));
      return { item, ticketIds };
    }),
  );
}

/** The money paid for an order in a currency; amounts of two currencies are never added. */
export function paidOf({ payments, ...order }: ModelOrder, currency = order.currency): number {
  const ofCurrency = [...payments.values()].filter((payment) => payment.currency === currency);
  return ofCurrency.reduce((sum, { paidCents }) => sum + (paidCents ?? 0), 0);
}

export function refundedOf({ refunds, ...order }: ModelOrder, currency = order.currency): number {
  const ofCurrency = refunds.filter((refund) => refund.currency === currency);
  return ofCurrency.reduce((sum, { amountCents }) => sum + amountCents, 0);
}

const countedParts = ({ payments }: ModelOrder): number[] =>
  [...payments.values()].filter(({ isCounted }) => isCounted).map(({ paidCents }) => paidCents ?? 0);

/** The money that an order took. */
export const countedOf = (order: ModelOrder): number => countedParts(order).reduce((sum, cents) => sum + cents, 0);

export const remainingOf = (order: ModelOrder): number => Math.max(0, order.totalCents - countedOf(order));

/** Promise 14, of an order that is live or was ended by an amendment. */
export function dueOf(order: ModelOrder): number {
  return Math.max(0, paidOf(order) - Math.min(countedOf(order), order.totalCents) - refundedOf(order));
}

/** What is left over the installments that are not paid: larger first, at most a cent apart. */
export function splitAnew(order: ModelOrder): void {
  const paid = countedParts(order);
  let left = remainingOf(order);
  const parts: number[] = [];
  for (let n = Math.min(left, Math.max(1, order.installmentsCents.length - paid.length)); n > 0; n -= 1) {
    parts.push(Math.ceil(left / n));
    left -= parts.at(-1)!;
  }
  order.installmentsCents = [...paid, ...parts];
}
