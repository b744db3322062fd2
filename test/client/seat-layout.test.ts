import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SeatedLocality } from '#client/bodies.ts';
import { cornersOf, layoutOf, neighbourOf, seatsBetween, seatsWithin } from '#client/seat-layout.ts';

/** Two curved rows of five, whose ends are nearer to the stage, and a block of two beside them. */
const arc = (label: string, y: number) => ({
  label,
  seats: [0, 1, 2, 3, 4].map((n) => ({
    ...kind,
    id: `${label}${n}`,
    seat_label: `${n}`,
    x: n * 10,
    y: y - (n - 2) ** 2 * 2,
  })),
});
const kind = { zone_key: 'z', accessible: false, restricted_view: false };
const locality: SeatedLocality = {
  id: 'hall',
  name: 'Hall',
  zones: [],
  sections: [
    { id: 'middle', name: 'Middle', rows: [arc('A', 0), arc('B', 10)] },
    {
      id: 'side',
      name: 'Side',
      rows: [{ label: 'A', seats: [60, 70].map((x) => ({ ...kind, id: `S${x}`, seat_label: `${x}`, x, y: 0 })) }],
    },
  ],
  shapes: [],
};
const layout = layoutOf(locality);
const idsOf = (numbers: readonly number[]) => numbers.map((number) => layout.seats[number]!.id);

describe('The layout of seats', () => {
  it('leads from seat to seat along rows, to the next block, and up and down', () => {
    assert.deepEqual(idsOf([neighbourOf(layout, 0, 'ArrowRight'), neighbourOf(layout, 0, 'End')]), ['A1', 'A4']);
    assert.deepEqual(idsOf([neighbourOf(layout, 4, 'ArrowRight'), neighbourOf(layout, 2, 'ArrowDown')]), ['S60', 'B2']);
    assert.equal(neighbourOf(layout, 0, 'ArrowLeft'), 0);
  });

  it('knows the seats of a box, and those between two of a section by rows, also where these are curved', () => {
    assert.deepEqual(idsOf(seatsWithin(layout, { x: 15, y: -5, width: 20, height: 20 })), ['A2', 'A3', 'B2', 'B3']);
    assert.deepEqual(idsOf(seatsBetween(layout, 0, 4)), ['A0', 'A1', 'A2', 'A3', 'A4']);
    assert.deepEqual(idsOf(seatsBetween(layout, 8, 1)), ['A1', 'A2', 'A3', 'B1', 'B2', 'B3']);
    assert.deepEqual(idsOf(seatsBetween(layout, 2, 11)), ['A2', 'A3', 'B4', 'S60', 'S70']);
  });

  it('knows how far a shape of the hall reaches', () => {
    const position = { x: 10, y: 10 };
    assert.deepEqual(cornersOf({ position, circle: { radius: 5 } }), [
      { x: 5, y: 5 },
      { x: 15, y: 15 },
    ]);
    assert.deepEqual(cornersOf({ position, rectangle: { width: 2, height: 1 } })[1], { x: 12, y: 11 });
    assert.deepEqual(cornersOf({ polygon: { points: [position] } }), [position]);
  });
});
