/** Charts of the report as SVG: latencies by percentile, and what changes while something grows. */
import { parse, View } from 'vega';
import { compile, type TopLevelSpec } from 'vega-lite';
import { unpackHistogram } from './histogram.ts';
import type { Growth, Latency } from './scenario.ts';

/** Okabe and Ito's colours, which most people can distinguish. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000', '#f0e442'];
const STEPS_OF_TEN = 8;
const NINES_MAX = 4;

const config = {
  background: 'white',
  font: 'sans-serif',
  range: { category: COLOURS },
  axis: { labelFontSize: 11, titleFontSize: 12, titleFontWeight: 'normal', gridColor: '#e5e5e5' },
  legend: { labelFontSize: 11, titleFontSize: 12, labelLimit: 300 },
  view: { stroke: null },
} as const;

/** Latencies by percentile, each nine as wide as the one before. */
export function drawLatencies(latencies: readonly Latency[]): Promise<string> {
  return draw({
    config,
    width: 560,
    height: 280,
    data: { values: latencies.flatMap(pointsOfLatency) },
    mark: { type: 'line', interpolate: 'step-after', strokeWidth: 2 },
    encoding: {
      x: {
        field: 'tail',
        type: 'quantitative',
        scale: { type: 'log', nice: false },
        axis: {
          title: 'percentile',
          values: Array.from({ length: NINES_MAX + 1 }, (_, nines) => 10 ** nines),
          labelExpr: "datum.value <= 1 ? '0' : format(100 - 100 / datum.value, '~g')",
        },
      },
      y: {
        field: 'ms',
        type: 'quantitative',
        scale: { type: 'log' },
        axis: { title: 'latency in ms', format: '~g', tickCount: 5 },
      },
      color: colourBy(latencies.map(({ name }) => name)),
    },
  });
}

/** One chart beside the other for what grows; the bars reach from the lowest round to the highest. */
export function drawGrowth(growth: readonly Growth[]): Promise<string> {
  return draw({
    config,
    resolve: { scale: { color: 'independent' } },
    hconcat: growth.map(specOfGrowth),
  });
}

function specOfGrowth({ name, unit, of, series }: Growth): object {
  const sizes = series[0]!.points.map(({ x }) => x);
  const isWide = Math.max(...sizes) / Math.min(...sizes) > 10;
  const x = {
    field: 'x',
    type: 'quantitative',
    scale: isWide ? { type: 'log', nice: false } : { zero: true },
    axis: { title: of, values: sizes, format: ',d', labelOverlap: 'greedy', labelSeparation: 4 },
  };
  const y = { type: 'quantitative', axis: { title: `${name}, ${unit}`, tickCount: 6 }, scale: { zero: true } };
  return {
    width: 240,
    height: 220,
    data: { values: series.flatMap((each) => each.points.map((point) => ({ series: each.name, ...point }))) },
    encoding: { x, color: colourBy(series.map((each) => each.name)) },
    layer: [
      { mark: 'rule', encoding: { y: { ...y, field: 'low' }, y2: { field: 'high' } } },
      { mark: { type: 'line', strokeWidth: 2 }, encoding: { y: { ...y, field: 'value' } } },
      { mark: { type: 'point', filled: true, size: 45 }, encoding: { y: { ...y, field: 'value' } } },
    ],
  };
}

function colourBy(names: readonly string[]) {
  const legend = names.length > 1 ? { title: null, orient: 'bottom' as const, columns: 3 } : null;
  return { field: 'series', type: 'nominal' as const, sort: [...names], legend };
}

/** As far into the tail as there are answers. */
function pointsOfLatency({ name, histogram: packed }: Latency): { series: string; tail: number; ms: number }[] {
  const histogram = unpackHistogram(packed);
  const steps = Math.floor(STEPS_OF_TEN * Math.min(NINES_MAX, Math.log10(Math.max(1, histogram.totalCount))));
  return Array.from({ length: steps + 1 }, (_, step) => {
    const tail = 10 ** (step / STEPS_OF_TEN);
    const ms = histogram.getValueAtPercentile(100 - 100 / tail) / 1000;
    return { series: name, tail: Math.round(tail * 1000) / 1000, ms: Math.max(0.01, ms) };
  });
}

async function draw(spec: object): Promise<string> {
  const view = new View(parse(compile(spec as TopLevelSpec).spec), { renderer: 'none' });
  return `${await view.toSVG()}\n`;
}
