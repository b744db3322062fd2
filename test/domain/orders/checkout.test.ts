/**
 * Checkouts whose provider has no session yet, and requests that the HTTP layer refuses first. The rules are scenarios
 * (`scenarios/checkout.ts`).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  buy,
  checkOut,
  item,
  openCheckoutEvent,
  openSession,
  paymentOf,
  placeHold,
  start,
} from '../../fixtures/commands.ts';
import { assertSameAfterReplay, MINUTE } from '../../fixtures/event-state.ts';

describe('A checkout with a hold', () => {
  it('is resumed as long as the order has no session, under any key', () => {
    const fixture = openCheckoutEvent();
    const holdId = placeHold(fixture, [item('adult', 2)]);
    const first = fixture.do(start({ holdId, idempotency: { key: 'a', digest: 'x' } }));
    const again = fixture.do(start({ holdId, idempotency: { key: 'b', digest: 'x' } }));
    assert.deepEqual([again.order.id, again.payment?.id, again.resumed], [first.order.id, first.payment?.id, true]);
    openSession(fixture, first.order, paymentOf(first));
    for (const key of ['a', 'b']) {
      const repeat = fixture.do(start({ holdId, idempotency: { key, digest: 'x' } }));
      assert.deepEqual([repeat.order.id, repeat.replayed, repeat.resumed], [first.order.id, true, false]);
      assert.equal(repeat.payment?.redirectUrl, `https://pay.example/${first.payment?.id}`);
    }
    assertSameAfterReplay(fixture);
  });

  it('is refused with HOLD_ITEMS_MISMATCH where two items name one seat', () => {
    const fixture = openCheckoutEvent();
    const holdId = placeHold(fixture, [item('seat', 2, { seatIds: ['H-1-1', 'H-1-2'] })]);
    const seat = item('seat', 1, { seatIds: ['H-1-1'] });
    fixture.when(start({ holdId, items: [seat, seat] })).refuses('HOLD_ITEMS_MISMATCH', {});
  });

  it('is refused with PROMO_CODE_INVALID for an empty code', () => {
    const detail = { promoCode: '' };
    openCheckoutEvent()
      .when(buy([item('adult', 1)], detail))
      .refuses('PROMO_CODE_INVALID', detail);
    openCheckoutEvent()
      .when(buy([item('adult', 1, { discountCode: '' })]))
      .refuses('PROMO_CODE_INVALID', detail);
  });
});

describe('An idempotency key', () => {
  const idempotency = { key: 'k', digest: 'x' };
  const command = buy([item('adult', 2)], { idempotency });

  it('resumes a start that got no session', () => {
    const fixture = openCheckoutEvent();
    const first = fixture.do(command);
    fixture.when(command).then([]);
    const again = fixture.do(command);
    assert.deepEqual([again.order.id, again.resumed, again.replayed], [first.order.id, true, false]);
  });

  it('is checked anew when the order ended before it got a session', () => {
    const fixture = openCheckoutEvent();
    const first = fixture.do(command);
    fixture.wait(31 * MINUTE);
    const second = checkOut(fixture, command);
    assert.notEqual(second.order.id, first.order.id);
    assert.equal(fixture.do(command).order.id, second.order.id);
    assertSameAfterReplay(fixture);
  });
});
