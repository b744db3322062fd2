import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Inventory } from '#domain/inventory/inventory.ts';
import type { StockLine } from '#domain/inventory/release-times.ts';
import { compileSalePlan, offerOf } from '#domain/catalogue/sale-plan.ts';
import type { Offer } from '#domain/catalogue/sale-plan.ts';
import {
  createOverlay,
  giveBackInOverlay,
  checkSeats,
  leftInOverlay,
  seatStateInOverlay,
  shortfall,
  takeInOverlay,
} from '#domain/inventory/stock-overlay.ts';
import type { SeatCheck } from '#domain/inventory/stock-overlay.ts';
import { eventOf, hall, stage, ticketType } from '../../fixtures/definitions.ts';

function openInventory(): Inventory {
  const floor = { id: 'floor', name: 'Floor', seating: 'GENERAL' as const, capacity: 5 };
  const types = [
    ticketType('stand', 'floor'),
    ticketType('lean', 'floor', { quota: 3 }),
    ticketType('main', 'hall', { zoneKeys: ['main'] }),
    ticketType('side', 'hall', { zoneKeys: ['side'] }),
  ];
  const stages = [
    stage('general', { stand: 1, lean: 1, main: 1, side: 1 }),
    stage('early', { stand: 1 }, { stand: 2 }),
  ];
  return new Inventory(compileSalePlan(eventOf([floor, hall(['..zz.'])], types, stages)), 'd1');
}

const rowIn = (inventory: Inventory, typeId: string, stageId = 'general'): Offer =>
  offerOf(inventory.plan, typeId, stageId)!;

const standing = (ticketCount: number, ticketTypeId = 'stand', sellingStageId = 'general'): StockLine => ({
  ticketTypeId,
  sellingStageId,
  ticketCount,
  seatIds: [],
});

const seated = (...seatIds: string[]): StockLine => ({
  ticketTypeId: 'main',
  sellingStageId: 'general',
  ticketCount: seatIds.length,
  seatIds,
});

/** A line as its hold has it. */
const on = (line: StockLine) => ({ ...line, performanceId: 'd1' });

const check = (inventory: Inventory, overlay = createOverlay(inventory), ...seatIds: string[]): SeatCheck =>
  checkSeats(overlay, inventory.plan.ticketTypeById.get('main')!, seatIds);

test('an overlay leaves the inventory unchanged', () => {
  const inventory = openInventory();
  const own = { status: 'ACTIVE', expiresAt: 9, lines: [] };
  inventory.take(own, seated('0-0'));
  inventory.take(own, standing(2));
  const before = JSON.stringify(inventory.snapshot());
  const overlay = createOverlay(inventory);
  giveBackInOverlay(overlay, seated('0-0'));
  giveBackInOverlay(overlay, standing(2));
  takeInOverlay(overlay, seated('0-1', '0-0'));
  takeInOverlay(overlay, standing(5));
  assert.equal(JSON.stringify(inventory.snapshot()), before);
  assert.equal(leftInOverlay(overlay, rowIn(inventory, 'stand')), 0);
  assert.equal(inventory.left(rowIn(inventory, 'stand')), 3);
});

test('items on the same stock add up, whatever type and stage they are of', () => {
  const inventory = openInventory();
  const overlay = createOverlay(inventory);
  takeInOverlay(overlay, standing(1, 'stand', 'early'));
  takeInOverlay(overlay, standing(2, 'lean'));
  assert.equal(leftInOverlay(overlay, rowIn(inventory, 'stand')), 2);
  assert.equal(leftInOverlay(overlay, rowIn(inventory, 'stand', 'early')), 1);
  assert.equal(leftInOverlay(overlay, rowIn(inventory, 'lean')), 1);
  assert.equal(leftInOverlay(overlay, rowIn(inventory, 'main')), 3);
});

test('a shortfall names what was available to the session before the request took anything', () => {
  const inventory = openInventory();
  const own = { status: 'ACTIVE', expiresAt: 9, lines: [] };
  inventory.take(own, standing(2));
  const overlay = createOverlay(inventory);
  giveBackInOverlay(overlay, standing(2));
  takeInOverlay(overlay, standing(4));
  assert.deepEqual(shortfall(overlay, rowIn(inventory, 'stand'), 2, own), {
    available: 5,
    reservedByOthers: false,
    nextReleaseAt: null,
  });
});

test('a shortfall counts holds of others only where their stock could satisfy the request', () => {
  const inventory = openInventory();
  const other = { status: 'ACTIVE', expiresAt: 70, lines: [on(standing(2))] };
  const later = { status: 'CONVERTED', expiresAt: 90, lines: [on(standing(2)), on(standing(2, 'stand', 'early'))] };
  inventory.take(later, standing(2));
  inventory.take(other, standing(2));
  const short = () => shortfall(createOverlay(inventory), rowIn(inventory, 'stand'), 2, null);
  assert.deepEqual(short(), { available: 1, reservedByOthers: true, nextReleaseAt: 70 });
  inventory.giveBack(standing(2));
  inventory.take(later, standing(2, 'stand', 'early'));
  other.status = 'RELEASED';
  assert.deepEqual(short(), { available: 1, reservedByOthers: true, nextReleaseAt: 90 });
  inventory.sell(standing(2));
  inventory.sell(standing(2, 'stand', 'early'));
  later.status = 'CONSUMED';
  assert.deepEqual(short(), { available: 1, reservedByOthers: false, nextReleaseAt: null });
  const early = rowIn(inventory, 'stand', 'early');
  inventory.take({ status: 'ACTIVE', expiresAt: 80, lines: [on(standing(1))] }, standing(1));
  const soldQuota = { available: 0, reservedByOthers: false, nextReleaseAt: null };
  assert.deepEqual(
    shortfall(createOverlay(inventory), early, 1, null),
    soldQuota,
    'the quota is sold, the floor only held',
  );
});

test('where enough seats are left but no block, a shortfall counts the holds of others in the zones', () => {
  const inventory = openInventory();
  inventory.take({ status: 'ACTIVE', expiresAt: 70, lines: [on(seated('0-1'))] }, seated('0-1'));
  const side = { ...seated('0-2'), ticketTypeId: 'side' };
  inventory.take({ status: 'ACTIVE', expiresAt: 50, lines: [on(side)] }, side);
  const short = shortfall(createOverlay(inventory), rowIn(inventory, 'main'), 2, null);
  assert.deepEqual(short, { available: 2, reservedByOthers: true, nextReleaseAt: 70 });
});

test('every picked seat is checked: unknown, of another zone, blocked, held, sold', () => {
  const inventory = openInventory();
  const hold = { status: 'ACTIVE', expiresAt: 1, lines: [] };
  inventory.block(['0-0']);
  inventory.take(hold, seated('0-1'));
  inventory.take(hold, seated('0-4'));
  inventory.sell(seated('0-4'));
  assert.deepEqual(check(inventory, createOverlay(inventory), '0-4', '0-0', '0-1', '0-2', 'nowhere'), {
    notInTicketType: ['0-2', 'nowhere'],
    notSellable: ['0-0'],
    taken: ['0-4', '0-1'],
  });
});

test('in an overlay the seats given back are available and the taken ones are not', () => {
  const inventory = openInventory();
  inventory.take({ status: 'ACTIVE', expiresAt: 1, lines: [] }, seated('0-0', '0-1'));
  const overlay = createOverlay(inventory);
  giveBackInOverlay(overlay, seated('0-0', '0-1'));
  takeInOverlay(overlay, seated('0-1'));
  assert.deepEqual(check(inventory, overlay, '0-0', '0-1', '0-4').taken, ['0-1']);
  assert.equal(seatStateInOverlay(overlay, '0-0'), 'AVAILABLE');
  assert.equal(seatStateInOverlay(overlay, '0-1'), 'HELD');
  assert.equal(seatStateInOverlay(overlay, 'nowhere'), undefined);
});
