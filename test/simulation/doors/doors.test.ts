/** The part of the simulation of doors that runs in the suite; `npm run simulate -- --doors` runs more seeds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deep } from '../../depth.ts';
import { playSeeds } from '../seeds.ts';
import { commandOf } from '../shrink.ts';
import { simulateDoors } from './run.ts';

const SEEDS = deep(50);
const SCENARIO = { stepsMax: 60, buyersMax: 8, without: new Set<string>() };

/** The cases that a run must reach. */
const MUST_BE_SEEN = [
  'ADMIT', 'EXIT', 'UNDONE', 'ALREADY_ADMITTED', 'NOT_INSIDE', 'NOT_UNDOABLE', 'ID_REUSED', 'UNKNOWN', 'FORGED',
  'WRONG_EVENT', 'VOID', 'WRONG_PERFORMANCE', 'WRONG_DOOR', 'NOT_YET', 'OVER', 'repeated', 'request lost', 'answer lost',
  'RecordScans: STATION_REVOKED', 'RecordScans: STATION_NOT_ALLOWED', 'AmendOrder', 'CancelOrder', 'CancelPerformance',
  'crash', 'full disk', 'snapshot', 'replay', 'counters compared', 'feed compared', 'evening without offline scans',
  'conflict DOUBLE_ENTRY', 'conflict ENTERED_VOID', 'conflict ENTERED_OTHERWISE', 'conflict told',
]; // prettier-ignore

describe('The doors', () => {
  it(`admit, merge and count as their rule says, and lose no scan, for ${SEEDS} seeds`, async () => {
    await playSeeds(
      SEEDS,
      MUST_BE_SEEN,
      (seed) => simulateDoors({ ...SCENARIO, seed }),
      (seed) => `${commandOf({ ...SCENARIO, seed })} --doors`,
    );
  });

  it('are the same every time for the same seed', async () => {
    const [first, second] = [
      await simulateDoors({ ...SCENARIO, seed: 5 }),
      await simulateDoors({ ...SCENARIO, seed: 5 }),
    ];
    assert.deepEqual(first, second);
  });
});
