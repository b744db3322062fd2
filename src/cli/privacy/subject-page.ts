/**
 * What is kept about a person, as a page that the person can read: one file without scripts and without any asset.
 *
 * Every text from outside is escaped. Money is shown in its main unit, times are UTC.
 */
import { hasHappened } from '#client/doors/scan.ts';
import { decimalOf } from '#client/money.ts';
import type { FactType } from '#domain/fact.ts';
import type { SubjectReport } from '#service/subject.ts';
import { drawTable, escapeHtml } from '#rehearsal/report/drawing.ts';

type Purchase = SubjectReport['orders'][number];
type Order = Purchase['order'];
type Attendance = SubjectReport['attendances'][number];

const STYLE = `
:root { color-scheme: light; font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff; }
body { max-width: 900px; margin: 0 auto; padding: 24px 20px 64px; overflow-wrap: anywhere; }
h1 { font-size: 26px; margin: 0 0 8px; } h2 { font-size: 20px; margin: 40px 0 8px; } h3 { font-size: 16px; margin: 20px 0 6px; }
p { margin: 6px 0; max-width: 80ch; } .about { color: #555; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 14px; }
th { text-align: left; border-bottom: 2px solid #bbb; padding: 4px 10px 4px 0; }
td { border-bottom: 1px solid #e5e5e5; padding: 4px 10px 4px 0; vertical-align: top; }
th.number, td.number { text-align: right; }
`;

/** What each type of fact about an order says, in words. */
const FACT_WORDS: Readonly<Partial<Record<FactType, string>>> = {
  HoldPlaced: 'Tickets were held for the order',
  HoldChanged: 'The held tickets were changed',
  HoldReleased: 'The held tickets were given back',
  HoldExpired: 'The time to buy the held tickets ran out',
  OrderPlaced: 'The order was placed',
  SoldAtCounter: 'The order was made at a counter',
  CheckoutResumed: 'The payment was begun again',
  PaymentRequested: 'A further payment was begun',
  CheckoutSessionOpened: 'The payment provider opened its payment page',
  PaymentClosed: 'A payment ended without money',
  PaymentRecorded: 'A payment arrived',
  StrayMoneyRecorded: 'Money arrived that no payment asked for',
  OrderPaid: 'What was due was paid',
  TicketsIssued: 'The tickets were issued',
  OrderExpired: 'The time to pay ran out, and the order ended',
  AmendmentRequested: 'A change of the order was asked for, to be paid',
  AmendmentEnded: 'That change ended without a payment',
  OrderAmended: 'Tickets of the order were changed or cancelled',
  OrderCancelled: 'The order was cancelled',
  RefundRequested: 'A refund was asked for',
  RefundAnswered: 'A refund did not go, or is not yet answered',
  RefundRecorded: 'Money was given back',
  TicketScannedByHand: 'A ticket was let in or out by hand',
  RequestAnswered: 'A request about the order was answered',
};

const CANCELLED_BY = {
  BUYER: 'by the buyer',
  OPERATOR: 'by the organizer',
  PERFORMANCE: 'with its performance',
} as const;

/** The page about a person. */
export function drawSubject(subject: SubjectReport): string {
  const { email, at, orders, attendances } = subject;
  const title = `What is kept about ${email}`;
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>`,
    `<h1>${escapeHtml(title)}</h1>`,
    paragraph(`As of ${at}. Times are UTC. ${countsOf(subject)}`, 'about'),
    ...(orders.length + attendances.length === 0
      ? [paragraph('No order and no ticket with this address can be read.')]
      : []),
    ...orders.flatMap(drawOrder),
    ...attendances.flatMap(drawAttendance),
    '</body></html>',
    '',
  ].join('\n');
}

function countsOf({ orders, attendances }: SubjectReport): string {
  return `Orders placed with this address: ${orders.length}. Orders of others that name this address: ${attendances.length}.`;
}

function drawOrder({ order, other_names: others, facts, scans }: Purchase): string[] {
  return [
    `<h2>${escapeHtml(order.event.name)}</h2>`,
    paragraph(`Order ${order.order_id}, placed at ${order.placed_at}, ${wordsOf(order.status)}.`),
    ...performanceLines(order),
    '<h3>Personal data</h3>',
    ...personalLines(order),
    '<h3>Tickets</h3>',
    ...ticketLines([...order.ticket_objects, ...order.void_tickets]),
    ...otherNameLines(others),
    ...scanLines(scans),
    '<h3>Money</h3>',
    ...moneyLines(order),
    '<h3>What happened</h3>',
    drawFacts(facts),
  ];
}

function drawAttendance(attendance: Attendance): string[] {
  const { tickets, other_names: others } = attendance;
  return [
    `<h2>${escapeHtml(attendance.event.name)}</h2>`,
    paragraph(`An order that somebody else placed at ${attendance.placed_at} names this address.`),
    ...performanceLines(attendance),
    ...(tickets.length === 0 ? [] : ticketLines(tickets)),
    ...otherNameLines(others),
    ...scanLines(tickets.flatMap(({ id, scans }) => scans.map((scan) => ({ ticket_id: id, ...scan })))),
  ];
}

const OTHER_NAMES = 'kept of tickets that were not issued, or that name somebody else by now';

function otherNameLines(others: Attendance['other_names']): string[] {
  return others.length === 0
    ? []
    : [drawTable({ heading: [OTHER_NAMES], rows: others.map((each) => [personText(each)]) })];
}

function performanceLines({ event }: Pick<Order, 'event'>): string[] {
  return event.performances.map(({ name, starts_at: startsAt }) =>
    paragraph(startsAt === null ? name : `${name}, beginning at ${startsAt}`),
  );
}

function personalLines({
  personal_data: state,
  customer,
  tracking,
  counter,
  cancellation_note,
  refunds,
  amendments,
}: Order): string[] {
  const notes = [counter?.note ?? null, cancellation_note, ...[...refunds, ...amendments].map(({ note }) => note)];
  const found: [string, string | null][] = [
    ['name', customer.name],
    ['e-mail address', customer.email],
    ['telephone number', customer.phone],
    ['document number', customer.document_number],
    ...Object.entries(tracking ?? {}).map(([name, value]): [string, string] => [
      `sent by the shop page: ${name}`,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
    ...notes.map((note): [string, string | null] => ['note of the organizer', note]),
  ];
  const rows = found.flatMap(([name, text]) => (text === null || text === '' ? [] : [[name, text]]));
  const lines = rows.length === 0 ? [] : [drawTable({ heading: ['what', 'value'], rows })];
  if (state === 'OPEN') return lines;
  return [paragraph('It is kept, but is damaged and cannot be read.'), ...lines];
}

function ticketLines(tickets: Order['ticket_objects']): string[] {
  if (tickets.length === 0) return [paragraph('No tickets were issued.')];
  const rows = tickets.map(({ id, valid, ticket_type_id: type, seat_label: seat, attendee }) => [
    id,
    type,
    seat ?? '',
    valid ? 'valid' : 'not valid',
    attendee === null ? '' : personText(attendee),
  ]);
  return [drawTable({ heading: ['ticket', 'type', 'seat', 'state', 'in the name of'], rows })];
}

function personText({ name, email, phone, document_number: document }: Attendance['other_names'][number]): string {
  return [name, email, phone, document].filter((text) => text).join(', ');
}

/** What happened at the doors; nothing where the tickets were not scanned. */
function scanLines(scans: Purchase['scans']): string[] {
  if (scans.length === 0) return [];
  const rows = scans.map((scan) => [
    scan.at,
    [
      scan.kind === 'ENTRY' ? 'entry' : 'exit',
      ...(hasHappened(scan) ? [] : [`refused (${wordsOf(scan.given ?? scan.verdict)})`]),
      ...(scan.undone ? ['taken back'] : []),
    ].join(', '),
    scan.door_name,
    scan.ticket_id,
    [
      ...(scan.station_id === null ? [byHand('by hand', scan.note)] : []),
      ...(scan.undone_by_hand === null ? [] : [byHand('taken back by hand', scan.undone_by_hand.note)]),
    ].join('; '),
  ]);
  return ['<h3>At the doors</h3>', drawTable({ heading: ['when', 'what', 'door', 'ticket', 'how'], rows })];
}

function byHand(what: string, note: string | null): string {
  return note === null ? what : `${what}: ${note}`;
}

function moneyLines(order: Order): string[] {
  const { currency, payments, refunds, refunds_due: refundsDue, cancelled_by: cause } = order;
  const money = (cents: number, of = currency): string => `${decimalOf(cents, of)} ${of}`;
  const rows: string[][] = [
    ...payments.map((payment) => [
      payment.paid_at ?? payment.created_at,
      `payment, ${wordsOf(payment.status)}`,
      money(payment.amount, payment.currency),
    ]),
    ...refunds.map((refund) => [
      refund.created_at,
      `refund, ${wordsOf(refund.status)}`,
      money(refund.amount, refund.currency),
    ]),
  ];
  const due = refundsDue.map((each) => money(each.amount, each.currency)).join(', ');
  return [
    paragraph(
      `Total ${money(order.total_amount)}, paid ${money(order.paid_amount)}, given back ${money(order.refunded_amount)}` +
        `${due === '' ? '' : `, still to be given back ${due}`}.`,
    ),
    ...(cause === null ? [] : [paragraph(`Cancelled ${CANCELLED_BY[cause]} at ${order.cancelled_at}.`)]),
    ...(rows.length === 0 ? [] : [drawTable({ heading: ['when', 'what', 'amount'], rows })]),
  ];
}

function drawFacts(facts: Purchase['facts']): string {
  const rows = facts.map(({ seq, at, type, amount, currency }) => [
    at,
    FACT_WORDS[type as FactType] ?? type,
    amount === null || currency === null ? '' : `${decimalOf(amount, currency)} ${currency}`,
    `fact ${seq}`,
  ]);
  return drawTable({ heading: ['when', 'what', 'amount', 'kept as'], rows });
}

function wordsOf(status: string): string {
  return status.toLowerCase().replaceAll('_', ' ');
}

function paragraph(text: string, name?: string): string {
  return `<p${name === undefined ? '' : ` class="${name}"`}>${escapeHtml(text)}</p>`;
}
