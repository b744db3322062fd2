import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../property.ts';
import { AMOUNT_CENTS_MAX, isAmount, percentOf, splitEvenly } from '#domain/money.ts';
import { priceItems, totalOf } from '#domain/orders/pricing.ts';
import { emailKey } from '#domain/email-key.ts';
import type { PurchaseItem } from '#domain/orders/purchase.ts';
import { buy, checkoutEvent, item, openCheckoutEvent } from '../../fixtures/commands.ts';
import { code } from '../../fixtures/definitions.ts';

const cents = fc.integer({ min: 0, max: AMOUNT_CENTS_MAX });

describe('A percentage', () => {
  it('is within half a cent of the exact share, and half a cent goes up', () => {
    fc.assert(
      fc.property(cents, fc.integer({ min: 1, max: 100 }), (amount, percent) => {
        const excess = 100n * BigInt(percentOf(amount, percent)) - BigInt(amount) * BigInt(percent);
        assert.ok(excess > -50n && excess <= 50n);
      }),
    );
  });

  it('may be a fraction', () => {
    assert.deepEqual(
      [percentOf(1000, 33.3), percentOf(1001, 12.5), percentOf(4, 12.5), percentOf(3, 12.5)],
      [333, 125, 1, 0],
    );
    assert.equal(percentOf(AMOUNT_CENTS_MAX, 100), AMOUNT_CENTS_MAX);
  });
});

describe('Installments', () => {
  it('add up to the amount, differ by at most a cent, and do not grow', () => {
    fc.assert(
      fc.property(cents, fc.integer({ min: 1, max: 12 }), (amount, parts) => {
        const amounts = splitEvenly(amount, parts);
        assert.equal(amounts.length, parts);
        assert.equal(
          amounts.reduce((sum, part) => sum + part, 0),
          amount,
        );
        assert.ok(amounts[0]! - amounts.at(-1)! <= 1);
        assert.deepEqual(
          amounts,
          [...amounts].sort((a, b) => b - a),
        );
      }),
    );
  });
});

describe('An amount', () => {
  it('is whole, not negative and within the limit', () => {
    assert.deepEqual([0, 1, AMOUNT_CENTS_MAX].map(isAmount), [true, true, true]);
    assert.deepEqual([-1, 0.5, AMOUNT_CENTS_MAX + 1, Number.NaN, Infinity].map(isAmount), Array(5).fill(false));
  });

  it('beyond the limit is refused, whatever it is computed from', () => {
    const stages = [{ ...checkoutEvent().sellingStages[0]!, prices: { adult: 1_000_000_000 } }];
    const fixture = openCheckoutEvent({
      sellingStages: stages,
      ticketTypes: checkoutEvent().ticketTypes.slice(0, 1),
      localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 10_000_000 }],
    });
    const many = { barPerks: [{ barPerkId: 'glass', quantity: Number.MAX_VALUE }] };
    fixture.when(buy([item('adult', 1, many)])).refuses('VALIDATION_ERROR');
    fixture.when(buy([item('adult', 10_000_000)])).refuses('MAX_TICKETS_PER_ORDER_EXCEEDED', {
      limit: 10_000,
      requested: 10_000_000,
    });
    fixture.when(buy([item('adult', 10_000)])).then(['HoldPlaced', 'OrderPlaced']);
    fixture.when(buy([item('adult', 10_001)])).refuses('MAX_TICKETS_PER_ORDER_EXCEEDED');
  });
});

describe('Discounts', () => {
  const discount = fc.oneof(
    fc.integer({ min: 1, max: 100 }).map((percentOff) => code('P', { percentOff })),
    fc.integer({ min: 1, max: 20_000 }).map((amountOff) => code('A', { amountOff })),
    fc.constant(null),
  );
  const priced = fc.record({
    quantity: fc.integer({ min: 1, max: 9 }),
    price: fc.integer({ min: 0, max: 9999 }),
    own: discount,
  });

  const itemOf = (quantity: number, unitPriceCents: number): PurchaseItem => ({
    performanceId: 'd1',
    ticketTypeId: 'adult',
    sellingStageId: 'general',
    quantity,
    ticketCount: quantity,
    unitPriceCents,
    namedSeatIds: null,
    discountCode: null,
    attendees: null,
    barPerks: [],
  });

  it('never take an item below zero, and an amount off the order takes all it can and no more', () => {
    fc.assert(
      fc.property(fc.array(priced, { minLength: 1, maxLength: 6 }), discount, (wishes, promo) => {
        const none = wishes.map(() => []);
        const codes = { ofItems: wishes.map(({ own }) => own), ofOrder: promo };
        const items = priceItems(
          wishes.map(({ quantity, price }) => itemOf(quantity, price)),
          none,
          none,
          codes,
        );
        let rest = 0;
        let taken = 0;
        for (const { quantity, unitPriceCents, discountCents, promoDiscountCents } of items) {
          const afterOwn = quantity * unitPriceCents - discountCents;
          assert.ok(discountCents >= 0 && promoDiscountCents >= 0 && afterOwn - promoDiscountCents >= 0);
          rest += afterOwn;
          taken += promoDiscountCents;
        }
        assert.equal(totalOf(items), rest - taken);
        if (promo?.amountOff) assert.equal(taken, Math.min(promo.amountOff, rest));
      }),
    );
  });
});

describe('An address', () => {
  it('is compared trimmed, case-folded and without its tag', () => {
    for (const email of ['Anna@Example.org', ' anna+x@example.org', 'ANNA+a+b@EXAMPLE.ORG ']) {
      assert.equal(emailKey(email), 'anna@example.org');
    }
    assert.notEqual(emailKey('+tag@example.org'), emailKey('+other@example.org'));
    assert.notEqual(emailKey('anna@exam+ple.org'), emailKey('anna@exam'));
  });
});
