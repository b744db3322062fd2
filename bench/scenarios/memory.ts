/** What things take in memory while they are kept: live holds, finished orders, seats. */
import { hallEvent, hotEvent } from '../events.ts';
import { definitionOf } from '../../test/fixtures/events.ts';
import { buyTwo, openDomain, placeHold } from '../in-process.ts';
import { dataBytes } from '#rehearsal/server/memory.ts';
import type { Scenario } from '../scenario.ts';

const SEATS = 60_000;

export const memory: Scenario = {
  name: 'memory',
  about: 'bytes of a live hold, of a finished order, and of a seat on one more date',
  async run({ quick }) {
    const holds = quick ? 50_000 : 500_000;
    const orders = quick ? 10_000 : 100_000;
    return {
      figures: [
        {
          name: `a live hold, of ${holds.toLocaleString('en-GB')}`,
          value: bytesOfHold(holds),
          unit: 'B',
          budget: { atMost: 700 },
        },
        {
          name: `a finished order of two tickets with its hold, of ${orders.toLocaleString('en-GB')}`,
          value: bytesOfOrder(orders),
          unit: 'B',
          budget: { atMost: 1024 },
        },
        { name: 'a seat on a date, of 60,000', value: bytesOfSeat(), unit: 'B', budget: { atMost: 16 } },
      ],
    };
  },
};

function bytesOfHold(holds: number): number {
  const fixture = openDomain(definitionOf(hotEvent));
  for (let n = 0; n < 1_000; n += 1) fixture.do(placeHold(n, 'single', 1));
  const before = dataBytes();
  for (let n = 1_000; n < 1_000 + holds; n += 1) fixture.do(placeHold(n, 'single', 1));
  const used = dataBytes() - before;
  if (fixture.state.holds.activeBySession.size !== holds + 1_000) throw new Error('every hold must be live');
  return used / holds;
}

/** Orders that were held, checked out under an idempotency key, and paid, each by a buyer of its own. */
function bytesOfOrder(orders: number): number {
  const fixture = openDomain(definitionOf(hotEvent));
  for (let n = 0; n < 1_000; n += 1) buyTwo(fixture, n);
  const before = dataBytes();
  for (let n = 1_000; n < 1_000 + orders; n += 1) buyTwo(fixture, n);
  const used = dataBytes() - before;
  if (fixture.state.orders.inOrder.settledCount !== orders + 1_000) throw new Error('every order must be finished');
  return used / orders;
}

/** What nine more dates cost, a seat each: the seating plan itself is shared by all dates. */
function bytesOfSeat(): number {
  return (bytesOfHall(10) - bytesOfHall(1)) / (9 * SEATS);
}

function bytesOfHall(dates: number): number {
  const { performances, ...event } = hallEvent(SEATS);
  const night = (performances as readonly object[])[0];
  const nights = Array.from({ length: dates }, (_, i) => ({ ...night, id: `d${i}`, name: `Date ${i}` }));
  const definition = definitionOf({ ...event, performances: nights });
  const before = dataBytes();
  const fixture = openDomain(definition);
  const used = dataBytes() - before;
  if (fixture.state.performances.size !== dates) throw new Error('every date must be there');
  return used;
}
