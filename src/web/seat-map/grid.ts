/** Points of a plan indexed by squares, so that a part of a large hall is found without looking at all of it. */
import { boxAround, type Box, type LayoutPoint } from '#client/seat-layout.ts';

export interface PointGrid {
  /** The numbers of the points within a box, and a few around it. */
  within(box: Box): number[];
}

/** Squares for each point at most, so that a seat far from all others does not cost memory. */
const SQUARES_PER_POINT_MAX = 4;

/** Squares have about this side; the points of a square stand one after the other in `members`. */
export function gridOf(points: readonly LayoutPoint[], side: number): PointGrid {
  const { x: left, y: top, width, height } = boxAround(points);
  const squaresMax = points.length * SQUARES_PER_POINT_MAX + 1_000;
  const step = Math.max(side, Math.sqrt((width * height) / squaresMax), Math.max(width, height) / squaresMax);
  const columns = Math.floor(width / step) + 1;
  const lines = Math.floor(height / step) + 1;
  const squareOf = ({ x, y }: LayoutPoint): number =>
    Math.floor((y - top) / step) * columns + Math.floor((x - left) / step);
  const starts = new Uint32Array(columns * lines + 1);
  for (const point of points) starts[squareOf(point) + 1]! += 1;
  for (let square = 0; square < columns * lines; square += 1) starts[square + 1]! += starts[square]!;
  const next = starts.slice();
  const members = new Uint32Array(points.length);
  points.forEach((point, number) => {
    const square = squareOf(point);
    members[next[square]!] = number;
    next[square]! += 1;
  });
  return {
    within(box) {
      const found: number[] = [];
      const from = Math.max(0, Math.floor((box.x - left) / step));
      const to = Math.min(columns - 1, Math.floor((box.x + box.width - left) / step));
      const end = Math.min(lines - 1, Math.floor((box.y + box.height - top) / step));
      for (let line = Math.max(0, Math.floor((box.y - top) / step)); line <= end; line += 1) {
        if (from > to) break;
        const last = starts[line * columns + to + 1]!;
        for (let at = starts[line * columns + from]!; at < last; at += 1) found.push(members[at]!);
      }
      return found;
    },
  };
}
