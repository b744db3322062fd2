/**
 * Draws the blocks of a hall: from afar as areas with name, price and what is free; closer by their names above the
 * seats.
 */
import type { LayoutPoint } from '#client/seat-layout.ts';
import { contains, nearest, type Block } from './blocks.ts';
import type { Colours } from './colours.ts';
import { SANS } from './draw-plan.ts';
import { mixed } from '#client/contrast.ts';
import type { SeatPlan } from './plan.ts';
import { shortLabel } from './row-names.ts';
import { onScreen, type View } from './view.ts';

type Context = CanvasRenderingContext2D;

/** What is said about a block from afar. */
export interface BlockSummary {
  /** The prices of its free seats, in words; empty when nothing is free. */
  readonly price: string;
  readonly free: string;
  /** The lowest price, where there is little room. */
  readonly shortPrice: string;
  /** Its free places for wheelchairs, in words; empty when there is none. */
  readonly accessible: string;
  readonly isFull: boolean;
  /** The zone of most of its seats. */
  readonly zone: number;
  /** Whether none of its seats is looked for. */
  readonly isBack: boolean;
}

interface Seen {
  readonly plan: SeatPlan;
  readonly view: View;
  readonly size: { readonly width: number; readonly height: number };
  readonly colours: Colours;
  readonly summaries: readonly BlockSummary[];
  /** The pointed block. */
  readonly pointed: number | null;
}

/** Seats of this size are seen one by one. */
const SEAT_PIXELS = 7.5;
/** A hall by blocks shows them as areas up to this many times the scale at which all of it fits. */
const OVER_FIT = 1.25;
/** The areas fade over this part of the scale before the seats are chosen from. */
const FADING = 0.04;
const PADDING_RADII = 1.35;
const TINT = 0.24;
const FADED = 0.25;

/** The scale from which on seats are chosen, where all of the plan fits at `fit`. */
export function seatScale(plan: SeatPlan, fit: number): number {
  return plan.isByBlock ? Math.max(SEAT_PIXELS / (plan.radius * 2), fit * OVER_FIT) : 0;
}

/** How much of the blocks' areas is seen at a scale: 1 from afar, 0 from `from` on. */
export function blockShare(scale: number, from: number): number {
  return from === 0 ? 0 : Math.min(1, Math.max(0, (from - scale) / (from * FADING)));
}

export function drawBlocks(context: Context, seen: Seen, share: number): void {
  const { plan, view, colours, summaries, pointed } = seen;
  context.lineJoin = 'round';
  const shown = [...plan.blocks.keys()].filter((block) => summaries[block] && isSeen(plan.blocks[block]!, seen));
  for (const number of shown) {
    const [block, summary] = [plan.blocks[number]!, summaries[number]!];
    const { fill } = colours.zones[summary.zone] ?? { fill: colours.line };
    const padding = plan.radius * PADDING_RADII * view.scale;
    const isPointed = number === pointed;
    context.globalAlpha = share * (summary.isBack ? FADED : 1);
    context.beginPath();
    for (const { x, y } of block.outline) context.lineTo(x * view.scale + view.x, y * view.scale + view.y);
    context.closePath();
    context.strokeStyle = isPointed ? colours.focus : summary.isFull ? colours.line : fill;
    context.lineWidth = (padding + (isPointed ? 3 : 1.5)) * 2;
    context.stroke();
    const ground = summary.isFull ? colours.sunken : mixed(fill, colours.surface, TINT);
    context.strokeStyle = ground;
    context.fillStyle = ground;
    context.lineWidth = padding * 2;
    context.stroke();
    context.fill();
  }
  writeSummaries(context, seen, shown, share);
  context.globalAlpha = 1;
}

function isSeen({ box }: Block, { view, size }: Seen): boolean {
  const [left, top] = [box.x * view.scale + view.x, box.y * view.scale + view.y];
  return (
    left < size.width && top < size.height && left + box.width * view.scale > 0 && top + box.height * view.scale > 0
  );
}

interface Way {
  readonly pixels: number;
  readonly name: readonly string[];
  readonly lines: readonly string[];
}

/**
 * What can be written into a block, the most first: its whole name, in two lines if need be, comes before its price.
 */
function waysOf({ name: whole }: Block, summary: BlockSummary): readonly Way[] {
  const [name, short] = [[whole], [shortLabel(whole)]];
  const inTwo = /^(.+) (\S+)$/.exec(whole)?.slice(1) ?? name;
  const ways: readonly Way[] = [
    { pixels: 16, name, lines: [summary.price, summary.free, summary.accessible] },
    { pixels: 13, name, lines: [summary.price, summary.free, summary.accessible] },
    { pixels: 16, name, lines: [summary.price, summary.free] },
    { pixels: 13, name, lines: [summary.price, summary.free] },
    { pixels: 13, name, lines: [summary.shortPrice, summary.free] },
    { pixels: 13, name, lines: [summary.isFull ? summary.free : summary.price] },
    { pixels: 11, name, lines: [summary.shortPrice] },
    { pixels: 11, name: inTwo, lines: [summary.shortPrice] },
    { pixels: 11, name: inTwo, lines: [] },
    { pixels: 10, name: inTwo, lines: [] },
    { pixels: 11, name, lines: [] },
    { pixels: 11, name: short, lines: [summary.shortPrice] },
    { pixels: 12, name: short, lines: [] },
    { pixels: 10, name: short, lines: [] },
  ];
  return ways.map((way) => ({ ...way, lines: way.lines.filter((line) => line !== '') }));
}

const LEAST_SHARE = 0.6;
/** So many of the blocks must have room for what all of them say, so that they look alike. */
const ALIKE_SHARE = 0.6;

interface Line {
  readonly text: string;
  readonly weight: number;
}

function linesOf({ name, lines }: Way): readonly Line[] {
  const lineIn = (weight: number) => (text: string) => ({ text, weight });
  return [...name.map(lineIn(650)), ...lines.map(lineIn(500))];
}

/** Writes about each block as much as most of them have room for, or less. */
function writeSummaries(context: Context, seen: Seen, numbers: readonly number[], share: number): void {
  const { plan, summaries, colours } = seen;
  const rooms = numbers.map((number) => waysFor(context, seen, plan.blocks[number]!, summaries[number]!));
  const sorted = rooms.flatMap(([most]) => (most === undefined ? [] : [most])).sort((a, b) => a - b);
  const common = sorted[Math.floor((sorted.length - 1) * ALIKE_SHARE)] ?? 0;
  numbers.forEach((number, i) => {
    const [block, summary, fitting] = [plan.blocks[number]!, summaries[number]!, rooms[i]!];
    const chosen = fitting.find((each) => each >= common) ?? fitting[0];
    if (chosen === undefined) return;
    const way = waysOf(block, summary)[chosen]!;
    const { x, y } = onScreen(seen.view, centreOf(block));
    const size = way.pixels * colours.rem;
    const lines = linesOf(way);
    context.globalAlpha = share * (summary.isBack ? FADED : 1);
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    context.fillStyle = summary.isFull ? colours.quiet : colours.ink;
    lines.forEach(({ text, weight }, line) => {
      context.font = `${weight} ${size}px ${SANS}`;
      context.fillText(text, x, y + (line - (lines.length - 1) / 2) * size * 1.25);
    });
  });
}

/** The ways for which a block has room, by the corners of their text, the most first. */
function waysFor(context: Context, { plan, view, colours }: Seen, block: Block, summary: BlockSummary): number[] {
  const centre = centreOf(block);
  const reach = plan.radius * PADDING_RADII;
  const ways = waysOf(block, summary);
  const hasRoom = (each: Way, isLeast: boolean): boolean => {
    const size = each.pixels * colours.rem;
    const lines = linesOf(each);
    const wide = size * Math.max(...lines.map((line) => widthOf(context, line)));
    // The shortest text may touch the edge of a slanted block: a number is better than nothing.
    const half = (isLeast ? LEAST_SHARE : 1) / 2 / view.scale;
    const [across, down] = [wide * half, lines.length * size * 1.15 * half];
    const corners = [-1, 1].flatMap((x) => [-1, 1].map((y) => ({ x: centre.x + across * x, y: centre.y + down * y })));
    return corners.every((corner) => contains(block.outline, corner) || nearest(block.outline, corner) < reach);
  };
  return ways.flatMap((way, index) => (hasRoom(way, index === ways.length - 1) ? [index] : []));
}

const centreOf = ({ box, outline, middle }: Block): LayoutPoint => {
  const centre = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  return contains(outline, centre) ? centre : middle;
};

const widths = new Map<string, number>();
const WIDTHS_MAX = 5_000;
const MEASURED_PIXELS = 100;

/** The width of a line for each pixel of its size: measuring takes long, so it is done once for all sizes. */
function widthOf(context: Context, { text, weight }: Line): number {
  const key = `${weight} ${text}`;
  const known = widths.get(key);
  if (known !== undefined) return known;
  context.font = `${weight} ${MEASURED_PIXELS}px ${SANS}`;
  const width = context.measureText(text).width / MEASURED_PIXELS;
  if (widths.size >= WIDTHS_MAX) widths.clear();
  widths.set(key, width);
  return width;
}

/** The names of blocks above their seats; while a block is partly seen, its name stays at the edge of the screen. */
export function drawBlockNames(context: Context, { plan, view, size, colours }: Seen): void {
  const pixels = 13 * colours.rem;
  const high = pixels * 1.7;
  const taken: { readonly x: number; readonly y: number; readonly wide: number }[] = [];
  context.font = `650 ${pixels}px ${SANS}`;
  context.textAlign = 'center';
  context.textBaseline = 'middle';
  for (const { name, box } of plan.blocks) {
    const [top, bottom] = [box.y * view.scale + view.y, (box.y + box.height) * view.scale + view.y];
    const left = Math.max(0, box.x * view.scale + view.x);
    const right = Math.min(size.width, (box.x + box.width) * view.scale + view.x);
    if (bottom < high || top > size.height || right - left < pixels || name === '') continue;
    const wide = context.measureText(name).width + pixels;
    const above = top - plan.radius * view.scale * 1.6 - high / 2;
    const y = Math.min(Math.max(above, high / 2 + 6), bottom - high / 2);
    const x = Math.min(Math.max((left + right) / 2, wide / 2 + 6), size.width - wide / 2 - 6);
    if (taken.some((other) => Math.abs(other.x - x) < (other.wide + wide) / 2 && Math.abs(other.y - y) < high))
      continue;
    taken.push({ x, y, wide });
    context.globalAlpha = 0.92;
    context.fillStyle = colours.surface;
    context.beginPath();
    context.roundRect(x - wide / 2, y - high / 2, wide, high, high / 2);
    context.fill();
    context.globalAlpha = 1;
    if (y > above) {
      context.strokeStyle = colours.faint;
      context.lineWidth = 1;
      context.stroke();
    }
    context.fillStyle = colours.quiet;
    context.fillText(name, x, y + 0.5);
  }
}
