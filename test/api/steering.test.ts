/** Steering a sale: paused, slowed, told something; what it stops and what it lets go on. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EventBody } from '#http/buyers/events/schema.ts';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { QueueEntryBody } from '#http/buyers/queue.ts';
import { settle, start } from '../fixtures/checkout.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { as, HOLDS, newSession, type Answer, type Json } from '../fixtures/client.ts';
import { clubNight, item } from '../fixtures/events.ts';
import { MINUTE, serviceWith } from '../fixtures/service.ts';

const QUEUE = '/api/checkout/queue';
const NOTHING = { paused: false, waiting_room_rate: null, message: null };
const single = item('single', 1);
const customer = { name: 'Ada', email: 'ada@example.org' };

const service = serviceWith([]);

let events = 0;

interface Sale {
  readonly eventId: string;
  readonly definition: Json;
  readonly payload: () => Promise<EventBody>;
  readonly steer: (body: Json) => Promise<Answer<Json>>;
}

async function openSale(overrides: object = {}): Promise<Sale> {
  events += 1;
  const [id, slug] = [`evt_steered${events}`, `steered-${events}`];
  const definition = clubNight({ id, slug, ...overrides }) as Json;
  await service.define(definition);
  return {
    eventId: id,
    definition,
    payload: async () => (await service.get<EventBody>(`/api/events/public/${slug}`)).body,
    steer: (body) => service.operate<Json>('PUT', `/admin/events/${id}/steering`, { body }),
  };
}

const place = ({ eventId }: Sale, session: string, items: readonly Json[] = [single]): Promise<Answer<HoldBody>> =>
  service.post<HoldBody>(HOLDS, { event_id: eventId, session_key: session, items });

const join = ({ eventId }: Sale, session: string): Promise<Answer<QueueEntryBody>> =>
  service.post<QueueEntryBody>(QUEUE, { event_id: eventId, session_key: session });

const poll = async (session: string, { id }: QueueEntryBody): Promise<QueueEntryBody> =>
  (await service.get<QueueEntryBody>(`${QUEUE}/${id}`, as(session))).body;

function assertPaused(answer: Answer<unknown>, message: string | null): void {
  assert.deepEqual(assertRefused(answer, 503, 'SALE_PAUSED'), { message });
  assert.equal(answer.headers.get('retry-after'), '30');
}

describe('A sale that is paused', () => {
  it('gives nobody anything new, says why, and goes on once it is resumed', async () => {
    const sale = await openSale();
    const session = newSession();
    const { body: hold } = await place(sale, session, [item('single', 2)]);
    assert.deepEqual((await sale.steer({ paused: true, message: 'Back at eight.' })).body, {
      ...NOTHING,
      paused: true,
      message: 'Back at eight.',
    });
    assertPaused(await place(sale, newSession()), 'Back at eight.');
    const change = (quantity: number) =>
      service.call('PATCH', `${HOLDS}/${hold.id}`, {
        headers: as(session),
        body: { items: [item('single', quantity)] },
      });
    assertPaused(await change(3), 'Back at eight.');
    assert.equal((await change(1)).status, 200, 'less may be held');
    const checkout = { event_id: sale.eventId, items: [single], customer, accept_terms: true };
    assertPaused(await service.post('/api/checkout/start', checkout), 'Back at eight.');
    assert.deepEqual((await sale.payload()).steering, { paused: true, message: 'Back at eight.' });
    const order = await start(service, { event_id: sale.eventId, hold_id: hold.id, session_key: session, customer });
    await settle(service, order, 'paid');
    await sale.steer({ paused: null, message: null });
    assert.equal((await sale.payload()).steering, undefined);
    assert.equal((await place(sale, newSession())).status, 201);
  });

  it('lets windows run on', async () => {
    const sale = await openSale();
    const session = newSession();
    const { body: hold } = await place(sale, session);
    await sale.steer({ paused: true });
    service.wait(10 * MINUTE);
    assert.equal((await service.get<HoldBody>(`${HOLDS}/${hold.id}`, as(session))).body.status, 'EXPIRED');
  });

  it('lets nobody join its waiting room, admits nobody, and tells those who wait', async () => {
    const sale = await openSale({ waiting_room: true, waiting_room_rate: 1 });
    const [first, second] = [newSession(), newSession()];
    await join(sale, first);
    const { body: waits } = await join(sale, second);
    assert.equal(waits.status, 'WAITING');
    await sale.steer({ paused: true, message: 'One moment.' });
    assertPaused(await join(sale, newSession()), 'One moment.');
    assert.equal((await join(sale, second)).body.id, waits.id, 'who is in line has a place');
    service.wait(MINUTE);
    const paused = await poll(second, waits);
    assert.deepEqual([paused.status, paused.steering], ['WAITING', { paused: true, message: 'One moment.' }]);
    await sale.steer({ paused: false });
    assert.equal((await poll(second, waits)).status, 'ADMITTED');
  });
});

describe('The steering of a sale', () => {
  it('changes what it names alone, is no change twice, and stands over a new definition and a restart', async () => {
    const sale = await openSale({ waiting_room: true, waiting_room_rate: 1 });
    await sale.steer({ waiting_room_rate: 3 });
    await sale.steer({ message: 'Hello.' });
    const set = { paused: false, waiting_room_rate: 3, message: 'Hello.' };
    const facts = service.factsAppended();
    assert.deepEqual((await sale.steer({ message: 'Hello.' })).body, set);
    assert.equal(service.factsAppended(), facts);
    await service.define({ ...sale.definition, name: 'Night Shift, late' });
    await service.restart();
    assert.deepEqual((await sale.steer({})).body, set);
    assert.deepEqual((await service.operate<Json>('GET', `/admin/events/${sale.eventId}`)).body['steering'], set);
    const { steering, waiting_room_rate: rate } = await sale.payload();
    assert.deepEqual([steering, rate], [{ paused: false, message: 'Hello.' }, 3]);
    const entries = [];
    for (let n = 0; n < 4; n += 1) entries.push((await join(sale, newSession())).body);
    assert.deepEqual(
      entries.map(({ status, rate: pace }) => [status, pace]),
      [...Array.from({ length: 3 }, () => ['ADMITTED', 3]), ['WAITING', 3]],
    );
  });

  it('refuses what it cannot be, and an event that does not exist', async () => {
    const sale = await openSale();
    for (const body of [
      { paused: 'yes' },
      { waiting_room_rate: 0 },
      { waiting_room_rate: 1.5 },
      { message: '' },
      { message: 'x'.repeat(501) },
      { message: 'two\nlines' },
    ]) {
      assertRefused(await sale.steer(body), 400, 'VALIDATION_ERROR');
    }
    const none = await service.operate('PUT', '/admin/events/evt_none/steering', { body: { paused: true } });
    assertRefused(none, 404, 'EVENT_NOT_FOUND');
    assert.deepEqual((await sale.steer({})).body, NOTHING);
  });

  it('is noted with who did it and why', async () => {
    const sale = await openSale();
    await service.operate('PUT', `/admin/events/${sale.eventId}/steering`, {
      body: { paused: true, note: 'The site of the provider is down.' },
      headers: { 'x-operator': 'ada' },
    });
    const path = `/admin/journal?event_id=${sale.eventId}&type=SaleSteered`;
    const { body } = await service.operate<{ facts: readonly { data: string }[] }>('GET', path);
    assert.deepEqual(
      body.facts.map(({ data }) => JSON.parse(data) as Json),
      [
        {
          ...{ paused: true, waitingRoomRate: null, message: null },
          operator: 'ada',
          note: 'The site of the provider is down.',
        },
      ],
    );
  });
});
