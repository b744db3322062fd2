import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../property.ts';
import { bestBlock } from '#domain/inventory/best-available.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { Defect } from '#domain/invariant.ts';
import { Inventory } from '#domain/inventory/inventory.ts';
import type { StockLine } from '#domain/inventory/release-times.ts';
import { rebaseConflicts } from '#domain/inventory/decide.ts';
import { occupancy } from '#domain/inventory/view.ts';
import { compileSalePlan } from '#domain/catalogue/sale-plan.ts';
import type { SalePlan, Offer } from '#domain/catalogue/sale-plan.ts';
import { createOverlay, giveBackInOverlay, leftInOverlay, shortfall } from '#domain/inventory/stock-overlay.ts';
import { eventOf, hall, hallEvent, stage, ticketType } from '../../fixtures/definitions.ts';

const small = venueOf(12, ['..z.r', 'za..a'], 7);
const grown = venueOf(15, ['zzz', '..z.r', 'za..a..'], null);

/** A floor that two types share and a hall that three types share, with quotas of every kind. */
function venueOf(capacity: number, rows: readonly string[], quota: number | null): EventDefinition {
  const types = [
    ticketType('stand', 'floor', { quota }),
    ticketType('group', 'floor', { groupSize: 2 }),
    ticketType('any', 'hall', { quota: 6 }),
    ticketType('main', 'hall', { zoneKeys: ['main'] }),
    ticketType('side', 'hall', { zoneKeys: ['side'] }),
    ticketType('wheel', 'hall', { accessible: true }),
  ];
  const prices = { stand: 1, group: 1, any: 1, main: 1, side: 1, wheel: 1 };
  const stages = [stage('early', prices, { stand: 4, main: 3 }), stage('late', prices)];
  const floor = { id: 'floor', name: 'Floor', seating: 'GENERAL' as const, capacity };
  // Other rows come first in the grown hall: what is carried over is carried by id.
  const ids = rows.length === 2 ? ['first', 'second'] : ['third', 'first', 'second'];
  const seating = hall(rows);
  const renamed = seating.sections[0]!.rows.map((row, r) => ({
    ...row,
    seats: row.seats.map((seat, i) => ({ ...seat, id: `${ids[r]}-${i}` })),
  }));
  return eventOf([floor, { ...seating, sections: [{ id: 'all', name: 'All', rows: renamed }] }], types, stages);
}

interface PlainHold {
  status: string;
  expiresAt: number;
  lines: readonly PlainLine[];
}

type PlainLine = StockLine & { readonly performanceId: string };

/** The reference model: a list of holds and a set of blocked seats; every figure is counted anew each time. */
interface PlainDate {
  readonly holds: PlainHold[];
  readonly blocked: Set<string>;
}

const isLive = (hold: PlainHold): boolean => hold.status === 'ACTIVE' || hold.status === 'CONVERTED';
const isTaken = (hold: PlainHold): boolean => isLive(hold) || hold.status === 'CONSUMED';

type LineTest = (line: StockLine) => boolean;

function ticketsOf(holds: readonly PlainHold[], counts: LineTest): number {
  return holds
    .flatMap((hold) => hold.lines)
    .filter(counts)
    .reduce((sum, line) => sum + line.ticketCount, 0);
}

function plainSeats(definition: EventDefinition) {
  return definition.localities.flatMap((locality) =>
    locality.seating === 'NUMBERED'
      ? locality.sections.flatMap((section) => section.rows.flatMap((row) => row.seats))
      : [],
  );
}

/** The three stocks of a row as [cap, tickets of the given holds]; seats count one by one. */
function plainStocks(definition: EventDefinition, date: PlainDate, row: Offer) {
  const type = definition.ticketTypes.find((each) => each.id === row.ticketTypeId)!;
  const stageQuota = row.sellingStage.definition.quotas[type.id] ?? Infinity;
  const mayTake = (seatId: string): boolean => {
    const seat = plainSeats(definition).find(({ id }) => id === seatId)!;
    return (type.zoneKeys === null || type.zoneKeys.includes(seat.zoneKey)) && seat.accessible === type.accessible;
  };
  const inHall = type.localityId === 'hall';
  const placesOf = (hold: PlainHold): number =>
    inHall
      ? hold.lines.flatMap((line) => line.seatIds).filter(mayTake).length
      : ticketsOf([hold], (line) => ['stand', 'group'].includes(line.ticketTypeId));
  const capacity = inHall
    ? plainSeats(definition).filter((seat) => mayTake(seat.id) && !date.blocked.has(seat.id)).length
    : definition.localities[0]!.seating === 'GENERAL'
      ? definition.localities[0]!.capacity
      : 0;
  const ofType: LineTest = (line) => line.ticketTypeId === type.id;
  const ofRow: LineTest = (line) => ofType(line) && line.sellingStageId === row.sellingStageId;
  return [
    { cap: capacity, of: placesOf },
    { cap: type.quota ?? Infinity, of: (hold: PlainHold) => ticketsOf([hold], ofType) },
    { cap: stageQuota, of: (hold: PlainHold) => ticketsOf([hold], ofRow) },
  ].map(({ cap, of }) => ({
    of,
    left: (holds: readonly PlainHold[]) => cap - holds.reduce((sum, hold) => sum + of(hold), 0),
  }));
}

function plainLeft(definition: EventDefinition, date: PlainDate, row: Offer, without: PlainHold | null): number {
  const holds = date.holds.filter((hold) => isTaken(hold) && hold !== without);
  return Math.max(0, Math.min(...plainStocks(definition, date, row).map((stock) => stock.left(holds))));
}

function plainShortfall(
  definition: EventDefinition,
  date: PlainDate,
  row: Offer,
  wanted: number,
  own: PlainHold | null,
) {
  const stocks = plainStocks(definition, date, row);
  const taken = date.holds.filter((hold) => isTaken(hold) && hold !== own);
  const others = taken.filter(isLive);
  const sold = taken.filter((hold) => !isLive(hold));
  const available = plainLeft(definition, date, row, own);
  const couldBe = Math.max(0, Math.min(...stocks.map((stock) => stock.left(sold))));
  const short = stocks.filter((stock) => stock.left(taken) < wanted);
  const inTheWay = short.length > 0 ? short : [stocks[0]!];
  const claimants = others.filter((hold) => inTheWay.some((stock) => stock.of(hold) > 0));
  const reservedByOthers = short.length > 0 ? couldBe > available : claimants.length > 0;
  const nextReleaseAt = reservedByOthers ? Math.min(...claimants.map((hold) => hold.expiresAt)) : null;
  return { available, reservedByOthers, nextReleaseAt };
}

function assertSame(inventory: Inventory, definition: EventDefinition, date: PlainDate, own: PlainHold | null): void {
  const live = date.holds.filter(isLive);
  const sold = date.holds.filter((hold) => hold.status === 'CONSUMED');
  for (const row of inventory.plan.offers) {
    const ofRow: LineTest = (line) =>
      line.ticketTypeId === row.ticketTypeId && line.sellingStageId === row.sellingStageId;
    assert.equal(inventory.left(row), plainLeft(definition, date, row, null));
    assert.equal(inventory.heldInPool(row.index), ticketsOf(live, ofRow));
    const overlay = createOverlay(inventory);
    for (const line of own?.lines ?? []) giveBackInOverlay(overlay, line);
    assert.equal(leftInOverlay(overlay, row), plainLeft(definition, date, row, own));
    for (const wanted of [1, 4, 9]) {
      assert.deepEqual(shortfall(overlay, row, wanted, own), plainShortfall(definition, date, row, wanted, own));
    }
  }
  const seatsOf = (holds: readonly PlainHold[]) =>
    holds.flatMap((hold) => hold.lines.flatMap((line) => line.seatIds)).sort();
  const shown = occupancy(inventory);
  assert.deepEqual(shown.held.toSorted(), seatsOf(live));
  assert.deepEqual(shown.sold.toSorted(), seatsOf(sold));
  assert.deepEqual(shown.blocked.toSorted(), [...date.blocked].sort());
  const seatCount = plainSeats(definition).length;
  assert.equal(shown.available, seatCount - shown.held.length - shown.sold.length - shown.blocked.length);
  for (const figures of [inventory.totals(), ...inventory.plan.localities.map((each) => inventory.totalsOf(each))]) {
    assert.equal(figures.capacity, figures.available + figures.held + figures.sold + figures.blocked);
    assert(Object.values(figures).every((figure) => figure >= 0));
  }
  assert.equal(
    inventory.totals().held,
    ticketsOf(live, () => true),
  );
  assert.equal(
    inventory.totals().sold,
    ticketsOf(sold, () => true),
  );
}

/** A line that can be had: at most `wanted` tickets, seats among the free ones of the type's zones. */
function lineFor(inventory: Inventory, date: PlainDate, row: Offer, wanted: number): PlainLine | null {
  const definition = inventory.plan.definition;
  const ticketCount = Math.min(wanted, plainLeft(definition, date, row, null));
  if (ticketCount === 0) return null;
  const { ticketTypeId, sellingStageId } = row;
  const type = row.ticketType.definition;
  if (type.localityId === 'floor')
    return { performanceId: 'd1', ticketTypeId, sellingStageId, ticketCount, seatIds: [] };
  const taken = new Set(date.holds.filter(isTaken).flatMap((hold) => hold.lines.flatMap((line) => line.seatIds)));
  const free = plainSeats(definition)
    .filter((seat) => type.zoneKeys === null || type.zoneKeys.includes(seat.zoneKey))
    .filter((seat) => seat.accessible === type.accessible)
    .map((seat) => seat.id)
    .filter((id) => !taken.has(id) && !date.blocked.has(id));
  return { performanceId: 'd1', ticketTypeId, sellingStageId, ticketCount, seatIds: free.slice(-ticketCount) };
}

/** Whether the plan, which may have been replaced since, still has the line's row and all its seats. */
function isInPlan(plan: SalePlan, { ticketTypeId, sellingStageId, seatIds }: StockLine): boolean {
  const known = new Set(plainSeats(plan.definition).map((seat) => seat.id));
  const rowIsThere = plan.offers.some(
    (row) => row.ticketTypeId === ticketTypeId && row.sellingStageId === sellingStageId,
  );
  return rowIsThere && seatIds.every((id) => known.has(id));
}

function canBeHad(inventory: Inventory, date: PlainDate, lines: readonly PlainLine[]): boolean {
  const definition = inventory.plan.definition;
  if (!lines.every((line) => isInPlan(inventory.plan, line))) return false;
  const taken = new Set(date.holds.filter(isTaken).flatMap((hold) => hold.lines.flatMap((line) => line.seatIds)));
  const seatIds = lines.flatMap((line) => line.seatIds);
  if (seatIds.some((id) => taken.has(id) || date.blocked.has(id))) return false;
  const plain = { holds: [...date.holds, { status: 'CONSUMED', expiresAt: 0, lines }], blocked: date.blocked };
  return inventory.plan.offers.every((row) =>
    plainStocks(definition, plain, row).every((stock) => stock.left(plain.holds.filter(isTaken)) >= 0),
  );
}

type Step = readonly [action: string, a: number, b: number, c: number];

const actions = [
  'place',
  'place',
  'place',
  'change',
  'end',
  'convert',
  'consume',
  'return',
  'retake',
  'block',
  'restore',
  'update',
];

const steps = fc.array(fc.tuple(fc.constantFrom(...actions), fc.nat(999), fc.nat(999), fc.nat(999)), {
  minLength: 1,
  maxLength: 60,
  size: 'max',
});

/** Takes one step in the inventory and in the model; returns the inventory, which a restore replaces. */
function takeStep(
  inventory: Inventory,
  date: PlainDate,
  plans: readonly SalePlan[],
  [action, a, b, c]: Step,
): Inventory {
  const pick = (test: (hold: PlainHold) => boolean): PlainHold | undefined => {
    const holds = date.holds.filter(test);
    return holds[a % holds.length];
  };
  const rowAt = (n: number): Offer => inventory.plan.offers[n % inventory.plan.offers.length]!;
  const place = (hold: PlainHold, rows: readonly Offer[], before?: readonly PlainLine[]): void => {
    for (const row of rows) {
      const line = lineFor(inventory, date, row, 1 + (c % 4));
      if (line === null) continue;
      inventory.take(hold, line, before);
      hold.lines = [...hold.lines, line];
    }
  };
  const give = (hold: PlainHold): void => {
    for (const line of hold.lines) inventory.giveBack(line);
  };
  switch (action) {
    case 'place': {
      const hold: PlainHold = { status: 'ACTIVE', expiresAt: 100 + (b % 50), lines: [] };
      date.holds.push(hold);
      place(hold, [rowAt(a), rowAt(b)]);
      return inventory;
    }
    case 'change': {
      const hold = pick(isLive);
      if (hold === undefined) return inventory;
      give(hold);
      // Every third change leaves the window as it was, as one at the ceiling does.
      const isMoved = b % 3 > 0;
      const before = isMoved ? undefined : hold.lines;
      hold.lines = [];
      if (isMoved) hold.expiresAt += 1 + (b % 20);
      place(hold, [rowAt(b), rowAt(c)], before);
      return inventory;
    }
    case 'end': {
      const hold = pick(isLive);
      if (hold === undefined) return inventory;
      give(hold);
      hold.status = b % 2 === 0 ? 'RELEASED' : 'EXPIRED';
      return inventory;
    }
    case 'convert': {
      const hold = pick((each) => each.status === 'ACTIVE');
      if (hold === undefined) return inventory;
      hold.status = 'CONVERTED';
      hold.expiresAt += 30;
      inventory.reschedule(hold, hold.lines);
      return inventory;
    }
    case 'consume': {
      const hold = pick((each) => each.status === 'CONVERTED');
      if (hold === undefined) return inventory;
      for (const line of hold.lines) inventory.sell(line);
      hold.status = 'CONSUMED';
      return inventory;
    }
    case 'return': {
      const hold = pick((each) => each.status === 'CONSUMED');
      if (hold === undefined) return inventory;
      for (const line of hold.lines) inventory.returnSold(line);
      hold.status = 'RELEASED';
      return inventory;
    }
    case 'retake': {
      const hold = pick((each) => each.status === 'EXPIRED');
      if (hold === undefined || !canBeHad(inventory, date, hold.lines)) return inventory;
      for (const line of hold.lines) inventory.retake(line);
      hold.status = 'CONSUMED';
      return inventory;
    }
    case 'block': {
      const seat = plainSeats(inventory.plan.definition)[a % plainSeats(inventory.plan.definition).length]!;
      if (date.blocked.delete(seat.id)) inventory.unblock([seat.id]);
      else if (inventory.seatState(seat.id) === 'AVAILABLE') {
        inventory.block([seat.id]);
        date.blocked.add(seat.id);
      }
      return inventory;
    }
    case 'restore': {
      const restored = Inventory.restore(inventory.plan, JSON.parse(JSON.stringify(inventory.snapshot())));
      assert.deepEqual(restored.snapshot(), inventory.snapshot());
      for (const hold of date.holds.filter(isLive)) restored.reschedule(hold, hold.lines);
      return restored;
    }
    default: {
      const plan = plans.find((each) => each !== inventory.plan)!;
      if (rebaseConflicts(inventory, plan).length > 0) return inventory;
      inventory.rebase(plan);
      const seatIds = new Set(plainSeats(plan.definition).map((seat) => seat.id));
      for (const seatId of date.blocked) if (!seatIds.has(seatId)) date.blocked.delete(seatId);
      for (const hold of date.holds.filter(isLive)) inventory.reschedule(hold, hold.lines);
      return inventory;
    }
  }
}

test('after any changes the stock of a performance equals a count of all holds', () => {
  const plans = [compileSalePlan(small), compileSalePlan(grown)];
  fc.assert(
    fc.property(steps, (sequence) => {
      let inventory = new Inventory(plans[0]!, 'd1');
      const date: PlainDate = { holds: [], blocked: new Set() };
      sequence.forEach((step, i) => {
        inventory = takeStep(inventory, date, plans, step);
        const live = date.holds.filter(isLive);
        assertSame(inventory, inventory.plan.definition, date, live[i % (live.length + 1)] ?? null);
      });
    }),
    { numRuns: 60 },
  );
});

test('the changes since any kept version lead from the seats of that version to the current ones', () => {
  const plans = [compileSalePlan(small), compileSalePlan(small)];
  const statesOf = (inventory: Inventory): Map<string, string | undefined> =>
    new Map(plainSeats(small).map(({ id }) => [id, inventory.seatState(id)]));
  fc.assert(
    fc.property(steps, (sequence) => {
      let inventory = new Inventory(plans[0]!, 'd1');
      const date: PlainDate = { holds: [], blocked: new Set() };
      let forgottenVersion = 0;
      const past: { version: number; states: Map<string, string | undefined> }[] = [];
      for (const step of sequence) {
        past.push({ version: inventory.version, states: statesOf(inventory) });
        const before = { inventory, plan: inventory.plan };
        inventory = takeStep(inventory, date, plans, step);
        if (inventory !== before.inventory || inventory.plan !== before.plan) forgottenVersion = inventory.version;
        for (const { version, states } of past) {
          if (!inventory.remembersSince(version)) {
            assert(inventory.version - version > 10 || version < forgottenVersion);
            continue;
          }
          const changes = inventory.changesSince(version);
          assert.equal(new Set(changes.map(({ id }) => id)).size, changes.length);
          const followed = new Map(states);
          for (const { id, state } of changes) followed.set(id, state);
          assert.deepEqual(followed, statesOf(inventory));
        }
      }
      assert.equal(inventory.remembersSince(inventory.version + 1), false);
      assert.deepEqual(inventory.changesSince(inventory.version), []);
    }),
    { numRuns: 60 },
  );
});

const oneSeat = (seatId: string): StockLine => ({
  ticketTypeId: 'any',
  sellingStageId: 'late',
  ticketCount: 1,
  seatIds: [seatId],
});

test('an impossible change is a defect: a seat taken twice, sold while free, more tickets than the capacity', () => {
  const inventory = new Inventory(compileSalePlan(small), 'd1');
  const hold = { status: 'ACTIVE', expiresAt: 1, lines: [] };
  inventory.take(hold, oneSeat('first-0'));
  assert.throws(() => inventory.take(hold, oneSeat('first-0')), Defect);
  assert.throws(() => new Inventory(inventory.plan, 'd1').sell(oneSeat('first-0')), Defect);
  assert.throws(() => inventory.block(['first-0']), Defect);
  assert.throws(() => inventory.unblock(['first-1']), Defect);
  assert.throws(() => inventory.block(['nowhere']), Defect);
  const groups = { ticketTypeId: 'group', sellingStageId: 'late', ticketCount: 13, seatIds: [] };
  assert.throws(() => new Inventory(inventory.plan, 'd1').take(hold, groups), Defect);
  assert.throws(() => new Inventory(inventory.plan, 'd1').giveBack({ ...groups, ticketCount: 1 }), Defect);
  assert.throws(() => inventory.take(hold, { ...groups, sellingStageId: 'never' }), Defect);
  assert.throws(() => inventory.take(hold, { ...oneSeat('first-1'), ticketCount: 2 }), Defect);
});

test('an update that takes away what is held or sold is refused with every conflict, and its path in the definition', () => {
  const inventory = new Inventory(compileSalePlan(small), 'd1');
  const hold = { status: 'ACTIVE', expiresAt: 1, lines: [] };
  inventory.take(hold, oneSeat('first-0'));
  inventory.take(hold, { ticketTypeId: 'stand', sellingStageId: 'early', ticketCount: 3, seatIds: [] });
  inventory.sell(oneSeat('first-0'));
  inventory.block(['second-1']);
  const conflictsOf = (change: Partial<EventDefinition>) =>
    rebaseConflicts(inventory, compileSalePlan({ ...small, ...change })).map(({ path }) => path.join('.'));
  const [floor, seats] = small.localities;
  assert(floor?.seating === 'GENERAL' && seats?.seating === 'NUMBERED');
  assert.deepEqual(conflictsOf({}), []);
  assert.deepEqual(conflictsOf({ performances: [] }), ['performances']);
  assert.deepEqual(conflictsOf({ localities: [{ ...floor, capacity: 2 }, seats] }), ['localities.0.capacity']);
  assert.deepEqual(conflictsOf({ localities: [{ ...floor, capacity: 3 }, seats] }), []);
  const [section] = seats.sections;
  const without = (rowNumber: number) => ({
    ...seats,
    sections: [{ ...section!, rows: section!.rows.filter((_, row) => row !== rowNumber) }],
  });
  assert.deepEqual(conflictsOf({ localities: [floor, without(0)] }), ['localities.1.sections']);
  assert.deepEqual(conflictsOf({ localities: [floor, without(1)] }), [], 'a blocked seat may go');
  const noQuota = small.ticketTypes.map((type) => ({ ...type, quota: 0 }));
  assert.deepEqual(conflictsOf({ ticketTypes: noQuota }), [], 'a quota may fall below what was taken');
  assert.deepEqual(conflictsOf({ ticketTypes: small.ticketTypes.filter(({ id }) => id !== 'stand') }), ['ticketTypes']);
  assert.deepEqual(conflictsOf({ sellingStages: small.sellingStages.filter(({ id }) => id !== 'late') }), [
    'sellingStages',
  ]);
  const free = small.sellingStages.map((each) => ({ ...each, prices: { any: 1, group: 1 } }));
  assert.deepEqual(conflictsOf({ sellingStages: free }), ['sellingStages.0.prices']);
  const moved = small.ticketTypes.map((type) => (type.id === 'stand' ? { ...type, localityId: 'hall' } : type));
  assert.deepEqual(conflictsOf({ ticketTypes: moved }), ['ticketTypes.0.locality_id']);
  const standing = { id: 'hall', name: 'Hall', seating: 'GENERAL' as const, capacity: 50 };
  assert.deepEqual(conflictsOf({ localities: [floor, standing] }), ['localities.1.seating']);
});

test('a snapshot is not restored onto other seats', () => {
  const inventory = new Inventory(compileSalePlan(small), 'd1');
  inventory.take({ status: 'ACTIVE', expiresAt: 1, lines: [] }, oneSeat('first-0'));
  assert.throws(() => Inventory.restore(compileSalePlan(grown), inventory.snapshot()), Defect);
});

test('an inventory takes at most 16 bytes for each seat, the indexes of all classes of seats included', () => {
  const rows = Array.from({ length: 600 }, (_, i) => (i % 2 === 0 ? 'r.a.r.......' : 'zz......s|.......').repeat(2));
  const inventory = new Inventory(compileSalePlan(hallEvent(rows)), 'd1');
  for (const type of inventory.plan.ticketTypes) bestBlock(createOverlay(inventory), type, 2);
  const map = inventory.seatMaps[0]!;
  const indexes = map.blockIndexes.map((index) => index!);
  assert.equal(indexes.length, 4);
  const arrays: { readonly byteLength: number }[] = [map.states];
  for (const { masks, isChanged, changedBuckets } of indexes) arrays.push(masks, isChanged, changedBuckets);
  const bytes = arrays.reduce((sum, { byteLength }) => sum + byteLength, 0);
  assert(bytes <= 15 * map.states.length, `${bytes} bytes for ${map.states.length} seats`);
});
