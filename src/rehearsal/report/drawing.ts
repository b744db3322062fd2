/**
 * What the page of a report is drawn of, without any asset: tables, numbers, and line charts as SVG. Colours are Okabe
 * and Ito's, which most people can distinguish.
 */
import { escapeHtml } from '#http/pages/html.ts';

export { escapeHtml };

// ── charts ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface ChartSeries {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
  readonly isDashed?: boolean;
}

export interface Chart {
  readonly title: string;
  readonly x: { readonly label: string; readonly ticks?: readonly (readonly [x: number, label: string])[] };
  readonly y: { readonly label: string; readonly isLog?: boolean };
  readonly series: readonly ChartSeries[];
}

const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#8a7f00'];
const WIDTH = 640;
const HEIGHT = 300;
const LEFT = 84;
const RIGHT = 16;
const TOP = 12;
const BOTTOM = 46;
const TICKS = 6;

interface Scale {
  readonly ticks: readonly (readonly [value: number, label: string])[];
  place(value: number): number;
}

/** The chart and its legend. */
export function drawChart({ title, x, y, series }: Chart): string {
  const drawn = series.filter(({ points }) => points.length > 0);
  const xs = drawn.flatMap(({ points }) => points.map(([value]) => value));
  const ys = drawn.flatMap(({ points }) => points.map(([, value]) => value));
  if (xs.length === 0) return '';
  const across = linear(Math.min(...extremes(xs)), Math.max(...extremes(xs)), LEFT, WIDTH - RIGHT);
  const up =
    y.isLog === true
      ? logarithmic(extremes(ys)[0], extremes(ys)[1], HEIGHT - BOTTOM, TOP)
      : linear(0, extremes(ys)[1], HEIGHT - BOTTOM, TOP);
  const lines = drawn.map(({ points, isDashed }, index) => {
    const path = points.map(([px, py]) => `${round(across.place(px))},${round(up.place(py))}`).join(' ');
    const dash = isDashed === true ? ' stroke-dasharray="6 4"' : '';
    return `<polyline points="${path}" fill="none" stroke="${colourOf(index)}" stroke-width="2"${dash}/>`;
  });
  const legend = drawn.map(
    ({ name }, index) => `<li><span style="background:${colourOf(index)}"></span>${escapeHtml(name)}</li>`,
  );
  const axes = [...rowsOf(up), ...columnsOf(x.ticks === undefined ? across : { ...across, ticks: x.ticks })];
  return [
    `<figure><figcaption>${escapeHtml(title)}</figcaption>`,
    `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeHtml(title)}">`,
    ...axes,
    `<text x="${(LEFT + WIDTH - RIGHT) / 2}" y="${HEIGHT - 8}" text-anchor="middle">${escapeHtml(x.label)}</text>`,
    `<text transform="translate(14 ${(TOP + HEIGHT - BOTTOM) / 2}) rotate(-90)" text-anchor="middle">${escapeHtml(y.label)}</text>`,
    ...lines,
    `</svg>${drawn.length > 1 ? `<ul class="legend">${legend.join('')}</ul>` : ''}</figure>`,
  ].join('\n');
}

function rowsOf({ ticks, place }: Scale): string[] {
  return ticks.map(([value, label]) => {
    const at = round(place(value));
    return `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${at}" y2="${at}"/><text x="${LEFT - 6}" y="${at + 4}" text-anchor="end">${label}</text>`;
  });
}

function columnsOf({ ticks, place }: Scale): string[] {
  return ticks.map(([value, label]) => {
    const at = round(place(value));
    return `<text x="${at}" y="${HEIGHT - BOTTOM + 18}" text-anchor="middle">${escapeHtml(label)}</text>`;
  });
}

function linear(from: number, to: number, low: number, high: number): Scale {
  const end = to > from ? to : from + 1;
  const step = niceStep((end - from) / TICKS);
  const ticks: [number, string][] = [];
  for (let value = Math.ceil(from / step) * step; value <= end + step / 1e6; value += step) {
    ticks.push([value, labelOf(value)]);
  }
  return { ticks, place: (value) => low + ((value - from) / (end - from)) * (high - low) };
}

function logarithmic(from: number, to: number, low: number, high: number): Scale {
  const first = Math.floor(Math.log10(Math.max(from, 0.01)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(to, 0.01))));
  const ticks = Array.from({ length: last - first + 1 }, (_, index): [number, string] => {
    const value = 10 ** (first + index);
    return [value, labelOf(value)];
  });
  const place = (value: number): number =>
    low + ((Math.log10(Math.max(value, 10 ** first)) - first) / (last - first)) * (high - low);
  return { ticks, place };
}

function niceStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((factor) => factor * power >= rough) ?? 10);
}

/** Without spreading, because series can be long. */
function extremes(values: readonly number[]): readonly [number, number] {
  return [values.reduce((a, b) => Math.min(a, b)), values.reduce((a, b) => Math.max(a, b))];
}

function labelOf(value: number): string {
  return value >= 1_000 ? value.toLocaleString('en-GB') : String(Math.round(value * 1e6) / 1e6);
}

function colourOf(index: number): string {
  return COLOURS[index % COLOURS.length]!;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

// ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Table {
  readonly heading: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** What counts as a number in a table: a number with its unit or sign. */
const NUMERIC = /^(?:[-+]?[\d,.]+(?: ms| %| s)?|same|)$/;

/** A table. A column of numbers alone stands to the right. */
export function drawTable({ heading, rows }: Table): string {
  const texts = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? formatNumber(cell) : cell)));
  const isNumeric = heading.map((_, column) => column > 0 && texts.every((row) => NUMERIC.test(row[column] ?? '')));
  const cells = (row: readonly string[], tag: 'td' | 'th'): string =>
    row
      .map(
        (text, column) => `<${tag}${isNumeric[column] === true ? ' class="number"' : ''}>${escapeHtml(text)}</${tag}>`,
      )
      .join('');
  return [
    '<div class="scroll"><table>',
    `<thead><tr>${cells(heading, 'th')}</tr></thead>`,
    `<tbody>${texts.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n')}</tbody>`,
    '</table></div>',
  ].join('\n');
}

export function formatNumber(value: number): string {
  return value.toLocaleString('en-GB', { maximumFractionDigits: 2 });
}
