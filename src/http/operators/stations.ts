/** Stations for operators: made, listed and revoked. */
import { type Static, Type } from 'typebox';
import { createIdSource } from '#actors/crypto.ts';
import { readAt } from '#actors/event-port.ts';
import { printable } from '#catalogue/values.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { StationView } from '#domain/view.ts';
import { sha256Of } from '../doors/station-auth.ts';
import type { AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { bearer, Count, Id, Nullable, OperatorHeaders, ref, Time } from '../protocol/fields.ts';
import { formatMoment, formatTime, type ListedProblem } from '../protocol/formats.ts';
import { addRoute } from '../protocol/route.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const IDS_MAX = 1_000;
const Text = Type.String();
const Kind = Type.Unsafe<'STATION' | 'GATE'>({
  type: 'string',
  enum: ['STATION', 'GATE'],
  description: 'A GATE is a machine of the hall, at which other stations scan.',
});
const idsOrNull = (description: string) =>
  Type.Unsafe<string[] | null>({
    ...Type.Array(Id, { minItems: 1, maxItems: IDS_MAX, uniqueItems: true }),
    type: ['array', 'null'],
    description,
  });

const NewStation = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: printable,
    description: 'What operators call it, without control characters.',
  }),
  kind: Type.Optional({ ...Kind, default: 'STATION' }),
  performance_ids: Type.Optional(idsOrNull('The dates at which it scans; null for all, later ones too.')),
  door_ids: Type.Optional(idsOrNull('The doors at which it scans; null for all, later ones too.')),
  expires_at: Type.Optional(
    Nullable({ ...Time, maxLength: 40, description: 'From when its token is not good any more.' }),
  ),
  gate_url: Type.Optional(
    Nullable(
      Type.String({
        format: 'uri',
        pattern: '^https?://[^@/?#]+(/[^?#]*)?$',
        maxLength: 500,
        description: 'Of a GATE alone: its address in the hall, at which stations are paired there.',
        examples: ['https://gate.hall.example'],
      }),
    ),
  ),
});

const stationFields = {
  id: Text,
  name: Text,
  kind: Kind,
  performance_ids: idsOrNull('Null for all.'),
  door_ids: idsOrNull('Null for all.'),
  expires_at: Nullable(Time),
  gate_url: Nullable({
    ...Text,
    description: 'Of a GATE: stations of its hall are paired at `{gate_url}/door#{token}`.',
  }),
  created_at: Time,
};

export const MadeStation = Type.Object(
  {
    ...stationFields,
    token: { ...Text, description: 'Shown this once: only its digest is kept.' },
    pairing_url: { ...Text, description: 'Opened on a device it pairs it. It has the token in it.' },
  },
  { $id: 'MadeStation' },
);

export const Station = Type.Object(
  {
    ...stationFields,
    status: Type.Unsafe<StationView['status']>({ type: 'string', enum: ['LIVE', 'EXPIRED', 'REVOKED'] }),
    last_seen_at: Nullable({ ...Time, description: 'Null where it was not seen since the service started.' }),
    synced_at: Nullable(Time),
    queued: Nullable({ ...Count, description: 'Scans that wait on it, as it last said.' }),
    version: Nullable(Text),
  },
  { $id: 'Station' },
);

const StationList = Type.Object({ stations: Type.Array(ref(Station)) });

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const EventPath = Type.Object({ id: Text });

const addStationSchema = {
  operationId: 'addStation',
  tags: ['Doors'],
  summary: 'Make a station, which may scan at the doors of an event',
  description: 'It takes no Idempotency-Key, because the token is shown once: revoke a station whose answer was lost.',
  security: bearer,
  params: EventPath,
  headers: OperatorHeaders,
  body: NewStation,
  response: { 201: ref(MadeStation) },
};

const listStationsSchema = {
  operationId: 'listStations',
  tags: ['Doors'],
  summary: 'List the stations of an event',
  description: 'In the order of making, revoked ones too. When one was last seen is lost when the service stops.',
  security: bearer,
  params: EventPath,
  response: { 200: StationList },
};

const revokeStationSchema = {
  operationId: 'revokeStation',
  tags: ['Doors'],
  summary: 'Revoke a station: its token is not good any more',
  description: 'What it has not sent yet it keeps, until it is paired anew. Revoked again it stays so.',
  security: bearer,
  params: Type.Object({ id: Text, station_id: Text }),
  headers: OperatorHeaders,
  response: { 200: ref(Station) },
};

export function stationRoutes(app: HttpApp, { events, baseUrl }: Pick<AdminPorts, 'events' | 'baseUrl'>): void {
  const ids = createIdSource(1);

  addRoute(app, 'POST /admin/events/:id/stations', addStationSchema, {
    command: 'AddStation',
    problems: ({ body }) => problemsOf(body),
    answer: async ({ params: { id }, body }, { execute, by: { operator } }) => {
      // A token names its event by the number; the list of stations has it.
      const listed = await readAt(events.byEventId(id), EVENT_NOT_FOUND, { type: 'ListStations' });
      if (isRefusal(listed)) return listed;
      const token = ids.newId('gtk', listed.eventNumber);
      const { name, kind = 'STATION', performance_ids: performanceIds = null, door_ids: doorIds = null } = body;
      const expiresAt = body.expires_at == null ? null : Date.parse(body.expires_at);
      const tokenSha256 = sha256Of(token);
      const gate = body.gate_url == null ? {} : { gateUrl: body.gate_url.replace(/\/+$/, '') };
      const made = { name, kind, performanceIds, doorIds, expiresAt, tokenSha256, ...gate, operator };
      const added = await execute(events.byEventId(id), EVENT_NOT_FOUND, { type: 'AddStation', ...made });
      return isRefusal(added) ? added : { ...added, token };
    },
    status: 201,
    body: ({ station, token }) => ({ ...toFields(station), token, pairing_url: `${baseUrl()}/door#${token}` }),
  });

  addRoute(app, 'GET /admin/events/:id/stations', listStationsSchema, {
    answer: ({ params: { id } }) => readAt(events.byEventId(id), EVENT_NOT_FOUND, { type: 'ListStations' }),
    body: ({ stations }) => ({ stations: stations.map(toStationBody) }),
  });

  addRoute(app, 'POST /admin/events/:id/stations/:station_id/revoke', revokeStationSchema, {
    command: 'RevokeStation',
    answer: ({ params: { id, station_id: stationId } }, { execute, by: { operator } }) =>
      execute(events.byEventId(id), EVENT_NOT_FOUND, { type: 'RevokeStation', stationId, operator }),
    body: ({ station }) => toStationBody(station),
  });
}

function problemsOf(station: Static<typeof NewStation>): readonly ListedProblem[] {
  const { kind, expires_at: expiresAt = null, gate_url: gateUrl = null } = station;
  const problems: ListedProblem[] = [];
  if (expiresAt !== null && !(Date.parse(expiresAt) >= 0)) {
    problems.push({ path: '/expires_at', message: 'must be a time since 1970, without leap seconds' });
  }
  if (gateUrl !== null && kind !== 'GATE') problems.push({ path: '/gate_url', message: 'is for a GATE alone' });
  return problems;
}

function toFields(station: StationView) {
  const { id, name, kind, performanceIds, doorIds, expiresAt, gateUrl, createdAt } = station;
  return {
    id,
    name,
    kind,
    performance_ids: performanceIds && [...performanceIds],
    door_ids: doorIds && [...doorIds],
    expires_at: formatMoment(expiresAt),
    gate_url: gateUrl,
    created_at: formatTime(createdAt),
  };
}

function toStationBody(station: StationView): Static<typeof Station> {
  const { status, lastSeenAt, syncedAt, queued, version } = station;
  return {
    ...toFields(station),
    status,
    last_seen_at: formatMoment(lastSeenAt),
    synced_at: formatMoment(syncedAt),
    queued,
    version,
  };
}
