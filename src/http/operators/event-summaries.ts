/**
 * The figures of many events at once, without keeping them in memory by reading them.
 *
 * Owns the figures that were read last of each event.
 *
 * 1. An event that is not in memory is shown with its last figures and marked as evicted; reading does not count as use.
 * 2. An event without figures is activated once, a few in each call, so that a list of thousands does not activate them together.
 * 3. The number of remembered events is limited (I10); those not shown for longest are forgotten.
 */
import { LRUCache } from 'lru-cache';
import type { OperatorEventView } from '#domain/figures.ts';
import type { EventsPort } from './ports.ts';
import { formatMoment } from './formats.ts';
import { toEventMoneyBody, toMoneySumsBody } from './money-bodies.ts';
import { toWaitingRoomBody } from './queue-bodies.ts';
import type { OverviewEventBody } from './schemas/console.ts';
import type { EventMoneyBody } from './schemas/money.ts';
import { readUnlessBroken } from '#actors/event-port.ts';

const REMEMBERED_MAX = 2_000;
const ACTIVATED_A_CALL_MAX = 10;

interface EventFiguresPorts {
  readonly events: Pick<EventsPort, 'byEventId' | 'readActive'>;
}

export interface EventFigures {
  /** The figures of these events, in their order, without events that are broken or have to wait for the next call (2). */
  of(eventIds: readonly string[]): Promise<OverviewEventBody[]>;
  /** The money of the same events. */
  moneyOf(eventIds: readonly string[]): Promise<EventMoneyBody[]>;
}

export function createEventFigures({ events }: EventFiguresPorts): EventFigures {
  const remembered = new LRUCache<string, Figures>({ max: REMEMBERED_MAX });

  const read = async (eventIds: readonly string[]): Promise<readonly Figures[]> => {
    // Events in memory are read before others are activated: an activation may evict one of them.
    const now = new Map((await events.readActive(eventIds)).map((view) => [view.definition.id, figuresOf(view)]));
    const unseen = eventIds.filter((eventId) => !now.has(eventId) && !remembered.has(eventId));
    for (const eventId of unseen.slice(0, ACTIVATED_A_CALL_MAX)) {
      const view = await readUnlessBroken(events, eventId, { type: 'ReadOperatorEvent' });
      if (view !== null) now.set(eventId, figuresOf(view));
    }
    for (const [eventId, figures] of now) remembered.set(eventId, figures);
    return eventIds.flatMap((eventId) => {
      const figures = now.get(eventId) ?? remembered.get(eventId);
      if (figures === undefined) return [];
      const evicted = !now.has(eventId);
      return [{ event: { ...figures.event, evicted }, money: { ...figures.money, evicted } }];
    });
  };

  return {
    of: async (eventIds) => (await read(eventIds)).map(({ event }) => event),
    moneyOf: async (eventIds) => (await read(eventIds)).map(({ money }) => money),
  };
}

interface Figures {
  readonly event: OverviewEventBody;
  readonly money: EventMoneyBody;
}

function figuresOf(view: OperatorEventView): Figures {
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
    money: money.totals.map(toMoneySumsBody),
  };
}
