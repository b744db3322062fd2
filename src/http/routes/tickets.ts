/** What doors check tickets with, offline: the public keys of their codes, and the tickets that are void. */
import type { HttpApp } from '../app.ts';
import { errorResponses } from '../openapi.ts';
import type { PublicPorts } from '../ports.ts';
import { TicketKeys } from '../schemas/orders.ts';

const DOORS_KEEP_SECONDS = 3_600;

export function ticketRoutes(app: HttpApp, { tickets }: Pick<PublicPorts, 'tickets'>): void {
  app.get(
    '/api/tickets/key',
    {
      schema: {
        operationId: 'getTicketKeys',
        tags: ['Tickets'],
        summary: 'The public keys of ticket codes',
        description:
          'A code is base64url(payload).base64url(signature): the Ed25519 signature is over the bytes of the payload, which is JSON with ticket_id, event_id, performance_id, seat_id and kid, the key that signed it. A code without kid is of an earlier version: try each key.',
        response: { 200: TicketKeys, ...errorResponses },
      },
    },
    async (_request, reply) =>
      reply.header('cache-control', `public, max-age=${DOORS_KEEP_SECONDS}`).send({ keys: [...tickets.keys] }),
  );
}
