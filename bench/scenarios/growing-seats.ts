import { growServices } from '../http/growing-services.ts';
import { startHoldfast } from '../http/server.ts';
import { hallEvent } from '../events.ts';
import type { Scenario } from '../scenario.ts';

export const growingSeats: Scenario = {
  name: 'growing-seats',
  about: 'POST hold of the best one to three seats, in halls of 600 to 100,000 seats',
  run: (settings) =>
    growServices(
      {
        of: 'seats',
        sizes: settings.quick ? [600, 60_000] : [600, 6_000, 60_000, 100_000],
        start: (seats) => startHoldfast([hallEvent(seats)]),
        // They hold two hundred seats between them, so that the smallest hall has room too.
        traffic: () => ({ recipe: 'best-seats', eventId: 'evt_hall', sessions: 100, partyMax: 3 }),
        budget: { atLeast: 0.8 },
      },
      settings,
    ),
};
