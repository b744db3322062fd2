/** The bodies of orders as their buyers see them, with the parts that an operator sees as well. */
import { type Static, Type } from 'typebox';
import { Amendment } from './amendments.ts';
import { Cents, Count, Nullable, ref, Time } from '../../protocol/fields.ts';

export const ORDER_STATUSES = ['PENDING', 'PARTIALLY_PAID', 'CONFIRMED', 'EXPIRED', 'CANCELLED'];
const Text = Type.String();
const NullableText = Nullable(Text);
export const Attendee = Type.Object({
  name: Text,
  email: NullableText,
  document_number: NullableText,
  phone: NullableText,
});
const NullableAttendee = Type.Unsafe<Static<typeof Attendee> | null>({ ...Attendee, type: ['object', 'null'] });

/** The number that people say on the phone. */
const ToldNumber = {
  ...Text,
  description: 'For people to tell: operators search by it. Seldom two of one event have the same.',
  examples: ['HF-7K3M-9QX'],
};

export const ticketFields = {
  id: Text,
  number: ToldNumber,
  valid: Type.Boolean({ description: 'False once it was given back or its order was cancelled: the ticket is void.' }),
  code: Nullable(
    Type.String({
      description:
        'base64url(payload).base64url(signature); checked with GET /api/tickets/key. Null for a void ticket.',
    }),
  ),
  ticket_type_id: Text,
  performance_id: Text,
  section: NullableText,
  row_label: NullableText,
  seat_id: NullableText,
  seat_label: NullableText,
  unit: Nullable({
    ...Type.Integer({ minimum: 1 }),
    description: 'From 1, over the order: tickets of one unit have the same. Null for one that was given back.',
  }),
  replaces: Nullable({ ...Text, description: 'The ticket that it was issued for.' }),
  attendee: NullableAttendee,
};

export const Ticket = Type.Object(ticketFields, { $id: 'Ticket' });

export const paymentFields = {
  id: Text,
  installment: Type.Integer({ description: 'From 1; 0 of a payment for an amendment.' }),
  amendment_id: Nullable({ ...Text, description: 'The amendment that it pays for; null for an installment.' }),
  amount: Cents,
  currency: Text,
  status: Type.String({ enum: ['REQUESTED', 'OPEN', 'PAID', 'DECLINED', 'CANCELLED', 'EXPIRED'] }),
  provider: Text,
  created_at: Time,
  paid_at: Nullable(Time),
};

export const refundFields = {
  id: Text,
  amount: Cents,
  currency: Text,
  status: Type.String({
    enum: ['PENDING', 'SUCCEEDED', 'FAILED', 'NEEDS_OPERATOR'],
    description:
      'PENDING: asked for, or the provider works on it. SUCCEEDED: the money was given back. FAILED: it did not go, and is due again. NEEDS_OPERATOR: an operator looks at it.',
  }),
  created_at: Time,
  finished_at: Nullable({ ...Time, description: 'When it succeeded or failed; null until then.' }),
};

export const orderFields = {
  order_id: Text,
  number: ToldNumber,
  status: Type.String({ enum: ORDER_STATUSES }),
  payment_status: Type.String({ enum: ['PENDING', 'COMPLETED', 'FAILED'] }),
  total_amount: Cents,
  fees_amount: { ...Cents, description: 'What amendments cost, which is in the total.' },
  goodwill_amount: { ...Cents, description: 'What was taken off the total.' },
  paid_amount: Cents,
  remaining_amount: Cents,
  refund_due: Type.Integer({ description: "What is owed to the buyer in the order's currency; 0 when nothing is." }),
  refund_pending: {
    ...Cents,
    description: 'What of `refund_due` is being given back: refunds that are PENDING or NEEDS_OPERATOR.',
  },
  currency: Text,
  total_installments: Count,
  paid_installments: Count,
  tickets: Type.Array(Text, { description: 'At most 1,000 at once.' }),
  ticket_objects: Type.Array(ref(Ticket), { description: 'The same tickets with their codes.' }),
  ticket_count: { ...Count, description: 'All tickets of the order.' },
  next_after: Nullable({
    ...Text,
    description: 'Where the next page of tickets begins (`?after=`); null on the last one.',
  }),
  event: Type.Object({
    id: Text,
    slug: Text,
    name: Text,
    performances: Type.Array(
      Type.Object({ id: Text, name: Text, starts_at: Nullable(Time), ends_at: Nullable(Time), status: Text }),
    ),
  }),
  discounts: Type.Array(
    Type.Object({
      code: Text,
      item_index: Nullable(Type.Integer({ description: 'Null for the code of the whole order.' })),
      amount: Cents,
    }),
  ),
  expires_at: Nullable(Time),
  amendments: Type.Array(ref(Amendment), { description: 'The newest 20, the newest first.' }),
};

export const ErasedAt = Nullable({ ...Time, description: 'When its personal data was erased; null where it was not.' });

/** Which of an order's tickets are listed. */
export const TicketsQuery = Type.Object({
  after: Type.Optional(
    Type.String({ minLength: 1, maxLength: 128, description: 'Lists the tickets behind this one.' }),
  ),
});

export const OrderStatus = Type.Object(
  {
    ...orderFields,
    payments: Type.Array(Type.Object(paymentFields)),
    refunds: Type.Array(Type.Object(refundFields), { description: 'Money that was given back, or is on its way.' }),
    customer: Type.Object({ name: NullableText, email: NullableText }, { description: 'Nulls once it was erased.' }),
    erased_at: ErasedAt,
  },
  { $id: 'OrderStatus' },
);

export type OrderStatusBody = Static<typeof OrderStatus>;
export type TicketBody = Static<typeof Ticket>;
