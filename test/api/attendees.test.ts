/** The list of who may come: what is in it, of whom it says nothing, its forms, and that it is whole. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AttendeeRecord } from '#privacy/attendee-list.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { bodyOf, type Json } from '../fixtures/client.ts';
import { clubNight, floor, seat, theatreRun } from '../fixtures/events.ts';
import { ADMIN_TOKEN, serviceWith } from '../fixtures/service.ts';

const service = serviceWith([]);

const sell = async (eventId: string, items: readonly object[], more: Json = {}): Promise<AdminOrderBody> => {
  const body = {
    items,
    customer: { name: 'Ada', email: 'ada@example.org' },
    payment: 'FREE',
    exceed_limits: true,
    ...more,
  };
  return bodyOf(await service.operate<AdminOrderBody>('POST', `/admin/events/${eventId}/orders`, { body }), 201);
};

const list = async (eventId: string, query = ''): Promise<readonly AttendeeRecord[]> => {
  const address = `/admin/events/${eventId}/attendees${query}`;
  const { status, body } = await service.operate<{ attendees: readonly AttendeeRecord[] }>('GET', address);
  assert.equal(status, 200);
  return body.attendees;
};

const csv = async (eventId: string): Promise<Response> =>
  fetch(`${service.adminUrl}/admin/events/${eventId}/attendees?format=csv`, {
    headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'x-operator': 'ada' },
  });

describe('The list of who may come', () => {
  it('is a file whose name every header and folder takes, whatever the ids', async () => {
    const date = { id: '日曜"', name: 'Sunday', starts_at: '2028-05-08T20:00:00Z', ends_at: '2028-05-09T04:00:00Z' };
    await service.define(clubNight({ id: 'evt_odd', slug: 'odd', performances: [date] }));
    const address = `${service.adminUrl}/admin/events/evt_odd/attendees?performance_id=${encodeURIComponent(date.id)}`;
    const { status, headers } = await fetch(address, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
    const name = headers.get('content-disposition');
    assert.deepEqual([status, name], [200, 'attachment; filename="evt_odd-___-attendees.json"']);
  });

  it('has every ticket with its name, seat and date, void ones too, and when it was let in', async () => {
    await service.define(theatreRun());
    const people = [{ name: 'Bob' }, { name: 'Cleo' }];
    const row = { seat_ids: ['S-A-5', 'S-A-6'], attendees: people };
    const one = await sell('evt_play', [seat('stalls', 'fri', 2, row), seat('standing', 'sat', 1)]);
    const ended = await sell('evt_play', [seat('standing', 'fri', 1)], {
      customer: { name: 'Dan', email: 'd@example.org' },
    });
    await service.operate('POST', `/admin/orders/${ended.order_id}/cancel`, { body: {} });
    const entry = { body: { kind: 'ENTRY', door_id: 'main', performance_id: 'fri' } };
    assert.equal((await service.operate('POST', `/admin/tickets/${one.tickets[0]!}/scans`, entry)).status, 201);

    const all = await list('evt_play');
    assert.deepEqual(
      all.map(({ ticket_id: id, order_id: orderId }) => [id, orderId]),
      [...one.tickets.map((id) => [id, one.order_id]), [ended.tickets[0], ended.order_id]],
    );
    const [first, second, third, last] = all;
    assert.deepEqual(first, {
      ticket_id: one.tickets[0],
      number: one.ticket_objects[0]!.number,
      status: 'VALID',
      void_reason: null,
      name: 'Bob',
      buyer_name: 'Ada',
      order_id: one.order_id,
      performance_id: 'fri',
      performance_name: 'Friday',
      ticket_type_id: 'stalls',
      ticket_type_name: 'Stalls',
      section: 'Stalls',
      row_label: 'A',
      seat_label: '5',
      entered_at: first!.entered_at,
      inside: true,
    });
    assert.match(first!.entered_at!, /^2\d{3}-/);
    assert.deepEqual(
      [second!.name, second!.seat_label, second!.entered_at, second!.inside],
      ['Cleo', '6', null, false],
    );
    assert.deepEqual([third!.name, third!.seat_label, third!.performance_name], [null, null, 'Saturday']);
    assert.deepEqual([last!.status, last!.void_reason, last!.buyer_name], ['VOID', 'ORDER_CANCELLED', 'Dan']);
    assert.deepEqual(
      (await list('evt_play', '?performance_id=sat')).map(({ ticket_id: id }) => id),
      [one.tickets[2]],
    );

    await service.operate('POST', `/admin/orders/${one.order_id}/erase`);
    const erased = (await list('evt_play'))[0]!;
    assert.deepEqual([erased.name, erased.buyer_name, erased.seat_label], [null, null, '5']);
  });

  it('is CSV that a spreadsheet does not run', async () => {
    await service.define(clubNight({ id: 'evt_sheet', slug: 'sheet' }));
    await sell('evt_sheet', [floor(1)], { customer: { name: '=HYPERLINK("x")', email: 'eve@example.org' } });
    const answer = await csv('evt_sheet');
    assert.equal(answer.headers.get('content-type'), 'text/csv; charset=utf-8');
    assert.equal(answer.headers.get('content-disposition'), 'attachment; filename="evt_sheet-attendees.csv"');
    const text = await answer.text();
    const [heading, line, end] = text.split('\r\n');
    assert.match(heading!, /^"ticket_id","number","status","void_reason","name","buyer_name",/);
    assert.match(line!, /^"tkt_[^"]+","[^"]+","VALID",,,"'=HYPERLINK\(""x""\)",/);
    assert.equal(end, '');
    assert.ok(!text.includes('eve@example.org'), 'no address of a person');
  });

  it('is whole over many pages, each ticket once, and empty where nothing was sold', async () => {
    await service.define(
      clubNight({
        id: 'evt_many',
        slug: 'many',
        localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 9_000 }],
      }),
    );
    assert.deepEqual(await list('evt_many'), []);
    assert.equal((await (await csv('evt_many')).text()).split('\r\n').length, 2);
    const sold: string[] = [];
    for (const quantity of [1, 700, 2, 499, 1, 1_200, 3]) {
      const order = await sell('evt_many', [floor(quantity)]);
      sold.push(...Array.from({ length: quantity }, () => order.order_id));
    }
    const listed = await list('evt_many');
    assert.deepEqual(
      listed.map(({ order_id: id }) => id),
      sold,
    );
    assert.equal(new Set(listed.map(({ ticket_id: id }) => id)).size, sold.length);
  });

  it('is refused without a token, for no event, no date and no such form', async () => {
    await service.define(clubNight({ id: 'evt_wrong', slug: 'wrong' }));
    const refused = await fetch(`${service.adminUrl}/admin/events/evt_wrong/attendees`);
    assert.equal(refused.status, 401);
    const ask = (path: string) => service.operate('GET', `/admin/events/${path}`);
    assertRefused(await ask('evt_none/attendees'), 404, 'EVENT_NOT_FOUND');
    assertRefused(await ask('evt_wrong/attendees?performance_id=none'), 400, 'PERFORMANCE_NOT_FOUND');
    assertRefused(await ask('evt_wrong/attendees?format=xml'), 400, 'VALIDATION_ERROR');
  });
});
