/** What the people of a crowd do, step by step. A walk answers whether its person has a reason to begin another one. */
import { signWebhook } from '#payments/standard-webhooks.ts';
import type { Answer, Request } from './wire.ts';

export type WalkName = 'sell-out' | 'rush';

/** What a walk has at hand. */
export interface Walker {
  readonly number: number;
  readonly webhookSecret: string;
  /** Asks and waits for the answer; its latency is told under the name. */
  ask(name: string, request: Request): Promise<Answer>;
  bought(tickets: number): void;
  failed(trouble: string): void;
}

type Walk = (walker: Walker) => Promise<boolean>;

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

/** Buys the best seats for a party of one to six; where so many are not left together, for as many as are. */
const sellOut: Walk = async (walker) => {
  let quantity = partyOf(walker.number);
  for (;;) {
    const held = await walker.ask('hold', holdOf('evt_stadium', walker.number, seats(quantity)));
    if (held.status === 201) {
      await pay(walker, 'evt_stadium', JSON.parse(held.body) as HoldBody);
      return true;
    }
    const largest = largestBlock(held);
    if (largest === null) walker.failed(`hold: ${held.status} ${held.body}`);
    if (largest === null || largest === 0) return false;
    quantity = Math.min(quantity - 1, largest);
    if (quantity === 0) quantity = 1;
  }
};

/**
 * Looks at the event and at its seats, holds the best ones, and does as people do: of ten, two leave without a word, one
 * gives back, two change their minds about the number, and seven pay.
 */
const rush: Walk = async (walker) => {
  const { number } = walker;
  await expect(walker, 'event', 200, { method: 'GET', path: '/api/events/public/stadium' });
  await expect(walker, 'occupancy since', 200, await sinceOf(walker));
  const held = await walker.ask('hold', holdOf('evt_stadium', number, seats(partyOf(number))));
  if (held.status !== 201) {
    if (largestBlock(held) === null) walker.failed(`hold: ${held.status} ${held.body}`);
    return false;
  }
  const hold = JSON.parse(held.body) as HoldBody;
  const path = `/api/checkout/holds/${hold.id}`;
  const headers = { 'x-session-key': `session-${number}` };
  const habit = number % 10;
  if (habit < 2) return true;
  if (habit === 2) {
    await expect(walker, 'release', 200, { method: 'DELETE', path, headers });
    return true;
  }
  if (habit < 5) {
    const body = JSON.stringify({ items: [seats(1 + (number % 3))] });
    await expect(walker, 'change', 200, { method: 'PATCH', path, headers, body });
    const changed = await expect(walker, 'read hold', 200, { method: 'GET', path, headers });
    await pay(walker, 'evt_stadium', JSON.parse(changed.body) as HoldBody);
    return true;
  }
  await pay(walker, 'evt_stadium', hold);
  return true;
};

export const WALKS: Readonly<Record<WalkName, Walk>> = { 'sell-out': sellOut, rush };

/** The seats that changed lately: the crowd shares the newest version that anybody saw, as pages that poll do. */
let newestVersion = 0;

async function sinceOf(walker: Walker): Promise<Request> {
  const path = '/api/events/public/stadium/seating/occupancy';
  if (newestVersion === 0) {
    const full = await expect(walker, 'occupancy', 200, { method: 'GET', path });
    newestVersion = Math.max(newestVersion, (JSON.parse(full.body) as { readonly version: number }).version);
  } else if (walker.number % 16 === 0) newestVersion += 16;
  return { method: 'GET', path: `${path}?since=${newestVersion}` };
}

/** Starts the checkout and reports it paid, signed as a provider would. */
async function pay(walker: Walker, eventId: string, hold: HoldBody): Promise<void> {
  const { number } = walker;
  const started = await expect(walker, 'start', 201, {
    method: 'POST',
    path: '/api/checkout/start',
    body: JSON.stringify({
      event_id: eventId,
      hold_id: hold.id,
      session_key: `session-${number}`,
      customer: { email: `buyer-${number}@example.com`, name: 'A Buyer' },
      accept_terms: true,
    }),
  });
  if (started.status !== 201) return;
  const paid = await expect(walker, 'paid', 200, webhookOf(walker, JSON.parse(started.body) as Started));
  if (paid.status === 200) walker.bought(hold.items.reduce((sum, { ticket_count }) => sum + ticket_count, 0));
}

function webhookOf({ number, webhookSecret }: Walker, order: Started): Request {
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

async function expect(walker: Walker, name: string, status: number, request: Request): Promise<Answer> {
  const answer = await walker.ask(name, request);
  if (answer.status !== status) walker.failed(`${name}: ${answer.status} ${answer.body}`);
  return answer;
}

function holdOf(eventId: string, number: number, item: object): Request {
  return {
    method: 'POST',
    path: '/api/checkout/holds',
    body: JSON.stringify({ event_id: eventId, session_key: `session-${number}`, items: [item] }),
  };
}

function seats(quantity: number): object {
  return { ticket_type_id: 'seat', selling_stage_id: 'general', quantity };
}

/** Sizes of parties in no order, each as often as the others. */
function partyOf(number: number): number {
  return 1 + ((Math.imul(number, 0x9e3779b1) >>> 16) % PARTY_MAX);
}

/** How many seats are left side by side, where a hold was refused because there are not so many; else null. */
function largestBlock({ status, body }: Answer): number | null {
  if (status !== 400) return null;
  const { code, detail } = JSON.parse(body) as { readonly code: string; readonly detail: { largest_block?: number } };
  return code === 'INSUFFICIENT_TICKETS' ? (detail.largest_block ?? 0) : null;
}
