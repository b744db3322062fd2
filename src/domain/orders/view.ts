/**
 * Orders as they are read: by their id, by a provider's session, by a ticket, or page by page. All figures follow from
 * the order when it is read.
 *
 * 1. `paymentStatus` is COMPLETED once every installment is paid, FAILED while the last try of an order without tickets
 *    was declined, and PENDING otherwise.
 * 2. The tickets of an order are those of its first item, then those of the second, and so on.
 */
import { buyerKeyOf } from './purchase-limits.ts';
import { emailKey } from '../email-key.ts';
import { invariant } from '../invariant.ts';
import {
  agreedOf,
  isCash,
  isErased,
  isLiveOrder,
  itemOfTicket,
  isPaidFor,
  amendmentsOf,
  originOf,
  paidCents,
  personalOf,
  paidInstallments,
  performanceIdsOf,
  refundDueCents,
  remainingCents,
  reservedCents,
  refundedCents,
  refundsDue,
  voidReasonOf,
  type AmendmentRecord,
  type ChangedOrder,
  type Order,
  type Payment,
  type TicketOrigin,
  type VoidedTicket,
} from './order.ts';
import { perksOfTicket } from '../perk-shares.ts';
import { TAG_STATUS_MASK } from './order-records.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../refusal.ts';
import { pageOfVoidTickets, type VoidTicketPage } from './void-tickets.ts';
import type { OrderStatus } from '#machines/order.ts';
import { forOrderTexts } from '../order-texts.ts';
import type { OrderItem } from '../fact.ts';
import type { SealedOrder, SealedPeople, Sealing } from '../personal.ts';
import { placeNames, type SalePlan } from '../catalogue/sale-plan.ts';
import type {
  AmendmentView,
  DiscountView,
  IssuedTicketView,
  IdAndName,
  OrderedPerformanceView,
  OrderView,
  PaidAmendment,
  PaymentView,
  TicketView,
  VoidReason,
} from '../view.ts';
import type { OrderState } from './state.ts';
import { shownStatus } from '../inventory/performance.ts';
import { orderById, orderTag } from './state.ts';

// ── finding ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Which of an order's tickets are shown: an order may have ten thousand. */
export interface TicketPage {
  /** Those behind this one; null from the first on. */
  readonly after: string | null;
  readonly limit: number;
  /** With all amendments, and with the people that they named and no ticket has. */
  readonly isWhole?: boolean;
}

/** Tickets of one order shown at once: a millisecond and 300 KB. */
export const TICKETS_SHOWN_MAX = 1_000;

const FIRST_PAGE: TicketPage = { after: null, limit: TICKETS_SHOWN_MAX };

/** In a list of orders each shows its first tickets alone. */
const TICKETS_LISTED_MAX = 20;

/** Tickets of the orders of one page of a list, shown or not; a page ends early where they are more. */
const LISTED_ORDERS_TICKETS_MAX = 10_000;

/** An order by its id, with a page of its tickets: ORDER_NOT_FOUND; VALIDATION_ERROR when it has no ticket `after`. */
export function findOrder(state: OrderState, orderId: string, page: TicketPage = FIRST_PAGE): OrderView | Refusal {
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  if (page.after !== null && !order.ticketIds.includes(page.after)) {
    return refuseProblems([{ path: ['after'], message: 'must be the id of a ticket of this order' }]);
  }
  return viewOrder(state, order, page);
}

/** The order and the payment of a provider's session; null when it is of no order. */
export function findSession(
  state: OrderState,
  checkoutSessionId: string,
): { readonly order: OrderView; readonly payment: PaymentView } | null {
  const order = state.orders.byPayment.get(checkoutSessionId);
  const payment = order?.payments.find((each) => each.checkoutSessionId === checkoutSessionId);
  if (order === undefined || payment === undefined) return null;
  return { order: viewOrder(state, order), payment: viewPayment(order, payment) };
}

/** A ticket, void ones too; null when no order has it. */
export function findTicket(state: OrderState, ticketId: string): Omit<IssuedTicketView, 'scans'> | null {
  const order = state.orders.byTicket.get(ticketId);
  if (order === undefined) return null;
  const { eventId, plan } = state;
  const voided = order.changed?.voidedTickets.find(({ id }) => id === ticketId);
  const origins = [voided ?? order.changed?.origins[order.ticketIds.indexOf(ticketId)] ?? []].flat();
  const ofOrder = { personal: personalOfTickets(order, origins), orderId: order.id, eventId };
  if (voided !== undefined)
    return { ...ofOrder, ticket: viewVoided(plan, order, voided), voidReason: voided.voidReason };
  const ticket = viewTicket(plan, order, agreedOf(order).items, order.ticketIds.indexOf(ticketId));
  return { ...ofOrder, ticket, voidReason: ticket.isValid ? null : voidReasonOf(order) };
}

/**
 * The void tickets of the event, or of one performance, in the order in which they became void; after a ticket, where
 * asked. An unknown `after` begins at the first. PERFORMANCE_NOT_FOUND.
 */
export function listVoidTickets(
  state: OrderState,
  wanted: { readonly performanceId: string | null; readonly after: string | null; readonly limit: number },
): VoidTicketPage | Refusal {
  const { voidTickets, byTicket } = state.orders;
  const { performanceId, after } = wanted;
  if (performanceId !== null && !voidTickets.byPerformance.has(performanceId)) {
    const isShown = state.plan.visiblePerformances.some(({ id }) => id === performanceId);
    if (!isShown) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  }
  return pageOfVoidTickets(voidTickets, wanted, after === null ? null : (byTicket.get(after) ?? null));
}

export interface OrderPage {
  readonly orders: readonly OrderView[];
  /** What to go on after, or null at the end. */
  readonly nextAfter: string | null;
}

/**
 * Orders in the order of their placing, or the newest first, from the one after `after` on; of one status and of one
 * address (compared as the purchase limits do), where asked. An erased order is found by no address, although its
 * tickets may count for one. An unknown `after` begins at the beginning. Cost: a pass over the orders that are left
 * out, 10 ns each.
 */
export function listOrders(
  state: OrderState,
  wanted: {
    readonly status: OrderStatus | null;
    readonly email: string | null;
    readonly after: string | null;
    readonly limit: number;
    /** Tickets shown of each order; without it the first few. */
    readonly ticketsMax?: number;
    readonly isWhole?: boolean;
    /** Without it the oldest come first. */
    readonly newestFirst?: boolean;
  },
  sealing: Pick<Sealing, 'addressHash'> | null,
): OrderPage {
  const { byId, inOrder } = state.orders;
  const { status, limit, email, ticketsMax = TICKETS_LISTED_MAX, isWhole = false, newestFirst = false } = wanted;
  const shown: TicketPage = { after: null, limit: ticketsMax, isWhole };
  const buyerKeys =
    email === null ? null : [emailKey(email), ...(sealing === null ? [] : [sealing.addressHash(email)])];
  const tagMask = tagMaskOf(status !== null, email !== null);
  const tags = (buyerKeys ?? ['']).map((key) => orderTag(status ?? 'PENDING', key) & tagMask);
  const after = wanted.after === null ? undefined : byId.get(wanted.after);
  const step = newestFirst ? -1 : 1;
  const begin = after !== undefined ? after.number + step : newestFirst ? inOrder.length - 1 : 0;
  const page: Order[] = [];
  let ticketCount = 0;
  for (let number = begin; number >= 0 && number < inOrder.length; number += step) {
    if (!tags.includes(inOrder.tagAt(number) & tagMask)) continue;
    const order = inOrder.at(number);
    if (status !== null && order.status !== status) continue;
    if (buyerKeys !== null && (isErased(order) || !buyerKeys.includes(buyerKeyOf(order.purchase)))) continue;
    ticketCount += order.ticketIds.length;
    const isFull = page.length === limit || (page.length > 0 && ticketCount > LISTED_ORDERS_TICKETS_MAX);
    if (isFull) return { orders: viewAll(state, page, shown), nextAfter: page.at(-1)?.id ?? null };
    page.push(order);
  }
  return { orders: viewAll(state, page, shown), nextAfter: null };
}

/** The bits of a tag that say the status, the buyer, or both. */
function tagMaskOf(hasStatus: boolean, hasEmail: boolean): number {
  return (hasStatus ? TAG_STATUS_MASK : 0) | (hasEmail ? ~TAG_STATUS_MASK : 0);
}

function viewAll(state: OrderState, orders: readonly Order[], shown: TicketPage): readonly OrderView[] {
  return orders.map((order) => viewOrder(state, order, shown));
}

/** An order that is known to exist. */
export function viewOrderById(state: OrderState, orderId: string): OrderView {
  return viewOrder(state, knownOrder(state, orderId));
}

/** An order that is known to exist and, where one is named, a payment of it. */
export function viewOrderAndPayment(
  state: OrderState,
  orderId: string,
  paymentId: string | null,
): { readonly order: OrderView; readonly payment: PaymentView | null } {
  const order = knownOrder(state, orderId);
  if (paymentId === null) return { order: viewOrder(state, order), payment: null };
  const payment = order.payments.find(({ id }) => id === paymentId);
  invariant(payment !== undefined, 'a payment that a reply names is one of its order');
  return { order: viewOrder(state, order), payment: viewPayment(order, payment) };
}

function knownOrder({ orders }: OrderState, orderId: string): Order {
  const order = orders.byId.get(orderId);
  invariant(order !== undefined, 'an order that a reply names is there');
  return order;
}

// ── views ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The order with everything on it, and a page of its tickets. */
export function viewOrder(state: OrderState, order: Order, page: TicketPage = FIRST_PAGE): OrderView {
  const { id, purchase, placedAt, status, refunds, cancellation, ticketIds } = order;
  const { slug, name } = state.plan.definition;
  const begin = page.after === null ? 0 : ticketIds.indexOf(page.after) + 1;
  const shown = ticketIds.slice(begin, begin + page.limit);
  const terms = agreedOf(order);
  const { ticketTypes, barPerks } = namesOf(state.plan, order);
  // Field by field, because each answer to a buyer makes a view of the order: a copy without the hidden fields costs as
  // much as all the rest.
  return {
    id,
    holdId: terms.holdId,
    status,
    paymentStatus: paymentStatusOf(order),
    placedAt,
    expiresAt: terms.expiresAt,
    currency: terms.currency,
    totalCents: terms.totalCents,
    paidCents: paidCents(order),
    remainingCents: remainingCents(order),
    refundedCents: refundedCents(order),
    refundPendingCents: reservedCents(order, purchase.currency),
    refundDueCents: refundDueCents(order),
    refundsDue: refundsDue(order),
    paymentProvider: terms.paymentProvider,
    installmentsCents: terms.installmentsCents,
    paidInstallments: paidInstallments(order),
    payments: order.payments.map((payment) => viewPayment(order, payment)),
    refunds,
    tickets: shown.map((_ticketId, place) => viewTicket(state.plan, order, terms.items, begin + place)),
    ticketCount: ticketIds.length,
    ticketsNextAfter: begin + shown.length < ticketIds.length ? (shown.at(-1) ?? page.after) : null,
    items: order.changed === undefined ? terms.items : itemsWithPeople(order, terms.items, order.changed.origins),
    ticketTypes,
    barPerks,
    discounts: discountsOf(order),
    event: { id: state.eventId, slug, name, performances: performancesOf(state, order) },
    personal: page.isWhole === true ? personalOf(order) : personalOfTickets(order),
    promoCode: terms.promoCode,
    successUrl: terms.successUrl,
    cancelUrl: terms.cancelUrl,
    counter: order.counter ?? null,
    cancellation,
    ...(order.changed === undefined ? UNCHANGED : changesOf(state.plan, order, order.changed, page)),
    ...forOrderTexts((name) => terms[name] ?? null),
  };
}

export function viewPayment(order: Order, payment: Payment): PaymentView {
  const { id, installment, amountCents, currency, status, createdAt, paidAt } = payment;
  const { checkoutSessionId, redirectUrl, sessionExpiresAt, amendmentId } = payment;
  const provider = isCash(order, payment) ? 'CASH' : agreedOf(order).paymentProvider;
  const paid = amendmentsOf(order).find((amendment) => amendment.id === amendmentId)?.paid;
  return {
    id,
    installment,
    amountCents,
    currency,
    status,
    provider,
    createdAt,
    paidAt,
    checkoutSessionId,
    redirectUrl,
    sessionExpiresAt,
    ...(paid !== undefined && { amendment: paidAmendmentOf(paid) }),
  };
}

function paidAmendmentOf({ id, expiresAt, successUrl, cancelUrl }: PaidAmendment): PaidAmendment {
  return { id, expiresAt, successUrl, cancelUrl };
}

/** An amendment of an order; the address of its payment page only while it is to be paid. */
export function viewAmendment(order: Order, amendment: AmendmentRecord): AmendmentView {
  const { asked: _asked, paid, ...others } = amendment;
  const { toPayCents = 0, appliedAt = amendment.createdAt, expiresAt = null } = paid ?? {};
  const newest = order.payments.findLast(
    ({ amendmentId, strayOf }) => amendmentId === amendment.id && strayOf === null,
  );
  const isPending = amendment.status === 'PENDING';
  return {
    ...others,
    appliedAt,
    expiresAt,
    toPayCents,
    payment:
      newest === undefined
        ? null
        : {
            id: newest.id,
            provider: agreedOf(order).paymentProvider,
            redirectUrl: isPending ? newest.redirectUrl : null,
            checkoutSessionId: newest.checkoutSessionId,
          },
  };
}

/** An amendment as it was answered once it had its first session; null where none was opened for it. */
export function viewAmendmentAsAsked(order: Order, amendment: AmendmentRecord): AmendmentView | null {
  const first = order.payments.find(
    ({ amendmentId, checkoutSessionId }) => amendmentId === amendment.id && checkoutSessionId !== null,
  );
  const view = viewAmendment(order, amendment);
  if (first === undefined || view.payment === null) return null;
  const tickets = view.tickets.map(({ newTicketId: _newTicketId, ...ticket }) => ticket);
  const { id, redirectUrl, checkoutSessionId } = first;
  const payment = { ...view.payment, id, redirectUrl, checkoutSessionId };
  return { ...view, status: 'PENDING', appliedAt: null, toRefundCents: 0, tickets, payment };
}

function paymentStatusOf(order: Order): OrderView['paymentStatus'] {
  const { payments, ticketIds } = order;
  const isPaid = agreedOf(order).installmentsCents.every((_, index) => isPaidFor(order, { installment: index + 1 }));
  if (isPaid) return 'COMPLETED';
  const lastTry = payments.findLast((payment) => payment.strayOf === null);
  return ticketIds.length === 0 && lastTry?.status === 'DECLINED' ? 'FAILED' : 'PENDING';
}

/** Amendments of an order that are shown. */
const AMENDMENTS_SHOWN_MAX = 20;

function itemsWithPeople(
  order: Order,
  items: readonly OrderItem[],
  origins: readonly TicketOrigin[],
): OrderView['items'] {
  let begin = 0;
  return items.map((item) => {
    const ofItem = origins.slice(begin, (begin += item.ticketCount));
    return { ...item, people: ofItem.map((origin) => personAt(order, origin)) };
  });
}

/** The position of a ticket's person in the order's personal data: people of amendments stand behind the items. */
function personAt(
  { purchase }: Order,
  { itemIndex, offset, person }: TicketOrigin,
): Pick<TicketView, 'itemIndex' | 'offset'> {
  if (person === undefined) return { itemIndex, offset };
  return { itemIndex: purchase.items.length + person.list, offset: person.index };
}

/** The personal data that a view of tickets carries: of people whom amendments named, only those on its tickets. */
export function personalOfTickets(
  order: Order,
  origins: readonly TicketOrigin[] = [...(order.changed?.origins ?? []), ...(order.changed?.voidedTickets ?? [])],
): SealedOrder {
  const { amended, ...personal } = personalOf(order);
  if (amended === undefined) return personal;
  const named = new Set(origins.map(({ person }) => person?.list));
  return { ...personal, amended: amended.map((people, list) => (named.has(list) ? people : NOBODY)) };
}

const NOBODY: SealedPeople = { sealed: null, open: null };

type ChangesView = Pick<OrderView, 'amendments' | 'feesCents' | 'goodwillCents' | 'voidTickets'>;

const UNCHANGED: ChangesView = { amendments: [], feesCents: 0, goodwillCents: 0, voidTickets: [] };

/** What is shown of the changes of an order, the newest first. */
function changesOf(plan: SalePlan, order: Order, changed: ChangedOrder, page: TicketPage): ChangesView {
  const { amendments, voidedTickets, feesCents, goodwillCents } = changed;
  return {
    amendments: amendments
      .slice(page.isWhole === true ? 0 : -AMENDMENTS_SHOWN_MAX)
      .reverse()
      .map((amendment) => viewAmendment(order, amendment)),
    feesCents,
    goodwillCents,
    voidTickets: voidedTickets
      .slice(-page.limit)
      .reverse()
      .map((voided) => ({ ...viewVoided(plan, order, voided), voidReason: voided.voidReason })),
  };
}

/** Every ticket of an order, those that amendments made void too, and why a void one is. */
export function viewTickets(
  plan: SalePlan,
  order: Order,
): readonly { readonly ticket: TicketView; readonly voidReason: VoidReason | null }[] {
  const { items } = agreedOf(order);
  const endedBy = isLiveOrder(order) ? null : voidReasonOf(order);
  const issued = order.ticketIds.map((_id, place) => ({
    ticket: viewTicket(plan, order, items, place),
    voidReason: endedBy,
  }));
  const voided = order.changed?.voidedTickets ?? [];
  return [...issued, ...voided.map((each) => ({ ticket: viewVoided(plan, order, each), voidReason: each.voidReason }))];
}

function viewTicket(plan: SalePlan, order: Order, items: readonly OrderItem[], place: number): TicketView {
  const at = itemOfTicket(items, place);
  const { ticketTypeId, performanceId, seatIds, ticketCount, quantity } = items[at.itemIndex]!;
  const origin = originOf(order, place, at);
  return ticketView(plan, {
    id: order.ticketIds[place]!,
    isValid: isLiveOrder(order),
    ticketTypeId,
    performanceId,
    seatId: seatIds[at.offset] ?? null,
    ...personAt(order, origin),
    unit: at.unitsBefore + Math.floor(at.offset / (ticketCount / quantity)) + 1,
    replaces: origin.replaces,
    barPerks: perksOfTicket(order.purchase, origin),
  });
}

function viewVoided(plan: SalePlan, order: Order, voided: VoidedTicket): TicketView {
  const { id, ticketTypeId, performanceId, seatId, replaces } = voided;
  const now = { isValid: false, unit: null, barPerks: [] };
  return ticketView(plan, { id, ticketTypeId, performanceId, seatId, replaces, ...personAt(order, voided), ...now });
}

type TicketOfOrder = Omit<TicketView, 'section' | 'rowLabel' | 'seatLabel'>;

function ticketView(plan: SalePlan, ticket: TicketOfOrder): TicketView {
  const { id, isValid, ticketTypeId, performanceId, seatId, itemIndex, offset, unit, replaces, barPerks } = ticket;
  const { section, rowLabel, seatLabel } = placeNames(plan, ticketTypeId, seatId);
  return {
    id,
    isValid,
    ticketTypeId,
    performanceId,
    section,
    rowLabel,
    seatId,
    seatLabel,
    itemIndex,
    offset,
    unit,
    replaces,
    barPerks,
  };
}

function discountsOf(order: Order): readonly DiscountView[] {
  const { items, promoCode } = agreedOf(order);
  const discounts: DiscountView[] = [];
  for (const [itemIndex, { discountCode, discountCents }] of items.entries()) {
    if (discountCode !== null) discounts.push({ code: discountCode, itemIndex, amountCents: discountCents });
  }
  if (promoCode === null) return discounts;
  const amountCents = items.reduce((sum, item) => sum + item.promoDiscountCents, 0);
  return [...discounts, { code: promoCode, itemIndex: null, amountCents }];
}

/** The names of what was bought, each once. */
function namesOf({ ticketTypeById }: SalePlan, order: Order): Pick<OrderView, 'ticketTypes' | 'barPerks'> {
  const ticketTypes: IdAndName[] = [];
  const barPerks: IdAndName[] = [];
  const note = (names: IdAndName[], named: IdAndName | undefined): void => {
    if (named !== undefined && !names.some(({ id }) => id === named.id)) names.push({ id: named.id, name: named.name });
  };
  for (const { ticketTypeId, barPerks: ordered } of agreedOf(order).items) {
    const definition = ticketTypeById.get(ticketTypeId)?.definition;
    note(ticketTypes, definition);
    for (const { barPerkId } of ordered)
      note(
        barPerks,
        definition?.barPerks.find(({ id }) => id === barPerkId),
      );
  }
  return { ticketTypes, barPerks };
}

function performancesOf({ plan, performances }: OrderState, order: Order): readonly OrderedPerformanceView[] {
  const wanted = performanceIdsOf(order);
  return plan.performances
    .filter((performance) => wanted.has(performance.id) && performances.has(performance.id))
    .map((performance) => {
      const { id, name, startsAt, endsAt } = performance;
      return { id, name, startsAt, endsAt, status: shownStatus(performances.get(id)!, performance) };
    });
}
