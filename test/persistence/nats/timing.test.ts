/** Pauses of the parts of a shard and of a node. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { describe, it } from 'node:test';
import { pauseFor } from '#persistence/nats/timing.ts';
import { VirtualTime } from '../../cluster/virtual-time.ts';

describe('A pause', () => {
  it('ends when its time is up and leaves nothing at the signal', async () => {
    const time = new VirtualTime();
    const { signal } = new AbortController();
    let isOver = false;
    void pauseFor(time, 500, signal).then(() => (isOver = true));
    await time.pass(499);
    assert.equal(isOver, false);
    await time.pass(1);
    assert.equal(isOver, true);
    assert.deepEqual(getEventListeners(signal, 'abort'), []);
  });

  it('ends at the signal, and at once where that was given before', async () => {
    const time = new VirtualTime();
    const stopping = new AbortController();
    const pause = pauseFor(time, 500, stopping.signal);
    stopping.abort();
    await pause;
    await pauseFor(time, 500, stopping.signal);
    assert.deepEqual(getEventListeners(stopping.signal, 'abort'), []);
  });
});
