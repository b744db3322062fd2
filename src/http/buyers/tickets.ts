/** What tickets are checked with at an entrance, offline: the public keys of ticket codes, and the void tickets. */
import { Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import type { PublicPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { Id, IntegerText, Nullable } from '../protocol/fields.ts';
import { addRoute } from '../protocol/route.ts';

const RevokedQuery = Type.Object({
  event_id: Id,
  performance_id: Type.Optional(Id),
  after: Type.Optional(
    Type.String({ maxLength: 128, description: 'The last ticket of the page before, or the last one that you know.' }),
  ),
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: 10_000, default: 1_000 })),
});

export const RevokedTickets = Type.Object({
  tickets: Type.Array(Type.String(), { description: 'Ids of void tickets, in the order in which they became void.' }),
  next_after: Nullable(Type.String({ description: 'Where the next page begins; null on the last one.' })),
});

const TicketKey = Type.Object({
  kty: Type.String({ enum: ['OKP'] }),
  crv: Type.String({ enum: ['Ed25519'] }),
  x: Type.String({ description: 'The public key, base64url.' }),
  kid: Type.String({ description: 'Its RFC 7638 thumbprint.' }),
});

export const TicketKeys = Type.Object({
  keys: Type.Array(TicketKey, { description: 'The key that signs first, then those that signed before it.' }),
});

const KEYS_KEPT_SECONDS = 3_600;
const LIST_LIMIT = 1_000;

const getTicketKeysSchema = {
  operationId: 'getTicketKeys',
  tags: ['Tickets'],
  summary: 'The public keys of ticket codes',
  description:
    'A code is base64url(payload).base64url(signature): the Ed25519 signature is over the bytes of the payload, which is JSON with ticket_id, event_id, performance_id, seat_id, ticket_type_id and kid, the key that signed it. A code without kid is of an earlier version: try each key; one without ticket_type_id as well.',
  response: { 200: TicketKeys },
};

const listRevokedTicketsSchema = {
  operationId: 'listRevokedTickets',
  tags: ['Tickets'],
  summary: 'The void tickets of an event or of one of its dates',
  description:
    'For doors without a network: a code stays well signed when its ticket becomes void, so load this list before the doors open and again as often as you can, from the last ticket that you know on. Ids alone, nothing about people.',
  querystring: RevokedQuery,
  response: { 200: RevokedTickets },
};

export function ticketRoutes(app: HttpApp, { tickets, events }: Pick<PublicPorts, 'tickets' | 'events'>): void {
  addRoute(app, 'GET /api/tickets/key', getTicketKeysSchema, {
    answer: () => tickets.keys,
    body: (keys, reply) => {
      reply.header('cache-control', `public, max-age=${KEYS_KEPT_SECONDS}`);
      return { keys: [...keys] };
    },
  });

  addRoute(app, 'GET /api/tickets/revoked', listRevokedTicketsSchema, {
    answer: ({ query: { event_id: eventId, performance_id: performanceId = null, after = null, limit } }) => {
      const query = { type: 'ListVoidTickets', performanceId, after, limit: Number(limit ?? LIST_LIMIT) } as const;
      return readAt(events.byEventId(eventId), EVENT_NOT_FOUND, query);
    },
    body: ({ ticketIds, nextAfter }, reply) => {
      reply.header('cache-control', 'no-cache');
      return { tickets: [...ticketIds], next_after: nextAfter };
    },
  });
}
