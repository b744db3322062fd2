/** The arithmetic of views: fitting, zooming and panning. */
import type { Box, Point } from '#client/seat-layout.ts';
import type { View } from './surface.ts';

const ZOOM_OVER_FIT_MAX = 14;

/** Shows the whole box in the middle of the screen. */
export function fitted(box: Box, width: number, height: number): View {
  const scale = Math.min(width / box.width, height / box.height);
  return {
    scale,
    x: (width - box.width * scale) / 2 - box.x * scale,
    y: (height - box.height * scale) / 2 - box.y * scale,
  };
}

/** Zooms by a factor about a point of the screen, between the whole plan and a close look. */
export function zoomed(view: View, factor: number, about: Point, fit: View): View {
  const scale = Math.min(Math.max(view.scale * factor, fit.scale), fit.scale * ZOOM_OVER_FIT_MAX);
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
export function revealing(view: View, point: Point, width: number, height: number): View {
  const margin = Math.min(width, height) * 0.12;
  const [x, y] = [point.x * view.scale + view.x, point.y * view.scale + view.y];
  const shift = (at: number, space: number): number =>
    at < margin ? margin - at : at > space - margin ? space - margin - at : 0;
  return { ...view, x: view.x + shift(x, width), y: view.y + shift(y, height) };
}

/** Shows a box of the plan in the middle, at most at `scaleMax`. */
export function closeUp(box: Box, width: number, height: number, fit: View, scaleMax: number): View {
  const near = fitted(box, width * 0.8, height * 0.8);
  const scale = Math.max(Math.min(near.scale, scaleMax), fit.scale);
  const [cx, cy] = [box.x + box.width / 2, box.y + box.height / 2];
  return { scale, x: width / 2 - cx * scale, y: height / 2 - cy * scale };
}
