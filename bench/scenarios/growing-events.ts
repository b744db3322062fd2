import { growServices } from '../http/growing-services.ts';
import { makeFolder, startHoldfast } from '../http/server.ts';
import { spreadEvent } from '../events.ts';
import { fillEvents } from '../folders.ts';
import type { Scenario } from '../scenario.ts';

/** Of those on sale. */
const BUSY_MAX = 50;

export const growingEvents: Scenario = {
  name: 'growing-events',
  about: `POST hold of ${BUSY_MAX} busy events in turn, while 1 to 10,000 events are on sale`,
  run: (settings) =>
    growServices(
      {
        of: 'events on sale',
        sizes: settings.quick ? [1, 500] : [1, 100, 10_000],
        async start(events) {
          const folder = makeFolder();
          await fillEvents(
            folder,
            Array.from({ length: events }, (_, n) => spreadEvent(n, 1)),
          );
          return startHoldfast([], folder);
        },
        traffic: (events) => ({ recipe: 'spread-hold', events: Math.min(events, BUSY_MAX), types: 1 }),
        budget: { atLeast: 0.95 },
      },
      settings,
    ),
};
