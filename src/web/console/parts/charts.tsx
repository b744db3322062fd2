/**
 * Charts of what the console has read since it was opened: the tickets of a performance by state, and one figure over
 * time.
 *
 * Owns the history, one sample for each reading. It is kept in memory alone and drops the oldest samples; for longer
 * periods a metrics server reads /metrics.
 */
import type { Overview, Stock } from '../app/bodies.ts';
import { number } from '../app/format.ts';

// ── the history ──────────────────────────────────────────────────────────────────────────────────────────────────────

interface Sample {
  readonly at: number;
  /** By event and performance (`performanceKey`). */
  readonly stock: ReadonlyMap<string, Stock>;
  /** People waiting, by event. */
  readonly waiting: ReadonlyMap<string, number>;
}

export type History = readonly Sample[];

const SAMPLES_MAX = 1_800;

export function performanceKey(eventId: string, performanceId: string): string {
  return `${eventId}/${performanceId}`;
}

export function withSample(history: History, overview: Overview): History {
  const stock = new Map<string, Stock>();
  const waiting = new Map<string, number>();
  for (const event of overview.events) {
    for (const performance of event.performances) stock.set(performanceKey(event.id, performance.id), performance);
    if (event.waiting_room !== null) waiting.set(event.id, event.waiting_room.waiting);
  }
  return [...history.slice(1 - SAMPLES_MAX), { at: Date.parse(overview.now), stock, waiting }];
}

// ── the charts ───────────────────────────────────────────────────────────────────────────────────────────────────────

const STATES = ['sold', 'held', 'blocked', 'available'] as const;
const NAMES = { sold: 'sold', held: 'held', blocked: 'blocked', available: 'free' } as const;

const WIDTH = 600;
const HEIGHT = 140;

/** Tickets by state as one bar. */
export function StockBar({ stock }: { readonly stock: Stock }) {
  let x = 0;
  const label = STATES.map((state) => `${number(stock[state])} ${NAMES[state]}`).join(', ');
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

/** The figures under a bar or chart, which are also its legend. */
export function StockLegend({ stock }: { readonly stock: Stock }) {
  return (
    <ul class="legend">
      {STATES.map((state) => (
        <li key={state} class={`of-${state}`}>
          <b>{number(stock[state])}</b> {NAMES[state]}
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
    <Plot label={label} points={points} top={number(capacity)}>
      {areas}
    </Plot>
  );
}

interface ChartPoint {
  readonly at: number;
  readonly value: number;
}

/** One figure over time, from 0 up. */
export function LineChart({ points, label }: { readonly points: readonly ChartPoint[]; readonly label: string }) {
  const xOf = timeScale(points);
  const highest = Math.max(1, ...points.map(({ value }) => value));
  const path = points.map(({ at, value }) => `${xOf(at)},${HEIGHT - (value / highest) * (HEIGHT - 4) - 2}`).join(' ');
  return (
    <Plot label={label} points={points} top={number(highest)}>
      <polyline class="line" points={path} vector-effect="non-scaling-stroke" />
    </Plot>
  );
}

interface BarsProps {
  readonly label: string;
  /** One figure a bar, the oldest first. */
  readonly values: readonly number[];
  readonly since: string;
}

/** One figure in equal spans of time, from 0 up. */
export function Bars({ label, values, since }: BarsProps) {
  const highest = Math.max(1, ...values);
  const width = WIDTH / Math.max(1, values.length);
  const path = values
    .map(
      (value, index) =>
        `M${index * width} ${HEIGHT}h${width * 0.8}V${HEIGHT - (value / highest) * (HEIGHT - 4)}h${-width * 0.8}z`,
    )
    .join('');
  return (
    <figure class="plot">
      <span class="plot-top quiet">{number(highest)}</span>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <path class="bars" d={path} />
      </svg>
      <figcaption class="quiet small">
        <span>{since}</span>
        <span>now</span>
      </figcaption>
    </figure>
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

/** The x position of a moment, from the first to the last point. */
function timeScale(points: readonly { readonly at: number }[]): (at: number) => number {
  const first = points[0]?.at ?? 0;
  const length = (points.at(-1)?.at ?? 0) - first;
  return (at) => (length === 0 ? 0 : Math.round(((at - first) / length) * WIDTH * 10) / 10);
}
