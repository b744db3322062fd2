/**
 * The exported form of an order: a line of CSV or a JSON object.
 *
 * Amounts are integers in the currency's minor unit, in columns that end in "_cents"; other columns of money are in the
 * main unit. Times are RFC 3339. Every exported field is listed here. Ids of holds and checkout sessions, and addresses
 * that contain them, are not exported. Of an order that was erased, the cells about people are empty.
 */
import { decimalOf } from '#client/money.ts';
import { forOrderTexts } from '#domain/order-texts.ts';
import { csvLine, type Cell } from '#privacy/csv.ts';
import { peopleOfItem, type OpenedOrder } from '#privacy/personal-data.ts';
import { SHOWN_FIELDS, shownFields, type RulesFor } from '#privacy/shown-fields.ts';
import { snakeCased, formatMoment } from '../terminal/output.ts';
import type { OrderView } from '#domain/view.ts';

type OrderColumns = Readonly<Record<string, (order: OrderView, opened: OpenedOrder) => Cell>>;

/** The columns of the CSV. */
const COLUMNS: OrderColumns = {
  order_id: ({ id }) => id,
  status: ({ status }) => status,
  payment_status: ({ paymentStatus }) => paymentStatus,
  placed_at: ({ placedAt }) => formatMoment(placedAt),
  customer_name: (_order, { customer }) => customer?.name ?? null,
  customer_email: (_order, { customer }) => customer?.email ?? null,
  customer_phone: (_order, { customer }) => customer?.phone ?? null,
  customer_document_number: (_order, { customer }) => customer?.documentNumber ?? null,
  performance_ids: ({ items }) => [...new Set(items.map(({ performanceId }) => performanceId))].join(' '),
  items: ({ items }) =>
    items
      .map(({ quantity, ticketTypeId, seatIds }) =>
        [`${quantity} x ${ticketTypeId}`, ...(seatIds.length > 0 ? [`(${seatIds.join(' ')})`] : [])].join(' '),
      )
      .join('; '),
  tickets: ({ items }) => items.reduce((total, { ticketCount }) => total + ticketCount, 0),
  currency: ({ currency }) => currency,
  total: ({ totalCents, currency }) => decimalOf(totalCents, currency),
  paid: ({ paidCents, currency }) => decimalOf(paidCents, currency),
  refund_due: ({ refundDueCents, currency }) => decimalOf(refundDueCents, currency),
  foreign_refunds_due: ({ refundsDue, currency }) =>
    refundsDue
      .filter((due) => due.currency !== currency)
      .map((due) => `${decimalOf(due.amountCents, due.currency)} ${due.currency}`)
      .join('; '),
  total_cents: ({ totalCents }) => totalCents,
  paid_cents: ({ paidCents }) => paidCents,
  remaining_cents: ({ remainingCents }) => remainingCents,
  refunded_cents: ({ refundedCents }) => refundedCents,
  refund_due_cents: ({ refundDueCents }) => refundDueCents,
  payment_provider: ({ paymentProvider }) => paymentProvider,
  sold_at: ({ counter }) => (counter === null ? 'SHOP' : 'COUNTER'),
  promo_code: ({ promoCode }) => promoCode,
  ...(snakeCased(forOrderTexts((name) => (order: OrderView) => order[name] ?? null)) as OrderColumns),
  erased_at: (_order, { erasedAt }) => (erasedAt === null ? null : formatMoment(erasedAt)),
};

/** The first line of the CSV. */
export const CSV_HEADING = csvLine(Object.keys(COLUMNS));

/** An order as a line of CSV (RFC 4180). */
export function csvOf(order: OrderView, opened: OpenedOrder): string {
  return csvLine(Object.values(COLUMNS).map((cellOf) => cellOf(order, opened)));
}

/** Fields whose numbers are times. */
const MOMENTS = new Set([
  'placedAt',
  'expiresAt',
  'createdAt',
  'appliedAt',
  'paidAt',
  'sessionExpiresAt',
  'nextTryAt',
  'finishedAt',
  'at',
  'erasedAt',
  'startsAt',
  'endsAt',
]);

const { priced: _priced, ...SHOWN_ITEM } = SHOWN_FIELDS.OrderPlaced.items;

const SHOWN_TICKET = {
  id: 'SHOWN',
  isValid: 'SHOWN',
  ticketTypeId: 'SHOWN',
  performanceId: 'SHOWN',
  section: 'SHOWN',
  rowLabel: 'SHOWN',
  seatId: 'SHOWN',
  seatLabel: 'SHOWN',
  itemIndex: 'HIDDEN',
  offset: 'HIDDEN',
  unit: 'SHOWN',
  replaces: 'SHOWN',
  barPerks: 'HIDDEN',
} as const;

/** The fields of an order in JSON; its personal data are added in `jsonOf`. */
const FIELDS = {
  id: 'SHOWN',
  holdId: 'HIDDEN',
  status: 'SHOWN',
  paymentStatus: 'SHOWN',
  placedAt: 'SHOWN',
  expiresAt: 'SHOWN',
  currency: 'SHOWN',
  totalCents: 'SHOWN',
  paidCents: 'SHOWN',
  remainingCents: 'SHOWN',
  refundedCents: 'SHOWN',
  refundPendingCents: 'SHOWN',
  refundDueCents: 'SHOWN',
  refundsDue: { amountCents: 'SHOWN', currency: 'SHOWN' },
  paymentProvider: 'SHOWN',
  installmentsCents: 'SHOWN',
  paidInstallments: 'SHOWN',
  payments: {
    id: 'SHOWN',
    installment: 'SHOWN',
    amountCents: 'SHOWN',
    currency: 'SHOWN',
    status: 'SHOWN',
    provider: 'SHOWN',
    createdAt: 'SHOWN',
    paidAt: 'SHOWN',
    checkoutSessionId: 'HIDDEN',
    redirectUrl: 'HIDDEN',
    sessionExpiresAt: 'SHOWN',
    amendment: { id: 'SHOWN', expiresAt: 'SHOWN', successUrl: 'HIDDEN', cancelUrl: 'HIDDEN' },
  },
  refunds: {
    id: 'SHOWN',
    amountCents: 'SHOWN',
    currency: 'SHOWN',
    reference: 'SHOWN',
    reportReference: 'SHOWN',
    provider: 'SHOWN',
    isMatched: 'SHOWN',
    status: 'SHOWN',
    paymentId: 'SHOWN',
    amendmentId: 'SHOWN',
    failure: { code: 'SHOWN', message: 'SHOWN' },
    tries: 'SHOWN',
    keyTry: 'HIDDEN',
    unclearTries: 'HIDDEN',
    unclearSince: 'HIDDEN',
    nextTryAt: 'SHOWN',
    finishedAt: 'SHOWN',
    at: 'SHOWN',
    operator: 'SHOWN',
    note: 'SHOWN',
    sealedNote: 'HIDDEN',
  },
  tickets: SHOWN_TICKET,
  ticketCount: 'SHOWN',
  ticketsNextAfter: 'HIDDEN',
  items: { ...SHOWN_ITEM, people: 'HIDDEN' },
  ticketTypes: { id: 'SHOWN', name: 'SHOWN' },
  barPerks: { id: 'SHOWN', name: 'SHOWN' },
  discounts: { code: 'SHOWN', itemIndex: 'SHOWN', amountCents: 'SHOWN' },
  event: {
    id: 'SHOWN',
    slug: 'SHOWN',
    name: 'SHOWN',
    performances: { id: 'SHOWN', name: 'SHOWN', startsAt: 'SHOWN', endsAt: 'SHOWN', status: 'SHOWN' },
  },
  personal: 'HIDDEN',
  promoCode: 'SHOWN',
  ...forOrderTexts(() => 'SHOWN' as const),
  successUrl: 'SHOWN',
  cancelUrl: 'SHOWN',
  counter: { exceedsLimits: 'SHOWN', operator: 'SHOWN', note: 'SHOWN', sealedNote: 'HIDDEN' },
  cancellation: {
    cause: 'SHOWN',
    at: 'SHOWN',
    amendmentId: 'SHOWN',
    operator: 'SHOWN',
    note: 'SHOWN',
    sealedNote: 'HIDDEN',
  },
  amendments: {
    id: 'SHOWN',
    status: 'SHOWN',
    by: 'SHOWN',
    createdAt: 'SHOWN',
    appliedAt: 'SHOWN',
    expiresAt: 'SHOWN',
    differenceCents: 'SHOWN',
    feeCents: 'SHOWN',
    toPayCents: 'SHOWN',
    payment: { id: 'SHOWN', provider: 'SHOWN', redirectUrl: 'HIDDEN', checkoutSessionId: 'HIDDEN' },
    toRefundCents: 'SHOWN',
    isWithdrawal: 'SHOWN',
    tickets: {
      ticketId: 'SHOWN',
      action: 'SHOWN',
      newTicketId: 'SHOWN',
      withoutPerks: 'SHOWN',
      goodwillCents: 'SHOWN',
      person: 'HIDDEN',
    },
    operator: 'SHOWN',
    note: 'SHOWN',
    sealedNote: 'HIDDEN',
  },
  feesCents: 'SHOWN',
  goodwillCents: 'SHOWN',
  voidTickets: { ...SHOWN_TICKET, voidReason: 'SHOWN' },
} as const satisfies RulesFor<OrderView>;

/** The names of tracking fields are kept as the storefront wrote them; the others become snake_case. */
export function jsonOf(order: OrderView, opened: OpenedOrder): string {
  const { customer, attendees, tracking, erasedAt } = opened;
  const shown = shownFields(FIELDS, order) as Pick<
    OrderView,
    'items' | 'tickets' | 'refunds' | 'amendments' | 'counter' | 'cancellation'
  >;
  const { counter, cancellation } = shown;
  const personal = {
    items: shown.items.map((item, index) => ({ ...item, attendees: peopleOfItem(order, index, attendees) })),
    tickets: shown.tickets.map((ticket, place) => {
      const { itemIndex, offset } = order.tickets[place]!;
      return { ...ticket, attendee: attendees[itemIndex]?.[offset] ?? null };
    }),
    refunds: shown.refunds.map((refund, index) => ({ ...refund, note: opened.refundNotes[index] ?? null })),
    amendments: shown.amendments.map((each, index) => ({ ...each, note: opened.amendmentNotes[index] ?? null })),
    counter: counter && { ...counter, note: opened.counterNote },
    cancellation: cancellation && { ...cancellation, note: opened.cancellationNote },
    customer,
    erasedAt,
  };
  const printed = JSON.parse(JSON.stringify({ ...shown, ...personal }), (name, value: unknown) =>
    MOMENTS.has(name) && typeof value === 'number' ? formatMoment(value) : value,
  ) as object;
  return JSON.stringify({ ...(snakeCased(printed) as object), tracking });
}
