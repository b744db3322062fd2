/**
 * An order with its payments and refunds, and the sums that follow from them.
 *
 * 1. Everything that came in is a PAID payment of the order; what the order cannot use is due back. Amounts of two
 *    currencies are never added up.
 * 2. PENDING, PARTIALLY_PAID and CONFIRMED orders are live.
 * 3. A refund counts as given back once it is SUCCEEDED, and is due until then. While it is PENDING or NEEDS_OPERATOR
 *    its amount is reserved: nothing else gives it back.
 */
import { Defect } from '../invariant.ts';
import { splitEvenly, sumOf } from '../money.ts';
import type { OrderStatus } from '#machines/order.ts';
import type { PaymentStatus } from '#machines/payment.ts';
import type { RefundStatus } from '#machines/refund.ts';
import type { AmendmentStatus } from '#machines/amendment.ts';
import { fact, type CancellationCause, type Fact, type FactData, type OrderItem } from '../fact.ts';
import { providerOfKind, type PaymentProviderName } from '../catalogue/definition.ts';
import type { Erasure, RequestedMails, SealedOrder, SealedPeople } from '../personal.ts';
import type {
  AmendmentView,
  CancellationView,
  CounterView,
  CurrencyAmount,
  PaidAmendment,
  RefundView,
  ScanNote,
  VoidReason,
} from '../view.ts';

/** A try to pay, or money that came. */
export interface Payment {
  readonly id: string;
  /** From 1, 0 for an amendment; a stray payment has that of the payment whose session it came through. */
  readonly installment: number;
  /** The amendment that it pays for, likewise; absent for an installment. */
  readonly amendmentId?: string;
  readonly amountCents: number;
  readonly currency: string;
  status: PaymentStatus;
  readonly createdAt: number;
  paidAt: number | null;
  checkoutSessionId: string | null;
  redirectUrl: string | null;
  sessionExpiresAt: number | null;
  /** Whether its money pays the installment. */
  isCounted: boolean;
  /** For money that nobody asked for, the payment whose session it came through. */
  readonly strayOf: string | null;
  /** The reference in the report of the money, by which a repeat is recognized. */
  reference: string | null;
  webhookId: string | null;
}

/**
 * What a change of an order replaces of its purchase. An installment that was paid keeps its amount. The provider is
 * that of an order that was free until a change of it cost something.
 */
type OrderTerms = Pick<FactData['OrderPlaced'], 'items' | 'promoCode' | 'totalCents' | 'installmentsCents'> &
  Partial<Pick<FactData['OrderPlaced'], 'paymentProvider'>>;

/** What a ticket of a changed order keeps, whatever becomes of its item. */
export interface TicketOrigin {
  /** The place of the attendee in the order's personal data, which stay those of the purchase. */
  readonly itemIndex: number;
  readonly offset: number;
  /** The ticket that it was issued for; null for one of the purchase. */
  readonly replaces: string | null;
  /** As in `AmendedTicket`. */
  readonly withoutPerks?: true;
  readonly goodwillCents?: number;
  /** Who comes with it, where an amendment named somebody: the list in `people`, and the index in the list. */
  readonly person?: { readonly list: number; readonly index: number };
}

/** A ticket that became void while its order went on, and what it was for. */
export interface VoidedTicket extends TicketOrigin {
  readonly id: string;
  readonly ticketTypeId: string;
  readonly performanceId: string;
  readonly seatId: string | null;
  readonly voidSince: number;
  readonly voidReason: VoidReason;
}

/** A change of an order as the order keeps it. */
export interface AmendmentRecord extends Omit<AmendmentView, 'appliedAt' | 'expiresAt' | 'toPayCents' | 'payment'> {
  readonly status: AmendmentStatus;
  /** Absent where nothing was to be paid: it was applied when it was created. */
  readonly paid?: PaidAmendment & { readonly toPayCents: number; readonly appliedAt: number | null };
  /** The order's change; kept until it is applied, because money may come late. */
  readonly asked?: AskedAmendment;
}

interface AskedAmendment {
  readonly change: RequestedChange;
  /** Those that it names; null where it names nobody. */
  readonly people: SealedPeople | null;
  /** How many amendments of the order had been applied: this one was planned for the order at that time. */
  readonly appliedBefore: number;
}

/** The change of an order by a pending amendment, whatever is paid meanwhile. */
type RequestedChange = Pick<
  FactData['AmendmentRequested'],
  | 'tickets'
  | 'ticketIds'
  | 'items'
  | 'lines'
  | 'promoCode'
  | 'totalCents'
  | 'feesCents'
  | 'goodwillCents'
  | 'isWithdrawal'
>;

/** The present state of a changed order; until its first change is paid, the state at its purchase. */
export interface ChangedOrder {
  readonly terms: OrderTerms;
  /** One for each of `ticketIds`. */
  readonly origins: readonly TicketOrigin[];
  /** In the order in which they became void. */
  readonly voidedTickets: readonly VoidedTicket[];
  /** Its amendments, the oldest first; only the newest one may be PENDING. */
  readonly amendments: readonly AmendmentRecord[];
  /** Their fees, which are in the total, and their goodwill, which is taken off the total. */
  readonly feesCents: number;
  readonly goodwillCents: number;
  /** The people that they named. */
  readonly people: readonly SealedPeople[];
}

/** What was bought and what was paid of it. */
export interface Order extends RequestedMails {
  readonly id: string;
  /** Counts the event's orders, from 0. */
  readonly number: number;
  /**
   * The terms at its placing; they never change, but their personal data can be erased. `agreedOf` gives the present
   * terms.
   */
  purchase: Omit<FactData['OrderPlaced'], 'idempotency'>;
  readonly placedAt: number;
  status: OrderStatus;
  readonly payments: Payment[];
  /** Absent while the order is as it was bought. */
  changed?: ChangedOrder;
  /** Empty until the first money; kept, but void, after a cancellation. */
  ticketIds: readonly string[];
  readonly refunds: RefundView[];
  cancellation: CancellationView | null;
  /** Absent of an order that its buyer placed. */
  counter?: CounterView;
  /** Absent until it is erased. */
  erasure?: Erasure;
  /** A second note on one refund, which is not shown; kept so that it is erased with the others. */
  unshownNotes?: readonly string[];
  scanNotes?: readonly ScanNote[];
}

/** The present terms of an order. */
export function agreedOf({ purchase, changed }: Pick<Order, 'purchase' | 'changed'>): Order['purchase'] {
  return changed === undefined ? purchase : { ...purchase, ...changed.terms };
}

/** The dates of an order's tickets. */
export function performanceIdsOf(order: Order): ReadonlySet<string> {
  return new Set(agreedOf(order).items.map(({ performanceId }) => performanceId));
}

/** The dates of its refunds: those of its tickets, and those of the tickets that it lost. */
export function datesOfRefunds(order: Order): ReadonlySet<string> {
  const lost = order.changed?.voidedTickets.filter(({ voidReason }) => voidReason === 'PERFORMANCE_CANCELLED') ?? [];
  const dates = performanceIdsOf(order);
  return lost.length === 0 ? dates : new Set([...dates, ...lost.map(({ performanceId }) => performanceId)]);
}

/** The origin of the ticket at a place of an order; in an order that was never changed, the index of its item. */
export function originOf(
  { changed }: Pick<Order, 'changed'>,
  place: number,
  { itemIndex, offset }: Pick<TicketOrigin, 'itemIndex' | 'offset'>,
): TicketOrigin {
  return changed?.origins[place] ?? { itemIndex, offset, replaces: null };
}

/** Why the tickets that an order last had are void. */
export function voidReasonOf({ cancellation }: Pick<Order, 'cancellation'>): VoidReason {
  if (cancellation?.cause === 'PERFORMANCE') return 'PERFORMANCE_CANCELLED';
  return cancellation?.amendmentId === undefined ? 'ORDER_CANCELLED' : 'TICKET_CANCELLED';
}

/**
 * The item that the ticket at a place is of, which of the item's tickets it is, and the units before it. The tickets of
 * an order are those of its first item, then those of the second, and so on.
 */
export function itemOfTicket(
  items: readonly OrderItem[],
  place: number,
): { readonly itemIndex: number; readonly offset: number; readonly unitsBefore: number } {
  let offset = place;
  let unitsBefore = 0;
  for (const [itemIndex, { ticketCount, quantity }] of items.entries()) {
    if (offset < ticketCount) return { itemIndex, offset, unitsBefore };
    offset -= ticketCount;
    unitsBefore += quantity;
  }
  throw new Defect(`an order has no ticket ${place}`);
}

/** The amendments of an order, the oldest first. */
export function amendmentsOf({ changed }: Pick<Order, 'changed'>): readonly AmendmentRecord[] {
  return changed?.amendments ?? NO_AMENDMENTS;
}

const NO_AMENDMENTS: readonly AmendmentRecord[] = [];

/** How many amendments of an order were applied. */
export function countApplied(order: Pick<Order, 'changed'>): number {
  return amendmentsOf(order).filter(({ status }) => status === 'APPLIED').length;
}

/** The amendment of an order that awaits its payment; null where none does. */
export function pendingAmendment(order: Pick<Order, 'changed'>): AmendmentRecord | null {
  const newest = amendmentsOf(order).at(-1);
  return newest?.status === 'PENDING' ? newest : null;
}

/** The fact that an order's pending amendment ends by a cancellation; none where nothing of it is pending. */
export function endOfPending(
  order: Order,
  { cause, operator }: { readonly cause: CancellationCause; readonly operator: string | null },
): readonly Fact[] {
  const pending = pendingAmendment(order);
  if (pending === null) return [];
  return [
    fact('AmendmentEnded', { orderId: order.id, amendmentId: pending.id, outcome: 'CANCELLED', cause, operator }),
  ];
}

/** The provider of its payments' sessions; null while it has none. */
export function providerOf(order: Pick<Order, 'purchase' | 'changed'>): PaymentProviderName | null {
  return providerOfKind(agreedOf(order).paymentProvider);
}

/** Whether a payment was made in cash at a counter: no provider can give its money back. */
export function isCash({ purchase }: Pick<Order, 'purchase'>, { amendmentId }: Pick<Payment, 'amendmentId'>): boolean {
  return purchase.paymentProvider === 'CASH' && amendmentId === undefined;
}

/** Every sealed text of an order: each has a key of its own. */
export function sealedTextsOf(order: Order): readonly string[] {
  const { purchase, counter, cancellation, refunds, unshownNotes = [], scanNotes = [] } = order;
  const notes = [counter, cancellation, ...refunds, ...amendmentsOf(order), ...scanNotes].map(
    (noted) => noted?.sealedNote,
  );
  const people = (personalOf(order).amended ?? []).map(({ sealed }) => sealed);
  const texts = [purchase.personal?.sealed, ...notes, ...unshownNotes, ...people];
  return texts.filter((text) => text !== undefined && text !== null);
}

/**
 * Whether something of an order can be erased. Notes that were sealed about an order with open fields can be erased
 * once the order itself is sealed.
 */
export function hasSealed(order: Order): boolean {
  return order.purchase.personal !== undefined && sealedTextsOf(order).length > 0;
}

/** Whether the data of the buyer were erased. */
export function isErased({ purchase }: Order): boolean {
  return purchase.personal !== undefined && purchase.personal.sealed === null;
}

/** What an operator wrote, as it is once the order was erased. */
export function withoutSealedNote<Mark extends { readonly sealedNote?: string }>({
  sealedNote: _sealedNote,
  ...noted
}: Mark): Omit<Mark, 'sealedNote'> {
  return noted;
}

/** An amendment as it is once its order was erased. */
export function withoutSealed(amendment: AmendmentRecord): AmendmentRecord {
  const { asked, ...others } = withoutSealedNote(amendment);
  if (asked === undefined || asked.people === null) return { ...others, ...(asked !== undefined && { asked }) };
  return { ...others, asked: { ...asked, people: { ...asked.people, sealed: null } } };
}

/** The personal data in its views, also those of amendments that are not applied. */
export function personalOf(order: Order): SealedOrder {
  const { id: orderId, purchase, erasure, changed } = order;
  const { personal, customer, items, tracking } = purchase;
  const open = customer === null ? null : { customer, attendees: items.map(({ attendees }) => attendees), tracking };
  const sealed = { orderId, sealed: personal?.sealed ?? null, open, erasure: erasure ?? null };
  const asked = amendmentsOf(order).flatMap((amendment) => amendment.asked?.people ?? []);
  const amended = [...(changed?.people ?? []), ...asked];
  return amended.length === 0 ? sealed : { ...sealed, amended };
}

// ── status ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Whether the order has, or may soon have, tickets (rule 2). */
export function isLiveOrder({ status }: Order): boolean {
  return status === 'PENDING' || status === 'PARTIALLY_PAID' || status === 'CONFIRMED';
}

/** Whether the order has tickets that were paid for, or cost nothing. */
export function isPaidOrder({ status }: Order): boolean {
  return status === 'PARTIALLY_PAID' || status === 'CONFIRMED';
}

/**
 * Whether nothing more is expected to happen to the order: no payment waits, and the tickets that were paid for are
 * issued.
 */
export function isSettled(order: Order): boolean {
  const { status, payments, ticketIds } = order;
  if (pendingAmendment(order) !== null) return false;
  if (status === 'PENDING' || status === 'PARTIALLY_PAID') return false;
  if (payments.some((payment) => payment.status === 'REQUESTED' || payment.status === 'OPEN')) return false;
  return status !== 'CONFIRMED' || ticketIds.length > 0;
}

/** The try at the order's first installment; null for an order that was placed free. */
export function firstPaymentOf({ payments }: Pick<Order, 'payments'>): Payment | null {
  const first = payments[0] ?? null;
  return first?.amendmentId === undefined ? first : null;
}

/** Whether the order still awaits the session that its buyer is to be sent to. */
export function awaitsFirstSession(order: Order): boolean {
  const first = firstPaymentOf(order);
  return order.status === 'PENDING' && first !== null && first.checkoutSessionId === null;
}

/** Whether a payment may still bring its money in the ordinary way. */
export function isWaiting({ status }: Payment): boolean {
  return status === 'REQUESTED' || status === 'OPEN';
}

/** The try at the next unpaid installment that may still bring its money; null when one must be opened first. */
export function waitingPayment(order: Order): Payment | null {
  const installment = paidInstallments(order) + 1;
  return order.payments.findLast((payment) => payment.installment === installment && isWaiting(payment)) ?? null;
}

/** The try at an order's amendment that may still bring its money; null when one must be opened first. */
export function waitingForAmendment(order: Order, amendmentId: string): Payment | null {
  return order.payments.findLast((payment) => payment.amendmentId === amendmentId && isWaiting(payment)) ?? null;
}

/**
 * Whether a payment asks for another amount than its installment has now, because the order was changed since. The cost
 * of an amendment does not change.
 */
export function isOfOtherAmount(order: Order, { installment, amendmentId, amountCents }: Payment): boolean {
  return amendmentId === undefined && agreedOf(order).installmentsCents[installment - 1] !== amountCents;
}

/** Whether the installment or amendment of a payment is paid, by it or by another. */
export function isPaidFor(order: Order, about: Pick<Payment, 'installment' | 'amendmentId'>): boolean {
  return order.payments.some(
    ({ isCounted, installment, amendmentId }) =>
      isCounted && installment === about.installment && amendmentId === about.amendmentId,
  );
}

/** The payments that paid an installment. */
function countedInstallments({ payments }: Order): readonly Payment[] {
  return payments.filter(({ isCounted, amendmentId }) => isCounted && amendmentId === undefined);
}

/** How many installments are paid; they are paid in their order, so the next one is the one after. */
export function paidInstallments(order: Order): number {
  return countedInstallments(order).length;
}

// ── money ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** All money that came in the order's currency. */
export function paidCents({ payments, purchase }: Order): number {
  return sumOf(payments, ({ status, currency, amountCents }) =>
    status === 'PAID' && currency === purchase.currency ? amountCents : 0,
  );
}

/** The money that pays for the tickets. */
function countedCents(order: Order): number {
  return sumOf(order.payments, (payment) => (payment.isCounted ? payment.amountCents : 0));
}

/** The status of a refund; one that was recorded has none of its own. */
export function refundStatusOf({ status = 'SUCCEEDED' }: RefundView): RefundStatus {
  return status;
}

/** Whether a refund's amount is reserved (rule 3). */
export function isReserved({ status }: RefundView): boolean {
  return status === 'PENDING' || status === 'NEEDS_OPERATOR';
}

/** What was given back in the order's currency. */
export function refundedCents(order: Order): number {
  return refundedIn(order, order.purchase.currency);
}

/** What was given back in a currency. */
function refundedIn({ refunds, purchase }: Order, currency: string): number {
  return sumOf(refunds, (refund) =>
    refundStatusOf(refund) === 'SUCCEEDED' && (refund.currency ?? purchase.currency) === currency
      ? refund.amountCents
      : 0,
  );
}

/** What is being given back in a currency: reserved, and due until it has gone. */
export function reservedCents(
  { refunds, purchase }: { readonly refunds: readonly RefundView[]; readonly purchase: { readonly currency: string } },
  currency: string,
): number {
  return sumOf(refunds, (refund) =>
    isReserved(refund) && (refund.currency ?? purchase.currency) === currency ? refund.amountCents : 0,
  );
}

/** What is yet to be paid for the tickets. */
export function remainingCents(order: Order, totalCents = agreedOf(order).totalCents): number {
  return Math.max(0, totalCents - countedCents(order));
}

/** What was paid of the installments, and what is left of a total evenly over those unpaid, the larger ones first. */
export function splitAnew(order: Order, totalCents: number): readonly number[] {
  const { installmentsCents } = agreedOf(order);
  const paid = countedInstallments(order).map(({ amountCents }) => amountCents);
  const left = remainingCents(order, totalCents);
  const unpaid = Math.min(left, Math.max(1, installmentsCents.length - paid.length));
  return left === 0 ? paid : [...paid, ...splitEvenly(left, unpaid)];
}

/** What is owed in the order's currency: money that the order could not use, and all of it once the order is over. */
export function refundDueCents(order: Order): number {
  return refundDueAfter(order, 0, false);
}

/** Whether an order keeps what it cost: its tickets, and once an amendment has ended it the fees alone. */
function keepsFees(order: Order): boolean {
  return isLiveOrder(order) || order.cancellation?.amendmentId !== undefined;
}

/** The fees of amendments that are not due back. */
export function keptFeesCents(order: Order): number {
  return keepsFees(order) ? (order.changed?.feesCents ?? 0) : 0;
}

/** What would be due back after more money, counted or not; counted money makes an ended order live again. */
export function refundDueAfter(order: Order, amountCents: number, isCounted: boolean): number {
  const counted = (keepsFees(order) || isCounted ? countedCents(order) : 0) + (isCounted ? amountCents : 0);
  const useful = Math.min(counted, agreedOf(order).totalCents);
  return Math.max(0, paidCents(order) + amountCents - useful - refundedCents(order));
}

/** All that is owed to the buyer, by currency; the order's own is the first. */
export function refundsDue(order: Order): readonly CurrencyAmount[] {
  const { currency } = order.purchase;
  const all = [{ amountCents: refundDueCents(order), currency }];
  for (const foreign of foreignCurrencies(order)) {
    all.push({ amountCents: notGivenBack(order, foreign), currency: foreign });
  }
  return all.filter(({ amountCents }) => amountCents > 0);
}

/** What came in a currency and was not given back. */
export function notGivenBack(order: Order, currency: string): number {
  const came = sumOf(order.payments, (payment) =>
    payment.status === 'PAID' && payment.currency === currency ? payment.amountCents : 0,
  );
  return Math.max(0, came - refundedIn(order, currency));
}

/** The part of it that is not reserved: as much may be given back besides. */
export function refundable(order: Order, currency: string): number {
  return Math.max(0, notGivenBack(order, currency) - reservedCents(order, currency));
}

export function foreignCurrencies({ payments, purchase }: Order): ReadonlySet<string> {
  const foreign = payments.filter(({ status, currency }) => status === 'PAID' && currency !== purchase.currency);
  return new Set(foreign.map(({ currency }) => currency));
}

/**
 * Whether no more was given back than came; over all currencies, because facts of the first version did not name them.
 */
export function isCovered({ payments, refunds: all }: Order): boolean {
  const refunds = all.filter((refund) => refundStatusOf(refund) === 'SUCCEEDED');
  const came = payments.reduce((sum, { status, amountCents }) => sum + (status === 'PAID' ? amountCents : 0), 0);
  return refunds.reduce((sum, { amountCents }) => sum + amountCents, 0) <= came;
}
