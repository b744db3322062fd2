/**
 * The money of events, for operators: what came in and what was given back, by event and by hour.
 *
 * The figures are kept by the events themselves as facts come; nothing is summed up here, and no journal is read.
 */
import { Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { HttpApp } from '../app.ts';
import { EVENT_NOT_FOUND } from '../errors.ts';
import type { EventFigures } from '../event-figures.ts';
import { formatTime } from '../formats.ts';
import { toEventMoneyBody } from '../money-bodies.ts';
import { bearer, errorResponses } from '../openapi.ts';
import type { OperatorPorts } from '../ports.ts';
import { readCursor, toCursor } from '../request-parts.ts';
import { PageQuery } from '../schemas/events.ts';
import { ref } from '../schemas/fields.ts';
import { EventMoney, MoneyList } from '../schemas/money.ts';

const LIST_LIMIT = 50;

const listMoneySchema = {
  operationId: 'listMoney',
  tags: ['Orders'],
  summary: 'Read what came in and what was given back, by event, and by hour over the last day',
  description:
    'Amounts are of the moment at which the money was recorded. Of an event that is not in memory they are as last seen; events that were never read since the start come a few with each request.',
  security: bearer,
  querystring: PageQuery,
  response: { 200: ref(MoneyList), ...errorResponses },
};

const getMoneySchema = {
  operationId: 'getMoney',
  tags: ['Orders'],
  summary: 'Read what came in and what was given back for one event, by hour',
  description: 'At most the 2,000 newest hours in which money moved; the totals have everything.',
  security: bearer,
  params: Type.Object({ id: Type.String() }),
  response: { 200: ref(EventMoney), ...errorResponses },
};

export function moneyRoutes(
  app: HttpApp,
  { events, clock, requireToken: onRequest }: Pick<OperatorPorts, 'requireToken' | 'events' | 'clock'>,
  figures: EventFigures,
): void {
  app.get('/admin/money', { onRequest, schema: listMoneySchema }, async (request, reply) => {
    const { limit, cursor } = request.query;
    const start = readCursor(cursor);
    if ('outcome' in start) return reply.refuse(start);
    const page = await events.listAll({ limit: Number(limit ?? LIST_LIMIT), after: start.after });
    const money = await figures.moneyOf(page.eventIds);
    return reply.send({ now: formatTime(clock.now()), events: money, next_cursor: toCursor(page.nextAfter) });
  });

  app.get('/admin/events/:id/money', { onRequest, schema: getMoneySchema }, async (request, reply) => {
    const { id } = request.params;
    const view = await readAt(events.byEventId(id), EVENT_NOT_FOUND, { type: 'ReadMoney' });
    return isRefusal(view) ? reply.refuse(view) : reply.send(toEventMoneyBody({ id, name: view.name }, view));
  });
}
