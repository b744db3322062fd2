/** The part of the simulation of doors that runs in the suite; `npm run simulate -- --doors` runs more seeds. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deep } from '../../depth.ts';
import { commandOf } from '../shrink.ts';
import { simulateDoors } from './run.ts';

const SEEDS = deep(50);
const SCENARIO = { stepsMax: 60, buyersMax: 8, without: new Set<string>() };

/** A simulation proves nothing about a case that it never reaches. */
const MUST_BE_SEEN = [
  'ADMIT', 'EXIT', 'UNDONE', 'ALREADY_ADMITTED', 'NOT_INSIDE', 'NOT_UNDOABLE', 'ID_REUSED', 'UNKNOWN', 'FORGED',
  'WRONG_EVENT', 'VOID', 'WRONG_PERFORMANCE', 'WRONG_DOOR', 'NOT_YET', 'OVER', 'repeated', 'request lost', 'answer lost',
  'RecordScans: STATION_REVOKED', 'RecordScans: STATION_NOT_ALLOWED', 'AmendOrder', 'CancelOrder', 'CancelPerformance',
  'crash', 'full disk', 'snapshot', 'replay', 'counters compared', 'feed compared', 'evening without offline scans',
  'conflict DOUBLE_ENTRY', 'conflict ENTERED_VOID', 'conflict ENTERED_OTHERWISE',
]; // prettier-ignore

describe('The doors', () => {
  it(`admit, merge and count as their rule says, and lose no scan, for ${SEEDS} seeds`, async () => {
    const seen = new Map<string, number>();
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const outcome = await simulateDoors({ ...SCENARIO, seed });
      const repeat = `${commandOf({ ...SCENARIO, seed })} --doors`;
      if (outcome.failure !== null) assert.fail(`${outcome.failure.stack}\nrepeat it: ${repeat}`);
      for (const [what, count] of outcome.seen) seen.set(what, (seen.get(what) ?? 0) + count);
    }
    for (const what of MUST_BE_SEEN) assert.ok((seen.get(what) ?? 0) > 0, `${what} never happened`);
  });

  it('are the same every time for the same seed', async () => {
    const [first, second] = [
      await simulateDoors({ ...SCENARIO, seed: 5 }),
      await simulateDoors({ ...SCENARIO, seed: 5 }),
    ];
    assert.deepEqual(first, second);
  });
});
