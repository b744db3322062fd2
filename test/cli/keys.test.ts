/**
 * Copies of a folder and of its keys: what was erased stays erased whatever is restored, and nothing starts with keys
 * of another journal.
 */
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import type { OrderStatusBody } from '#http/buyers/orders/schema.ts';
import { settle, start } from '../fixtures/checkout.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { filesWith, newFolder } from '../fixtures/folders.ts';
import { ofOneMachine, openServiceFor, runToEnd } from '../fixtures/service.ts';
import { holdfast, serving, succeeded } from './holdfast.ts';

interface Report {
  readonly ok: boolean;
  readonly state_fingerprint: string;
  readonly keys: Readonly<
    Record<'sealed_texts' | 'openable' | 'destroyed' | 'lost' | 'kept' | 'erased_orders', number>
  >;
  readonly problems: readonly { readonly what: string }[];
}

const maria = { email: 'qzxqz@example.com', name: 'Qzxqz Curie' };

const skip = ofOneMachine('a node has no keys in its folder');

test('a restored copy of yesterday with the keys of today has nothing of what was erased', { skip }, async (t) => {
  const service = await openServiceFor(t, [clubNight()]);
  const parent = newFolder(t);
  const within = (name: string): string => path.join(parent, name);
  const purchase = (customer: object) => ({ event_id: 'evt_club', items: [floor(2)], customer });
  const [erased, other] = [
    await start(service, purchase(maria)),
    await start(service, purchase({ ...maria, email: 'else-qzxqz@example.com' })),
  ];
  for (const order of [erased, other]) await settle(service, order, 'paid');
  await service.operate('POST', '/admin/snapshot', { body: {} });

  succeeded(await holdfast(['backup', within('monday'), '--keys', within('monday-keys.db'), '--data', service.folder]));
  assert.ok(!existsSync(path.join(within('monday'), 'keys.db')));
  assert.equal(statSync(within('monday-keys.db')).mode & 0o777, 0o600);
  assert.deepEqual(filesWith(parent, /qzxqz/i), [], 'neither copy says who it was');

  const answer = await service.operate('POST', `/admin/orders/${erased.order_id}/erase`);
  assert.equal(answer.status, 200);
  const keys = path.join(service.folder, 'keys.db');
  succeeded(await holdfast(['restore', '--data', within('monday'), '--keys', keys, '--to', within('new')]));
  const verify = async (...args: string[]): Promise<Report> =>
    (await holdfast(['verify', '--json', ...args])).json<Report>();
  const [restored, before, now] = [
    await verify('--data', within('new')),
    await verify('--data', within('monday'), '--keys', within('monday-keys.db')),
    await verify('--data', service.folder),
  ];
  assert.deepEqual([restored.ok, before.ok, now.ok], [true, true, true], JSON.stringify([restored, before, now]));
  const counts = ({ keys: { sealed_texts, openable, destroyed, erased_orders } }: Report) => [
    sealed_texts,
    openable,
    destroyed,
    erased_orders,
  ];
  assert.deepEqual([restored, before, now].map(counts), [
    [2, 1, 1, 0],
    [2, 2, 0, 0],
    [2, 1, 1, 1],
  ]);
  assert.equal(restored.state_fingerprint, before.state_fingerprint);

  const again = await serving(t, within('new'));
  const customerOf = async (id: string) =>
    (await again.client.operate<OrderStatusBody>('GET', `/admin/orders/${id}`)).body.customer;
  assert.deepEqual((await customerOf(erased.order_id)).email, null);
  assert.deepEqual((await customerOf(other.order_id)).name, maria.name);
  await again.stop();
  assert.deepEqual(filesWith(parent, /qzxqz/i), []);
});

test('a folder whose keys are missing starts with exit code 5, and once with KEYS_LOST=accept', { skip }, async (t) => {
  const parent = newFolder(t);
  const [data, bare] = [path.join(parent, 'data'), path.join(parent, 'bare')];
  const service = await openServiceFor(t, [clubNight()]);
  const { order_id: id } = await start(service, { event_id: 'evt_club', items: [floor(1)], customer: maria });
  succeeded(await holdfast(['backup', data, '--without-keys', '--data', service.folder]));
  assert.equal((await holdfast(['verify', '--data', data])).code, 1);
  succeeded(await holdfast(['verify', '--data', data, '--without-keys']));
  const wrong = await holdfast(['verify', '--data', data, '--without-keys', '--keys', 'x']);
  assert.equal(wrong.code, 2, wrong.stderr);
  succeeded(await holdfast(['restore', '--data', data, '--without-keys', '--to', bare]));

  const refused = await runToEnd({ folder: bare });
  assert.equal(refused.code, 5);
  assert.match(refused.text, /keys\.db, which opens them, is missing\n.*KEYS_LOST=accept/);
  for (const environment of [{ KEYS_LOST: 'accept' }, {}]) {
    const accepting = await serving(t, bare, environment);
    const { body } = await accepting.client.operate<OrderStatusBody>('GET', `/admin/orders/${id}`);
    assert.equal(body.customer.email, null);
    await accepting.stop();
  }
});
