/** Expiring the sessions of more orders than the list of them takes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { turnChannel } from '#actors/channels.ts';
import type { EventPort } from '#actors/event-port.ts';
import type { QueryOf, QueryType } from '#domain/query.ts';
import { openSessionExpiry } from '#payments/session-expiry.ts';
import type { PaymentProvider } from '#payments/provider.ts';
import { until } from '../fixtures/until.ts';

const LISTED_MAX = 10;
const EVENT_ID = 'evt_large';

/** An event whose orders have ended, the first of them paid, and a provider with their open sessions. */
function openEnded({ orders, paid }: { readonly orders: number; readonly paid: number }) {
  const orderIds = Array.from({ length: orders }, (_, number) => `ord_1_${number}`);
  const open = new Set(orderIds.slice(paid));
  let reads = 0;
  const event = {
    eventId: EVENT_ID,
    async read<Type extends QueryType>(query: QueryOf<Type>) {
      reads += 1;
      const { type, orderId } = query as QueryOf<'FindUselessSessions'>;
      await Promise.resolve();
      if (type === 'FindUselessSessions')
        return open.has(orderId) ? [{ provider: 'provider_a', checkoutSessionId: orderId, expiresAt: null }] : [];
      return { orderIds: [...open].reverse(), before: null };
    },
  } as unknown as EventPort;
  const provider = {
    async expireSession(checkoutSessionId: string) {
      await Promise.resolve();
      open.delete(checkoutSessionId);
    },
  } as unknown as PaymentProvider;
  return { orderIds, open, event, providers: { provider_a: provider, provider_b: provider }, reads: () => reads };
}

describe('The list of sessions to expire', () => {
  it('forgets no open session of an event that ends more orders at once than it takes', async (t) => {
    const { orderIds, open, event, providers } = openEnded({ orders: 100, paid: 60 });
    const events = { byId: () => event };
    const expiry = openSessionExpiry({ providers, events, active: () => [event], listedMax: LISTED_MAX });
    t.after(() => expiry.stop());
    const useless = [...open];
    open.clear();
    await expiry.scanActivated();
    for (const orderId of useless) open.add(orderId);
    const facts = orderIds.map((orderId) => ({ type: 'OrderCancelled', data: { orderId } }));
    turnChannel.publish({ eventId: EVENT_ID, command: 'CancelNextOrders', code: null, facts });
    await until(async () => {
      await expiry.scanActivated();
      return open.size === 0;
    });
    assert.equal(open.size, 0);
  });

  it('is not filled by scans while it is nearly full', async (t) => {
    const { orderIds, event, providers, reads } = openEnded({ orders: 100, paid: 0 });
    const events = { byId: () => event };
    let answer = (): void => {};
    const slow = { ...providers.provider_a, expireSession: () => new Promise<void>((resolve) => (answer = resolve)) };
    const expiry = openSessionExpiry({
      providers: { provider_a: slow, provider_b: slow } as typeof providers,
      events,
      active: () => [event],
      listedMax: LISTED_MAX,
    });
    t.after(() => {
      expiry.stop();
      answer();
    });
    const facts = orderIds.map((orderId) => ({ type: 'OrderCancelled', data: { orderId } }));
    turnChannel.publish({ eventId: EVENT_ID, command: 'CancelNextOrders', code: null, facts });
    await until(() => reads() === 8);
    await expiry.scanActivated();
    assert.equal(reads(), 8, 'a scan would read the event');
  });
});
