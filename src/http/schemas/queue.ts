/** The bodies of the waiting room: joining, a place in line, and the proof of the draw. */
import { Type, type Static } from 'typebox';
import { Count, Id, IntegerText, Nullable, SessionKey, Time } from './fields.ts';

export const JoinQueue = Type.Object({ event_id: Id, session_key: SessionKey });

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Hex32 = Sha256;

export const QueueEntry = Type.Object(
  {
    id: Type.String({ description: 'The pass: sent as queue_pass once the status is ADMITTED.' }),
    event_id: Type.String(),
    status: Type.String({ enum: ['WAITING', 'ADMITTED', 'EXPIRED', 'LEFT'] }),
    position: Nullable({
      ...Type.Integer({ minimum: 1 }),
      description: 'Place in line; null before the draw and when not waiting.',
    }),
    waiting_ahead: Count,
    estimated_minutes: Count,
    open: Type.Boolean({ description: 'Whether the doors are open.' }),
    opens_at: Nullable(Time),
    admitted_at: Nullable(Time),
    pass_expires_at: Nullable(Time),
    rate: Type.Integer({ description: 'Admissions per minute.' }),
    draw_commitment: Nullable({
      ...Sha256,
      description: 'SHA-256 of the seed of the draw; null where nothing is drawn.',
    }),
    sold_out: Type.Optional(
      Type.Boolean({ description: 'Only on events that pause: whether the line stands because nothing is left.' }),
    ),
  },
  { $id: 'QueueEntry' },
);

export const DRAW_LIMIT = 1_000;
export const DRAW_LIMIT_MAX = 10_000;

export const DrawQuery = Type.Object({
  offset: Type.Optional(IntegerText({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 })),
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: DRAW_LIMIT_MAX, default: DRAW_LIMIT })),
});

export const Draw = Type.Object(
  {
    event_id: Type.String(),
    status: Type.String({ enum: ['pending', 'drawn'] }),
    draw_commitment: { ...Sha256, description: 'SHA-256 of the seed.' },
    seed: Nullable({ ...Hex32, description: '32 bytes in hex, made with the room; null while pending.' }),
    opening: Nullable({
      ...Hex32,
      description:
        '32 bytes in hex, made at the opening; null while pending, and in draws recorded before there were openings.',
    }),
    drawn_at: Nullable(Time),
    count: Count,
    entries_digest: Nullable({ ...Sha256, description: 'SHA-256 of all entries, sorted and joined.' }),
    entries: Type.Array(Sha256, {
      description:
        'SHA-256 of each entry id, in line order: ascending by HMAC-SHA-256 of digest and entry (both as hex texts) under K, which is ' +
        'HMAC-SHA-256 of the bytes of the opening under the bytes of the seed. Without an opening K is the seed.',
    }),
  },
  { $id: 'Draw' },
);

export type QueueEntryBody = Static<typeof QueueEntry>;
export type DrawBody = Static<typeof Draw>;
