/** The bodies of orders and tickets as operators see them. */
import { type Static, Type } from 'typebox';
import { GIVEN } from '#client/doors/scan.ts';
import { AMOUNT_CENTS_MAX } from '#domain/money.ts';
import type { VoidReason } from '#domain/view.ts';
import { REFUND_REFERENCE_LENGTH_MAX } from '#domain/orders/refunds.ts';
import {
  Attendee,
  ErasedAt,
  ORDER_STATUSES,
  orderFields,
  paymentFields,
  refundFields,
  ticketFields,
} from '../../buyers/orders/schema.ts';
import { Amendment } from '../../buyers/orders/amendments.ts';
import { Cents, Count, IntegerText, Note, Nullable, ref, Time } from '../../protocol/fields.ts';
import { orderTextFields } from '../../protocol/formats.ts';

const Text = Type.String();
const VOID_REASONS: VoidReason[] = ['ORDER_CANCELLED', 'PERFORMANCE_CANCELLED', 'TICKET_CANCELLED', 'REPLACED'];
const NullableText = Nullable(Text);

/** A refund as operators see it, without its note. */
export const refundDetails = {
  ...refundFields,
  payment_id: Nullable({ ...Text, description: 'The payment whose money it is, where that is known.' }),
  amendment_id: Nullable({
    ...Text,
    description: 'The amendment that had it executed by itself; else what is due is one sum of the order.',
  }),
  failure: Nullable(
    Type.Object({ code: Text, message: Text }, { description: 'Why it did not go, or needs an operator.' }),
  ),
  tries: { ...Count, description: 'How often the provider was asked.' },
  next_try_at: Nullable({ ...Time, description: 'When it is tried, or asked about, again.' }),
  reference: NullableText,
  provider: Nullable(Type.String({ description: 'The provider that reported it; null where it was only noted.' })),
};

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
    refunds: Type.Array(Type.Object({ ...refundDetails, note: NullableText })),
    amendments: Type.Array(Type.Object({ ...Amendment.properties, note: NullableText }), {
      description: 'The newest 20, the newest first.',
    }),
    promo_code: NullableText,
    ...orderTextFields(() => NullableText),
    tracking: Type.Unsafe<Record<string, unknown> | null>({ type: ['object', 'null'], additionalProperties: true }),
    success_url: NullableText,
    cancel_url: NullableText,
    counter: Type.Unsafe<{ operator: string | null; note: string | null; exceeds_limits: boolean } | null>({
      ...Type.Object({ operator: NullableText, note: NullableText, exceeds_limits: Type.Boolean() }),
      type: ['object', 'null'],
      description: 'Who made it at a counter, and why; null of an order that its buyer placed.',
    }),
    cancelled_by: Type.Unsafe<'BUYER' | 'OPERATOR' | 'PERFORMANCE' | null>({
      type: ['string', 'null'],
      enum: ['BUYER', 'OPERATOR', 'PERFORMANCE', null],
    }),
    cancelled_at: Nullable(Time),
    cancellation_note: NullableText,
    void_tickets: Type.Array(Type.Object({ ...ticketFields, void_reason: Type.String({ enum: VOID_REASONS }) }), {
      description: 'Those that amendments made void, the newest first; at most as many as tickets.',
    }),
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

export const TicketScan = Type.Object(
  {
    id: Text,
    kind: Type.Unsafe<'ENTRY' | 'EXIT'>({ type: 'string', enum: ['ENTRY', 'EXIT'] }),
    verdict: Type.Unsafe<(typeof GIVEN)[number]>({ type: 'string', enum: [...GIVEN] }),
    given: Type.Unsafe<(typeof GIVEN)[number] | null>({
      type: ['string', 'null'],
      enum: [...GIVEN, null],
      description: 'What the station decided by itself: it counts, whatever `verdict` says.',
    }),
    at: { ...Time, description: 'When it counts.' },
    received_at: Time,
    performance_id: Text,
    door_id: Text,
    door_name: Text,
    station_id: Nullable({ ...Text, description: 'Null of a scan by hand.' }),
    station_name: NullableText,
    offline: Type.Boolean({ description: 'The station itself decided.' }),
    undone: Type.Boolean(),
    operator: Nullable({ ...Text, description: 'Of a scan by hand, where one gave a name.' }),
    note: Nullable({ ...Text, description: 'Of a scan by hand; erased with the order.' }),
    undone_by_hand: Type.Unsafe<{ operator: string | null; note: string | null } | null>({
      ...Type.Object({ operator: NullableText, note: NullableText }),
      type: ['object', 'null'],
      description: 'Null unless an operator undid it.',
    }),
  },
  { $id: 'TicketScan' },
);

export const AdminTicket = Type.Object(
  {
    ...ticketFields,
    event_id: Text,
    order_id: Text,
    void_reason: Type.Unsafe<VoidReason | null>({ type: ['string', 'null'], enum: [...VOID_REASONS, null] }),
    scans: Type.Array(ref(TicketScan), {
      description: 'Entries and exits in their order, and the first 50 that were refused.',
    }),
  },
  { $id: 'AdminTicket' },
);

const RecordRefundReference = Type.Optional(
  Nullable(
    Type.String({
      minLength: 1,
      maxLength: REFUND_REFERENCE_LENGTH_MAX,
      pattern: '\\S',
      mustBe: 'a text that is not blank',
      description:
        "The provider's id of the refund, or your own: the same reference counts once for an order. Without one the note is matched with the provider's report of the same amount, whichever comes first; what is another refund needs a reference of its own.",
    }),
  ),
);

export const RecordRefund = Type.Object({
  execute: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'True: the provider is asked to give the money back, over the PAID payments, the newest first, one refund each. Without it money is recorded that was given back already.',
    }),
  ),
  payment_id: Type.Optional(
    Nullable(Type.String({ maxLength: 128, description: 'With `execute`: the payment whose money is given back.' })),
  ),
  amount: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: AMOUNT_CENTS_MAX,
      description:
        'In the minor unit of its currency. Needed where money is recorded; with `execute` all that is due and not on its way, in each currency, where left out.',
    }),
  ),
  currency: Type.Optional(
    Nullable(
      Type.String({
        minLength: 3,
        maxLength: 3,
        pattern: '^[A-Z]{3}$',
        mustBe: 'three capital letters, such as EUR',
        description: "Of money that came in another currency; without it the order's.",
      }),
    ),
  ),
  reference: RecordRefundReference,
  note: Note,
});

export const ResolveRefund = Type.Object({
  outcome: Type.String({
    enum: ['RETRY', 'GIVEN_BACK', 'NOT_GIVEN_BACK'],
    description:
      'RETRY: the provider is asked again, for 72 hours anew. GIVEN_BACK: it is SUCCEEDED. NOT_GIVEN_BACK: it is FAILED, and its amount due again.',
  }),
  reference: RecordRefundReference,
  note: Note,
});

export type AdminOrderBody = Static<typeof AdminOrder>;
export type TicketScanBody = Static<typeof TicketScan>;
export type AdminTicketBody = Static<typeof AdminTicket>;
