/** The money of an event by hour: the same however the state came to be, and of bounded size. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HOUR_MS, HOURS_MAX, MoneyByHour } from '#domain/orders/money-by-hour.ts';
import {
  buy,
  checkOut,
  item,
  openCheckoutEvent,
  paymentOf,
  recordPayment,
  refundNote,
  report,
} from '../../fixtures/commands.ts';
import { restore } from '../../fixtures/event-state.ts';
import type { EventState } from '#domain/event/state.ts';

const moneyOf = ({ orders }: EventState) => orders.money.view(0, orders.refunds);

describe('The money of an event', () => {
  it('is the same after a restore from a snapshot, stray money and refunds in two currencies included', () => {
    const fixture = openCheckoutEvent();
    const started = checkOut(fixture, buy([item('adult', 2)]));
    const payment = paymentOf(started);
    recordPayment(fixture, report(payment, 'paid', { paymentId: 'pi_1' }));
    recordPayment(fixture, report(payment, 'paid', { paymentId: 'pi_2', amountCents: 1_500 }));
    recordPayment(fixture, report(payment, 'paid', { paymentId: 'pi_3', currency: 'USD', amountCents: 700 }));
    fixture.do(refundNote(started.order.id, 500, { reference: 'one' }));
    fixture.do(refundNote(started.order.id, 200, { reference: 'two', currency: 'USD' }));
    const { order } = started;
    fixture.do({
      type: 'ExecuteRefund',
      orderId: order.id,
      amountCents: 300,
      paymentId: null,
      operator: null,
      note: null,
    });
    const { totals, hours } = moneyOf(fixture.state);
    assert.deepEqual(totals, [
      {
        currency: 'EUR',
        paidCents: 3_500,
        payments: 2,
        cashCents: 0,
        refundedCents: 500,
        refunds: 1,
        pendingCents: 300,
        feesCents: 0,
      },
      {
        currency: 'USD',
        paidCents: 700,
        payments: 1,
        cashCents: 0,
        refundedCents: 200,
        refunds: 1,
        pendingCents: 0,
        feesCents: 0,
      },
    ]);
    assert.equal(new Set(hours.map(({ at }) => at)).size, 1);
    assert.deepEqual(moneyOf(restore(fixture.state)), { totals, hours });
  });

  it('keeps the newest hours apart, in whichever order they come, and everything in its totals', () => {
    const moments = Array.from({ length: HOURS_MAX + 300 }, (_, hour) => hour * HOUR_MS + 5);
    const views = [moments, moments.toReversed(), [...moments.slice(700), ...moments.slice(0, 700)]].map((order) => {
      const money = new MoneyByHour();
      for (const at of order) money.notePayment(at, { amountCents: 100, currency: 'EUR' }, false);
      return money.view(0, { pendingCents: () => 0 });
    });
    for (const { totals, hours } of views) {
      assert.equal(totals[0]!.payments, moments.length);
      assert.equal(hours.length, HOURS_MAX);
      assert.deepEqual([hours[0]!.at, hours.at(-1)!.at], [(HOURS_MAX + 299) * HOUR_MS, 300 * HOUR_MS]);
    }
  });
});
