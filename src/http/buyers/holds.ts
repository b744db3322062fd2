/**
 * Holds: place, read, change and release a reservation.
 *
 * A route makes a command of a checked body and a body of the reply; the domain decides. A reply comes when its facts
 * are durable.
 */
import { type Static, Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import type { ItemRequest } from '#domain/command.ts';
import type { HoldItemView, HoldView } from '#domain/view.ts';
import type { PublicPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND, HOLD_NOT_FOUND } from '../protocol/errors.ts';
import { Count, Id, Nullable, ref, SeatId, SessionKey, SessionKeyQuery, Time } from '../protocol/fields.ts';
import { formatTime } from '../protocol/formats.ts';
import { addRoute } from '../protocol/route.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** More units than any venue has places, few enough to multiply without losing exactness. */
export const QUANTITY_MAX = 1_000_000_000;

const itemFields = {
  ticket_type_id: Id,
  selling_stage_id: Id,
  performance_id: Type.Optional(Nullable(Id)),
  seat_ids: Type.Optional(
    Type.Array(SeatId, {
      minItems: 1,
      maxItems: 200,
      uniqueItems: true,
      description:
        'Seats to claim on numbered seating; left out, the best available are assigned, beside those of an accessible ticket type of the same request.',
    }),
  ),
};

export const HoldItemInput = Type.Object(
  { ...itemFields, quantity: Type.Integer({ minimum: 1, maximum: QUANTITY_MAX, examples: [2] }) },
  { $id: 'HoldItemInput' },
);

const HoldItemChange = Type.Object({
  ...itemFields,
  quantity: Type.Integer({ minimum: 0, maximum: QUANTITY_MAX, description: '0 drops the line.' }),
});

export const CreateHold = Type.Object({
  event_id: Id,
  session_key: SessionKey,
  items: Type.Array(Type.Object(HoldItemInput.properties), { minItems: 1, maxItems: 20 }),
  queue_pass: Type.Optional(
    Nullable(Type.String({ maxLength: 256, description: 'The id of an ADMITTED queue entry.' })),
  ),
});

const ChangeHold = Type.Object({
  items: Type.Array(HoldItemChange, {
    minItems: 1,
    maxItems: 20,
    description: 'Each sets the quantity of one line; lines not named stay.',
  }),
});

export const HoldItem = Type.Object(
  {
    ticket_type_id: Type.String(),
    selling_stage_id: Type.String(),
    performance_id: Type.String(),
    quantity: Count,
    ticket_count: Count,
    seat_ids: Type.Array(Type.String()),
    seat_labels: Type.Array(Type.String()),
  },
  { $id: 'HoldItem' },
);

export const Hold = Type.Object(
  {
    id: Type.String(),
    event_id: Type.String(),
    status: Type.String({ enum: ['ACTIVE', 'CONVERTED', 'CONSUMED', 'RELEASED', 'EXPIRED'] }),
    expires_at: Time,
    order_id: Nullable(Type.String()),
    items: Type.Array(ref(HoldItem)),
  },
  { $id: 'Hold' },
);

export type ItemBody = Static<typeof HoldItemInput>;
export type HoldBody = Static<typeof Hold>;

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const HoldPath = Type.Object({ id: Type.String() });

const createHoldSchema = {
  operationId: 'createHold',
  tags: ['Holds'],
  summary: 'Reserve a selection of tickets',
  description: "Replaces the session's previous hold on the event. Send an Idempotency-Key to repeat it safely.",
  body: CreateHold,
  response: { 201: ref(Hold) },
};

const getHoldSchema = {
  operationId: 'getHold',
  tags: ['Holds'],
  summary: 'Read a hold',
  description:
    'A hold whose window is over reads EXPIRED. One that ended is found for two hours, and has its items for ten minutes; one that was replaced has none.',
  params: HoldPath,
  querystring: SessionKeyQuery,
  response: { 200: ref(Hold) },
};

const changeHoldSchema = {
  operationId: 'changeHold',
  tags: ['Holds'],
  summary: 'Change the quantities of a hold; its window restarts',
  description: 'Send an Idempotency-Key to repeat it safely.',
  params: HoldPath,
  querystring: SessionKeyQuery,
  body: ChangeHold,
  response: { 200: ref(Hold) },
};

const releaseHoldSchema = {
  operationId: 'releaseHold',
  tags: ['Holds'],
  summary: 'Release a hold',
  description: 'Its tickets are on sale again at once. Releasing again answers the same.',
  params: HoldPath,
  querystring: SessionKeyQuery,
  response: { 200: ref(Hold) },
};

export function holdRoutes(app: HttpApp, { events }: Pick<PublicPorts, 'events'>): void {
  addRoute(app, 'POST /api/checkout/holds', createHoldSchema, {
    command: 'PlaceHold',
    isRepeatable: true,
    problems: ({ body }) => problemsOfSeats(body.items),
    answer: (
      { body: { event_id: eventId, session_key: sessionKey, queue_pass: queuePass, items } },
      { execute, idempotency },
    ) =>
      execute(events.byEventId(eventId), EVENT_NOT_FOUND, {
        type: 'PlaceHold',
        sessionKey,
        items: items.map(readItem),
        queuePass: queuePass ?? null,
        idempotency,
      }),
    status: 201,
    body: ({ hold }) => toHoldBody(hold),
  });

  addRoute(app, 'GET /api/checkout/holds/:id', getHoldSchema, {
    takesSessionKey: true,
    answer: ({ params: { id: holdId } }, { sessionKey }) =>
      readAt(events.byId('hld', holdId), HOLD_NOT_FOUND, { type: 'FindHold', holdId, sessionKey }),
    body: toHoldBody,
  });

  addRoute(app, 'PATCH /api/checkout/holds/:id', changeHoldSchema, {
    command: 'ChangeHold',
    takesSessionKey: true,
    isRepeatable: true,
    problems: ({ body }) => problemsOfSeats(body.items),
    answer: ({ params: { id: holdId }, body }, { execute, sessionKey, idempotency }) => {
      const items = body.items.map(readItem);
      const command = { type: 'ChangeHold', holdId, sessionKey, items, idempotency } as const;
      return execute(events.byId('hld', holdId), HOLD_NOT_FOUND, command);
    },
    body: ({ hold }) => toHoldBody(hold),
  });

  addRoute(app, 'DELETE /api/checkout/holds/:id', releaseHoldSchema, {
    command: 'ReleaseHold',
    takesSessionKey: true,
    answer: ({ params: { id: holdId } }, { execute, sessionKey }) =>
      execute(events.byId('hld', holdId), HOLD_NOT_FOUND, { type: 'ReleaseHold', holdId, sessionKey }),
    body: ({ hold }) => toHoldBody(hold),
  });
}

// ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export function readItem(item: ItemBody): ItemRequest {
  return {
    ticketTypeId: item.ticket_type_id,
    sellingStageId: item.selling_stage_id,
    quantity: item.quantity,
    performanceId: item.performance_id ?? null,
    seatIds: item.seat_ids ?? null,
  };
}

/**
 * Seats that a request names in two of its items for one performance: such a request contradicts itself at any event.
 */
export function problemsOfSeats(
  items: readonly Pick<ItemBody, 'performance_id' | 'seat_ids'>[],
): readonly { readonly path: string; readonly message: string }[] {
  if (items.length < 2) return [];
  const named = new Set<string>();
  return items.flatMap(({ performance_id: performanceId = null, seat_ids: seatIds = [] }, index) =>
    seatIds.flatMap((seatId) => {
      const key = JSON.stringify([performanceId, seatId]);
      if (!named.has(key)) {
        named.add(key);
        return [];
      }
      return [{ path: `/items/${index}/seat_ids`, message: `seat ${seatId} is named twice` }];
    }),
  );
}

export function toHoldBody(hold: HoldView): HoldBody {
  return {
    id: hold.id,
    event_id: hold.eventId,
    status: hold.status,
    expires_at: formatTime(hold.expiresAt),
    order_id: hold.orderId,
    items: hold.items.map(toHoldItemBody),
  };
}

function toHoldItemBody(item: HoldItemView): HoldBody['items'][number] {
  return {
    ticket_type_id: item.ticketTypeId,
    selling_stage_id: item.sellingStageId,
    performance_id: item.performanceId,
    quantity: item.quantity,
    ticket_count: item.ticketCount,
    seat_ids: item.seatIds as string[],
    seat_labels: item.seatLabels as string[],
  };
}
