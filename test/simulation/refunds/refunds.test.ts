/** The part of the simulation of refunds that runs in the suite; `npm run simulate -- --refunds` runs more seeds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deep } from '../../depth.ts';
import { playSeeds } from '../seeds.ts';
import { commandOf } from '../shrink.ts';
import { simulateRefunds } from './run.ts';

const SEEDS = deep(30);
const SCENARIO = { stepsMax: 60, buyersMax: 8, without: new Set<string>() };

/** The cases that a run must reach. */
const MUST_BE_SEEN = [
  'RecordRefund', 'ExecuteRefund', 'ExecuteDueRefunds', 'ResolveRefund', 'CancelOrder', 'CancelPerformance',
  'given back by hand', 'late money', 'answer lost', 'report lost', 'asked again under the same key',
  'provider: PENDING', 'provider: FAILED', 'provider: REFUSED', 'provider: BROKEN', 'provider: later FAILED',
  'resolved without a reference',
  'refund SUCCEEDED', 'refund FAILED', 'crash', 'full disk', 'snapshot', 'replay', 'orders compared',
]; // prettier-ignore

describe('Refunds', () => {
  it(`give back what is due once, as their provider's own list says, for ${SEEDS} seeds`, async () => {
    await playSeeds(
      SEEDS,
      MUST_BE_SEEN,
      (seed) => simulateRefunds({ ...SCENARIO, seed }),
      (seed) => `${commandOf({ ...SCENARIO, seed })} --refunds`,
    );
  });

  it('are the same every time for the same seed', async () => {
    const [first, second] = [
      await simulateRefunds({ ...SCENARIO, seed: 5 }),
      await simulateRefunds({ ...SCENARIO, seed: 5 }),
    ];
    assert.deepEqual(first, second);
  });
});
