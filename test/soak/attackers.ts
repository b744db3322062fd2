/**
 * The attackers of a soak: every attack that once stopped the service, repeated.
 *
 * An attack expects no particular answer. `soak/connection.ts` reports every 5xx except 503.
 */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { joinQueue, placeHold, startCheckout } from '#rehearsal/player/buyer-requests.ts';
import type { PlayerRequest } from '#rehearsal/player/connection.ts';
import { send } from './connection.ts';
import type { SoakSale } from './buyers.ts';
import type { SoakEvent } from './events.ts';

type Attack = (sale: SoakSale, chance: () => number) => Promise<void>;

/** Writes bytes on a raw connection, then resets it. */
function raw(sale: SoakSale, text: string, aliveMs: number): Promise<void> {
  const { hostname, port } = new URL(sale.publicUrl);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => resolve());
    socket.on('close', () => resolve());
    socket.resume();
    socket.write(text);
    setTimeout(() => socket.resetAndDestroy(), aliveMs);
  });
}

const ask = (sale: SoakSale, { path, ...call }: PlayerRequest) => send(sale.answers, sale.publicUrl + path, call);

const itemOf = ({ ticketTypeIds, performanceIds }: SoakEvent, quantity: number) => ({
  ticket_type_id: ticketTypeIds[0],
  selling_stage_id: 'general',
  performance_id: performanceIds[0],
  quantity,
});

const randomEvent = (sale: SoakSale, chance: () => number) => sale.events[Math.floor(chance() * sale.events.length)]!;

/** Pipelines requests for live streams on a short connection: each once took a place that was never released. */
const pipelinedStreams: Attack = async (sale, chance) => {
  const { slug, performanceIds } = randomEvent(sale, chance);
  const path = `/api/events/public/${slug}/live?performance_id=${performanceIds[0]}`;
  const request = `GET ${path} HTTP/1.1\r\nHost: soak\r\n\r\n`;
  await raw(sale, request.repeat(200), 30 + chance() * 200);
};

const hugeTracking: Attack = async (sale, chance) => {
  const event = randomEvent(sale, chance);
  const big = 'x'.repeat(5_000);
  const tracking = Object.fromEntries(Array.from({ length: 45 }, (_, n) => [`utm_${n}`, big]));
  const customer = { email: `${randomUUID()}@example.com`, name: 'N'.repeat(400) };
  const purchase = { items: [itemOf(event, 1)], customer, tracking };
  await ask(sale, startCheckout(event.id, purchase, `${randomUUID()}${'k'.repeat(200)}`));
};

/** Places and replaces holds as fast as possible, so that ended holds of others are dropped earlier. */
const endedHolds: Attack = async (sale, chance) => {
  const event = sale.events[0]!;
  for (let times = 0; times < 20; times += 1) {
    await ask(sale, placeHold(event.id, `churn-${Math.floor(chance() * 5)}-attacker`, [itemOf(event, 1)]));
  }
};

const greedyHold: Attack = async (sale, chance) => {
  const event = randomEvent(sale, chance);
  await ask(sale, placeHold(event.id, randomUUID(), [itemOf(event, 100_000)]));
};

const guessedCodes: Attack = async (sale, chance) => {
  const event = randomEvent(sale, chance);
  const customer = { email: `${randomUUID()}@example.com`, name: 'G' };
  const purchase = { items: [itemOf(event, 1)], customer, promo_code: randomUUID() };
  const headers = { 'x-forwarded-for': `10.0.${Math.floor(chance() * 255)}.1` };
  await ask(sale, { ...startCheckout(event.id, purchase), headers });
};

/** A payment report that is signed with an unknown secret. */
const forgedWebhook: Attack = async (sale) => {
  const body = JSON.stringify({
    type: 'payment.paid',
    timestamp: new Date().toISOString(),
    data: { checkout_session_id: 'cs_1_none', payment_id: 'p', amount: 1, currency: 'EUR' },
  });
  const id = randomUUID();
  const at = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', randomBytes(24)).update(`${id}.${at}.${body}`).digest('base64');
  await send(sale.answers, `${sale.publicUrl}/api/payments/webhooks/provider_a`, {
    method: 'POST',
    body,
    headers: { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` },
  });
};

const damagedRequests: Attack = async (sale, chance) => {
  const body = '{"event_id":"evt_club0","session_key":"damaged-session","items":[';
  const head = `POST /api/checkout/holds HTTP/1.1\r\nHost: soak\r\nContent-Type: application/json\r\nContent-Length: ${body.length + 50}\r\n\r\n`;
  await raw(sale, head + body, chance() * 500);
  await send(sale.answers, `${sale.publicUrl}/api/checkout/holds`, { method: 'POST', body: body });
  await send(sale.answers, `${sale.publicUrl}/api/events/public?limit=-1&cursor=%00`);
};

/** Entries of the waiting room that nobody polls. */
const staleEntries: Attack = async (sale) => {
  const room = sale.events.find(({ hasRoom }) => hasRoom)!;
  for (let times = 0; times < 10; times += 1) {
    await ask(sale, joinQueue(room.id, randomUUID()));
  }
};

const reads: Attack = async (sale, chance) => {
  const { slug, performanceIds } = randomEvent(sale, chance);
  await send(sale.answers, `${sale.publicUrl}/api/events/public`);
  await send(sale.answers, `${sale.publicUrl}/api/events/public/${slug}`);
  await send(
    sale.answers,
    `${sale.publicUrl}/api/events/public/${slug}/seating/occupancy?performance_id=${performanceIds[0]}`,
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

/** Repeats random attacks until the soak ends. */
export async function attack(sale: SoakSale, chance: () => number): Promise<void> {
  while (!sale.isClosing) {
    await ATTACKS[Math.floor(chance() * ATTACKS.length)]!(sale, chance);
    await pause(chance() * 100);
  }
}
