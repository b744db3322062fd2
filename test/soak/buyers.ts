/**
 * The honest buyers of a soak: they hold, change, release, queue, pay in one or several installments, and record the
 * answers. Requests that change something have an idempotency key, so that a repeat shows the outcome of the first try.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { PlayerRequest } from '#rehearsal/player/connection.ts';
import {
  changeHold,
  joinQueue,
  openPayment,
  placeHold,
  pollQueue,
  readHold,
  readOrder,
  releaseHold,
  settlePayment,
  startCheckout,
} from '#rehearsal/player/buyer-requests.ts';
import { send, type SoakAnswer, type AnswerLog } from './connection.ts';
import type { SoakEvent } from './events.ts';

interface BoughtOrder {
  readonly orderId: string;
  readonly eventId: string;
  readonly ticketCount: number;
}

/** What the buyers were answered. */
interface BuyersRecord {
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
async function insist(sale: SoakSale, { path, ...call }: PlayerRequest): Promise<SoakAnswer | null> {
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
  const pass = queuePass === undefined ? {} : { queue_pass: queuePass };
  const held = await insist(sale, placeHold(event.id, sessionKey, [item], pass, randomUUID()));
  if (held?.status !== 201) return;
  sale.record.holds += 1;
  const holdId = String(held.body['id']);
  const choice = chance();
  if (choice < 0.15) return void (await insist(sale, releaseHold(sessionKey, holdId)));
  if (choice < 0.3) {
    await insist(sale, changeHold(sessionKey, holdId, [{ ...item, quantity: Math.max(1, quantity - 1) }]));
  }
  if (choice > 0.9) return void (await readExpired(sale, holdId, sessionKey));
  await checkOut(sale, event, holdId, sessionKey, chance);
}

/** Joins the waiting room and polls until it is admitted; null when that does not happen in time or by the end. */
async function queueFor(sale: SoakSale, event: SoakEvent, sessionKey: string): Promise<string | null> {
  let answer = await insist(sale, joinQueue(event.id, sessionKey));
  for (let polls = 0; polls < 40 && !sale.isClosing && answer?.body['status'] === 'WAITING'; polls += 1) {
    await pause(200);
    answer = await insist(sale, pollQueue(sessionKey, String(answer.body['id'])));
  }
  return answer?.body['status'] === 'ADMITTED' ? String(answer.body['id']) : null;
}

/** Waits until a hold has expired: it must read EXPIRED, also after restarts and kills. */
async function readExpired(sale: SoakSale, holdId: string, sessionKey: string): Promise<void> {
  for (let reads = 0; reads < 60 && !sale.isClosing; reads += 1) {
    await pause(500);
    const answer = await insist(sale, readHold(sessionKey, holdId));
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
  const installments = chance() < 0.1 ? 2 : 1;
  const purchase = {
    hold_id: holdId,
    session_key: sessionKey,
    customer: { email, name: 'Soak Buyer' },
    installment_count: installments,
    ...(chance() < 0.2 && { promo_code: 'EARLY' }),
    tracking: { utm_source: 'soak' },
  };
  const started = await insist(sale, startCheckout(event.id, purchase, randomUUID()));
  if (started?.status !== 201) return;
  const orderId = String(started.body['order_id']);
  let sessionId = started.body['checkout_session_id'] as string | null;
  for (let installment = 1; sessionId !== null && installment <= installments; installment += 1) {
    if (chance() < 0.1) return;
    const outcome = chance() < 0.1 ? 'declined' : 'paid';
    const paid = await insist(sale, settlePayment(sessionId, outcome));
    if (paid?.status !== 200 || outcome === 'declined') return;
    if (installment === installments) break;
    const next = await insist(sale, openPayment(orderId));
    if (next?.status !== 201) return;
    sessionId = next.body['checkout_session_id'] as string | null;
  }
  const status = await insist(sale, readOrder(orderId));
  if (status?.status !== 200) return void sale.answers.wrong.push(`an order reads ${String(status?.status)}`);
  if (status.body['status'] !== 'CONFIRMED') return;
  sale.record.confirmed.push({
    orderId,
    eventId: event.id,
    ticketCount: (status.body['tickets'] as unknown[]).length,
  });
}
