import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileSeatingPlan, seatFacts, seatIdsAt } from '#domain/catalogue/seating-plan.ts';
import { hall } from '../../fixtures/definitions.ts';

test('seats are numbered as listed, with their rows, zones and aisles', () => {
  const plan = compileSeatingPlan(hall(['..|z', 'ar']));
  assert.deepEqual(plan.seatIds, ['0-0', '0-1', '0-2', '1-0', '1-1']);
  assert.deepEqual([...plan.rowStart], [0, 3, 5]);
  assert.deepEqual([...plan.rowOf], [0, 0, 0, 1, 1]);
  assert.deepEqual([...plan.startsRun], [1, 0, 1, 1, 0]);
  assert.deepEqual(
    [...plan.zoneOf].map((zone) => plan.zoneKeys[zone]),
    ['main', 'main', 'side', 'main', 'main'],
  );
  assert.deepEqual([...plan.accessible], [0, 0, 0, 1, 0]);
  assert.deepEqual([...plan.restricted], [0, 0, 0, 0, 1]);
  assert.equal(plan.longestRun, 2);
  assert.deepEqual(seatIdsAt(plan, [4, 0]), ['1-1', '0-0']);
});

test('a row without seats, and an aisle at the end of a row, are left out', () => {
  const plan = compileSeatingPlan(hall(['', '..|', '.']));
  assert.equal(plan.rowCount, 2);
  assert.deepEqual([...plan.startsRun], [1, 0, 1]);
  assert.equal(compileSeatingPlan(hall([])).seatCount, 0);
});

test('a seat is shown with its section, row, number and kind', () => {
  assert.deepEqual(seatFacts(compileSeatingPlan(hall(['...', '.s'])), 4), {
    id: '1-1',
    sectionId: 'all',
    sectionName: 'All',
    rowLabel: '2',
    seatLabel: '2',
    x: 10,
    y: 10,
    zoneKey: 'side',
    accessible: false,
    restrictedView: true,
  });
});

test('a zone that only seats name is a zone as well', () => {
  const plan = compileSeatingPlan({ ...hall(['.z']), zones: [] });
  assert.deepEqual(plan.zoneKeys, ['main', 'side']);
});

test('rows equally near the focal point stay as listed, also when their coordinates are rounded', () => {
  const locality = hall(['...', '...', '...'], { x: 10, y: 10 });
  const [section] = locality.sections;
  const rows = section!.rows.map((row, r) => ({
    ...row,
    seats: row.seats.map((seat) => ({ ...seat, y: [0.1 + 0.2, 19.7, 10][r]! })),
  }));
  const plan = compileSeatingPlan({ ...locality, sections: [{ ...section!, rows }] });
  assert.deepEqual([...plan.rowOrder], [2, 0, 1]);
});

test('plans with other seats, or in another order, have another fingerprint', () => {
  const fingerprints = [['..'], ['...'], ['.', '.'], ['..', '..']].map(
    (rows) => compileSeatingPlan(hall(rows)).fingerprint,
  );
  assert.equal(new Set(fingerprints).size, 4);
  assert.equal(compileSeatingPlan(hall(['..'])).fingerprint, fingerprints[0]);
});
