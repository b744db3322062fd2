import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditEventState } from '#domain/event/audit.ts';
import { addCounts, countsOf, eventTotals, NO_COUNTS, operatorEventView } from '#domain/event/operator-view.ts';
import { inventoryOf } from '#domain/inventory/performance.ts';
import { AVAILABLE, BLOCKED, HELD, type SeatMap } from '#domain/inventory/seat-map.ts';
import {
  buy,
  checkOut,
  checkoutEvent,
  item,
  openCheckoutEvent,
  paymentOf,
  placeHold,
  recordPayment,
  report,
} from '../../fixtures/commands.ts';
import type { EventFixture } from '../../fixtures/event-state.ts';

/** An event with tickets held, awaiting payment, sold and blocked. */
function busyShop(): EventFixture {
  const fixture = openCheckoutEvent();
  placeHold(fixture, [item('adult', 2)], 'session-1');
  placeHold(fixture, [item('seat', 3)], 'session-2');
  checkOut(fixture, buy([item('group', 1)]));
  recordPayment(fixture, report(paymentOf(checkOut(fixture, buy([item('seat', 2), item('adult', 1)]))), 'paid'));
  const { seating, states } = seatsOf(fixture);
  const free = seating.seatIds[states.lastIndexOf(AVAILABLE)]!;
  fixture.do({ type: 'BlockSeats', performanceId: 'd1', seatIds: [free], operator: null, note: null });
  return fixture;
}

function seatsOf(fixture: EventFixture): SeatMap {
  return inventoryOf(fixture.state, 'd1').seatMaps.find((map) => map !== null)!;
}

function found(fixture: EventFixture): string[] {
  return auditEventState(fixture.state).map(({ what, where }) => `${where}: ${what}`);
}

describe('The audit', () => {
  it('finds nothing in a state that turns have changed', () => {
    assert.deepEqual(found(busyShop()), []);
  });

  it('finds a counter that is off by one', () => {
    const fixture = busyShop();
    const [sold] = [...fixture.state.holds.byId.values()].filter(({ status }) => status === 'CONSUMED');
    inventoryOf(fixture.state, 'd1').returnSold(sold!.lines.find(({ seatIds }) => seatIds.length === 0)!);
    assert.deepEqual(found(fixture), ['performance d1, locality floor: 0 tickets count as sold, but it is 1']);
  });

  it('finds a seat in another state than its claim says, and a taken seat without a claim', () => {
    const fixture = busyShop();
    const { states, seating } = seatsOf(fixture);
    const held = states.indexOf(HELD);
    const free = states.indexOf(AVAILABLE);
    states[held] = AVAILABLE;
    states[free] = BLOCKED;
    const [blocked, seat] = found(fixture);
    assert.equal(blocked, 'performance d1, locality hall: 1 tickets count as blocked, but it is 2');
    assert.match(
      seat!,
      new RegExp(`^performance d1, seat ${seating.seatIds[held]}: it is AVAILABLE, but it is held by hld_`),
    );
  });

  it('finds a seat in two claims', () => {
    const fixture = busyShop();
    const { holds } = fixture.state;
    const [first, second] = [...holds.byId.values()].filter(({ lines }) => lines[0]!.seatIds.length > 0);
    for (const { id } of [first!, second!]) holds.byId.open(id);
    const seated = holds.byId.open(second!.id)!;
    seated.lines = seated.lines.map((line, index) =>
      index === 0 ? { ...line, seatIds: first!.lines[0]!.seatIds.slice(0, line.ticketCount) } : line,
    );
    assert.ok(found(fixture).some((line) => line.includes(`it is in the holds ${first!.id} and ${second!.id}`)));
  });

  it('finds two ACTIVE holds of a session', () => {
    const fixture = busyShop();
    const { holds } = fixture.state;
    holds.activeBySession.delete('session-1');
    const [hold, sessions] = found(fixture);
    assert.match(hold!, /^hold hld_\S+: its session has another ACTIVE hold, or none$/);
    assert.equal(sessions, 'sessions: 1 sessions have an ACTIVE hold, but 2 holds are ACTIVE');
  });

  it('finds an order whose hold has another status than the order requires', () => {
    const fixture = busyShop();
    const { orders, holds } = fixture.state;
    const [pending, confirmed] = orders.inOrder;
    orders.inOrder.open(confirmed!.id)!.ticketIds = [];
    holds.byId.delete(pending!.purchase.holdId);
    orders.awaitingSession.add(confirmed!.number);
    const lines = found(fixture);
    assert.ok(lines.includes(`order ${pending!.id}: its hold is gone`), lines.join('\n'));
    assert.ok(lines.includes(`order ${confirmed!.id}: it is paid, but its tickets are not issued`), lines.join('\n'));
    const noted = `order ${confirmed!.id}: it awaits its first session and is not noted so, or the other way round`;
    assert.ok(lines.includes(noted), lines.join('\n'));
  });
});

describe('Figures', () => {
  it('count everything, over all performances', () => {
    const figures = countsOf(busyShop().state);
    assert.deepEqual(figures.tickets, { capacity: 64, available: 51, held: 9, sold: 3, blocked: 1 });
    assert.deepEqual([figures.holds.ACTIVE, figures.holds.CONVERTED, figures.holds.CONSUMED], [2, 1, 1]);
    assert.deepEqual([figures.orders.PENDING, figures.orders.CONFIRMED], [1, 1]);
    assert.deepEqual(addCounts(figures, NO_COUNTS), figures);
  });

  it('stand beside the same status of a date in every view', () => {
    const [open, other] = checkoutEvent().performances;
    const closed = { ...other!, status: 'SOLD_OUT' } as const;
    const draft = { ...other!, id: 'd3', status: 'DRAFT' } as const;
    const { state, now } = openCheckoutEvent({ performances: [open!, closed, draft] });
    for (const { performances } of [operatorEventView(state, now), eventTotals(state, null)]) {
      assert.deepEqual(
        performances.map(({ status }) => status),
        ['ON_SALE', 'SOLD_OUT', 'DRAFT'],
      );
    }
  });
});
