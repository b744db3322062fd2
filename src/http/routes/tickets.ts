/** What tickets are checked with at an entrance, offline: the public keys of ticket codes, and the void tickets. */
import { readAt } from '#actors/event-port.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { HttpApp } from '../app.ts';
import { EVENT_NOT_FOUND } from '../errors.ts';
import { errorResponses } from '../openapi.ts';
import type { PublicPorts } from '../ports.ts';
import { RevokedQuery, RevokedTickets, TicketKeys } from '../schemas/orders.ts';

const KEYS_KEPT_SECONDS = 3_600;
const LIST_LIMIT = 1_000;

const getTicketKeysSchema = {
  operationId: 'getTicketKeys',
  tags: ['Tickets'],
  summary: 'The public keys of ticket codes',
  description:
    'A code is base64url(payload).base64url(signature): the Ed25519 signature is over the bytes of the payload, which is JSON with ticket_id, event_id, performance_id, seat_id and kid, the key that signed it. A code without kid is of an earlier version: try each key.',
  response: { 200: TicketKeys, ...errorResponses },
};

const listRevokedTicketsSchema = {
  operationId: 'listRevokedTickets',
  tags: ['Tickets'],
  summary: 'The void tickets of an event or of one of its dates',
  description:
    'For doors without a network: a code stays well signed when its ticket becomes void, so load this list before the doors open and again as often as you can, from the last ticket that you know on. Ids alone, nothing about people.',
  querystring: RevokedQuery,
  response: { 200: RevokedTickets, ...errorResponses },
};

export function ticketRoutes(app: HttpApp, { tickets, events }: Pick<PublicPorts, 'tickets' | 'events'>): void {
  app.get('/api/tickets/key', { schema: getTicketKeysSchema }, async (_request, reply) =>
    reply.header('cache-control', `public, max-age=${KEYS_KEPT_SECONDS}`).send({ keys: [...tickets.keys] }),
  );

  app.get('/api/tickets/revoked', { schema: listRevokedTicketsSchema }, async (request, reply) => {
    const { event_id: eventId, performance_id: performanceId = null, after = null, limit } = request.query;
    const query = { type: 'ListVoidTickets', performanceId, after, limit: Number(limit ?? LIST_LIMIT) } as const;
    const page = await readAt(events.byEventId(eventId), EVENT_NOT_FOUND, query);
    if (isRefusal(page)) return reply.refuse(page);
    return reply.header('cache-control', 'no-cache').send({ tickets: [...page.ticketIds], next_after: page.nextAfter });
  });
}
