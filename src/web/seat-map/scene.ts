/**
 * The picture of a plan on a canvas: the hall, its seats or blocks, their names, and a ring around the pointed seat.
 *
 * 1. From afar a large hall shows its blocks as areas; closer by the seats show, and the areas fade.
 * 2. It draws at most once a frame. Seats come from tiles (`tiles.ts`), all else is drawn anew.
 * 3. While the view moves by hand, tiles of a scale nearby are stretched; when it rests they are drawn at its own
 *    scale. A flight uses the tiles of its goal.
 */
import { grown, type Box } from '#client/seat-layout.ts';
import { blockShare, drawBlockNames, drawBlocks, seatScale, type BlockSummary } from './draw-blocks.ts';
import { drawHall, drawSeat, type Appearance } from './draw-plan.ts';
import type { Colours } from './colours.ts';
import type { View } from './view.ts';
import { drawRowNames } from './draw-row-names.ts';
import type { SeatPlan } from './plan.ts';
import { Tiles } from './tiles.ts';

const REST_MS = 110;
/** Tiles are stretched to at most so many times their scale, or drawn anew. */
const STRETCH_MAX = 1.6;

export class Scene {
  readonly canvas = document.createElement('canvas');
  readonly #context = this.canvas.getContext('2d')!;
  readonly #plan: SeatPlan;
  readonly #tiles = new Tiles((on, box, scale) => this.#paint(on, box, scale));
  #appearances: readonly Appearance[] = [];
  #summaries: readonly BlockSummary[] = [];
  #colours: Colours | null = null;
  #isBack: readonly boolean[] | null = null;
  #pointed: { readonly seat: number | null; readonly block: number | null } = { seat: null, block: null };
  #view: View = { scale: 1, x: 0, y: 0 };
  #size = { width: 0, height: 0 };
  #fitScale = 1;
  #tileScale = 0;
  #frame = 0;
  #rest: ReturnType<typeof setTimeout> | undefined;

  constructor(plan: SeatPlan) {
    this.#plan = plan;
    this.canvas.className = 'plan';
    this.canvas.setAttribute('aria-hidden', 'true');
  }

  show(appearances: readonly Appearance[], summaries: readonly BlockSummary[]): void {
    const { seats, radius } = this.#plan;
    for (let seat = 0; seat < appearances.length; seat += 1) {
      if (appearances[seat] === this.#appearances[seat]) continue;
      this.#tiles.touch(grown({ ...seats[seat]!, width: 0, height: 0 }, radius * 1.3));
    }
    [this.#appearances, this.#summaries] = [appearances, summaries];
    this.#drawSoon();
  }

  /**
   * `aim` is the scale at which a flight ends, `fit` the one at which the whole plan is seen, of which tiles are kept.
   */
  moveTo(view: View, width: number, height: number, fit: number, aim: number | null): void {
    this.#view = view;
    this.#size = { width, height };
    this.#fitScale = fit;
    this.#tiles.rebase(fit);
    const ratio = devicePixelRatio || 1;
    const [pixelsWide, pixelsHigh] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (this.canvas.width !== pixelsWide) this.canvas.width = pixelsWide;
    if (this.canvas.height !== pixelsHigh) this.canvas.height = pixelsHigh;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    clearTimeout(this.#rest);
    const stretch = view.scale / (this.#tileScale || 1e-9);
    if (aim !== null) this.#tileScale = aim;
    else if (stretch > STRETCH_MAX || stretch < 1 / STRETCH_MAX) this.#tileScale = view.scale;
    else if (stretch !== 1) this.#rest = setTimeout(() => this.#settle(), REST_MS);
    this.#drawSoon();
  }

  colour(colours: Colours): void {
    this.#colours = colours;
    this.#tiles.clear();
    this.#drawSoon();
  }

  /** Puts a ring around a seat or block. */
  point(seat: number | null, block: number | null): void {
    this.#pointed = { seat, block };
    this.#drawSoon();
  }

  /** Shows where seats are that are looked for: the others step back. */
  stepBack(isBack: readonly boolean[] | null): void {
    if (this.#isBack === isBack) return;
    this.#isBack = isBack;
    this.#tiles.clear();
    this.#drawSoon();
  }

  dispose(): void {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#rest);
    this.canvas.remove();
  }

  #settle(): void {
    this.#tileScale = this.#view.scale;
    this.#drawSoon();
  }

  #drawSoon(): void {
    if (this.#frame === 0) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw(): void {
    this.#frame = 0;
    const [plan, context, colours, view, size] = [this.#plan, this.#context, this.#colours, this.#view, this.#size];
    if (colours === null || size.width === 0) return;
    const ratio = devicePixelRatio || 1;
    const toPlan = (): void =>
      context.setTransform(view.scale * ratio, 0, 0, view.scale * ratio, view.x * ratio, view.y * ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    toPlan();
    drawHall(context, plan, view.scale, colours);
    const share = blockShare(view.scale, seatScale(plan, this.#fitScale));
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const isUnfinished = share < 1 && this.#tiles.draw(context, view, size.width, size.height, this.#tileScale);
    const { seat, block } = this.#pointed;
    const seen = { plan, view, size, colours, summaries: this.#summaries, pointed: block };
    if (share > 0) drawBlocks(context, seen, share);
    if (share < 1) {
      drawRowNames(context, seen);
      drawBlockNames(context, seen);
    }
    toPlan();
    if (seat !== null && share < 1) drawRing(context, plan, seat, view.scale, colours);
    if (isUnfinished) this.#drawSoon();
  }

  /** The seats in a part of the plan. */
  #paint(on: CanvasRenderingContext2D, box: Box, scale: number): void {
    const [plan, colours, isBack] = [this.#plan, this.#colours!, this.#isBack];
    const style = { plan, colours, scale };
    for (const seat of plan.grid.within(grown(box, plan.radius * 1.3))) {
      drawSeat(on, style, seat, this.#appearances[seat] ?? 'free', isBack?.[seat] ?? false);
    }
  }
}

/** Two lines, dark and light, so that the ring is seen on every ground. */
function drawRing(
  context: CanvasRenderingContext2D,
  plan: SeatPlan,
  seat: number,
  scale: number,
  colours: Colours,
): void {
  const { x, y } = plan.seats[seat]!;
  const reach = Math.max(plan.radius * 1.3, 6 / scale);
  for (const [colour, width] of [
    [colours.surface, 5],
    [colours.focus, 2.5],
  ] as const) {
    context.strokeStyle = colour;
    context.lineWidth = width / scale;
    context.beginPath();
    context.roundRect(x - reach, y - reach, reach * 2, reach * 2, reach * 0.5);
    context.stroke();
  }
}
