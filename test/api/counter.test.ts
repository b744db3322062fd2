/** Orders made at a counter: the audit, the money of the hour and refunds by hand. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import type { EventMoneyBody } from '#http/operators/money.ts';
import { assertRefused } from '../fixtures/checks.ts';
import type { Answer, Json } from '../fixtures/client.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { serviceWith } from '../fixtures/service.ts';

const ORDERS = '/admin/events/evt_club/orders';
const customer = { name: 'Ada', email: 'ada@example.org' };
const body = (more: Json = {}): Json => ({ items: [floor(2)], customer, payment: 'CASH', ...more });

describe('An order made at a counter', () => {
  const service = serviceWith([clubNight()]);

  const sell = (sent: Json, headers: Readonly<Record<string, string>> = {}): Promise<Answer<AdminOrderBody>> =>
    service.operate<AdminOrderBody>('POST', ORDERS, { body: sent, headers });

  it('is noted with who made it and why, and counts as cash in its hour', async () => {
    const sold = await sell(body({ note: 'a card that failed' }), { 'x-operator': 'ada' });
    assert.equal(sold.status, 201);
    assert.deepEqual(sold.body.counter, { operator: 'ada', note: 'a card that failed', exceeds_limits: false });
    const path = '/admin/journal?event_id=evt_club&type=SoldAtCounter';
    const { facts } = (await service.operate<{ facts: readonly { data: string }[] }>('GET', path)).body;
    assert.deepEqual(
      facts.map(({ data }) => JSON.parse(data) as Json),
      [{ orderId: sold.body.order_id, operator: 'ada', note: null, sealedNote: '***' }],
      'the note is personal data: the journal does not show it',
    );
    await sell(body({ payment: 'FREE' }));
    const { totals, hours } = (await service.operate<EventMoneyBody>('GET', '/admin/events/evt_club/money')).body;
    for (const sums of [totals[0]!, hours[0]!]) {
      assert.deepEqual([sums.paid_amount, sums.cash_amount, sums.payments], [3800, 3800, 1]);
    }
  });

  it('has its page, where its buyer finds the tickets', async () => {
    const sold = await sell(body());
    const page = await service.get<unknown>(`/orders/${sold.body.order_id}`);
    assert.equal(page.status, 200);
  });

  it('is given back by hand: no provider is asked for cash', async () => {
    const { order_id: id, payments } = (await sell(body())).body;
    await service.operate('POST', `/admin/orders/${id}/cancel`, { body: {} });
    for (const sent of [
      { execute: true },
      { execute: true, amount: 100 },
      { execute: true, payment_id: payments[0]!.id },
    ]) {
      const refused = await service.operate('POST', `/admin/orders/${id}/refunds`, { body: sent });
      assert.equal(assertRefused(refused, 409, 'REFUND_TOO_HIGH')['refundable'], 0);
    }
    const recorded = await service.operate<AdminOrderBody>('POST', `/admin/orders/${id}/refunds`, {
      body: { amount: 3800, note: 'out of the drawer' },
    });
    assert.deepEqual([recorded.body.refund_due, recorded.body.refunds.length], [0, 1]);
  });

  it('is refused without a token, without items, with another kind of payment, and at no event', async () => {
    assertRefused(await service.call('POST', ORDERS, { body: body() }), 404, 'NOT_FOUND');
    for (const wrong of [body({ items: [] }), body({ payment: 'provider_a' }), { ...body(), customer: {} }]) {
      assertRefused(await sell(wrong), 400, 'VALIDATION_ERROR');
    }
    const none = await service.operate('POST', '/admin/events/evt_none/orders', { body: body() });
    assertRefused(none, 404, 'EVENT_NOT_FOUND');
  });
});
