/**
 * The newest facts of the journal, shown as `holdfast journal` shows them, secrets replaced. That command reads the
 * whole journal.
 */
import { type Static, Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import { isRefusal } from '#domain/refusal.ts';
import { shownFact } from '#engine/shown-facts.ts';
import type { JournalFact, AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { ORDER_NOT_FOUND } from '../protocol/errors.ts';
import { IntegerText, Nullable, ref, Time, bearer } from '../protocol/fields.ts';
import { formatTime } from '../protocol/formats.ts';
import { addRoute } from '../protocol/route.ts';

const SEQ_MAX = Number.MAX_SAFE_INTEGER;
const FACTS_MAX = 200;

const JournalQuery = Type.Object({
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: FACTS_MAX })),
  before: Type.Optional(IntegerText({ minimum: 1, maximum: SEQ_MAX })),
  event_id: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
  type: Type.Optional(
    Type.String({ maxLength: 64, description: 'The facts of this type alone, such as OrderPlaced.' }),
  ),
  order_id: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 128,
      description: 'The facts that name this order alone: ORDER_NOT_FOUND.',
    }),
  ),
});

const JournalFact = Type.Object({
  seq: Type.Integer({ minimum: 1 }),
  at: Time,
  event_id: Nullable(Type.String()),
  type: Type.String(),
  data: Type.String({ description: 'JSON text; a long one is told by its length.' }),
});

export const JournalPage = Type.Object(
  {
    facts: Type.Array(JournalFact),
    next_before: Nullable(
      Type.Integer({
        description:
          'Ask with it as `before` for what happened earlier. A page of chosen facts may be empty and not the last.',
      }),
    ),
  },
  { $id: 'JournalPage' },
);

export type JournalFactBody = Static<typeof JournalFact>;

const listFactsSchema = {
  operationId: 'listFacts',
  tags: ['Service'],
  summary: 'Read what happened last, the newest fact first',
  description:
    '*** stands in place of secrets: session keys, seeds of draws, passes, ids of holds. A whole sale is read with `holdfast journal`.',
  security: bearer,
  querystring: JournalQuery,
  response: { 200: ref(JournalPage) },
};

const FACTS_SHOWN = 50;

/** Longer data, such as a whole definition, is shown by its size alone. */
const DATA_LENGTH_MAX = 4_000;

export function journalRoutes(app: HttpApp, { newestFacts, events }: Pick<AdminPorts, 'newestFacts' | 'events'>): void {
  addRoute(app, 'GET /admin/journal', listFactsSchema, {
    answer: async ({ query }) => {
      const { limit = FACTS_SHOWN, before, event_id: eventId = null, type, order_id: orderId } = query;
      const ofOrder = orderId === undefined ? null : await eventOfOrder(events, orderId);
      if (orderId !== undefined && (ofOrder === null || (eventId !== null && eventId !== ofOrder))) {
        return ORDER_NOT_FOUND;
      }
      return newestFacts({
        limit: Number(limit),
        before: before === undefined ? null : Number(before),
        eventId: eventId ?? ofOrder,
        ...(type !== undefined && { type }),
        ...(orderId !== undefined && { orderId }),
      });
    },
    body: ({ facts, nextBefore }) => ({ facts: facts.map(toFactBody), next_before: nextBefore }),
  });
}

/** The event of an order; null where there is no such order. */
async function eventOfOrder(events: AdminPorts['events'], orderId: string): Promise<string | null> {
  const found = await readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, { type: 'FindOrder', orderId });
  return isRefusal(found) ? null : found.order.event.id;
}

function toFactBody(row: JournalFact): JournalFactBody {
  const { seq, at, eventId, type } = row;
  return { seq, at: formatTime(at), event_id: eventId === '' ? null : eventId, type, data: dataOf(row) };
}

function dataOf({ type, data }: { readonly type: string; readonly data: string }): string {
  const shown = shownFact(type, data);
  return shown.length > DATA_LENGTH_MAX ? `(${data.length.toLocaleString('en')} characters)` : shown;
}
