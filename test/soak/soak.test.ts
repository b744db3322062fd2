/** A soak of a few seconds in the suite; `npm run soak -- --minutes 30` runs a long one. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deep } from '../depth.ts';
import { runSoak } from './run.ts';

it('A service under buyers and attackers answers no 5xx but 503, keeps every confirmed order, does not grow, and verifies', async () => {
  const outcome = await runSoak({
    seconds: deep(2),
    roundsMin: 6,
    buyers: 3,
    attackers: 2,
    liveEventsMax: 3,
    onProgress() {},
  });
  assert.deepEqual(outcome.wrong, []);
  assert.ok(outcome.holds > 0 && outcome.prunes > 0 && outcome.leaps > 0 && outcome.kills > 0, JSON.stringify(outcome));
});
