/** The bodies of the money of events, for operators. */
import { Type, type Static } from 'typebox';
import { Cents, Count, Nullable, ref, Time } from './fields.ts';

const Text = Type.String();

const sums = {
  currency: Text,
  paid_amount: { ...Cents, description: 'All money that came, also what is due back, in the minor unit.' },
  payments: Count,
  refunded_amount: { ...Cents, description: 'What was recorded as given back.' },
  refunds: Count,
};

export const MoneySums = Type.Object(sums, { $id: 'MoneySums' });

export const EventMoney = Type.Object(
  {
    event_id: Text,
    name: Text,
    evicted: Type.Boolean({ description: 'Not in memory: its figures are those last seen.' }),
    totals: Type.Array(ref(MoneySums), { description: 'Since the first order, by currency.' }),
    hours: Type.Array(Type.Object({ at: { ...Time, description: 'When the hour began.' }, ...sums }), {
      description: 'Hours in which money moved, the newest first.',
    }),
  },
  { $id: 'EventMoney' },
);

export const MoneyList = Type.Object(
  {
    now: Time,
    events: Type.Array(ref(EventMoney)),
    next_cursor: Nullable(Text),
  },
  { $id: 'MoneyList' },
);

export type MoneySumsBody = Static<typeof MoneySums>;
export type EventMoneyBody = Static<typeof EventMoney>;
