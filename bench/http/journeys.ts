/** The journeys of virtual users: sequences of requests. A journey returns whether another one can follow. */
import { signWebhook } from '#payments/standard-webhooks.ts';
import {
  changeHold,
  placeHold,
  readHold,
  releaseHold,
  settlePayment,
  startCheckout,
} from '#rehearsal/player/buyer-requests.ts';
import type { PlayerAnswer, PlayerRequest } from '#rehearsal/player/connection.ts';

export type JourneyName = 'sell-out' | 'rush';

interface JourneyContext {
  readonly number: number;
  /** The event that is sold. */
  readonly eventId: string;
  readonly slug: string;
  /** Signs payments as a provider does; null pays through the sandbox. */
  readonly webhookSecret: string | null;
  /** Sends a request and waits for the answer; its latency is reported under the name. */
  send(name: string, request: PlayerRequest): Promise<PlayerAnswer>;
  bought(tickets: number): void;
  failed(trouble: string): void;
}

type Journey = (context: JourneyContext) => Promise<boolean>;

interface HoldBody {
  readonly id: string;
  readonly items: readonly { readonly ticket_count: number }[];
}

interface Started {
  readonly order_id: string;
  readonly checkout_session_id: string;
  readonly total_amount: number;
  readonly currency: string;
}

const PARTY_MAX = 6;

/** Buys the best seats for a party of one to six, or the largest block that is left. */
const sellOut: Journey = async (context) => {
  let quantity = partyOf(context.number);
  for (;;) {
    const held = await context.send('hold', holdOf(context, seats(quantity)));
    if (held.status === 201) {
      await pay(context, JSON.parse(held.body) as HoldBody);
      return true;
    }
    const largest = largestBlock(held);
    if (largest === null) context.failed(`hold: ${held.status} ${held.body}`);
    if (largest === null || largest === 0) return false;
    quantity = Math.min(quantity - 1, largest);
    if (quantity === 0) quantity = 1;
  }
};

/**
 * Reads the event and its seats and holds the best ones. Then, of ten users, two leave, one releases the hold, two
 * change it and pay, and five pay.
 */
const rush: Journey = async (context) => {
  const { number } = context;
  await expect(context, 'event', 200, { method: 'GET', path: `/api/events/public/${context.slug}` });
  await expect(context, 'occupancy since', 200, await sinceOf(context));
  const held = await context.send('hold', holdOf(context, seats(partyOf(number))));
  if (held.status !== 201) {
    if (largestBlock(held) === null) context.failed(`hold: ${held.status} ${held.body}`);
    return false;
  }
  const hold = JSON.parse(held.body) as HoldBody;
  const session = `session-${number}`;
  const habit = number % 10;
  if (habit < 2) return true;
  if (habit === 2) {
    await expect(context, 'release', 200, releaseHold(session, hold.id));
    return true;
  }
  if (habit < 5) {
    await expect(context, 'change', 200, changeHold(session, hold.id, [seats(1 + (number % 3))]));
    const changed = await expect(context, 'read hold', 200, readHold(session, hold.id));
    await pay(context, JSON.parse(changed.body) as HoldBody);
    return true;
  }
  await pay(context, hold);
  return true;
};

export const JOURNEYS: Readonly<Record<JourneyName, Journey>> = { 'sell-out': sellOut, rush };

/** The newest version of the occupancy that any user has seen; all users poll from it. */
let newestVersion = 0;

async function sinceOf(context: JourneyContext): Promise<PlayerRequest> {
  const path = `/api/events/public/${context.slug}/seating/occupancy`;
  if (newestVersion === 0) {
    const full = await expect(context, 'occupancy', 200, { method: 'GET', path });
    newestVersion = Math.max(newestVersion, (JSON.parse(full.body) as { readonly version: number }).version);
  } else if (context.number % 16 === 0) newestVersion += 16;
  return { method: 'GET', path: `${path}?since=${newestVersion}` };
}

/** Starts the checkout and reports it as paid with a provider's signature. */
async function pay(context: JourneyContext, hold: HoldBody): Promise<void> {
  const { number, eventId } = context;
  const customer = { email: `buyer-${number}@example.com`, name: 'A Buyer' };
  const purchase = { hold_id: hold.id, session_key: `session-${number}`, customer };
  const started = await expect(context, 'start', 201, startCheckout(eventId, purchase));
  if (started.status !== 201) return;
  const paid = await expect(context, 'paid', 200, paymentOf(context, JSON.parse(started.body) as Started));
  if (paid.status === 200) context.bought(hold.items.reduce((sum, { ticket_count }) => sum + ticket_count, 0));
}

function paymentOf({ number, webhookSecret }: JourneyContext, order: Started): PlayerRequest {
  if (webhookSecret === null) return settlePayment(order.checkout_session_id, 'paid');
  const now = Date.now();
  const { checkout_session_id, total_amount: amount, currency } = order;
  const data = { checkout_session_id, payment_id: `pay-${number}`, amount, currency };
  const report = { type: 'payment.paid', timestamp: new Date(now).toISOString(), data };
  const { headers, rawBody } = signWebhook(webhookSecret, `msg-${number}`, report, now);
  return {
    method: 'POST',
    path: '/api/payments/webhooks/provider_a',
    headers: headers as Record<string, string>,
    body: rawBody,
  };
}

async function expect(
  context: JourneyContext,
  name: string,
  status: number,
  request: PlayerRequest,
): Promise<PlayerAnswer> {
  const answer = await context.send(name, request);
  if (answer.status !== status) context.failed(`${name}: ${answer.status} ${answer.body}`);
  return answer;
}

function holdOf({ eventId, number }: JourneyContext, item: object): PlayerRequest {
  return placeHold(eventId, `session-${number}`, [item]);
}

function seats(quantity: number): object {
  return { ticket_type_id: 'seat', selling_stage_id: 'general', quantity };
}

/** Pseudo-random sizes of parties, each equally frequent. */
function partyOf(number: number): number {
  return 1 + ((Math.imul(number, 0x9e3779b1) >>> 16) % PARTY_MAX);
}

/** The largest block that is left, when a hold was refused for lack of seats; otherwise null. */
function largestBlock({ status, body }: PlayerAnswer): number | null {
  if (status !== 400) return null;
  const { code, detail } = JSON.parse(body) as { readonly code: string; readonly detail: { largest_block?: number } };
  return code === 'INSUFFICIENT_TICKETS' ? (detail.largest_block ?? 0) : null;
}
