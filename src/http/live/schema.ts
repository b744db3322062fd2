/** The messages of a performance's live stream. */
import { Type, type Static } from 'typebox';
import { Id, ref, Time } from '../protocol/fields.ts';
import { SaleSteering, TicketAvailability } from '../buyers/events/schema.ts';
import { SeatChange } from '../buyers/seating.ts';

const SeatIds = Type.Array(Type.String());
const Status = Type.String({ enum: ['ON_SALE', 'SOLD_OUT', 'CANCELLED'] });

export const LiveSnapshot = Type.Object(
  {
    event_id: Type.String(),
    performance_id: Type.String(),
    now: Time,
    definition_version: Type.Integer({ description: 'Grows when the definition of the event changes: read it again.' }),
    status: Status,
    steering: Type.Optional(ref(SaleSteering)),
    ticketAvailability: Type.Array(ref(TicketAvailability)),
    seats: Type.Unsafe<{ held: string[]; sold: string[]; blocked: string[] } | null>({
      ...Type.Object({ held: SeatIds, sold: SeatIds, blocked: SeatIds }),
      type: ['object', 'null'],
      description: 'The seats that are not free; null where the event has no numbered seats.',
    }),
  },
  { $id: 'LiveSnapshot', description: 'The first message, and again whenever changes cannot be told as such.' },
);

export const LiveChange = Type.Object(
  {
    now: Time,
    status: Status,
    steering: Type.Optional(ref(SaleSteering)),
    ticketAvailability: Type.Array(ref(TicketAvailability)),
    seats: Type.Array(SeatChange),
  },
  {
    $id: 'LiveChange',
    description: 'The rows and seats that differ from the message before, in their new state; after a resume all rows.',
  },
);

export const LiveQuery = Type.Object({
  performance_id: Type.Optional({ ...Id, description: 'Required on events with several dates.' }),
});

export const LiveStream = Type.String({
  description:
    'Server-sent events: `snapshot` (LiveSnapshot), then `change` (LiveChange), each with an id. Reconnect with ' +
    'Last-Event-ID to get only what was missed. Comments keep the connection alive.',
});

export type LiveSnapshotBody = Static<typeof LiveSnapshot>;
export type LiveChangeBody = Static<typeof LiveChange>;
