/** Steering a sale while it runs: pausing it, the rate of the waiting room, and a message to buyers. */
import { Type } from 'typebox';
import { printable } from '#catalogue/values.ts';
import type { Steering } from '#domain/catalogue/state.ts';
import type { AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { bearer, Note, Nullable, OperatorHeaders, ref } from '../protocol/fields.ts';
import { addRoute } from '../protocol/route.ts';

const RATE_MAX = 1_000_000_000;

const Message = Nullable(
  Type.String({
    minLength: 1,
    maxLength: 500,
    pattern: printable,
    description: 'What buyers are told, without control characters; null for nothing.',
  }),
);

const Rate = Nullable(
  Type.Integer({
    minimum: 1,
    maximum: RATE_MAX,
    description: 'People admitted in a minute, at most; null for the definition’s `waiting_room_rate`.',
  }),
);

export const SteeringFields = Type.Object(
  { paused: Type.Boolean(), waiting_room_rate: Rate, message: Message },
  { $id: 'Steering', description: 'What operators set of a sale, over its definition.' },
);

const SteeringChanges = Type.Object({
  paused: Type.Optional(Type.Unsafe<boolean | null>({ type: ['boolean', 'null'], description: 'Null is false.' })),
  waiting_room_rate: Type.Optional(Rate),
  message: Type.Optional(Message),
  note: Note,
});

const steerSaleSchema = {
  operationId: 'steerSale',
  tags: ['Events'],
  summary: 'Pause or resume a sale, set the rate of its waiting room, tell buyers something',
  description:
    'What the body leaves out stays as it is, null takes it back; a new definition does not undo it. While a sale is paused new holds, changes that take more, joins and starts without a hold are answered 503 `SALE_PAUSED` and nobody is admitted; what is held can be bought, and windows and passes run on.',
  security: bearer,
  params: Type.Object({ id: Type.String() }),
  headers: OperatorHeaders,
  body: SteeringChanges,
  response: { 200: ref(SteeringFields) },
};

export function steeringRoutes(app: HttpApp, { events }: Pick<AdminPorts, 'events'>): void {
  addRoute(app, 'PUT /admin/events/:id/steering', steerSaleSchema, {
    command: 'SteerSale',
    answer: ({ params: { id }, body }, { execute, by }) => {
      const { paused, waiting_room_rate: waitingRoomRate, message } = body;
      const changes: Partial<Steering> = {
        ...(paused !== undefined && { paused: paused === true }),
        ...(waitingRoomRate !== undefined && { waitingRoomRate }),
        ...(message !== undefined && { message }),
      };
      return execute(events.byEventId(id), EVENT_NOT_FOUND, { type: 'SteerSale', changes, ...by });
    },
    body: ({ steering }) => toSteeringBody(steering),
  });
}

export function toSteeringBody({ paused, waitingRoomRate, message }: Steering) {
  return { paused, waiting_room_rate: waitingRoomRate, message };
}
