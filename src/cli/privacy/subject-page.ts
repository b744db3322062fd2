/**
 * What is kept about a person, as a page that the person can read: one file without scripts and without any asset.
 *
 * Every text from outside is escaped. Money is shown in its main unit, times are UTC.
 */
import { decimalOf } from '#client/money.ts';
import type { FactType } from '#domain/fact.ts';
import type { Subject, SubjectAttendance, SubjectFact, SubjectOrder, SubjectTicket } from './subject-report.ts';
import { drawTable, escapeHtml } from '#rehearsal/html.ts';
import { formatMoment } from './output.ts';

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
  CheckoutResumed: 'The payment was begun again',
  PaymentRequested: 'A further payment was begun',
  CheckoutSessionOpened: 'The payment provider opened its payment page',
  PaymentClosed: 'A payment ended without money',
  PaymentRecorded: 'A payment arrived',
  StrayMoneyRecorded: 'Money arrived that no payment asked for',
  OrderPaid: 'What was due was paid',
  TicketsIssued: 'The tickets were issued',
  OrderExpired: 'The time to pay ran out, and the order ended',
  OrderCancelled: 'The order was cancelled',
  RefundRecorded: 'A refund was noted',
  RequestAnswered: 'A request about the order was answered',
};

const CANCELLED_BY = {
  BUYER: 'by the buyer',
  OPERATOR: 'by the organizer',
  PERFORMANCE: 'with its performance',
} as const;

/** The page about a person, as of a moment. */
export function drawSubject(subject: Subject, at: number): string {
  const { email, orders, attended } = subject;
  const title = `What is kept about ${email}`;
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escapeHtml(title)}</title><style>${STYLE}</style></head><body>`,
    `<h1>${escapeHtml(title)}</h1>`,
    paragraph(`As of ${formatMoment(at)}. Times are UTC. ${countsOf(subject)}`, 'about'),
    ...(orders.length + attended.length === 0
      ? [paragraph('No order and no ticket with this address can be read.')]
      : []),
    ...orders.flatMap(drawOrder),
    ...attended.flatMap(drawAttendance),
    '</body></html>',
    '',
  ].join('\n');
}

function countsOf({ orders, attended }: Subject): string {
  return `Orders placed with this address: ${orders.length}. Orders of others with a ticket in this name: ${attended.length}.`;
}

function drawOrder(order: SubjectOrder): string[] {
  const { id, event, status, placedAt, tickets, facts } = order;
  return [
    `<h2>${escapeHtml(event.name)}</h2>`,
    paragraph(`Order ${id}, placed at ${formatMoment(placedAt)}, ${wordsOf(status)}.`),
    ...performanceLines(order),
    '<h3>Personal data</h3>',
    ...personalLines(order),
    '<h3>Tickets</h3>',
    ...ticketLines(tickets),
    '<h3>Money</h3>',
    ...moneyLines(order),
    '<h3>What happened</h3>',
    drawFacts(facts),
  ];
}

function drawAttendance(attendance: SubjectAttendance): string[] {
  return [
    `<h2>${escapeHtml(attendance.event.name)}</h2>`,
    paragraph(
      `A ticket in an order that somebody else placed at ${formatMoment(attendance.placedAt)} names this address.`,
    ),
    ...performanceLines(attendance),
    ...ticketLines(attendance.tickets),
  ];
}

function performanceLines({ performances }: Pick<SubjectOrder, 'performances'>): string[] {
  return performances.map(({ name, startsAt }) =>
    paragraph(startsAt === null ? name : `${name}, beginning at ${formatMoment(startsAt)}`),
  );
}

function personalLines({ personalData, customer, tracking, cancellation, refunds }: SubjectOrder): string[] {
  const notes = [cancellation?.note, ...refunds.map(({ note }) => note)].flatMap((note) =>
    note == null ? [] : [note],
  );
  const rows: [string, string][] = [
    ...(customer === null
      ? []
      : ([
          ['name', customer.name],
          ['e-mail address', customer.email],
          ['telephone number', customer.phone ?? ''],
          ['document number', customer.documentNumber ?? ''],
        ] as [string, string][])),
    ...Object.entries(tracking ?? {}).map(([name, value]): [string, string] => [
      `sent by the shop page: ${name}`,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
    ...notes.map((note): [string, string] => ['note of the organizer', note]),
  ].filter((row): row is [string, string] => row[1] !== '');
  const lines = rows.length === 0 ? [] : [drawTable({ heading: ['what', 'value'], rows })];
  if (personalData === 'OPEN') return lines;
  return [paragraph('It is kept, but is damaged and cannot be read.'), ...lines];
}

function ticketLines(tickets: readonly SubjectTicket[]): string[] {
  if (tickets.length === 0) return [paragraph('No tickets were issued.')];
  const rows = tickets.map(({ id, isValid, ticketTypeId, seatLabel, attendee }) => [
    id,
    ticketTypeId,
    seatLabel ?? '',
    isValid ? 'valid' : 'not valid',
    attendee === null
      ? ''
      : [attendee.name, attendee.email, attendee.phone, attendee.documentNumber].filter((text) => text).join(', '),
  ]);
  return [drawTable({ heading: ['ticket', 'type', 'seat', 'state', 'in the name of'], rows })];
}

function moneyLines(order: SubjectOrder): string[] {
  const { currency, totalCents, paidCents, refundedCents, payments, refunds, cancellation, refundsDue } = order;
  const money = (cents: number, of = currency): string => `${decimalOf(cents, of)} ${of}`;
  const rows: string[][] = [
    ...payments.map((payment) => [
      formatMoment(payment.paidAt ?? payment.createdAt),
      `payment, ${wordsOf(payment.status)}`,
      money(payment.amountCents, payment.currency),
    ]),
    ...refunds.map((refund) => [formatMoment(refund.at), 'refund', money(refund.amountCents, refund.currency)]),
  ];
  const due = refundsDue.map((each) => money(each.amountCents, each.currency)).join(', ');
  return [
    paragraph(
      `Total ${money(totalCents)}, paid ${money(paidCents)}, given back ${money(refundedCents)}` +
        `${due === '' ? '' : `, still to be given back ${due}`}.`,
    ),
    ...(cancellation === null
      ? []
      : [paragraph(`Cancelled ${CANCELLED_BY[cancellation.cause]} at ${formatMoment(cancellation.at)}.`)]),
    ...(rows.length === 0 ? [] : [drawTable({ heading: ['when', 'what', 'amount'], rows })]),
  ];
}

function drawFacts(facts: readonly SubjectFact[]): string {
  const rows = facts.map(({ seq, at, type, amountCents, currency }) => [
    formatMoment(at),
    FACT_WORDS[type as FactType] ?? type,
    amountCents === null || currency === null ? '' : `${decimalOf(amountCents, currency)} ${currency}`,
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
