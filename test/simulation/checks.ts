/**
 * The checks after a turn: the state in memory and what the API shows of it, compared with the reference model.
 *
 * Functions without state of their own.
 */
import assert from 'node:assert/strict';
import { eventView, type TicketAvailability } from '#domain/event/public-view.ts';
import { stockOfPerformances } from '#domain/inventory/view.ts';
import { amendmentsOf, sealedTextsOf } from '#domain/orders/order.ts';
import { listOrders, listVoidTickets, viewOrder } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import { snapshotPieces } from '#domain/event/snapshot.ts';
import { findOwnEntry } from '#domain/waiting-room/state.ts';
import { MINUTE } from './events.ts';
import { plainAddress, type SaleModel } from './model.ts';
import { heldBeyond, seatsBeyond, statusOfAmendment } from './model-order.ts';
import { canBeBought, ticketsLeft } from './prediction.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { Command } from '#domain/command.ts';
import type { HoldLine } from '#domain/fact.ts';
import type { EventState } from '#domain/event/state.ts';
import type { Sealing } from '#domain/personal.ts';
import { findAnyHold } from '#domain/holds/state.ts';

/** An event in memory and its model, at a time. */
interface Inspected {
  readonly actor: EventActor;
  readonly model: SaleModel;
  readonly now: number;
}

type Row = Pick<TicketAvailability, 'ticketTypeId' | 'sellingStageId'> & { readonly performanceId: string };

/** The whole state as text. */
export const piecesOf = (state: EventState): readonly string[] => [...snapshotPieces(state)];

/** The availability and reservations that the event shows equal those of the model. */
export function assertShown({ actor, model, now }: Inspected, performanceId: string): void {
  const wanted = { performanceId, sessionKey: null };
  const shown = new Map<string, TicketAvailability>();
  const view = actor.inspect((state) => eventView(state, wanted, now));
  assert.ok(!isRefusal(view));
  for (const row of view.ticketAvailability) {
    const { ticketTypeId, sellingStageId } = row;
    const reserved = reservedOf(model, { performanceId, ticketTypeId, sellingStageId }, now);
    assert.equal(row.reserved, reserved, `reserved of ${ticketTypeId} in ${sellingStageId}`);
    const left = ticketsLeft(model, { performanceId, ticketTypeId, sellingStageId }, now);
    assert.equal(row.available, left, `available of ${ticketTypeId} in ${sellingStageId}`);
    shown.set(`${ticketTypeId} ${sellingStageId}`, row);
  }
  for (const { id, onSale } of view.performances) {
    assert.equal(onSale, canBeBought(model, id, now), `on_sale of ${id}`);
  }
  assertSum({ actor, model, now }, performanceId, shown);
}

/** A summed row is the sum of the rows of all performances. */
function assertSum(
  { actor, model, now }: Inspected,
  performanceId: string,
  shown: ReadonlyMap<string, TicketAvailability>,
): void {
  const view = actor.inspect((state) => eventView(state, { performanceId: null, sessionKey: null }, now));
  assert.ok(!isRefusal(view));
  const others = model.definition.performances.filter(({ id }) => id !== performanceId);
  for (const { ticketTypeId, sellingStageId, available, reserved } of view.ticketAvailability) {
    const rows = others.map(({ id }) => ({
      available: ticketsLeft(model, { performanceId: id, ticketTypeId, sellingStageId }, now),
      reserved: reservedOf(model, { performanceId: id, ticketTypeId, sellingStageId }, now),
    }));
    const all = [...rows, shown.get(`${ticketTypeId} ${sellingStageId}`)!];
    const sumOf = (figure: 'available' | 'reserved') => all.reduce((sum, each) => sum + each[figure], 0);
    const what = `the sum over dates of ${ticketTypeId} in ${sellingStageId}`;
    assert.deepEqual([available, reserved], [sumOf('available'), sumOf('reserved')], what);
  }
}

/** Tickets of a row in ACTIVE and CONVERTED holds, and what pending amendments hold. */
function reservedOf(model: SaleModel, row: Row, now: number): number {
  const ticketsIn = (line: HoldLine): number => {
    const isOfRow = line.ticketTypeId === row.ticketTypeId && line.sellingStageId === row.sellingStageId;
    return line.performanceId === row.performanceId && isOfRow ? line.ticketCount : 0;
  };
  let reserved = 0;
  for (const hold of model.holds.values()) {
    if (!['ACTIVE', 'CONVERTED'].includes(model.statusOfHold(hold, now))) continue;
    for (const line of hold.lines) reserved += ticketsIn(line);
  }
  for (const wanted of model.wantedOn(row.performanceId, now)) reserved += heldBeyond(wanted, ticketsIn);
  return reserved;
}

/** I7, and the counters of the state equal those of the model. */
export function assertStock({ actor, model, now }: Inspected): void {
  if (actor.isRetired) return;
  const read = (state: EventState) => stockOfPerformances(state);
  for (const { id, capacity, available, held, sold, blocked } of actor.inspect(read)) {
    assert.equal(capacity, available + held + sold + blocked, `${id}: the counters add up (I7)`);
    assert.ok(Math.min(available, held, sold, blocked) >= 0, `${id}: no counter is below zero (I7)`);
    const soldThere = ticketsOf(model, id, ['CONSUMED'], now);
    assert.deepEqual(
      [held, sold, blocked],
      [ticketsOf(model, id, ['ACTIVE', 'CONVERTED'], now), soldThere, model.blockedOn(id)],
      `${id}: held, sold, blocked`,
    );
    if (!model.cancelledDates.has(id) || actor.inspect((state) => state.cancelling.has(id))) continue;
    assert.equal(held + sold, 0, `${id} is cancelled and nothing is taken of it`);
  }
}

/** Once the cancellation of a performance is answered, nothing is taken of it any more. */
export function assertCancelled(model: SaleModel, command: Command, now: number): void {
  if (command.type !== 'CancelPerformance') return;
  const { performanceId } = command;
  const taken = ticketsOf(model, performanceId, ['ACTIVE', 'CONVERTED', 'CONSUMED'], now);
  assert.equal(taken, 0, `the cancellation of ${performanceId} was answered and nothing is taken of it`);
}

/** Every hold, order and entry of the state equals that of the model; without facts nothing has changed (I2). */
export function assertState({ actor, model, now }: Inspected, before: readonly string[] | null): void {
  if (before !== null) assert.deepEqual(actor.inspect(piecesOf), before, 'without facts nothing changes (I2)');
  actor.inspect((state) => {
    for (const [id, hold] of model.holds) {
      const status = model.shownStatusOfHold(hold, now);
      const found = findAnyHold(state, id, hold.sessionKey);
      if (found === undefined && hold.orderId === null && model.mayBeDropped(hold, now)) continue;
      assert.deepEqual(
        [id, found?.status, found?.orderId ?? null],
        [id, status, hold.orderId],
        'a hold is as in the model',
      );
    }
    for (const [id, order] of model.orders) {
      const found = state.orders.byId.get(id)!;
      const { status, refundDueCents, tickets } = viewOrder(state, found);
      const amendments = [...order.amendments].map(([key, each]) => [key, statusOfAmendment(each, now)]);
      const shown = amendmentsOf(found).map((each) => [each.id, each.status]);
      assert.deepEqual(shown, amendments, 'amendments are as in the model');
      const expected = [id, model.statusOfOrder(order, now), model.refundDue(order, now)];
      assert.deepEqual([id, status, refundDueCents], expected, 'an order is as in the model');
      const isLive = status === 'CONFIRMED' || status === 'PARTIALLY_PAID';
      const ticketIds = tickets.map((ticket) => ticket.id);
      if (isLive) assert.deepEqual(ticketIds, order.tickets, 'tickets are as issued');
    }
    assertVoidTickets(state, model);
    for (const [id, entry] of model.entries) {
      const found = findOwnEntry(state, id, entry.sessionKey);
      if (isRefusal(found) && model.mayBeDropped(entry, now)) continue;
      assert.equal(isRefusal(found) ? found.code : found.status, entry.status, 'an entry is as in the model');
    }
  });
}

/** No erased order has a sealed text in memory, and an address leads to its orders that are not erased. */
export function assertForgotten(state: EventState, model: SaleModel, sealing: Sealing): void {
  const orders = [...model.orders.values()];
  for (const { id, sealedTexts } of orders) {
    const order = state.orders.byId.get(id)!;
    assert.equal(sealedTextsOf(order).length, sealedTexts, 'an order has the sealed texts that are not erased');
  }
  for (const address of new Set(orders.map(({ email }) => plainAddress(email)))) {
    const wanted = { status: null, email: address, after: null, limit: Number.MAX_SAFE_INTEGER };
    const found = listOrders(state, wanted, sealing).orders.map(({ id }) => id);
    const expected = orders.filter((order) => !order.isErased && plainAddress(order.email) === address);
    assert.deepEqual(
      found,
      expected.map(({ id }) => id),
      'an address leads to its orders that are not erased',
    );
  }
}

/**
 * The void tickets are those that amendments gave up, and those of orders that were cancelled after their tickets were
 * issued, each once, and no others.
 */
function assertVoidTickets(state: EventState, model: SaleModel): void {
  const page = listVoidTickets(state, { performanceId: null, after: null, limit: Number.MAX_SAFE_INTEGER });
  assert.ok(!isRefusal(page));
  const expected = [...model.orders.values()].flatMap(({ status, tickets, voided, isEndedByAmendment }) => [
    ...voided,
    ...(status === 'CANCELLED' && !isEndedByAmendment ? tickets : []),
  ]);
  assert.deepEqual([...page.ticketIds].sort(), expected.sort(), 'void tickets are those of cancelled orders');
}

/** While the waiting room is open and the rate and the limit allow it, no entry is left WAITING. */
export function assertNobodyWaits(model: SaleModel, now: number): void {
  const { waitingRoomRate: rate, waitingRoomMaxAdmitted: most } = model.definition;
  const entries = [...model.entries.values()];
  const { waitingRoomOpensAt } = model.definition;
  if (waitingRoomOpensAt !== null && waitingRoomOpensAt > now) return;
  const lately = entries.filter(({ admittedAt }) => admittedAt > now - MINUTE).length;
  const live = entries.filter(({ status }) => status === 'ADMITTED').length;
  const isFull = lately >= rate || (most !== null && live >= most);
  assert.ok(
    isFull || !entries.some(({ status }) => status === 'WAITING'),
    'no entry waits while another may be admitted',
  );
}

function ticketsOf(model: SaleModel, dateId: string, statuses: readonly string[], now: number): number {
  let count = 0;
  for (const hold of model.holds.values()) {
    if (!statuses.includes(model.statusOfHold(hold, now))) continue;
    for (const line of hold.lines) if (line.performanceId === dateId) count += line.ticketCount;
  }
  if (!statuses.includes('CONVERTED')) return count;
  // What pending amendments hold.
  for (const wanted of model.wantedOn(dateId, now)) {
    count += heldBeyond(wanted, ({ seatIds, ticketCount }) => (seatIds.length === 0 ? ticketCount : 0));
    count += seatsBeyond(wanted).length;
  }
  return count;
}
