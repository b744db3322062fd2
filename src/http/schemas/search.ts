/** The bodies of a search for orders. */
import { Type, type Static } from 'typebox';
import { Count, Id, IntegerText, Nullable, ref, Time } from './fields.ts';
import { AdminOrder } from './orders.ts';

const Text = Type.String();

export const SearchQuery = Type.Object({
  q: Type.String({
    minLength: 2,
    maxLength: 2_000,
    pattern: '\\S\\s*\\S',
    description:
      "A part of a name, of an e-mail address or, from six characters on, of an order number; or a whole id of an order, a ticket or a checkout session, or a ticket's code.",
  }),
  event_id: Type.Optional(Id),
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: 100, default: 20 })),
  cursor: Type.Optional(Type.String({ maxLength: 1_024 })),
});

export const FoundOrders = Type.Object(
  {
    found: Type.Array(
      Type.Object({
        found_in: Type.String({
          enum: ['BUYER', 'GUEST', 'ORDER', 'TICKET', 'PAYMENT'],
          description: 'Whose name or address it is, or which number.',
        }),
        order: ref(AdminOrder),
      }),
    ),
    searched_orders: { ...Count, description: 'Orders that were opened for this page.' },
    reached: Nullable(
      Type.Object(
        { event_id: Text, placed_at: Nullable(Time) },
        {
          description: 'How far this page came: the event, and when the last order that was looked at was placed.',
        },
      ),
    ),
    unread_events: Type.Array(Text, { description: 'Events that cannot be read now: what they have is missing here.' }),
    next_cursor: Nullable({
      ...Text,
      description: 'Ask again with it: a page may be empty and not the last. Null once everything was searched.',
    }),
  },
  { $id: 'FoundOrders' },
);

export type FoundOrdersBody = Static<typeof FoundOrders>;
