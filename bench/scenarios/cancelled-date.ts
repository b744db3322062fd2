/**
 * A date of 20,000 paid orders is cancelled with its tickets alone, and everything due is given back by the provider;
 * the process is killed twice, while orders are amended and while refunds are made.
 *
 * The provider is a stand-in for Stripe outside of the service, so that it remembers over the kills what it gave back.
 * Meanwhile others hold tickets of another event, and of another date of the same event, at a fixed rate. At the end
 * provider, journal and orders are compared to the cent. The service begins at most 20 refunds a second, so that a run
 * at full size takes some 20 minutes.
 */
import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { ordersAfter } from '#actors/order-turns.ts';
import { journalPath } from '#persistence/sqlite/schema.ts';
import { buy, item, place, report } from '../../test/fixtures/commands.ts';
import { definitionOf } from '../../test/fixtures/events.ts';
import { openStandIn, SECRET_KEY, WEBHOOK_SECRET, type StandIn } from '../../test/payments/stripe-stand-in.ts';
import { hotEvent } from '../events.ts';
import { auditFolder } from '../http/audit.ts';
import { FIRST_HOLDS, openOthers, WAIT_MS_MAX, type Spent } from '../http/others.ts';
import { ADMIN_TOKEN, startHoldfast } from '../http/server.ts';
import { openDomain } from '../in-process.ts';
import { figureOf, secondsOf, type Figure, type Scenario } from '../scenario.ts';
import type { Reply, ReplyTo } from '#domain/command.ts';

type Service = Awaited<ReturnType<typeof startHoldfast>>;

const ORDERS = { quick: 400, full: 20_000 };
const BUYERS = 32;
const ALONE_SECONDS = { quick: 5, full: 60 };
const LOOK_MS = 250;
const CENTS = 4_500;

const dates = ['fri', 'sat', 'sun'].map((id, day) => ({
  id,
  name: id,
  starts_at: `2099-05-0${day + 1}T20:00:00Z`,
  ends_at: `2099-05-0${day + 1}T23:00:00Z`,
}));
const event = { ...hotEvent, id: 'evt_called', slug: 'called', name: 'The storm', performances: dates };
const otherHolds = {
  'another event': { recipe: 'hot-hold' },
  'another date of it': { recipe: 'hot-hold', eventId: event.id, performanceId: 'sun' },
} as const;

export const cancelledDate: Scenario = {
  name: 'cancelled-date',
  about: 'a date of 20,000 paid orders is cancelled and everything given back, through two kills; others meanwhile',
  async run({ quick, report: step }) {
    const size = quick ? 'quick' : 'full';
    const orders = ORDERS[size];
    step('turns');
    const turns = await timeTurns(orders);
    const provider = await openStandIn();
    const settings = {
      STRIPE_SECRET_KEY: SECRET_KEY,
      STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
      STRIPE_API_BASE: provider.url,
    };
    const others = openOthers(otherHolds);
    let service = await startHoldfast([hotEvent, event], undefined, undefined, settings);
    const activations: number[] = [];
    /** Kills and starts it. The first request activates the event: that wait is the kill's, not the cancellation's. */
    const restart = async (): Promise<void> => {
      await service.kill();
      service = await startHoldfast([], service.folder, undefined, settings);
      const begin = performance.now();
      await sumsOf(service);
      activations.push(performance.now() - begin);
    };
    try {
      step(`${orders} orders`);
      await sell(service, provider, orders);
      step('others alone');
      const alone = await others.during(service, 'alone', () => pause(ALONE_SECONDS[size] * 1_000));
      step('the date is cancelled');
      const cancelled = cancel(service).catch(() => null);
      await others.during(
        service,
        'cancelling',
        until(async () => (await sumsOf(service)).due >= orders / 2),
        restart,
      );
      await cancelled;
      const asking = await others.during(
        service,
        'cancelling',
        until(async () => (await sumsOf(service)).requested === orders),
      );
      step('money is given back');
      await others.during(
        service,
        'giving back',
        until(async () => provider.refunds.all.length >= orders / 2),
        restart,
      );
      const before = (await sumsOf(service)).succeeded;
      const giving = await others.during(
        service,
        'giving back',
        until(async () => (await sumsOf(service)).succeeded === orders),
      );
      const shown = await refundedByOrder(service);
      await service.stop();
      return {
        figures: [
          { name: 'orders', value: orders, unit: '' },
          ...turns,
          ...others.figures(),
          figureOf('after a kill: until the event answers', 'ms', activations),
          { name: 'after the kill: the rest amended and all asked for', value: asking.elapsedMs, unit: 'ms' },
          ...perThousand('amending and asking', asking, alone, orders / 2),
          ...perThousand('giving back', giving, alone, orders - before),
          ...compare(provider, service.folder, shown, orders),
          ...(await auditFolder(service.folder, 0)),
        ],
        notes: [
          `the first ${FIRST_HOLDS} holds of each of the others after a start stand apart`,
          'half of the orders are counted as amended before the kill',
          'a wait is the service’s where its processor time in one go, or a collection, is as long; else of disk or machine',
        ],
      };
    } finally {
      others.close();
      await service.stop();
      await provider.close();
      service.removeFolder();
    }
  },
};

/** Processor time of the whole process for 1,000 orders, and without what others who hold alone take in that time. */
function perThousand(name: string, { elapsedMs, cpuMicros }: Spent, alone: Spent, orders: number): Figure[] {
  const idleMicros = (alone.cpuMicros / alone.elapsedMs) * elapsedMs;
  const figure = `${name}: processor time for 1,000 orders`;
  return [
    { name: figure, value: cpuMicros / orders, unit: 'ms' },
    { name: `${figure}, without the others`, value: (cpuMicros - idleMicros) / orders, unit: 'ms' },
  ];
}

/** Resolves once something is so. */
function until(isSo: () => Promise<boolean>): () => Promise<void> {
  return async () => {
    while (!(await isSo())) await pause(LOOK_MS);
  };
}

// ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The longest turns of the same cancellation by the domain alone, beside as many holds, in processor time: other
 * processes do not count.
 */
async function timeTurns(orders: number): Promise<Figure[]> {
  const texts: string[] = [];
  const fixture = openDomain(definitionOf(event), ({ data }) => texts.push(JSON.stringify(data)));
  for (let n = 0; n < orders; n += 1) {
    const items = ['fri', 'sat'].map((performanceId) => item('single', 1, { performanceId }));
    const { order, payment } = fixture.do(buy(items)) as ReplyTo<'StartCheckout'>;
    const checkoutSessionId = `cs_${n}`;
    const session = { checkoutSessionId, redirectUrl: 'https://pay.example', expiresAt: null };
    fixture.do({ type: 'RecordCheckoutSession', orderId: order.id, paymentId: payment!.id, ...session });
    fixture.do({ ...report({ ...payment!, ...session }, 'paid'), checkoutSessionId });
    fixture.do(place([item('single', 1, { performanceId: 'fri' })], `session ${n}`));
    texts.length = 0;
  }
  const called = { performanceId: 'fri', orders: 'TICKETS', executes: true, operator: null, note: null } as const;
  const first = await secondsOf(() => fixture.do({ type: 'CancelPerformance', ...called }));
  const figures: Figure[] = [{ name: 'CancelPerformance: the turn', value: 1_000 * first, unit: 'ms' }];
  for (const type of ['CancelNextOrders', 'AskNextRefunds'] as const) {
    const took: number[] = [];
    let limit = ordersAfter(null);
    for (let after: number | null = null, isOver = false; !isOver; isOver = after === null) {
      took.push(1_000 * (await secondsOf(() => (after = nextAfter(fixture.do({ type, after, limit }))))));
      limit = ordersAfter(limit);
      texts.length = 0;
    }
    const all = took.reduce((sum, ms) => sum + ms, 0);
    figures.push(
      figureOf(`${type}: a turn, processor time`, 'ms', took),
      { name: `${type}: the longest turn`, value: Math.max(...took), unit: 'ms', budget: { atMost: WAIT_MS_MAX } },
      { name: `${type}: 1,000 orders, processor time`, value: (1_000 * all) / orders, unit: 'ms' },
    );
  }
  return figures;
}

const nextAfter = (reply: Reply): number | null => (reply as ReplyTo<'CancelNextOrders'>).nextAfter;

// ── the sale ─────────────────────────────────────────────────────────────────────────────────────────────────────────

const JSON_BODY = { 'content-type': 'application/json' };
const OPERATOR = { ...JSON_BODY, authorization: `Bearer ${ADMIN_TOKEN}` };

async function send(url: string, body: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const answer = await fetch(url, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

/** Paid orders of a ticket on each of two dates. */
async function sell({ url }: Service, provider: StandIn, orders: number): Promise<void> {
  const items = ['fri', 'sat'].map((performance_id) => {
    return { ticket_type_id: 'single', selling_stage_id: 'general', quantity: 1, performance_id };
  });
  const numbers = Array.from({ length: orders }, (_, n) => n).values();
  const shop = async (): Promise<void> => {
    for (const n of numbers) {
      const customer = { email: `buyer-${n}@example.com`, name: `Buyer ${n}` };
      const body = JSON.stringify({ event_id: event.id, items, customer, accept_terms: true });
      const started = await send(`${url}/api/checkout/start`, body, JSON_BODY);
      const { checkout_session_id: id } = started as Readonly<Record<string, string>>;
      const session = provider.sessions[Number(id!.slice('cs_test_'.length)) - 1]!;
      const seen = { ...session, form: undefined, object: 'checkout.session', payment_status: 'paid' };
      const { body: paid, headers } = provider.event('checkout.session.completed', seen);
      await send(`${url}/api/payments/webhooks/provider_a`, paid, { ...JSON_BODY, ...headers });
    }
  };
  await Promise.all(Array.from({ length: BUYERS }, shop));
}

async function cancel({ adminUrl }: Service): Promise<unknown> {
  const path = `/admin/events/${event.id}/performances/fri/cancel`;
  return send(adminUrl + path, JSON.stringify({ orders: 'TICKETS', refunds: 'EXECUTE' }), OPERATOR);
}

async function read(url: string): Promise<Readonly<Record<string, unknown>>> {
  const answer = await fetch(url, { headers: OPERATOR });
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${await answer.text()}`);
  return (await answer.json()) as Readonly<Record<string, unknown>>;
}

/** Orders to which something is or was due, and refunds by how far they are. */
async function sumsOf({ adminUrl }: Service) {
  const sums = await read(`${adminUrl}/admin/events/${event.id}/refunds?limit=1`);
  const countOf = (kind: string): number =>
    (sums[kind] as readonly { readonly count: number }[]).reduce((sum, { count }) => sum + count, 0);
  const succeeded = countOf('succeeded');
  return { due: countOf('due'), succeeded, requested: succeeded + countOf('pending') };
}

// ── the books ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What each order shows as given back, in cents. */
async function refundedByOrder({ adminUrl }: Service): Promise<ReadonlyMap<string, number>> {
  const refunded = new Map<string, number>();
  for (let cursor = ''; ;) {
    const page = await read(`${adminUrl}/admin/events/${event.id}/orders?limit=500${cursor}`);
    for (const order of page['orders'] as readonly { order_id: string; refunded_amount: number }[]) {
      refunded.set(order.order_id, order.refunded_amount);
    }
    if (page['next_cursor'] === null) return refunded;
    cursor = `&cursor=${encodeURIComponent(String(page['next_cursor']))}`;
  }
}

/** What the journal has as given back, by order, in cents. */
function refundedInJournal(folder: string): ReadonlyMap<string, number> {
  const db = new Database(journalPath(folder), { readonly: true });
  const refunded = new Map<string, number>();
  for (const data of db.prepare("SELECT data FROM journal WHERE type = 'RefundRecorded'").pluck().iterate()) {
    const { orderId, amountCents } = JSON.parse(String(data)) as { orderId: string; amountCents: number };
    refunded.set(orderId, (refunded.get(orderId) ?? 0) + amountCents);
  }
  db.close();
  return refunded;
}

/** Provider, journal and orders side by side. */
function compare(provider: StandIn, folder: string, shown: ReadonlyMap<string, number>, orders: number): Figure[] {
  const given = new Map<string, number>();
  for (const { payment_intent: intent, amount } of provider.refunds.all) {
    const { order_id: orderId = '' } = provider.sessions[Number(intent.slice('pi_'.length)) - 1]!.metadata;
    given.set(orderId, (given.get(orderId) ?? 0) + amount);
  }
  const journal = refundedInJournal(folder);
  const others = [...shown].filter(
    ([orderId, cents]) => cents !== CENTS || given.get(orderId) !== cents || journal.get(orderId) !== cents,
  );
  const sumOf = (all: ReadonlyMap<string, number>): number => [...all.values()].reduce((sum, cents) => sum + cents, 0);
  const apart = Math.max(...[given, journal, shown].map((all) => Math.abs(sumOf(all) - orders * CENTS)));
  const none = { budget: { atMost: 0 } };
  return [
    {
      name: 'audit: orders that provider, journal and status do not agree about',
      value: others.length,
      unit: '',
      ...none,
    },
    { name: 'audit: sums of provider, journal and status, apart', value: apart, unit: 'cents', ...none },
    {
      name: 'audit: refunds at the provider beyond one an order',
      value: provider.refunds.all.length - orders,
      unit: '',
      ...none,
    },
  ];
}
