/**
 * Holds: place, read, change and release a reservation.
 *
 * A handler makes a command of a checked body and a body of the reply; the domain decides. A reply comes when its facts are durable.
 */
import { Type } from 'typebox';
import { executeAt, readAt } from '#actors/event-port.ts';
import { isRefusal } from '#domain/refusal.ts';
import { toHoldBody, problemsOfSeats, readItem } from '../bodies.ts';
import { EVENT_NOT_FOUND, HOLD_NOT_FOUND } from '../errors.ts';
import { idempotencyMark, nameless, markReplayed, requiredSessionKey } from '../request-parts.ts';
import type { PublicPorts } from '../ports.ts';
import { errorResponses } from '../openapi.ts';
import { ref, SessionKeyQuery } from '../schemas/fields.ts';
import { ChangeHold, CreateHold, Hold } from '../schemas/holds.ts';
import type { HttpApp } from '../app.ts';

const HoldPath = Type.Object({ id: Type.String() });

const createHoldSchema = {
  operationId: 'createHold',
  tags: ['Holds'],
  summary: 'Reserve a selection of tickets',
  description: "Replaces the session's previous hold on the event. Send an Idempotency-Key to repeat it safely.",
  body: CreateHold,
  response: { 201: ref(Hold), ...errorResponses },
};

const getHoldSchema = {
  operationId: 'getHold',
  tags: ['Holds'],
  summary: 'Read a hold',
  params: HoldPath,
  querystring: SessionKeyQuery,
  response: { 200: ref(Hold), ...errorResponses },
};

const changeHoldSchema = {
  operationId: 'changeHold',
  tags: ['Holds'],
  summary: 'Change the quantities of a hold; its window restarts',
  description: 'Send an Idempotency-Key to repeat it safely.',
  params: HoldPath,
  querystring: SessionKeyQuery,
  body: ChangeHold,
  response: { 200: ref(Hold), ...errorResponses },
};

const releaseHoldSchema = {
  operationId: 'releaseHold',
  tags: ['Holds'],
  summary: 'Release a hold',
  params: HoldPath,
  querystring: SessionKeyQuery,
  response: { 200: ref(Hold), ...errorResponses },
};

export function holdRoutes(app: HttpApp, { events }: Pick<PublicPorts, 'events'>): void {
  app.post('/api/checkout/holds', { schema: createHoldSchema }, async (request, reply) => {
    const { event_id: eventId, session_key: sessionKey, queue_pass: queuePass, items } = request.body;
    const problems = problemsOfSeats(items);
    if (problems.length > 0) return reply.invalid(problems);
    const idempotency = idempotencyMark('POST /api/checkout/holds', request);
    if (idempotency !== null && 'outcome' in idempotency) return reply.refuse(idempotency);
    const answer = await executeAt(events.byEventId(eventId), EVENT_NOT_FOUND, {
      type: 'PlaceHold',
      sessionKey,
      items: items.map(readItem),
      queuePass: queuePass ?? null,
      idempotency,
    });
    if (isRefusal(answer)) return reply.refuse(answer);
    markReplayed(reply, answer);
    return reply.code(201).send(toHoldBody(answer.hold));
  });

  app.get('/api/checkout/holds/:id', { schema: getHoldSchema }, async (request, reply) => {
    const sessionKey = requiredSessionKey(request);
    if (typeof sessionKey !== 'string') return reply.refuse(sessionKey);
    const { id } = request.params;
    const query = { type: 'FindHold', holdId: id, sessionKey } as const;
    const hold = await readAt(events.byId('hld', id), HOLD_NOT_FOUND, query);
    return isRefusal(hold) ? reply.refuse(hold) : reply.send(toHoldBody(hold));
  });

  app.patch('/api/checkout/holds/:id', { schema: changeHoldSchema }, async (request, reply) => {
    const sessionKey = requiredSessionKey(request);
    if (typeof sessionKey !== 'string') return reply.refuse(sessionKey);
    const problems = problemsOfSeats(request.body.items);
    if (problems.length > 0) return reply.invalid(problems);
    const holdId = request.params.id;
    const idempotency = idempotencyMark('PATCH /api/checkout/holds', request, {
      subject: [holdId, nameless(sessionKey)],
    });
    if (idempotency !== null && 'outcome' in idempotency) return reply.refuse(idempotency);
    const items = request.body.items.map(readItem);
    const command = { type: 'ChangeHold', holdId, sessionKey, items, idempotency } as const;
    const answer = await executeAt(events.byId('hld', holdId), HOLD_NOT_FOUND, command);
    if (isRefusal(answer)) return reply.refuse(answer);
    markReplayed(reply, answer);
    return reply.send(toHoldBody(answer.hold));
  });

  app.delete('/api/checkout/holds/:id', { schema: releaseHoldSchema }, async (request, reply) => {
    const sessionKey = requiredSessionKey(request);
    if (typeof sessionKey !== 'string') return reply.refuse(sessionKey);
    const holdId = request.params.id;
    const command = { type: 'ReleaseHold', holdId, sessionKey } as const;
    const answer = await executeAt(events.byId('hld', holdId), HOLD_NOT_FOUND, command);
    return isRefusal(answer) ? reply.refuse(answer) : reply.send(toHoldBody(answer.hold));
  });
}
