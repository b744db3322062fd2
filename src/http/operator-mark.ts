/**
 * Who did it and why, as operators say it: the header `X-Operator` and a `note`. Both go into the facts of the change.
 *
 * The bearer token is one for all; the name is what the operator's tool vouches for.
 */
import type { FastifyRequest } from 'fastify';
import type { OperatorMark } from '#domain/fact.ts';

/** The mark of a request, with the note that came in its body or address. */
export function operatorMark({ headers }: FastifyRequest, note: string | null | undefined): OperatorMark {
  const given = headers['x-operator'];
  // Node reads header bytes as Latin-1; clients send names in UTF-8.
  const operator = typeof given === 'string' ? Buffer.from(given, 'latin1').toString('utf8').trim() : '';
  return { operator: operator === '' ? null : operator, note: note ?? null };
}
