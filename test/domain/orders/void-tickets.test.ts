/** The list of void tickets: its order and its pages. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { listVoidTickets } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import { restoreEventState, restorePiece, snapshotPieces } from '#domain/event/snapshot.ts';
import { noteVoidTickets, noVoidTickets, pageOfVoidTickets, type VoidableOrder } from '#domain/orders/void-tickets.ts';
import type { EventState } from '#domain/event/state.ts';
import {
  buy,
  cancelByOperator,
  checkOut,
  item,
  openCheckoutEvent,
  paymentOf,
  recordPayment,
  report,
} from '../../fixtures/commands.ts';

const order = (number: number, at: number | null, tickets: Record<string, number>): VoidableOrder => ({
  number,
  ticketIds: Object.entries(tickets).flatMap(([date, count]) =>
    Array.from({ length: count }, (_, place) => `${number}-${date}-${place}`),
  ),
  purchase: {
    items: Object.entries(tickets).map(([performanceId, ticketCount]) => ({ performanceId, ticketCount })),
  },
  cancellation: at === null ? null : { at },
});

const orders = [
  order(0, 50, { d1: 2 }),
  order(1, 10, { d1: 1, d2: 1 }),
  order(2, null, { d1: 5 }),
  order(3, 10, { d2: 2 }),
  order(4, 30, {}),
];

const inTime = ['1-d1-0', '1-d2-0', '3-d2-0', '3-d2-1', '0-d1-0', '0-d1-1'];

function listed(noted: readonly VoidableOrder[], performanceId: string | null, limit = 100): string[] {
  const voids = noVoidTickets();
  for (const each of noted) noteVoidTickets(voids, each);
  const found: string[] = [];
  for (let after: string | null = null; ;) {
    const afterOrder = orders.find(({ ticketIds }) => after !== null && ticketIds.includes(after)) ?? null;
    const page = pageOfVoidTickets(voids, { performanceId, after, limit }, afterOrder);
    assert.ok(page.ticketIds.length <= limit);
    found.push(...page.ticketIds);
    if (page.nextAfter === null) return found;
    after = page.nextAfter;
  }
}

describe('Void tickets', () => {
  it('are listed by the time of their cancellation, and as they came within a millisecond', () => {
    assert.deepEqual(listed(orders, null), inTime);
    const reversed = ['3-d2-0', '3-d2-1', '1-d1-0', '1-d2-0', ...inTime.slice(4)];
    for (const limit of [1, 2, 3, 6]) assert.deepEqual(listed(orders.toReversed(), null, limit), reversed);
    assert.deepEqual(listed(orders, 'd2'), ['1-d2-0', '3-d2-0', '3-d2-1']);
    assert.deepEqual(listed(orders, 'd3'), []);
  });

  it('that came within the millisecond of the last one that was read are listed after it', () => {
    const voids = noVoidTickets();
    const after = () => pageOfVoidTickets(voids, { performanceId: null, after: '3-d2-1', limit: 9 }, orders[3]!);
    noteVoidTickets(voids, orders[3]!);
    assert.deepEqual(after(), { ticketIds: [], nextAfter: null });
    noteVoidTickets(voids, orders[1]!);
    assert.deepEqual(after(), { ticketIds: ['1-d1-0', '1-d2-0'], nextAfter: null });
  });

  it('are listed in pages of any size, also for one performance', () => {
    for (const limit of [1, 2, 3, 5, 6]) {
      assert.deepEqual(listed(orders, null, limit), inTime);
      assert.deepEqual(listed(orders, 'd1', limit), ['1-d1-0', '0-d1-0', '0-d1-1']);
    }
  });

  it('continue after a ticket of another performance, and begin anew after one that is unknown or valid', () => {
    const voids = noVoidTickets();
    for (const each of orders) noteVoidTickets(voids, each);
    const after = (ticketId: string, found: VoidableOrder | null) =>
      pageOfVoidTickets(voids, { performanceId: 'd1', after: ticketId, limit: 9 }, found).ticketIds;
    assert.deepEqual(after('3-d2-0', orders[3]!), ['0-d1-0', '0-d1-1']);
    assert.deepEqual(after('2-d1-0', orders[2]!), ['1-d1-0', '0-d1-0', '0-d1-1']);
    assert.deepEqual(after('nobody', null), ['1-d1-0', '0-d1-0', '0-d1-1']);
  });

  it('are the same after a restart from a snapshot', () => {
    const fixture = openCheckoutEvent();
    const placed = [1, 2, 3].map((quantity) => {
      const started = checkOut(fixture, buy([item('adult', quantity)]));
      return recordPayment(fixture, report(paymentOf(started), 'paid'));
    });
    for (const each of [placed[2]!, placed[0]!]) {
      fixture.now += 1_000;
      fixture.do(cancelByOperator(each.id));
    }
    const expected = [placed[2]!, placed[0]!].flatMap(({ tickets }) => tickets.map(({ id }) => id));
    assert.equal(expected.length, 4);
    const [first = '', ...further] = snapshotPieces(fixture.state);
    const restored = restoreEventState(first);
    for (const piece of further) restorePiece(restored, piece);
    for (const state of [fixture.state, restored]) assert.deepEqual(voidTicketsOf(state), expected);
  });
});

function voidTicketsOf(state: EventState): readonly string[] {
  const page = listVoidTickets(state, { performanceId: 'd1', after: null, limit: 100 });
  assert.ok(!isRefusal(page));
  return page.ticketIds;
}
