/**
 * Tickets: codes that are checked with the public key alone, the validity of a ticket, and the list of void tickets.
 */
import assert from 'node:assert/strict';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { statSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { newCustomer, settle, start, statusOf } from '../fixtures/checkout.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { bodyOf, type Json } from '../fixtures/client.ts';
import { gala, item } from '../fixtures/events.ts';
import { ofOneMachine, openServiceFor, openServiceWith, serviceWith, type TestService } from '../fixtures/service.ts';

interface Jwk {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly kid: string;
}

interface Keys {
  readonly keys: readonly Jwk[];
}

const ticketKey = (byte: number): string => Buffer.alloc(32, byte).toString('base64url');

const keysOf = async (service: TestService): Promise<readonly Jwk[]> =>
  (await service.get<Keys>('/api/tickets/key')).body.keys;

/** Checks a code offline: splits it, finds the key that it names, verifies the signature, reads the payload. */
function readCode(code: string | null, keys: readonly Jwk[]): Json | null {
  const [payload = '', signature = ''] = (code ?? '').split('.').map((part) => Buffer.from(part, 'base64url'));
  const { kid } = JSON.parse(String(payload)) as { readonly kid?: string };
  for (const key of keys.filter((each) => kid === undefined || each.kid === kid)) {
    const publicKey = createPublicKey({ key: { kty: key.kty, crv: key.crv, x: key.x }, format: 'jwk' });
    if (verify(null, Buffer.from(payload), publicKey, Buffer.from(signature))) return JSON.parse(String(payload));
  }
  return null;
}

const service = serviceWith([
  gala(),
  gala({ id: 'evt_called_off', slug: 'called-off' }),
  gala({ id: 'evt_other', slug: 'other' }),
  gala({ id: 'evt_draft', slug: 'draft', status: 'DRAFT' }),
]);

describe('A ticket', () => {
  it('has a code that can be checked offline and contains no personal data', async () => {
    const { body } = await service.get<Keys>('/api/tickets/key');
    const { x, kid } = body.keys[0]!;
    assert.deepEqual(body, { keys: [{ kty: 'OKP', crv: 'Ed25519', x, kid }] });
    const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x });
    assert.equal(kid, createHash('sha256').update(members).digest('base64url'), 'the thumbprint of RFC 7638');
    const started = await start(service, { items: [item('seat', 1), item('single', 1)], customer: newCustomer() });
    const { ticket_objects: tickets } = await settle(service, started, 'paid');
    for (const ticket of tickets) {
      assert.deepEqual(readCode(ticket.code, body.keys), {
        ticket_id: ticket.id,
        event_id: 'evt_gala',
        performance_id: 'eve',
        seat_id: ticket.seat_id,
        ticket_type_id: ticket.ticket_type_id,
        kid,
      });
      const other = Buffer.from(JSON.stringify({ ticket_id: 'tkt_1_other', kid })).toString('base64url');
      assert.equal(readCode(String(ticket.code).replace(/^[^.]+/, other), body.keys), null);
    }
    await service.restart();
    assert.deepEqual(await keysOf(service), body.keys, 'the key is kept');
    assert.deepEqual((await statusOf(service, started)).ticket_objects, tickets);
  });

  it('names on its card the doors that take it, where not every door does', async () => {
    const doors = [
      { id: 'north', name: 'North', ticket_type_ids: ['seat'] },
      { id: 'south', name: 'South <1>' },
    ];
    const event = gala({ id: 'evt_doors', slug: 'doors', doors, reentry: 'NEVER' });
    assert.equal((await service.admin.put('/admin/events/evt_doors', event)).status, 201);
    const shown = (await service.get<Json>('/api/events/public/doors')).body;
    assert.deepEqual([shown['doors'], shown['reentry']], [[doors[0], { ...doors[1], ticket_type_ids: null }], 'NEVER']);
    const items = [item('seat', 1), item('single', 1)];
    const order = await settle(
      service,
      await start(service, { event_id: 'evt_doors', items, customer: newCustomer() }),
      'paid',
    );
    const page = await service.get<string>(`/orders/${order.order_id}`, { accept: 'text/html' });
    assert.deepEqual(page.body.match(/<p class="doors">[^]*?<\/p>/g), ['<p class="doors">Door: South &lt;1&gt;</p>']);
  });

  const skip = ofOneMachine('nodes are given their secrets and keep none');
  it('is signed with a key that its owner alone can read, as webhook secrets', { skip }, () => {
    for (const file of ['ticket-key', 'webhook-secret-a'])
      assert.equal(statSync(path.join(service.folder, file)).mode & 0o777, 0o600);
  });

  it('is valid until its order or its performance is cancelled', async () => {
    const one = await settle(
      service,
      await start(service, { event_id: 'evt_called_off', customer: newCustomer() }),
      'paid',
    );
    const other = await settle(
      service,
      await start(service, { event_id: 'evt_called_off', customer: newCustomer() }),
      'paid',
    );
    const ticketOf = async (id: string) => (await service.admin.get<Json>(`/admin/tickets/${id}`)).body;
    const valid = await ticketOf(one.tickets[0]!);
    assert.deepEqual([valid['valid'], valid['void_reason'], valid['order_id']], [true, null, one.order_id]);
    assert.equal(valid['code'], one.ticket_objects[0]!.code);
    await service.admin.post(`/admin/orders/${one.order_id}/cancel`);
    const void1 = await ticketOf(one.tickets[0]!);
    assert.deepEqual([void1['valid'], void1['void_reason'], void1['code']], [false, 'ORDER_CANCELLED', null]);
    const [shown] = (await statusOf(service, one)).ticket_objects;
    assert.deepEqual([shown!.valid, shown!.code], [false, null], 'no code that could be taken for a valid one');
    const page = await service.get<string>(`/orders/${one.order_id}`, { accept: 'text/html' });
    assert.match(page.body, /These tickets are void/);
    assert.doesNotMatch(page.body, /QR code/, 'no code is drawn');
    const { ticket_objects: good } = await statusOf(service, other);
    assert.deepEqual(
      good.map(({ valid }) => valid),
      [true],
    );
    const called = await service.admin.post<Json>('/admin/events/evt_called_off/performances/eve/cancel');
    assert.equal(called.status, 200, JSON.stringify(called.body));
    const void2 = await ticketOf(other.tickets[0]!);
    assert.deepEqual([void2['valid'], void2['void_reason']], [false, 'PERFORMANCE_CANCELLED']);
    assert.equal((await statusOf(service, other)).refund_due, 1900);
    assertRefused(await service.admin.get('/admin/tickets/tkt_1_000000000000000000000000'), 404, 'NOT_FOUND');
    assertRefused(await service.get(`/admin/tickets/${one.tickets[0]}`), 404, 'NOT_FOUND');
  });
});

describe('The keys of tickets', () => {
  let rotated: TestService;
  before(async () => {
    rotated = await openServiceWith([gala()], { TICKET_KEY: `${ticketKey(8)},${ticketKey(7)}` });
  });
  after(() => rotated.close());

  it('sign with the first that is configured, and codes of the others stay good', async (t) => {
    const former = await openServiceFor(t, [gala()], { TICKET_KEY: ticketKey(7) });
    const [first] = await keysOf(former);
    assert.equal(first?.x, '6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw');
    const { ticket_objects: before } = await settle(former, await start(former, { customer: newCustomer() }), 'paid');
    const keys = await keysOf(rotated);
    assert.deepEqual([keys.length, keys[1]], [2, first]);
    assert.ok(readCode(before[0]!.code, keys) !== null, 'a code of the former key');
    const { ticket_objects: now } = await settle(rotated, await start(rotated, { customer: newCustomer() }), 'paid');
    assert.equal(readCode(now[0]!.code, keys)?.['kid'], keys[0]!.kid);
    assert.equal(readCode(now[0]!.code, [first!]), null);
  });

  it('check codes of an earlier version as well, which name no key', async () => {
    // As signed before codes named their keys, with the key of 32 sevens.
    const code =
      'eyJ0aWNrZXRfaWQiOiJ0a3RfMV9lYXJsaWVyIiwiZXZlbnRfaWQiOiJldnRfZ2FsYSIsInBlcmZvcm1hbmNlX2lkIjoiZXZlIiwic2VhdF9pZCI6bnVsbH0.Bfd9Kw7q0Au6zFLp8jbwDVOGR5hpH99H-PfhEOVlNDq3BLeICrUdUsCLcbmGJxy_9R7xq6xensdywawhrSpVCg';
    assert.equal(readCode(code, await keysOf(rotated))?.['ticket_id'], 'tkt_1_earlier');
  });
});

describe('The list of void tickets', () => {
  interface Revoked {
    readonly tickets: readonly string[];
    readonly next_after: string | null;
  }

  const revoked = async (service: TestService, query: string): Promise<Revoked> => {
    return bodyOf(await service.get<Revoked>(`/api/tickets/revoked?${query}`));
  };

  it('is refused for an unknown event or performance, and for an invalid query', async () => {
    assertRefused(await service.get('/api/tickets/revoked?event_id=evt_none'), 404, 'EVENT_NOT_FOUND');
    assertRefused(await service.get('/api/tickets/revoked?event_id=evt_draft'), 404, 'EVENT_NOT_FOUND');
    const unknown = '/api/tickets/revoked?event_id=evt_gala&performance_id=noon';
    assertRefused(await service.get(unknown), 400, 'PERFORMANCE_NOT_FOUND');
    for (const query of [
      '',
      'event_id=evt_gala&limit=0',
      'event_id=evt_gala&limit=10001',
      'event_id=evt_gala&limit=x',
    ]) {
      assertRefused(await service.get(`/api/tickets/revoked?${query}`), 400, 'VALIDATION_ERROR');
    }
  });

  it('has each ticket of a cancelled order, the latest last, in pages, and still after a restart', async () => {
    const paid = async (quantity: number) =>
      settle(service, await start(service, { customer: newCustomer(), items: [item('single', quantity)] }), 'paid');
    const orders = [await paid(2), await paid(3), await paid(1)];
    assert.deepEqual(await revoked(service, 'event_id=evt_gala'), { tickets: [], next_after: null });
    const cancel = async (place: number) => {
      service.wait(1_000);
      assert.equal((await service.admin.post(`/admin/orders/${orders[place]!.order_id}/cancel`)).status, 200);
      return orders[place]!.tickets;
    };
    const late = await cancel(1);
    assert.deepEqual(await revoked(service, 'event_id=evt_gala'), { tickets: late, next_after: null });
    const all = [...late, ...(await cancel(0))];
    assert.deepEqual((await revoked(service, `event_id=evt_gala&after=${late.at(-1)}`)).tickets, all.slice(3));
    await service.restart();
    assert.deepEqual((await revoked(service, 'event_id=evt_gala&performance_id=eve')).tickets, all);
    assert.deepEqual((await revoked(service, 'event_id=evt_other')).tickets, []);
    const paged: string[] = [];
    for (let after = ''; ;) {
      const page = await revoked(service, `event_id=evt_gala&limit=2${after}`);
      paged.push(...page.tickets);
      if (page.next_after === null) break;
      after = `&after=${page.next_after}`;
    }
    assert.deepEqual(paged, all);
    const drafted = await service.admin.put('/admin/events/evt_gala', gala({ status: 'DRAFT' }));
    assert.equal(drafted.status, 200);
    assert.deepEqual(
      (await revoked(service, 'event_id=evt_gala')).tickets,
      all,
      'the list stays public although the event is a draft',
    );
  });
});
