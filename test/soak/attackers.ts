/**
 * Who means the service harm in a soak: every attack that once took it down, again and again.
 *
 * An attack counts on nothing: answers may be anything but a 5xx other than 503, which `connection.ts` watches for.
 */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { send } from './connection.ts';
import type { Market } from './buyers.ts';

type Attack = (market: Market, chance: () => number) => Promise<void>;

/** Writes bytes on a raw connection, then breaks off. */
function raw(market: Market, text: string, aliveMs: number): Promise<void> {
  const { hostname, port } = new URL(market.publicUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    socket.resume();
    socket.write(text);
    setTimeout(() => socket.resetAndDestroy(), aliveMs);
  });
}

const anyEvent = (market: Market, chance: () => number) => market.events[Math.floor(chance() * market.events.length)]!;

/** Live streams in one piece on a short connection: each took a place that was never given back. */
const pipelinedStreams: Attack = async (market, chance) => {
  const { slug, performanceIds } = anyEvent(market, chance);
  const path = `/api/events/public/${slug}/live?performance_id=${performanceIds[0]}`;
  const request = `GET ${path} HTTP/1.1\r\nHost: soak\r\n\r\n`;
  await raw(market, request.repeat(200), 30 + chance() * 200);
};

const hugeTracking: Attack = async (market, chance) => {
  const event = anyEvent(market, chance);
  const big = 'x'.repeat(5_000);
  const tracking = Object.fromEntries(Array.from({ length: 45 }, (_, n) => [`utm_${n}`, big]));
  const item = { ticket_type_id: event.ticketTypeIds[0], selling_stage_id: 'general', quantity: 1 };
  await send(market.watch, `${market.publicUrl}/api/checkout/start`, {
    method: 'POST',
    headers: { 'idempotency-key': `${randomUUID()}${'k'.repeat(200)}` },
    body: {
      event_id: event.id,
      items: [{ ...item, performance_id: event.performanceIds[0] }],
      customer: { email: `${randomUUID()}@example.com`, name: 'N'.repeat(400) },
      accept_terms: true,
      tracking,
    },
  });
};

/** Places and gives back holds as fast as it goes, so that others' ended ones are forgotten. */
const endedHolds: Attack = async (market, chance) => {
  const event = market.events[0]!;
  const item = { ticket_type_id: event.ticketTypeIds[0], selling_stage_id: 'general', quantity: 1 };
  for (let times = 0; times < 20; times += 1) {
    const session_key = `churn-${Math.floor(chance() * 5)}-attacker`;
    await send(market.watch, `${market.publicUrl}/api/checkout/holds`, {
      method: 'POST',
      body: { event_id: event.id, session_key, items: [item] },
    });
  }
};

const greedyHold: Attack = async (market, chance) => {
  const event = anyEvent(market, chance);
  const item = { ticket_type_id: event.ticketTypeIds[0], selling_stage_id: 'general', quantity: 100_000 };
  await send(market.watch, `${market.publicUrl}/api/checkout/holds`, {
    method: 'POST',
    body: {
      event_id: event.id,
      session_key: randomUUID(),
      items: [{ ...item, performance_id: event.performanceIds[0] }],
    },
  });
};

const guessedCodes: Attack = async (market, chance) => {
  const event = anyEvent(market, chance);
  const item = { ticket_type_id: event.ticketTypeIds[0], selling_stage_id: 'general', quantity: 1 };
  await send(market.watch, `${market.publicUrl}/api/checkout/start`, {
    method: 'POST',
    headers: { 'x-forwarded-for': `10.0.${Math.floor(chance() * 255)}.1` },
    body: {
      event_id: event.id,
      items: [{ ...item, performance_id: event.performanceIds[0] }],
      customer: { email: `${randomUUID()}@example.com`, name: 'G' },
      accept_terms: true,
      promo_code: randomUUID(),
    },
  });
};

/** A payment report that nobody's secret signed. */
const forgedWebhook: Attack = async (market) => {
  const body = JSON.stringify({
    type: 'payment.paid',
    timestamp: new Date().toISOString(),
    data: { checkout_session_id: 'cs_1_none', payment_id: 'p', amount: 1, currency: 'EUR' },
  });
  const id = randomUUID();
  const at = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', randomBytes(24)).update(`${id}.${at}.${body}`).digest('base64');
  await send(market.watch, `${market.publicUrl}/api/payments/webhooks/provider_a`, {
    method: 'POST',
    body,
    headers: { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` },
  });
};

const damagedRequests: Attack = async (market, chance) => {
  const body = '{"event_id":"evt_club0","session_key":"damaged-session","items":[';
  const head = `POST /api/checkout/holds HTTP/1.1\r\nHost: soak\r\nContent-Type: application/json\r\nContent-Length: ${body.length + 50}\r\n\r\n`;
  await raw(market, head + body, chance() * 500);
  await send(market.watch, `${market.publicUrl}/api/checkout/holds`, { method: 'POST', body: body });
  await send(market.watch, `${market.publicUrl}/api/events/public?limit=-1&cursor=%00`);
};

/** Places in line that nobody polls. */
const staleEntries: Attack = async (market) => {
  const room = market.events.find(({ hasRoom }) => hasRoom)!;
  for (let times = 0; times < 10; times += 1) {
    await send(market.watch, `${market.publicUrl}/api/checkout/queue`, {
      method: 'POST',
      body: { event_id: room.id, session_key: randomUUID() },
    });
  }
};

const reads: Attack = async (market, chance) => {
  const { slug, performanceIds } = anyEvent(market, chance);
  await send(market.watch, `${market.publicUrl}/api/events/public`);
  await send(market.watch, `${market.publicUrl}/api/events/public/${slug}`);
  await send(
    market.watch,
    `${market.publicUrl}/api/events/public/${slug}/seating/occupancy?performance_id=${performanceIds[0]}`,
  );
};

const ATTACKS: readonly Attack[] = [
  pipelinedStreams,
  hugeTracking,
  endedHolds,
  greedyHold,
  guessedCodes,
  forgedWebhook,
  damagedRequests,
  staleEntries,
  reads,
];

/** Attacks again and again until the market closes. */
export async function attack(market: Market, chance: () => number): Promise<void> {
  while (!market.isClosing) {
    await ATTACKS[Math.floor(chance() * ATTACKS.length)]!(market, chance);
    await pause(chance() * 100);
  }
}
