/**
 * The money of events, for operators: what came in and what was given back, by event and by hour.
 *
 * The figures are kept by the events themselves as facts come; nothing is summed up here, and no journal is read.
 */
import { type Static, Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import type { MoneyView } from '#domain/orders/money-by-hour.ts';
import { isRefusal } from '#domain/refusal.ts';
import { PageQuery } from '../buyers/events/schema.ts';
import type { AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { Cents, Count, Nullable, ref, Time, bearer } from '../protocol/fields.ts';
import { formatTime } from '../protocol/formats.ts';
import { toCursor } from '../protocol/request-parts.ts';
import { addRoute } from '../protocol/route.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const Text = Type.String();

const sums = {
  currency: Text,
  paid_amount: { ...Cents, description: 'All money that came, also what is due back, in the minor unit.' },
  cash_amount: { ...Cents, description: 'What of it was paid in cash at counters.' },
  payments: Count,
  refunded_amount: {
    ...Cents,
    description: 'What was given back; one that failed afterwards is taken off in its hour.',
  },
  refunds: Count,
};

const totals = {
  ...sums,
  fees_amount: { ...Cents, description: 'Fees of amendments, of orders that keep them.' },
  refunds_pending_amount: { ...Cents, description: 'What is being given back: refunds PENDING or NEEDS_OPERATOR.' },
};

export const MoneySums = Type.Object(totals, { $id: 'MoneySums' });

export const EventMoney = Type.Object(
  {
    event_id: Text,
    name: Text,
    evicted: Type.Boolean({ description: 'Not in memory: its figures are those last seen.' }),
    totals: Type.Array(ref(MoneySums), { description: 'Since the first order, by currency.' }),
    hours: Type.Array(Type.Object({ at: { ...Time, description: 'When the hour began.' }, ...sums }), {
      description: 'Hours in which money moved, the newest first.',
    }),
  },
  { $id: 'EventMoney' },
);

export const MoneyList = Type.Object(
  {
    now: Time,
    events: Type.Array(ref(EventMoney)),
    next_cursor: Nullable(Text),
  },
  { $id: 'MoneyList' },
);

type MoneySumsBody = Static<typeof MoneySums>;
export type EventMoneyBody = Static<typeof EventMoney>;

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const LIST_LIMIT = 50;

const listMoneySchema = {
  operationId: 'listMoney',
  tags: ['Orders'],
  summary: 'Read what came in and what was given back, by event, and by hour over the last day',
  description:
    'Amounts are of the moment at which the money was recorded. Of an event that is not in memory they are as last seen; events that were never read since the start come a few with each request.',
  security: bearer,
  querystring: PageQuery,
  response: { 200: ref(MoneyList) },
};

const getMoneySchema = {
  operationId: 'getMoney',
  tags: ['Orders'],
  summary: 'Read what came in and what was given back for one event, by hour',
  description: 'At most the 2,000 newest hours in which money moved; the totals have everything.',
  security: bearer,
  params: Type.Object({ id: Type.String() }),
  response: { 200: ref(EventMoney) },
};

export function moneyRoutes(
  app: HttpApp,
  { events, clock }: Pick<AdminPorts, 'events' | 'clock'>,
  summaries: { moneyOf(eventIds: readonly string[]): Promise<EventMoneyBody[]> },
): void {
  addRoute(app, 'GET /admin/money', listMoneySchema, {
    answer: ({ query }, { after }) => events.listAll({ limit: Number(query.limit ?? LIST_LIMIT), after }),
    body: async ({ eventIds, nextAfter }) => {
      const money = await summaries.moneyOf(eventIds);
      return { now: formatTime(clock.now()), events: money, next_cursor: toCursor(nextAfter) };
    },
  });

  addRoute(app, 'GET /admin/events/:id/money', getMoneySchema, {
    answer: async ({ params: { id } }) => {
      const money = await readAt(events.byEventId(id), EVENT_NOT_FOUND, { type: 'ReadMoney' });
      return isRefusal(money) ? money : { id, ...money };
    },
    body: (money) => toEventMoneyBody(money, money),
  });
}

// ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export function toMoneySumsBody(totals: MoneyView['totals'][number]): MoneySumsBody {
  return { ...toSumsBody(totals), fees_amount: totals.feesCents, refunds_pending_amount: totals.pendingCents };
}

function toSumsBody({ currency, ...sums }: MoneyView['hours'][number] | MoneyView['totals'][number]) {
  const { paidCents, cashCents, payments, refundedCents, refunds } = sums;
  return {
    currency,
    paid_amount: paidCents,
    cash_amount: cashCents,
    payments,
    refunded_amount: refundedCents,
    refunds,
  };
}

export function toEventMoneyBody(
  { id, name }: { readonly id: string; readonly name: string },
  { totals, hours }: MoneyView,
): EventMoneyBody {
  return {
    event_id: id,
    name,
    evicted: false,
    totals: totals.map(toMoneySumsBody),
    hours: hours.map((hour) => ({ at: formatTime(hour.at), ...toSumsBody(hour) })),
  };
}
