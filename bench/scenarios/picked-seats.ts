import { compareHolds } from '../http/comparison.ts';
import { stadiumEvent } from '../events.ts';
import type { Scenario } from '../scenario.ts';

export const pickedSeats: Scenario = {
  name: 'picked-seats',
  about: 'POST hold of two picked seats all over a stadium of 60,000, against a plain route',
  run(settings) {
    return compareHolds(
      { events: [stadiumEvent], traffic: { recipe: 'picked-seats' }, everyHoldStays: false },
      settings,
    );
  },
};
