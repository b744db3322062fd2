/**
 * The seats as a mosaic of bitmaps, so that moving a plan of 100,000 seats only copies pictures.
 *
 *  1. A level is the plan at one scale, cut into squares. The base level shows the whole plan and is never dropped; of
 *     the others the latest few are kept.
 *  2. A frame draws few tiles anew, as many as fit into its time; what is missing meanwhile is shown from another
 *     level.
 *  3. A seat that changes makes its tiles stale: they are shown until they are drawn anew.
 */
import type { Box } from '#client/seat-layout.ts';
import type { View } from './view.ts';

type Context = CanvasRenderingContext2D;

interface Tile {
  readonly canvas: HTMLCanvasElement;
  isStale: boolean;
}

interface Level {
  readonly scale: number;
  readonly tiles: Map<string, Tile>;
}

const SIDE = 256;
const FRAME_MS = 6;
const LEVELS_MAX = 4;
const BYTES_MAX = 96_000_000;

export class Tiles {
  readonly #paint: (context: Context, box: Box, scale: number) => void;
  readonly #ratio = devicePixelRatio || 1;
  readonly #tilesMax = Math.max(60, Math.floor(BYTES_MAX / (SIDE * this.#ratio) ** 2 / 4));
  #levels: Level[] = [];
  #base: Level = { scale: 1, tiles: new Map() };

  /** `paint` draws a part of the plan; `box` is in its units. */
  constructor(paint: (context: Context, box: Box, scale: number) => void) {
    this.#paint = paint;
  }

  /** Shows the part of the plan that a screen of this size sees; true while tiles are missing or stale. */
  draw(context: Context, view: View, width: number, height: number, scale: number): boolean {
    const level = this.#levelOf(scale);
    const seen = visible(level, view, width, height);
    const middle = [(seen.left + seen.right) / 2, (seen.top + seen.bottom) / 2] as const;
    const away = ([i, j]: readonly [number, number]): number => Math.hypot(i - middle[0], j - middle[1]);
    const wanted = seen.all.filter(([i, j]) => level.tiles.get(`${i} ${j}`)?.isStale !== false);
    const began = performance.now();
    let built = 0;
    for (const [i, j] of wanted.toSorted((a, b) => away(a) - away(b))) {
      if (built > 0 && performance.now() - began > FRAME_MS) break;
      this.#build(level, i, j);
      built += 1;
    }
    const others = [...this.#levels, this.#base].filter((each) => each !== level);
    for (const [i, j] of seen.all) {
      const tile = level.tiles.get(`${i} ${j}`);
      if (tile !== undefined) put(context, level, i, j, tile, view);
      else putInstead(context, others, level, i, j, view);
    }
    return built < wanted.length;
  }

  /** The tiles with this part of the plan changed. */
  touch(box: Box): void {
    for (const { scale, tiles } of [this.#base, ...this.#levels]) {
      const [left, top] = [Math.floor((box.x * scale) / SIDE), Math.floor((box.y * scale) / SIDE)];
      const right = Math.floor(((box.x + box.width) * scale) / SIDE);
      const bottom = Math.floor(((box.y + box.height) * scale) / SIDE);
      for (let i = left; i <= right; i += 1) {
        for (let j = top; j <= bottom; j += 1) {
          const tile = tiles.get(`${i} ${j}`);
          if (tile !== undefined) tile.isStale = true;
        }
      }
    }
  }

  /** All tiles changed. */
  clear(): void {
    for (const { tiles } of [this.#base, ...this.#levels]) for (const tile of tiles.values()) tile.isStale = true;
  }

  /** Sets the scale of the base level. */
  rebase(scale: number): void {
    if (this.#base.scale !== scale) this.#base = { scale, tiles: new Map() };
  }

  #levelOf(scale: number): Level {
    const known = [this.#base, ...this.#levels].find((level) => Math.abs(level.scale / scale - 1) < 1e-6);
    const level = known ?? { scale, tiles: new Map<string, Tile>() };
    if (level === this.#base) return level;
    this.#levels = [level, ...this.#levels.filter((each) => each !== level)].slice(0, LEVELS_MAX);
    const count = (): number => this.#levels.reduce((sum, { tiles }) => sum + tiles.size, 0);
    while (this.#levels.length > 1 && count() > this.#tilesMax) this.#levels.pop();
    return level;
  }

  #build(level: Level, i: number, j: number): void {
    const key = `${i} ${j}`;
    const { scale, tiles } = level;
    const canvas = tiles.get(key)?.canvas ?? document.createElement('canvas');
    canvas.width = canvas.height = Math.ceil(SIDE * this.#ratio);
    const context = canvas.getContext('2d')!;
    const zoom = scale * this.#ratio;
    context.setTransform(zoom, 0, 0, zoom, -i * SIDE * this.#ratio, -j * SIDE * this.#ratio);
    const span = SIDE / scale;
    this.#paint(context, { x: i * span, y: j * span, width: span, height: span }, scale);
    tiles.delete(key);
    tiles.set(key, { canvas, isStale: false });
    if (level !== this.#base && tiles.size > this.#tilesMax) tiles.delete(tiles.keys().next().value!);
  }
}

/** The tiles of a level that a screen sees. */
function visible({ scale }: Level, view: View, width: number, height: number) {
  const side = (SIDE * view.scale) / scale;
  const [left, top] = [Math.floor(-view.x / side), Math.floor(-view.y / side)];
  const [right, bottom] = [Math.floor((width - view.x) / side), Math.floor((height - view.y) / side)];
  const all: [number, number][] = [];
  for (let i = left; i <= right; i += 1) for (let j = top; j <= bottom; j += 1) all.push([i, j]);
  return { left, top, right, bottom, all };
}

/** Where a tile lies on the screen, on whole pixels, so that tiles neither overlap nor leave a seam. */
function screenBoxOf({ scale }: Level, i: number, j: number, view: View) {
  const side = (SIDE * view.scale) / scale;
  const ratio = devicePixelRatio || 1;
  const whole = (pixels: number): number => Math.round(pixels * ratio) / ratio;
  const [x, y] = [whole(view.x + i * side), whole(view.y + j * side)];
  return { x, y, width: whole(view.x + (i + 1) * side) - x, height: whole(view.y + (j + 1) * side) - y };
}

function put(context: Context, level: Level, i: number, j: number, { canvas }: Tile, view: View): void {
  const { x, y, width, height } = screenBoxOf(level, i, j, view);
  context.drawImage(canvas, x, y, width, height);
}

/** In place of a missing tile: the first other level that has all of its part, else as much as there is of the last. */
function putInstead(context: Context, others: readonly Level[], level: Level, i: number, j: number, view: View): void {
  const hole = screenBoxOf(level, i, j, view);
  const shifted = { scale: view.scale, x: view.x - hole.x, y: view.y - hole.y };
  for (const other of others) {
    const { all } = visible(other, shifted, hole.width - 0.01, hole.height - 0.01);
    const isLast = other === others.at(-1);
    if (all.length > 64 || (!isLast && !all.every(([a, b]) => other.tiles.has(`${a} ${b}`)))) continue;
    context.save();
    context.beginPath();
    context.rect(hole.x, hole.y, hole.width, hole.height);
    context.clip();
    for (const [a, b] of all) {
      const tile = other.tiles.get(`${a} ${b}`);
      if (tile !== undefined) put(context, other, a, b, tile, view);
    }
    return context.restore();
  }
}
