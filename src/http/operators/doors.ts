/** The doors of an event in numbers, and the conflicts of their scans. */
import { type Static, Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import { GIVEN } from '#client/doors/scan.ts';
import type { ConflictView, DoorCountsView } from '#domain/doors/view.ts';
import type { ScanView } from '#domain/view.ts';
import { PageQuery } from '../buyers/events/schema.ts';
import type { AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { bearer, Count, Id, IntegerText, Nullable, ref, Time } from '../protocol/fields.ts';
import { formatTime } from '../protocol/formats.ts';
import { toCursor } from '../protocol/request-parts.ts';
import { addRoute } from '../protocol/route.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const Text = Type.String();
const inAndOut = { entries: Count, exits: Count };

export const DateCounts = Type.Object({
  id: Text,
  expected: { ...Count, description: 'Valid tickets of the date.' },
  admitted: { ...Count, description: 'Tickets that entered, each once, at however many doors.' },
  inside: Type.Integer({ description: 'People let in, doubles too, less those let out.' }),
  ...inAndOut,
  conflicts: Count,
  refused: Type.Unsafe<Partial<Record<(typeof GIVEN)[number], number>>>({
    type: 'object',
    additionalProperties: { type: 'integer' },
    description: 'How often scans were refused, by verdict.',
  }),
  doors: Type.Array(Type.Object({ id: Text, ...inAndOut })),
  ticket_types: Type.Array(Type.Object({ id: Text, expected: Count, admitted: Count })),
  minutes: Type.Array(Type.Object({ at: Time, ...inAndOut }), {
    description: 'The last 60, the oldest first; empty where nobody was scanned.',
  }),
});

export const DoorCounts = Type.Object({ performances: Type.Array(DateCounts) }, { $id: 'DoorCounts' });

const ConflictingScan = Type.Object({
  scan_id: Text,
  at: Time,
  received_at: Time,
  door_id: Text,
  station_id: Nullable({ ...Text, description: 'Null of a scan by hand.' }),
  station_name: Nullable(Text),
  offline: Type.Boolean({ description: 'The station itself decided.' }),
});

const Conflict = Type.Object({
  kind: Type.Unsafe<ConflictView['kind']>({
    type: 'string',
    enum: ['DOUBLE_ENTRY', 'ENTERED_VOID', 'ENTERED_OTHERWISE'],
  }),
  ticket_id: Nullable({ ...Text, description: 'Null where the code is of no ticket of the event.' }),
  order_id: Nullable(Text),
  performance_id: Text,
  first: Type.Unsafe<Static<typeof ConflictingScan> | null>({
    ...ConflictingScan,
    type: ['object', 'null'],
    description: 'Null where there is but one scan.',
  }),
  second: ConflictingScan,
});

export const ScanConflicts = Type.Object(
  { conflicts: Type.Array(Conflict), next_cursor: Nullable(Text) },
  { $id: 'ScanConflicts' },
);

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const LIST_LIMIT = 100;
const described = { tags: ['Doors'], security: bearer, params: Type.Object({ id: Text }) };

const readDoorsSchema = {
  ...described,
  operationId: 'readDoors',
  summary: 'Count the entries and exits of an event, or of one of its dates',
  description: 'The same in whatever order scans arrive. What was undone is left out.',
  querystring: Type.Object({ performance_id: Type.Optional(Id) }),
  response: { 200: ref(DoorCounts) },
};

const listConflictsSchema = {
  ...described,
  operationId: 'listScanConflicts',
  summary: 'List the conflicts of scans, the newest first',
  description:
    'DOUBLE_ENTRY: a ticket entered that was inside already. ENTERED_VOID: it was void. ENTERED_OTHERWISE: it should have been refused for something else. They come of scans that stations decided by themselves.',
  querystring: Type.Object({
    ...PageQuery.properties,
    limit: Type.Optional(IntegerText({ minimum: 1, maximum: 1_000, default: LIST_LIMIT })),
    performance_id: Type.Optional(Id),
  }),
  response: { 200: ref(ScanConflicts) },
};

export function doorRoutes(app: HttpApp, { events }: Pick<AdminPorts, 'events'>): void {
  addRoute(app, 'GET /admin/events/:id/doors', readDoorsSchema, {
    answer: ({ params: { id }, query: { performance_id: performanceId = null } }) =>
      readAt(events.byEventId(id), EVENT_NOT_FOUND, { type: 'ReadDoors', performanceId }),
    body: ({ performances }) => ({ performances: performances.map(toCountsBody) }),
  });

  addRoute(app, 'GET /admin/events/:id/doors/conflicts', listConflictsSchema, {
    answer: ({ params: { id }, query: { performance_id: performanceId = null, limit } }, { after }) => {
      const query = { type: 'ListConflicts', performanceId, after, limit: Number(limit ?? LIST_LIMIT) } as const;
      return readAt(events.byEventId(id), EVENT_NOT_FOUND, query);
    },
    body: ({ conflicts, nextAfter }) => ({
      conflicts: conflicts.map(toConflictBody),
      next_cursor: toCursor(nextAfter),
    }),
  });
}

// ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function toCountsBody({ ticketTypes, minutes, ...counts }: DoorCountsView): Static<typeof DateCounts> {
  return {
    ...counts,
    refused: { ...counts.refused },
    doors: [...counts.doors],
    ticket_types: [...ticketTypes],
    minutes: minutes.map(({ at, ...each }) => ({ at: formatTime(at), ...each })),
  };
}

function toConflictBody(conflict: ConflictView): Static<typeof Conflict> {
  const { kind, ticketId, orderId, performanceId, first, second } = conflict;
  return {
    kind,
    ticket_id: ticketId,
    order_id: orderId,
    performance_id: performanceId,
    first: first && toScanBody(first),
    second: toScanBody(second),
  };
}

function toScanBody(scan: ScanView): Static<typeof ConflictingScan> {
  return {
    scan_id: scan.scanId,
    at: formatTime(scan.at),
    received_at: formatTime(scan.receivedAt),
    door_id: scan.doorId,
    station_id: scan.stationId,
    station_name: scan.stationName,
    offline: scan.offline,
  };
}
