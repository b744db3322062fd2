import { compareHolds } from '../http/comparison.ts';
import { STADIUM_RUSH } from '../http/traffic.ts';
import { stadiumEvent } from '../events.ts';
import type { Scenario } from '../scenario.ts';

export const bestSeats: Scenario = {
  name: 'best-seats',
  about:
    'POST hold of the best one to six seats in a stadium of 60,000, more than half of it held, against a plain route',
  run(settings) {
    return compareHolds({ events: [stadiumEvent], traffic: STADIUM_RUSH, everyHoldStays: false }, settings);
  },
};
