/**
 * A date is cancelled, and of paid orders only its tickets are: money, places, what is due, and what is told before.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../property.ts';
import { auditEventState } from '#domain/event/audit.ts';
import { nextWorkAt } from '#domain/event/deadlines.ts';
import { read } from '#domain/event/read.ts';
import { findHold } from '#domain/holds/view.ts';
import { ORDER_AMENDMENTS_MAX } from '#domain/orders/amendments/plan.ts';
import { datesOfRefunds } from '#domain/orders/order.ts';
import { liveOrdersOn, liveOrdersOnOthers } from '#domain/orders/state.ts';
import { findTicket } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import { createHashing } from '#actors/crypto.ts';
import type { CommandOf } from '#domain/command.ts';
import {
  amend,
  amended,
  bought,
  change,
  idsOf,
  left,
  oddEvent,
  orderOf,
  voidTicketsOf,
  withFee,
} from '../../fixtures/amendments.ts';
import {
  buy,
  checkOut,
  item,
  openSession,
  place,
  placeHold,
  recordPayment,
  report,
  start,
} from '../../fixtures/commands.ts';
import { assertSameAfterReplay, given, MINUTE, restore, type EventFixture } from '../../fixtures/event-state.ts';

type CancelDate = CommandOf<'CancelPerformance'>;

const callOff = (more: Partial<CancelDate> = {}): CancelDate => ({
  type: 'CancelPerformance',
  performanceId: 'd1',
  orders: 'TICKETS',
  operator: 'olga',
  note: 'storm',
  ...more,
});

const onD2 = { performanceId: 'd2' };
const wide = {
  localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 4000 }],
  ticketTypes: [{ id: 'stand', name: 'Standing', locality_id: 'floor' }],
  sellingStages: [{ id: 'general', name: 'General', prices: { stand: 3333 } }],
  promoCodes: [],
};

function forecast({ state, now, sealing }: EventFixture, orders: { readonly orders?: 'TICKETS' }) {
  const context = { now, activation: 'a', hashing: createHashing(), sealing: sealing.sealing };
  const asked = { type: 'ForecastCancellation', performanceId: 'd1', after: null, ...orders } as const;
  const told = read(state, asked, context);
  assert.ok(!isRefusal(told));
  return told;
}

/** Cancels the date with all that follows, and checks stock, books, replay and snapshot on the way. */
function cancelDate(fixture: EventFixture, more: Partial<CancelDate> = {}) {
  const reply = fixture.do(callOff(more));
  assertSameAfterReplay(fixture);
  fixture.cancelOrders();
  assert.deepEqual(auditEventState(fixture.state), []);
  assertSameAfterReplay(fixture);
  return reply;
}

describe('A date that is cancelled with its tickets alone', () => {
  it('leaves paid orders their tickets on other dates, ends the others, and says both before', () => {
    const fixture = given(oddEvent());
    const before = left(fixture, 'stand');
    const both = bought(fixture, [item('stand', 2), item('stand', 1, onD2)]);
    const there = bought(fixture, [item('seat', 2)]);
    const other = bought(fixture, [item('stand', 1, onD2)]);
    const unpaid = checkOut(fixture, buy([item('stand', 1), item('stand', 1, onD2)])).order;
    const told = { orders: 3, amendedOrders: 1, paidOrders: 2, tickets: 6, nextAfter: null };
    const due = [{ amountCents: 2 * 3333 + 2 * 4001, currency: 'EUR' }];
    assert.deepEqual(forecast(fixture, { orders: 'TICKETS' }), { ...told, due });
    const whole = forecast(fixture, {});
    assert.deepEqual([whole.tickets, whole.amendedOrders], [7, null]);

    const reply = cancelDate(fixture);
    assert.deepEqual([reply.cancelledOrders, reply.amendedOrders, reply.releasedHolds], [2, 1, 0]);
    const [now, gone, untouched, ended] = [both, there, other, unpaid].map((order) => orderOf(fixture, order));
    assert.deepEqual(
      [now!.status, now!.totalCents, now!.refundDueCents, now!.ticketCount],
      ['CONFIRMED', 3333, 6666, 1],
    );
    assert.deepEqual(
      now!.amendments.map(({ by, operator, note, tickets }) => [by, operator, note, tickets.length]),
      [['PERFORMANCE', 'olga', 'storm', 2]],
    );
    const { status, cancellation, refundDueCents, amendments } = gone!;
    assert.deepEqual(
      [status, cancellation?.cause, cancellation?.note, refundDueCents],
      ['CANCELLED', 'PERFORMANCE', 'storm', 8002],
    );
    assert.deepEqual(
      [amendments.length, findTicket(fixture.state, idsOf(there)[0]!)?.voidReason],
      [1, 'PERFORMANCE_CANCELLED'],
    );
    assert.deepEqual([untouched!.status, untouched!.amendments.length], ['CONFIRMED', 0]);
    assert.deepEqual([ended!.status, ended!.amendments.length], ['CANCELLED', 0]);
    assert.deepEqual([...voidTicketsOf(fixture)].sort(), [...idsOf(both).slice(0, 2), ...idsOf(there)].sort());
    assert.equal(left(fixture, 'stand'), before);
    // Money that still comes for what was not paid is due back, and the date is not had again.
    const paid = recordPayment(fixture, report(unpaid.payments[0]!, 'paid'));
    assert.deepEqual([paid.status, paid.refundDueCents], ['CANCELLED', 2 * 3333]);
    fixture.when(callOff()).then([]);
  });

  it('is not counted to the amendments of an order, which it takes beyond their number', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('stand', 1), item('stand', 1, onD2)]);
    const [first = ''] = idsOf(order);
    let ticketId = first;
    for (let count = 0; count < ORDER_AMENDMENTS_MAX; count += 1) {
      const request = { cancel: [], reissue: [ticketId], feeCents: 0 };
      const { amendment } = fixture.do(amend(order.id, [], { request }));
      ticketId = amendment.tickets[0]!.newTicketId!;
    }
    const more = amend(order.id, [idsOf(order)[1]!]);
    fixture.when(more).refuses('ORDER_NOT_AMENDABLE', { status: 'CONFIRMED' });
    cancelDate(fixture);
    assert.deepEqual([orderOf(fixture, order).ticketCount, orderOf(fixture, order).refundDueCents], [1, 3333]);
  });

  it('keeps the fees of earlier amendments, and goes on with installments that are left', () => {
    const fixture = given(oddEvent());
    const started = checkOut(fixture, buy([item('stand', 2), item('stand', 2, onD2)], { installmentCount: 2 }));
    recordPayment(fixture, report(started.payment!, 'paid'));
    const order = orderOf(fixture, started.order);
    amended(fixture, withFee(order.id, idsOf(order).slice(0, 1), 500));
    cancelDate(fixture);
    // Paid is half of four; kept are two and the fee.
    const now = orderOf(fixture, order);
    const total = 2 * 3333 + 500;
    assert.deepEqual([now.totalCents, now.paidCents, now.remainingCents, now.refundDueCents], [total, 6666, 500, 0]);
    assert.equal(now.status, 'PARTIALLY_PAID');
    const second = given(oddEvent());
    const single = bought(second, [item('stand', 2)]);
    amended(second, withFee(single.id, idsOf(single).slice(0, 1), 500));
    cancelDate(second);
    const ended = orderOf(second, single);
    assert.deepEqual([ended.status, ended.refundDueCents], ['CANCELLED', 6666 - 500]);
  });

  it('is cancelled whole where another of its dates is', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('stand', 1), item('stand', 1, onD2)]);
    fixture.do(callOff());
    const { orders: _orders, ...whole } = callOff({ note: 'fire', ...onD2 });
    const reply = fixture.do(whole);
    assert.equal(reply.cancelledOrders, 1);
    fixture.cancelOrders();
    const { status, cancellation, amendments, refundDueCents } = orderOf(fixture, order);
    assert.deepEqual([status, cancellation?.note, amendments.length, refundDueCents], ['CANCELLED', 'fire', 0, 6666]);
    assertSameAfterReplay(fixture);
  });

  it('goes in turns of so many tickets, whatever they are of', () => {
    const fixture = given(oddEvent(wide));
    const orders = Array.from({ length: 3 }, () => bought(fixture, [item('stand', 60), item('stand', 1, onD2)]));
    fixture.do(callOff());
    assert.deepEqual(fixture.do({ type: 'CancelNextOrders', after: null, limit: 200 }).nextAfter, 1);
    assert.deepEqual(fixture.do({ type: 'CancelNextOrders', after: 1, limit: 200 }).nextAfter, null);
    for (const order of orders) assert.equal(orderOf(fixture, order).ticketCount, 1);
    const part = forecast(given(oddEvent()), { orders: 'TICKETS' });
    assert.deepEqual(part, { orders: 0, amendedOrders: 0, paidOrders: 0, tickets: 0, due: [], nextAfter: null });
  });

  it('has what is due given back of orders that lost tickets with it, and of no others', () => {
    const fixture = given(oddEvent());
    const both = bought(fixture, [item('stand', 1), item('stand', 1, onD2)]);
    const other = bought(fixture, [item('stand', 2, onD2)]);
    amended(fixture, amend(other.id, idsOf(other).slice(0, 1)));
    cancelDate(fixture, { executes: true });
    assert.deepEqual(fixture.journal.filter(({ fact }) => fact.type === 'DueRefundsOrdered').length, 1);
    fixture.when({ type: 'AskNextRefunds', after: null, limit: 100 }).then(['RefundRequested', 'DueRefundsAsked']);
    assert.deepEqual(
      [orderOf(fixture, both).refundPendingCents, orderOf(fixture, other).refundPendingCents],
      [3333, 0],
    );
    assert.deepEqual([...datesOfRefunds(fixture.state.orders.byId.get(both.id)!)].sort(), ['d1', 'd2']);
    // Again asks for nothing twice; and for what is due by then.
    fixture.when(callOff({ executes: true })).then([]);
    assertSameAfterReplay(fixture);
  });

  it('has what is due given back by a repeat that says so, and asks once where that is under way', () => {
    const fixture = given(oddEvent());
    bought(fixture, [item('stand', 1)]);
    cancelDate(fixture, { executes: false });
    // The turns of the first may have passed the order: a second one is to follow, and no third.
    for (const facts of [['DueRefundsOrdered'], ['DueRefundsOrdered'], []] as const) {
      fixture.when(callOff({ executes: true })).then(facts);
    }
    fixture.when({ type: 'AskNextRefunds', after: null, limit: 100 }).then(['RefundRequested', 'DueRefundsAsked']);
    fixture.when({ type: 'AskNextRefunds', after: null, limit: 100 }).then(['DueRefundsAsked']);
    fixture.when(callOff({ executes: true })).then([]);
  });

  it('asks at once where the event refunds by itself', () => {
    const fixture = given(oddEvent({ refunds: 'AUTOMATIC' }));
    const both = bought(fixture, [item('stand', 1), item('stand', 1, onD2)]);
    const there = bought(fixture, [item('stand', 1)]);
    cancelDate(fixture);
    assert.deepEqual(
      [both, there].map((order) => orderOf(fixture, order).refundPendingCents),
      [3333, 3333],
    );
  });

  it('makes of each order what an operator makes of it who cancels its tickets without a fee', () => {
    const line = fc.record({
      type: fc.constantFrom('stand', 'crew', 'seat'),
      quantity: fc.integer({ min: 1, max: 3 }),
      performanceId: fc.constantFrom('d1', 'd2'),
      discountCode: fc.constantFrom(null, 'TEN', 'SEVENTH'),
    });
    const wanted = fc.record({
      lines: fc.array(line, { minLength: 1, maxLength: 3 }),
      promoCode: fc.constantFrom(null, 'TEN', 'SEVENTH'),
      installmentCount: fc.integer({ min: 1, max: 3 }),
      payments: fc.nat(3),
      feeCents: fc.nat(400),
    });
    const property = fc.property(fc.array(wanted, { minLength: 1, maxLength: 4 }), (all) => {
      const [called, twin] = [given(oddEvent()), given(oddEvent())];
      const orderIds = all.flatMap((each) => {
        const ids = [called, twin].map((fixture) => play(fixture, each));
        assert.equal(ids[0], ids[1]);
        return ids[0] ?? [];
      });
      const told = forecast(called, { orders: 'TICKETS' });
      const reply = cancelDate(called);
      assert.deepEqual(
        [reply.cancelledOrders + reply.amendedOrders, reply.amendedOrders],
        [told.orders, told.amendedOrders],
      );
      for (const id of orderIds) cancelByHand(twin, id);
      assert.deepEqual(
        orderIds.map((id) => moneyOf(called, id)),
        orderIds.map((id) => moneyOf(twin, id)),
      );
      const onDate = orderIds.filter((id) => datesOfRefunds(called.state.orders.byId.get(id)!).has('d1'));
      const due = onDate.map((id) => orderOf(called, { id }).refundDueCents).reduce((sum, cents) => sum + cents, 0);
      assert.equal(told.due[0]?.amountCents ?? 0, due);
      assert.deepEqual([liveOrdersOn(called.state, 'd1'), liveOrdersOnOthers(called.state, 'd2')], [0, 0]);
    });
    fc.assert(property, { numRuns: 80 });
  });
});

interface Wanted {
  readonly lines: readonly { type: string; quantity: number; performanceId: string; discountCode: string | null }[];
  readonly promoCode: string | null;
  readonly installmentCount: number;
  readonly payments: number;
  readonly feeCents: number;
}

/** Buys, pays so many installments and has the last ticket cancelled for a fee; null where it cannot be had. */
function play(fixture: EventFixture, { lines, payments, feeCents, ...more }: Wanted): string | null {
  const command = buy(
    lines.map(({ type, quantity, ...at }) => item(type, quantity, at)),
    more,
  );
  const started = fixture.execute(command);
  if (isRefusal(started)) return null;
  const { order } = started;
  for (let { payment } = started; payment !== null;) {
    openSession(fixture, order, payment);
    if (payment.installment > payments) break;
    const { remainingCents } = recordPayment(fixture, report(payment, 'paid'));
    if (remainingCents === 0) break;
    ({ payment } = fixture.do({ type: 'OpenPayment', orderId: order.id }));
  }
  const seats = orderOf(fixture, order).tickets.filter(({ ticketTypeId }) => ticketTypeId !== 'crew');
  if (seats.length > 1) fixture.do(withFee(order.id, [seats.at(-1)!.id], feeCents));
  return order.id;
}

function cancelByHand(fixture: EventFixture, orderId: string): void {
  const { status, tickets, items } = orderOf(fixture, { id: orderId });
  const ticketIds = tickets.filter(({ performanceId }) => performanceId === 'd1').map(({ id }) => id);
  if (ticketIds.length > 0) fixture.do(amend(orderId, ticketIds));
  else if (status === 'PENDING' && items.some(({ performanceId }) => performanceId === 'd1')) {
    fixture.do({ type: 'CancelOrder', orderId, operator: null, note: null });
  }
}

function moneyOf(fixture: EventFixture, id: string) {
  const order = orderOf(fixture, { id });
  const { status, totalCents, remainingCents, refundDueCents, paidCents, installmentsCents, ticketCount } = order;
  const items = order.items.map(({ performanceId, quantity, discountCents, promoDiscountCents, seatIds }) => [
    performanceId,
    quantity,
    discountCents,
    promoDiscountCents,
    seatIds,
  ]);
  return { status, totalCents, remainingCents, refundDueCents, paidCents, installmentsCents, ticketCount, items };
}

describe('Holds on a date that is cancelled', () => {
  const HELD = 150;
  const sessionOf = (n: number): string => `session-${n}`;

  /** Holds on both dates, of which one is cancelled. */
  function calledOff() {
    const fixture = given(oddEvent(wide));
    const items = [item('stand', 1), item('stand', 1, onD2)];
    const ids = Array.from({ length: HELD }, (_, n) => placeHold(fixture, items, sessionOf(n)));
    assert.equal(fixture.do(callOff()).releasedHolds, HELD);
    return { fixture, ids };
  }

  const releasedIn = ({ journal }: EventFixture): number =>
    journal.filter(({ fact: { type } }) => type === 'HoldReleased').length;
  const statusOf = ({ state }: EventFixture, holdId: string, n: number): string => {
    const hold = findHold(state, holdId, sessionOf(n));
    return isRefusal(hold) ? hold.code : hold.status;
  };

  it('are released in several turns, after a restart too, and give their places on other dates back', () => {
    const { fixture } = calledOff();
    assert.equal(releasedIn(fixture), 0);
    assertSameAfterReplay(fixture);
    const next = { type: 'CancelNextOrders', limit: 100 } as const;
    const { nextAfter } = fixture.do({ ...next, after: null });
    assert.ok(nextAfter !== null && releasedIn(fixture) > 0 && releasedIn(fixture) < HELD);
    assertSameAfterReplay(fixture);
    assert.equal(nextWorkAt(restore(fixture.state)), 0);
    assert.equal(fixture.do({ ...next, after: nextAfter }).nextAfter, null);
    assert.equal(releasedIn(fixture), HELD);
    assertSameAfterReplay(fixture);
    const { held } = fixture.state.performances.get('d2')!.inventory.totals();
    assert.deepEqual([held, nextWorkAt(restore(fixture.state))], [0, null]);
    fixture.when({ ...next, after: null }).then([]);
  });

  it('count as released before they are: nobody buys or changes them, and a session may hold something else', () => {
    const { fixture, ids } = calledOff();
    const n = HELD - 1;
    const holdId = ids[n]!;
    const sessionKey = sessionOf(n);
    const named = { holdId, sessionKey };
    assert.deepEqual(
      [statusOf(fixture, holdId, n), fixture.state.holds.byId.get(holdId)!.status],
      ['RELEASED', 'ACTIVE'],
    );
    const refused = ['HOLD_NOT_ACTIVE', { status: 'RELEASED' }] as const;
    fixture.when(start(named)).refuses(...refused);
    fixture
      .when({ type: 'ChangeHold', ...named, items: [item('stand', 1, onD2)], idempotency: null })
      .refuses(...refused);
    fixture.when({ type: 'ReleaseHold', ...named }).then([]);
    fixture.when(place([item('stand', 1)], sessionKey)).refuses('PERFORMANCE_NOT_ON_SALE');
    placeHold(fixture, [item('stand', 2, onD2)], sessionKey);
    assert.equal(statusOf(fixture, holdId, n), 'RELEASED');
    fixture.cancelOrders();
    assert.deepEqual([fixture.state.performances.get('d2')!.inventory.totals().held, releasedIn(fixture)], [2, n]);
    assertSameAfterReplay(fixture);
  });

  it('are RELEASED and not EXPIRED where their window ends before that', () => {
    const { fixture, ids } = calledOff();
    fixture.now += 60 * MINUTE;
    fixture.settle();
    assert.deepEqual(auditEventState(fixture.state), []);
    assert.ok(ids.every((holdId, n) => statusOf(fixture, holdId, n) === 'RELEASED'));
    assert.equal(nextWorkAt(fixture.state), null);
    assertSameAfterReplay(fixture);
  });
});

describe('Amendments of a date that is cancelled that are yet to be paid', () => {
  const PENDING = 130;
  const dearer = {
    ...wide,
    ticketTypes: [...wide.ticketTypes, { id: 'front', name: 'Front', locality_id: 'floor' }],
    sellingStages: [{ id: 'general', name: 'General', prices: { stand: 3333, front: 5000 } }],
  };

  /** Orders on the second date that are to move to the first one, or the other way round, for more money. */
  function calledOff(from: string, to: string) {
    const fixture = given(oddEvent(dearer));
    const asked = Array.from({ length: PENDING }, () => {
      const order = bought(fixture, [item('stand', 1, { performanceId: from })]);
      const { payment } = fixture.do(change(order.id, idsOf(order), { ticketTypeId: 'front', performanceId: to }));
      openSession(fixture, order, payment!);
      return { order, payment: payment! };
    });
    fixture.do(callOff());
    const statuses = (): string[] => asked.map(({ order }) => orderOf(fixture, order).amendments.at(-1)!.status);
    return { fixture, asked, statuses };
  }
  const ended = (statuses: readonly string[]): number => statuses.filter((status) => status === 'CANCELLED').length;

  it('end in several turns, after a restart too, and give what they held back', () => {
    const { fixture, statuses } = calledOff('d2', 'd1');
    assert.equal(ended(statuses()), 0);
    assert.deepEqual(auditEventState(fixture.state), []);
    assertSameAfterReplay(fixture);
    const next = { type: 'CancelNextOrders', limit: 100 } as const;
    const { nextAfter } = fixture.do({ ...next, after: null });
    assert.ok(nextAfter !== null && ended(statuses()) > 0 && ended(statuses()) < PENDING);
    assertSameAfterReplay(fixture);
    const restored = restore(fixture.state);
    assert.deepEqual([nextWorkAt(restored), restored.cancelling], [0, fixture.state.cancelling]);
    fixture.cancelOrders();
    assert.equal(ended(statuses()), PENDING);
    assert.deepEqual(auditEventState(fixture.state), []);
    assertSameAfterReplay(fixture);
    assert.equal(fixture.state.performances.get('d1')!.inventory.totals().held, 0);
    fixture.when({ ...next, after: null }).then([]);
  });

  it('are CANCELLED and not EXPIRED where their window ends before that', () => {
    const { fixture, statuses } = calledOff('d2', 'd1');
    fixture.wait(30 * MINUTE).settle();
    assert.equal(ended(statuses()), PENDING);
    assert.deepEqual([auditEventState(fixture.state), nextWorkAt(fixture.state)], [[], null]);
    assertSameAfterReplay(fixture);
  });

  it('end by whoever cancelled the date, where their window ends before that too', () => {
    for (const minutes of [0, 30]) {
      const { fixture } = calledOff('d1', 'd2');
      fixture.wait(minutes * MINUTE).settle();
      fixture.cancelOrders();
      const by = fixture.journal.flatMap(({ fact }) => (fact.type === 'AmendmentEnded' ? [fact.data.operator] : []));
      assert.deepEqual([by.length, [...new Set(by)]], [PENDING, ['olga']]);
    }
  });

  it('bring no place on the date for money that comes before that, which is due back', () => {
    const { fixture, asked, statuses } = calledOff('d2', 'd1');
    const { order, payment } = asked.at(-1)!;
    const paid = recordPayment(fixture, report(payment, 'paid'));
    assert.deepEqual([paid.refundDueCents, paid.totalCents, paid.ticketCount], [5000 - 3333, 3333, 1]);
    fixture.cancelOrders();
    assert.equal(ended(statuses()), PENDING);
    assert.deepEqual(orderOf(fixture, order).tickets[0]!.performanceId, 'd2');
    assert.deepEqual(auditEventState(fixture.state), []);
    assertSameAfterReplay(fixture);
  });

  it('still bring a place on another date for such money', () => {
    const { fixture, asked } = calledOff('d1', 'd2');
    const { order, payment } = asked.at(-1)!;
    const paid = recordPayment(fixture, report(payment, 'paid'));
    assert.deepEqual([paid.status, paid.refundDueCents, paid.totalCents], ['CONFIRMED', 0, 5000]);
    fixture.cancelOrders();
    const { status, tickets } = orderOf(fixture, order);
    assert.deepEqual([status, tickets[0]!.performanceId, tickets[0]!.ticketTypeId], ['CONFIRMED', 'd2', 'front']);
    assert.equal(orderOf(fixture, asked[PENDING - 2]!.order).status, 'CANCELLED');
    assert.deepEqual(auditEventState(fixture.state), []);
    assertSameAfterReplay(fixture);
  });
});
