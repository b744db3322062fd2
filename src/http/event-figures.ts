/**
 * The figures of events for who looks at many at once, without keeping events awake by looking.
 *
 * Owns what was last seen of each event. Called by `routes/console.ts`. Only who is awake is read anew.
 *
 *  1. An event that sleeps is shown as it was last seen, and said to be asleep; to look does not count as asking it.
 *  2. One that was never seen is woken once, a few in one look, so that a list of thousands is no stampede.
 *  3. What is remembered is bounded (I10); the ones not shown for longest are forgotten.
 */
import { LRUCache } from 'lru-cache';
import type { OperatorEventView } from '#domain/figures.ts';
import type { DirectoryPort, GaugesPort } from './ports.ts';
import { formatMoment } from './formats.ts';
import { toWaitingRoomBody } from './queue-bodies.ts';
import type { OverviewEventBody } from './schemas/console.ts';
import { readUnlessBroken, readUnlessBusy } from '#actors/event-port.ts';

const REMEMBERED_MAX = 2_000;
const WOKEN_IN_ONE_LOOK_MAX = 10;

interface EventFiguresPorts {
  readonly directory: Pick<DirectoryPort, 'byEventId'>;
  readonly gauges: Pick<GaugesPort, 'awake'>;
}

export interface EventFigures {
  /** The figures of these events, in their order; events that were never seen and have to wait for the next look, and broken ones, are left out. */
  of(eventIds: readonly string[]): Promise<OverviewEventBody[]>;
}

export function createEventFigures({ directory, gauges }: EventFiguresPorts): EventFigures {
  const remembered = new LRUCache<string, OverviewEventBody>({ max: REMEMBERED_MAX });
  return {
    async of(eventIds) {
      // Whoever is awake is read before anybody is woken: to wake one may put another to sleep.
      const now = new Map<string, OverviewEventBody>();
      const wanted = new Set(eventIds);
      for (const event of gauges.awake()) {
        if (!wanted.has(event.eventId)) continue;
        const view = await readUnlessBusy(event.read({ type: 'ReadOperatorEvent' }));
        if (view !== null) now.set(event.eventId, toOverviewEventBody(view));
      }
      const unseen = eventIds.filter((eventId) => !now.has(eventId) && !remembered.has(eventId));
      for (const eventId of unseen.slice(0, WOKEN_IN_ONE_LOOK_MAX)) {
        const view = await readUnlessBroken(directory, eventId, { type: 'ReadOperatorEvent' });
        if (view !== null) now.set(eventId, toOverviewEventBody(view));
      }
      for (const figures of now.values()) remembered.set(figures.id, figures);
      return eventIds.flatMap((eventId) => {
        const figures = now.get(eventId) ?? remembered.get(eventId);
        return figures === undefined ? [] : [now.has(eventId) ? figures : { ...figures, asleep: true }];
      });
    },
  };
}

function toOverviewEventBody({ definition, performances, waitingRoom }: OperatorEventView): OverviewEventBody {
  const stock = new Map(performances.map((each) => [each.id, each]));
  return {
    id: definition.id,
    slug: definition.slug,
    name: definition.name,
    status: definition.status,
    currency: definition.currency,
    timezone: definition.timezone,
    numbered: definition.localities.some(({ seating }) => seating === 'NUMBERED'),
    asleep: false,
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
  };
}
