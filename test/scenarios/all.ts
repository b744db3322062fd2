/** Every scenario, by topic. */
import { describe, it } from 'node:test';
import { availabilities } from './availability.ts';
import { checkouts } from './checkout.ts';
import { counters } from './counter.ts';
import { erasures } from './erasure.ts';
import { holds } from './holds.ts';
import { limits } from './limits.ts';
import { payments } from './payments.ts';
import { seatings } from './seats.ts';
import { waitingRooms } from './waiting-room.ts';
import { run, type Driver, type Scenario } from './scenario.ts';

const topics: Readonly<Record<string, readonly Scenario[]>> = {
  Holds: holds,
  Limits: limits,
  Availability: availabilities,
  Checkout: checkouts,
  'The counter': counters,
  Payments: payments,
  Erasure: erasures,
  Seats: seatings,
  'The waiting room': waitingRooms,
};

/** Registers a test for each scenario. */
export function testScenarios(driver: Driver): void {
  for (const [topic, scenarios] of Object.entries(topics)) {
    describe(topic, () => {
      for (const each of scenarios) it(each.title, () => run(each, driver));
    });
  }
}
