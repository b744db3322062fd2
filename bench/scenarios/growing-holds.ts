import { growServices } from '../http/growing-services.ts';
import { makeFolder, startHoldfast } from '../http/server.ts';
import { fillHolds } from '../folders.ts';
import type { Scenario } from '../scenario.ts';

export const growingHolds: Scenario = {
  name: 'growing-holds',
  about: 'POST hold of a hot ticket type of which 1,000 to 1,000,000 holds are live',
  run: (settings) =>
    growServices(
      {
        of: 'live holds',
        sizes: settings.quick ? [1_000, 20_000] : [1_000, 30_000, 1_000_000],
        async start(holds) {
          const folder = makeFolder();
          await fillHolds(folder, holds);
          return startHoldfast([], folder);
        },
        traffic: () => ({ recipe: 'hot-hold' }),
        budget: { atLeast: 0.95 },
      },
      settings,
    ),
};
