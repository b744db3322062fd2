/** The refunds of an event, and everything that is due given back at once. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import type { QueryOf } from '#domain/event/query.ts';
import { REFUND_STATUSES } from '#domain/orders/open-refunds.ts';
import type { RefundPage } from '#domain/orders/refund-tries.ts';
import type { RefundSums } from '#domain/view.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { PageQuery } from '../buyers/events/schema.ts';
import type { AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { bearer, Cents, Count, Id, Nullable, OperatorHeaders, ref } from '../protocol/fields.ts';
import { toCursor } from '../protocol/request-parts.ts';
import { addRoute } from '../protocol/route.ts';
import { toRefundDetails } from './orders/body.ts';
import { refundDetails } from './orders/schema.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const Text = Type.String();
const Amount = Type.Object({
  amount: Cents,
  currency: Type.String({ maxLength: 3, description: 'ISO 4217.' }),
});
const sum = (description: string) =>
  Type.Array(Type.Object({ amount: Cents, currency: Text, count: Count }), { description });

const sums = {
  due: sum('What is due to buyers, by currency; `count` is of orders.'),
  to_ask: sum('What of it is not asked for yet.'),
  pending: sum('Refunds that are PENDING.'),
  succeeded: sum('Refunds that have SUCCEEDED.'),
  failed: sum('Refunds that have FAILED.'),
  needs_operator: sum('Refunds that are NEEDS_OPERATOR.'),
};

export const RefundTotals = Type.Object(sums, { $id: 'RefundTotals' });

export const RefundList = Type.Object(
  {
    ...sums,
    refunds: Type.Array(Type.Object({ order_id: Text, ...refundDetails }), {
      description: 'In the order in which their orders were placed.',
    }),
    next_cursor: Nullable(Text),
  },
  { $id: 'RefundList' },
);

const ExecuteDue = Type.Object({
  performance_id: Type.Optional(Nullable({ ...Id, description: 'Only of orders with a ticket on this date.' })),
  confirm: Type.Array(Amount, {
    maxItems: 100,
    description: 'What is asked for then, by currency: `to_ask`, or that of the date. Empty where it is nothing.',
  }),
});

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const LIST_LIMIT = 50;

const listRefundsSchema = {
  operationId: 'listRefunds',
  tags: ['Orders'],
  summary: 'List the refunds of an event, with what they come to and what is due',
  description: 'In the order in which their orders were placed; the sums are of the whole event, on every page.',
  security: bearer,
  params: Type.Object({ id: Text }),
  querystring: Type.Object({
    ...PageQuery.properties,
    status: Type.Optional(Type.String({ enum: [...REFUND_STATUSES] })),
  }),
  response: { 200: ref(RefundList) },
};

const executeDueRefundsSchema = {
  operationId: 'executeDueRefunds',
  tags: ['Orders'],
  summary: 'Have everything given back that is due to the buyers of an event, or of one date',
  description:
    'Answered at once; the refunds are asked for one after another, also after a restart, and the same request again asks for nothing twice. REFUND_SUM_CHANGED where `confirm` is not what is to be asked for: look at it, and confirm `detail.due`.',
  security: bearer,
  params: Type.Object({ id: Text }),
  headers: OperatorHeaders,
  body: ExecuteDue,
  response: { 202: ref(RefundTotals) },
};

export function refundRoutes(app: HttpApp, { events }: Pick<AdminPorts, 'events'>): void {
  addRoute(app, 'GET /admin/events/:id/refunds', listRefundsSchema, {
    answer: ({ params: { id }, query: { status, limit } }, { after }) =>
      listAll(events, id, {
        type: 'ListRefunds',
        status: (status as (typeof REFUND_STATUSES)[number] | undefined) ?? null,
        after,
        limit: Number(limit ?? LIST_LIMIT),
      }),
    body: (page) => ({
      ...toTotalsBody(page.sums),
      refunds: page.refunds.map(({ orderId, ...refund }) => ({
        order_id: orderId,
        ...toRefundDetails(refund, refund),
      })),
      next_cursor: toCursor(page.nextAfter),
    }),
  });

  addRoute(app, 'POST /admin/events/:id/refunds', executeDueRefundsSchema, {
    command: 'ExecuteDueRefunds',
    isRepeatable: true,
    answer: ({ params: { id }, body }, { execute, idempotency, by }) => {
      const confirm = body.confirm.map(({ amount: amountCents, currency }) => ({ amountCents, currency }));
      const performanceId = body.performance_id ?? null;
      const command = { type: 'ExecuteDueRefunds', performanceId, confirm, idempotency, ...by } as const;
      return execute(events.byEventId(id), EVENT_NOT_FOUND, command);
    },
    status: 202,
    body: ({ sums: now }) => toTotalsBody(now),
  });
}

/** A whole page: one read covers only some orders, and the process does other work between two reads. */
async function listAll(
  events: AdminPorts['events'],
  eventId: string,
  query: QueryOf<'ListRefunds'>,
): Promise<RefundPage | Refusal> {
  const refunds: RefundPage['refunds'][number][] = [];
  for (let { after } = query; ;) {
    const asked = { ...query, after, limit: query.limit - refunds.length };
    const page: RefundPage | Refusal = await readAt(events.byEventId(eventId), EVENT_NOT_FOUND, asked);
    if (isRefusal(page)) return page;
    refunds.push(...page.refunds);
    if (page.nextAfter === null || refunds.length === query.limit) return { ...page, refunds };
    after = page.nextAfter;
    await nextRound();
  }
}

// ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function toTotalsBody(all: RefundSums): Static<typeof RefundTotals> {
  const of = (kind: keyof RefundSums) =>
    all[kind].map(({ amountCents: amount, currency, count }) => ({ amount, currency, count }));
  return {
    due: of('DUE'),
    to_ask: of('TO_ASK'),
    pending: of('PENDING'),
    succeeded: of('SUCCEEDED'),
    failed: of('FAILED'),
    needs_operator: of('NEEDS_OPERATOR'),
  };
}
