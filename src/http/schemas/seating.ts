/** The bodies of numbered seating: the layout, which seats are gone, and suggestions. */
import { Type, type Static } from 'typebox';
import { Count, Id, IntegerText, Nullable, ref, SessionKey } from './fields.ts';

const seatFields = {
  id: Type.String(),
  seat_label: Type.String(),
  x: Type.Number(),
  y: Type.Number(),
  zone_key: Type.String(),
  accessible: Type.Boolean(),
  restricted_view: Type.Boolean(),
};

export const Seating = Type.Object(
  {
    event_id: Type.String(),
    version: Type.Integer({ description: 'Grows when the definition of the event changes.' }),
    localities: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        zones: Type.Array(
          Type.Object({ zone_key: Type.String(), name: Type.String(), color: Nullable(Type.String()) }),
        ),
        sections: Type.Array(
          Type.Object({
            id: Type.String(),
            name: Type.String(),
            rows: Type.Array(Type.Object({ label: Type.String(), seats: Type.Array(Type.Object(seatFields)) })),
          }),
        ),
        shapes: Type.Array(Type.Unknown({ description: 'Outlines for the picture.' })),
      }),
    ),
  },
  { $id: 'Seating' },
);

const SeatState = Type.String({ enum: ['AVAILABLE', 'HELD', 'SOLD', 'BLOCKED'] });

export const SeatChange = Type.Object({ id: Type.String(), state: SeatState });

export const Occupancy = Type.Object(
  {
    event_id: Type.String(),
    performance_id: Type.String(),
    version: Type.Integer({ description: 'Grows with every change of any seat of the date.' }),
    available: Type.Optional(Count),
    held: Type.Optional(Type.Array(Type.String())),
    sold: Type.Optional(Type.Array(Type.String())),
    blocked: Type.Optional(Type.Array(Type.String())),
    since: Type.Optional(Type.Integer({ description: 'Only in the form of changes.' })),
    changes: Type.Optional(Type.Array(SeatChange)),
  },
  {
    $id: 'Occupancy',
    description: 'The full form has available, held, sold and blocked; the answer to ?since= has since and changes.',
  },
);

export const Seat = Type.Object(
  {
    id: Type.String(),
    section_id: Type.String(),
    row_label: Type.String(),
    seat_label: Type.String(),
    x: Type.Number(),
    y: Type.Number(),
    zone_key: Type.String(),
    accessible: Type.Boolean(),
    restricted_view: Type.Boolean(),
    state: SeatState,
  },
  { $id: 'Seat' },
);

export const SeatList = Type.Array(ref(Seat));

export const OccupancyQuery = Type.Object({
  performance_id: Type.Optional({ ...Id, description: 'Required on events with several dates.' }),
  since: Type.Optional(IntegerText({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
});

export const SuggestSeats = Type.Object({
  ticket_type_id: Id,
  count: Type.Integer({ minimum: 1, maximum: 200, description: 'Seats (tickets).' }),
  performance_id: Type.Optional(Nullable(Id)),
  session_key: Type.Optional({ ...SessionKey, description: "The session's own held seats count as free." }),
});

export type SeatingBody = Static<typeof Seating>;
export type SeatBody = Static<typeof Seat>;
export type OccupancyBody = Static<typeof Occupancy>;
