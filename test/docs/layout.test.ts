/** The diagrams of the page of states: nothing lies upon anything else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chapters } from '#machines/readme.ts';
import { layoutOf, type Box, type PlacedArrow } from '#src/docs/layout.ts';

const areApart = (one: Box, other: Box): boolean =>
  one.x + one.width <= other.x ||
  other.x + other.width <= one.x ||
  one.y + one.height <= other.y ||
  other.y + other.height <= one.y;

/** Points along an arrow: between two of its points it is a curve whose handles are level with them. */
function* alongOf({ points }: PlacedArrow): Generator<readonly [number, number]> {
  for (const [index, [x2, y2]] of points.slice(1).entries()) {
    const [x1, y1] = points[index]!;
    for (let t = 0.02; t < 1; t += 0.02) {
      const rise = 3 * t * t - 2 * t * t * t;
      const across = 1.5 * t * (1 - t) + t * t * t;
      yield [x1 + (x2 - x1) * across, y1 + (y2 - y1) * rise];
    }
  }
}

for (const { title, table } of chapters) {
  test(`${title}: boxes, labels and arrows lie apart`, () => {
    const { width, height, statuses, arrows } = layoutOf(table);
    const boxes = [...statuses, ...arrows.map(({ label }) => label)];
    for (const [index, box] of boxes.entries()) {
      assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height);
      for (const other of boxes.slice(index + 1)) assert.ok(areApart(box, other), JSON.stringify([box, other]));
    }
    for (const arrow of arrows) {
      for (const [x, y] of alongOf(arrow)) {
        for (const box of boxes) {
          if (box === arrow.label) continue;
          const isInside = x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
          assert.ok(!isInside, `${arrow.from} to ${arrow.to} at ${x} ${y} ${JSON.stringify(box)}`);
        }
      }
    }
  });
}
