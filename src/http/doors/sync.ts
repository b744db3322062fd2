/** What stations know without a network: the head of their event, and the tickets that are void or were scanned. */
import { createHash } from 'node:crypto';
import { type Static, Type } from 'typebox';
import type { Reentry } from '#client/doors/verdict.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { StationView, SyncChange, SyncConflict, SyncHead, SyncView } from '#domain/view.ts';
import { TicketKeys } from '../buyers/tickets.ts';
import type { PublicPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { fail, NOT_NAMED } from '../protocol/errors.ts';
import { bearer, Count, IntegerText, Nullable, Time } from '../protocol/fields.ts';
import { formatMoment, formatTime } from '../protocol/formats.ts';
import { addRoute } from '../protocol/route.ts';
import { Admission, ScannedTicket, toAdmissionBody, toTicketBody } from './scans.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const LIMIT = 5_000;
const LIMIT_MAX = 10_000;
const QUEUED_MAX = 10_000_000;

const Text = Type.String();
const texts = (description: string) =>
  Type.Unsafe<string[] | null>({ type: ['array', 'null'], items: Text, description });

const stationFields = {
  id: Text,
  name: Text,
  kind: Type.Unsafe<StationView['kind']>({ type: 'string', enum: ['STATION', 'GATE'] }),
  performance_ids: texts('Null for all.'),
  door_ids: texts('Null for all.'),
  expires_at: Nullable(Time),
  status: Type.Unsafe<StationView['status']>({ type: 'string', enum: ['LIVE', 'EXPIRED', 'REVOKED'] }),
};

export const Head = Type.Object({
  event: Type.Object({ id: Text, name: Text }),
  station: Type.Object(stationFields),
  keys: TicketKeys.properties.keys,
  performances: Type.Array(
    Type.Object({
      id: Text,
      name: Text,
      doors_at: Nullable(Time),
      starts_at: Nullable(Time),
      ends_at: Nullable(Time),
      status: Text,
      expected: { ...Count, description: 'Valid tickets when the head was made.' },
    }),
  ),
  doors: Type.Array(Type.Object({ id: Text, name: Text, ticket_type_ids: texts('Null for all.') })),
  ticket_types: Type.Array(Type.Object({ id: Text, name: Text })),
  reentry: Type.Unsafe<Reentry>({ type: 'string', enum: ['AFTER_EXIT', 'NEVER', 'ALWAYS'] }),
  stations: Type.Optional(
    Type.Array(Type.Object({ ...stationFields, token_sha256: Text }), { description: 'For a GATE.' }),
  ),
});

const Conflict = Type.Object({
  digest: { ...Text, description: 'Of the ticket, as in `changes`.' },
  scan_id: { ...Text, description: 'The entry of the station, the earlier or the later of the two.' },
  station_id: Type.Optional({ ...Text, description: 'For a GATE: the station that scanned.' }),
  at: { ...Time, description: 'When that entry counts.' },
  ticket: ScannedTicket,
  admitted: { ...Admission, description: 'The other entry.' },
});

export const StationSync = Type.Object(
  {
    now: Time,
    cursor: { ...Text, description: 'Send it as `after` of the next request.' },
    more: Type.Boolean({ description: 'Further changes are there: ask again at once.' }),
    reset: Type.Boolean({ description: 'The feed begins anew: forget what was known before.' }),
    head: Type.Unsafe<HeadBody | null>({
      ...Head,
      type: ['object', 'null'],
      description: 'Null where it is as at `after`.',
    }),
    changes: Type.Unsafe<SyncChange[]>({
      type: 'array',
      items: {
        type: 'array',
        prefixItems: [
          Text,
          { type: 'string', enum: ['V', 'I', 'W', 'O', 'N'] },
          Type.Integer(),
          Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
        ],
        minItems: 4,
        maxItems: 4,
      },
      description:
        'Each ticket once: the first 12 characters of the base64url SHA-256 of its id; V void, I inside, W void and inside, O out, N none of these any more; since when, in seconds since 1970; the place of the door in `doors`, or null.',
    }),
    conflicts: Type.Optional(
      Type.Array(Conflict, {
        description:
          'Entries of the station that conflict with another entry of the same ticket, of tickets in `changes`: what was said of those before is over. Absent where there are none.',
      }),
    ),
  },
  { $id: 'StationSync' },
);

const syncStationSchema = {
  operationId: 'syncStation',
  tags: ['Doors'],
  summary: 'Load what a station needs without a network, or what changed of it since',
  description:
    'With nothing new the answer is short: ask every few seconds. An `after` that is not this station’s begins anew.',
  security: bearer,
  querystring: Type.Object({
    after: Type.Optional(Type.String({ maxLength: 16_384, description: 'The `cursor` of the answer before.' })),
    limit: Type.Optional(IntegerText({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT })),
    queued: Type.Optional(IntegerText({ minimum: 0, maximum: QUEUED_MAX })),
    version: Type.Optional(Type.String({ maxLength: 64, description: 'What the station runs.' })),
  }),
  response: { 200: StationSync },
};

// ── route ────────────────────────────────────────────────────────────────────────────────────────────────────────────

interface SyncPorts extends Pick<PublicPorts, 'events'> {
  readonly tickets: { readonly keys: readonly PublicPorts['tickets']['keys'][number][] };
}

export function syncRoutes(app: HttpApp, { events, tickets }: SyncPorts): void {
  const digests = new WeakMap<object, string>();
  const digestOf = (keys: SyncPorts['tickets']['keys']): string => {
    const kids = keys.map(({ kid }) => kid).join(' ');
    const digest = digests.get(keys) ?? createHash('sha256').update(kids).digest('base64url').slice(0, 8);
    digests.set(keys, digest);
    return digest;
  };

  addRoute(app, 'GET /api/doors/sync', syncStationSchema, {
    command: 'SyncStation',
    config: { isBare: true },
    answer: async (request, { execute }) => {
      const { token, tokenSha256 } = request.stationToken!;
      const { after = null, limit, queued, version = null } = request.query;
      const command = {
        type: 'SyncStation',
        tokenSha256,
        after,
        limit: Number(limit ?? LIMIT),
        queued: queued === undefined ? null : Number(queued),
        version: version?.replace(/[\u0000-\u001f\u007f-\u009f]/g, '') ?? null,
        keysDigest: digestOf(tickets.keys),
      } as const;
      const synced = await execute(events.byId('gtk', token), NOT_NAMED, command);
      return isRefusal(synced) && synced.code === NOT_NAMED.code ? fail('UNAUTHORIZED') : synced;
    },
    body: ({ now, cursor, more, reset, head, changes, conflicts }: SyncView) => ({
      now: formatTime(now),
      cursor,
      more,
      reset,
      head: head && toHeadBody(head, tickets.keys),
      changes: [...changes],
      ...(conflicts !== undefined && { conflicts: conflicts.map(toConflictBody) }),
    }),
  });
}

function toConflictBody({ digest, scanId, stationId, at, ticket, admitted }: SyncConflict): Static<typeof Conflict> {
  return {
    digest,
    scan_id: scanId,
    ...(stationId !== undefined && { station_id: stationId }),
    at: formatTime(at),
    ticket: toTicketBody(ticket),
    admitted: toAdmissionBody(admitted),
  };
}

type HeadBody = ReturnType<typeof toHeadBody>;

function toHeadBody(head: SyncHead, keys: SyncPorts['tickets']['keys']) {
  return {
    event: { ...head.event },
    station: toStationFields(head.station),
    keys: [...keys],
    performances: head.performances.map(({ id, name, doorsAt, startsAt, endsAt, status, expected }) => ({
      id,
      name,
      doors_at: formatMoment(doorsAt),
      starts_at: formatMoment(startsAt),
      ends_at: formatMoment(endsAt),
      status,
      expected,
    })),
    doors: head.doors.map(({ id, name, ticketTypeIds }) => ({ id, name, ticket_type_ids: ticketTypeIds })),
    ticket_types: [...head.ticketTypes],
    reentry: head.reentry,
    ...(head.stations !== undefined && {
      stations: head.stations.map(({ station, tokenSha256 }) => ({
        ...toStationFields(station),
        token_sha256: tokenSha256,
      })),
    }),
  };
}

function toStationFields({ id, name, kind, performanceIds, doorIds, expiresAt, status }: StationView) {
  return {
    id,
    name,
    kind,
    performance_ids: performanceIds,
    door_ids: doorIds,
    expires_at: formatMoment(expiresAt),
    status,
  };
}
