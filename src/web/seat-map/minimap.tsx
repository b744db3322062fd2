/**
 * A small picture of the whole hall while a part of it is shown, with a frame around that part; pressing moves the
 * view.
 */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Camera } from './camera.ts';
import type { Colours } from './colours.ts';
import type { BlockSummary } from './draw-blocks.ts';
import { drawHall, isOwn, type Appearance } from './draw-plan.ts';
import { mixed } from '#client/contrast.ts';
import type { SeatPlan } from './plan.ts';
import { fitted } from './view.ts';

interface MinimapProps {
  readonly plan: SeatPlan;
  readonly appearances: readonly Appearance[];
  readonly summaries: readonly BlockSummary[];
  readonly colours: Colours;
  readonly camera: Camera;
}

const WIDTH = 104;
const HEIGHT_MAX = 66;

export function Minimap({ plan, appearances, summaries, colours, camera }: MinimapProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const window = useRef<HTMLDivElement>(null);
  const scale = Math.min(WIDTH / plan.box.width, HEIGHT_MAX / plan.box.height);
  const [width, height] = [plan.box.width * scale, plan.box.height * scale];

  useEffect(() => {
    const ratio = devicePixelRatio || 1;
    const element = canvas.current!;
    [element.width, element.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    draw(element.getContext('2d')!, ratio, { plan, appearances, summaries, colours, width, height });
  }, [plan, appearances, summaries, colours]);
  useLayoutEffect(() => {
    const follow = (): void => {
      const { view } = camera;
      const by = scale / view.scale;
      const [left, top] = [(-view.x / view.scale - plan.box.x) * scale, (-view.y / view.scale - plan.box.y) * scale];
      const [right, bottom] = [left + camera.width * by, top + camera.height * by];
      const within = (at: number, end: number): number => Math.min(Math.max(at, 0), end);
      const { style } = window.current!;
      style.left = `${within(left, width)}px`;
      style.top = `${within(top, height)}px`;
      style.width = `${within(right, width) - within(left, width)}px`;
      style.height = `${within(bottom, height) - within(top, height)}px`;
    };
    follow();
    return camera.follow(follow);
  }, [camera, plan]);

  const goTo = (press: PointerEvent): void => {
    if (press.buttons === 0) return;
    const box = canvas.current!.getBoundingClientRect();
    const x = plan.box.x + (press.clientX - box.left) / scale;
    const y = plan.box.y + (press.clientY - box.top) / scale;
    const { view } = camera;
    camera.move({ ...view, x: camera.width / 2 - x * view.scale, y: camera.height / 2 - y * view.scale });
  };
  return (
    <div
      class="minimap"
      part="minimap"
      aria-hidden="true"
      style={{ width: `${width}px`, height: `${height}px` }}
      onPointerDown={(press) => {
        press.currentTarget.setPointerCapture(press.pointerId);
        goTo(press);
      }}
      onPointerMove={goTo}
    >
      <canvas ref={canvas} />
      <div class="minimap-window" ref={window} />
    </div>
  );
}

interface Picture extends Omit<MinimapProps, 'camera'> {
  readonly width: number;
  readonly height: number;
}

function draw(context: CanvasRenderingContext2D, ratio: number, picture: Picture): void {
  const { plan, appearances, summaries, colours, width, height } = picture;
  const view = fitted(plan.box, width, height);
  context.setTransform(view.scale * ratio, 0, 0, view.scale * ratio, view.x * ratio, view.y * ratio);
  drawHall(context, withoutTexts(plan), view.scale, colours);
  context.lineJoin = 'round';
  plan.blocks.forEach(({ outline }, block) => {
    const zone = colours.zones[summaries[block]?.zone ?? 0]?.fill ?? colours.line;
    const colour = summaries[block]?.isFull ? colours.faint : mixed(zone, colours.surface, 0.55);
    context.strokeStyle = colour;
    context.fillStyle = colour;
    context.lineWidth = plan.radius * 2;
    context.beginPath();
    for (const { x, y } of outline) context.lineTo(x, y);
    context.closePath();
    context.stroke();
    context.fill();
  });
  context.fillStyle = colours.ink;
  appearances.forEach((appearance, seat) => {
    if (!isOwn(appearance)) return;
    const { x, y } = plan.seats[seat]!;
    const reach = Math.max(plan.radius, 2 / view.scale);
    context.fillRect(x - reach, y - reach, reach * 2, reach * 2);
  });
}

const withoutTexts = (plan: SeatPlan): SeatPlan => ({
  ...plan,
  shapes: plan.shapes.map(({ text: _, ...shape }) => shape),
});
