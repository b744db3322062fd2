/**
 * A signal while buyers send requests: accepted requests are finished and answered, refused ones are refused before
 * anything was changed, and as many snapshots are taken as there is time for.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openSlowProvider } from '../payments/stripe-stand-in.ts';
import { checkoutBody, newCustomer, START_CHECKOUT, type OrderStatus, type Started } from '../fixtures/checkout.ts';
import { HOLDS, newSession, type Answer, type Json } from '../fixtures/client.ts';
import { clubNight, floor, item } from '../fixtures/events.ts';
import { ofOneThread, type ServiceProcess, spawnServiceFor } from '../fixtures/service.ts';

const BUYERS = 24;
const skip = ofOneThread('what a stop waits for, and writes, is on the main thread');

/** So many singles that no request is refused for lack of them. */
const stadium = (id: string, overrides: object = {}): Json =>
  clubNight({
    id,
    slug: id.replace('_', '-'),
    localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 100_000 }],
    ...overrides,
  }) as Json;

function spawn(t: TestContext, environment: Record<string, string> = {}, folder?: string): Promise<ServiceProcess> {
  return spawnServiceFor(t, { environment, ...(folder !== undefined && { folder }) });
}

/** The outcome of a checkout; null when the service closed the connection before it answered. */
type Outcome = Answer<Started & { readonly code?: string }> | null;

function startAt(service: ServiceProcess, overrides: object = {}): Promise<Outcome> {
  const body = checkoutBody({
    event_id: 'evt_club',
    items: [item('single', 1)],
    customer: newCustomer(),
    ...overrides,
  });
  return service.call<Started>('POST', START_CHECKOUT, { body }).catch(() => null);
}

/** Sends one checkout after the other until the service has ended or refuses them. */
async function buyUntilTurnedAway(service: ServiceProcess, outcomes: Outcome[]): Promise<void> {
  for (;;) {
    const outcome = await startAt(service);
    outcomes.push(outcome);
    if (outcome?.status !== 201) return;
  }
}

/** The orders that are in the folder, by their ids. */
async function ordersIn(service: ServiceProcess): Promise<Map<string, OrderStatus>> {
  const orders = new Map<string, OrderStatus>();
  let cursor = '';
  for (;;) {
    const page = await service.operate<{ orders: OrderStatus[]; next_cursor: string | null }>(
      'GET',
      `/admin/events/evt_club/orders?limit=500${cursor}`,
    );
    assert.equal(page.status, 200);
    for (const order of page.body.orders) orders.set(order.order_id, order);
    if (page.body.next_cursor === null) return orders;
    cursor = `&cursor=${page.body.next_cursor}`;
  }
}

describe('A signal while checkouts are under way', () => {
  it('lets SIGTERM wait for them: each is answered 201 with its session, or 503 and nothing was done', async (t) => {
    const first = await spawn(t);
    await first.define(stadium('evt_club'));
    const outcomes: Outcome[] = [];
    const buyers = Array.from({ length: BUYERS }, () => buyUntilTurnedAway(first, outcomes));
    while (outcomes.length < BUYERS * 2) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(await first.end('SIGTERM'), 0);
    await Promise.all(buyers);
    const statuses = new Set(outcomes.map((outcome) => outcome?.status ?? 'hung up'));
    for (const status of statuses) assert.ok([201, 503, 'hung up'].includes(status), `${status} was answered`);

    const second = await spawn(t, {}, first.folder);
    const orders = await ordersIn(second);
    const answered = outcomes.flatMap((outcome) => (outcome?.status === 201 ? [outcome.body] : []));
    for (const { order_id: id, redirect_url: address } of answered) {
      assert.ok(address.startsWith(first.publicUrl), 'the address is the one that the service had');
      assert.equal(orders.get(id)?.payments[0]?.status, 'OPEN');
    }
    assert.equal(orders.size, answered.length, 'no order was written for anybody who was refused');
  });

  it('waits for a payment provider that is slow to open the session', { skip }, async (t) => {
    const provider = await openSlowProvider(t);
    const service = await spawn(t, provider.environment);
    await service.define(stadium('evt_club'));
    const asked = startAt(service);
    await provider.asked;
    const ended = service.end('SIGTERM');
    await service.shows(/"msg":"stopping"/);
    const { id } = provider.answer();
    const outcome = await asked;
    assert.equal(outcome?.status, 201, JSON.stringify(outcome?.body));
    assert.equal(outcome.body.checkout_session_id, id);
    assert.equal(await ended, 0);
  });
});

describe('A signal while many events have grown', () => {
  it('snapshots every one of forty before the process ends', { skip }, async (t) => {
    const EVENTS = 40;
    const service = await spawn(t);
    const ids = Array.from({ length: EVENTS }, (_, n) => `evt_${n}`);
    for (const id of ids) {
      await service.define(stadium(id));
      const holds = Array.from({ length: 5 }, () => {
        const body = { event_id: id, session_key: newSession(), items: [floor(1)] };
        return service.call('POST', HOLDS, { body });
      });
      for (const { status } of await Promise.all(holds)) assert.equal(status, 201);
    }
    assert.equal(await service.end('SIGTERM'), 0);
    const files = readdirSync(path.join(service.folder, 'snapshots'));
    const snapshot = new Set(files.map((name) => name.split('-')[0]));
    assert.deepEqual([...snapshot].filter((id) => ids.includes(id!)).length, EVENTS);
  });
});
