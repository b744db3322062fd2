/** The key that doors check ticket codes with, offline. */
import type { HttpApp } from '../app.ts';
import { errorResponses } from '../openapi.ts';
import type { PublicPorts } from '../ports.ts';
import { TicketKey } from '../schemas/orders.ts';

const DOORS_KEEP_SECONDS = 3_600;

export function ticketRoutes(app: HttpApp, { tickets }: Pick<PublicPorts, 'tickets'>): void {
  app.get(
    '/api/tickets/key',
    {
      schema: {
        operationId: 'getTicketKey',
        tags: ['Tickets'],
        summary: 'The public key of ticket codes',
        description:
          'A code is base64url(payload).base64url(signature): the Ed25519 signature is over the bytes of the payload, which is JSON with ticket_id, event_id, performance_id and seat_id.',
        response: { 200: TicketKey, ...errorResponses },
      },
    },
    async (_request, reply) => reply.header('cache-control', `public, max-age=${DOORS_KEEP_SECONDS}`).send(tickets.key),
  );
}
