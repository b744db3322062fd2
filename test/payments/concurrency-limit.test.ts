/** The line in front of a provider: so many at once, and nobody waits for longer than was said. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderUnavailable } from '#payments/provider.ts';
import { createTurnstile } from '#payments/turnstile.ts';

const never = new AbortController().signal;
const tick = () => new Promise((resolve) => setImmediate(resolve));

test('Only so many are inside at once, the others follow in their order.', async () => {
  const turnstile = createTurnstile(2, 10);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const work = (number: number) => () =>
    new Promise<number>((resolve) => {
      begun.push(number);
      ends.push(() => resolve(number));
    });
  const all = [1, 2, 3, 4].map((number) => turnstile.pass(work(number), never));
  await tick();
  assert.deepEqual(begun, [1, 2]);
  ends[1]!();
  await tick();
  assert.deepEqual(begun, [1, 2, 3]);
  ends[0]!();
  ends[2]!();
  await tick();
  ends[3]!();
  assert.deepEqual(await Promise.all(all), [1, 2, 3, 4]);
});

test('Who would wait in a full line, or for too long, is told that the provider is unavailable.', async () => {
  const turnstile = createTurnstile(1, 1);
  const stop = new AbortController();
  const hanging = turnstile.pass(() => new Promise(() => {}), stop.signal);
  const waiting = turnstile.pass(async () => 1, stop.signal);
  await assert.rejects(
    turnstile.pass(async () => 1, never),
    ProviderUnavailable,
  );
  stop.abort();
  await assert.rejects(hanging, ProviderUnavailable);
  await assert.rejects(waiting, ProviderUnavailable);
  assert.equal(await turnstile.pass(async () => 'free again', never), 'free again');
});

test('What the work throws is the provider’s trouble.', async () => {
  const turnstile = createTurnstile(1, 1);
  const cause = new Error('refused');
  const thrown = await turnstile.pass(() => Promise.reject(cause), never).catch((error: unknown) => error);
  assert.ok(thrown instanceof ProviderUnavailable);
  assert.equal(thrown.cause, cause);
  assert.equal(await turnstile.pass(async () => 'next', never), 'next');
});
