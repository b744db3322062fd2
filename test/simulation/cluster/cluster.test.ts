/**
 * The part of the cluster's simulation that runs in the suite; `npm run simulate -- --cluster` runs as many as there is
 * time for.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deep } from '../../depth.ts';
import { commandOf } from './command.ts';
import { kindOf, simulateCluster, type ClusterScenario } from './run.ts';

const SEEDS = deep(100);

/** The rarest cases come once in about 100 runs: a run continues for them. */
const SEEDS_MAX = 5 * SEEDS;

const scenarioOf = (seed: number): ClusterScenario => ({
  seed,
  kind: kindOf(seed),
  lastsMs: 6_000,
  clientsMax: 4,
  without: new Set(),
});

/** A simulation proves nothing about a case that it never reaches. */
// prettier-ignore
const MUST_BE_SEEN = [
  'election', 'pause', 'crash', 'cut-off', 'split', 'leap', 'checkpoint', 'damaged checkpoint', 'damaged log', 'damage found', 'purge',
  'gave up', 'read ahead', 'claimed', 'lost', 'fenced', 'claims', 'batches', 'voids', 'answers', 'reads', 'refusals',
];

describe('A simulated cluster', () => {
  it(`keeps every promise under pauses, crashes, elections and a bad network, with ${SEEDS} seeds`, async () => {
    const seen = new Map<string, number>();
    const isMissing = (what: string): boolean => (seen.get(what) ?? 0) === 0;
    for (let seed = 1; seed <= SEEDS || (seed <= SEEDS_MAX && MUST_BE_SEEN.some(isMissing)); seed += 1) {
      const scenario = scenarioOf(seed);
      const outcome = await simulateCluster(scenario);
      if (outcome.failure !== null) assert.fail(`${outcome.failure.stack}\nrepeat it: ${commandOf(scenario)}`);
      for (const [what, count] of outcome.seen) seen.set(what, (seen.get(what) ?? 0) + count);
    }
    for (const what of MUST_BE_SEEN) assert.ok(!isMissing(what), `${what} never happened`);
  });

  it('is the same every time for the same seed', async () => {
    for (const seed of [10, 11]) {
      assert.deepEqual(await simulateCluster(scenarioOf(seed)), await simulateCluster(scenarioOf(seed)));
    }
  });
});
