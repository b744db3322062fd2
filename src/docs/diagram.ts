/** Draws a transition table as an SVG diagram, as `layout.ts` places it. */
import type { TransitionTable, Transition } from '#machines/compile.ts';
import { chapters } from '#machines/readme.ts';
import { layoutOf, type PlacedArrow, type PlacedStatus } from './layout.ts';

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

const LABEL_LINE = 13;

type Table = TransitionTable<string, string>;

/** The diagram as SVG text. Names of statuses and triggers need no escaping. */
function diagramOf(table: Table): string {
  const { width, height, statuses, arrows } = layoutOf(table);
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  const drawn = [...arrows.map(lineOf), ...statuses.map((status) => boxOf(table, status)), ...arrows.map(labelOf)];
  return `<svg class="diagram" xmlns="http://www.w3.org/2000/svg" width="${w}" height="${h}" viewBox="0 0 ${w} ${h}" role="img" aria-label="States of ${table.name}">${drawn.join('')}</svg>`;
}

const written = (length: number): string => String(Math.round(length * 10) / 10);

/** Straight where both ends have one height, else a curve that leaves and arrives level. */
function lineOf({ points }: PlacedArrow): string {
  const [[x, y], ...rest] = points as [readonly [number, number], ...(readonly [number, number])[]];
  let path = `M${written(x)} ${written(y)}`;
  let [fromX, fromY] = [x, y];
  for (const [toX, toY] of rest) {
    const middle = written((fromX + toX) / 2);
    path +=
      fromY === toY
        ? `H${written(toX)}`
        : `C${middle} ${written(fromY)} ${middle} ${written(toY)} ${written(toX)} ${written(toY)}`;
    [fromX, fromY] = [toX, toY];
  }
  const isBackward = points.at(-1)![0] < x;
  const head = `<path class="head" transform="translate(${written(fromX)} ${written(fromY)})${isBackward ? ' rotate(180)' : ''}" d="M0 0l-9 -4.5v9z"/>`;
  return `<path class="change" d="${path}"/>${head}`;
}

function labelOf({ triggers, label }: PlacedArrow): string {
  const x = written(label.x + label.width / 2);
  const top = label.y + label.height / 2 - ((triggers.length - 1) * LABEL_LINE) / 2 + 4;
  const background = `<rect class="under" x="${written(label.x)}" y="${written(label.y)}" width="${label.width}" height="${label.height}"/>`;
  const lines = triggers.map(
    (trigger, index) => `<text class="label" x="${x}" y="${written(top + index * LABEL_LINE)}">${trigger}</text>`,
  );
  return background + lines.join('');
}

function boxOf(table: Table, { status, x, y, width, height }: PlacedStatus): string {
  const kind = table.ends.includes(status) ? 'state end' : 'state';
  const [left, top, middle] = [written(x), written(y), y + height / 2];
  const begins =
    status === table.initial ? `<circle class="head" cx="${written(x - 14)}" cy="${written(middle)}" r="5"/>` : '';
  const text = `<text x="${written(x + width / 2)}" y="${written(middle + 4)}">${status}</text>`;
  return `${begins}<g class="${kind}"><rect x="${left}" y="${top}" width="${width}" height="${height}" rx="9"/>${text}</g>`;
}
