/** The part of the simulation of refunds that runs in the suite; `npm run simulate -- --refunds` runs more seeds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deep } from '../../depth.ts';
import { commandOf } from '../shrink.ts';
import { simulateRefunds } from './run.ts';

const SEEDS = deep(30);
const SCENARIO = { stepsMax: 60, buyersMax: 8, without: new Set<string>() };

/** A simulation proves nothing about a case that it never reaches. */
const MUST_BE_SEEN = [
  'RecordRefund', 'ExecuteRefund', 'ExecuteDueRefunds', 'ResolveRefund', 'CancelOrder', 'CancelPerformance',
  'given back by hand', 'late money', 'answer lost', 'report lost', 'asked again under the same key',
  'provider: PENDING', 'provider: FAILED', 'provider: REFUSED', 'provider: BROKEN', 'provider: later FAILED',
  'refund SUCCEEDED', 'refund FAILED', 'crash', 'full disk', 'snapshot', 'replay', 'orders compared',
]; // prettier-ignore

describe('Refunds', () => {
  it(`give back what is due once, as their provider's own list says, for ${SEEDS} seeds`, async () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const outcome = await simulateRefunds({ ...SCENARIO, seed });
      const repeat = `${commandOf({ ...SCENARIO, seed })} --refunds`;
      if (outcome.failure !== null) assert.fail(`${outcome.failure.stack}\nrepeat it: ${repeat}`);
      for (const [what, count] of outcome.seen) seen.set(what, (seen.get(what) ?? 0) + count);
    }
    for (const what of MUST_BE_SEEN) assert.ok((seen.get(what) ?? 0) > 0, `${what} never happened`);
  });

  it('are the same every time for the same seed', async () => {
    const [first, second] = [
      await simulateRefunds({ ...SCENARIO, seed: 5 }),
      await simulateRefunds({ ...SCENARIO, seed: 5 }),
    ];
    assert.deepEqual(first, second);
  });
});
