/**
 * The seat map on a canvas, for halls with more seats than SVG draws quickly. It looks like the SVG surface.
 *
 * It draws the visible seats, at most once a frame. A canvas has no elements, so assistive technology reads the names of
 * seats from the text below the map.
 */
import { HUES } from './palette.ts';
import type { SeatPlan, Shape } from './plan.ts';
import {
  hitGrid,
  isNumbered,
  LABEL_PIXELS_MIN,
  nameSizeOf,
  numberIn,
  type Look,
  type Surface,
  type View,
} from './surface.ts';

interface Colours {
  readonly hues: readonly string[];
  readonly ink: string;
  readonly quiet: string;
  readonly line: string;
  readonly surface: string;
  readonly sunken: string;
  readonly accent: string;
}

export function createCanvasSurface(plan: SeatPlan): Surface {
  const canvas = document.createElement('canvas');
  canvas.className = 'plan';
  const context = canvas.getContext('2d')!;
  const at = hitGrid(plan);
  let looks: readonly Look[] = [];
  let view: View = { scale: 1, x: 0, y: 0 };
  let pointed: number | null = null;
  let colours: Colours | null = null;
  let frame = 0;

  const draw = (): void => {
    frame = 0;
    colours ??= coloursOf(canvas);
    const ratio = devicePixelRatio || 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.setTransform(view.scale * ratio, 0, 0, view.scale * ratio, view.x * ratio, view.y * ratio);
    const nameSize = nameSizeOf(plan, view.scale);
    for (const shape of plan.shapes) drawShape(context, shape, nameSize, colours);
    drawSectionNames(context, plan, nameSize, colours);
    const areLabelled = plan.radius * 2 * view.scale >= LABEL_PIXELS_MIN;
    const visible = visibleArea(canvas, view, plan.radius);
    plan.seats.forEach((seat, number) => {
      if (seat.x < visible.left || seat.x > visible.right || seat.y < visible.top || seat.y > visible.bottom) return;
      const look = looks[number] ?? 'free';
      drawSeat(context, plan, number, look, colours!);
      if (areLabelled && isNumbered(plan, number, look)) drawNumber(context, plan, number, colours!);
    });
    if (pointed !== null) drawPointer(context, plan, pointed, colours);
  };
  const drawSoon = (): void => {
    if (frame === 0) frame = requestAnimationFrame(draw);
  };

  return {
    element: canvas,
    show(next) {
      looks = next;
      drawSoon();
    },
    place(next, width, height) {
      view = next;
      const ratio = devicePixelRatio || 1;
      const [pixelsWide, pixelsHigh] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== pixelsWide) canvas.width = pixelsWide;
      if (canvas.height !== pixelsHigh) canvas.height = pixelsHigh;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${height}px`;
      drawSoon();
    },
    point(seat) {
      pointed = seat;
      drawSoon();
    },
    seatAt: (x, y) => at((x - view.x) / view.scale, (y - view.y) / view.scale),
    recolour() {
      colours = null;
      drawSoon();
    },
    dispose() {
      cancelAnimationFrame(frame);
      canvas.remove();
    },
  };
}

function coloursOf(canvas: HTMLCanvasElement): Colours {
  const style = getComputedStyle(canvas);
  const value = (name: string): string => style.getPropertyValue(name).trim();
  return {
    hues: HUES.map((hue) => value(`--hue-${hue}`)),
    ink: value('--ink'),
    quiet: value('--ink-quiet'),
    line: value('--line-strong'),
    surface: value('--surface'),
    sunken: value('--sunken'),
    accent: value('--focus'),
  };
}

function visibleArea(canvas: HTMLCanvasElement, view: View, margin: number) {
  const ratio = devicePixelRatio || 1;
  return {
    left: -view.x / view.scale - margin,
    top: -view.y / view.scale - margin,
    right: (canvas.width / ratio - view.x) / view.scale + margin,
    bottom: (canvas.height / ratio - view.y) / view.scale + margin,
  };
}

function drawSeat(
  context: CanvasRenderingContext2D,
  plan: SeatPlan,
  number: number,
  look: Look,
  colours: Colours,
): void {
  const { x, y, accessible, restricted_view: restricted } = plan.seats[number]!;
  const r = plan.radius;
  const hue = colours.hues[plan.zones[plan.zoneOf[number]!]?.hue ?? 0]!;
  context.lineWidth = r * 0.16;
  if (look === 'sold') return fillPath(context, colours.line, () => context.arc(x, y, r * 0.4, 0, Math.PI * 2));
  if (look === 'blocked')
    return strokeSegments(context, colours.line, [
      [x - r * 0.4, y - r * 0.4, x + r * 0.4, y + r * 0.4],
      [x + r * 0.4, y - r * 0.4, x - r * 0.4, y + r * 0.4],
    ]);
  if (look === 'held') {
    context.strokeStyle = colours.quiet;
    context.beginPath();
    context.roundRect(x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6, r * 0.45);
    context.stroke();
    return strokeSegments(context, colours.quiet, [
      [x - r * 0.65, y + r * 0.25, x + r * 0.25, y - r * 0.65],
      [x - r * 0.5, y + r * 0.8, x + r * 0.8, y - r * 0.5],
    ]);
  }
  if (look === 'mine' || look === 'chosen') {
    fillPath(context, colours.ink, () => context.roundRect(x - r, y - r, r * 2, r * 2, r * 0.6));
    if (look === 'chosen') {
      const inner = r * 0.72;
      fillPath(context, colours.surface, () =>
        context.roundRect(x - inner, y - inner, inner * 2, inner * 2, inner * 0.5),
      );
    }
    return strokeSegments(context, look === 'mine' ? colours.surface : colours.ink, [
      [x - r * 0.48, y + r * 0.04, x - r * 0.15, y + r * 0.37],
      [x - r * 0.15, y + r * 0.37, x + r * 0.5, y - r * 0.33],
    ]);
  }
  context.globalAlpha = look === 'other' ? 0.28 : 1;
  fillPath(context, hue, () => {
    if (!restricted) return context.roundRect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8, r * 0.5);
    context.moveTo(x - r * 0.9, y - r * 0.9);
    context.lineTo(x + r * 0.9, y - r * 0.9);
    context.lineTo(x + r * 0.9, y + r * 0.9);
    context.lineTo(x - r * 0.05, y + r * 0.9);
    context.lineTo(x - r * 0.9, y + r * 0.05);
  });
  if (accessible) {
    context.strokeStyle = colours.surface;
    context.beginPath();
    context.arc(x, y + r * 0.15, r * 0.4, 0, Math.PI * 2);
    context.stroke();
  }
  context.globalAlpha = 1;
}

function drawNumber(context: CanvasRenderingContext2D, plan: SeatPlan, number: number, colours: Colours): void {
  const { x, y } = plan.seats[number]!;
  context.fillStyle = colours.surface;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.font = `600 ${plan.radius * 0.78}px system-ui, sans-serif`;
  context.fillText(numberIn(plan, number), x, y);
}

function fillPath(context: CanvasRenderingContext2D, colour: string, path: () => void): void {
  context.fillStyle = colour;
  context.beginPath();
  path();
  context.fill();
}

type Segment = readonly [number, number, number, number];

function strokeSegments(context: CanvasRenderingContext2D, colour: string, segments: readonly Segment[]): void {
  context.strokeStyle = colour;
  context.beginPath();
  for (const [x1, y1, x2, y2] of segments) {
    context.moveTo(x1, y1);
    context.lineTo(x2, y2);
  }
  context.stroke();
}

function drawPointer(context: CanvasRenderingContext2D, plan: SeatPlan, seat: number, colours: Colours): void {
  const { x, y } = plan.seats[seat]!;
  const reach = plan.radius * 1.3;
  context.strokeStyle = colours.accent;
  context.lineWidth = plan.radius * 0.3;
  context.beginPath();
  context.roundRect(x - reach, y - reach, reach * 2, reach * 2, plan.radius * 0.7);
  context.stroke();
}

function drawSectionNames(context: CanvasRenderingContext2D, plan: SeatPlan, size: number, colours: Colours): void {
  context.fillStyle = colours.quiet;
  context.textAlign = 'center';
  context.textBaseline = 'alphabetic';
  context.font = `600 ${size}px system-ui, sans-serif`;
  for (const { name, box } of plan.sections) {
    context.fillText(name, box.x + box.width / 2, box.y - plan.radius * 2.4);
  }
}

function drawShape(context: CanvasRenderingContext2D, shape: Shape, nameSize: number, colours: Colours): void {
  const { x, y } = shape.position ?? { x: 0, y: 0 };
  context.save();
  context.translate(x, y);
  context.rotate(((shape.rotation ?? 0) * Math.PI) / 180);
  context.beginPath();
  if (shape.rectangle) context.roundRect(0, 0, shape.rectangle.width, shape.rectangle.height, 6);
  if (shape.circle) context.arc(0, 0, shape.circle.radius, 0, Math.PI * 2);
  if (shape.ellipse) context.ellipse(0, 0, shape.ellipse.radius.x, shape.ellipse.radius.y, 0, 0, Math.PI * 2);
  shape.polygon?.points.forEach((point) => context.lineTo(point.x, point.y));
  context.fillStyle = colours.sunken;
  context.fill();
  if (shape.text?.text) {
    context.fillStyle = colours.quiet;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.font = `600 ${nameSize}px system-ui, sans-serif`;
    context.fillText(shape.text.text, shape.text.position?.x ?? 0, shape.text.position?.y ?? 0);
  }
  context.restore();
}
