/** The diagrams of the page of states: drawn from the machines as they are, and nothing lies upon anything else. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import diagrams from '#docs/diagrams.json' with { type: 'json' };
import { drawDiagrams } from './render-diagrams.ts';

test('the diagrams are those of the machines: npm run render writes them anew', () => {
  assert.deepEqual(diagrams, drawDiagrams());
});

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const areApart = (one: Box, other: Box): boolean =>
  one.x + one.width <= other.x ||
  other.x + other.width <= one.x ||
  one.y + one.height <= other.y ||
  other.y + other.height <= one.y;

const boxesIn = (svg: string, before: string): Box[] =>
  [...svg.matchAll(new RegExp(`${before} x="(.+?)" y="(.+?)" width="(.+?)" height="(.+?)"`, 'g'))].map(
    ([, ...numbers]) => {
      const [x, y, width, height] = numbers.map(Number) as [number, number, number, number];
      return { x, y, width, height };
    },
  );

/**
 * Points along an arrow, which is a curve between any two of its points; the handles of the curve are level with them.
 */
function* pointsAlong(path: string): Generator<readonly [number, number]> {
  const points = path
    .split(/[MC]/)
    .slice(1)
    .map((curve) => curve.split(' ').slice(-2).map(Number) as [number, number]);
  for (const [index, [x2, y2]] of points.slice(1).entries()) {
    const [x1, y1] = points[index]!;
    for (let t = 0.02; t < 1; t += 0.02) {
      const rise = 3 * t * t - 2 * t * t * t;
      const across = 1.5 * t * (1 - t) + t * t * t;
      yield [x1 + (x2 - x1) * across, y1 + (y2 - y1) * rise];
    }
  }
}

for (const [title, svg] of Object.entries(diagrams)) {
  test(`${title}: boxes, labels and arrows lie apart`, () => {
    const labels = boxesIn(svg, '<rect class="under"');
    const statuses = boxesIn(svg, '<g class="state(?: end)?"><rect');
    const [width, height] = /width="(\d+)" height="(\d+)"/.exec(svg)!.slice(1).map(Number) as [number, number];
    const arrows = [...svg.matchAll(/class="change" d="(.+?)"/g)].map(([, path]) => path!);
    assert.ok(statuses.length > 2 && labels.length === arrows.length);
    const boxes = [...statuses, ...labels];
    for (const [index, box] of boxes.entries()) {
      assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height);
      for (const other of boxes.slice(index + 1)) assert.ok(areApart(box, other), JSON.stringify([box, other]));
    }
    for (const [index, path] of arrows.entries()) {
      for (const [x, y] of pointsAlong(path)) {
        for (const box of boxes) {
          if (box === labels[index]) continue;
          const isInside = x > box.x && x < box.x + box.width && y > box.y && y < box.y + box.height;
          assert.ok(!isInside, `arrow ${index} at ${x} ${y} ${JSON.stringify(box)}`);
        }
      }
    }
  });
}
