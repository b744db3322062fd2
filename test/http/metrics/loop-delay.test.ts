import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { watchLoop } from '#http/metrics/loop-delay.ts';

describe('The delay of the event loop', () => {
  const loop = watchLoop(5);
  after(() => loop.stop());

  it('is zero before the first measurement, after a reset as well', () => {
    loop.reset();
    const { minMs, meanMs, maxMs, stddevMs } = loop;
    assert.deepEqual([minMs, meanMs, maxMs, stddevMs, loop.percentileMs(99)], [0, 0, 0, 0, 0]);
  });

  it('shows a stall without the period of the timer that measures it', async () => {
    // Until its timer fired for the first time there is nothing that a stall could delay.
    for (let tries = 0; tries < 100 && loop.maxMs < 40; tries += 1) {
      const begin = stopwatchMs();
      await pause(1);
      while (stopwatchMs() - begin < 60);
    }
    assert.ok(loop.maxMs >= 40, `the longest is ${loop.maxMs} ms`);
    assert.ok(loop.percentileMs(99) <= loop.maxMs + 1);
    assert.ok(loop.minMs <= loop.meanMs && loop.meanMs <= loop.maxMs);
  });
});
