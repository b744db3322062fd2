/** How many calls to a provider run at once, and how long the others wait. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createConcurrencyLimit } from '#payments/concurrency-limit.ts';
import { ProviderUnavailable } from '#payments/provider.ts';

const never = new AbortController().signal;
const tick = () => new Promise((resolve) => setImmediate(resolve));

describe('A concurrency limit', () => {
  it('runs so many calls at once and starts the others in their order of arrival', async () => {
    const limit = createConcurrencyLimit(2, 10);
    const started: number[] = [];
    const ends: (() => void)[] = [];
    const call = (number: number) => () =>
      new Promise<number>((resolve) => {
        started.push(number);
        ends.push(() => resolve(number));
      });
    const all = [1, 2, 3, 4].map((number) => limit.run(call(number), never));
    await tick();
    assert.deepEqual(started, [1, 2]);
    ends[1]!();
    await tick();
    assert.deepEqual(started, [1, 2, 3]);
    ends[0]!();
    ends[2]!();
    await tick();
    ends[3]!();
    assert.deepEqual(await Promise.all(all), [1, 2, 3, 4]);
  });

  it('rejects with ProviderUnavailable a call that waits with too many others, or for too long', async () => {
    const limit = createConcurrencyLimit(1, 1);
    const stop = new AbortController();
    const hanging = limit.run(() => new Promise(() => {}), stop.signal);
    const waiting = limit.run(async () => 1, stop.signal);
    await assert.rejects(
      limit.run(async () => 1, never),
      ProviderUnavailable,
    );
    stop.abort();
    await assert.rejects(hanging, ProviderUnavailable);
    await assert.rejects(waiting, ProviderUnavailable);
    assert.equal(await limit.run(async () => 'free again', never), 'free again');
  });

  it('rejects with ProviderUnavailable when the call fails, and keeps the cause', async () => {
    const limit = createConcurrencyLimit(1, 1);
    const cause = new Error('refused');
    const thrown = await limit.run(() => Promise.reject(cause), never).catch((error: unknown) => error);
    assert.ok(thrown instanceof ProviderUnavailable);
    assert.equal(thrown.cause, cause);
    assert.equal(await limit.run(async () => 'next', never), 'next');
  });
});
