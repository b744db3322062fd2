/**
 * What was answered is there after kill -9, and counts once, whatever it was. One process is killed for all of it;
 * `crash.test.ts` kills processes under load.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { DrawBody, QueueEntryBody } from '#http/buyers/queue.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import { checkoutBody, settle, START_CHECKOUT, type Started } from '../fixtures/checkout.ts';
import { as, bodyOf, HOLDS, newSession, type Answer, type Json } from '../fixtures/client.ts';
import { clubNight, floor, gala, item } from '../fixtures/events.ts';
import { MINUTE, type ServiceProcess, spawnService } from '../fixtures/service.ts';

const QUEUE = '/api/checkout/queue';
const COUNTER = '/admin/events/evt_club/orders';
const STEERING = { paused: true, waiting_room_rate: 7, message: 'Back at eight.' };

/** Checkouts, by their idempotency keys. */
const checkouts = { paid: {}, free: { items: [item('guest', 1)] } } as const;

const checkOut = (at: ServiceProcess, key: keyof typeof checkouts) =>
  at.post<Started>(START_CHECKOUT, checkoutBody(checkouts[key]), { 'idempotency-key': key });

function sellAtCounter(at: ServiceProcess): Promise<Answer<AdminOrderBody>> {
  const customer = { name: 'Ada', email: 'ada@example.org' };
  const order = { items: [floor(2)], customer, payment: 'CASH', note: 'cash' };
  return at.admin.post<AdminOrderBody>(COUNTER, order, { 'idempotency-key': 'counter-7' });
}

const manySessions = (count: number): readonly string[] => Array.from({ length: count }, newSession);

describe('What was answered before kill -9', () => {
  let killed: ServiceProcess;
  let service: ServiceProcess;
  let holds: readonly (readonly [session: string, hold: HoldBody])[];
  let entries: readonly (readonly [session: string, entry: QueueEntryBody])[];
  const started = new Map<keyof typeof checkouts, Started>();
  let counter: AdminOrderBody;

  before(async () => {
    const environment = { SANDBOX_CLOCK: 'on' };
    killed = await spawnService({ environment });
    const opensAt = new Date(Date.now() + MINUTE).toISOString();
    const room = { waiting_room: true, waiting_room_rate: 3, waiting_room_opens_at: opensAt };
    await killed.define(clubNight());
    await killed.define(gala());
    await killed.define(clubNight({ id: 'evt_room', slug: 'room', ...room }));
    holds = await Promise.all(
      manySessions(20).map(async (key) => [key, await killed.hold({ session_key: key })] as const),
    );
    entries = await Promise.all(
      manySessions(40).map(async (key) => {
        const { status, body } = await killed.post<QueueEntryBody>(QUEUE, { event_id: 'evt_room', session_key: key });
        assert.equal(status, 201);
        return [key, body] as const;
      }),
    );
    for (const key of ['paid', 'free'] as const) started.set(key, bodyOf(await checkOut(killed, key), 201));
    counter = bodyOf(await sellAtCounter(killed), 201);
    bodyOf(await killed.admin.put('/admin/events/evt_club/steering', STEERING));
    assert.equal(await killed.end('SIGKILL'), null);
    service = await spawnService({ folder: killed.folder, environment });
  });
  after(() => (service ?? killed).close());

  it('is found by the next process, which says that the stop before was not clean', async () => {
    const said = async ({ shows }: ServiceProcess) => JSON.parse(await shows(/"msg":"ready"/)) as Json;
    const [begun, goneOn] = [await said(killed), await said(service)];
    assert.deepEqual([begun['facts'], begun['lastStop'], begun['adminToken']], [0, 'none', 'ADMIN_TOKEN']);
    assert.deepEqual([goneOn['events'], goneOn['afterFact'], goneOn['lastStop']], [3, 0, 'not clean']);
    assert.ok(Number(goneOn['facts']) > 20);
  });

  it('as a hold is there', async () => {
    for (const [session, hold] of holds) {
      assert.deepEqual((await service.get<HoldBody>(`${HOLDS}/${hold.id}`, as(session))).body, hold);
    }
  });

  it('as the start of a checkout is answered again, and can be paid', async () => {
    for (const [key, first] of started) {
      const again = await checkOut(service, key);
      // A free order leads to its page, at the address that the service has now.
      const { redirect_url: address } = key === 'free' ? again.body : first;
      assert.deepEqual([again.status, again.body], [201, { ...first, redirect_url: address }]);
      assert.equal(again.headers.get('idempotent-replayed'), 'true');
    }
    assert.equal((await settle(service, started.get('paid')!, 'paid')).status, 'CONFIRMED');
  });

  it('as an order of a counter is there, once', async () => {
    const { order_id: id } = counter;
    assert.deepEqual((await service.admin.get(`/admin/orders/${id}`)).body, counter);
    const repeated = await sellAtCounter(service);
    assert.deepEqual([repeated.body.order_id, repeated.headers.get('idempotent-replayed')], [id, 'true']);
    assert.equal((await service.admin.get<{ orders: readonly unknown[] }>(COUNTER)).body.orders.length, 1);
  });

  it('as a change of steering is there', async () => {
    assert.deepEqual((await service.admin.get('/admin/events/evt_club')).body['steering'], STEERING);
  });

  it('as a place in a waiting room is there, and the room draws once', async () => {
    bodyOf(await service.post('/sandbox/clock', { advance_seconds: 60 }));
    const views = await Promise.all(
      entries.map(async ([session, { id }]) =>
        bodyOf(await service.get<QueueEntryBody>(`${QUEUE}/${id}`, as(session))),
      ),
    );
    assert.deepEqual(
      views.flatMap(({ position }) => position ?? []).sort((a, b) => a - b),
      Array.from({ length: 37 }, (_, index) => index + 1),
    );
    const { body: draw } = await service.get<DrawBody>('/api/events/public/room/draw');
    assert.equal(draw.count, 40);
    assert.equal(draw.draw_commitment, entries[0]![1].draw_commitment);
    const sha256 = createHash('sha256').update(Buffer.from(draw.seed!, 'hex')).digest('hex');
    assert.equal(sha256, draw.draw_commitment);
  });

  it('is left by two Ctrl-C with exit code 0', async () => {
    const ended = service.end('SIGINT');
    process.kill(service.pid, 'SIGINT');
    assert.equal(await ended, 0);
  });
});
