/**
 * Long random sales: any commands of buyers, providers and operators at any time; after every turn the counters add up.
 *
 * The counters are computed anew from holds and orders, in the simplest way, and compared with those of the event's
 * state.
 */
import { perkKey } from '#domain/orders/pricing.ts';
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deep } from '../depth.ts';
import { fc } from '../property.ts';
import type { StockTotals } from '#domain/inventory/inventory.ts';
import { awaitsFirstSession } from '#domain/orders/order.ts';
import { buyerKeyOf } from '#domain/orders/purchase-limits.ts';
import { viewOrder } from '#domain/orders/view.ts';
import type { Command } from '#domain/command.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView, PaymentView } from '#domain/view.ts';
import {
  anna,
  buy,
  checkoutEvent,
  item,
  openCheckoutEvent,
  refundNote,
  report,
  sessionOf,
  start,
} from '../fixtures/commands.ts';
import { code, hall } from '../fixtures/definitions.ts';
import { assertSameAfterReplay, MINUTE, type EventFixture } from '../fixtures/event-state.ts';

const USES_MAX = 2;
const BEERS = 3;

function openSmallShop(): EventFixture {
  return openCheckoutEvent({
    localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 7 }, hall(['....', '....'])],
    promoCodes: [code('TWICE', { percentOff: 50, maxUses: USES_MAX }), code('ALL', { percentOff: 100 })],
    ticketTypes: checkoutEvent().ticketTypes.map((type) => ({
      ...type,
      barPerks: type.barPerks.map((perk) => ({ ...perk, stock: BEERS })),
    })),
    maxTicketsPerEmail: 6,
  });
}

/** The actions; an action that is listed more often is drawn more often. */
// prettier-ignore
const deeds = [
  'hold', 'hold', 'start', 'start', 'start', 'buy', 'buy', 'buy', 'session', 'session', 'open', 'report', 'report', 'report',
  'report', 'wait', 'wait', 'release', 'cancel', 'refund', 'performance',
] as const;

/** One action; its numbers select among the existing objects. */
const step = fc.record({
  what: fc.constantFrom(...deeds),
  who: fc.nat({ max: 3 }),
  which: fc.nat({ max: 30 }),
  type: fc.constantFrom('adult', 'group', 'guest', 'seat'),
  quantity: fc.integer({ min: 1, max: 3 }),
  date: fc.constantFrom('d1', 'd1', 'd2'),
  code: fc.constantFrom(null, 'TWICE', 'TWICE', 'ALL'),
  beers: fc.nat({ max: 2 }),
  installments: fc.integer({ min: 1, max: 3 }),
  outcome: fc.constantFrom('paid', 'paid', 'paid', 'declined', 'cancelled', 'expired'),
  odd: fc.nat({ max: 9 }),
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

const pick = <Item>(items: readonly Item[], which: number): Item | undefined =>
  items[which % Math.max(1, items.length)];

function ordersOf(fixture: EventFixture): readonly OrderView[] {
  return [...fixture.state.orders.inOrder].map((order) => viewOrder(fixture.state, order));
}

/** The command of a step; null when it has no object. */
function commandOf(fixture: EventFixture, wish: Step): Command | null {
  const { what, who, which, quantity, odd, installments: installmentCount } = wish;
  const sessionKey = `session-${who}`;
  const customer = { ...anna, email: `${['anna', 'bo', 'cy', 'di'][who]}+${which}@example.org` };
  const barPerks = wish.type === 'adult' && wish.beers > 0 ? [{ barPerkId: 'beer', quantity: wish.beers }] : [];
  const wanted = item(wish.type, quantity, {
    performanceId: wish.date,
    discountCode: odd === 0 ? wish.code : null,
    barPerks,
  });
  const order = pick(ordersOf(fixture), which);
  const more = { customer, installmentCount, promoCode: wish.code };
  switch (what) {
    case 'hold':
      return { type: 'PlaceHold', sessionKey, items: [wanted], queuePass: null, idempotency: null };
    case 'start': {
      const holdId = pick([...fixture.state.holds.byId.keys()], which);
      return holdId === undefined ? null : start({ holdId, ...more });
    }
    case 'buy':
      return buy([wanted, { ...wanted, quantity: 1 }], { ...more, sessionKey: odd > 4 ? sessionKey : null });
    case 'session':
      return order === undefined ? null : sessionCommand(order);
    case 'open':
      return order === undefined ? null : { type: 'OpenPayment', orderId: order.id };
    case 'report':
      return order === undefined ? null : reportCommand(order, wish);
    case 'release': {
      const hold = pick([...fixture.state.holds.byId.values()], which);
      return hold === undefined ? null : { type: 'ReleaseHold', holdId: hold.id, sessionKey: hold.sessionKey };
    }
    case 'cancel':
      return order === undefined ? null : { type: 'CancelOrder', orderId: order.id, operator: 'olga', note: null };
    case 'refund':
      return order === undefined ? null : refundNote(order.id, quantity * 500);
    case 'performance':
      return odd > 0 ? null : { type: 'CancelPerformance', performanceId: 'd2', operator: null, note: null };
    default:
      fixture.wait(quantity * 6 * MINUTE).settle();
      return null;
  }
}

function sessionCommand(order: OrderView): Command | null {
  const payment = order.payments.find((each) => each.checkoutSessionId === null);
  if (payment === undefined) return null;
  const checkoutSessionId = sessionOf(payment);
  const redirectUrl = 'https://pay.example';
  return {
    type: 'RecordCheckoutSession',
    orderId: order.id,
    paymentId: payment.id,
    checkoutSessionId,
    redirectUrl,
    expiresAt: null,
  };
}

function reportCommand(order: OrderView, { which, odd, outcome }: Step): Command | null {
  const payment: PaymentView | undefined = pick(order.payments, which + odd);
  if (payment === undefined) return null;
  const amountCents = payment.amountCents + (odd === 0 ? 1 : 0);
  return report(payment, outcome, { amountCents, paymentId: payment.id, webhookId: odd < 3 ? `msg_${odd}` : null });
}

function assertBooks(fixture: EventFixture): void {
  const { orders, holds, performances, perksSold } = fixture.state;
  const live = [...orders.inOrder].filter(({ status }) => status !== 'EXPIRED' && status !== 'CANCELLED');
  const uses = new Map<string, number>();
  const beers = new Map<string, number>();
  const tickets = new Map<string, number>();
  for (const { purchase } of live) {
    const codes = new Set([purchase.promoCode, ...purchase.items.map((each) => each.discountCode)]);
    for (const text of codes) if (text !== null) uses.set(text.toLowerCase(), (uses.get(text.toLowerCase()) ?? 0) + 1);
    const email = buyerKeyOf(purchase);
    for (const { ticketTypeId, ticketCount, barPerks } of purchase.items) {
      tickets.set(email, (tickets.get(email) ?? 0) + ticketCount);
      const key = perkKey(ticketTypeId, 'beer');
      for (const { quantity } of barPerks) beers.set(key, (beers.get(key) ?? 0) + quantity);
    }
  }
  assert.deepEqual([orders.usesByCode, perksSold], [uses, beers]);
  const awaiting = live.filter(awaitsFirstSession).map(({ number }) => number);
  assert.deepEqual([...orders.awaitingSession], awaiting);
  assert.equal(orders.ticketsByBuyer.size, tickets.size);
  for (const [email, count] of tickets) assert.equal(orders.ticketsByBuyer.get(email), count);
  assert.ok((uses.get('twice') ?? 0) <= USES_MAX && [...beers.values()].every((count) => count <= BEERS));

  for (const performance of performances.values()) {
    const stock: StockTotals = performance.inventory.totals();
    const count = (statuses: readonly string[]): number =>
      [...holds.byId.values()]
        .filter(({ status }) => statuses.includes(status))
        .flatMap(({ lines }) => lines)
        .filter(({ performanceId }) => performanceId === performance.id)
        .reduce((sum, { ticketCount }) => sum + ticketCount, 0);
    assert.deepEqual([stock.held, stock.sold], [count(['ACTIVE', 'CONVERTED']), count(['CONSUMED'])]);
    assert.equal(stock.capacity, stock.available + stock.held + stock.sold + stock.blocked);
    assert.ok(stock.available >= 0);
  }
  for (const order of ordersOf(fixture)) assertOrder(fixture, order);
}

const HOLD_STATUS_OF_ORDER = {
  PENDING: ['CONVERTED'],
  PARTIALLY_PAID: ['CONSUMED'],
  CONFIRMED: ['CONSUMED'],
  EXPIRED: ['EXPIRED'],
  CANCELLED: ['RELEASED'],
} as const;

function assertOrder(fixture: EventFixture, order: OrderView): void {
  const { status, totalCents, paidCents, refundedCents, refundDueCents, remainingCents, items } = order;
  const hold = fixture.state.holds.byId.get(order.holdId)!;
  assert.equal(hold.orderId, order.id);
  assert.ok((HOLD_STATUS_OF_ORDER[status] as readonly string[]).includes(hold.status), `${status} ${hold.status}`);
  assert.ok(paidCents >= refundedCents && refundDueCents >= 0 && remainingCents >= 0 && remainingCents <= totalCents);
  const isSold = status === 'CONFIRMED' || status === 'PARTIALLY_PAID';
  const ticketCount = items.reduce((sum, each) => sum + each.ticketCount, 0);
  if (isSold) assert.equal(order.tickets.length, ticketCount);
  if (status === 'PENDING' || status === 'EXPIRED') assert.equal(order.tickets.length, 0);
  if (status === 'CONFIRMED') assert.equal(remainingCents, 0);
  if (isSold) assert.equal(Math.max(0, paidCents - (totalCents - remainingCents) - refundedCents), refundDueCents);
  else assert.equal(refundDueCents, paidCents - refundedCents);
  assert.deepEqual(
    items.flatMap((each) => each.seatIds).toSorted(),
    hold.lines.flatMap((line) => line.seatIds).toSorted(),
  );
}

// prettier-ignore
const mustBeSeen = [
  'PAY_IN_FULL', 'PAY_INSTALLMENT', 'PAY_LATE_IN_FULL', 'PAY_LATE_INSTALLMENT', 'PaymentRecorded', 'StrayMoneyRecorded',
  'PaymentRequested', 'PaymentClosed', 'TicketsIssued', 'OrderExpired', 'OrderCancelled', 'RefundRecorded',
  'PROMO_CODE_EXHAUSTED', 'BAR_PERK_SOLD_OUT', 'MAX_TICKETS_PER_EMAIL_EXCEEDED', 'INSUFFICIENT_TICKETS', 'HOLD_NOT_ACTIVE',
  'HOLD_EXPIRED', 'ORDER_NOT_PAYABLE', 'REFUND_TOO_HIGH',
];

describe('A random sale', () => {
  it('has counters that add up after every turn, and a replay and a restored snapshot give the same state', () => {
    const seen = new Map<string, number>();
    fc.assert(
      fc.property(fc.array(step, { minLength: 60, maxLength: 120, size: 'max' }), (wishes) => {
        const fixture = openSmallShop();
        for (const wish of wishes) {
          const command = commandOf(fixture, wish);
          if (command === null) continue;
          const answer = fixture.execute(command);
          const what = isRefusal(answer) ? answer.code : command.type;
          seen.set(what, (seen.get(what) ?? 0) + 1);
          assertBooks(fixture);
        }
        for (const { fact } of fixture.journal) {
          const what = fact.type === 'OrderPaid' ? fact.data.trigger : fact.type;
          seen.set(what, (seen.get(what) ?? 0) + 1);
        }
        assertSameAfterReplay(fixture);
      }),
      { numRuns: deep(80) },
    );
    for (const what of mustBeSeen) assert.ok((seen.get(what) ?? 0) > 0, `${what} never happened`);
  });
});
