/** Tickets: codes that a door checks with the public key alone, and whether a ticket is valid. */
import assert from 'node:assert/strict';
import { createHash, createPublicKey, verify } from 'node:crypto';
import { statSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { assertRefused, openShop, type Json } from './shop.ts';
import { gala, item, settle, somebody, start, statusOf } from './till.ts';

interface Jwk {
  readonly kty: string;
  readonly crv: string;
  readonly x: string;
  readonly kid: string;
}

/** What a door does: splits the code, checks the signature, reads the payload. */
function readCode(code: string, key: Jwk): Json | null {
  const [payload = '', signature = ''] = code.split('.').map((part) => Buffer.from(part, 'base64url'));
  const publicKey = createPublicKey({ key: { kty: key.kty, crv: key.crv, x: key.x }, format: 'jwk' });
  return verify(null, Buffer.from(payload), publicKey, Buffer.from(signature)) ? JSON.parse(String(payload)) : null;
}

describe('A ticket', () => {
  it('has a code that a door can check offline, and that says nothing about the person', async () => {
    const shop = await openShop([gala()]);
    try {
      const { body: key } = await shop.get<Jwk>('/api/tickets/key');
      const { x, kid } = key;
      assert.deepEqual(key, { kty: 'OKP', crv: 'Ed25519', x, kid });
      const members = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x });
      assert.equal(kid, createHash('sha256').update(members).digest('base64url'), 'the thumbprint of RFC 7638');
      const started = await start(shop, { items: [item('seat', 1), item('single', 1)], customer: somebody() });
      const { ticket_objects: tickets } = await settle(shop, started, 'paid');
      for (const ticket of tickets) {
        assert.deepEqual(readCode(ticket.code, key), {
          ticket_id: ticket.id,
          event_id: 'evt_gala',
          performance_id: 'eve',
          seat_id: ticket.seat_id,
        });
        const forged = ticket.code.replace(/^./, (first) => (first === 'e' ? 'f' : 'e'));
        assert.equal(readCode(forged, key), null);
      }
      await shop.restart();
      assert.deepEqual((await shop.get<Jwk>('/api/tickets/key')).body, key, 'the key is kept');
      assert.deepEqual((await statusOf(shop, started)).ticket_objects, tickets);
      assert.equal(statSync(path.join(shop.house.folder, 'ticket-key')).mode & 0o777, 0o600);
      assert.equal(statSync(path.join(shop.house.folder, 'webhook-secret-a')).mode & 0o777, 0o600);
    } finally {
      await shop.close();
    }
  });

  it('is valid until its order or its date is cancelled', async () => {
    const shop = await openShop([gala()]);
    try {
      const one = await settle(shop, await start(shop, { customer: somebody() }), 'paid');
      const other = await settle(shop, await start(shop, { customer: somebody() }), 'paid');
      const ticketOf = async (id: string) => (await shop.admin.get<Json>(`/admin/tickets/${id}`)).body;
      const valid = await ticketOf(one.tickets[0]!);
      assert.deepEqual([valid['valid'], valid['void_reason'], valid['order_id']], [true, null, one.order_id]);
      assert.equal(valid['code'], one.ticket_objects[0]!.code);
      await shop.admin.post(`/admin/orders/${one.order_id}/cancel`);
      const void1 = await ticketOf(one.tickets[0]!);
      assert.deepEqual([void1['valid'], void1['void_reason']], [false, 'ORDER_CANCELLED']);
      const called = await shop.admin.post<Json>('/admin/events/evt_gala/performances/eve/cancel');
      assert.equal(called.status, 200, JSON.stringify(called.body));
      const void2 = await ticketOf(other.tickets[0]!);
      assert.deepEqual([void2['valid'], void2['void_reason']], [false, 'PERFORMANCE_CANCELLED']);
      assert.equal((await statusOf(shop, other)).refund_due, 1900);
      assertRefused(await shop.admin.get('/admin/tickets/tkt_1_000000000000000000000000'), 404, 'NOT_FOUND');
      assertRefused(await shop.get(`/admin/tickets/${one.tickets[0]}`), 404, 'NOT_FOUND');
    } finally {
      await shop.close();
    }
  });

  it('is signed with the configured key', async () => {
    const shop = await openShop([gala()], { TICKET_KEY: Buffer.alloc(32, 7).toString('base64url') });
    try {
      const { body } = await shop.get<Jwk>('/api/tickets/key');
      assert.equal(body.x, '6kpsY-KcUgq-9VB7Ey7F-ZVHdq6-vnuSQh7qaRRG0iw');
    } finally {
      await shop.close();
    }
  });
});
