import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditBoxOffice } from '#domain/audit.ts';
import { addFigures, figuresOf, NO_FIGURES } from '#domain/figures.ts';
import { inventoryOf } from '#domain/performances.ts';
import { AVAILABLE, BLOCKED, HELD } from '#domain/seat-state.ts';
import { buy, checkOut, item, openShop, paymentOf, placeHold, report, tell } from './shop.ts';
import type { Desk } from './office.ts';
import type { SeatMap } from '#domain/seat-map.ts';

/** A shop with tickets held, awaiting payment, sold and blocked. */
function busyShop(): Desk {
  const desk = openShop();
  placeHold(desk, [item('adult', 2)], 'session-1');
  placeHold(desk, [item('seat', 3)], 'session-2');
  checkOut(desk, buy([item('group', 1)]));
  tell(desk, report(paymentOf(checkOut(desk, buy([item('seat', 2), item('adult', 1)]))), 'paid'));
  const { seating, states } = seatsOf(desk);
  const free = seating.seatIds[states.lastIndexOf(AVAILABLE)]!;
  desk.do({ type: 'BlockSeats', performanceId: 'd1', seatIds: [free], operator: null, note: null });
  return desk;
}

function seatsOf(desk: Desk): SeatMap {
  return inventoryOf(desk.office, 'd1').seatMaps.find((map) => map !== null)!;
}

function found(desk: Desk): string[] {
  return auditBoxOffice(desk.office).map(({ what, where }) => `${where}: ${what}`);
}

describe('The audit', () => {
  it('finds nothing in books that were kept by turns', () => {
    assert.deepEqual(found(busyShop()), []);
  });

  it('finds a counter that is off by one', () => {
    const desk = busyShop();
    const { plan } = desk.office;
    inventoryOf(desk.office, 'd1').sold[plan.localityById.get('floor')!.firstPlacePool]! -= 1;
    assert.deepEqual(found(desk), ['date d1, locality floor: 0 tickets count as sold, but it is 1']);
  });

  it('finds a seat in another state than its claim says, and one that nobody has', () => {
    const desk = busyShop();
    const { states, seating } = seatsOf(desk);
    const held = states.indexOf(HELD);
    const free = states.indexOf(AVAILABLE);
    states[held] = AVAILABLE;
    states[free] = BLOCKED;
    const [blocked, seat] = found(desk);
    assert.equal(blocked, 'date d1, locality hall: 1 tickets count as blocked, but it is 2');
    assert.match(seat!, new RegExp(`^date d1, seat ${seating.seatIds[held]}: it is AVAILABLE, but it is held by hld_`));
  });

  it('finds a seat in two claims', () => {
    const desk = busyShop();
    const { holds } = desk.office;
    const [first, second] = [...holds.byId.values()].filter(({ lines }) => lines[0]!.seatIds.length > 0);
    for (const { id } of [first!, second!]) holds.byId.open(id);
    const seated = holds.byId.open(second!.id)!;
    seated.lines = seated.lines.map((line, index) =>
      index === 0 ? { ...line, seatIds: first!.lines[0]!.seatIds.slice(0, line.ticketCount) } : line,
    );
    assert.ok(found(desk).some((line) => line.includes(`it is in the holds ${first!.id} and ${second!.id}`)));
  });

  it('finds two ACTIVE holds of a session', () => {
    const desk = busyShop();
    const { holds } = desk.office;
    holds.activeBySession.delete('session-1');
    const [hold, sessions] = found(desk);
    assert.match(hold!, /^hold hld_\S+: its session has another ACTIVE hold, or none$/);
    assert.equal(sessions, 'sessions: 1 sessions have an ACTIVE hold, but 2 holds are ACTIVE');
  });

  it('finds an order whose hold does not stand by it', () => {
    const desk = busyShop();
    const { orders, holds } = desk.office;
    const [pending, confirmed] = orders.inOrder;
    orders.inOrder.open(confirmed!.id)!.ticketIds = [];
    holds.byId.delete(pending!.purchase.holdId);
    const lines = found(desk);
    assert.ok(lines.includes(`order ${pending!.id}: its hold is gone`), lines.join('\n'));
    assert.ok(lines.includes(`order ${confirmed!.id}: it is paid, but its tickets are not issued`), lines.join('\n'));
  });
});

describe('Figures', () => {
  it('count everything there is, over all dates', () => {
    const figures = figuresOf(busyShop().office);
    assert.deepEqual(figures.tickets, { capacity: 64, available: 51, held: 9, sold: 3, blocked: 1 });
    assert.deepEqual([figures.holds.ACTIVE, figures.holds.CONVERTED, figures.holds.CONSUMED], [2, 1, 1]);
    assert.deepEqual([figures.orders.PENDING, figures.orders.CONFIRMED], [1, 1]);
    assert.deepEqual(addFigures(figures, NO_FIGURES), figures);
  });
});
