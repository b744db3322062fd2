/**
 * What is kept about a person, for operators who have to disclose it: `GET /admin/subject`, and `holdfast subject`,
 * which has the same body.
 *
 * 1. Every event is searched, a part of them for each request: a page may be empty and not the last.
 * 2. Of other people's orders only the tickets and names of the person are shown.
 */
import { type Static, Type } from 'typebox';
import { type Refusal, refuseProblems } from '#domain/refusal.ts';
import { voidReasonOf } from '#domain/orders/order.ts';
import type { OrderView } from '#domain/view.ts';
import {
  type FoundAttendance,
  SEARCH_BEGIN,
  searchSubject,
  type SubjectPage,
  type SubjectPosition,
} from '#privacy/subject-search.ts';
import type { TicketCodes } from '#tickets/signing.ts';
import { claimsOf, toAttendeeBody, toOrderBody } from '../buyers/orders/body.ts';
import { Attendee, orderFields } from '../buyers/orders/schema.ts';
import type { AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { Cents, IntegerText, Nullable, ref, Time, bearer } from '../protocol/fields.ts';
import { formatTime } from '../protocol/formats.ts';
import { toCursor } from '../protocol/request-parts.ts';
import { addRoute } from '../protocol/route.ts';
import { problemAt } from '../protocol/validation.ts';
import { toAdminTicketBody, toOpenedAdminBodies, toTicketScanBodies } from './orders/body.ts';
import { AdminOrder, AdminTicket, TicketScan } from './orders/schema.ts';

const Text = Type.String();

const SubjectQuery = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 254, description: 'Compared as the purchase limits do.' }),
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(Type.String({ maxLength: 1_024 })),
});

const OrderFact = Type.Object({
  type: Type.String({ description: 'As the journal names it.' }),
  at: Time,
  seq: Nullable(Type.Integer({ description: 'Its number in the journal, where it was read there.' })),
  amount: Nullable({ ...Cents, description: 'The money that it is about.' }),
  currency: Nullable(Text),
});
const facts = { description: 'What happened to the order, the oldest first, as far as the order itself says when.' };
const OrderFacts = Type.Array(OrderFact, facts);
const OrderScans = Type.Array(Type.Object({ ticket_id: Text, ...TicketScan.properties }), {
  description: 'Entries and exits of its tickets, void ones too, and the first 50 of a ticket that were refused.',
});
const OtherNames = Type.Array(Attendee, {
  description:
    'What is kept besides: of tickets that were not issued, or that name somebody else by now, and of amendments that were not applied.',
});
const AttendedFacts = Type.Array(Type.Pick(OrderFact, ['type', 'at']), facts);

export const Subject = Type.Object(
  {
    email: Text,
    at: { ...Time, description: 'When it was read.' },
    orders: Type.Array(
      Type.Object({ order: ref(AdminOrder), other_names: OtherNames, facts: OrderFacts, scans: OrderScans }),
      { description: 'Orders that were placed with this address, with all their amendments.' },
    ),
    attendances: Type.Array(
      Type.Object({
        order_id: Text,
        event: orderFields.event,
        status: Text,
        placed_at: Time,
        tickets: Type.Array(ref(AdminTicket), { description: 'Void ones too.' }),
        other_names: OtherNames,
        facts: AttendedFacts,
      }),
      { description: 'Tickets with this address in orders of others; of the order itself nothing else is told.' },
    ),
    unread_events: Type.Array(Text, {
      description: 'Events that cannot be read now: what they have about the person is missing here.',
    }),
    next_cursor: Nullable({
      ...Text,
      description: 'Ask again with it: a page may be empty and not the last. Null once every event was searched.',
    }),
  },
  { $id: 'Subject' },
);

export type SubjectBody = Static<typeof Subject>;
type OrderFactBody = Static<typeof OrderFact>;

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const LIMIT = 50;

const readSubjectSchema = {
  operationId: 'readSubject',
  tags: ['Orders'],
  summary: 'Read what is kept about a person, over all events',
  description:
    'Looks for orders that were placed with the address, and for tickets and names in orders of others that bear it. A request searches a part of the events: go on with `next_cursor` until it is null. What was erased is not found.',
  security: bearer,
  querystring: SubjectQuery,
  response: { 200: ref(Subject) },
};

export function subjectRoutes(
  app: HttpApp,
  ports: Pick<AdminPorts, 'events' | 'tickets' | 'personalData' | 'clock'>,
): void {
  addRoute(app, 'GET /admin/subject', readSubjectSchema, {
    answer: async ({ query: { email, limit } }, { after }) => {
      const position = after === null ? SEARCH_BEGIN : readPlace(after);
      if ('outcome' in position) return position;
      return { email, found: await searchSubject(ports, email, { position, limit: Number(limit ?? LIMIT) }) };
    },
    body: ({ email, found }) => toSubjectBody({ email, found, at: ports.clock.now() }, ports.tickets, factsOf),
  });
}

/** What is kept about a person as of a moment; `factsAbout` says what happened to an order. */
export async function toSubjectBody(
  { email, found, at }: { readonly email: string; readonly found: SubjectPage; readonly at: number },
  tickets: TicketCodes,
  factsAbout: (order: OrderView) => readonly SubjectFact[],
): Promise<SubjectBody> {
  const toFacts = (order: OrderView): OrderFactBody[] =>
    factsAbout(order).map(({ type, at: factAt, seq, amount, currency }) => ({
      type,
      at: formatTime(factAt),
      seq: seq ?? null,
      amount: amount ?? null,
      currency: amount === undefined ? null : (currency ?? order.currency),
    }));
  const orders = await toOpenedAdminBodies(found.purchases, tickets);
  const attendances: SubjectBody['attendances'] = [];
  for (const each of found.attendances) attendances.push(await toAttendanceBody(each, tickets));
  return {
    email,
    at: formatTime(at),
    orders: orders.map((order, index) => {
      const { order: purchase, opened, otherNames } = found.purchases[index]!;
      const scans = toTicketScanBodies(purchase.scans, opened).map((scan, place) => ({
        ticket_id: purchase.scans[place]!.ticketId,
        ...scan,
      }));
      return { order, other_names: otherNames.map(toAttendeeBody), facts: toFacts(purchase), scans };
    }),
    attendances,
    unread_events: [...found.unreadEvents],
    next_cursor: found.next === null ? null : toCursor(placeText(found.next)),
  };
}

async function toAttendanceBody(
  { order, opened, tickets: found, scans: all, otherNames }: FoundAttendance,
  tickets: TicketCodes,
): Promise<SubjectBody['attendances'][number]> {
  const { id: orderId, event, personal, status, placedAt } = order;
  await tickets.prepare(found.filter(({ isValid }) => isValid).map((ticket) => claimsOf(ticket, event.id)));
  return {
    order_id: orderId,
    event: toOrderBody(order).event,
    status,
    placed_at: formatTime(placedAt),
    tickets: found.map((ticket) => {
      const voidReason = ticket.isValid ? null : (ticket.voidReason ?? voidReasonOf(order));
      const scans = all.filter(({ ticketId }) => ticketId === ticket.id);
      const scanNotes = opened.scanNotes.filter((_, index) => all[index]!.ticketId === ticket.id);
      const issued = { ticket, personal, orderId, eventId: event.id, voidReason, scans };
      return toAdminTicketBody(issued, { ...opened, scanNotes }, tickets);
    }),
    other_names: otherNames.map(toAttendeeBody),
    facts: factsOf(order).map(({ type, at }) => ({ type, at: formatTime(at) })),
  };
}

/** What happened to an order, and the money that it was about, in the order's currency unless another one is named. */
export interface SubjectFact {
  readonly type: string;
  readonly at: number;
  readonly seq?: number;
  readonly amount?: number | undefined;
  readonly currency?: string | undefined;
}

/** What an order itself says of what happened to it, the oldest first. */
function factsOf({ placedAt, totalCents, payments, refunds, amendments, cancellation }: OrderView): SubjectFact[] {
  const facts: SubjectFact[] = [
    { type: 'OrderPlaced', at: placedAt, amount: totalCents },
    ...payments.flatMap(({ createdAt, paidAt, amountCents: amount, currency }) => [
      { type: 'PaymentRequested', at: createdAt, amount, currency },
      ...(paidAt === null ? [] : [{ type: 'PaymentRecorded', at: paidAt, amount, currency }]),
    ]),
    ...refunds.flatMap(({ at, finishedAt, status, amountCents: amount, currency }) => [
      { type: status === undefined ? 'RefundRecorded' : 'RefundRequested', at, amount, currency },
      ...(status === 'SUCCEEDED' ? [{ type: 'RefundRecorded', at: finishedAt ?? at, amount, currency }] : []),
    ]),
    ...amendments.flatMap(({ createdAt, appliedAt, expiresAt }) => [
      ...(expiresAt === null ? [] : [{ type: 'AmendmentRequested', at: createdAt }]),
      ...(appliedAt === null ? [] : [{ type: 'OrderAmended', at: appliedAt }]),
    ]),
    ...(cancellation === null ? [] : [{ type: 'OrderCancelled', at: cancellation.at }]),
  ];
  return facts.sort((one, other) => one.at - other.at);
}

// ── the cursor ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Ids of events and of orders have no spaces. */
function placeText({ afterEvent, step, afterOrder }: SubjectPosition): string {
  return [step, afterEvent ?? '', afterOrder ?? ''].join(' ');
}

function readPlace(after: string): SubjectPosition | Refusal {
  const [step = '', afterEvent = '', afterOrder = '', ...further] = after.split(' ');
  const isOrder = step === 'CUSTOMER' || (step === 'ATTENDEES' && /^[0-9]{0,9}$/.test(afterOrder));
  if (!isOrder || further.length > 0) return refuseProblems([problemAt('cursor', 'is not a cursor of this list')]);
  return {
    afterEvent: afterEvent === '' ? null : afterEvent,
    step: step === 'CUSTOMER' ? 'CUSTOMER' : 'ATTENDEES',
    afterOrder: afterOrder === '' ? null : afterOrder,
  };
}
