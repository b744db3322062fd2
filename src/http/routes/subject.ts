/**
 * What is kept about a person, for operators who have to tell: `GET /admin/subject`.
 *
 * 1. Every event is searched, a part of them for each request: a page may be empty and not the last.
 * 2. Of orders of others only the tickets of the person are told.
 */
import { searchSubject, SEARCH_BEGIN, type FoundAttendance, type SubjectPlace } from '#actors/subject-search.ts';
import { refuseProblems, type Refusal } from '#domain/refusal.ts';
import type { OrderView } from '#domain/views.ts';
import type { HttpApp } from '../app.ts';
import { formatTime } from '../formats.ts';
import { bearer, errorResponses } from '../openapi.ts';
import { claimsOf, toAdminTicketBody, toOpenedAdminBodies } from '../order-bodies.ts';
import type { OperatorPorts, OrderPorts } from '../ports.ts';
import { readCursor, toCursor } from '../request-parts.ts';
import { ref } from '../schemas/fields.ts';
import { Subject, SubjectQuery, type SubjectBody } from '../schemas/subject.ts';
import { problemAt } from '../validation.ts';

const LIMIT = 50;

const readSubjectSchema = {
  operationId: 'readSubject',
  tags: ['Orders'],
  summary: 'Read what is kept about a person, over all events',
  description:
    'Looks for orders that were placed with the address, and for tickets in orders of others that bear it. A request searches a part of the events: go on with `next_cursor` until it is null. What was erased is not found.',
  security: bearer,
  querystring: SubjectQuery,
  response: { 200: ref(Subject), ...errorResponses },
};

export function subjectRoutes(
  app: HttpApp,
  ports: Pick<OperatorPorts, 'requireToken' | 'events' | 'tickets' | 'personalData'>,
): void {
  app.get('/admin/subject', { onRequest: ports.requireToken, schema: readSubjectSchema }, async (request, reply) => {
    const { email, limit, cursor } = request.query;
    const place = readPlace(cursor);
    if ('outcome' in place) return reply.refuse(place);
    const page = await searchSubject(ports, email, { place, limit: Number(limit ?? LIMIT) });
    const orders = await toOpenedAdminBodies(page.purchases, ports.tickets);
    const attendances: SubjectBody['attendances'] = [];
    for (const found of page.attendances) attendances.push(await toAttendanceBody(found, ports));
    return reply.send({
      email,
      orders: orders.map((order, index) => ({ order, facts: factsOf(page.purchases[index]!.order) })),
      attendances,
      unread_events: [...page.unreadEvents],
      next_cursor: page.next === null ? null : toCursor(placeText(page.next)),
    });
  });
}

async function toAttendanceBody(
  { order, opened, tickets: found }: FoundAttendance,
  { tickets }: OrderPorts,
): Promise<SubjectBody['attendances'][number]> {
  const { id: orderId, event, personal, status, placedAt, cancellation } = order;
  await tickets.prepare(found.filter(({ isValid }) => isValid).map((ticket) => claimsOf(ticket, event.id)));
  const reason = cancellation?.cause === 'PERFORMANCE' ? 'PERFORMANCE_CANCELLED' : 'ORDER_CANCELLED';
  return {
    order_id: orderId,
    event: { id: event.id, slug: event.slug, name: event.name },
    status,
    placed_at: formatTime(placedAt),
    tickets: found.map((ticket) => {
      const voidReason = ticket.isValid ? null : reason;
      return toAdminTicketBody({ ticket, personal, orderId, eventId: event.id, voidReason }, opened, tickets);
    }),
    facts: factsOf(order),
  };
}

/** What an order itself says of what happened to it. */
function factsOf(order: OrderView): SubjectBody['orders'][number]['facts'] {
  const { placedAt, payments, refunds, cancellation } = order;
  const facts: { readonly type: string; readonly at: number | null | undefined }[] = [
    { type: 'OrderPlaced', at: placedAt },
    ...payments.flatMap(({ createdAt, paidAt }) => [
      { type: 'PaymentRequested', at: createdAt },
      { type: 'PaymentRecorded', at: paidAt },
    ]),
    ...refunds.map(({ at }) => ({ type: 'RefundRecorded', at })),
    { type: 'OrderCancelled', at: cancellation?.at },
  ];
  return facts
    .flatMap(({ type, at }) => (at === null || at === undefined ? [] : [{ type, at }]))
    .sort((one, other) => one.at - other.at)
    .map(({ type, at }) => ({ type, at: formatTime(at) }));
}

// ── the cursor ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Neither the id of an event nor that of an order has a space. */
function placeText({ afterEvent, step, afterOrder }: SubjectPlace): string {
  return [step, afterEvent ?? '', afterOrder ?? ''].join(' ');
}

function readPlace(cursor: string | undefined): SubjectPlace | Refusal {
  const start = readCursor(cursor);
  if ('outcome' in start) return start;
  if (start.after === null) return SEARCH_BEGIN;
  const [step = '', afterEvent = '', afterOrder = '', ...further] = start.after.split(' ');
  const isOrder = step === 'CUSTOMER' || (step === 'ATTENDEES' && /^[0-9]{0,9}$/.test(afterOrder));
  if (!isOrder || further.length > 0) return refuseProblems([problemAt('cursor', 'is not a cursor of this list')]);
  return {
    afterEvent: afterEvent === '' ? null : afterEvent,
    step: step === 'CUSTOMER' ? 'CUSTOMER' : 'ATTENDEES',
    afterOrder: afterOrder === '' ? null : afterOrder,
  };
}
