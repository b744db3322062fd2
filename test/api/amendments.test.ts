/** Amendments over HTTP: the routes of operators, and what buyers and entrances see then. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { newCustomer, settle, start, statusOf, type Started } from '../fixtures/checkout.ts';
import { assertRefused } from '../fixtures/checks.ts';
import type { Json } from '../fixtures/client.ts';
import { gala, item } from '../fixtures/events.ts';
import { MINUTE, serviceWith } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';

interface AmendmentBody {
  readonly id: string;
  readonly difference: number;
  readonly tickets: readonly { readonly ticket_id: string }[];
}
interface QuoteBody {
  readonly quote: string;
  readonly credit: number;
  readonly to_refund: number;
}

const service = serviceWith([gala(), gala({ id: 'evt_auto', slug: 'auto', refunds: 'AUTOMATIC' })]);
beforeEach(() => service.wait(60 * MINUTE));

async function paid(quantity: number, overrides: object = {}): Promise<Started> {
  const started = await start(service, { items: [item('single', quantity)], customer: newCustomer(), ...overrides });
  await settle(service, started, 'paid');
  return started;
}

const ticketsOf = async (started: Started) => (await statusOf(service, started)).tickets;

const amend = ({ order_id: id }: Started, body: Json, headers: Record<string, string> = {}) =>
  service.admin.post<AmendmentBody>(`/admin/orders/${id}/amendments`, body, headers);

const quote = ({ order_id: id }: Started, body: Json) =>
  service.admin.post<QuoteBody>(`/admin/orders/${id}/amendments/quote`, body);

const orderOf = async ({ order_id: id }: Started): Promise<AdminOrderBody> =>
  (await service.admin.get<AdminOrderBody>(`/admin/orders/${id}`)).body;

describe('Amendments of operators', () => {
  it('cancel tickets as they were quoted, for buyers, entrances and operators in one turn', async () => {
    const started = await paid(3);
    const [first = '', second = ''] = await ticketsOf(started);
    const request = { cancel: [first], fee: 150 };
    const quoted = await quote(started, request);
    assert.equal(quoted.status, 200, JSON.stringify(quoted.body));
    const price = started.total_amount / 3;
    assert.deepEqual([quoted.body.credit, quoted.body.to_refund], [price, price - 150]);
    assert.equal((await orderOf(started)).refund_due, 0);
    const key = { 'idempotency-key': `amend ${started.order_id}` };
    const body = { ...request, quote: quoted.body.quote, note: 'ill' };
    const { status, body: amendment } = await amend(started, body, key);
    assert.equal(status, 201, JSON.stringify(amendment));
    assert.equal(amendment.difference, 150 - price);
    assert.deepEqual(amendment.tickets, [{ ticket_id: first, action: 'CANCEL', new_ticket_id: null }]);
    const again = await amend(started, body, key);
    assert.deepEqual([again.status, again.body], [201, amendment]);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    const read = await service.admin.get<AmendmentBody>(`/admin/orders/${started.order_id}/amendments/${amendment.id}`);
    assert.deepEqual(read.body, amendment);
    const shown = await statusOf(service, started);
    assert.deepEqual([shown.ticket_count, shown.tickets.includes(first), shown.tickets[0]], [2, false, second]);
    assert.deepEqual([shown.fees_amount, shown.goodwill_amount, shown.refund_due], [150, 0, price - 150]);
    assert.deepEqual(shown.amendments, [amendment]);
    const order = await orderOf(started);
    assert.deepEqual(
      order.void_tickets.map(({ id, valid, code, void_reason }) => [id, valid, code, void_reason]),
      [[first, false, null, 'TICKET_CANCELLED']],
    );
    assert.equal(order.items[0]?.quantity, 2);
    type Ticket = { readonly valid: boolean; readonly void_reason: string };
    const ticket = (await service.admin.get<Ticket>(`/admin/tickets/${first}`)).body;
    assert.deepEqual([ticket.valid, ticket.void_reason], [false, 'TICKET_CANCELLED']);
    const revoked = await service.get<{ tickets: string[] }>('/api/tickets/revoked?event_id=evt_gala');
    assert.ok(revoked.body.tickets.includes(first) && !revoked.body.tickets.includes(second));
  });

  it('give the money back by themselves where the event refunds at once', async () => {
    const started = await paid(2, { event_id: 'evt_auto' });
    const [first = ''] = await ticketsOf(started);
    const amended = await amend(started, { cancel: [first] });
    assert.equal(amended.status, 201);
    await until(
      async () => (await orderOf(started)).refunds.at(-1)?.status === 'SUCCEEDED',
      () => 'the refund has succeeded',
      20_000,
    );
    const order = await orderOf(started);
    assert.deepEqual([order.refund_due, order.refunded_amount], [0, started.total_amount / 2]);
    assert.deepEqual(
      order.refunds.map(({ amendment_id }) => amendment_id),
      [amended.body.id],
    );
  });

  it('change, reissue and rename tickets, and everybody sees the new ones', async () => {
    const attendees = ['Ann', 'Ben', 'Cas'].map((name) => ({ name }));
    const started = await paid(3, { items: [{ ...item('single', 3), attendees }] });
    const [first = '', second = '', third = ''] = await ticketsOf(started);
    const request = {
      reissue: [first],
      change: [{ ticket_ids: [second], ticket_type_id: 'seat' }],
      attendees: [
        { ticket_id: first, attendee: { name: 'Dora', email: 'dora@example.com' } },
        { ticket_id: third, attendee: { name: 'Cass' } },
      ],
      goodwill: true,
    };
    const quoted = await quote(started, request);
    assert.equal(quoted.status, 200, JSON.stringify(quoted.body));
    const done = await amend(started, { ...request, quote: quoted.body.quote });
    assert.equal(done.status, 201, JSON.stringify(done.body));
    const order = await orderOf(started);
    const peopleOf = ({ ticket_objects: tickets }: Pick<AdminOrderBody, 'ticket_objects'>) =>
      tickets.map(({ replaces, attendee }) => [replaces, attendee?.name]);
    const expected = [
      [first, 'Dora'],
      [null, 'Cass'],
      [second, 'Ben'],
    ];
    assert.deepEqual(peopleOf(order), expected);
    assert.deepEqual(peopleOf(await statusOf(service, started)), expected);
    assert.deepEqual(
      order.items.map((each) => [each.ticket_type_id, each.quantity, each.attendees.map(({ name }) => name)]),
      [
        ['single', 2, ['Dora', 'Cass']],
        ['seat', 1, ['Ben']],
      ],
    );
    assert.ok(order.goodwill_amount > 0 && order.refund_due === 0);
    assert.deepEqual(
      order.void_tickets.map(({ void_reason: reason }) => reason),
      ['REPLACED', 'REPLACED'],
    );
    const found = await service.admin.get<{ attendances: unknown[] }>('/admin/subject?email=dora@example.com');
    assert.equal(found.body.attendances.length, 1);
    await service.admin.post(`/admin/orders/${started.order_id}/erase`);
    const erased = await amend(started, { attendees: [{ ticket_id: third, attendee: { name: 'Eve' } }] });
    assertRefused(erased, 409, 'ORDER_ERASED');
    assert.deepEqual(
      (await orderOf(started)).ticket_objects.map(({ attendee }) => attendee),
      [null, null, null],
    );
  });

  it('end an order whose last ticket they cancel, and keep the fee', async () => {
    const started = await paid(1);
    await amend(started, { cancel: await ticketsOf(started), fee: 100 });
    const order = await orderOf(started);
    assert.deepEqual([order.status, order.cancelled_by, order.total_amount], ['CANCELLED', 'OPERATOR', 100]);
    assert.equal(order.refund_due, started.total_amount - 100);
    assert.equal(order.ticket_objects[0]?.valid, false);
  });

  it('are refused with the code of what is wrong, in the order of the API', async () => {
    const started = await paid(2);
    const [first = '', second = ''] = await ticketsOf(started);
    const nowhere = { ...started, order_id: 'ord_1_no' };
    assertRefused(await amend(nowhere, { cancel: [first] }), 404, 'ORDER_NOT_FOUND');
    assertRefused(await quote(nowhere, { cancel: [first] }), 404, 'ORDER_NOT_FOUND');
    assertRefused(await quote(nowhere, { change: [{ ticket_ids: [first] }] }), 400, 'VALIDATION_ERROR');
    for (const body of [
      {},
      { cancel: [] },
      { cancel: [first, first] },
      { cancel: first },
      { cancel: [first], fee: -1 },
      { cancel: [second], change: [{ ticket_ids: [first], seat_ids: null }] },
    ]) {
      assertRefused(await amend(started, body as Json), 400, 'VALIDATION_ERROR');
      assertRefused(await quote(started, body as Json), 400, 'VALIDATION_ERROR');
    }
    const many = Array.from({ length: 1_001 }, (_, n) => `tkt_${n}`);
    assertRefused(await amend(started, { cancel: many }), 400, 'VALIDATION_ERROR');
    const strange = assertRefused(await amend(started, { cancel: ['tkt_1_no'] }), 400, 'TICKET_NOT_FOUND');
    assert.deepEqual(strange, { ticket_ids: ['tkt_1_no'] });
    assertRefused(await amend(started, { cancel: [first], fee: 1e9 }), 400, 'VALIDATION_ERROR');
    const { body: quoted } = await quote(started, { cancel: [first] });
    const stale = await amend(started, { cancel: [second], quote: quoted.quote });
    const detail = assertRefused(stale, 409, 'QUOTE_STALE') as { readonly quote: QuoteBody };
    assert.deepEqual(detail.quote, (await quote(started, { cancel: [second] })).body);
    assert.equal((await amend(started, { cancel: [second], quote: detail.quote.quote })).status, 201);
    const voided = assertRefused(await amend(started, { cancel: [second] }), 409, 'TICKET_VOID');
    assert.deepEqual(voided, { ticket_ids: [second] });
    const path = `/admin/orders/${started.order_id}/amendments/amd_1_no`;
    assertRefused(await service.admin.get(path), 404, 'NOT_FOUND');
    await service.admin.post(`/admin/orders/${started.order_id}/cancel`);
    assertRefused(await amend(started, { cancel: [first] }), 409, 'ORDER_NOT_AMENDABLE');
  });
});

describe('Amendments of buyers', () => {
  const changes = { cancel: { fee: 100 }, attendees: {} };
  const own = ({ order_id: id }: Started, body: Json, path = '', headers: Record<string, string> = {}) =>
    service.post<AmendmentBody & QuoteBody>(`/api/checkout/orders/${id}/amendments${path}`, body, headers);

  it('are what the event offers, as they were quoted, and shown in its payload', async () => {
    await service.define(gala({ id: 'evt_own', slug: 'own', buyer_changes: changes }));
    const payload = (await service.get<Json>('/api/events/public/own')).body;
    const rule = { until_minutes: 0, fee_percent: 0, ticket_type_ids: null };
    const shown = { cancel: { ...rule, fee: 100 }, change: null, attendees: { ...rule, fee: 0 }, withdrawal_days: 0 };
    assert.deepEqual(payload['buyer_changes'], shown);
    assert.equal((await service.get<Json>('/api/events/public/gala')).body['buyer_changes'], null);
    const started = await paid(2, { event_id: 'evt_own' });
    const [first = '', second = ''] = await ticketsOf(started);
    const price = started.total_amount / 2;
    // What operators alone may ask for is ignored.
    const request = { cancel: [first], fee: 0, goodwill: true, note: 'mine' };
    const quoted = await own(started, request, '/quote');
    assert.deepEqual([quoted.status, quoted.body.to_refund], [200, price - 100], JSON.stringify(quoted.body));
    assertRefused(await own(started, request), 400, 'VALIDATION_ERROR');
    assertRefused(await own(started, { ...request, quote: 'none' }), 409, 'QUOTE_STALE');
    const key = { 'idempotency-key': 'mine' };
    const body = { ...request, quote: quoted.body.quote };
    const { status, body: amendment } = await own(started, body, '', key);
    assert.equal(status, 201, JSON.stringify(amendment));
    assert.equal((await own(started, body, '', key)).headers.get('idempotent-replayed'), 'true');
    assertRefused(await own(started, { ...body, cancel: [second] }, '', key), 422, 'IDEMPOTENCY_KEY_REUSED');
    const path = `/api/checkout/orders/${started.order_id}/amendments/`;
    assert.deepEqual((await service.get(path + amendment.id)).body, amendment);
    assertRefused(await service.get(`${path}amd_1_no`), 404, 'NOT_FOUND');
    const order = await orderOf(started);
    assert.deepEqual([order.refund_due, order.fees_amount, order.tickets], [price - 100, 100, [second]]);
    const detail = assertRefused(await own(started, { reissue: [second] }, '/quote'), 403, 'AMENDMENT_NOT_ALLOWED');
    assert.deepEqual(detail, { reason: 'NOT_OFFERED', until: null });
    const late = await own(started, { reissue: [second], quote: 'none' });
    assertRefused(late, 403, 'AMENDMENT_NOT_ALLOWED');
    const nowhere = { ...started, order_id: 'ord_1_no' };
    assertRefused(await own(nowhere, { ...body }), 404, 'ORDER_NOT_FOUND');
    const name = { attendees: [{ ticket_id: second, attendee: { name: 'Zoe' } }] };
    const renamed = await own(started, { ...name, quote: (await own(started, name, '/quote')).body.quote });
    assert.equal(renamed.status, 201, JSON.stringify(renamed.body));
    assert.equal((await statusOf(service, started)).ticket_objects[0]?.attendee?.name, 'Zoe');
  });
});
