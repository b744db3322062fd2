/**
 * How seats look to a buyer, and a plan drawn on a canvas: one seat, as the symbols of the legend show it, and the hall
 * around the seats.
 */
import type { SeatLayout, Shape } from '#client/seat-layout.ts';
import type { Colours } from './colours.ts';
import type { SeatPlan } from './plan.ts';
import { shortLabel } from './row-names.ts';

/**
 * How a seat looks to this buyer: the states of the API, `chosen` for picked seats, `mine` for those of them that are
 * held, `other` for seats not on sale.
 */
export type Appearance = 'free' | 'other' | 'held' | 'sold' | 'blocked' | 'chosen' | 'mine';

/** Sizes of a seat on the screen from which its number fits into it, and its form is seen. */
const NUMBER_PIXELS_MIN = 22;
const FORM_PIXELS_MIN = 5;

export const seatPixels = (plan: SeatLayout, scale: number): number => plan.radius * 2 * scale;

export const isOwn = (appearance: Appearance | undefined): boolean => appearance === 'chosen' || appearance === 'mine';

interface SeatStyle {
  readonly plan: SeatPlan;
  readonly colours: Colours;
  /** Pixels of a unit of the plan. */
  readonly scale: number;
}

type Context = CanvasRenderingContext2D;

const FADED = 0.28;

/** `isFaded` takes a seat back because others are looked for. */
export function drawSeat(
  context: Context,
  style: SeatStyle,
  number: number,
  appearance: Appearance,
  isFaded: boolean,
): void {
  const { plan, colours, scale } = style;
  const pixels = seatPixels(plan, scale);
  if (appearance === 'mine' || appearance === 'chosen') return drawOwn(context, style, number, appearance);
  context.globalAlpha = isFaded || appearance === 'other' ? FADED : 1;
  if (pixels < FORM_PIXELS_MIN) drawDot(context, style, number, appearance);
  else if (appearance === 'sold' || appearance === 'blocked' || appearance === 'held')
    drawGone(context, style, number, appearance);
  else {
    drawFree(context, style, number);
    const { accessible, seat_label: label, x, y } = plan.seats[number]!;
    if (pixels >= NUMBER_PIXELS_MIN && !accessible) {
      write(context, shortLabel(label), x, y, plan.radius * 0.8, colours.zones[plan.zoneOf[number]!]?.ink ?? '');
    }
  }
  context.globalAlpha = 1;
}

/** A seat that is too small for a form. */
function drawDot(context: Context, { plan, colours }: SeatStyle, number: number, appearance: Appearance): void {
  const { x, y } = plan.seats[number]!;
  const isGone = appearance === 'sold' || appearance === 'blocked' || appearance === 'held';
  const reach = plan.radius * (isGone ? 0.4 : 0.9);
  context.fillStyle = isGone ? colours.line : fillOf(plan, colours, number);
  context.fillRect(x - reach, y - reach, reach * 2, reach * 2);
}

const fillOf = (plan: SeatPlan, colours: Colours, number: number): string =>
  colours.zones[plan.zoneOf[number]!]?.fill ?? colours.quiet;

function drawFree(context: Context, { plan, colours }: SeatStyle, number: number): void {
  const { x, y, accessible, restricted_view: restricted } = plan.seats[number]!;
  const r = plan.radius;
  context.fillStyle = fillOf(plan, colours, number);
  context.beginPath();
  if (restricted) {
    context.moveTo(x - r * 0.9, y - r * 0.9);
    context.lineTo(x + r * 0.9, y - r * 0.9);
    context.lineTo(x + r * 0.9, y + r * 0.9);
    context.lineTo(x - r * 0.05, y + r * 0.9);
    context.lineTo(x - r * 0.9, y + r * 0.05);
  } else context.roundRect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8, r * 0.5);
  context.fill();
  if (!accessible) return;
  // A wheelchair: head, back and wheel.
  const ink = colours.zones[plan.zoneOf[number]!]?.ink ?? colours.surface;
  context.strokeStyle = ink;
  context.fillStyle = ink;
  context.lineWidth = r * 0.17;
  context.lineCap = 'round';
  context.beginPath();
  context.arc(x - r * 0.08, y + r * 0.24, r * 0.39, 0, Math.PI * 2);
  context.moveTo(x - r * 0.06, y - r * 0.38);
  context.lineTo(x - r * 0.06, y + r * 0.08);
  context.lineTo(x + r * 0.3, y + r * 0.08);
  context.lineTo(x + r * 0.52, y + r * 0.48);
  context.stroke();
  context.beginPath();
  context.arc(x - r * 0.06, y - r * 0.6, r * 0.16, 0, Math.PI * 2);
  context.fill();
}

function drawGone(context: Context, { plan, colours }: SeatStyle, number: number, appearance: Appearance): void {
  const { x, y } = plan.seats[number]!;
  const r = plan.radius;
  if (appearance === 'sold') {
    context.fillStyle = colours.line;
    context.beginPath();
    context.arc(x, y, r * 0.4, 0, Math.PI * 2);
    return context.fill();
  }
  context.strokeStyle = appearance === 'held' ? colours.quiet : colours.line;
  context.lineWidth = r * 0.16;
  context.beginPath();
  if (appearance === 'held') {
    context.roundRect(x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6, r * 0.45);
    line(context, x - r * 0.65, y + r * 0.25, x + r * 0.25, y - r * 0.65);
    line(context, x - r * 0.5, y + r * 0.8, x + r * 0.8, y - r * 0.5);
  } else {
    line(context, x - r * 0.4, y - r * 0.4, x + r * 0.4, y + r * 0.4);
    line(context, x + r * 0.4, y - r * 0.4, x - r * 0.4, y + r * 0.4);
  }
  context.stroke();
}

/** The buyer's own seats: a frame with a check while only chosen, filled with a check when held. */
function drawOwn(context: Context, { plan, colours, scale }: SeatStyle, number: number, appearance: Appearance): void {
  const { x, y } = plan.seats[number]!;
  // Seen from afar, too.
  const r = Math.max(plan.radius, 3 / scale);
  context.fillStyle = colours.ink;
  context.beginPath();
  context.roundRect(x - r, y - r, r * 2, r * 2, r * 0.6);
  context.fill();
  if (appearance === 'chosen') {
    const inner = r * 0.74;
    context.fillStyle = colours.surface;
    context.beginPath();
    context.roundRect(x - inner, y - inner, inner * 2, inner * 2, inner * 0.5);
    context.fill();
  }
  context.strokeStyle = appearance === 'mine' ? colours.surface : colours.ink;
  context.lineWidth = r * 0.26;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  context.beginPath();
  context.moveTo(x - r * 0.44, y + r * 0.04);
  context.lineTo(x - r * 0.12, y + r * 0.36);
  context.lineTo(x + r * 0.46, y - r * 0.34);
  context.stroke();
}

function line(context: Context, x1: number, y1: number, x2: number, y2: number): void {
  context.moveTo(x1, y1);
  context.lineTo(x2, y2);
}

/** The family of all that is written on a plan; canvases know no variables of the style sheet. */
export const SANS = "'Inter Variable', system-ui, sans-serif";

/** Text in the middle of a point, of a size in units of the plan. */
export function write(context: Context, text: string, x: number, y: number, size: number, colour: string): void {
  context.fillStyle = colour;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  context.font = `600 ${size}px ${SANS}`;
  // Digits and capitals look higher than the middle of a line.
  context.fillText(text, x, y + size * 0.06);
}

/** Draws what belongs to the hall and is no seat: stage, walls, areas. */
export function drawHall(context: CanvasRenderingContext2D, plan: SeatPlan, scale: number, colours: Colours): void {
  for (const shape of plan.shapes) {
    const { x, y } = shape.position ?? { x: 0, y: 0 };
    context.save();
    context.translate(x, y);
    context.rotate(((shape.rotation ?? 0) * Math.PI) / 180);
    context.beginPath();
    trace(context, shape);
    context.fillStyle = colours.sunken;
    context.fill();
    context.strokeStyle = colours.faint;
    context.lineWidth = 1 / scale;
    context.stroke();
    const { text } = shape;
    if (text?.text)
      write(context, text.text, text.position?.x ?? 0, text.position?.y ?? 0, sizeOf(plan, scale), colours.quiet);
    context.restore();
  }
}

function trace(context: CanvasRenderingContext2D, { rectangle, circle, ellipse, polygon }: Shape): void {
  if (rectangle) context.roundRect(0, 0, rectangle.width, rectangle.height, 6);
  if (circle) context.arc(0, 0, circle.radius, 0, Math.PI * 2);
  if (ellipse) context.ellipse(0, 0, ellipse.radius.x, ellipse.radius.y, 0, 0, Math.PI * 2);
  polygon?.points.forEach((point) => context.lineTo(point.x, point.y));
  if (polygon) context.closePath();
}

/** In plan units: readable when zoomed out, at most as large as a heading when zoomed in. */
function sizeOf(plan: SeatPlan, scale: number): number {
  return Math.min(Math.max(plan.radius * 2.4, 13 / scale), 18 / scale);
}
