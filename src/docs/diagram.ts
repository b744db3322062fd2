/**
 * Draws a transition table as an SVG diagram: statuses in columns by their distance from the initial one, transitions as arrows.
 *
 *  1. Triggers between the same two statuses share an arrow; a trigger that leads back to its own status is listed only in
 *     the table below the diagram.
 *  2. Forward arrows are straight, arrows within a column bend to the right, backward arrows bend below everything.
 */
import type { TransitionTable, Transition } from '#machines/compile.ts';
import { chapters } from '#machines/readme.ts';

/** A machine with its diagram, as the page of states shows it. */
export interface DrawnMachine {
  readonly title: string;
  readonly description: string;
  readonly transitions: readonly Transition[];
  readonly svg: string;
}

/** Every machine with its diagram, in reading order. */
export function drawnMachines(): readonly DrawnMachine[] {
  return chapters.map(({ title, machine, table }) => ({
    title,
    description: machine.root.description ?? '',
    transitions: table.transitions,
    svg: diagramOf(table),
  }));
}

const BOX = { width: 136, height: 38 } as const;
const GAP = 164;
/** How far each further bend of a column stands out, so that their labels lie apart. */
const BEND = 84;
const LABEL_LINE = 13;
const MARGIN = 24;

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly triggers: readonly string[];
}

interface Place {
  readonly column: number;
  readonly x: number;
  readonly y: number;
}

/** The diagram as SVG text. Names of statuses and triggers need no escaping. */
function diagramOf(table: TransitionTable<string, string>): string {
  const arrows = arrowsOf(table);
  const columns = columnsOf(table, arrows);
  const rowHeight = Math.max(92, LABEL_LINE * (Math.max(...arrows.map(({ triggers }) => triggers.length)) + 4));
  const tallest = Math.max(...columns.map((column) => column.length));
  const places = new Map<string, Place>();
  let x = MARGIN;
  columns.forEach((statuses, column) => {
    statuses.forEach((status, row) => {
      const y = MARGIN + (row + (tallest - statuses.length) / 2) * rowHeight + rowHeight / 2 - BOX.height / 2;
      places.set(status, { column, x, y });
    });
    const bends = arrows.filter(({ from, to }) => statuses.includes(from) && statuses.includes(to)).length;
    x += BOX.width + (bends === 0 ? (column === columns.length - 1 ? MARGIN : GAP) : GAP + bends * BEND);
  });
  const backArrows = arrows.filter(({ from, to }) => places.get(to)!.column < places.get(from)!.column).length;
  const width = x;
  const floor = MARGIN + tallest * rowHeight;
  const height = floor + MARGIN + backArrows * 30;
  let depth = floor;
  const bendsOfColumn = columns.map(() => 0);
  const drawn = arrows.map((arrow) => {
    const [from, to] = [places.get(arrow.from)!, places.get(arrow.to)!];
    if (to.column < from.column) return bentBelow(arrow, from, to, (depth += 30));
    if (to.column > from.column) return straight(arrow, from, to);
    return bentRight(arrow, from, to, (bendsOfColumn[from.column]! += 1));
  });
  const boxes = table.statuses.filter((status) => places.has(status)).map((status) => box(table, status, places));
  return `<svg class="diagram" xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="States of ${table.name}">${drawn.map(({ line }) => line).join('')}${boxes.join('')}${drawn.map(({ label }) => label).join('')}</svg>`;
}

function arrowsOf(table: TransitionTable<string, string>): Arrow[] {
  const byPair = new Map<string, { from: string; to: string; triggers: string[] }>();
  for (const { from, trigger, to } of table.transitions) {
    if (from === null || trigger === null || from === to) continue;
    const arrow = byPair.get(`${from} ${to}`) ?? { from, to, triggers: [] };
    arrow.triggers.push(trigger);
    byPair.set(`${from} ${to}`, arrow);
  }
  return [...byPair.values()];
}

/** Statuses by their distance from the beginning; what cannot be reached stands in the last column. */
function columnsOf(table: TransitionTable<string, string>, arrows: readonly Arrow[]): string[][] {
  const columns: string[][] = [[table.initial]];
  const placed = new Set([table.initial]);
  for (;;) {
    const next = table.statuses.filter(
      (status) => !placed.has(status) && arrows.some(({ from, to }) => to === status && columns.at(-1)!.includes(from)),
    );
    if (next.length === 0) break;
    for (const status of next) placed.add(status);
    columns.push(next);
  }
  const unreached = table.statuses.filter((status) => !placed.has(status));
  return unreached.length === 0 ? columns : [...columns, unreached];
}

interface Drawn {
  readonly line: string;
  readonly label: string;
}

function straight({ triggers }: Arrow, from: Place, to: Place): Drawn {
  const [x1, y1] = [from.x + BOX.width, from.y + BOX.height / 2];
  const [x2, y2] = [to.x, to.y + BOX.height / 2];
  const reach = (x2 - x1) / 2;
  // Halfway, or at three quarters of the curve where bends of its column stand in between.
  const [alongX, alongY] = x2 - x1 > GAP ? [0.703, 0.844] : [0.5, 0.5];
  const path = `M${x1} ${y1}C${x1 + reach} ${y1} ${x2 - reach} ${y2} ${x2 - 8} ${y2}`;
  return {
    line: line(path) + head(x2, y2, 0),
    label: label(triggers, x1 + (x2 - x1) * alongX, y1 + (y2 - y1) * alongY),
  };
}

/** The nth bend of its column. A curve's furthest point lies three quarters of the way to its handles. */
function bentRight({ triggers }: Arrow, from: Place, to: Place, nth: number): Drawn {
  const down = to.y > from.y ? 1 : -1;
  const x = from.x + BOX.width;
  const reach = (nth * BEND) / 0.75;
  const [y1, y2] = [from.y + BOX.height / 2 + down * 8, to.y + BOX.height / 2 - down * 8];
  const path = `M${x} ${y1}C${x + reach} ${y1} ${x + reach} ${y2} ${x + 8} ${y2}`;
  return {
    line: line(path) + head(x, y2, 180),
    label: label(triggers, x + nth * BEND, (y1 + y2) / 2 + (nth % 2 === 0 ? 9 : -9)),
  };
}

function bentBelow({ triggers }: Arrow, from: Place, to: Place, depth: number): Drawn {
  const [x1, x2] = [from.x + BOX.width / 2, to.x + BOX.width / 2];
  const [y1, y2] = [from.y + BOX.height, to.y + BOX.height];
  const path = `M${x1} ${y1}V${depth - 12}Q${x1} ${depth} ${x1 - 12} ${depth}H${x2 + 12}Q${x2} ${depth} ${x2} ${depth - 12}V${y2 + 8}`;
  return { line: line(path) + head(x2, y2, -90), label: label([triggers.join(' · ')], (x1 + x2) / 2, depth) };
}

function line(path: string): string {
  return `<path class="change" d="${path}"/>`;
}

function head(x: number, y: number, degrees: number): string {
  return `<path class="head" transform="translate(${x} ${y}) rotate(${degrees})" d="M0 0l-9 -4.5v9z"/>`;
}

function label(lines: readonly string[], x: number, y: number): string {
  const top = y - ((lines.length - 1) * LABEL_LINE) / 2 + 4;
  return lines.map((text, i) => `<text class="label" x="${x}" y="${top + i * LABEL_LINE}">${text}</text>`).join('');
}

function box(table: TransitionTable<string, string>, status: string, places: ReadonlyMap<string, Place>): string {
  const { x, y } = places.get(status)!;
  const kind = table.ends.includes(status) ? 'state end' : 'state';
  const begins =
    status === table.initial ? `<circle class="head" cx="${x - 14}" cy="${y + BOX.height / 2}" r="5"/>` : '';
  const text = `<text x="${x + BOX.width / 2}" y="${y + BOX.height / 2 + 4}">${status}</text>`;
  return `${begins}<g class="${kind}"><rect x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="9"/>${text}</g>`;
}
