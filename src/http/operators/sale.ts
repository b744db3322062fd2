/** The sale of an event by minute, for operators: tickets, money and the waiting room, and when it may be sold out. */
import { type Static, Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import type { OperatorEventView } from '#domain/event/operator-view.ts';
import type { SaleSums } from '#domain/event/sale-by-minute.ts';
import { sumOf } from '#domain/money.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { SaleAsRead } from '#engine/sales-by-minute.ts';
import type { AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND, type HttpRefusal, invalid, isRefused } from '../protocol/errors.ts';
import { bearer, Cents, Count, IntegerText, Nullable, ref, Time } from '../protocol/fields.ts';
import { formatMoment, formatTime } from '../protocol/formats.ts';
import { addRoute } from '../protocol/route.ts';
import { problemAt } from '../protocol/validation.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const sums = {
  tickets: { ...Count, description: 'Tickets issued.' },
  returned: { ...Count, description: 'Tickets that were given back or cancelled.' },
  orders: { ...Count, description: 'Orders that got tickets.' },
  joined: { ...Count, description: 'People who joined the line.' },
  admitted: { ...Count, description: 'People in line who were admitted.' },
  money: Type.Array(
    Type.Object({
      currency: Type.String(),
      paid_amount: { ...Cents, description: 'All money that came, also what is due back.' },
      refunded_amount: { ...Cents, description: 'What was given back.' },
    }),
    { description: 'By currency, where any moved.' },
  ),
};

export const SaleByMinute = Type.Object(
  {
    event_id: Type.String(),
    now: Time,
    opens_at: Nullable({ ...Time, description: 'When the sale opens, or did; null before it is published.' }),
    from: { ...Time, description: 'The beginning of the first step.' },
    to: Time,
    step_minutes: Type.Integer({ minimum: 1 }),
    points: Type.Array(
      Type.Object({
        at: { ...Time, description: 'When the step began.' },
        ...sums,
        waiting: { ...Count, description: 'People in line at its end.' },
      }),
      {
        description:
          'Every step of the range up to now, the oldest first; none where it is over before the sale opened.',
      },
    ),
    totals: Type.Object(sums, { description: 'Of everything since the first fact, whatever the range.' }),
    forecast: Type.Object({
      unsold: { ...Count, description: 'Tickets free or held, of the dates on sale.' },
      pace_tickets: Type.Integer({ description: 'Tickets issued less those returned, in the minutes of the pace.' }),
      pace_minutes: { ...Count, description: 'The last minutes that are over, ten at most, since the sale opened.' },
      sold_out_at: Nullable({
        ...Time,
        description: 'At this pace; null where nothing is sold or left, or over a year away.',
      }),
    }),
    whole: Type.Boolean({ description: 'Whether the journal was read up to now; if not, ask again.' }),
    through_seq: { ...Count, description: 'The last fact of the event that was read.' },
    partial: Type.Boolean({
      description: 'A file of the archive cannot be read: archived facts are missing, those of its other files too.',
    }),
    minutes_since: Nullable({ ...Time, description: 'Before this, single minutes are summed up in their hours.' }),
  },
  { $id: 'SaleByMinute' },
);

export type SaleByMinuteBody = Static<typeof SaleByMinute>;

const MOMENT_LENGTH_MAX = 64;

/** The two ends of a range; their examples form one range. */
export const RangeBegin = Type.String({ ...Time, maxLength: MOMENT_LENGTH_MAX });
export const RangeEnd = Type.String({ ...RangeBegin, examples: ['2027-05-08T23:00:00.000Z'] });

const MINUTE_MS = 60_000;
const STEP_MINUTES_MAX = 1_440;

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const getSaleByMinuteSchema = {
  operationId: 'getSaleByMinute',
  tags: ['Events'],
  summary: 'Read tickets, money and the line of an event by minute since its sale opened, from the journal',
  description:
    'Read from the facts, archived ones too, outside of the event’s turns: the first reading of a long sale takes several requests, each later one reads what is new. A step with which the range would have over 1,500 points is made longer.',
  security: bearer,
  params: Type.Object({ id: Type.String() }),
  querystring: Type.Object({
    from: Type.Optional({ ...RangeBegin, description: 'By default when the sale opened.' }),
    to: Type.Optional({ ...RangeEnd, description: 'By default now.' }),
    step: Type.Optional({
      ...IntegerText({ minimum: 1, maximum: STEP_MINUTES_MAX }),
      description: 'Minutes of a point; by default as short as 240 points allow.',
    }),
  }),
  response: { 200: ref(SaleByMinute) },
};

export function saleRoutes(
  app: HttpApp,
  { events, clock, saleByMinute }: Pick<AdminPorts, 'events' | 'clock' | 'saleByMinute'>,
): void {
  addRoute(app, 'GET /admin/events/:id/sale', getSaleByMinuteSchema, {
    answer: async ({ params: { id }, query }) => {
      const range = readRange(query);
      if (isRefused(range)) return range;
      const event = await readAt(events.byEventId(id), EVENT_NOT_FOUND, { type: 'ReadOperatorEvent' });
      if (isRefusal(event)) return event;
      const stepMs = query.step === undefined ? null : Number(query.step) * MINUTE_MS;
      return { event, reading: await saleByMinute({ eventId: id, ...range, stepMs }) };
    },
    body: ({ event, reading }) => toSaleBody(event, reading, clock.now()),
  });
}

interface Range {
  readonly from: number | null;
  readonly to: number | null;
}

/** The moments of a range in milliseconds, null where they are not given. VALIDATION_ERROR. */
export function readRange(query: { readonly from?: string; readonly to?: string }): Range | HttpRefusal {
  const range = { from: momentOf(query.from), to: momentOf(query.to) };
  for (const [name, moment] of Object.entries(range)) {
    if (Number.isNaN(moment)) return invalid([problemAt(name, 'must be a moment since 1970')]);
  }
  if (range.from === null || range.to === null || range.from < range.to) return range;
  return invalid([problemAt('to', 'must be later than from')]);
}

/** The moment in milliseconds; NaN where the text is not a moment, null without a text. */
function momentOf(text: string | undefined): number | null {
  const moment = text === undefined ? null : Date.parse(text);
  return moment === null || moment >= 0 ? moment : Number.NaN;
}

// ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function toSaleBody({ definition, performances }: OperatorEventView, sale: SaleAsRead, now: number): SaleByMinuteBody {
  const onSale = performances.filter(({ status }) => status === 'ON_SALE');
  const unsold = sumOf(onSale, ({ available, held }) => available + held);
  const { tickets, minutes } = sale.pace;
  const leftMs = unsold === 0 || tickets <= 0 ? null : (unsold / tickets) * minutes * MINUTE_MS;
  return {
    event_id: definition.id,
    now: formatTime(now),
    opens_at: formatMoment(sale.opensAt),
    from: formatTime(sale.from),
    to: formatTime(sale.to),
    step_minutes: sale.stepMs / MINUTE_MS,
    points: sale.points.map(({ at, waiting, ...point }) => ({ at: formatTime(at), ...toSumsBody(point), waiting })),
    totals: toSumsBody(sale.totals),
    forecast: {
      unsold,
      pace_tickets: tickets,
      pace_minutes: minutes,
      sold_out_at: formatMoment(leftMs === null || leftMs > FORECAST_MS_MAX ? null : now + leftMs),
    },
    whole: sale.isWhole,
    through_seq: sale.throughSeq,
    partial: sale.isPartial,
    minutes_since: formatMoment(sale.minutesSince),
  };
}

/** A pace of ten minutes says nothing about years. */
const FORECAST_MS_MAX = 365 * 24 * 60 * MINUTE_MS;

function toSumsBody({ tickets, returned, orders, joined, admitted, money }: SaleSums): SaleByMinuteBody['totals'] {
  return {
    tickets,
    returned,
    orders,
    joined,
    admitted,
    money: money.map(({ currency, paidCents, refundedCents }) => ({
      currency,
      paid_amount: paidCents,
      refunded_amount: refundedCents,
    })),
  };
}
