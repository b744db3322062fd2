import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkDefinition } from '#catalogue/definition.ts';
import type { NumberedLocality } from '#domain/catalogue/definition.ts';
import { smallestEvent, smallHall } from '../fixtures/events.ts';

function hallOf(locality: object): NumberedLocality {
  const checked = checkDefinition({ ...smallestEvent, localities: [{ id: 'hall', ...locality }] });
  assert.ok('definition' in checked, JSON.stringify(checked));
  const [hall] = checked.definition.localities;
  assert.ok(hall?.seating === 'NUMBERED');
  return hall;
}

describe('Sections in short form', () => {
  it('give a seat the id section-row-label and its number in the row as label', () => {
    const [first] = hallOf(smallHall).sections;
    assert.deepEqual(
      first?.rows[1]?.seats.map((seat) => [seat.id, seat.label]),
      [1, 2, 3, 4, 5, 6].map((place) => [`A-2-${place}`, String(place)]),
    );
  });

  it('show an aisle as a gap of over 1.5 times the spacing', () => {
    const row = hallOf(smallHall).sections[0]?.rows[0];
    assert.deepEqual(row?.aisleAfter, [3]);
    assert.deepEqual(
      row?.seats.map((seat) => seat.x),
      [0, 25, 50, 100, 125, 150],
    );
  });

  it('list aisles in order and once', () => {
    const { sections } = hallOf({ sections: [{ id: 'A', rows: [{ seats: 9, aisle_after: [6, 3, 6] }] }] });
    assert.deepEqual(sections[0]?.rows[0]?.aisleAfter, [3, 6]);
  });

  it('are placed one behind the other, so that no two seats have the same coordinates', () => {
    const seats = hallOf({
      sections: [
        ...smallHall.sections,
        { id: 'C', rows: [{ seats: [{ x: 0, y: 900 }, {}] }] },
        { id: 'D', rows: [{ seats: 2 }] },
      ],
    }).sections.flatMap((section) => section.rows.flatMap((row) => row.seats));
    assert.equal(new Set(seats.map((seat) => `${seat.x} ${seat.y}`)).size, seats.length);
    assert.equal(seats.find((seat) => seat.id === 'D-1-1')?.y, 980);
  });

  it('are placed at their position', () => {
    const { sections } = hallOf({
      sections: [{ id: 'A', position: { x: 300, y: -50 }, rows: [{ seats: 1 }, { seats: 1 }] }],
    });
    assert.deepEqual(
      sections[0]?.rows.map((row) => [row.seats[0]?.x, row.seats[0]?.y]),
      [
        [300, -50],
        [300, -10],
      ],
    );
  });

  it('keep the fields of a listed seat and fill in the others', () => {
    const { sections, zones } = hallOf({
      sections: [
        {
          id: 'L',
          name: 'Left',
          zone_key: 'box',
          rows: [
            {
              label: '2',
              seats: [
                { id: 'L-2-a', label: 'a', x: 0, y: 20, accessible: true },
                { zone_key: 'dear', restricted_view: true },
              ],
            },
          ],
        },
      ],
    });
    assert.deepEqual(sections[0]?.rows[0]?.seats, [
      { id: 'L-2-a', label: 'a', x: 0, y: 20, zoneKey: 'box', accessible: true, restrictedView: false },
      { id: 'L-2-2', label: '2', x: 25, y: 0, zoneKey: 'dear', accessible: false, restrictedView: true },
    ]);
    assert.deepEqual(zones, [
      { zoneKey: 'box', name: 'box', color: '#0072B2' },
      { zoneKey: 'dear', name: 'dear', color: '#E69F00' },
    ]);
  });

  it('mark accessible and restricted seats by their numbers in the row', () => {
    const { sections } = hallOf({
      sections: [{ id: 'A', rows: [{ seats: 4, accessible: [1, 2], restricted_view: [4] }] }],
    });
    assert.deepEqual(
      sections[0]?.rows[0]?.seats.map((seat) => [seat.accessible, seat.restrictedView]),
      [
        [true, false],
        [true, false],
        [false, false],
        [false, true],
      ],
    );
  });
});
