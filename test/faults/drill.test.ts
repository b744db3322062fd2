/**
 * The drill that operators should know by heart: back up while it sells, lose the process, verify, restore to a fact
 * and to a moment in other folders, serve from them, and compare with what the buyers were told.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { OrderStatusBody } from '#http/buyers/orders/schema.ts';
import { buy, newCustomer, statusOf } from '../fixtures/checkout.ts';
import { newSession, type Json, type ServiceClient } from '../fixtures/client.ts';
import { gala, item } from '../fixtures/events.ts';
import { spawnServiceFor } from '../fixtures/service.ts';
import { serving } from '../cli/holdfast.ts';
import { command, readHold, verifies } from './calls.ts';
import { newFolder } from '../fixtures/folders.ts';

interface Ledger {
  readonly holds: Map<string, HoldBody>;
  readonly orders: Map<string, OrderStatusBody>;
}

interface Counters {
  readonly held: number;
  readonly sold: number;
  readonly available: number;
}

/** One buyer holds, another buys and pays; what they were answered goes into the ledger. */
async function sellOne(service: ServiceClient, ledger: Ledger): Promise<void> {
  const [browser, buyer] = [newSession(), newSession()];
  const place = (session_key: string, type: string) =>
    service.hold({ event_id: 'evt_gala', session_key, items: [item(type, 1)] });
  ledger.holds.set(browser, await place(browser, 'crew'));
  const { id: hold_id } = await place(buyer, 'single');
  const { order_id: orderId } = await buy(service, { items: undefined, hold_id, customer: newCustomer() });
  ledger.orders.set(orderId, await statusOf(service, { order_id: orderId }));
}

async function countersOf(service: ServiceClient): Promise<Counters> {
  const { body } = await service.operate<{ performances: Counters[] }>('GET', '/admin/events/evt_gala');
  const { held, sold, available } = body.performances[0]!;
  return { held, sold, available };
}

/** What the ledger says the counters must be: four a held crew, one a sold single. */
function addUp({ holds, orders }: Ledger, capacity: number): Counters {
  const [held, sold] = [holds.size * 4, orders.size];
  return { held, sold, available: capacity - held - sold };
}

async function assertKnows(service: ServiceClient, { holds, orders }: Ledger): Promise<void> {
  for (const [session, hold] of holds) assert.deepEqual((await readHold(service, hold, session)).body, hold);
  for (const [id, order] of orders) {
    const { body } = await service.call<OrderStatusBody>('GET', `/api/checkout/status/${id}`);
    assert.deepEqual([body.status, body.tickets], ['CONFIRMED', order.tickets]);
  }
}

function copyOf({ holds, orders }: Ledger): Ledger {
  return { holds: new Map(holds), orders: new Map(orders) };
}

const CAPACITY = 1_010;
const definition = gala({
  hold_minutes: 600,
  payment_minutes: 700,
  localities: [
    { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 1_000 },
    ...(gala() as { localities: object[] }).localities.slice(1),
  ],
}) as Json;

it('The drill: back up, kill, verify, restore to a fact and to a moment, serve', { timeout: 400_000 }, async (t) => {
  const parent = newFolder(t);
  const folderOf = (name: string): string => path.join(parent, name);
  const ledger: Ledger = { holds: new Map(), orders: new Map() };
  const service = await spawnServiceFor(t, { folder: folderOf('data') });
  await service.define(definition);
  for (let n = 0; n < 6; n += 1) await sellOne(service, ledger);
  const early = copyOf(ledger);
  const { head_seq: earlySeq } = await verifies(service.folder);
  await pause(5);
  const earlyMoment = new Date().toISOString();
  await pause(5);
  await service.operate('POST', '/admin/snapshot', { body: {} });

  // A copy is taken while it sells; it has at least what was answered before.
  const selling = (async () => {
    for (let n = 0; n < 6; n += 1) await sellOne(service, ledger);
  })();
  const backedUp = await command(service.folder, 'backup', folderOf('backup'));
  await selling;
  assert.ok(Number(backedUp['head_seq']) >= earlySeq);
  assert.deepEqual(await countersOf(service), addUp(ledger, CAPACITY));
  await service.end('SIGKILL');

  // Everything answered is in the folder that the kill left, and its books add up.
  const whole = await verifies(folderOf('data'));
  const tickets = (report: Json): Json => (report['figures'] as { tickets: Json }).tickets;
  const { held, sold } = addUp(ledger, CAPACITY);
  assert.deepEqual([tickets(whole)['held'], tickets(whole)['sold']], [held, sold]);

  // Restored to a fact, to a moment, and whole: each serves what its ledger says.
  const bySeq = await command(folderOf('data'), 'restore', '--to', folderOf('seq'), '--seq', String(earlySeq));
  const byTime = await command(folderOf('data'), 'restore', '--to', folderOf('time'), '--time', earlyMoment);
  const all = await command(folderOf('data'), 'restore', '--to', folderOf('all'));
  assert.equal(bySeq['state_fingerprint'], byTime['state_fingerprint'], 'the same fact by its number and by its time');
  assert.equal(all['state_fingerprint'], whole.state_fingerprint);
  assert.notEqual(bySeq['state_fingerprint'], whole.state_fingerprint);
  for (const [name, known] of [
    ['seq', early],
    ['all', ledger],
  ] as const) {
    const restored = await serving(t, folderOf(name));
    assert.deepEqual(await countersOf(restored.client), addUp(known, CAPACITY), name);
    await assertKnows(restored.client, known);
    await sellOne(restored.client, copyOf(known));
    await restored.stop();
  }
});
