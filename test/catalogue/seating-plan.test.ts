import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { checkDefinition } from '#catalogue/definition.ts';
import { samplesFolder } from '#catalogue/files.ts';
import type { NumberedLocality } from '#domain/catalogue/definition.ts';
import { smallestEvent } from '../fixtures/events.ts';

function hallOf(seatingPlan: unknown, locality: object = {}): NumberedLocality {
  const checked = checkDefinition({
    ...smallestEvent,
    localities: [{ id: 'hall', ...locality, seating_plan: seatingPlan }],
  });
  assert.ok('definition' in checked, JSON.stringify(checked));
  const [hall] = checked.definition.localities;
  assert.ok(hall?.seating === 'NUMBERED');
  return hall;
}

function problemsOf(seatingPlan: unknown): string[] {
  const checked = checkDefinition({ ...smallestEvent, localities: [{ id: 'hall', seating_plan: seatingPlan }] });
  assert.ok('problems' in checked);
  return checked.problems.map((problem) => problem.path);
}

function planOf(...zones: object[]) {
  return { name: 'Plan', categories: [{ name: 'Red', color: 'red' }, { name: 'Plain' }], zones };
}

function rowAt(xs: readonly number[], row: object = {}) {
  const seats = xs.map((x, index) => ({
    seat_guid: `s${index + 1}`,
    seat_number: String(index + 1),
    position: { x, y: 0 },
    category: 'Red',
  }));
  return { row_number: '1', position: { x: 0, y: 0 }, seats, ...row };
}

function zoneOf(...rows: object[]) {
  return { zone_id: 'z', name: 'Zone', position: { x: 0, y: 0 }, rows };
}

describe('The Riethsporthalle', () => {
  const plan: unknown = JSON.parse(readFileSync(path.join(samplesFolder, 'riethsporthalle.json'), 'utf8'));
  const hall = hallOf(plan);
  const rows = hall.sections.flatMap((section) => section.rows);
  const seats = rows.flatMap((row) => row.seats);
  const seatOf = (id: string) => seats.find((seat) => seat.id === id);

  it('has 1,222 seats in six sections, and none for the field', () => {
    assert.equal(seats.length, 1222);
    assert.deepEqual(
      hall.sections.map((section) => section.name),
      ['Block D', 'Block E', 'Block F', 'Block A', 'Block B', 'Block C'],
    );
    assert.equal(new Set(seats.map((seat) => seat.id)).size, 1222);
  });

  it('has its categories and their colours as zones', () => {
    assert.deepEqual(hall.zones, [
      { zoneKey: 'Kategorie I', name: 'Kategorie I', color: '#E87722' },
      { zoneKey: 'Kategorie II', name: 'Kategorie II', color: '#1D3557' },
      { zoneKey: 'VIP', name: 'VIP', color: '#8E44AD' },
    ]);
    assert.equal(seats.filter((seat) => seat.zoneKey === 'VIP').length, 81);
  });

  it('places a seat at the sum of the positions of zone, row and seat', () => {
    assert.deepEqual(seatOf('E-13-1'), {
      id: 'E-13-1',
      label: '1',
      x: 900 + 150,
      y: 40,
      zoneKey: 'Kategorie I',
      accessible: false,
      restrictedView: false,
    });
  });

  it('keeps the order of rows and has their plain numbers as labels', () => {
    assert.deepEqual(
      hall.sections[0]?.rows.map((row) => row.label),
      ['14', '13', '12', '11', '10', '9', '8', '7', '6'],
    );
  });

  it('has aisles at its wide gaps only', () => {
    assert.deepEqual(hall.sections[0]?.rows[0]?.aisleAfter, [7, 21]);
    assert.deepEqual(hall.sections[0]?.rows[4]?.aisleAfter, []);
    for (const row of rows) {
      const wide = row.seats
        .slice(1)
        .flatMap((seat, index) => (seat.x - (row.seats[index]?.x ?? 0) === 50 ? [index + 1] : []));
      assert.deepEqual(row.aisleAfter, wide);
    }
  });

  it('marks the places for wheelchairs as accessible', () => {
    const blocks = new Set(seats.filter((seat) => seat.accessible).map((seat) => seat.id.slice(0, 1)));
    assert.deepEqual([...blocks].sort(), ['A', 'D', 'E', 'F']);
  });

  it('has the field as a shape at its absolute position', () => {
    assert.equal(hall.shapes.length, 1);
    assert.deepEqual((hall.shapes[0] as { position: unknown }).position, { x: 900, y: 440 });
  });
});

describe('A seating plan', () => {
  it('has an aisle at a gap of over 1.5 times the usual gap of its row', () => {
    const aisles = (xs: readonly number[]) => hallOf(planOf(zoneOf(rowAt(xs)))).sections[0]?.rows[0]?.aisleAfter;
    assert.deepEqual(aisles([0, 10, 20, 35, 45]), []);
    assert.deepEqual(aisles([0, 10, 20, 35.1, 45]), [3]);
    assert.deepEqual(aisles([50, 40, 20, 10, 0]), [2]);
    assert.deepEqual(aisles([0, 10, 40]), [2]);
    assert.deepEqual(aisles([0, 90]), []);
    assert.deepEqual(aisles([7]), []);
  });

  it('measures gaps along a slanted row', () => {
    const row = rowAt([0, 30, 60, 120]);
    for (const [index, seat] of row.seats.entries()) seat.position.y = [0, 40, 80, 160][index] ?? 0;
    assert.deepEqual(hallOf(planOf(zoneOf(row))).sections[0]?.rows[0]?.aisleAfter, [3]);
  });

  it('gives a colour to a category that has none, and lets the locality rename its zones', () => {
    assert.equal(hallOf(planOf(zoneOf(rowAt([0])))).zones[1]?.color, '#E69F00');
    const { zones } = hallOf(planOf(zoneOf(rowAt([0]))), {
      zones: [{ zone_key: 'Plain', name: 'Cheap', color: '#000000' }],
    });
    assert.deepEqual(
      zones.map((zone) => [zone.zoneKey, zone.name, zone.color]),
      [
        ['Plain', 'Cheap', '#000000'],
        ['Red', 'Red', 'red'],
      ],
    );
  });

  it('needs no row positions, row numbers or zone ids, and drops empty rows', () => {
    const hall = hallOf(
      planOf({ name: 'Left', position: { x: 5, y: 6 }, rows: [{ seats: [] }, { seats: rowAt([1, 2]).seats }] }),
    );
    assert.equal(hall.sections[0]?.id, 'Left');
    assert.deepEqual(
      hall.sections[0]?.rows.map((row) => [row.label, row.seats[0]?.x, row.seats[0]?.y]),
      [['2', 6, 6]],
    );
  });

  it('is refused with the path of each problem', () => {
    const at = (way: string) => `/localities/0/seating_plan${way}`;
    assert.deepEqual(problemsOf({}), [at('/categories'), at('/zones')]);
    assert.deepEqual(problemsOf(planOf(zoneOf())), [at('')]);
    assert.deepEqual(problemsOf(planOf(zoneOf({ row_number: 1, seats: [] }))), [at('/zones/0/rows/0/row_number')]);
    const twice = rowAt([0, 10]);
    twice.seats = twice.seats.map((seat) => ({ ...seat, seat_guid: 'same' }));
    assert.deepEqual(problemsOf(planOf(zoneOf(twice))), [at('/zones/0/rows/0/seats/1/seat_guid')]);
    const grey = rowAt([0]);
    grey.seats = grey.seats.map((seat) => ({ ...seat, category: 'Grey' }));
    assert.deepEqual(problemsOf(planOf(zoneOf(grey))), [at('/zones/0/rows/0/seats/0/category')]);
    assert.deepEqual(problemsOf(planOf(zoneOf(rowAt([0])), zoneOf())), [at('/zones/1/zone_id')]);
  });
});
