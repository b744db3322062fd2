/**
 * The honest buyers of a soak: they hold, change, give back, queue, pay in one or several installments, and write down
 * what they were answered. What a buyer sent twice carries an idempotency key, so that its outcome is known in the end.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { send, type SoakAnswer, type SoakCall, type Watch } from './connection.ts';
import type { SoakEvent } from './events.ts';

export interface BoughtOrder {
  readonly orderId: string;
  readonly eventId: string;
  readonly ticketCount: number;
}

/** What buyers know in the end. */
export interface Books {
  readonly confirmed: BoughtOrder[];
  holds: number;
  expiredRead: number;
}

export interface Market {
  readonly watch: Watch;
  readonly books: Books;
  readonly events: readonly SoakEvent[];
  publicUrl: string;
  isClosing: boolean;
}

const TRIES_MAX = 400;
const RETRY_MS = 150;

export function newBooks(): Books {
  return { confirmed: [], holds: 0, expiredRead: 0 };
}

/** Repeats a request until it is answered with something else than 503; null when the soak ends before. */
async function insist(market: Market, path: string, call: SoakCall): Promise<SoakAnswer | null> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const answer = await send(market.watch, market.publicUrl + path, call);
    if (answer !== null && answer.status !== 503 && answer.status !== 502) return answer;
    await pause(RETRY_MS);
  }
  return null;
}

/** Buys again and again until the market closes. */
export async function buy(market: Market, chance: () => number): Promise<void> {
  while (!market.isClosing) {
    const event = market.events[Math.floor(chance() * market.events.length)]!;
    await shopAt(market, event, chance);
    await pause(chance() * 40);
  }
}

async function shopAt(market: Market, event: SoakEvent, chance: () => number): Promise<void> {
  const sessionKey = `soak-${randomUUID()}`;
  const queuePass = event.hasRoom ? await passThrough(market, event, sessionKey) : undefined;
  if (queuePass === null) return;
  const quantity = 1 + Math.floor(chance() * 4);
  const item = {
    ticket_type_id: event.ticketTypeIds[Math.floor(chance() * event.ticketTypeIds.length)]!,
    selling_stage_id: 'general',
    performance_id: event.performanceIds[Math.floor(chance() * event.performanceIds.length)]!,
    quantity,
  };
  const body = { event_id: event.id, session_key: sessionKey, items: [item], queue_pass: queuePass };
  const headers = { 'idempotency-key': randomUUID() };
  const held = await insist(market, '/api/checkout/holds', { method: 'POST', body, headers });
  if (held?.status !== 201) return;
  market.books.holds += 1;
  const holdId = String(held.body['id']);
  const own = { 'x-session-key': sessionKey };
  const whim = chance();
  if (whim < 0.15)
    return void (await insist(market, `/api/checkout/holds/${holdId}`, { method: 'DELETE', headers: own }));
  if (whim < 0.3) {
    const items = [{ ...item, quantity: Math.max(1, quantity - 1) }];
    await insist(market, `/api/checkout/holds/${holdId}`, { method: 'PATCH', headers: own, body: { items } });
  }
  if (whim > 0.9) return void (await readExpired(market, holdId, own));
  await checkOut(market, event, holdId, sessionKey, chance);
}

/** Joins the waiting room and polls until the pass is there; null when it never comes. */
async function passThrough(market: Market, event: SoakEvent, sessionKey: string): Promise<string | null> {
  const body = { event_id: event.id, session_key: sessionKey };
  let answer = await insist(market, '/api/checkout/queue', { method: 'POST', body });
  for (let polls = 0; polls < 40 && answer !== null && answer.body['status'] === 'WAITING'; polls += 1) {
    await pause(200);
    answer = await insist(market, `/api/checkout/queue/${String(answer.body['id'])}?session_key=${sessionKey}`, {});
  }
  return answer?.body['status'] === 'ADMITTED' ? String(answer.body['id']) : null;
}

/** Lets a hold run out, and reads how it ended: EXPIRED, whatever happened meanwhile. */
async function readExpired(market: Market, holdId: string, headers: Record<string, string>): Promise<void> {
  for (let looks = 0; looks < 60 && !market.isClosing; looks += 1) {
    await pause(500);
    const answer = await insist(market, `/api/checkout/holds/${holdId}`, { headers });
    if (answer === null) return;
    if (answer.status !== 200) return void market.watch.wrong.push(`an own hold reads ${answer.status}`);
    if (answer.body['status'] === 'EXPIRED') {
      market.books.expiredRead += 1;
      return;
    }
  }
}

async function checkOut(
  market: Market,
  event: SoakEvent,
  holdId: string,
  sessionKey: string,
  chance: () => number,
): Promise<void> {
  const email = `buyer-${randomUUID()}@example.com`;
  const body = {
    event_id: event.id,
    hold_id: holdId,
    session_key: sessionKey,
    customer: { email, name: 'Soak Buyer' },
    accept_terms: true,
    installment_count: chance() < 0.1 ? 2 : 1,
    ...(chance() < 0.2 && { promo_code: 'EARLY' }),
    tracking: { utm_source: 'soak' },
  };
  const headers = { 'idempotency-key': randomUUID() };
  const started = await insist(market, '/api/checkout/start', { method: 'POST', body, headers });
  if (started?.status !== 201) return;
  const orderId = String(started.body['order_id']);
  let sessionId = started.body['checkout_session_id'];
  for (let installment = 1; sessionId !== null && installment <= body.installment_count; installment += 1) {
    if (chance() < 0.1) return;
    const outcome = chance() < 0.1 ? 'declined' : 'paid';
    const paid = await insist(market, `/sandbox/payments/${String(sessionId)}`, { method: 'POST', body: { outcome } });
    if (paid?.status !== 200 || outcome === 'declined') return;
    if (installment === body.installment_count) break;
    const next = await insist(market, `/api/checkout/orders/${orderId}/payments`, { method: 'POST' });
    if (next?.status !== 201) return;
    sessionId = next.body['checkout_session_id'];
  }
  const status = await insist(market, `/api/checkout/status/${orderId}`, {});
  if (status?.status !== 200) return void market.watch.wrong.push(`an order reads ${String(status?.status)}`);
  if (status.body['status'] !== 'CONFIRMED') return;
  market.books.confirmed.push({
    orderId,
    eventId: event.id,
    ticketCount: (status.body['tickets'] as unknown[]).length,
  });
}
