/** The bodies that the operators' console reads beside those of the operators' API. */
import { Type, type Static } from 'typebox';
import { Count, IntegerText, Nullable, ref, Time } from './fields.ts';
import { MoneySums } from './money.ts';
import { WaitingRoom } from './operators.ts';

const Text = Type.String();

const OverviewDate = Type.Object({
  id: Text,
  name: Text,
  starts_at: Nullable(Time),
  status: Type.String({ description: 'As buyers see it; DRAFT is hidden from them.' }),
  capacity: Count,
  available: Count,
  held: Count,
  sold: Count,
  blocked: Count,
});

const OverviewEvent = Type.Object({
  id: Text,
  slug: Text,
  name: Text,
  status: Type.String({ enum: ['PUBLISHED', 'DRAFT'] }),
  currency: Text,
  timezone: Text,
  numbered: Type.Boolean({ description: 'Whether any locality has numbered seats.' }),
  evicted: Type.Boolean({ description: 'Not in memory: its figures are those last seen.' }),
  performances: Type.Array(OverviewDate),
  waiting_room: Nullable(WaitingRoom),
  money: Type.Array(ref(MoneySums), {
    description: 'Since the first order, by currency; the hours are at /admin/money.',
  }),
});

export const Overview = Type.Object(
  {
    now: Time,
    service: Type.Object({
      ready: Type.Boolean(),
      reason: Nullable(Text),
      degraded: Type.Array(Text, { description: 'As /health/ready has it.' }),
      public_url: Type.String({
        description: 'The address that buyers see; the page of an order is /orders/{id} there.',
      }),
      node: Nullable(Type.String({ description: 'The node of the cluster that answers; null on a single machine.' })),
      events: Count,
      appended_seq: Type.Integer({ description: 'The last fact handed to the journal.' }),
      durable_seq: Type.Integer({ description: 'The last fact known to be on disk.' }),
      journal_lag: Type.Integer({ minimum: 0, description: 'Facts on their way to the disk.' }),
      notification_lag: Nullable(Type.Integer({ description: 'Durable facts not yet told; null where nobody is.' })),
      snapshot_age_seconds: Type.Number({ description: 'Since the newest snapshot; 0 while there is none.' }),
      event_loop_delay_ms: Type.Number({ description: 'The 99th percentile over the last half minute or so.' }),
      free_bytes: Nullable(
        Type.Integer({ description: 'On the disk of the data folder; null before the first look.' }),
      ),
    }),
    events: Type.Array(OverviewEvent),
    next_cursor: Nullable(Text),
  },
  { $id: 'Overview' },
);

export const SeatStatesQuery = Type.Object({
  since: Type.Optional(IntegerText({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
});

export type OverviewBody = Static<typeof Overview>;
export type OverviewEventBody = Static<typeof OverviewEvent>;
