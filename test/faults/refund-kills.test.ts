/**
 * kill -9 while refunds are executed, first as everything that is due at once and then by order, against a stand-in
 * for Stripe outside of the process that loses answers, fails, refuses, takes its time, and whose reports come late,
 * repeatedly and in any order.
 *
 * By the list of the stand-in each order was given back exactly once, whatever was given back by hand before; nothing
 * that is due is forgotten (promise 15).
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { verifyFolder } from '#offline/verification.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import { deep } from '../depth.ts';
import { newCustomer, start } from '../fixtures/checkout.ts';
import { gala } from '../fixtures/events.ts';
import { newFolder } from '../fixtures/folders.ts';
import { ofOneMachine, spawnService, type ServiceProcess } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import {
  openStandIn,
  SECRET_KEY,
  seen,
  WEBHOOK_SECRET,
  type SignedEvent,
  type StandIn,
} from '../payments/stripe-stand-in.ts';
import type { RefundOutcome, StandInRefund } from '../payments/stripe-refunds-stand-in.ts';
import { chance, faultSeed } from './points.ts';

/** At most what a page of a list has, and fewer than there are tickets. */
const ORDERS = Math.min(deep(80), 400);
/** While they are tried; one is before, when all of them were ordered and not asked for. */
const KILLS = deep(2);
const PRICE = 1900;
/** So often an hour passes until the provider is well. */
const TROUBLED_ROUNDS = 2;
/** After the kills, on a machine that runs other tests beside. */
const SETTLED_MS_MAX = 60_000;
/** Calls of buyers and operators at once. */
const AT_ONCE = 8;
const HOUR_SECONDS = 3_600;
const FINAL = new Set(['SUCCEEDED', 'FAILED']);

interface Sold {
  readonly orderId: string;
  readonly paymentIntent: string;
}

const [, stand] = (gala() as { readonly localities: readonly object[] }).localities;
const large = gala({ localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 1_000 }, stand] });

/** Reports of the stand-in on their way to the service: any of them next, some of them twice. */
class Reports {
  readonly #waiting: SignedEvent[] = [];
  /** Refunds that were reported already. */
  readonly #known = new Set<string>();
  readonly #standIn: StandIn;

  constructor(standIn: StandIn) {
    this.#standIn = standIn;
    standIn.refunds.onChange = (refund) => this.#noteRefund(refund);
  }

  /** Stripe reports a refund by itself, and the sum of its charge without a word of which refund it was. */
  #noteRefund(refund: StandInRefund): void {
    const type = refund.status === 'failed' ? 'refund.failed' : chance.pick(['refund.created', 'refund.updated']);
    this.add(type, refund);
    const given = this.#standIn.refunds.of(refund.payment_intent).reduce((sum, { amount }) => sum + amount, 0);
    const isNew = !this.#known.has(refund.id);
    this.#known.add(refund.id);
    if (refund.status === 'failed' || !isNew) return;
    const { metadata, currency } = this.#standIn.sessions[Number(refund.payment_intent.slice(3)) - 1]!;
    const before = { amount_refunded: given - refund.amount };
    this.add('charge.refunded', { object: 'charge', metadata, currency, amount_refunded: given }, before);
  }

  add(type: string, object: object, previous?: object): void {
    const event = this.#standIn.event(type, object, { ...(previous !== undefined && { previous }) });
    this.#waiting.push(event, ...(chance.percent(30) ? [event] : []));
  }

  /** Delivers reports until the service is gone, or none waits. One that was not taken comes again. */
  async deliver(service: ServiceProcess, isGone: () => boolean): Promise<void> {
    while (!isGone() && this.#waiting.length > 0) {
      const [event] = this.#waiting.splice(chance.between(0, this.#waiting.length - 1), 1);
      const isTaken = await post(service, event!).catch(() => false);
      if (!isTaken || chance.percent(5)) this.#waiting.push(event!);
      if (chance.percent(20)) await pause(chance.between(0, 20));
    }
  }
}

async function post(service: ServiceProcess, { body, headers }: SignedEvent): Promise<boolean> {
  return (await service.post('/api/payments/webhooks/provider_a', body, headers)).status === 200;
}

/** Does the same for each of many, some of them at once. */
async function forEachOf<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of waiting) await work(item);
    }),
  );
}

/** Sells, and cancels every order. */
async function sell(service: ServiceProcess, standIn: StandIn): Promise<readonly Sold[]> {
  await service.define(large);
  const sold: Sold[] = [];
  await forEachOf([...Array(ORDERS).keys()], async () => {
    const { order_id: orderId, checkout_session_id: id } = await start(service, { customer: newCustomer() });
    const session = standIn.sessions.find((each) => each.id === id)!;
    assert.ok(await post(service, standIn.event('checkout.session.completed', seen(session))));
    assert.equal((await service.admin.post(`/admin/orders/${orderId}/cancel`)).status, 200);
    sold.push({ orderId, paymentIntent: session.id.replace('cs_test', 'pi') });
  });
  return sold;
}

/** Executes what is due, as an operator who repeats what was not answered; rejects when the service is gone. */
async function execute(service: ServiceProcess, sold: readonly Sold[]): Promise<void> {
  await forEachOf(sold, async ({ orderId }) => {
    const { status, body } = await service.admin.post(`/admin/orders/${orderId}/refunds`, { execute: true });
    assert.ok(status === 200 || status === 409, JSON.stringify(body));
  });
}

const DUE = '/admin/events/evt_gala/refunds';

/** Has everything given back that is due, as an operator who confirms the sum that is shown. */
async function executeDue(service: ServiceProcess): Promise<void> {
  for (let confirm: object[] = []; ;) {
    const { status, body } = await service.admin.post<{ detail: { due: object[] } }>(DUE, { confirm });
    if (status === 202) return;
    assert.equal(status, 409, JSON.stringify(body));
    confirm = body.detail.due;
  }
}

/** How many orders have a refund. */
async function countRefunded({ admin }: ServiceProcess): Promise<number> {
  const { body } = await admin.get<{ refunds: readonly { readonly order_id: string }[] }>(`${DUE}?limit=500`);
  return new Set(body.refunds.map(({ order_id: id }) => id)).size;
}

const orderOf = async (service: ServiceProcess, { orderId }: Sold): Promise<AdminOrderBody> =>
  (await service.admin.get<AdminOrderBody>(`/admin/orders/${orderId}`)).body;

/** Lets every trouble happen at the stand-in, to a request of any kind. */
function trouble(standIn: StandIn): void {
  standIn.trouble = ({ url = '' }) => {
    if (!url.includes('/refunds')) return null;
    const kinds = { none: 70, 'answer lost': 20, 'hang up': 10 } as const;
    const kind = chance.weighted(kinds);
    return kind === 'none' ? null : kind;
  };
  standIn.refunds.outcome = () =>
    chance.weighted<RefundOutcome>({
      succeeded: 60,
      pending: 15,
      failed: 5,
      refused: 5,
      error: 10,
      'error afterwards': 5,
    });
  standIn.refunds.delayMs = () => (chance.percent(20) ? chance.between(1, 500) : 0);
}

/** Settles what is pending at the stand-in; in trouble some fail, and a few that had succeeded fail after all. */
function settlePending({ refunds }: StandIn, isWell = false): void {
  for (const { id, status, metadata } of refunds.all) {
    if (status === 'pending') refunds.settle(id, isWell || chance.percent(80) ? 'succeeded' : 'failed');
    else if (!isWell && status === 'succeeded' && 'refund_id' in metadata && chance.percent(2))
      refunds.settle(id, 'failed');
  }
}

/**
 * What operators do about what is left: failed ones are executed again, and those that need one are tried again.
 * Returns the orders that are owed something.
 */
async function settleRest(service: ServiceProcess, sold: readonly Sold[]): Promise<readonly Sold[]> {
  const open: Sold[] = [];
  await forEachOf(sold, async (order) => {
    const { refunds, refund_due: due } = await orderOf(service, order);
    const stuck = refunds.filter(({ status }) => status === 'NEEDS_OPERATOR');
    for (const { id } of stuck) {
      await service.admin.post(`/admin/orders/${order.orderId}/refunds/${id}/resolve`, { outcome: 'RETRY' });
    }
    if (due > 0 && refunds.every(({ status }) => FINAL.has(status))) await execute(service, [order]);
    if (due > 0) open.push(order);
  });
  return open;
}

const skip = ofOneMachine('one process is killed');

it(`${ORDERS} refunds of a service that is killed ${KILLS + 1} times are each given back once`, { skip }, async (t) => {
  t.diagnostic(`FAULT_SEED=${faultSeed}`);
  const folder = newFolder(t);
  const standIn = await openStandIn();
  t.after(() => standIn.close());
  const environment = {
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: standIn.url,
    SANDBOX: 'on',
    SANDBOX_CLOCK: 'on',
  };
  let service = await spawnService({ folder, environment });
  t.after(() => service.close());
  const reports = new Reports(standIn);
  const sold = await sell(service, standIn);
  // Some money was given back at the provider's page before; its reports come at any time.
  for (const { paymentIntent } of sold) {
    if (chance.percent(10)) standIn.refunds.add(paymentIntent, chance.pick([PRICE, 700]));
  }
  trouble(standIn);

  await executeDue(service);
  await pause(chance.between(0, 20));
  assert.equal(await service.end('SIGKILL'), null);
  service = await spawnService({ folder, environment });
  await until(async () => (await countRefunded(service)) === ORDERS, 'what was due is asked for after a stop');

  for (let kill = 1; kill <= KILLS; kill += 1) {
    let isGone = false;
    const asked = standIn.refunds.keys.length + chance.between(ORDERS / KILLS / 3, ORDERS / KILLS);
    const ended = [
      execute(service, sold).catch(() => {}),
      reports.deliver(service, () => isGone),
      (async () => {
        const limit = Date.now() + 20_000;
        while (standIn.refunds.keys.length < asked && Date.now() < limit) await pause(1);
        await pause(chance.between(0, 40));
        isGone = true;
        assert.equal(await service.end('SIGKILL'), null);
      })(),
    ];
    await Promise.all(ended);
    settlePending(standIn);
    service = await spawnService({ folder, environment });
    const step = { advance_seconds: chance.between(1, 30) };
    assert.equal((await service.post('/sandbox/clock', step)).status, 200);
  }

  await execute(service, sold);
  const begin = performance.now();
  for (let round = 0, open = sold; open.length > 0; round += 1) {
    const isLate = performance.now() - begin > SETTLED_MS_MAX;
    if (isLate) assert.fail(`it never ends: ${JSON.stringify((await orderOf(service, open[0]!)).refunds)}`);
    if (round === TROUBLED_ROUNDS) {
      standIn.trouble = null;
      standIn.refunds.outcome = () => 'succeeded';
    }
    settlePending(standIn, round > TROUBLED_ROUNDS);
    await reports.deliver(service, () => false);
    await service.post('/sandbox/clock', { advance_seconds: HOUR_SECONDS });
    await pause(150);
    const left = await settleRest(service, open);
    if (round >= TROUBLED_ROUNDS) open = left;
  }
  await reports.deliver(service, () => false);

  await forEachOf(sold, async (order) => {
    const { refund_due, refund_pending, refunded_amount, refunds } = await orderOf(service, order);
    const there = standIn.refunds.of(order.paymentIntent);
    const about = JSON.stringify({ orderId: order.orderId, refunds, there });
    assert.deepEqual([refund_due, refund_pending, refunded_amount], [0, 0, PRICE], about);
    assert.equal(
      there.reduce((sum, { amount }) => sum + amount, 0),
      PRICE,
      about,
    );
  });
  assert.equal(await service.end('SIGTERM'), 0);
  assert.deepEqual((await verifyFolder(folder)).problems, []);
  t.diagnostic(`${standIn.refunds.keys.length} requests, ${standIn.refunds.all.length} refunds at the provider`);
});
