/** An order that was changed after its purchase, as a snapshot brings it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditEventState } from '#domain/event/audit.ts';
import { restoreEventState, restorePiece, snapshotPieces } from '#domain/event/snapshot.ts';
import { findOrder, findTicket, listVoidTickets } from '#domain/orders/view.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { OrderRecord } from '#domain/orders/evolve.ts';
import { EventFixture, restore } from '../../fixtures/event-state.ts';
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

const CHANGED_AT = 1_000;

/**
 * An order of two tickets that was one of three: the second of the three was cancelled, and what is left of the first
 * was issued anew.
 */
function changedOrder(): { readonly fixture: EventFixture; readonly orderId: string; readonly ticketIds: string[] } {
  const fixture = openCheckoutEvent();
  const paid = recordPayment(fixture, report(paymentOf(checkOut(fixture, buy([item('adult', 2)]))), 'paid'));
  const pieces = [...snapshotPieces(fixture.state)].map((text) => {
    const piece = JSON.parse(text) as { kind: string; records: OrderRecord[] };
    return piece.kind === 'ORDERS' ? JSON.stringify({ ...piece, records: piece.records.map(asIfChanged) }) : text;
  });
  const [first = '', ...further] = pieces;
  const state = restoreEventState(first);
  for (const piece of further) restorePiece(state, piece);
  return {
    fixture: new EventFixture(state, fixture.now),
    orderId: paid.id,
    ticketIds: paid.tickets.map(({ id }) => id),
  };
}

/** The order as bought becomes what a larger one is after its change, so that hold and stock are already right. */
function asIfChanged(record: OrderRecord): OrderRecord {
  const { items, promoCode, totalCents, installmentsCents } = record.purchase;
  const [bought] = items;
  assert.ok(bought !== undefined);
  const { ticketTypeId, performanceId, unitPriceCents } = bought;
  const before = totalCents + unitPriceCents;
  const voided = { ticketTypeId, performanceId, seatId: null, itemIndex: 0, replaces: null, voidSince: CHANGED_AT };
  return {
    ...record,
    purchase: {
      ...record.purchase,
      items: [{ ...bought, quantity: 3, ticketCount: 3 }],
      totalCents: before,
      installmentsCents: [before],
    },
    payments: record.payments.map((payment) => ({ ...payment, amountCents: before })),
    changed: {
      terms: { items, promoCode, totalCents, installmentsCents },
      origins: [
        { itemIndex: 0, offset: 0, replaces: 'tkt_first' },
        { itemIndex: 0, offset: 2, replaces: null },
      ],
      amendments: [],
      feesCents: 0,
      goodwillCents: 0,
      people: [],
      voidedTickets: [
        { ...voided, id: 'tkt_first', offset: 0, voidReason: 'ORDER_CANCELLED' },
        { ...voided, id: 'tkt_second', offset: 1, voidReason: 'ORDER_CANCELLED' },
      ],
    },
  };
}

function allowed<Value extends object>(value: Value | Refusal): Value {
  assert.ok(!isRefusal(value));
  return value;
}

const voidTicketsOf = ({ state }: EventFixture, after: string | null = null): readonly string[] =>
  allowed(listVoidTickets(state, { performanceId: 'd1', after, limit: 100 })).ticketIds;

describe('A changed order', () => {
  it('shows its items, tickets and sums as they are now, and owes what it does not keep', () => {
    const { fixture, orderId, ticketIds } = changedOrder();
    const order = allowed(findOrder(fixture.state, orderId));
    const unit = order.totalCents / 2;
    assert.equal(order.items[0]?.quantity, 2);
    assert.deepEqual(
      order.tickets.map(({ id, offset, isValid }) => [id, offset, isValid]),
      [
        [ticketIds[0], 0, true],
        [ticketIds[1], 2, true],
      ],
    );
    assert.deepEqual([order.paidCents, order.remainingCents, order.refundDueCents], [3 * unit, 0, unit]);
    assert.equal(order.paymentStatus, 'COMPLETED');
    assert.deepEqual(auditEventState(fixture.state), []);
  });

  it('lists the tickets that its change made void, and is found by them', () => {
    const { fixture, orderId, ticketIds } = changedOrder();
    assert.deepEqual(voidTicketsOf(fixture), ['tkt_first', 'tkt_second']);
    assert.deepEqual(voidTicketsOf(fixture, 'tkt_first'), ['tkt_second']);
    const found = findTicket(fixture.state, 'tkt_second');
    assert.deepEqual([found?.orderId, found?.ticket.isValid, found?.ticket.offset], [orderId, false, 1]);
    assert.equal(findTicket(fixture.state, ticketIds[1]!)?.ticket.isValid, true);
  });

  it('adds its other tickets to the void ones once it is cancelled, and all of its money is due', () => {
    const { fixture, orderId, ticketIds } = changedOrder();
    fixture.do(cancelByOperator(orderId));
    const { paidCents, refundDueCents } = allowed(findOrder(fixture.state, orderId));
    assert.equal(refundDueCents, paidCents);
    const all = ['tkt_first', 'tkt_second', ...ticketIds];
    assert.deepEqual(voidTicketsOf(fixture), all);
    assert.deepEqual(voidTicketsOf(fixture, 'tkt_second'), ticketIds);
    assert.deepEqual(auditEventState(fixture.state), []);
    const restored = restore(fixture.state);
    assert.deepEqual(allowed(listVoidTickets(restored, { performanceId: 'd1', after: null, limit: 9 })).ticketIds, all);
  });
});
