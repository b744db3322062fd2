import type { FastifyReply } from 'fastify';

/** Says that the answer differs by a header of the request, beside the headers that were named before. */
export function varyBy(reply: FastifyReply, name: string): FastifyReply {
  const named = reply.getHeader('vary');
  if (named === undefined) return reply.header('vary', name);
  const names = String(named).split(', ');
  return names.includes(name) ? reply : reply.header('vary', `${String(named)}, ${name}`);
}
