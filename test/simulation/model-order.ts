/**
 * Holds, orders and payments of the reference model, and an order's money and units, counted from plain lists.
 *
 * Functions without state of their own.
 */
import type { FactData, HoldLine, OrderItem } from '#domain/fact.ts';

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
  /** From 1; 0 for an amendment. */
  readonly installment: number;
  /** What it pays for, where that is no installment. */
  readonly amendmentId: string | null;
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
  /** By id, the oldest first. */
  readonly amendments: Map<string, ModelAmendment>;
  /** Tickets that amendments made void. */
  readonly voided: string[];
  isEndedByAmendment: boolean;
  readonly expiresAt: number | null;
  readonly payments: Map<string, ModelPayment>;
  tickets: readonly string[];
  provider: string;
  readonly currency: string;
  /** Those that were given back. */
  refunds: ModelRefund[];
  /** Sealed texts that are not erased. */
  sealedTexts: number;
  isErased: boolean;
}

interface ModelAmendment {
  status: 'PENDING' | 'APPLIED' | 'EXPIRED' | 'CANCELLED';
  /** Null where nothing was to be paid. */
  readonly asked: FactData['AmendmentRequested'] | null;
  /** How many of the order had been applied when it was asked for. */
  readonly appliedBefore: number;
}

interface ModelRefund {
  readonly id: string;
  amountCents: number;
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

/** The status of an amendment at a time, whether or not a timer has fired. */
export function statusOfAmendment({ status, asked }: ModelAmendment, now: number): ModelAmendment['status'] {
  return status === 'PENDING' && asked!.expiresAt <= now ? 'EXPIRED' : status;
}

/** What the pending amendment of an order asks for; null where none is pending. */
export function pendingOf({ amendments }: ModelOrder, now: number): FactData['AmendmentRequested'] | null {
  const pending = [...amendments.values()].find((amendment) => statusOfAmendment(amendment, now) === 'PENDING');
  return pending?.asked ?? null;
}

export const countApplied = ({ amendments }: ModelOrder): number =>
  [...amendments.values()].filter(({ status }) => status === 'APPLIED').length;

/** What a pending amendment wants of a performance, and what its order has there. */
export interface ModelWanted {
  readonly expiresAt: number;
  readonly lines: readonly HoldLine[];
  readonly own: readonly HoldLine[];
}

/** How much more of something is wanted than the order has of it: so much is held. */
export function heldBeyond({ lines, own }: ModelWanted, count: (line: HoldLine) => number): number {
  const sumOf = (all: readonly HoldLine[]): number => all.reduce((sum, line) => sum + count(line), 0);
  return Math.max(0, sumOf(lines) - sumOf(own));
}

/** The seats that are held for it. */
export function seatsBeyond({ lines, own }: ModelWanted): readonly string[] {
  const had = new Set(own.flatMap(({ seatIds }) => seatIds));
  return lines.flatMap(({ seatIds }) => seatIds).filter((seatId) => !had.has(seatId));
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

const countedParts = ({ payments }: ModelOrder): ModelPayment[] =>
  [...payments.values()].filter(({ isCounted }) => isCounted);

/** The money that an order took. */
export const countedOf = (order: ModelOrder): number =>
  countedParts(order).reduce((sum, { paidCents }) => sum + paidCents!, 0);

export const remainingOf = (order: ModelOrder): number => Math.max(0, order.totalCents - countedOf(order));

/** Promise 14, of an order that is live or was ended by an amendment; before so much came that it counts. */
export function dueOf(order: ModelOrder, cents = 0): number {
  const kept = Math.min(countedOf(order) - cents, order.totalCents);
  return Math.max(0, paidOf(order) - cents - kept - refundedOf(order));
}

/** What is left over the installments that are not paid: larger first, at most a cent apart. */
export function splitAnew(order: ModelOrder): void {
  const installments = countedParts(order).filter(({ amendmentId }) => amendmentId === null);
  const paid = installments.map(({ paidCents }) => paidCents!);
  let left = remainingOf(order);
  const parts: number[] = [];
  for (let n = Math.min(left, Math.max(1, order.installmentsCents.length - paid.length)); n > 0; n -= 1) {
    parts.push(Math.ceil(left / n));
    left -= parts.at(-1)!;
  }
  order.installmentsCents = [...paid, ...parts];
}
