/** The bodies of orders: what a buyer polls, what an operator sees, tickets and the key that proves them. */
import { Type, type Static } from 'typebox';
import { AMOUNT_CENTS_MAX } from '#domain/money.ts';
import { REFUND_REFERENCE_LENGTH_MAX } from '#domain/orders/refunds.ts';
import { Cents, Count, Id, IntegerText, Nullable, ref, Time } from './fields.ts';
import { Note } from './operators.ts';

const ORDER_STATUSES = ['PENDING', 'PARTIALLY_PAID', 'CONFIRMED', 'EXPIRED', 'CANCELLED'];
const Text = Type.String();
const NullableText = Nullable(Text);

const Attendee = Type.Object({ name: Text, email: NullableText, document_number: NullableText, phone: NullableText });

const NullableAttendee = Type.Unsafe<Static<typeof Attendee> | null>({ ...Attendee, type: ['object', 'null'] });

const ticketFields = {
  id: Text,
  valid: Type.Boolean({ description: 'False once the order was cancelled: the ticket is void.' }),
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
  attendee: NullableAttendee,
};

export const Ticket = Type.Object(ticketFields, { $id: 'Ticket' });

const paymentFields = {
  id: Text,
  installment: Type.Integer(),
  amount: Cents,
  currency: Text,
  status: Type.String({ enum: ['REQUESTED', 'OPEN', 'PAID', 'DECLINED', 'CANCELLED', 'EXPIRED'] }),
  provider: Text,
  created_at: Time,
  paid_at: Nullable(Time),
};

const orderFields = {
  order_id: Text,
  status: Type.String({ enum: ORDER_STATUSES }),
  payment_status: Type.String({ enum: ['PENDING', 'COMPLETED', 'FAILED'] }),
  total_amount: Cents,
  paid_amount: Cents,
  remaining_amount: Cents,
  refund_due: Type.Integer({ description: "What is owed to the buyer in the order's currency; 0 when nothing is." }),
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
};

const ErasedAt = Nullable({ ...Time, description: 'When its personal data was erased; null where it was not.' });

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
    customer: Type.Object({ name: NullableText, email: NullableText }, { description: 'Nulls once it was erased.' }),
    erased_at: ErasedAt,
  },
  { $id: 'OrderStatus' },
);

export const AdminOrder = Type.Object(
  {
    ...orderFields,
    placed_at: Time,
    payment_provider: Text,
    refunded_amount: Cents,
    customer: Type.Object({
      name: NullableText,
      email: NullableText,
      document_number: NullableText,
      phone: NullableText,
    }),
    personal_data: Type.String({
      enum: ['OPEN', 'ERASED', 'UNREADABLE'],
      description:
        'ERASED: the key is destroyed, and every field about a person is null. UNREADABLE: the stored text is damaged.',
    }),
    erased_at: ErasedAt,
    erased_by: Nullable(Type.String({ description: 'The operator who had it erased, where one gave a name.' })),
    items: Type.Array(
      Type.Object({
        ticket_type_id: Text,
        ticket_type_name: Text,
        selling_stage_id: Text,
        performance_id: Text,
        quantity: Count,
        ticket_count: Count,
        unit_price: Cents,
        seat_ids: Type.Array(Text),
        attendees: Type.Array(Attendee),
        discount_code: NullableText,
        discount_amount: Cents,
        bar_perks: Type.Array(Type.Object({ bar_perk_id: Text, name: Text, quantity: Count, unit_price: Cents })),
      }),
    ),
    payments: Type.Array(
      Type.Object({
        ...paymentFields,
        checkout_session_id: Nullable({ ...Text, description: 'By it the provider finds the payment.' }),
        session_expires_at: Nullable(Time),
      }),
    ),
    refunds_due: Type.Array(Type.Object({ amount: Cents, currency: Text }), {
      description: "All that is due back, by currency, the order's own first; empty when nothing is.",
    }),
    refunds: Type.Array(
      Type.Object({
        id: Text,
        amount: Cents,
        currency: Text,
        reference: NullableText,
        provider: Nullable(
          Type.String({ description: 'The provider that reported it; null where it was only noted.' }),
        ),
        note: NullableText,
        created_at: Time,
      }),
    ),
    promo_code: NullableText,
    promoter_code: NullableText,
    referral_code: NullableText,
    tracking: Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
    success_url: NullableText,
    cancel_url: NullableText,
    cancelled_by: Type.Unsafe<'BUYER' | 'OPERATOR' | 'PERFORMANCE' | null>({
      type: ['string', 'null'],
      enum: ['BUYER', 'OPERATOR', 'PERFORMANCE', null],
    }),
    cancelled_at: Nullable(Time),
    cancellation_note: NullableText,
  },
  { $id: 'AdminOrder' },
);

export const AdminOrderList = Type.Object({
  orders: Type.Array(ref(AdminOrder)),
  next_cursor: Nullable(Type.String()),
});

export const OrderQuery = Type.Object({
  status: Type.Optional(Type.String({ enum: ORDER_STATUSES })),
  email: Type.Optional(Type.String({ maxLength: 254, description: 'Compared as the purchase limits do.' })),
  order: Type.Optional(
    Type.String({ enum: ['oldest', 'newest'], default: 'oldest', description: 'Which come first.' }),
  ),
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: 500, default: 100 })),
  cursor: Type.Optional(Type.String({ maxLength: 1_024 })),
});

export const AdminTicket = Type.Object(
  {
    ...ticketFields,
    event_id: Text,
    order_id: Text,
    void_reason: Type.Unsafe<'ORDER_CANCELLED' | 'PERFORMANCE_CANCELLED' | null>({
      type: ['string', 'null'],
      enum: ['ORDER_CANCELLED', 'PERFORMANCE_CANCELLED', null],
    }),
  },
  { $id: 'AdminTicket' },
);

export const RevokedQuery = Type.Object({
  event_id: Id,
  performance_id: Type.Optional(Id),
  after: Type.Optional(
    Type.String({ maxLength: 128, description: 'The last ticket of the page before, or the last one that you know.' }),
  ),
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: 10_000, default: 1_000 })),
});

export const RevokedTickets = Type.Object({
  tickets: Type.Array(Text, { description: 'Ids of void tickets, in the order in which they became void.' }),
  next_after: Nullable(Type.String({ description: 'Where the next page begins; null on the last one.' })),
});

export const RecordRefund = Type.Object({
  amount: Type.Integer({
    minimum: 1,
    maximum: AMOUNT_CENTS_MAX,
    description: 'What was given back, in the minor unit of its currency.',
  }),
  currency: Type.Optional(
    Nullable(
      Type.String({
        minLength: 3,
        maxLength: 3,
        pattern: '^[A-Z]{3}$',
        description: "Of money that came in another currency; without it the order's.",
      }),
    ),
  ),
  reference: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        maxLength: REFUND_REFERENCE_LENGTH_MAX,
        pattern: '\\S',
        description:
          "The provider's id of the refund, or your own: the same reference counts once for an order. Without one the note is matched with the provider's report of the same amount, whichever comes first; what is another refund needs a reference of its own.",
      }),
    ),
  ),
  note: Note,
});

const TicketKey = Type.Object({
  kty: Type.String({ enum: ['OKP'] }),
  crv: Type.String({ enum: ['Ed25519'] }),
  x: Type.String({ description: 'The public key, base64url.' }),
  kid: Type.String({ description: 'Its RFC 7638 thumbprint.' }),
});

export const TicketKeys = Type.Object({
  keys: Type.Array(TicketKey, { description: 'The key that signs first, then those that signed before it.' }),
});

export type OrderStatusBody = Static<typeof OrderStatus>;
export type AdminOrderBody = Static<typeof AdminOrder>;
export type AdminTicketBody = Static<typeof AdminTicket>;
export type TicketBody = Static<typeof Ticket>;
