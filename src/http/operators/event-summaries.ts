/**
 * The figures of many events at once, without keeping them in memory by reading them.
 *
 * Owns the figures that were read last of each event.
 *
 * 1. An event that is not in memory is shown with its last figures and marked as evicted; reading does not count as
 *    use.
 * 2. An event without figures is activated once, a few in each call, so that a list of thousands does not activate them
 *    together.
 * 3. The number of remembered events is limited (I10); those not shown for longest are forgotten.
 */
import { LRUCache } from 'lru-cache';
import { type Static, Type } from 'typebox';
import { readUnlessBroken } from '#actors/event-port.ts';
import type { OperatorEventView } from '#domain/event/operator-view.ts';
import type { EventsPort } from '../ports.ts';
import { Count, Nullable, ref, Time } from '../protocol/fields.ts';
import { formatMoment } from '../protocol/formats.ts';
import { toWaitingRoomBody, WaitingRoom } from './events.ts';
import { SteeringFields, toSteeringBody } from './steering.ts';
import { type EventMoneyBody, MoneySums, toEventMoneyBody, toMoneySumsBody } from './money.ts';

const Text = Type.String();

const OverviewDate = Type.Object({
  id: Text,
  name: Text,
  starts_at: Nullable(Time),
  status: Type.String({ description: 'As buyers see it; DRAFT is hidden from them.' }),
  capacity: Count,
  available: Count,
  held: Count,
  sold: Count,
  blocked: Count,
});

export const OverviewEvent = Type.Object({
  id: Text,
  slug: Text,
  name: Text,
  status: Type.String({ enum: ['PUBLISHED', 'DRAFT'] }),
  currency: Text,
  timezone: Text,
  numbered: Type.Boolean({ description: 'Whether any locality has numbered seats.' }),
  evicted: Type.Boolean({ description: 'Not in memory: its figures are those last seen.' }),
  performances: Type.Array(OverviewDate),
  waiting_room: Nullable(WaitingRoom),
  steering: ref(SteeringFields),
  money: Type.Array(ref(MoneySums), {
    description: 'Since the first order, by currency; the hours are at /admin/money.',
  }),
  refunds_needing_operator: { ...Count, description: 'Refunds that are NEEDS_OPERATOR.' },
});

type OverviewEventBody = Static<typeof OverviewEvent>;
const REMEMBERED_MAX = 2_000;
const ACTIVATED_A_CALL_MAX = 10;

interface OverviewTotalsPorts {
  readonly events: Pick<EventsPort, 'byEventId' | 'readActive'>;
}

interface OverviewTotals {
  /**
   * The figures of these events, in their order, without events that are broken or have to wait for the next call (rule
   * 2).
   */
  of(eventIds: readonly string[]): Promise<OverviewEventBody[]>;
  /** The money of the same events. */
  moneyOf(eventIds: readonly string[]): Promise<EventMoneyBody[]>;
}

export function createEventSummaries({ events }: OverviewTotalsPorts): OverviewTotals {
  const remembered = new LRUCache<string, EventBodies>({ max: REMEMBERED_MAX });

  const read = async (eventIds: readonly string[]): Promise<readonly EventBodies[]> => {
    // Events in memory are read before others are activated: an activation may evict one of them.
    const now = new Map((await events.readActive(eventIds)).map((view) => [view.definition.id, summaryOf(view)]));
    const unseen = eventIds.filter((eventId) => !now.has(eventId) && !remembered.has(eventId));
    for (const eventId of unseen.slice(0, ACTIVATED_A_CALL_MAX)) {
      const view = await readUnlessBroken(events, eventId, { type: 'ReadOperatorEvent' });
      if (view !== null) now.set(eventId, summaryOf(view));
    }
    for (const [eventId, summary] of now) remembered.set(eventId, summary);
    return eventIds.flatMap((eventId) => {
      const summary = now.get(eventId) ?? remembered.get(eventId);
      if (summary === undefined) return [];
      const evicted = !now.has(eventId);
      return [{ event: { ...summary.event, evicted }, money: { ...summary.money, evicted } }];
    });
  };

  return {
    of: async (eventIds) => (await read(eventIds)).map(({ event }) => event),
    moneyOf: async (eventIds) => (await read(eventIds)).map(({ money }) => money),
  };
}

interface EventBodies {
  readonly event: OverviewEventBody;
  readonly money: EventMoneyBody;
}

function summaryOf(view: OperatorEventView): EventBodies {
  return { event: toOverviewEventBody(view), money: toEventMoneyBody(view.definition, view.money) };
}

function toOverviewEventBody(view: OperatorEventView): OverviewEventBody {
  const { definition, performances, waitingRoom, money } = view;
  const stock = new Map(performances.map((each) => [each.id, each]));
  return {
    id: definition.id,
    slug: definition.slug,
    name: definition.name,
    status: definition.status,
    currency: definition.currency,
    timezone: definition.timezone,
    numbered: definition.localities.some(({ seating }) => seating === 'NUMBERED'),
    evicted: false,
    performances: definition.performances.map((performance) => {
      const { status, capacity, available, held, sold, blocked } = stock.get(performance.id)!;
      return {
        id: performance.id,
        name: performance.name,
        starts_at: formatMoment(performance.startsAt),
        status,
        capacity,
        available,
        held,
        sold,
        blocked,
      };
    }),
    waiting_room: waitingRoom === null ? null : toWaitingRoomBody(waitingRoom),
    steering: toSteeringBody(view.steering),
    money: money.totals.map(toMoneySumsBody),
    refunds_needing_operator: view.refundsNeedingOperator,
  };
}
