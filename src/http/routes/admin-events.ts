/**
 * Events for operators: define and list them, cancel a performance, block seats. Everything needs the bearer token.
 *
 * The catalogue checks the definition in a body and lists every problem.
 */
import { Type } from 'typebox';
import { checkDefinition } from '#catalogue/definition.ts';
import { toEventFile } from '#catalogue/event-file.ts';
import { executeAt, readAt, readUnlessBroken, whenOrdersCancelled } from '#actors/event-port.ts';
import { retentionEndsAt } from '#domain/catalogue/sale-plan.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { OperatorEventView } from '#domain/figures.ts';
import { isRefusal } from '#domain/refusal.ts';
import { toCursor, readCursor, idempotencyMark, markReplayed, operatorMark } from '../request-parts.ts';
import { EVENT_NOT_FOUND } from '../errors.ts';
import { bearer, errorResponses } from '../openapi.ts';
import type { OperatorPorts } from '../ports.ts';
import { toWaitingRoomBody } from '../queue-bodies.ts';
import { PageQuery } from '../schemas/events.ts';
import { Id, ref } from '../schemas/fields.ts';
import {
  AdminEvent,
  AdminEventList,
  CancelledPerformance,
  DefinedEvent,
  EventDefinitionInput,
  NoteOnly,
  NoteQuery,
  OperatorHeaders,
  SeatAction,
  SeatActionAnswer,
  type AdminEventBody,
} from '../schemas/operators.ts';
import type { HttpApp } from '../app.ts';

const LIST_LIMIT = 100;
const EventPath = Type.Object({ id: Type.String() });
const PerformancePath = Type.Object({ id: Type.String(), performance_id: Id });

const defineEventSchema = {
  operationId: 'defineEvent',
  tags: ['Events'],
  summary: 'Create or update an event from its definition',
  security: bearer,
  params: EventPath,
  headers: OperatorHeaders,
  querystring: NoteQuery,
  body: EventDefinitionInput,
  response: { 200: DefinedEvent, 201: DefinedEvent, ...errorResponses },
};

const listAllEventsSchema = {
  operationId: 'listAllEvents',
  tags: ['Events'],
  summary: 'List all events, drafts too, with their stock; those that cannot be activated are left out',
  security: bearer,
  querystring: PageQuery,
  response: { 200: AdminEventList, ...errorResponses },
};

const getAnyEventSchema = {
  operationId: 'getAnyEvent',
  tags: ['Events'],
  summary: 'Read an event with its definition and stock',
  security: bearer,
  params: EventPath,
  response: { 200: ref(AdminEvent), ...errorResponses },
};

const cancelPerformanceSchema = {
  operationId: 'cancelPerformance',
  tags: ['Events'],
  summary: 'Cancel a date: holds are released, orders with a ticket on it cancelled whole with refunds due',
  description:
    'Answered when the last order is cancelled: some seconds for tens of thousands. After a 503 it goes on by itself; a repeat is answered when it is done.',
  security: bearer,
  params: PerformancePath,
  headers: OperatorHeaders,
  body: NoteOnly,
  response: { 200: CancelledPerformance, ...errorResponses },
};

const changeSeatsSchema = {
  operationId: 'changeSeats',
  tags: ['Events'],
  summary: 'Block or unblock seats of a date',
  security: bearer,
  params: PerformancePath,
  headers: OperatorHeaders,
  body: SeatAction,
  response: { 200: SeatActionAnswer, ...errorResponses },
};

export function adminEventRoutes(
  app: HttpApp,
  ports: Pick<OperatorPorts, 'requireToken' | 'events' | 'absentProviders'>,
): void {
  const { events } = ports;
  const onRequest = ports.requireToken;
  const warningsAbout = (definition: EventDefinition): { readonly warnings?: string[] } => {
    const { paymentProvider, retentionDays = null } = definition;
    const warnings: string[] = [];
    if (ports.absentProviders.includes(paymentProvider)) {
      warnings.push(
        `/payment_provider: nothing stands behind ${paymentProvider}, so that only free orders can be placed`,
      );
    }
    if (retentionDays !== null && retentionEndsAt(definition) === null) {
      warnings.push('/retention_days: a performance without a time is never over, so that nothing is erased by itself');
    }
    return warnings.length === 0 ? {} : { warnings };
  };

  app.put('/admin/events/:id', { onRequest, schema: defineEventSchema }, async (request, reply) => {
    const checked = checkDefinition(request.body);
    if ('problems' in checked) return reply.invalid(checked.problems);
    if (checked.definition.id !== request.params.id) {
      return reply.invalid([{ path: '/id', message: 'must equal the id in the address' }]);
    }
    const defined = await events.define(checked.definition, operatorMark(request, request.query.note));
    if (isRefusal(defined)) return reply.refuse(defined);
    await whenOrdersCancelled(events, checked.definition);
    const { eventId: id, version, created } = defined;
    return reply.code(created ? 201 : 200).send({ id, version, ...warningsAbout(checked.definition) });
  });

  app.get('/admin/events', { onRequest, schema: listAllEventsSchema }, async (request, reply) => {
    const { limit, cursor } = request.query;
    const start = readCursor(cursor);
    if ('outcome' in start) return reply.refuse(start);
    const page = await events.listAll({ limit: Number(limit ?? LIST_LIMIT), after: start.after });
    const bodies: AdminEventBody[] = [];
    for (const eventId of page.eventIds) {
      const event = await readUnlessBroken(events, eventId, { type: 'ReadOperatorEvent' });
      if (event !== null) bodies.push(toAdminEventBody(event));
    }
    return reply.send({ events: bodies, next_cursor: toCursor(page.nextAfter) });
  });

  app.get('/admin/events/:id', { onRequest, schema: getAnyEventSchema }, async (request, reply) => {
    const found = events.byEventId(request.params.id);
    const event = await readAt(found, EVENT_NOT_FOUND, { type: 'ReadOperatorEvent' });
    return isRefusal(event) ? reply.refuse(event) : reply.send(toAdminEventBody(event));
  });
  performanceRoutes(app, ports);
}

/** What operators do to a performance. */
function performanceRoutes(
  app: HttpApp,
  { events, requireToken: onRequest }: Pick<OperatorPorts, 'requireToken' | 'events'>,
): void {
  app.post(
    '/admin/events/:id/performances/:performance_id/cancel',
    { onRequest, schema: cancelPerformanceSchema },
    async (request, reply) => {
      const { id, performance_id: performanceId } = request.params;
      const idempotency = idempotencyMark('POST /admin/events/performances/cancel', request, {
        target: [id, performanceId],
      });
      if (idempotency !== null && 'outcome' in idempotency) return reply.refuse(idempotency);
      const mark = operatorMark(request, request.body?.note);
      const command = { type: 'CancelPerformance', performanceId, idempotency, ...mark } as const;
      const answer = await executeAt(events.byEventId(id), EVENT_NOT_FOUND, command);
      if (isRefusal(answer)) return reply.refuse(answer);
      markReplayed(reply, answer);
      return reply.send({ released_holds: answer.releasedHolds, cancelled_orders: answer.cancelledOrders });
    },
  );

  app.post(
    '/admin/events/:id/performances/:performance_id/seats',
    { onRequest, schema: changeSeatsSchema },
    async (request, reply) => {
      const { id, performance_id: performanceId } = request.params;
      const { seat_ids: seatIds, action, note } = request.body;
      const idempotency = idempotencyMark('POST /admin/events/performances/seats', request, {
        target: [id, performanceId],
      });
      if (idempotency !== null && 'outcome' in idempotency) return reply.refuse(idempotency);
      const seats = { performanceId, seatIds, idempotency, ...operatorMark(request, note) };
      const type = action === 'block' ? 'BlockSeats' : 'UnblockSeats';
      const command = { type, ...seats } as const;
      const answer = await executeAt<'BlockSeats' | 'UnblockSeats'>(events.byEventId(id), EVENT_NOT_FOUND, command);
      if (isRefusal(answer)) return reply.refuse(answer);
      markReplayed(reply, answer);
      return reply.send(
        'blockedSeats' in answer ? { blocked: answer.blockedSeats } : { unblocked: answer.unblockedSeats },
      );
    },
  );
}

function toAdminEventBody({
  definition,
  definitionVersion,
  performances,
  waitingRoom,
}: OperatorEventView): AdminEventBody {
  return {
    definition: toEventFile(definition),
    version: definitionVersion,
    performances: performances.map(({ id, capacity, available, held, sold, blocked }) => ({
      id,
      capacity,
      available,
      held,
      sold,
      blocked,
    })),
    waiting_room: waitingRoom === null ? null : toWaitingRoomBody(waitingRoom),
  };
}
