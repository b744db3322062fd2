/** The bodies of the operators' API, of health and of the sandbox clock. */
import { Type, type Static } from 'typebox';
import { describedEventSchema } from '#catalogue/described.ts';
import type { EventFile } from '#catalogue/schema.ts';
import { Cents, Count, Nullable, ref, SeatId, Time } from './fields.ts';

export const Health = Type.Object({ status: Type.String({ enum: ['ok'] }) });

const NodeName = Type.Optional(Type.String({ description: 'The name of the node; missing on a single machine.' }));

export const Readiness = Type.Object({
  status: Type.String({ enum: ['ok'] }),
  node: NodeName,
  degraded: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'What needs an operator although all else is served: clock means that the clock of the machine is not the one of ' +
        'the service by more than a minute, or leapt in the last five; event:<id> is an event that cannot be activated and answers ' +
        '503 (at most 100 of them are named). Missing when there is nothing.',
    }),
  ),
});

export const Unavailable = Type.Object({
  status: Type.String({ enum: ['unavailable'] }),
  node: NodeName,
  reason: Type.String(),
});

export const AdvanceClock = Type.Object({
  advance_seconds: Type.Number({ minimum: 0, maximum: 3_153_600_000, description: 'At most a century at a time.' }),
});

export const ClockReading = Type.Object({ now: Time });

/** The headers of a change by an operator. */
export const OperatorHeaders = Type.Object({
  'x-operator': Type.Optional(Type.String({ maxLength: 200, description: 'Who does it; kept with what was done.' })),
});

const noteText = Type.String({ maxLength: 1_000, description: 'Why; kept with what was done.' });

export const Note = Type.Optional(Nullable(noteText));

/** The note of a definition stands in the address, because the body is the definition alone. */
export const NoteQuery = Type.Object({ note: Type.Optional(noteText) });

/** The body of a change that needs no other; it may be missing. */
export const NoteOnly = Type.Unsafe<{ readonly note?: string | null } | null>({
  ...Type.Object({ note: Note }),
  type: ['object', 'null'],
});

/** The catalogue's own schema checks it in full; what matters here is that it is an object. The document shows `EventDefinition`. */
export const EventDefinitionInput = Type.Object({}, { additionalProperties: true, documentedAs: 'EventDefinition' });

/** What the document shows of a definition. */
export const EventDefinition = Type.Unsafe<EventFile>({ ...describedEventSchema(), $id: 'EventDefinition' });

export const DefinedEvent = Type.Object({
  id: Type.String(),
  version: Type.Integer(),
  warnings: Type.Optional(
    Type.Array(Type.String(), {
      description: 'What was taken and will not work as it is; left out when there is nothing.',
    }),
  ),
});

/** What operators see of a waiting room; the seed of its draw is none of it. */
export const WaitingRoom = Type.Object({
  status: Type.String(),
  opens_at: Nullable(Time),
  waiting: Count,
  admitted: Count,
  admitted_last_minute: Count,
  joined: Count,
  draw_commitment: Nullable(Type.String()),
});

export const AdminEvent = Type.Object(
  {
    definition: Type.Unknown({ description: 'As a catalogue file has it.' }),
    version: Type.Integer(),
    performances: Type.Array(
      Type.Object({
        id: Type.String(),
        capacity: Count,
        available: Count,
        held: Count,
        sold: Count,
        blocked: Count,
      }),
    ),
    waiting_room: Nullable(WaitingRoom),
  },
  { $id: 'AdminEvent' },
);

export const AdminEventList = Type.Object({
  events: Type.Array(ref(AdminEvent)),
  next_cursor: Nullable(Type.String()),
});

export const Cancellation = Type.Object(
  {
    orders: { ...Count, description: 'Orders with a ticket on the date that are not over: they are cancelled whole.' },
    paid_orders: { ...Count, description: 'Those of them for which money came.' },
    tickets: { ...Count, description: 'All tickets of these orders, those on other dates too.' },
    refunds_due: Type.Array(Type.Object({ amount: Cents, currency: Type.String() }), {
      description: 'What is due back to their buyers then, by currency.',
    }),
  },
  { $id: 'Cancellation' },
);

export const CancelledPerformance = Type.Object({ released_holds: Count, cancelled_orders: Count });

export const SeatAction = Type.Object({
  seat_ids: Type.Array(SeatId, { minItems: 1, maxItems: 10_000, uniqueItems: true }),
  action: Type.String({ enum: ['block', 'unblock'] }),
  note: Note,
});

export const SeatActionAnswer = Type.Object({
  blocked: Type.Optional(Count),
  unblocked: Type.Optional(Count),
});

export const SnapshotRequest = Type.Object({
  prune: Type.Optional(
    Type.Boolean({ description: 'Move facts that are older than the previous snapshots to the archive.' }),
  ),
});

export const SnapshotAnswer = Type.Object({
  seq: Type.Integer({ description: 'The last fact that the snapshots could know.' }),
  taken: Type.Integer({
    minimum: 0,
    description: 'Snapshots written; what has not grown since its last one needs none.',
  }),
  failed: Count,
  archived: Nullable(Type.Object({ from_seq: Type.Integer(), to_seq: Type.Integer() })),
});

export type AdminEventBody = Static<typeof AdminEvent>;
