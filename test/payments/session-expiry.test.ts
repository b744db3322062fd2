/** Expiring the sessions of more orders than the list of them takes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { turnChannel } from '#actors/channels.ts';
import type { EventPort } from '#actors/event-port.ts';
import type { QueryOf, QueryType } from '#domain/event/query.ts';
import { openSessionExpiry } from '#payments/session-expiry.ts';
import type { PaymentProvider } from '#payments/provider.ts';
import { until } from '../fixtures/until.ts';

/** Half of it is more than one slice of a scan. */
const LISTED_MAX = 600;
const EVENT_ID = 'evt_large';

/**
 * An event whose orders have ended, the first of them paid; sessions that were expired are useless still, as in the
 * state.
 */
function openEnded({ orders, paid }: { readonly orders: number; readonly paid: number }) {
  const orderIds = Array.from({ length: orders }, (_, number) => `ord_1_${number}`);
  const useless = orderIds.slice(paid);
  const calls = new Map<string, number>();
  const fixture = { orderIds, useless, calls, reads: 0, hasEnded: true };
  const event = {
    eventId: EVENT_ID,
    async read<Type extends QueryType>(query: QueryOf<Type>) {
      fixture.reads += 1;
      await Promise.resolve();
      const { type, orderId } = query as QueryOf<'FindUselessSessions'>;
      if (type === 'FindUselessSessions')
        return useless.includes(orderId)
          ? [{ provider: 'provider_a', checkoutSessionId: orderId, expiresAt: null }]
          : [];
      const { before, count } = query as unknown as QueryOf<'ScanUselessSessions'>;
      const end = before ?? orders;
      const begin = Math.max(0, end - count);
      const found = fixture.hasEnded ? orderIds.slice(begin, end).filter((id) => useless.includes(id)) : [];
      return { orderIds: found.reverse(), before: begin === 0 ? null : begin };
    },
  } as unknown as EventPort;
  const provider = {
    async expireSession(checkoutSessionId: string) {
      calls.set(checkoutSessionId, (calls.get(checkoutSessionId) ?? 0) + 1);
      await Promise.resolve();
    },
  } as unknown as PaymentProvider;
  return Object.assign(fixture, { event, providers: { provider_a: provider, provider_b: provider } });
}

describe('The list of sessions to expire', () => {
  it('forgets no open session of an event that ends more orders at once than it takes, and repeats few', async (t) => {
    const ended = openEnded({ orders: 4_000, paid: 1_000 });
    const { event, providers, orderIds, useless, calls } = ended;
    const events = { byId: () => event };
    const expiry = openSessionExpiry({ providers, events, active: () => [event], listedMax: LISTED_MAX });
    t.after(() => expiry.stop());
    ended.hasEnded = false;
    await expiry.scanActivated();
    ended.hasEnded = true;
    const facts = orderIds.map((orderId) => ({ type: 'OrderCancelled', data: { orderId } }));
    turnChannel.publish({ eventId: EVENT_ID, command: 'CancelNextOrders', code: null, facts });
    await until(async () => {
      await expiry.scanActivated();
      return calls.size === useless.length;
    });
    for (let more = 0; more < 5; more += 1) await expiry.scanActivated();
    const most = Math.max(...calls.values());
    assert.ok(most <= 3, `a session was expired ${most} times`);
  });

  it('is not filled by scans while it is nearly full', async (t) => {
    const ended = openEnded({ orders: 4_000, paid: 0 });
    const { orderIds, event, providers } = ended;
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
    ended.hasEnded = false;
    await expiry.scanActivated();
    ended.reads = 1;
    const facts = orderIds.map((orderId) => ({ type: 'OrderCancelled', data: { orderId } }));
    turnChannel.publish({ eventId: EVENT_ID, command: 'CancelNextOrders', code: null, facts });
    await until(() => ended.reads === 9);
    await expiry.scanActivated();
    assert.equal(ended.reads, 9, 'a scan would read the event');
  });
});
