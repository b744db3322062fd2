/**
 * A histogram for hot routes: an observation adds to plain arrays, which become the values of a metric when the metrics
 * are read.
 *
 * The text is the one that a histogram of prom-client with the same observations gives.
 */
import type { Histogram, Registry } from '@platformatic/prom-client';

type Labels = Readonly<Record<string, string>>;

/** The observations with the same labels. */
export class Series {
  readonly labels: Labels;
  readonly #bounds: readonly number[];
  /** How many are in each bucket alone, then those over the highest bound, then the sum of all values. */
  readonly #cells: Float64Array;
  /** The cells of other threads that observe with the same labels. */
  readonly #others = new Set<Float64Array>();

  constructor(labels: Labels, bounds: readonly number[], cells: Float64Array = new Float64Array(cellsOf(bounds))) {
    this.labels = labels;
    this.#bounds = bounds;
    this.#cells = cells;
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]!) bucket += 1;
    this.#cells[bucket]! += 1;
    this.#cells[this.#bounds.length + 1]! += value;
  }

  /** Shows what another thread observes as well; the function that it returns keeps its counts when it has ended. */
  include(cells: Float64Array): () => void {
    this.#others.add(cells);
    return () => {
      if (!this.#others.delete(cells)) return;
      for (const [index, count] of cells.entries()) this.#cells[index]! += count;
    };
  }

  #sumOf(cell: number): number {
    let sum = this.#cells[cell]!;
    for (const cells of this.#others) sum += cells[cell]!;
    return sum;
  }

  /** How many are in each bucket alone; the last one is over the highest bound. */
  counts(): number[] {
    return Array.from({ length: this.#bounds.length + 1 }, (_, bucket) => this.#sumOf(bucket));
  }

  /** The samples in Prometheus' form, where each bucket includes the ones below it. */
  samples(name: string) {
    const { labels } = this;
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, bucket) => {
      count += this.#sumOf(bucket);
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sumOf(this.#bounds.length + 1) },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

/** How many cells a series with these bounds has. */
export function cellsOf(bounds: readonly number[]): number {
  return bounds.length + 2;
}

interface HistogramOptions {
  readonly name: string;
  readonly help: string;
  readonly buckets: readonly number[];
  readonly registers: readonly Registry[];
}

export class TalliedHistogram {
  readonly name: string;
  readonly help: string;
  readonly type = 'histogram';
  readonly aggregator = 'sum';
  readonly #bounds: readonly number[];
  readonly #byLabels = new Map<string, Series>();

  constructor({ name, help, buckets, registers }: HistogramOptions) {
    this.name = name;
    this.help = help;
    this.#bounds = buckets;
    // A registry needs no more of a metric than this; prom-client's types ask for its own classes.
    for (const registry of registers) registry.registerMetric(this as unknown as Histogram);
  }

  /** The series with these labels, to be kept by whoever observes often. */
  series(labels: Labels): Series {
    const key = JSON.stringify(labels);
    let series = this.#byLabels.get(key);
    if (series === undefined) this.#byLabels.set(key, (series = new Series(labels, this.#bounds)));
    return series;
  }

  /** How many are in each bucket alone, of all series with such labels. */
  countsOf(isWanted: (labels: Labels) => boolean): number[] {
    const sums = Array.from({ length: this.#bounds.length + 1 }, () => 0);
    for (const series of this.#byLabels.values()) {
      if (isWanted(series.labels)) for (const [bucket, count] of series.counts().entries()) sums[bucket]! += count;
    }
    return sums;
  }

  /** What a registry reads. */
  get() {
    const { name, help, type, aggregator } = this;
    const values = [...this.#byLabels.values()].flatMap((series) => series.samples(name));
    return { name, help, type, aggregator, values };
  }
}
