/**
 * Events for operators: define and list them, cancel a performance, block seats. Everything needs the bearer token.
 *
 * The catalogue checks the definition in a body and lists every problem.
 */
import { type Static, Type } from 'typebox';
import { readAt, readUnlessBroken, whenOrdersCancelled } from '#actors/event-port.ts';
import { checkDefinition } from '#catalogue/definition.ts';
import { describedEventSchema, toEventFile, type EventFile } from '#catalogue/event-fields.ts';
import { retentionEndsAt } from '#domain/catalogue/sale-plan.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { OperatorEventView } from '#domain/event/operator-view.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { WaitingRoomCounts } from '#domain/view.ts';
import { PageQuery } from '../buyers/events/schema.ts';
import type { AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND, invalid } from '../protocol/errors.ts';
import {
  Count,
  Id,
  Note,
  NoteQuery,
  Nullable,
  OperatorHeaders,
  ref,
  SeatId,
  Time,
  bearer,
} from '../protocol/fields.ts';
import { formatMoment } from '../protocol/formats.ts';
import { toCursor } from '../protocol/request-parts.ts';
import { addRoute } from '../protocol/route.ts';
import { SteeringFields, toSteeringBody } from './steering.ts';
import { OrdersOfDate, ordersOf } from './cancellation.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The catalogue's own schema checks it in full; what matters here is that it is an object. The document shows
 * `EventDefinition`.
 */
const EventDefinitionInput = Type.Object({}, { additionalProperties: true, documentedAs: 'EventDefinition' });

/** What the document shows of a definition. */
export const DocumentedDefinition = Type.Unsafe<EventFile>({ ...describedEventSchema, $id: 'EventDefinition' });

const DefinedEvent = Type.Object({
  id: Type.String(),
  version: Type.Integer(),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What was taken and will not work as it is; left out when there is nothing.',
    }),
  ),
});

/** What operators see of a waiting room; never the seed of its draw. */
export const WaitingRoom = Type.Object({
  status: Type.String(),
  opens_at: Nullable(Time),
  waiting: Count,
  admitted: Count,
  admitted_last_minute: Count,
  joined: Count,
  draw_commitment: Nullable(Type.String()),
});

export const AdminEvent = Type.Object(
  {
    definition: Type.Unknown({ description: 'As a catalogue file has it.' }),
    version: Type.Integer(),
    steering: ref(SteeringFields),
    performances: Type.Array(
      Type.Object({
        id: Type.String(),
        capacity: Count,
        available: Count,
        held: Count,
        sold: Count,
        blocked: Count,
      }),
    ),
    waiting_room: Nullable(WaitingRoom),
  },
  { $id: 'AdminEvent' },
);

const AdminEventList = Type.Object({
  events: Type.Array(ref(AdminEvent)),
  next_cursor: Nullable(Type.String()),
});

const PerformanceCancellation = Type.Unsafe<{
  readonly orders?: 'WHOLE' | 'TICKETS';
  readonly refunds?: 'EXECUTE' | null;
  readonly note?: string | null;
} | null>({
  ...Type.Object({
    orders: Type.Optional(OrdersOfDate),
    refunds: Type.Optional({
      ...Nullable(Type.String({ enum: ['EXECUTE'] })),
      description:
        'Everything that is due then, of orders that had a ticket on the date, is given back at the provider.',
    }),
    note: Note,
  }),
  type: ['object', 'null'],
});

const CancelledPerformance = Type.Object({
  released_holds: Count,
  cancelled_orders: { ...Count, description: 'Orders that end.' },
  amended_orders: { ...Count, description: 'Orders that go on with their tickets on other dates.' },
});

const SeatAction = Type.Object({
  seat_ids: Type.Array(SeatId, { minItems: 1, maxItems: 10_000, uniqueItems: true }),
  action: Type.String({ enum: ['block', 'unblock'] }),
  note: Note,
});

const SeatActionAnswer = Type.Object({
  blocked: Type.Optional(Count),
  unblocked: Type.Optional(Count),
});

type AdminEventBody = Static<typeof AdminEvent>;

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const LIST_LIMIT = 100;
const EventPath = Type.Object({ id: Type.String() });
const PerformancePath = Type.Object({ id: Type.String(), performance_id: Id });

const defineEventSchema = {
  operationId: 'defineEvent',
  tags: ['Events'],
  summary: 'Create or update an event from its definition',
  description:
    'A field that the definition does not have is refused, so that a mistyped limit is not lost; names that begin with `x_` are free for notes, in every object of it. An update that would take away something held or sold is refused with the list of conflicts, and nothing changes.',
  security: bearer,
  params: EventPath,
  headers: OperatorHeaders,
  querystring: NoteQuery,
  body: EventDefinitionInput,
  response: { 200: DefinedEvent, 201: DefinedEvent },
};

const listAllEventsSchema = {
  operationId: 'listAllEvents',
  tags: ['Events'],
  summary: 'List all events, drafts too, with their stock; those that cannot be activated are left out',
  description: 'The elements are those of one event, in pages.',
  security: bearer,
  querystring: PageQuery,
  response: { 200: AdminEventList },
};

const getAnyEventSchema = {
  operationId: 'getAnyEvent',
  tags: ['Events'],
  summary: 'Read an event with its definition and stock',
  description: 'The definition is in the form in which it is loaded, with every default filled in.',
  security: bearer,
  params: EventPath,
  response: { 200: ref(AdminEvent) },
};

const cancelPerformanceSchema = {
  operationId: 'cancelPerformance',
  tags: ['Events'],
  summary: 'Cancel a date: holds are released, orders with a ticket on it or those tickets cancelled, with refunds due',
  description:
    'Answered when the last order is cancelled: some seconds for tens of thousands. After a 503 it goes on by itself; a repeat is answered when it is done. Refunds are asked for after that, one after another, also after a restart; a repeat with `refunds` has what is due by then given back.',
  security: bearer,
  params: PerformancePath,
  headers: OperatorHeaders,
  body: PerformanceCancellation,
  response: { 200: CancelledPerformance },
};

const changeSeatsSchema = {
  operationId: 'changeSeats',
  tags: ['Events'],
  summary: 'Block or unblock seats of a date',
  description: 'All of them or none: a seat that is held or sold refuses the request.',
  security: bearer,
  params: PerformancePath,
  headers: OperatorHeaders,
  body: SeatAction,
  response: { 200: SeatActionAnswer },
};

export function adminEventRoutes(app: HttpApp, ports: Pick<AdminPorts, 'events' | 'absentProviders'>): void {
  const { events } = ports;

  addRoute(app, 'PUT /admin/events/:id', defineEventSchema, {
    command: 'DefineEvent',
    answer: async ({ params, body }, { by }) => {
      const checked = checkDefinition(body);
      if ('problems' in checked) return invalid(checked.problems);
      const { definition } = checked;
      if (definition.id !== params.id) return invalid([{ path: '/id', message: 'must equal the id in the address' }]);
      const defined = await events.define(definition, by);
      if (isRefusal(defined)) return defined;
      await whenOrdersCancelled(events, definition);
      return { ...defined, warnings: warningsAbout(definition, ports.absentProviders) };
    },
    status: ({ created }) => (created ? 201 : 200),
    body: ({ eventId: id, version, warnings }) => ({ id, version, ...(warnings.length > 0 && { warnings }) }),
  });

  addRoute(app, 'GET /admin/events', listAllEventsSchema, {
    answer: ({ query }, { after }) => events.listAll({ limit: Number(query.limit ?? LIST_LIMIT), after }),
    body: async (page) => {
      const bodies: AdminEventBody[] = [];
      for (const eventId of page.eventIds) {
        const event = await readUnlessBroken(events, eventId, { type: 'ReadOperatorEvent' });
        if (event !== null) bodies.push(toAdminEventBody(event));
      }
      return { events: bodies, next_cursor: toCursor(page.nextAfter) };
    },
  });

  addRoute(app, 'GET /admin/events/:id', getAnyEventSchema, {
    answer: ({ params: { id } }) => readAt(events.byEventId(id), EVENT_NOT_FOUND, { type: 'ReadOperatorEvent' }),
    body: toAdminEventBody,
  });

  performanceRoutes(app, events);
}

/** What operators do to a performance. */
function performanceRoutes(app: HttpApp, events: AdminPorts['events']): void {
  addRoute(app, 'POST /admin/events/:id/performances/:performance_id/cancel', cancelPerformanceSchema, {
    command: 'CancelPerformance',
    isRepeatable: true,
    answer: ({ params: { id, performance_id: performanceId }, body }, { execute, idempotency, by }) => {
      const how = { ...ordersOf(body?.orders), ...(body?.refunds === 'EXECUTE' && { executes: true }) };
      const command = { type: 'CancelPerformance', performanceId, idempotency, ...by, ...how } as const;
      return execute(events.byEventId(id), EVENT_NOT_FOUND, command);
    },
    body: ({ releasedHolds, cancelledOrders, amendedOrders }) => ({
      released_holds: releasedHolds,
      cancelled_orders: cancelledOrders,
      amended_orders: amendedOrders,
    }),
  });

  addRoute(app, 'POST /admin/events/:id/performances/:performance_id/seats', changeSeatsSchema, {
    command: ['BlockSeats', 'UnblockSeats'],
    isRepeatable: true,
    answer: ({ params: { id, performance_id: performanceId }, body }, { execute, idempotency, by }) => {
      const type = body.action === 'block' ? 'BlockSeats' : 'UnblockSeats';
      const command = { type, performanceId, seatIds: body.seat_ids, idempotency, ...by } as const;
      return execute(events.byEventId(id), EVENT_NOT_FOUND, command);
    },
    body: (answer) =>
      'blockedSeats' in answer ? { blocked: answer.blockedSeats } : { unblocked: answer.unblockedSeats },
  });
}

/** Parts of a definition that was accepted which will not work as they are. */
function warningsAbout(definition: EventDefinition, absentProviders: AdminPorts['absentProviders']): string[] {
  const { paymentProvider, retentionDays = null } = definition;
  const warnings: string[] = [];
  if (absentProviders.includes(paymentProvider)) {
    warnings.push(
      `/payment_provider: nothing stands behind ${paymentProvider}, so that only free orders can be placed`,
    );
  }
  if (retentionDays !== null && retentionEndsAt(definition) === null) {
    warnings.push('/retention_days: a performance without a time is never over, so that nothing is erased by itself');
  }
  return warnings;
}

// ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function toAdminEventBody({
  definition,
  definitionVersion,
  steering,
  performances,
  waitingRoom,
}: OperatorEventView): AdminEventBody {
  return {
    definition: toEventFile(definition),
    version: definitionVersion,
    steering: toSteeringBody(steering),
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

/** The waiting room for operators. */
export function toWaitingRoomBody(room: WaitingRoomCounts) {
  return {
    status: room.status,
    opens_at: formatMoment(room.opensAt),
    waiting: room.waiting,
    admitted: room.admitted,
    admitted_last_minute: room.admittedLastMinute,
    joined: room.joined,
    draw_commitment: room.drawCommitment,
  };
}
