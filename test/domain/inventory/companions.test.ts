import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../property.ts';
import { seatBeside, seatTogether, type BlockRequest } from '#domain/inventory/companions.ts';
import { bestBlock } from '#domain/inventory/best-available.ts';
import { Inventory } from '#domain/inventory/inventory.ts';
import { compileSalePlan } from '#domain/catalogue/sale-plan.ts';
import { seatIdsAt } from '#domain/catalogue/seating-plan.ts';
import { createOverlay, seatStateInOverlay, takeInOverlay } from '#domain/inventory/stock-overlay.ts';
import type { StockOverlay } from '#domain/inventory/stock-overlay.ts';
import { plainParty, type PlainSeat } from '../../fixtures/best-available-model.ts';
import { hallEvent, seatRow } from '../../fixtures/definitions.ts';

/** A hall in which `x` is an ordinary seat that is taken and `X` an accessible one. */
function hallOf(...texts: string[]): StockOverlay {
  const rows = texts.map((text) => text.replaceAll('X', 'a'));
  const inventory = new Inventory(compileSalePlan(hallEvent(rows)), 'd1');
  const taken = texts.flatMap((text, r) =>
    [...text.replaceAll('|', '')].flatMap((each, i) => (each === 'x' || each === 'X' ? [`${r}-${i}`] : [])),
  );
  inventory.block(taken);
  return createOverlay(inventory);
}

function asked(overlay: StockOverlay, typeId: string, count: number): BlockRequest {
  return { type: overlay.inventory.plan.ticketTypeById.get(typeId)!, count };
}

/** What an accessible item of `count` seats and its companions get, one after the other, as `assignment.ts` does it. */
function party(
  overlay: StockOverlay,
  count: number,
  ...companions: readonly (readonly [string, number])[]
): (string[] | null)[] {
  const first = asked(overlay, 'accessible', count);
  const requests = companions.map(([typeId, seats]) => asked(overlay, typeId, seats));
  const { seating } = first.type.locality;
  const take = (typeId: string, seats: readonly number[]): string[] => {
    const seatIds = seatIdsAt(seating!, seats);
    takeInOverlay(overlay, { ticketTypeId: typeId, sellingStageId: 'general', ticketCount: seatIds.length, seatIds });
    return seatIds;
  };
  const blocks = seatTogether(overlay, first, requests);
  const own = blocks?.[0] ?? bestBlock(overlay, first.type, count);
  if (own === null) return [null];
  const given: (string[] | null)[] = [take('accessible', own)];
  for (const [place, request] of requests.entries()) {
    const seats = blocks?.[place + 1] ?? seatBeside(overlay, own, request);
    given.push(seats === null ? null : take(request.type.id, seats));
  }
  return given;
}

test('the accessible seat is one that has room beside it, where the best one has none', () => {
  assert.deepEqual(party(hallOf('xaxxx', '...a.'), 1, ['any', 1]), [['1-3'], ['1-4']]);
  assert.deepEqual(party(hallOf('aa|...', '...a.'), 1, ['any', 1]), [['1-3'], ['1-4']]);
});

test('no aisle lies between them, and a taken seat only where nothing else is left', () => {
  assert.deepEqual(party(hallOf('a|...', '.xa|.'), 1, ['any', 1]), [['1-2'], ['1-0']]);
  assert.deepEqual(party(hallOf('..xax...'), 1, ['any', 2]), [['0-3'], ['0-0', '0-1']]);
});

test('where no row has room for both, the companion gets the nearest block', () => {
  assert.deepEqual(party(hallOf('a|...', '.....', '.....'), 1, ['any', 2]), [['0-0'], ['1-0', '1-1']]);
  assert.deepEqual(party(hallOf('aa', '....', '....'), 2, ['any', 4]), [
    ['0-0', '0-1'],
    ['1-0', '1-1', '1-2', '1-3'],
  ]);
});

test('several companions sit around the accessible seats, each type on its own seats', () => {
  assert.deepEqual(party(hallOf('..a..'), 1, ['any', 2], ['any', 2]), [['0-2'], ['0-0', '0-1'], ['0-3', '0-4']]);
  assert.deepEqual(party(hallOf('..azz'), 1, ['side', 2], ['main', 2]), [['0-2'], ['0-3', '0-4'], ['0-0', '0-1']]);
  assert.deepEqual(party(hallOf('.a.', '...'), 1, ['any', 1], ['any', 1], ['any', 2]), [
    ['0-1'],
    ['0-0'],
    ['0-2'],
    ['1-0', '1-1'],
  ]);
});

test('every small hall gives what the contract says of an accessible item and one of another type', () => {
  const kind = fc.constantFrom('.', '.', '.', 'a', 'a', 'r', 'z', 's', '|.', '|a', 'x', 'X');
  const row = fc.string({ unit: kind, minLength: 1, maxLength: 9, size: 'max' });
  const rows = fc.array(row, { minLength: 1, maxLength: 4, size: 'max' });
  const count = fc.integer({ min: 1, max: 3 });
  const typeId = fc.constantFrom('any', 'main', 'side');
  fc.assert(
    fc.property(rows, count, count, typeId, (texts, own, others, companion) => {
      const overlay = hallOf(...texts);
      const plain = texts.map((text, r) => {
        const { seats, aisleAfter } = seatRow(text.replaceAll('X', 'a'), r);
        return seats.map((seat, i): PlainSeat => ({
          id: seat.id,
          free: seatStateInOverlay(overlay, seat.id) === 'AVAILABLE',
          zone: seat.zoneKey,
          accessible: seat.accessible,
          restricted: seat.restrictedView,
          aisleBefore: i > 0 && aisleAfter.includes(i),
          x: seat.x,
          y: seat.y,
        }));
      });
      const zones = companion === 'any' ? null : [companion];
      const expected = plainParty(
        plain,
        { type: { zones: null, accessible: true }, count: own },
        { type: { zones, accessible: false }, count: others },
      );
      const [first, second = null] = party(overlay, own, [companion, others]);
      assert.deepEqual(first === null ? null : { first, companion: second }, expected);
    }),
    { numRuns: 3_000 },
  );
});
