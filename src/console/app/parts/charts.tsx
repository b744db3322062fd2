/** Charts of what the console saw: how the tickets of a date are spread, now and over time, and one figure over time. */
import type { Stock } from '../bodies.ts';
import { figure } from '../format.ts';

const STATES = ['sold', 'held', 'blocked', 'available'] as const;
const NAMES = { sold: 'sold', held: 'held', blocked: 'blocked', available: 'free' } as const;

const WIDTH = 600;
const HEIGHT = 140;

/** Tickets by state as one bar. */
export function StockBar({ stock }: { readonly stock: Stock }) {
  let x = 0;
  const label = STATES.map((state) => `${figure(stock[state])} ${NAMES[state]}`).join(', ');
  return (
    <svg class="stock-bar" viewBox={`0 0 ${WIDTH} 12`} preserveAspectRatio="none" role="img" aria-label={label}>
      {STATES.map((state) => {
        const width = (stock[state] / Math.max(1, stock.capacity)) * WIDTH;
        const bar = <rect class={`fill-${state}`} x={x} y={0} width={width} height={12} />;
        x += width;
        return bar;
      })}
    </svg>
  );
}

/** The figures under a bar or chart, which are its legend too. */
export function StockLegend({ stock }: { readonly stock: Stock }) {
  return (
    <ul class="legend">
      {STATES.map((state) => (
        <li key={state} class={`of-${state}`}>
          <b>{figure(stock[state])}</b> {NAMES[state]}
        </li>
      ))}
    </ul>
  );
}

interface StockPoint {
  readonly at: number;
  readonly stock: Stock;
}

/** Tickets by state over time, one above the other. */
export function StockChart({ points, label }: { readonly points: readonly StockPoint[]; readonly label: string }) {
  const xOf = timeScale(points);
  const capacity = Math.max(1, ...points.map(({ stock }) => stock.capacity));
  const heights = points.map(() => 0);
  const areas = STATES.map((state) => {
    const below = points.map(({ at }, index) => `${xOf(at)},${HEIGHT - (heights[index]! / capacity) * HEIGHT}`);
    const above = points.map(({ at, stock }, index) => {
      heights[index]! += stock[state];
      return `${xOf(at)},${HEIGHT - (heights[index]! / capacity) * HEIGHT}`;
    });
    return <polygon key={state} class={`fill-${state}`} points={[...above, ...below.reverse()].join(' ')} />;
  });
  return (
    <Plot label={label} points={points} top={figure(capacity)}>
      {areas}
    </Plot>
  );
}

interface FigurePoint {
  readonly at: number;
  readonly value: number;
}

/** One figure over time, from 0 up. */
export function LineChart({ points, label }: { readonly points: readonly FigurePoint[]; readonly label: string }) {
  const xOf = timeScale(points);
  const highest = Math.max(1, ...points.map(({ value }) => value));
  const path = points.map(({ at, value }) => `${xOf(at)},${HEIGHT - (value / highest) * (HEIGHT - 4) - 2}`).join(' ');
  return (
    <Plot label={label} points={points} top={figure(highest)}>
      <polyline class="line" points={path} vector-effect="non-scaling-stroke" />
    </Plot>
  );
}

interface PlotProps {
  readonly label: string;
  readonly points: readonly { readonly at: number }[];
  readonly top: string;
  readonly children: preact.ComponentChildren;
}

function Plot({ label, points, top, children }: PlotProps) {
  const seconds = points.length < 2 ? 0 : Math.round((points.at(-1)!.at - points[0]!.at) / 1_000);
  return (
    <figure class="plot">
      <span class="plot-top quiet">{top}</span>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        {children}
      </svg>
      <figcaption class="quiet small">
        <span>
          {seconds < 2 ? 'since you came' : `${seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`} ago`}
        </span>
        <span>now</span>
      </figcaption>
    </figure>
  );
}

/** From a moment to its place; a single one stretches over the whole width. */
function timeScale(points: readonly { readonly at: number }[]): (at: number) => number {
  const first = points[0]?.at ?? 0;
  const length = (points.at(-1)?.at ?? 0) - first;
  return (at) => (length === 0 ? 0 : Math.round(((at - first) / length) * WIDTH * 10) / 10);
}
