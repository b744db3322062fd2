/** The bodies of holds: one source for types, validation and the OpenAPI document. */
import { Type, type Static } from 'typebox';
import { Count, Id, Nullable, ref, SeatId, SessionKey, Time } from './fields.ts';

/** More units than any venue has places, few enough to multiply without losing exactness. */
const QUANTITY_MAX = 1_000_000_000;

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

export const ChangeHold = Type.Object({
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
