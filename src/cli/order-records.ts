/**
 * The exported form of an order: a line of CSV or a JSON object.
 *
 * Amounts are integers in the currency's minor unit, in columns that end in "_cents"; other columns of money are in the main unit.
 * Times are RFC 3339. Every exported field is listed here. Ids of holds and checkout sessions, and addresses that contain them, are
 * not exported.
 */
import { decimalOf } from '#client/money.ts';
import { SHOWN_FIELDS, shownFields, type RulesFor } from '#domain/shown-fields.ts';
import { snakeCased, formatMoment } from './output.ts';
import type { OrderView } from '#domain/views.ts';

type Cell = string | number | null;

/** The columns of the CSV. */
const COLUMNS: Readonly<Record<string, (order: OrderView) => Cell>> = {
  order_id: ({ id }) => id,
  status: ({ status }) => status,
  payment_status: ({ paymentStatus }) => paymentStatus,
  placed_at: ({ placedAt }) => formatMoment(placedAt),
  customer_name: ({ customer }) => customer.name,
  customer_email: ({ customer }) => customer.email,
  customer_phone: ({ customer }) => customer.phone,
  customer_document_number: ({ customer }) => customer.documentNumber,
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
  promo_code: ({ promoCode }) => promoCode,
  promoter_code: ({ promoterCode }) => promoterCode,
  referral_code: ({ referralCode }) => referralCode,
};

/** The first line of the CSV. */
export const CSV_HEADING = csvLine(Object.keys(COLUMNS));

/** An order as a line of CSV (RFC 4180). */
export function csvOf(order: OrderView): string {
  return csvLine(Object.values(COLUMNS).map((cellOf) => cellOf(order)));
}

function csvLine(cells: readonly Cell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/** A text that a spreadsheet would read as a formula gets an apostrophe, as OWASP advises, because buyers write names and codes. */
function csvCell(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Fields whose numbers are times. */
const MOMENTS = new Set([
  'placedAt',
  'expiresAt',
  'createdAt',
  'paidAt',
  'sessionExpiresAt',
  'at',
  'startsAt',
  'endsAt',
]);

const PERSON = { name: 'SHOWN', email: 'SHOWN', documentNumber: 'SHOWN', phone: 'SHOWN' } as const;

/** The fields of an order in JSON; tracking is added in `jsonOf`. */
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
  },
  refunds: {
    id: 'SHOWN',
    amountCents: 'SHOWN',
    currency: 'SHOWN',
    reference: 'SHOWN',
    provider: 'SHOWN',
    isMatched: 'SHOWN',
    at: 'SHOWN',
    operator: 'SHOWN',
    note: 'SHOWN',
  },
  tickets: {
    id: 'SHOWN',
    isValid: 'SHOWN',
    ticketTypeId: 'SHOWN',
    performanceId: 'SHOWN',
    section: 'SHOWN',
    rowLabel: 'SHOWN',
    seatId: 'SHOWN',
    seatLabel: 'SHOWN',
    attendee: PERSON,
  },
  ticketCount: 'SHOWN',
  ticketsNextAfter: 'HIDDEN',
  items: SHOWN_FIELDS.OrderPlaced.items,
  discounts: { code: 'SHOWN', itemIndex: 'SHOWN', amountCents: 'SHOWN' },
  event: {
    id: 'SHOWN',
    slug: 'SHOWN',
    name: 'SHOWN',
    performances: { id: 'SHOWN', name: 'SHOWN', startsAt: 'SHOWN', endsAt: 'SHOWN', status: 'SHOWN' },
  },
  customer: PERSON,
  promoCode: 'SHOWN',
  promoterCode: 'SHOWN',
  referralCode: 'SHOWN',
  tracking: 'HIDDEN',
  successUrl: 'SHOWN',
  cancelUrl: 'SHOWN',
  cancellation: { cause: 'SHOWN', at: 'SHOWN', operator: 'SHOWN', note: 'SHOWN' },
} as const satisfies RulesFor<OrderView>;

/** The names of tracking fields are kept as the storefront wrote them; the others become snake_case. */
export function jsonOf(order: OrderView): string {
  const { tracking } = order;
  const printed = JSON.parse(JSON.stringify(shownFields(FIELDS, order)), (name, value: unknown) =>
    MOMENTS.has(name) && typeof value === 'number' ? formatMoment(value) : value,
  ) as object;
  return JSON.stringify({ ...(snakeCased(printed) as object), tracking });
}
