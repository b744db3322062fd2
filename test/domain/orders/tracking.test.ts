/** What of a request's attribution data an order keeps. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  boundOrderTexts,
  boundTracking,
  readTracking,
  TRACKING_BYTES_MAX,
  TRACKING_FIELDS_MAX,
} from '#domain/orders/tracking.ts';
import { initialState } from '#domain/event/state.ts';
import { readFact } from '#domain/event/replay.ts';
import { buy, item, openCheckoutEvent } from '../../fixtures/commands.ts';
import { anyText, fc } from '../../property.ts';

const sizeOf = (kept: unknown): number => Buffer.byteLength(JSON.stringify(kept));

describe('Tracking', () => {
  it('is kept unchanged within its limits', () => {
    const tracking = { utm_source: 'mail', fbc: 'fb.1', own: '', landing_page: `/${'p'.repeat(2_047)}` };
    assert.deepEqual(boundTracking(tracking), tracking);
  });

  it('counts characters, not halves of them', () => {
    assert.deepEqual(boundTracking({ a: '🎫'.repeat(2_048) }), { a: '🎫'.repeat(2_048) });
    assert.deepEqual(boundTracking({ a: '🎫'.repeat(2_049) }), { a: '🎫'.repeat(2_048) });
    assert.deepEqual(boundTracking({ a: '\ud800' }), { a: '\ufffd' });
  });

  it('has no control characters, in names neither', () => {
    assert.deepEqual(boundTracking({ 'utm_\u0007source': 'a\u001b[2Jb\r\nc\u0085d' }), { utm_source: 'a[2Jbcd' });
    assert.equal(boundOrderTexts({ promoterCode: 'P\u0000\t1', referralCode: null }).promoterCode, 'P1');
  });

  it('cuts the text that is over the limit of bytes and leaves out what follows', () => {
    const names = Array.from({ length: 12 }, (_, field) => `own_${field}`);
    const fields = Object.fromEntries(names.map((name) => [name, 'x'.repeat(2_048)]));
    const kept = boundTracking(fields)!;
    assert.deepEqual(Object.keys(kept), names.slice(0, 8));
    assert.ok(kept['own_7']!.length < 2_048);
    assert.ok(sizeOf(kept) <= TRACKING_BYTES_MAX && sizeOf(kept) > TRACKING_BYTES_MAX - 8);
  });

  it('is within its limits for any input, and limiting it again changes nothing', () => {
    const text = fc.oneof(anyText({ maxLength: 60 }), fc.constantFrom('\0'.repeat(2_100), '€'.repeat(2_100)));
    const tracking = fc.dictionary(text, fc.oneof(text, fc.jsonValue()), { maxKeys: 60 });
    fc.assert(
      fc.property(fc.oneof(tracking, fc.jsonValue()), (given) => {
        const kept = boundTracking(given);
        assert.deepEqual(boundTracking(kept), kept);
        if (kept === null) return;
        assert.ok(Object.keys(kept).length <= TRACKING_FIELDS_MAX && sizeOf(kept) <= TRACKING_BYTES_MAX);
        for (const value of Object.values(kept)) assert.ok([...value].length <= 2_048);
      }),
    );
  });

  it('is limited in the fact, for any sender of the command', () => {
    const fixture = openCheckoutEvent();
    const { order } = fixture.do(buy([item('adult', 1)], { tracking: { a: 'x'.repeat(100_000), b: 7 } }));
    assert.deepEqual(fixture.sealing.personalOf(order).tracking, { a: 'x'.repeat(2_048) });
  });

  it('of an older fact is limited when it is read; a small one is unchanged', () => {
    const read = (tracking: unknown): unknown => {
      const stored = { seq: 1, at: 0, type: 'OrderPlaced', data: JSON.stringify({ tracking }) };
      const order = readFact(stored, initialState('evt', 1).plan);
      return order.type === 'OrderPlaced' && order.data.tracking;
    };
    assert.deepEqual(read({ a: 1, b: { c: [] } }), { a: 1, b: { c: [] } });
    assert.deepEqual(read({ a: 'x'.repeat(250_000), b: 1 }), { a: 'x'.repeat(2_048) });
    assert.equal(readTracking(null), null);
  });
});
