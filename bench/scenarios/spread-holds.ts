import { compareHolds } from '../http/comparison.ts';
import { spreadEvent } from '../events.ts';
import type { Scenario } from '../scenario.ts';

const EVENTS = 50;
const TYPES = 10;

export const spreadHolds: Scenario = {
  name: 'spread-holds',
  about: `POST hold spread over ${EVENTS} events with ${TYPES} ticket types each, against a plain route`,
  run(settings) {
    const events = Array.from({ length: EVENTS }, (_, n) => spreadEvent(n, TYPES));
    const traffic = { recipe: 'spread-hold', events: EVENTS, types: TYPES } as const;
    return compareHolds({ events, traffic, everyHoldStays: true }, settings);
  },
};
