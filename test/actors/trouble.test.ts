/** How long calls to others may take. */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { callWithin } from '#actors/trouble.ts';

describe('A call within a time', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
  afterEach(() => mock.timers.reset());

  const untilAborted = (signal: AbortSignal): Promise<never> =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));

  it('is aborted when the time is over, and when all is stopped, before it began too', async () => {
    const stopping = new AbortController();
    const late = assert.rejects(callWithin(10_000, stopping.signal, untilAborted), /aborted/);
    mock.timers.tick(10_000);
    await late;
    const stopped = assert.rejects(callWithin(10_000, stopping.signal, untilAborted), /aborted/);
    stopping.abort();
    await stopped;
    assert.ok(await callWithin(10_000, stopping.signal, async ({ aborted }) => aborted));
  });

  it('leaves nothing behind once it has ended', async () => {
    const stopping = new AbortController();
    const signal = await callWithin(10_000, stopping.signal, async (its) => its);
    await assert.rejects(
      callWithin(10_000, stopping.signal, () => Promise.reject(new Error('refused'))),
      /refused/,
    );
    assert.deepEqual(getEventListeners(stopping.signal, 'abort'), []);
    mock.timers.tick(10_000);
    stopping.abort();
    assert.equal(signal.aborted, false);
  });
});
