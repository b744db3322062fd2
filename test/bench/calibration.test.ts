/** What a scenario's surroundings make of its budgets: checked, or disturbed. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { availableParallelism } from 'node:os';
import { busyWarning, calibrate, disturbanceOf } from '../../bench/calibration.ts';
import { formatFigures } from '../../bench/scenario.ts';

const idle = { share: 0.98, pace: 40 };

describe('A scenario', () => {
  it('is checked where the cores were free and as fast as ever, before and after it', () => {
    assert.equal(disturbanceOf([idle, { share: 0.86, pace: 31 }], 40), null);
    assert.equal(busyWarning(idle), null);
  });

  it('is disturbed where other work took the cores, or they were slow, on either side', () => {
    const taken = { share: 0.5, pace: 40 };
    const slow = { share: 0.98, pace: 20 };
    assert.equal(disturbanceOf([idle, taken], 40), 'other work left 50 % of the cores');
    assert.equal(disturbanceOf([taken, idle], 40), 'other work left 50 % of the cores');
    assert.equal(disturbanceOf([slow, idle], 40), 'the cores ran at 50 % of the pace that they had in this run');
    assert.match(busyWarning(taken)!, /^this machine is busy \(a load of [\d.]+ on \d+ cores; other work leaves 50 %/);
  });

  it('prints the budgets of a disturbed run without a verdict, and those of its audit with one', () => {
    const budget = { atMost: 1 };
    const figures = [
      { name: 'latency', value: 2, unit: 'ms', budget },
      { name: 'audit: tickets oversold', value: 2, unit: '', budget },
    ];
    assert.deepEqual(formatFigures(figures, true).match(/disturbed|MISSED/g), ['disturbed', 'MISSED']);
    assert.deepEqual(formatFigures(figures).match(/disturbed|MISSED/g), ['MISSED', 'MISSED']);
  });
});

describe('The calibration', () => {
  it('tells how much of the cores it got, and its pace on them', async () => {
    const { share, pace } = await calibrate();
    assert.ok(share > 0 && share <= 1.1, `share ${share} of ${availableParallelism()} cores`);
    assert.ok(pace > 0);
  });
});
