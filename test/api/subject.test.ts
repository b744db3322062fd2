/** What operators are told about a person: GET /admin/subject. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { SubjectBody } from '#http/operators/subject.ts';
import { settle, start } from '../fixtures/checkout.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { MINUTE, openServiceWith, type TestService } from '../fixtures/service.ts';

const MARIA = { email: 'Maria@Example.com', name: 'Maria Curie', phone: '+49 361 5556' };
const JOAN = { email: 'joan@example.com', name: 'Joan Clarke' };
const person = (name: string, email?: string) => ({ name, ...(email !== undefined && { email }) });

let service: TestService;

/** Searches to the end, page by page. */
async function subjectOf(email: string, limit?: number): Promise<SubjectBody & { readonly pages: number }> {
  const query = new URLSearchParams({ email, ...(limit !== undefined && { limit: String(limit) }) });
  const found: SubjectBody = { email, at: '', orders: [], attendances: [], unread_events: [], next_cursor: null };
  for (let pages = 1; ; pages += 1) {
    const { status, body } = await service.operate<SubjectBody>('GET', `/admin/subject?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    if (limit !== undefined) assert.ok(body.orders.length + body.attendances.length <= limit + 99);
    found.orders.push(...body.orders);
    found.attendances.push(...body.attendances);
    if (body.next_cursor === null) return { ...found, pages };
    query.set('cursor', body.next_cursor);
    assert.ok(pages < 200, 'the search ends');
  }
}

describe('What is kept about a person', () => {
  before(async () => {
    const events = ['one', 'two', 'three'].map((name) => clubNight({ id: `evt_${name}`, slug: name }));
    service = await openServiceWith(events);
  });
  after(() => service.close());

  it('are the orders placed with the address, and the tickets of others that bear it, over all events', async () => {
    const own = await start(service, {
      event_id: 'evt_one',
      items: [floor(2, { attendees: [person('Maria Curie', MARIA.email), person('Eve', 'eve@example.com')] })],
      customer: MARIA,
      tracking: { utm_source: 'letter' },
    });
    await settle(service, own, 'paid');
    service.wait(MINUTE);
    const other = await start(service, {
      event_id: 'evt_three',
      items: [
        floor(2, { attendees: [person('Joan', JOAN.email), person('Maria C.', ' maria+tickets@example.com')] }),
        floor(1, { attendees: [person('Nobody')] }),
      ],
      customer: JOAN,
    });
    await settle(service, other, 'paid');
    await start(service, { event_id: 'evt_two', items: [floor(1)], customer: JOAN });

    const subject = await subjectOf('maria@example.com');
    assert.deepEqual(
      subject.orders.map(({ order, facts }) => [order.order_id, order.customer, facts.map(({ type }) => type)]),
      [
        [
          own.order_id,
          { email: MARIA.email, name: MARIA.name, document_number: null, phone: MARIA.phone },
          ['OrderPlaced', 'PaymentRequested', 'PaymentRecorded'],
        ],
      ],
    );
    const [{ order }] = subject.orders as [SubjectBody['orders'][number]];
    assert.deepEqual(order.tracking, { utm_source: 'letter' });
    assert.equal(order.ticket_objects.length, 2);
    const [attendance, ...further] = subject.attendances;
    assert.deepEqual(further, []);
    assert.equal(attendance!.order_id, other.order_id);
    assert.equal(attendance!.event.id, 'evt_three');
    assert.deepEqual(
      attendance!.tickets.map(({ attendee }) => attendee?.name),
      ['Maria C.'],
    );
    assert.doesNotMatch(JSON.stringify(attendance), /joan|nobody/i, 'nothing is told about the others of the order');
  });

  it('are the entries and exits with their tickets, of orders of others those of the own ticket alone', async () => {
    const own = await start(service, {
      event_id: 'evt_one',
      items: [floor(1)],
      customer: { email: 'door@example.com', name: 'D' },
    });
    const other = await start(service, {
      event_id: 'evt_two',
      items: [floor(2, { attendees: [person('Eve', 'eve@example.com'), person('D', 'door@example.com')] })],
      customer: JOAN,
    });
    const [mine] = (await settle(service, own, 'paid')).tickets;
    const [hers, guests] = (await settle(service, other, 'paid')).tickets;
    const scan = (id: string | undefined, body: object) =>
      service.operate('POST', `/admin/tickets/${id}/scans`, { body: { door_id: 'main', ...body } });
    await scan(mine, { kind: 'EXIT', note: 'Wanted to leave.' });
    for (const id of [hers, guests]) await scan(id, { kind: 'ENTRY', note: 'Came late.' });
    const { orders, attendances } = await subjectOf('door@example.com');
    assert.deepEqual(
      orders[0]!.scans.map(({ ticket_id: id, kind, verdict, door_name: door, note }) => [
        id,
        kind,
        verdict,
        door,
        note,
      ]),
      [[mine, 'EXIT', 'NOT_INSIDE', 'Entrance', 'Wanted to leave.']],
    );
    const [{ tickets }] = attendances as [SubjectBody['attendances'][number]];
    assert.deepEqual(
      tickets.map(({ id, scans }) => [id, scans.map(({ kind, note }) => [kind, note])]),
      [[guests, [['ENTRY', 'Came late.']]]],
    );
    assert.ok(!JSON.stringify(attendances).includes(hers!), 'nothing of the other ticket');
  });

  it('are also what amendments left: void tickets, names that were replaced, notes, and when each was', async () => {
    const started = await start(service, {
      event_id: 'evt_one',
      items: [floor(2, { attendees: [person('Grace', 'grace@example.com'), person('Alan', 'alan@example.com')] })],
      customer: { email: 'host@example.com', name: 'H' },
    });
    const [graces, alans] = (await settle(service, started, 'paid')).tickets;
    const amend = async (body: object) =>
      assert.equal(
        (await service.operate('POST', `/admin/orders/${started.order_id}/amendments`, { body })).status,
        201,
      );
    service.wait(MINUTE);
    await amend({
      attendees: [{ ticket_id: graces, attendee: person('Ada', 'ada@example.com') }],
      note: 'Grace is ill.',
    });
    await amend({ cancel: [alans] });
    const toldOf = async (email: string) => {
      const { attendances } = await subjectOf(email);
      assert.equal(attendances.length, 1);
      const { tickets, other_names: others, facts } = attendances[0]!;
      assert.deepEqual(
        facts.map(({ type }) => type),
        ['OrderPlaced', 'PaymentRequested', 'PaymentRecorded', 'OrderAmended', 'OrderAmended'],
      );
      return [tickets.map(({ id, void_reason: reason }) => [id, reason]), others.map(({ name }) => name)];
    };
    assert.deepEqual(await toldOf('grace@example.com'), [[], ['Grace']]);
    assert.deepEqual(await toldOf('ada@example.com'), [[[graces, null]], []]);
    assert.deepEqual(await toldOf('alan@example.com'), [[[alans, 'TICKET_CANCELLED']], []]);
    const [{ order }] = (await subjectOf('host@example.com')).orders as [SubjectBody['orders'][number]];
    assert.deepEqual(
      order.amendments.map(({ note }) => note),
      [null, 'Grace is ill.'],
    );
  });

  it('are who was named on the own order before, and all of its amendments', async () => {
    const customer = { email: 'owner@example.com', name: 'O' };
    const attendees = [person('Grace Old', customer.email), person('Alan')];
    const started = await start(service, { event_id: 'evt_one', items: [floor(2, { attendees })], customer });
    const [first] = (await settle(service, started, 'paid')).tickets;
    const path = `/admin/orders/${started.order_id}/amendments`;
    for (let time = 1; time <= 21; time += 1) {
      const attendee = person(`Ada ${time}`);
      const body = { attendees: [{ ticket_id: first, attendee }], note: `note ${time}` };
      assert.equal((await service.operate('POST', path, { body })).status, 201);
    }
    const [{ order, other_names: others, facts }] = (await subjectOf(customer.email)).orders as [
      SubjectBody['orders'][number],
    ];
    const replaced = Array.from({ length: 20 }, (_, before) => `Ada ${before + 1}`);
    assert.deepEqual(
      others.map(({ name }) => name),
      ['Grace Old', ...replaced],
    );
    assert.deepEqual([order.amendments.length, order.amendments.at(-1)!.note], [21, 'note 1']);
    assert.equal(facts.filter(({ type }) => type === 'OrderAmended').length, 21);
  });

  it('are who is named by an amendment that waits for money, also once it ended without', async () => {
    const customer = { email: 'payer@example.com', name: 'P' };
    const order = await start(service, { event_id: 'evt_one', items: [floor(1)], customer });
    const [ticket] = (await settle(service, order, 'paid')).tickets;
    const path = `/admin/orders/${order.order_id}/amendments`;
    const name = async (attendee: object) => {
      const body = { attendees: [{ ticket_id: ticket, attendee }], fee: 500 };
      const { status, body: asked } = await service.operate<{ readonly amendment: { readonly id: string } }>(
        'POST',
        path,
        { body },
      );
      assert.equal(status, 201, JSON.stringify(asked));
    };
    const namesOf = async (email: string) => {
      const { orders, attendances } = await subjectOf(email);
      return [...orders, ...attendances].map((each) => each.other_names.map((other) => other.name));
    };
    await name(person('Zoe', 'zoe@example.com'));
    assert.deepEqual([await namesOf('zoe@example.com'), await namesOf(customer.email)], [[['Zoe']], [['Zoe']]]);
    service.wait(24 * 60 * MINUTE);
    await name(person('Yan', 'yan@example.com'));
    assert.deepEqual([await namesOf('zoe@example.com'), await namesOf('yan@example.com')], [[['Zoe']], [['Yan']]]);
    assert.deepEqual(await namesOf(customer.email), [['Zoe', 'Yan']]);
    assert.equal((await service.operate('POST', `/admin/orders/${order.order_id}/erase`)).status, 200);
    assert.deepEqual([await namesOf('zoe@example.com'), await namesOf('yan@example.com')], [[], []]);
  });

  it('come in pages that end, whatever the limit, and each order once', async () => {
    for (let time = 0; time < 5; time += 1) {
      await start(service, {
        event_id: 'evt_two',
        items: [floor(1)],
        customer: { email: 'many@example.com', name: 'M' },
      });
    }
    const whole = await subjectOf('many@example.com');
    const paged = await subjectOf('many@example.com', 1);
    assert.equal(whole.orders.length, 5);
    assert.ok(paged.pages >= 5);
    const idsOf = ({ orders }: SubjectBody) => orders.map(({ order }) => order.order_id);
    assert.deepEqual(idsOf(paged), idsOf(whole));
  });

  it('are nothing of an order once it is erased, nor in the list of orders of an address', async () => {
    const customer = { email: 'gone@example.com', name: 'Gone' };
    const [first, second] = [
      await start(service, { event_id: 'evt_one', items: [floor(1)], customer }),
      await start(service, { event_id: 'evt_one', items: [floor(1)], customer }),
    ];
    for (const each of [first, second]) await settle(service, each, 'paid');
    const found = async () => {
      const list = await service.operate<{ readonly orders: readonly { readonly order_id: string }[] }>(
        'GET',
        '/admin/events/evt_one/orders?email=gone@example.com',
      );
      const { orders } = await subjectOf('gone@example.com');
      return [orders.map(({ order }) => order.order_id), list.body.orders.map((order) => order.order_id)];
    };
    const both = [first.order_id, second.order_id];
    assert.deepEqual(await found(), [both, both]);
    assert.equal((await service.operate('POST', `/admin/orders/${first.order_id}/erase`)).status, 200);
    assert.deepEqual(await found(), [[second.order_id], [second.order_id]]);
    const { body } = await service.operate<{ readonly erased_at: string | null }>(
      'GET',
      `/admin/orders/${first.order_id}`,
    );
    assert.notEqual(body.erased_at, null, 'its id still leads to it');
  });

  it('are nothing for an address that nobody used, and ask for the token and for an address', async () => {
    const nobody = await subjectOf('nobody@example.com');
    assert.deepEqual([nobody.orders, nobody.attendances, nobody.unread_events], [[], [], []]);
    const { status } = await service.operate('GET', '/admin/subject');
    assert.equal(status, 400);
    const bad = await service.operate('GET', '/admin/subject?email=a@b.example&cursor=x');
    assert.equal(bad.status, 400);
    const stranger = await fetch(`${service.adminUrl}/admin/subject?email=a@b.example`);
    assert.equal(stranger.status, 401);
    await stranger.body?.cancel();
  });
});
