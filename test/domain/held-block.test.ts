import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../property.ts';
import { growBlock, shrinkBlock } from '#domain/inventory/best-available.ts';
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
import { plainBestBlock, plainDistance, plainOrphans, type PlainSeat } from '../fixtures/best-available-model.ts';
import { hallEvent, seatRow } from '../fixtures/definitions.ts';

interface Scene {
  readonly overlay: StockOverlay;
  readonly heldSeatIds: readonly string[];
  /** The rows as the overlay has them: held seats are free. */
  readonly rows: readonly (readonly PlainSeat[])[];
}

const lineOf = (seatIds: readonly string[]) => ({
  ticketTypeId: 'any',
  sellingStageId: 'general',
  ticketCount: seatIds.length,
  seatIds,
});

/** A hall in which `h` is a seat held by the session and `x` one that is blocked; the overlay gives the hold back. */
function sceneOf(...texts: string[]): Scene {
  const inventory = new Inventory(compileSalePlan(hallEvent(texts)), 'd1');
  const seatsOf = (kind: string): string[] =>
    texts.flatMap((text, r) =>
      [...text.replaceAll('|', '')].flatMap((each, i) => (each === kind ? [`${r}-${i}`] : [])),
    );
  const heldSeatIds = seatsOf('h');
  inventory.block(seatsOf('x'));
  inventory.take({ status: 'ACTIVE', expiresAt: 1, lines: [] }, lineOf(heldSeatIds));
  const overlay = createOverlay(inventory);
  giveBackInOverlay(overlay, lineOf(heldSeatIds));
  const rows = texts.map(seatRow).map((row) =>
    row.seats.map((seat, i) => ({
      id: seat.id,
      free: seatStateInOverlay(overlay, seat.id) === 'AVAILABLE',
      zone: seat.zoneKey,
      accessible: seat.accessible,
      restricted: seat.restrictedView,
      aisleBefore: row.aisleAfter.includes(i),
      x: seat.x,
      y: seat.y,
    })),
  );
  return { overlay, heldSeatIds, rows };
}

function shrunk({ overlay, heldSeatIds }: Scene, count: number): string[] | null {
  const type = overlay.inventory.plan.ticketTypeById.get('any')!;
  const seats = shrinkBlock(overlay, type, heldSeatIds, count);
  return seats === null ? null : seatIdsAt(type.locality.seating!, seats);
}

function grown({ overlay, heldSeatIds }: Scene, count: number): string[] | null {
  const type = overlay.inventory.plan.ticketTypeById.get('any')!;
  const seats = growBlock(overlay, type, heldSeatIds, count);
  return seats === null ? null : seatIdsAt(type.locality.seating!, seats);
}

/** Every window of `count` neighbours that satisfies, as ids with what they are chosen by. */
function windowsOf(rows: Scene['rows'], count: number, satisfies: (seats: readonly PlainSeat[]) => boolean) {
  return rows.flatMap((row) =>
    row.flatMap((_, start) => {
      const seats = row.slice(start, start + count);
      if (seats.length < count || seats.some((seat, i) => i > 0 && seat.aisleBefore) || !satisfies(seats)) return [];
      return [{ seats, orphans: plainOrphans(row, start, count), distance: plainDistance(row, start, count) }];
    }),
  );
}

/** Ids as runs of neighbours. */
function runsOf(rows: Scene['rows'], ids: ReadonlySet<string>): number[] {
  const lengths: number[] = [];
  for (const row of rows) {
    row.forEach((seat, i) => {
      if (!ids.has(seat.id)) return;
      if (i > 0 && !seat.aisleBefore && ids.has(row[i - 1]!.id)) lengths[lengths.length - 1]! += 1;
      else lengths.push(1);
    });
  }
  return lengths.sort((a, b) => b - a);
}

test('shrinking keeps seats together and leaves no orphan where it can', () => {
  assert.deepEqual(shrunk(sceneOf('hhhh'), 2), ['0-0', '0-1']);
  assert.deepEqual(shrunk(sceneOf('.hhh.......'), 2), ['0-2', '0-3']);
  assert.deepEqual(shrunk(sceneOf('xhhhx'), 2), ['0-1', '0-2']);
  assert.deepEqual(shrunk(sceneOf('hhxhhh'), 2), ['0-0', '0-1']);
});

test('seats that do not lie together are kept in as few stretches as possible', () => {
  assert.deepEqual(shrunk(sceneOf('h.hh.hhh'), 5), ['0-2', '0-3', '0-5', '0-6', '0-7']);
  assert.deepEqual(shrunk(sceneOf('hh|hh'), 3)?.length, 3);
});

test('shrinking keeps only seats that no other item of the request took', () => {
  const scene = sceneOf('hhh');
  takeInOverlay(scene.overlay, lineOf(['0-1', '0-2']));
  assert.deepEqual(shrunk(scene, 1), ['0-0']);
  assert.equal(shrunk(scene, 2), null);
});

test('growing keeps the held seats and adds neighbours, without an orphan where it can', () => {
  assert.deepEqual(grown(sceneOf('..hh.....'), 4), ['0-2', '0-3', '0-4', '0-5']);
  assert.deepEqual(grown(sceneOf('.hh...'), 3), ['0-0', '0-1', '0-2']);
  assert.deepEqual(grown(sceneOf('.h.h.'), 3), ['0-1', '0-2', '0-3']);
});

test('growing fails over an aisle, into taken seats and between rows', () => {
  assert.equal(grown(sceneOf('hh|..', '....'), 3), null);
  assert.equal(grown(sceneOf('xhhx', '....'), 3), null);
  assert.equal(grown(sceneOf('h...', 'h...'), 3), null);
  assert.equal(grown(sceneOf('hxh', '....'), 3), null);
  assert.equal(grown(sceneOf('....'), 3), null);
});

test('growing takes a restricted neighbour only where no other block of that size exists', () => {
  assert.equal(grown(sceneOf('hhr', '...'), 3), null);
  assert.deepEqual(grown(sceneOf('hhr', 'rrr'), 3), ['0-0', '0-1', '0-2']);
  assert.deepEqual(grown(sceneOf('rhh.', '...'), 3), ['0-1', '0-2', '0-3']);
  assert.equal(grown(sceneOf('hha', '..'), 3), null);
});

const rowText = fc.string({
  unit: fc.constantFrom('h', 'h', 'h', '.', '.', 'x', 'r', 'a', '|.', '|h'),
  minLength: 1,
  maxLength: 9,
  size: 'max',
});
const hallText = fc.array(rowText, { minLength: 1, maxLength: 3 });

test('of all stretches of held seats the one with the fewest orphans, nearest the centre, is kept', () => {
  fc.assert(
    fc.property(hallText, fc.nat(8), (texts, wanted) => {
      const scene = sceneOf(...texts);
      if (scene.heldSeatIds.length === 0) return;
      const count = 1 + (wanted % scene.heldSeatIds.length);
      const held = new Set(scene.heldSeatIds);
      const kept = shrunk(scene, count)!;
      assert.equal(new Set(kept).size, count);
      assert(kept.every((id) => held.has(id)));
      const windows = windowsOf(scene.rows, count, (seats) => seats.every((seat) => held.has(seat.id)));
      const lengths = runsOf(scene.rows, new Set(kept));
      if (windows.length === 0) {
        let missing = count;
        let stretches = 0;
        for (const length of runsOf(scene.rows, held))
          if (missing > 0) [missing, stretches] = [missing - length, stretches + 1];
        assert.equal(lengths.length, stretches);
        return;
      }
      assert.deepEqual(lengths, [count]);
      windows.sort((a, b) => a.orphans - b.orphans || a.distance - b.distance);
      const chosen = windows.find(({ seats }) => seats[0]!.id === kept[0])!;
      assert.deepEqual([chosen.orphans, chosen.distance], [windows[0]!.orphans, windows[0]!.distance]);
    }),
    { numRuns: 2_000 },
  );
});

test('of all blocks that keep the held seats the clear one with the fewest orphans, nearest the centre, is grown', () => {
  fc.assert(
    fc.property(hallText, fc.integer({ min: 1, max: 4 }), (texts, more) => {
      const scene = sceneOf(...texts);
      const held = new Set(scene.heldSeatIds);
      const count = held.size + more;
      const block = grown(scene, count);
      const addable = (seat: PlainSeat): boolean => held.has(seat.id) || (seat.free && !seat.accessible);
      const windows = windowsOf(
        scene.rows,
        count,
        (seats) => seats.every(addable) && [...held].every((id) => seats.some((seat) => seat.id === id)),
      ).map((each) => ({
        ...each,
        restricted: each.seats.some((seat) => seat.restricted && !held.has(seat.id)) ? 1 : 0,
      }));
      windows.sort((a, b) => a.restricted - b.restricted || a.orphans - b.orphans || a.distance - b.distance);
      const best = held.size === 0 ? undefined : windows[0];
      const clearRows = scene.rows.map((row) =>
        row.map((seat) => ({ ...seat, accessible: seat.accessible || seat.restricted })),
      );
      const clearElsewhere = plainBestBlock(clearRows, { zones: null, accessible: false }, count) !== null;
      const expected =
        best === undefined || (best.restricted === 1 && clearElsewhere) ? null : best.seats.map(({ id }) => id);
      assert.deepEqual(block, expected);
    }),
    { numRuns: 2_000 },
  );
});
