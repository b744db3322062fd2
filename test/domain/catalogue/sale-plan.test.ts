import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compileSalePlan,
  findSeat,
  isStageOpen,
  offerOf,
  retentionEndsAt,
  UNCAPPED,
} from '#domain/catalogue/sale-plan.ts';
import { eventOf, hall, hallEvent, stage, ticketType } from '../../fixtures/definitions.ts';

const floor = { id: 'floor', name: 'Floor', seating: 'GENERAL' as const, capacity: 50 };

test('offers are the pairs of type and stage that have a price, a price of 0 too', () => {
  const types = [ticketType('a', 'floor'), ticketType('b', 'floor')];
  const stages = [stage('late', { b: 2 }), { ...stage('early', { a: 0, b: 1 }), sortOrder: -1 }];
  const plan = compileSalePlan(eventOf([floor], types, stages));
  const pairs = plan.offers.map((row) => [row.index, row.ticketTypeId, row.sellingStageId, row.priceCents]);
  assert.deepEqual(pairs, [
    [0, 'a', 'early', 0],
    [1, 'b', 'early', 1],
    [2, 'b', 'late', 2],
  ]);
  for (const row of plan.offers) assert.equal(offerOf(plan, row.ticketTypeId, row.sellingStageId), row);
  assert.equal(offerOf(plan, 'a', 'late'), undefined);
  assert.equal(offerOf(plan, 'nobody', 'late'), undefined);
  assert.equal(offerOf(plan, 'a', 'never'), undefined);
});

test('a type that is named like a property of every object has no price by accident', () => {
  const plan = compileSalePlan(eventOf([floor], [ticketType('constructor', 'floor')], [stage('general', {})]));
  assert.deepEqual(plan.offers, []);
});

test('every pool has its cap: stage quota, type quota, places', () => {
  const types = [
    ticketType('a', 'floor', { quota: 7 }),
    ticketType('b', 'hall'),
    ticketType('c', 'hall', { zoneKeys: ['side'] }),
  ];
  const stages = [stage('general', { a: 1, b: 1, c: 1 }, { b: 0 })];
  const plan = compileSalePlan(eventOf([floor, hall(['..z', 'zz'])], types, stages));
  assert.deepEqual([...plan.poolCap], [UNCAPPED, 0, UNCAPPED, 7, UNCAPPED, UNCAPPED, 50, 2, 3]);
  assert.deepEqual(
    plan.ticketTypes.map((type) => type.placePools),
    [[6], [7, 8], [8]],
  );
  assert.deepEqual(
    plan.localities.map((locality) => locality.capacity),
    [50, 5],
  );
});

test('types of the same seats share a class', () => {
  const types = [
    ticketType('adult', 'hall', { zoneKeys: ['side', 'main'] }),
    ticketType('child', 'hall'),
    ticketType('wheelchair', 'hall', { accessible: true }),
  ];
  const plan = compileSalePlan(eventOf([hall(['..z'])], types, [stage('general', { adult: 1 })]));
  assert.equal(plan.localities[0]!.seatClasses.length, 2);
  assert.equal(plan.ticketTypes[0]!.seatClass, plan.ticketTypes[1]!.seatClass);
});

test('a stage sells from its first millisecond up to, not including, its end', () => {
  const open = { ...stage('general', {}), startsAt: 10, endsAt: 20 };
  assert.deepEqual(
    [9, 10, 19, 20].map((now) => isStageOpen(open, now)),
    [false, true, true, false],
  );
  assert.equal(isStageOpen({ ...open, startsAt: null, endsAt: null }, 0), true);
});

test('performances are sorted by sort_order, then by start, one without a start last', () => {
  const date = (id: string, sortOrder: number, startsAt: number | null) => ({
    id,
    name: id,
    startsAt,
    endsAt: null,
    status: 'ON_SALE' as const,
    sortOrder,
  });
  const performances = [date('e', 2, 1), date('d', 1, null), date('c', 1, 9), date('b', 1, 5), date('a', 0, 99)];
  const plan = compileSalePlan(eventOf([floor], [], [], { performances }));
  assert.deepEqual(
    plan.performances.map(({ id }) => id),
    ['a', 'b', 'c', 'd', 'e'],
  );
});

test('windows are in milliseconds, fractions of minutes included', () => {
  const plan = compileSalePlan(eventOf([floor], [], [], { holdMinutes: 0.05, holdMaxMinutes: 60, paymentMinutes: 30 }));
  assert.deepEqual([plan.holdWindowMs, plan.holdLifeMaxMs, plan.paymentWindowMs], [3_000, 3_600_000, 1_800_000]);
  assert.equal(compileSalePlan(eventOf([floor], [], [], { holdMaxMinutes: 0 })).holdLifeMaxMs, null);
});

test('a definition stored before the settings had a default has the default: no ceiling, limits at the checkout', () => {
  const stored = compileSalePlan(eventOf([floor], [], [], { holdMinutes: 5, holdMaxMinutes: null }));
  assert.deepEqual([stored.holdLifeMaxMs, stored.limitsAtHold], [null, false]);
});

test('personal data is kept for the days of retention after the last performance, and for ever while one has no time', () => {
  const day = 86_400_000;
  const date = (
    id: string,
    startsAt: number | null,
    endsAt: number | null,
    status: 'ON_SALE' | 'DRAFT' = 'ON_SALE',
  ) => ({
    id,
    name: id,
    startsAt,
    endsAt,
    status,
    sortOrder: 0,
  });
  const [ended, started, timeless] = [date('a', 5, 10), date('b', 20, null), date('c', null, null)];
  assert.equal(retentionEndsAt({ retentionDays: 1, performances: [ended] }), 10 + day);
  assert.equal(retentionEndsAt({ retentionDays: 30, performances: [started, ended] }), 20 + 30 * day);
  assert.equal(retentionEndsAt({ retentionDays: 30, performances: [ended, timeless] }), null);
  const drafts = [date('d', null, null, 'DRAFT'), date('e', 90, 99, 'DRAFT')];
  assert.equal(retentionEndsAt({ retentionDays: 30, performances: [ended, ...drafts] }), 10 + 30 * day);
  assert.equal(retentionEndsAt({ retentionDays: 30, performances: drafts }), null);
  assert.equal(retentionEndsAt({ retentionDays: null, performances: [ended] }), null);
  assert.equal(retentionEndsAt({ performances: [ended] }), null);
});

test('a seat is found by its id', () => {
  const plan = compileSalePlan(hallEvent(['...', '...']));
  assert.equal(findSeat(plan, '1-1')?.seat, 4);
  assert.equal(findSeat(plan, '2-0'), null);
});
