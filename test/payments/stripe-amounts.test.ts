/** Stripe's units against the minor units of ISO 4217. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromStripeAmount, toStripeAmount } from '#payments/stripe-amounts.ts';

test('an amount goes to Stripe in the units of each currency and comes back as it was', () => {
  const expected: readonly (readonly [string, number, number])[] = [
    ['EUR', 4_550, 4_550],
    ['JPY', 4_550, 4_550],
    ['KRW', 1, 1],
    ['KWD', 4_550, 4_550],
    ['ISK', 45, 4_500],
    ['UGX', 45, 4_500],
    ['MGA', 4_500, 45],
    ['HUF', 4_550, 4_550],
    ['EUR', 0, 0],
  ];
  for (const [currency, minor, stripe] of expected) {
    assert.equal(toStripeAmount(minor, currency), stripe, currency);
    assert.equal(fromStripeAmount(stripe, currency), minor, currency);
  }
});

test('what Stripe cannot charge is rounded to the nearest that it can', () => {
  assert.deepEqual(
    [4_554, 4_555, 4_556, 4_545, 3].map((amount) => toStripeAmount(amount, 'KWD')),
    [4_550, 4_560, 4_560, 4_550, 10],
  );
  assert.deepEqual(
    [149, 150, 1].map((amount) => toStripeAmount(amount, 'MGA')),
    [1, 2, 1],
  );
});
