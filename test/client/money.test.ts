/** Amounts in minor units: the one table that pages, console, exports and payment providers use. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decimalOf, decimalPlaces, moneyText, readAmount } from '#client/money.ts';
import { fc } from '../property.ts';

const CURRENCIES = [
  'EUR',
  'JPY',
  'KRW',
  'ISK',
  'UGX',
  'KWD',
  'BHD',
  'JOD',
  'OMR',
  'TND',
  'IQD',
  'CLF',
  'IDR',
  'HUF',
  'XYZ',
];

describe('An amount in minor units', () => {
  it('has the places of ISO 4217', () => {
    const places = Object.fromEntries(CURRENCIES.map((currency) => [currency, decimalPlaces(currency)]));
    assert.deepEqual(places, {
      ...{ EUR: 2, IDR: 2, HUF: 2, XYZ: 2 },
      ...{ JPY: 0, KRW: 0, ISK: 0, UGX: 0 },
      ...{ KWD: 3, BHD: 3, JOD: 3, OMR: 3, TND: 3, IQD: 3 },
      CLF: 4,
    });
  });

  it('is written with the decimals of its currency', () => {
    const texts = (amount: number, options = {}) =>
      ['EUR', 'JPY', 'KWD'].map((currency) => moneyText(amount, currency, 'en', options).replace('\u00a0', ' '));
    assert.deepEqual(texts(4_550), ['€45.50', '¥4,550', 'KWD 4.550']);
    assert.deepEqual(texts(45_000, { short: true }), ['€450', '¥45,000', 'KWD 45']);
    assert.deepEqual(texts(45_050, { short: true }), ['€450.50', '¥45,050', 'KWD 45.050']);
    assert.deepEqual(texts(10_000_000_000_001), [
      '€100,000,000,000.01',
      '¥10,000,000,000,001',
      'KWD 10,000,000,000.001',
    ]);
  });

  it('has the same decimals as in Intl, except for currencies that Intl rounds', () => {
    const intl = (currency: string): number =>
      new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
    const differing = Intl.supportedValuesOf('currency').filter(
      (currency) => decimalPlaces(currency) !== intl(currency),
    );
    for (const currency of differing) assert.ok(intl(currency) < decimalPlaces(currency), currency);
    for (const currency of [
      'EUR',
      'USD',
      'GBP',
      'CHF',
      'JPY',
      'KRW',
      'KWD',
      'BHD',
      'OMR',
      'TND',
      'JOD',
      'VND',
      'XOF',
    ]) {
      assert.equal(intl(currency), decimalPlaces(currency), currency);
    }
  });

  it('is the same after it was written as a decimal and read again', () => {
    fc.assert(
      fc.property(fc.nat({ max: 10_000_000_000_000 }), fc.constantFrom(...CURRENCIES), (amount, currency) => {
        assert.equal(readAmount(decimalOf(amount, currency), currency), amount);
        assert.equal(
          decimalOf(-amount, currency),
          amount === 0 ? decimalOf(0, currency) : `-${decimalOf(amount, currency)}`,
        );
      }),
    );
    assert.deepEqual(
      ['EUR', 'JPY', 'KWD'].map((currency) => decimalOf(5, currency)),
      ['0.05', '5', '0.005'],
    );
  });

  it('is read as people write it, and refused with more decimals than its currency has', () => {
    const read = (text: string) => ['EUR', 'JPY', 'KWD'].map((currency) => readAmount(text, currency));
    assert.deepEqual(read(' 12,5 '), [1_250, null, 12_500]);
    assert.deepEqual(read('12'), [1_200, 12, 12_000]);
    assert.deepEqual(read('12.345'), [null, null, 12_345]);
    for (const none of ['', '.', '-1', '1.', '1e3', '12.3456', 'twelve'])
      assert.deepEqual(read(none), [null, null, null]);
  });
});
