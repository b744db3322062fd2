/** Traces made by hand, without a journal. */
import type { Intent, Trace } from '#rehearsal/trace/trace.ts';
import { hallEvent } from '../fixtures/definitions.ts';

export function traceOf(intents: readonly Intent[]): Trace {
  return {
    eventId: 'evt_test',
    beganAt: 0,
    lengthMs: intents.at(-1)?.at ?? 0,
    definition: hallEvent(['aaaa']),
    people: Math.max(-1, ...intents.map(({ person }) => person)) + 1,
    intents,
    operations: [],
    takenBefore: { seats: [], places: {} },
    outcome: {
      ticketsSold: 0,
      seatsSold: [],
      ordersSold: 0,
      soldCents: 0,
      pricesCents: {},
      soldOutAt: null,
      soldBySecond: [],
    },
    leftOut: {},
  };
}
