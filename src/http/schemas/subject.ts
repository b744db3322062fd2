/** What is told about a person: the orders that they placed, and tickets of others' orders that bear their address. */
import { Type, type Static } from 'typebox';
import { IntegerText, Nullable, ref, Time } from './fields.ts';
import { AdminOrder, AdminTicket } from './orders.ts';

const Text = Type.String();

export const SubjectQuery = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 254, description: 'Compared as the purchase limits do.' }),
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: 200, default: 50 })),
  cursor: Type.Optional(Type.String({ maxLength: 1_024 })),
});

const OrderFacts = Type.Array(
  Type.Object({ type: Type.String({ description: 'As the journal names it.' }), at: Time }),
  { description: 'What happened to the order, the oldest first, as far as the order itself says when.' },
);

export const Subject = Type.Object(
  {
    email: Text,
    orders: Type.Array(Type.Object({ order: ref(AdminOrder), facts: OrderFacts }), {
      description: 'Orders that were placed with this address.',
    }),
    attendances: Type.Array(
      Type.Object({
        order_id: Text,
        event: Type.Object({ id: Text, slug: Text, name: Text }),
        status: Text,
        placed_at: Time,
        tickets: Type.Array(ref(AdminTicket)),
        facts: OrderFacts,
      }),
      { description: 'Tickets with this address in orders of others; of the order itself nothing else is told.' },
    ),
    unread_events: Type.Array(Text, {
      description: 'Events that cannot be read now: what they have about the person is missing here.',
    }),
    next_cursor: Nullable({
      ...Text,
      description: 'Ask again with it: a page may be empty and not the last. Null once every event was searched.',
    }),
  },
  { $id: 'Subject' },
);

export type SubjectBody = Static<typeof Subject>;
