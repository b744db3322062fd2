/**
 * The part of the cluster's simulation that runs in the suite; `npm run simulate -- --cluster` runs as many as there is
 * time for.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deep } from '../../depth.ts';
import { playSeeds } from '../seeds.ts';
import { commandOf } from './command.ts';
import { kindOf, simulateCluster, type ClusterScenario } from './run.ts';

const SEEDS = deep(100);

const scenarioOf = (seed: number): ClusterScenario => ({
  seed,
  kind: kindOf(seed),
  lastsMs: 6_000,
  clientsMax: 4,
  without: new Set(),
});

/** The cases that a run must reach; the rarest come once in about 100 runs. */
// prettier-ignore
const MUST_BE_SEEN = [
  'election', 'pause', 'crash', 'cut-off', 'split', 'leap', 'checkpoint', 'damaged checkpoint', 'damaged log', 'damage found', 'purge',
  'gave up', 'read ahead', 'claimed', 'lost', 'fenced', 'claims', 'batches', 'voids', 'answers', 'reads', 'refusals',
];

describe('A simulated cluster', () => {
  it(`keeps every promise under pauses, crashes, elections and a bad network, with ${SEEDS} seeds`, async () => {
    await playSeeds(
      SEEDS,
      MUST_BE_SEEN,
      (seed) => simulateCluster(scenarioOf(seed)),
      (seed) => commandOf(scenarioOf(seed)),
    );
  });

  it('is the same every time for the same seed', async () => {
    for (const seed of [10, 11]) {
      assert.deepEqual(await simulateCluster(scenarioOf(seed)), await simulateCluster(scenarioOf(seed)));
    }
  });
});
