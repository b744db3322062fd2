import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { loadDriver, newDriverLoad, terminateThread } from '#persistence/sqlite/driver-load.ts';

function newThread() {
  const thread = { ended: 0, terminate: () => Promise.resolve((thread.ended += 1)) };
  return thread;
}

describe('A thread that opens databases', () => {
  it('is terminated before it loads the driver, and loads it no more', async () => {
    const [load, thread] = [newDriverLoad(), newThread()];
    await terminateThread(thread, load);
    assert.equal(thread.ended, 1);
    let ends = 0;
    loadDriver(load, () => (ends += 1));
    assert.equal(ends, 1);
  });

  it('is not terminated while it loads the driver, but once it has', async () => {
    const [load, thread] = [newDriverLoad(), newThread()];
    Atomics.store(load, 0, 1);
    const ended = terminateThread(thread, load);
    await nextRound();
    assert.equal(thread.ended, 0);
    Atomics.store(load, 0, 2);
    Atomics.notify(load, 0);
    await ended;
    assert.equal(thread.ended, 1);
  });

  it('is terminated at once when it has loaded the driver', async () => {
    const [load, thread] = [newDriverLoad(), newThread()];
    loadDriver(load, () => assert.fail('it goes on'));
    await terminateThread(thread, load);
    assert.equal(thread.ended, 1);
  });
});
