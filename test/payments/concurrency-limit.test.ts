/** How many calls to a provider run at once, how their places are shared, and which calls are not admitted. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it, mock } from 'node:test';
import { createConcurrencyLimit, type ConcurrencyLimit } from '#payments/concurrency-limit.ts';
import { ProviderUnavailable } from '#payments/provider.ts';

const STEP_MS = 10;
const WAIT_MS_MAX = 3_000;

let now = 0;

const limitOf = (placesMax: number, waitingMax = 1_000): ConcurrencyLimit =>
  createConcurrencyLimit({ placesMax, waitMsMax: WAIT_MS_MAX, callMsMax: 10_000, waitingMax, now: () => now });

const settle = () => new Promise((resolve) => setImmediate(resolve));

async function pass(ms: number, each: () => void = () => {}): Promise<void> {
  for (let left = ms; left > 0; left -= STEP_MS) {
    each();
    now += STEP_MS;
    mock.timers.tick(STEP_MS);
    await settle();
  }
}

/** A provider that answers after so long. */
const slow = (ms: number) => () => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** A provider that answers when it is told to; `begun` has the calls in their order. */
function manual() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  return {
    begun,
    call: (name: string) => () =>
      new Promise<string>((resolve) => {
        begun.push(name);
        ends.set(name, () => resolve(name));
      }),
    async end(name: string) {
      ends.get(name)!();
      await settle();
    },
  };
}

beforeEach(() => {
  now = 0;
  mock.timers.enable({ apis: ['setTimeout'] });
});
afterEach(() => mock.timers.reset());

describe('Calls to a provider', () => {
  it('have so many places; those of one event begin in their order of arrival', async () => {
    const limit = limitOf(2);
    const provider = manual();
    const all = ['1', '2', '3', '4'].map((name) => limit.run('evt', provider.call(name)));
    await settle();
    assert.deepEqual(provider.begun, ['1', '2']);
    assert.deepEqual([limit.running, limit.waiting], [2, 2]);
    await provider.end('2');
    assert.deepEqual(provider.begun, ['1', '2', '3']);
    for (const name of ['1', '3', '4']) await provider.end(name);
    assert.deepEqual(await Promise.all(all), ['1', '2', '3', '4']);
    assert.deepEqual([limit.running, limit.waiting], [0, 0]);
  });

  it('share the places between events: the one with the fewest gets the next', async () => {
    const limit = limitOf(4);
    const provider = manual();
    const ask = (event: string, name: string) => void limit.run(event, provider.call(name));
    for (let n = 1; n <= 8; n += 1) ask('rush', `r${n}`);
    for (let n = 1; n <= 3; n += 1) ask('calm', `c${n}`);
    for (const name of ['r1', 'r2', 'r3', 'r4']) await provider.end(name);
    assert.deepEqual(provider.begun.slice(4), ['c1', 'c2', 'r5', 'r6']);
  });

  it('have their time from when they begin, and their place until they have really ended', async () => {
    const limit = limitOf(1);
    const provider = manual();
    let isAborted = false;
    const hanging = limit.run('evt', (signal) => {
      signal.addEventListener('abort', () => (isAborted = true));
      return provider.call('hanging')();
    });
    await pass(5_000);
    const next = limit.run('evt', provider.call('next'));
    const refused = assert.rejects(hanging, ProviderUnavailable);
    await pass(6_000);
    await refused;
    assert.deepEqual([isAborted, provider.begun, limit.running], [true, ['hanging'], 1]);
    await provider.end('hanging');
    assert.deepEqual(provider.begun, ['hanging', 'next']);
    await pass(9_000);
    await provider.end('next');
    assert.equal(await next, 'next');
  });

  it('are given up when they wait for far longer than was foreseen', async () => {
    const limit = limitOf(1);
    void limit.run('evt', () => new Promise(() => {})).catch(() => {});
    const waiting = assert.rejects(limit.run('evt', slow(1)), ProviderUnavailable);
    await pass(3 * WAIT_MS_MAX);
    await waiting;
    assert.deepEqual([limit.running, limit.waiting], [1, 0]);
  });

  it('reject with ProviderUnavailable when they fail, and keep the cause', async () => {
    const limit = limitOf(1);
    const cause = new Error('refused');
    const thrown = await limit.run('evt', () => Promise.reject(cause)).catch((error: unknown) => error);
    assert.ok(thrown instanceof ProviderUnavailable);
    assert.equal(thrown.cause, cause);
    assert.equal(await limit.run('evt', async () => 'next'), 'next');
  });

  it('are all answered when the service stops, and later ones at once', async () => {
    const limit = limitOf(1);
    const calls = [1, 2].map(() => assert.rejects(limit.run('evt', slow(60_000)), ProviderUnavailable));
    limit.abortAll();
    await Promise.all([...calls, assert.rejects(limit.run('evt', slow(1)), ProviderUnavailable)]);
  });
});

describe('A call is admitted', () => {
  const PLACES = 8;
  const CALL_MS = 400;
  const CAPACITY = PLACES * (1_000 / CALL_MS);

  for (const times of [1.5, 10]) {
    it(`at ${times} times the capacity: 0.9 of it succeeds, in time, and another event is as fast as alone`, async () => {
      const limit = limitOf(PLACES);
      const done: Record<string, number> = { rush: 0, calm: 0 };
      const waits: Record<string, number[]> = { rush: [], calm: [] };
      const arrive = (event: string): void => {
        if (limit.refusalMs(event) !== null) return;
        const arrivedAt = now;
        const call = () => {
          waits[event]!.push(now - arrivedAt);
          return slow(CALL_MS)();
        };
        limit.run(event, call).then(() => (done[event]! += 1), assert.fail);
      };
      const SECONDS = 20;
      let due = 0;
      let step = 0;
      await pass(SECONDS * 1_000, () => {
        for (due += (CAPACITY * times * STEP_MS) / 1_000; due >= 1; due -= 1) arrive('rush');
        if (step++ % 100 === 50) arrive('calm');
      });
      const perSecond = (done['rush']! + done['calm']!) / SECONDS;
      assert.ok(perSecond >= 0.9 * CAPACITY, `${perSecond} a second of ${CAPACITY}`);
      assert.equal(waits['calm']!.length, SECONDS, 'every call of the other event is admitted and begins');
      assert.ok(Math.max(...waits['calm']!) <= CALL_MS, 'it waits for the next place that is free, no longer');
      // The first arrive before the pace was measured.
      const measured = waits['rush']!.slice(100);
      assert.ok(Math.max(...measured) <= 1.1 * WAIT_MS_MAX, `a call waits up to ${Math.max(...measured)} ms`);
    });
  }

  it('only up to the wait that its pace allows, though all arrive before the first is at the provider', () => {
    const limit = limitOf(2);
    let admitted = 0;
    for (let n = 0; n < 100; n += 1) {
      if (limit.refusalMs('evt') !== null) continue;
      limit.expectCall('evt');
      admitted += 1;
    }
    // Before a call was measured it is assumed to take 250 ms: two at once, and those that begin within three seconds.
    assert.equal(admitted, 2 + 24);
    assert.ok(limit.refusalMs('evt')! > 0);
    assert.equal(limit.refusalMs('other'), null);
  });

  it('no longer once the calls hang, and again when they have ended', async () => {
    const limit = limitOf(2);
    const provider = manual();
    for (const name of ['1', '2']) void limit.run('evt', provider.call(name));
    assert.equal(limit.refusalMs('evt'), null);
    await pass(6_000);
    assert.equal(limit.refusalMs('evt'), null, 'one more may begin within three seconds');
    const arrived = limit.expectCall('evt');
    assert.notEqual(limit.refusalMs('evt'), null);
    arrived();
    for (const name of ['1', '2']) await provider.end(name);
    assert.equal(limit.refusalMs('evt'), null);
  });

  it('up to the share of its event in all that may wait', async () => {
    const limit = limitOf(1_000, 10);
    const fill = (event: string): number => {
      for (let n = 0; ; n += 1) {
        if (limit.refusalMs(event) !== null) return n;
        limit.expectCall(event);
      }
    };
    assert.deepEqual([fill('first'), fill('second')], [10, 5]);
  });
});
