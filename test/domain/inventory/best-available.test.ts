import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../property.ts';
import { bestBlock, largestBlock } from '#domain/inventory/best-available.ts';
import { Inventory } from '#domain/inventory/inventory.ts';
import { compileSalePlan } from '#domain/catalogue/sale-plan.ts';
import { seatIdsAt } from '#domain/catalogue/seating-plan.ts';
import {
  createOverlay,
  giveBackInOverlay,
  seatStateInOverlay,
  takeInOverlay,
} from '#domain/inventory/stock-overlay.ts';
import type { StockOverlay } from '#domain/inventory/stock-overlay.ts';
import {
  plainBestBlock,
  plainLargestBlock,
  type PlainSeat,
  type PlainType,
} from '../../fixtures/best-available-model.ts';
import { eventOf, hall, hallEvent, stage, ticketType } from '../../fixtures/definitions.ts';

const plainTypes: Readonly<Record<string, PlainType>> = {
  any: { zones: null, accessible: false },
  main: { zones: ['main'], accessible: false },
  side: { zones: ['side'], accessible: false },
  accessible: { zones: null, accessible: true },
};

const openHall = (...rows: string[]): Inventory => new Inventory(compileSalePlan(hallEvent(rows)), 'd1');

function best(stock: StockOverlay | Inventory, typeId: string, count: number): string[] | null {
  const overlay = 'inventory' in stock ? stock : createOverlay(stock);
  const type = overlay.inventory.plan.ticketTypeById.get(typeId)!;
  const seats = bestBlock(overlay, type, count);
  return seats === null ? null : seatIdsAt(type.locality.seating!, seats);
}

function largest(overlay: StockOverlay, typeId: string): number {
  return largestBlock(overlay, overlay.inventory.plan.ticketTypeById.get(typeId)!);
}

/** The hall for the reference model: rows as listed, seats with their state in the overlay. */
function plainRows(overlay: StockOverlay, isFree?: (id: string) => boolean): PlainSeat[][] {
  const locality = overlay.inventory.plan.definition.localities[0]!;
  assert(locality.seating === 'NUMBERED');
  return locality.sections[0]!.rows.map((row) =>
    row.seats.map((seat, i) => ({
      id: seat.id,
      free: isFree === undefined ? seatStateInOverlay(overlay, seat.id) === 'AVAILABLE' : isFree(seat.id),
      zone: seat.zoneKey,
      accessible: seat.accessible,
      restricted: seat.restrictedView,
      aisleBefore: row.aisleAfter.includes(i),
      x: seat.x,
      y: seat.y,
    })),
  );
}

/** A row's text with an aisle wherever the pattern has a bit. */
function withAisles(kinds: string, aisles: number): string {
  return [...kinds].map((kind, i) => (i > 0 && ((aisles >> (i - 1)) & 1) === 1 ? `|${kind}` : kind)).join('');
}

/**
 * Checks every size under every pattern of taken seats, in an order in which successive patterns differ by one seat.
 */
function assertEveryPatternOf(text: string, typeId: string): void {
  const inventory = openHall(text);
  const overlay = createOverlay(inventory);
  const seats = plainRows(overlay, () => true)[0]!;
  let taken = 0;
  for (let step = 0; step < 1 << seats.length; step += 1) {
    const pattern = step ^ (step >> 1);
    const changed = pattern ^ taken;
    if (changed !== 0) {
      const seatId = seats[31 - Math.clz32(changed)]!.id;
      if ((pattern & changed) === 0) inventory.unblock([seatId]);
      else inventory.block([seatId]);
      taken = pattern;
    }
    const row = seats.map((seat, i) => ({ ...seat, free: ((taken >> i) & 1) === 0 }));
    for (let count = 1; count <= seats.length; count += 1) {
      const expected = plainBestBlock([row], plainTypes[typeId]!, count);
      const actual = best(overlay, typeId, count);
      if (String(actual) !== String(expected)) {
        assert.deepEqual(actual, expected, `${count} of ${text}, taken ${taken.toString(2)} (first seat last)`);
      }
    }
  }
}

test('of two blocks equally near the centre the left one is assigned', () => {
  assert.deepEqual(best(openHall('......'), 'any', 1), ['0-2']);
});

test('a free seat of any kind can be the orphan', () => {
  assert.deepEqual(best(openHall('...a|.....'), 'any', 3), ['0-4', '0-5', '0-6']);
  assert.deepEqual(best(openHall('..z|.....'), 'main', 2), ['0-3', '0-4']);
});

test('rows are tried by the distance of their centre from the focal point, equally near ones as listed', () => {
  const rows = ['...', '...', '...', '...'];
  const plan = compileSalePlan(hallEvent(rows, { x: 10, y: 15 }));
  assert.deepEqual([...plan.localities[0]!.seating!.rowOrder], [1, 2, 0, 3]);
  assert.deepEqual(best(new Inventory(plan, 'd1'), 'any', 3), ['1-0', '1-1', '1-2']);
});

test('every pattern of taken seats and aisles in a row of up to 7 seats gives what the contract says', () => {
  for (let length = 1; length <= 7; length += 1) {
    const kinds = '.'.repeat(length);
    for (let aisles = 0; aisles < 1 << (length - 1); aisles += 1)
      assertEveryPatternOf(withAisles(kinds, aisles), 'any');
  }
});

test('every pattern of taken seats in rows of 8 to 10 seats gives what the contract says, under many aisles', () => {
  for (const length of [8, 9, 10]) {
    const kinds = '.'.repeat(length);
    for (let aisles = 0; aisles < 1 << (length - 1); aisles += 37)
      assertEveryPatternOf(withAisles(kinds, aisles), 'any');
  }
});

test('every pattern of taken seats in short rows of mixed kinds gives what the contract says, for every type', () => {
  const kinds = fc.string({
    unit: fc.constantFrom('.', '.', '.', 'r', 'a', 'z', 's', '|.'),
    minLength: 1,
    maxLength: 8,
    size: 'max',
  });
  fc.assert(
    fc.property(kinds, fc.constantFrom('any', 'main', 'side', 'accessible'), (text, typeId) => {
      assertEveryPatternOf(text, typeId);
    }),
    { numRuns: 120 },
  );
});

test('of several short rows of mixed kinds the right one is chosen, for every type and size', () => {
  const kind = fc.constantFrom('.', '.', '.', '.', 'r', 'a', 'z', 's', '|.', 'x', 'x');
  const row = fc.string({ unit: kind, minLength: 1, maxLength: 9, size: 'max' });
  fc.assert(
    fc.property(fc.array(row, { minLength: 2, maxLength: 5, size: 'max' }), fc.boolean(), (shortTexts, apart) => {
      // Behind 32 taken seats each row is a bucket of its own in the index; without them all are in one.
      const texts = shortTexts.map((text) => (apart ? `${text}|${'x'.repeat(32)}` : text));
      const inventory = openHall(...texts);
      const seatTexts = texts.map((text) => text.replaceAll('|', ''));
      seatTexts.forEach((text, r) => {
        const taken = [...text].flatMap((each, i) => (each === 'x' ? [`${r}-${i}`] : []));
        inventory.block(taken);
      });
      const overlay = createOverlay(inventory);
      const plain = plainRows(overlay);
      for (const [typeId, plainType] of Object.entries(plainTypes)) {
        assert.equal(largest(overlay, typeId), plainLargestBlock(plain, plainType));
        for (let count = 1; count <= 8; count += 1) {
          assert.deepEqual(best(overlay, typeId, count), plainBestBlock(plain, plainType, count));
        }
      }
    }),
    { numRuns: 1_000 },
  );
});

/** A row of many kinds; long ones are needed so that masks have several words. */
const longRow = fc
  .array(fc.constantFrom('.', '.', '.', '.', '.', '.', '.', '.', 'r', 'a', 'z', 's', '.|'), {
    minLength: 1,
    maxLength: 70,
    size: 'max',
  })
  .map((kinds) => kinds.join('').replace(/\|$/, ''));

test('the index of a large hall finds what a search of every row finds, under any stock overlay', () => {
  fc.assert(
    fc.property(
      fc.array(longRow, { minLength: 1, maxLength: 40, size: 'max' }),
      fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(3)), { minLength: 1, maxLength: 60, size: 'max' }),
      fc.boolean(),
      (rows, changes, withOverlay) => {
        const inventory = openHall(...rows);
        const own = { status: 'ACTIVE', expiresAt: 1, lines: [] };
        let overlay = createOverlay(inventory);
        const all = plainRows(overlay, () => true).flat();
        changes.forEach(([seat, count, kind], i) => {
          const first = seat % all.length;
          const seatIds = all.slice(first, first + 1 + (count % 5)).map(({ id }) => id);
          const free = seatIds.filter((id) => seatStateInOverlay(createOverlay(inventory), id) === 'AVAILABLE');
          const line = { ticketTypeId: 'any', sellingStageId: 'general', ticketCount: free.length, seatIds: free };
          if (kind === 0) inventory.block(free);
          else inventory.take(own, line);
          if (i % 3 !== 0) return;
          overlay = createOverlay(inventory);
          if (withOverlay) {
            if (kind > 1) giveBackInOverlay(overlay, line);
            const elsewhere = (seat * 7) % all.length;
            const others = all
              .slice(elsewhere, elsewhere + 3)
              .filter(({ id }) => seatStateInOverlay(overlay, id) === 'AVAILABLE');
            const seatIdsTaken = others.map(({ id }) => id);
            takeInOverlay(overlay, { ...line, ticketCount: others.length, seatIds: seatIdsTaken });
          }
          const plain = plainRows(overlay);
          for (const [typeId, plainType] of Object.entries(plainTypes)) {
            for (const wanted of [1, 2, 3, 5, 33]) {
              assert.deepEqual(best(overlay, typeId, wanted), plainBestBlock(plain, plainType, wanted));
            }
            assert.equal(largest(overlay, typeId), plainLargestBlock(plain, plainType));
          }
        });
      },
    ),
    { numRuns: 30 },
  );
});

test('blocks beyond the indexed sizes are found by a search of the rows', () => {
  const inventory = openHall('.'.repeat(300), '.'.repeat(299));
  inventory.block(['0-5']);
  assert.equal(best(inventory, 'any', 299)?.[0], '1-0');
  assert.equal(best(inventory, 'any', 294)?.[0], '0-6');
  assert.equal(largest(createOverlay(inventory), 'any'), 299);
  inventory.block(['1-0']);
  assert.equal(largest(createOverlay(inventory), 'any'), 298);
});

test('a type without seats gets none', () => {
  const plan = compileSalePlan(
    eventOf([hall(['...'])], [ticketType('nowhere', 'hall', { zoneKeys: [] })], [stage('general', { nowhere: 1 })]),
  );
  const overlay = createOverlay(new Inventory(plan, 'd1'));
  assert.equal(best(overlay, 'nowhere', 1), null);
  assert.equal(largest(overlay, 'nowhere'), 0);
  assert.equal(best(openHall('...'), 'any', 4), null);
  assert.equal(best(openHall('...'), 'any', 0), null);
});
