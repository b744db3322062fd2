/** The arithmetic of views: fitting, zooming and panning. */
import type { Box, LayoutPoint } from '#client/seat-layout.ts';

/** Where the plan lies on the screen: screen = plan × scale + (x, y), in CSS pixels. */
export interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

/** The view that shows the whole box in the middle of the screen. */
export function fitted(box: Box, width: number, height: number): View {
  const scale = Math.min(width / box.width, height / box.height);
  return centred(box, scale, width, height);
}

/** Shows the middle of a box in the middle of the screen. */
function centred(box: Box, scale: number, width: number, height: number): View {
  return {
    scale,
    x: width / 2 - (box.x + box.width / 2) * scale,
    y: height / 2 - (box.y + box.height / 2) * scale,
  };
}

/** Zooms by a factor about a point of the screen, within the bounds of scales. */
export function zoomed(view: View, factor: number, about: LayoutPoint, [low, high]: readonly [number, number]): View {
  const scale = Math.min(Math.max(view.scale * factor, low), high);
  const by = scale / view.scale;
  return { scale, x: about.x - (about.x - view.x) * by, y: about.y - (about.y - view.y) * by };
}

/** Keeps the plan on the screen: its edge may be moved to the middle at most. */
export function bounded(view: View, box: Box, width: number, height: number): View {
  const clamp = (offset: number, start: number, length: number, space: number): number => {
    const size = length * view.scale;
    const low = Math.min(space / 2 - size, (space - size) / 2) - start * view.scale;
    const high = Math.max(space / 2, (space - size) / 2) - start * view.scale;
    return Math.min(Math.max(offset, low), high);
  };
  return { ...view, x: clamp(view.x, box.x, box.width, width), y: clamp(view.y, box.y, box.height, height) };
}

/** Moves the plan so that a point is visible with a margin; unchanged when it already is. */
export function revealing(view: View, point: LayoutPoint, width: number, height: number): View {
  const margin = Math.min(width, height) * 0.12;
  const { x, y } = onScreen(view, point);
  const shift = (at: number, space: number): number =>
    at < margin ? margin - at : at > space - margin ? space - margin - at : 0;
  return { ...view, x: view.x + shift(x, width), y: view.y + shift(y, height) };
}

/** Shows a box of the plan in the middle, within the bounds of scales. */
export function closeUp(box: Box, width: number, height: number, [low, high]: readonly [number, number]): View {
  const { scale } = fitted(box, width * 0.86, height * 0.82);
  return centred(box, Math.max(Math.min(scale, high), low), width, height);
}

/** A view between two others, so that the way looks even: the scale grows by the same factor in the same time. */
export function between(from: View, to: View, share: number, width: number, height: number): View {
  const scale = from.scale * (to.scale / from.scale) ** share;
  // The middle moves with the scale, so that what is flown to stays in sight.
  const way = to.scale === from.scale ? share : (1 / from.scale - 1 / scale) / (1 / from.scale - 1 / to.scale);
  const middle = ({ scale: s, x, y }: View): LayoutPoint => ({ x: (width / 2 - x) / s, y: (height / 2 - y) / s });
  const [a, b] = [middle(from), middle(to)];
  const at = { x: a.x + (b.x - a.x) * way, y: a.y + (b.y - a.y) * way };
  return { scale, x: width / 2 - at.x * scale, y: height / 2 - at.y * scale };
}

export const onScreen = (view: View, { x, y }: LayoutPoint): LayoutPoint => ({
  x: x * view.scale + view.x,
  y: y * view.scale + view.y,
});

export const inPlan = (view: View, { x, y }: LayoutPoint): LayoutPoint => ({
  x: (x - view.x) / view.scale,
  y: (y - view.y) / view.scale,
});
