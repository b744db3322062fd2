/** Draws what belongs to the hall and is no seat: stage, walls, areas. */
import type { Shape } from '#client/seat-layout.ts';
import type { Colours } from './colours.ts';
import { write } from './draw-seat.ts';
import type { SeatPlan } from './plan.ts';

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
