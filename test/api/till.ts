/**
 * A sale with everything that money can meet, and short calls for paying, in the API's words.
 *
 * Stands on `shop.ts`; used by the tests of checkout, payments, tickets and notifications.
 */
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { OrderStatusBody } from '#http/schemas/orders.ts';
import type { StartedCheckoutBody } from '#http/schemas/checkout.ts';
import type { Answer, Json, Shop } from './shop.ts';

export type OrderStatus = OrderStatusBody;
export type Started = StartedCheckoutBody;

export const START = '/api/checkout/start';
export const WINDOW_MINUTES = 30;

/** One date: a floor for 100, a stand of ten numbered seats; codes, perks, caps and installments. */
export function gala(overrides: object = {}): object {
  return {
    id: 'evt_gala',
    slug: 'gala',
    name: 'Gala',
    currency: 'EUR',
    hold_minutes: 10,
    max_installments: 3,
    max_tickets_per_order: 10,
    max_tickets_per_email: 12,
    performances: [{ id: 'eve', name: 'Eve', starts_at: '2028-05-08T20:00:00Z', ends_at: '2028-05-09T04:00:00Z' }],
    localities: [
      { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 100 },
      {
        id: 'stand',
        name: 'Stand',
        seating: 'NUMBERED',
        sections: [{ id: 'W', name: 'West', zone_key: 'west', rows: [{ label: '1', seats: 10 }] }],
      },
    ],
    ticketTypes: [
      {
        id: 'single',
        name: 'Single',
        locality_id: 'floor',
        max_per_order: 6,
        barPerks: [{ id: 'beer', name: 'Beer', price: 500, stock: 3, max_per_ticket: 2 }],
      },
      { id: 'crew', name: 'Crew of four', locality_id: 'floor', group_size: 4 },
      { id: 'guest', name: 'Guest', locality_id: 'floor' },
      { id: 'seat', name: 'Seat', locality_id: 'stand' },
    ],
    sellingStages: [{ id: 'regular', name: 'Regular', prices: { single: 1900, crew: 6800, guest: 0, seat: 3000 } }],
    promoCodes: [
      { code: 'HALF', percent_off: 50, max_uses: 1 },
      { code: 'GIFT', percent_off: 100 },
      { code: 'CREWS', amount_off: 1000, ticket_type_ids: ['crew'] },
    ],
    ...overrides,
  };
}

export function item(ticketTypeId: string, quantity: number, overrides: object = {}): Json {
  return { ticket_type_id: ticketTypeId, selling_stage_id: 'regular', quantity, ...overrides };
}

/** The body of a start: one single for Ada where it says nothing else. */
export function wish(overrides: object = {}): Json {
  return {
    event_id: 'evt_gala',
    items: [item('single', 1)],
    customer: { email: 'ada@example.com', name: 'Ada Lovelace' },
    accept_terms: true,
    ...overrides,
  };
}

let buyers = 0;

/** A customer whose address nobody else has. */
export function somebody(): Json {
  buyers += 1;
  return { email: `buyer-${buyers}@example.com`, name: `Buyer ${buyers}` };
}

/** Starts a checkout that must be answered 201. */
export async function start(
  shop: Shop,
  overrides: object = {},
  headers: Record<string, string> = {},
): Promise<Started> {
  const answer = await shop.post<Started>(START, wish(overrides), headers);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

/** Settles a session at the sandbox; must be answered 200. */
export async function settle(
  shop: Shop,
  { checkout_session_id: id }: Pick<Started, 'checkout_session_id'>,
  outcome: 'paid' | 'declined' | 'cancelled',
  installment?: number,
): Promise<OrderStatus> {
  const answer = await shop.post<OrderStatus>(`/sandbox/payments/${id}`, { outcome, installment });
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

export async function statusOf(shop: Shop, { order_id: id }: Pick<Started, 'order_id'>): Promise<OrderStatus> {
  const answer = await shop.get<OrderStatus>(`/api/checkout/status/${id}`);
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  return answer.body;
}

/** Opens the next payment of an order; must be answered 201. */
export async function payOn(shop: Shop, { order_id: id }: Pick<Started, 'order_id'>): Promise<Started> {
  const answer = await shop.post<Started>(`/api/checkout/orders/${id}/payments`);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body;
}

// ── webhooks, signed by hand ─────────────────────────────────────────────────────────────────────────────────────────

export interface WebhookWish {
  readonly type?: string;
  readonly session: string | null;
  readonly paymentId?: string | null;
  readonly amount?: number;
  readonly currency?: string;
  readonly id?: string;
  /** Seconds that the timestamp is off the service's clock. */
  readonly offSeconds?: number;
  /** When the provider signs it by a clock of its own. */
  readonly at?: number;
  readonly secret?: string;
  readonly provider?: string;
}

let webhooks = 0;

/** Sends a webhook as a provider would, signed with the kept secret as Standard Webhooks describes. */
export function sendWebhook(shop: Shop, wanted: WebhookWish): Promise<Answer> {
  webhooks += 1;
  const { type = 'payment.paid', session, paymentId = null, amount = 1900, currency = 'EUR' } = wanted;
  const { id = `msg_test_${webhooks}`, offSeconds = 0, provider = 'provider_a' } = wanted;
  const timestamp = String(Math.floor((wanted.at ?? shop.now()) / 1000) + offSeconds);
  const body = JSON.stringify({
    type,
    timestamp: new Date(shop.now()).toISOString(),
    data: { checkout_session_id: session, payment_id: paymentId, amount, currency },
  });
  const secret = wanted.secret ?? keptSecretOf(shop, provider);
  return shop.post(`/api/payments/webhooks/${provider}`, body, {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signatureOf(secret, `${id}.${timestamp}.${body}`)}`,
  });
}

export function keptSecretOf(shop: Shop, provider: string): string {
  return readFileSync(path.join(shop.house.folder, `webhook-secret-${provider.at(-1)}`), 'utf8').trim();
}

/** HMAC-SHA-256 under the base64 key behind `whsec_`. */
export function signatureOf(secret: string, content: string): string {
  return createHmac('sha256', Buffer.from(secret.replace('whsec_', ''), 'base64'))
    .update(content)
    .digest('base64');
}
