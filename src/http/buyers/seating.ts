/**
 * Numbered seating: the layout, the seats that are taken, and the best seats for a number of people.
 *
 * Layout and occupancy carry an ETag, so that a client that has the body gets 304. Both are large and the same for all
 * clients: a layout until the definition changes, a full occupancy until a seat does. They are kept, and compressed
 * once.
 */
import type { FastifyReply } from 'fastify';
import { type Static, Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import type { NumberedLocality, SeatDefinition } from '#domain/catalogue/definition.ts';
import type { SeatFacts } from '#domain/catalogue/seating-plan.ts';
import type { OccupancyView, SeatingView } from '#domain/inventory/view.ts';
import type { PublicPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { LASTING } from '../protocol/encoding.ts';
import { sealed, sealedOnce, sendSealed } from '../protocol/envelope.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { Count, Id, IntegerText, Nullable, ref, SessionKey } from '../protocol/fields.ts';
import { etagOf, tagNamed, varyBy } from '../protocol/negotiation.ts';
import { createPayloadCache, type CachedBody } from '../protocol/payload-cache.ts';
import { addRoute } from '../protocol/route.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const seatFields = {
  seat_label: Type.String(),
  x: Type.Number(),
  y: Type.Number(),
  zone_key: Type.String(),
  accessible: Type.Boolean(),
  restricted_view: Type.Boolean(),
};

export const Seating = Type.Object(
  {
    event_id: Type.String(),
    version: Type.Integer({ description: 'Grows when the definition of the event changes.' }),
    localities: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        zones: Type.Array(
          Type.Object({ zone_key: Type.String(), name: Type.String(), color: Nullable(Type.String()) }),
        ),
        sections: Type.Array(
          Type.Object({
            id: Type.String(),
            name: Type.String(),
            rows: Type.Array(
              Type.Object({
                label: Type.String(),
                seats: Type.Array(Type.Object({ id: Type.String(), ...seatFields })),
              }),
            ),
          }),
        ),
        shapes: Type.Array(Type.Unknown({ description: 'Outlines for the picture.' })),
      }),
    ),
  },
  { $id: 'Seating' },
);

const SeatState = Type.String({ enum: ['AVAILABLE', 'HELD', 'SOLD', 'BLOCKED'] });
export const SeatChange = Type.Object({ id: Type.String(), state: SeatState });

export const Occupancy = Type.Object(
  {
    event_id: Type.String(),
    performance_id: Type.String(),
    version: Type.Integer({ description: 'Grows with every change of any seat of the date.' }),
    available: Type.Optional(Count),
    held: Type.Optional(Type.Array(Type.String())),
    sold: Type.Optional(Type.Array(Type.String())),
    blocked: Type.Optional(Type.Array(Type.String())),
    since: Type.Optional(Type.Integer({ description: 'Only in the form of changes.' })),
    changes: Type.Optional(Type.Array(SeatChange)),
  },
  {
    $id: 'Occupancy',
    description: 'The full form has available, held, sold and blocked; the answer to ?since= has since and changes.',
  },
);

export const Seat = Type.Object(
  {
    id: Type.String(),
    section_id: Type.String(),
    row_label: Type.String(),
    ...seatFields,
    state: SeatState,
  },
  { $id: 'Seat' },
);

const SeatList = Type.Array(ref(Seat));

const OccupancyQuery = Type.Object({
  performance_id: Type.Optional({ ...Id, description: 'Required on events with several dates.' }),
  since: Type.Optional(IntegerText({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
});

const SuggestSeats = Type.Object({
  ticket_type_id: Id,
  count: Type.Integer({ minimum: 1, maximum: 200, description: 'Seats (tickets).' }),
  performance_id: Type.Optional(Nullable(Id)),
  session_key: Type.Optional({ ...SessionKey, description: "The session's own held seats count as free." }),
});

export type SeatingBody = Static<typeof Seating>;
export type SeatBody = Static<typeof Seat>;
export type OccupancyBody = Static<typeof Occupancy>;

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const SlugPath = Type.Object({ slug: Type.String() });
const NotModified = Type.Unsafe<void>({ type: 'null', description: 'The body is the one that If-None-Match names.' });

const getSeatingSchema = {
  operationId: 'getSeating',
  tags: ['Seating'],
  summary: 'Read the layout of the numbered seats',
  description:
    'Which seats there are, not which are free. It changes only with the definition: keep it, and ask with `If-None-Match`.',
  params: SlugPath,
  response: { 200: ref(Seating), 304: NotModified },
};

const getOccupancySchema = {
  operationId: 'getOccupancy',
  tags: ['Seating'],
  summary: 'Read which seats of a date are held, sold or blocked',
  description: '`version` grows with each change of a seat; with `since` only the changes after a version are listed.',
  params: SlugPath,
  querystring: OccupancyQuery,
  response: { 200: ref(Occupancy), 304: NotModified },
};

const suggestSeatsSchema = {
  operationId: 'suggestSeats',
  tags: ['Seating'],
  summary: 'Suggest the best free seats side by side, without reserving them',
  description:
    'Seats of one row without an aisle between them, the best rows first, never leaving a single free seat where that can be avoided. Send the ids as `seat_ids` of a hold to claim them.',
  params: SlugPath,
  body: SuggestSeats,
  response: { 200: SeatList },
};

export function seatingRoutes(app: HttpApp, { events, settings }: Pick<PublicPorts, 'events' | 'settings'>): void {
  const { responseEnvelope, limits } = settings;
  const kept = createPayloadCache(limits.cachedPayloadsMax, limits.cachedPayloadBytesMax);

  addRoute(app, 'GET /api/events/public/:slug/seating', getSeatingSchema, {
    answer: ({ params: { slug } }) => {
      const found = events.bySlug(slug);
      const read = (knownRevision: string | null) =>
        readAt(found, EVENT_NOT_FOUND, { type: 'ReadSeating', audience: 'BUYERS', knownRevision });
      return kept.recall(`layout ${slug}`, read, (view) => ({
        etag: etagOf('seating', view.eventId, view.version),
        body: sealed(toSeatingBody(view), responseEnvelope, LASTING),
      }));
    },
    send: sendTagged,
  });

  addRoute(app, 'GET /api/events/public/:slug/seating/occupancy', getOccupancySchema, {
    answer: ({ params: { slug }, query: { performance_id: performanceId, since } }) => {
      const wanted = { performanceId: performanceId ?? null, since: since === undefined ? null : Number(since) };
      const found = events.bySlug(slug);
      const read = (knownRevision: string | null) =>
        readAt(found, EVENT_NOT_FOUND, { type: 'ReadOccupancy', audience: 'BUYERS', ...wanted, knownRevision });
      return kept.recall(`occupancy ${slug} ${performanceId ?? ''}`, read, (view) => {
        const isFull = view.form === 'FULL';
        const seal = isFull ? sealed : sealedOnce;
        const { eventId, performanceId, version, activation } = view;
        // After a lost turn the same version may have other seats, but not within one activation. `since` names no
        // activation: a client that was shown what was lost has it until the seat changes again or all seats are read.
        return {
          etag: etagOf(eventId, performanceId, isFull ? 'all' : view.since, version, activation),
          body: seal(toOccupancyBody(view), responseEnvelope),
        };
      });
    },
    send: sendTagged,
  });

  addRoute(app, 'POST /api/events/public/:slug/seating/best-available', suggestSeatsSchema, {
    // A search costs as much as the hold that follows it.
    costs: 'PlaceHold',
    answer: ({ params: { slug }, body }) => {
      const { ticket_type_id: ticketTypeId, count, performance_id: performanceId, session_key: key } = body;
      const wanted = { ticketTypeId, count, performanceId: performanceId ?? null, sessionKey: key ?? null };
      return readAt(events.bySlug(slug), EVENT_NOT_FOUND, { type: 'SuggestSeats', ...wanted });
    },
    body: (seats) => seats.map(toFreeSeatBody),
  });
}

/** Sends a body with its tag, or 304 to a client that has it already. */
function sendTagged(found: CachedBody, reply: FastifyReply): FastifyReply | Promise<FastifyReply> {
  const etag = found.etag!;
  const named = tagNamed(etag, reply.request.headers['if-none-match']);
  varyBy(reply.header('etag', named ?? etag).header('cache-control', 'no-cache'), 'Accept-Encoding');
  return named === null ? sendSealed(reply, found.body) : reply.code(304).send();
}

// ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export function toSeatingBody(view: SeatingView): SeatingBody {
  return { event_id: view.eventId, version: view.version, localities: view.localities.map(toLocalityBody) };
}

function toLocalityBody(locality: NumberedLocality): SeatingBody['localities'][number] {
  return {
    id: locality.id,
    name: locality.name,
    zones: locality.zones.map(({ zoneKey, name, color }) => ({ zone_key: zoneKey, name, color })),
    sections: locality.sections.map(({ id, name, rows }) => ({
      id,
      name,
      rows: rows.map(({ label, seats }) => ({ label, seats: seats.map(toSeatBody) })),
    })),
    shapes: locality.shapes as unknown[],
  };
}

function toSeatBody(seat: SeatDefinition) {
  return {
    id: seat.id,
    seat_label: seat.label,
    x: seat.x,
    y: seat.y,
    zone_key: seat.zoneKey,
    accessible: seat.accessible,
    restricted_view: seat.restrictedView,
  };
}

export function toOccupancyBody(view: OccupancyView): OccupancyBody {
  const which = { event_id: view.eventId, performance_id: view.performanceId };
  if (view.form === 'CHANGES') {
    return { ...which, since: view.since, version: view.version, changes: [...view.changes] };
  }
  const { version, available, held, sold, blocked } = view;
  return { ...which, version, available, held: [...held], sold: [...sold], blocked: [...blocked] };
}

/** A suggested seat; it is free at the moment of the request. */
export function toFreeSeatBody(seat: SeatFacts): SeatBody {
  return {
    id: seat.id,
    section_id: seat.sectionId,
    row_label: seat.rowLabel,
    seat_label: seat.seatLabel,
    x: seat.x,
    y: seat.y,
    zone_key: seat.zoneKey,
    accessible: seat.accessible,
    restricted_view: seat.restrictedView,
    state: 'AVAILABLE',
  };
}
