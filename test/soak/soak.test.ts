/** A few seconds of the soak with every suite; `npm run soak -- --minutes 30` is the whole of it. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { deep } from '../depth.ts';
import { runSoak } from './run.ts';

it('A service among buyers and attackers answers no 5xx but 503, keeps its books and its memory, and verifies', async () => {
  const outcome = await runSoak({
    seconds: deep(3),
    roundsMin: 6,
    buyers: 6,
    attackers: 4,
    liveEventsMax: 3,
    onProgress() {},
  });
  assert.deepEqual(outcome.wrong, []);
  assert.ok(outcome.holds > 0 && outcome.prunes > 0 && outcome.leaps > 0 && outcome.kills > 0, JSON.stringify(outcome));
});
