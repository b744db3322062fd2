/** Draws the states of each machine as an SVG diagram for the page of states. `npm run render` writes the file anew. */
import dagre from '@dagrejs/dagre';
import { writeFileSync } from 'node:fs';
import type { TransitionTable } from '#machines/compile.ts';
import { chapters } from '#machines/readme.ts';

type Table = TransitionTable<string, string>;

interface Point {
  readonly x: number;
  readonly y: number;
}

/** `x` and `y` are its middle. */
interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** An arrow from status `v` to status `w`; its box is that of its label. */
interface Arrow extends Box {
  readonly v: string;
  readonly w: string;
  readonly triggers: readonly string[];
  readonly points: readonly Point[];
}

interface Layout {
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, Box>;
  readonly arrows: readonly Arrow[];
}

const BOX_WIDTH = 136;
const BOX_HEIGHT_MIN = 38;
const ARROW_GAP = 16;
const LABEL_LINE = 13;
const CHARACTER_WIDTH = 7;

/** Each machine's diagram by its title. */
export function drawDiagrams(): Record<string, string> {
  return Object.fromEntries(chapters.map(({ title, table }) => [title, draw(table)]));
}

/** Triggers between the same two statuses share an arrow; a trigger that leads back to its own status has none. */
function triggersByPair({ transitions }: Table): Map<string, string[]> {
  const changes = transitions.filter(({ from, trigger, to }) => from !== null && trigger !== null && from !== to);
  return new Map(
    Object.entries(Object.groupBy(changes, ({ from, to }) => `${from} ${to}`)).map(([pair, same]) => [
      pair,
      same!.map(({ trigger }) => trigger!),
    ]),
  );
}

/** What dagre has placed. */
function layOut(table: Table): Layout {
  const pairs = triggersByPair(table);
  const graph = new dagre.graphlib.Graph()
    .setGraph({ rankdir: 'LR', marginx: 24, marginy: 24, nodesep: 18, edgesep: 14, ranksep: 42 })
    .setDefaultEdgeLabel(() => ({}));
  for (const status of table.statuses) {
    const arrows = [...pairs.keys()].filter((pair) => pair.split(' ').includes(status)).length;
    graph.setNode(status, { width: BOX_WIDTH, height: Math.max(BOX_HEIGHT_MIN, (arrows + 1) * ARROW_GAP) });
  }
  for (const [pair, triggers] of pairs) {
    const [from, to] = pair.split(' ') as [string, string];
    const width = Math.max(...triggers.map(({ length }) => length)) * CHARACTER_WIDTH + 8;
    graph.setEdge(from, to, { triggers, width, height: triggers.length * LABEL_LINE + 6, labelpos: 'c' });
  }
  dagre.layout(graph);
  const { width, height } = graph.graph() as Layout;
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    boxes: new Map(table.statuses.map((status) => [status, graph.node(status) as Box])),
    arrows: graph.edges().map((edge: object) => ({ ...edge, ...graph.edge(edge) }) as Arrow),
  };
}

/** Names of statuses and triggers need no escaping. */
function draw(table: Table): string {
  const layout = layOut(table);
  const { width, height, boxes, arrows } = layout;
  const drawn = [
    ...routeArrows(layout).map(drawArrow),
    ...Array.from(boxes, ([status, box]) => drawBox(table, status, box)),
    ...arrows.map(drawLabel),
  ];
  return `<svg class="diagram" xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="States of ${table.name}">${drawn.join('')}</svg>`;
}

/**
 * The points of each arrow: it bends where dagre lets it pass, stays level along the labels that stand there, and
 * touches the side of a box at a height of its own, in the order of where the arrows come from.
 */
function routeArrows({ boxes, arrows }: Layout): Point[][] {
  const ends = arrows.flatMap(({ v, w, points }, index) => {
    const side = boxes.get(v)!.x < boxes.get(w)!.x ? 1 : -1;
    return [
      { index, status: v, side, bend: points[1]!.y },
      { index, status: w, side: -side, bend: points.at(-2)!.y },
    ];
  });
  const touchOf = ({ index, status, side }: (typeof ends)[number]): Point => {
    const beside = ends.filter((end) => end.status === status && end.side === side).sort((a, b) => a.bend - b.bend);
    const place = beside.findIndex((end) => end.index === index) - (beside.length - 1) / 2;
    const { x, y, width } = boxes.get(status)!;
    return { x: x + (side * width) / 2, y: y + place * ARROW_GAP };
  };
  return arrows.map(({ points }, index) => {
    const [start, end] = [ends[2 * index]!, ends[2 * index + 1]!];
    const bends = points.slice(1, -1).flatMap(({ x, y }) => {
      const half = Math.max(0, ...arrows.filter((label) => Math.abs(label.x - x) < 1).map(({ width }) => width / 2));
      return [x - start.side * half, x + start.side * half].map((level) => ({ x: level, y }));
    });
    return [touchOf(start), ...bends, touchOf(end)];
  });
}

const rounded = (length: number): string => String(Math.round(length * 10) / 10);

/** A curve that leaves and arrives level. */
function drawArrow(points: readonly Point[]): string {
  const [start, end] = [points[0]!, points.at(-1)!];
  const curves = points.slice(1).map(({ x, y }, index) => {
    const before = points[index]!;
    const middle = rounded((before.x + x) / 2);
    return `C${middle} ${rounded(before.y)} ${middle} ${rounded(y)} ${rounded(x)} ${rounded(y)}`;
  });
  const turn = end.x < start.x ? ' rotate(180)' : '';
  return `<path class="change" d="M${rounded(start.x)} ${rounded(start.y)}${curves.join('')}"/><path class="head" transform="translate(${rounded(end.x)} ${rounded(end.y)})${turn}" d="M0 0l-9 -4.5v9z"/>`;
}

function drawLabel({ triggers, x, y, width, height }: Arrow): string {
  const top = y - ((triggers.length - 1) * LABEL_LINE) / 2 + 4;
  const lines = triggers.map(
    (trigger, index) =>
      `<text class="label" x="${rounded(x)}" y="${rounded(top + index * LABEL_LINE)}">${trigger}</text>`,
  );
  return `<rect class="under" x="${rounded(x - width / 2)}" y="${rounded(y - height / 2)}" width="${width}" height="${height}"/>${lines.join('')}`;
}

function drawBox(table: Table, status: string, { x, y, width, height }: Box): string {
  const [left, top] = [rounded(x - width / 2), rounded(y - height / 2)];
  const begins =
    status === table.initial
      ? `<circle class="head" cx="${rounded(x - width / 2 - 14)}" cy="${rounded(y)}" r="5"/>`
      : '';
  const text = `<text x="${rounded(x)}" y="${rounded(y + 4)}">${status}</text>`;
  return `${begins}<g class="${table.ends.includes(status) ? 'state end' : 'state'}"><rect x="${left}" y="${top}" width="${width}" height="${height}" rx="9"/>${text}</g>`;
}

if (import.meta.main) {
  writeFileSync(
    new URL('../../src/docs/diagrams.json', import.meta.url),
    `${JSON.stringify(drawDiagrams(), null, 2)}\n`,
  );
}
