/**
 * The honest buyers of a soak: they hold, change, release, queue, pay in one or several installments, and record the answers.
 * Requests that change something have an idempotency key, so that a repeat shows the outcome of the first try.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { send, type SoakAnswer, type SoakCall, type AnswerLog } from './connection.ts';
import type { SoakEvent } from './events.ts';

export interface BoughtOrder {
  readonly orderId: string;
  readonly eventId: string;
  readonly ticketCount: number;
}

/** What the buyers were answered. */
export interface BuyersRecord {
  readonly confirmed: BoughtOrder[];
  holds: number;
  expiredRead: number;
}

export interface SoakSale {
  readonly answers: AnswerLog;
  readonly record: BuyersRecord;
  readonly events: readonly SoakEvent[];
  publicUrl: string;
  isClosing: boolean;
}

const TRIES_MAX = 400;
const RETRY_MS = 150;

export function newRecord(): BuyersRecord {
  return { confirmed: [], holds: 0, expiredRead: 0 };
}

/** Repeats a request until its answer is neither 502 nor 503; null when that takes too many tries. */
async function insist(sale: SoakSale, path: string, call: SoakCall): Promise<SoakAnswer | null> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const answer = await send(sale.answers, sale.publicUrl + path, call);
    if (answer !== null && answer.status !== 503 && answer.status !== 502) return answer;
    await pause(RETRY_MS);
  }
  return null;
}

/** Buys again and again until the soak ends. */
export async function buy(sale: SoakSale, chance: () => number): Promise<void> {
  while (!sale.isClosing) {
    const event = sale.events[Math.floor(chance() * sale.events.length)]!;
    await buyAt(sale, event, chance);
    await pause(chance() * 40);
  }
}

async function buyAt(sale: SoakSale, event: SoakEvent, chance: () => number): Promise<void> {
  const sessionKey = `soak-${randomUUID()}`;
  const queuePass = event.hasRoom ? await queueFor(sale, event, sessionKey) : undefined;
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
  const held = await insist(sale, '/api/checkout/holds', { method: 'POST', body, headers });
  if (held?.status !== 201) return;
  sale.record.holds += 1;
  const holdId = String(held.body['id']);
  const own = { 'x-session-key': sessionKey };
  const choice = chance();
  if (choice < 0.15)
    return void (await insist(sale, `/api/checkout/holds/${holdId}`, { method: 'DELETE', headers: own }));
  if (choice < 0.3) {
    const items = [{ ...item, quantity: Math.max(1, quantity - 1) }];
    await insist(sale, `/api/checkout/holds/${holdId}`, { method: 'PATCH', headers: own, body: { items } });
  }
  if (choice > 0.9) return void (await readExpired(sale, holdId, own));
  await checkOut(sale, event, holdId, sessionKey, chance);
}

/** Joins the waiting room and polls until it is admitted; null when that does not happen in time. */
async function queueFor(sale: SoakSale, event: SoakEvent, sessionKey: string): Promise<string | null> {
  const body = { event_id: event.id, session_key: sessionKey };
  let answer = await insist(sale, '/api/checkout/queue', { method: 'POST', body });
  for (let polls = 0; polls < 40 && answer !== null && answer.body['status'] === 'WAITING'; polls += 1) {
    await pause(200);
    answer = await insist(sale, `/api/checkout/queue/${String(answer.body['id'])}?session_key=${sessionKey}`, {});
  }
  return answer?.body['status'] === 'ADMITTED' ? String(answer.body['id']) : null;
}

/** Waits until a hold has expired: it must read EXPIRED, also after restarts and kills. */
async function readExpired(sale: SoakSale, holdId: string, headers: Record<string, string>): Promise<void> {
  for (let reads = 0; reads < 60 && !sale.isClosing; reads += 1) {
    await pause(500);
    const answer = await insist(sale, `/api/checkout/holds/${holdId}`, { headers });
    if (answer === null) return;
    if (answer.status !== 200) return void sale.answers.wrong.push(`an own hold reads ${answer.status}`);
    if (answer.body['status'] === 'EXPIRED') {
      sale.record.expiredRead += 1;
      return;
    }
  }
}

async function checkOut(
  sale: SoakSale,
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
  const started = await insist(sale, '/api/checkout/start', { method: 'POST', body, headers });
  if (started?.status !== 201) return;
  const orderId = String(started.body['order_id']);
  let sessionId = started.body['checkout_session_id'];
  for (let installment = 1; sessionId !== null && installment <= body.installment_count; installment += 1) {
    if (chance() < 0.1) return;
    const outcome = chance() < 0.1 ? 'declined' : 'paid';
    const paid = await insist(sale, `/sandbox/payments/${String(sessionId)}`, { method: 'POST', body: { outcome } });
    if (paid?.status !== 200 || outcome === 'declined') return;
    if (installment === body.installment_count) break;
    const next = await insist(sale, `/api/checkout/orders/${orderId}/payments`, { method: 'POST' });
    if (next?.status !== 201) return;
    sessionId = next.body['checkout_session_id'];
  }
  const status = await insist(sale, `/api/checkout/status/${orderId}`, {});
  if (status?.status !== 200) return void sale.answers.wrong.push(`an order reads ${String(status?.status)}`);
  if (status.body['status'] !== 'CONFIRMED') return;
  sale.record.confirmed.push({
    orderId,
    eventId: event.id,
    ticketCount: (status.body['tickets'] as unknown[]).length,
  });
}
