/**
 * Draws the names of rows: at both of their ends, and at the edge of the frame where an end lies outside, so that rows
 * can be read at every zoom.
 *
 *  1. A name that would lie on another one is left out: from afar rows are closer than their names.
 */
import { distance, type Box, type LayoutPoint } from '#client/seat-layout.ts';
import { write } from './draw-plan.ts';
import type { Colours } from './colours.ts';
import type { SeatPlan } from './plan.ts';
import { HALF_WIDTH, PIXELS_MIN, rowNameSize, shortLabel } from './row-names.ts';
import { onScreen, type View } from './view.ts';

interface Seen {
  readonly plan: SeatPlan;
  readonly view: View;
  readonly size: { readonly width: number; readonly height: number };
  readonly colours: Colours;
}

const EDGES = ['left', 'right', 'top', 'bottom'] as const;
type Edge = (typeof EDGES)[number];

interface Place extends LayoutPoint {
  readonly text: string;
  /** The edge of the frame at which it stands; null at the end of its row. */
  readonly edge: Edge | null;
}

/** The space around a name at the edge, in pixels. */
const PAD = 6;
/** The opacity of the ground behind these names. */
const GUTTER = 0.94;

export function drawRowNames(context: CanvasRenderingContext2D, seen: Seen): void {
  const { plan, view, colours } = seen;
  const pixels = Math.max(PIXELS_MIN * colours.rem, rowNameSize(plan.radius, view.scale) * view.scale);
  const taken: (LayoutPoint & { readonly wide: number; readonly high: number })[] = [];
  const places = placesOf(seen, pixels);
  drawGutters(context, seen, places);
  for (const { x, y, text, edge } of places) {
    const size = edge === null ? pixels : (PIXELS_MIN + 1) * colours.rem;
    const wide = text.length * size * HALF_WIDTH * 2;
    const isFree = taken.every(
      (other) => Math.abs(other.x - x) >= (other.wide + wide) / 2 || Math.abs(other.y - y) >= (other.high + size) / 2,
    );
    if (!isFree) continue;
    taken.push({ x, y, wide, high: size });
    write(context, text, x, y, size, edge === null ? colours.quiet : colours.ink);
  }
}

/** What names at an edge stand on: a strip along it, so that no seat looks out from behind them. */
function drawGutters(context: CanvasRenderingContext2D, { size, colours }: Seen, places: readonly Place[]): void {
  context.fillStyle = colours.surface;
  context.globalAlpha = GUTTER;
  for (const edge of EDGES) {
    const deep = Math.max(0, ...places.flatMap((at) => (at.edge === edge ? [depthOf(at, edge, size) * 2] : [])));
    if (deep === 0) continue;
    const [isUpright, isAfter] = [edge === 'left' || edge === 'right', edge === 'right' || edge === 'bottom'];
    const [wide, high] = isUpright ? [deep, size.height] : [size.width, deep];
    context.fillRect(
      isAfter && isUpright ? size.width - deep : 0,
      isAfter && !isUpright ? size.height - deep : 0,
      wide,
      high,
    );
  }
  context.globalAlpha = 1;
}

function depthOf({ x, y }: LayoutPoint, edge: Edge, { width, height }: Seen['size']): number {
  return { left: x, right: width - x, top: y, bottom: height - y }[edge];
}

/** Where names stand on the screen: first those at the ends of rows, then those at the edge. */
function placesOf(seen: Seen, pixels: number): readonly Place[] {
  const { plan, view, size } = seen;
  const named: Place[] = [];
  const namedIn = new Map<number, Place[]>();
  for (const name of plan.rowNames) {
    const at = onScreen(view, name);
    const reach = Math.max(pixels / 2, name.text.length * pixels * HALF_WIDTH);
    if (at.x < reach || at.x > size.width - reach || at.y < 0 || at.y > size.height) continue;
    const place: Place = { ...at, text: name.text, edge: null };
    named.push(place);
    namedIn.set(name.row, [...(namedIn.get(name.row) ?? []), place]);
  }
  const pinned = plan.rowBoxes.flatMap((box, row) =>
    isSeen(box, seen) ? pinsOf(seen, row, namedIn.get(row) ?? []) : [],
  );
  return [...named, ...pinned];
}

function isSeen({ x, y, width, height }: Box, { view, size }: Seen): boolean {
  const [from, to] = [onScreen(view, { x, y }), onScreen(view, { x: x + width, y: y + height })];
  return to.x >= 0 && to.y >= 0 && from.x <= size.width && from.y <= size.height;
}

/** The names of a row at the edges that it crosses; none where one stands at its end already. */
function pinsOf({ plan, view, size }: Seen, row: number, named: readonly LayoutPoint[]): readonly Place[] {
  const seats = plan.rows[row]!;
  const text = shortLabel(plan.rowLabels[seats[0]!] ?? '');
  const isIn = ({ x, y }: LayoutPoint): boolean => x >= 0 && y >= 0 && x <= size.width && y <= size.height;
  return [seats, seats.toReversed()].flatMap((fromEnd): Place[] => {
    const end = onScreen(view, plan.seats[fromEnd[0]!]!);
    const first = fromEnd.find((seat) => isIn(onScreen(view, plan.seats[seat]!)));
    if (text === '' || first === undefined) return [];
    const seat = onScreen(view, plan.seats[first]!);
    const reach = plan.radius * view.scale * 4 + PIXELS_MIN * 3;
    if (first === fromEnd[0] && (isInside(end, size, reach) || named.some((name) => distance(name, end) < reach)))
      return [];
    return [{ ...atEdge(end, seat, size, text), text }];
  });
}

const isInside = ({ x, y }: LayoutPoint, { width, height }: Seen['size'], reach: number): boolean =>
  x >= reach && y >= reach && x <= width - reach && y <= height - reach;

/** At the edge behind which the end of a row lies, on the level of its first seat that is seen. */
function atEdge(
  end: LayoutPoint,
  seat: LayoutPoint,
  size: Seen['size'],
  text: string,
): LayoutPoint & Pick<Place, 'edge'> {
  const reach = text.length * PIXELS_MIN * HALF_WIDTH + PAD;
  const edge = EDGES.reduce((a, b) => (depthOf(end, b, size) < depthOf(end, a, size) ? b : a));
  const { x, y } = seat;
  return {
    left: { x: reach, y, edge },
    right: { x: size.width - reach, y, edge },
    top: { x, y: PIXELS_MIN, edge },
    bottom: { x, y: size.height - PIXELS_MIN, edge },
  }[edge];
}
