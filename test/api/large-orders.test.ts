/** An order of ten thousand tickets is read in pages, by its buyer and by operators. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Amendment } from '#client/bodies.ts';
import { settle } from '../fixtures/checkout.ts';
import { bodyOf } from '../fixtures/client.ts';
import { openService, type TestService } from '../fixtures/service.ts';

const TICKETS = 10_000;
const PAGE = 1_000;

interface OrderBody {
  readonly status: string;
  readonly tickets: readonly string[];
  readonly ticket_objects: readonly {
    readonly id: string;
    readonly valid: boolean;
    readonly code: string | null;
    readonly attendee: { readonly name: string } | null;
  }[];
  readonly ticket_count: number;
  readonly next_after: string | null;
  readonly items: readonly { readonly ticket_count: number }[];
}

const fair = {
  id: 'evt_fair',
  slug: 'fair',
  name: 'Fair',
  currency: 'EUR',
  performances: [{ id: 'fri' }],
  localities: [{ id: 'ground', name: 'Ground', seating: 'GENERAL', capacity: 20_000 }],
  ticketTypes: [{ id: 'guest', name: 'Guest', locality_id: 'ground' }],
  sellingStages: [{ id: 'now', name: 'Now', prices: { guest: 0 } }],
};

describe('An order of ten thousand tickets', () => {
  let service: TestService;
  let orderId: string;
  let smallId: string;

  const buy = async (quantity: number): Promise<string> => {
    const items = [{ ticket_type_id: 'guest', selling_stage_id: 'now', quantity }];
    const customer = { email: 'school@example.org', name: 'A school' };
    const body = { event_id: 'evt_fair', items, customer, accept_terms: true };
    const started = await service.call<{ order_id: string }>('POST', '/api/checkout/start', { body });
    assert.equal(started.status, 201, JSON.stringify(started.body));
    return started.body.order_id;
  };
  const read = (id: string, page = '') => service.call<OrderBody>('GET', `/api/checkout/status/${id}${page}`);

  before(async () => {
    service = await openService();
    await service.define(fair);
    orderId = await buy(TICKETS);
    smallId = await buy(3);
  });
  after(() => service.close());

  it('lists a thousand tickets at once and says how many there are; ?after= leads through all of them', async () => {
    const seen: string[] = [];
    let next: string | null = null;
    do {
      const { status, body } = await read(orderId, next === null ? '' : `?after=${next}`);
      assert.equal(status, 200);
      assert.deepEqual([body.status, body.tickets.length, body.ticket_count], ['CONFIRMED', PAGE, TICKETS]);
      assert.deepEqual(
        body.ticket_objects.map(({ id }) => id),
        body.tickets,
      );
      assert.ok(body.ticket_objects.every(({ valid, code }) => valid && typeof code === 'string'));
      seen.push(...body.tickets);
      next = body.next_after;
    } while (next !== null);
    assert.equal(new Set(seen).size, TICKETS);
  });

  it('has no next page where all are listed, and refuses to begin behind a ticket that it does not have', async () => {
    const { body } = await read(smallId);
    assert.deepEqual([body.tickets.length, body.ticket_count, body.next_after], [3, 3, null]);
    const wrong = await read(orderId, `?after=${body.tickets[0]}`);
    assert.deepEqual([wrong.status, (wrong.body as unknown as { code: string }).code], [400, 'VALIDATION_ERROR']);
    const rest = await read(smallId, `?after=${body.tickets[1]}`);
    assert.deepEqual(rest.body.tickets, [body.tickets[2]]);
  });

  it('is listed for operators with its first tickets, and read by them in pages', async () => {
    const orders = '/admin/events/evt_fair/orders';
    const first = await service.operate<{ orders: OrderBody[]; next_cursor: string }>('GET', orders);
    const second = await service.operate<{ orders: OrderBody[] }>('GET', `${orders}?cursor=${first.body.next_cursor}`);
    const counts = [first, second].map(({ body }) =>
      body.orders.map((each) => [each.ticket_count, each.tickets.length]),
    );
    assert.deepEqual(counts, [[[TICKETS, 20]], [[3, 3]]], 'a page of the list ends early behind a large order');
    const one = await service.operate<OrderBody>('GET', `/admin/orders/${orderId}`);
    assert.deepEqual([one.body.tickets.length, one.body.ticket_count], [PAGE, TICKETS]);
    const rest = await service.operate<OrderBody>('GET', `/admin/orders/${orderId}?after=${one.body.next_after}`);
    assert.notEqual(rest.body.tickets[0], one.body.tickets[0]);
  });

  it('shows on its page how many tickets are not drawn', async () => {
    const page = await service.call<string>('GET', `/orders/${orderId}`);
    assert.match(page.body, /and 9,800 more tickets/);
  });

  it('shows void tickets without codes once it is cancelled, however often it was read before', async () => {
    await service.operate('POST', `/admin/orders/${orderId}/cancel`, { body: {} });
    const { body } = await read(orderId);
    assert.equal(body.status, 'CANCELLED');
    assert.ok(
      body.ticket_objects.length === PAGE && body.ticket_objects.every(({ valid, code }) => !valid && code === null),
    );
  });

  it('lists the tickets that an amendment issued as soon as it is answered', async () => {
    const id = await buy(200);
    const [first = '', second = ''] = (await read(id)).body.tickets;
    const path = `/admin/orders/${id}/amendments`;
    const { status, body } = await service.admin.post<{ tickets: { new_ticket_id: string }[] }>(path, {
      reissue: [first],
    });
    assert.equal(status, 201, JSON.stringify(body));
    assert.deepEqual((await read(id)).body.tickets.slice(0, 2), [body.tickets[0]?.new_ticket_id, second]);
    await service.admin.post(path, { attendees: [{ ticket_id: second, attendee: { name: 'Ann' } }] });
    const [, renamed] = (await read(id)).body.ticket_objects;
    assert.equal(renamed?.attendee?.name, 'Ann');
  });

  it('lists those of one that is paid for once it is, also where the order was read before', async () => {
    const id = await buy(200);
    const [first = '', second = ''] = (await read(id)).body.tickets;
    const asked = bodyOf(
      await service.admin.post<Amendment>(`/admin/orders/${id}/amendments`, { reissue: [first], fee: 500 }),
      201,
    );
    assert.deepEqual((await read(id)).body.tickets.slice(0, 2), [first, second]);
    await settle(service, { checkout_session_id: asked.checkout_session_id }, 'paid');
    const { body } = await service.get<Amendment>(`/api/checkout/orders/${id}/amendments/${asked.id}`);
    assert.equal(body.status, 'APPLIED');
    assert.deepEqual((await read(id)).body.tickets.slice(0, 2), [body.tickets[0]?.new_ticket_id, second]);
  });
});
