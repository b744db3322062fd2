/**
 * The contract of a scenario: a name, what it measures, and a run that returns figures; and how figures are calculated
 * and formatted.
 *
 * Each scenario is a file in `scenarios/`, is listed in `scenarios.ts` and runs in a process of its own, so that the
 * heap and the compiled code of one do not affect another.
 */
export interface Settings {
  /** Small sizes; the recorded figures are those of full sizes. */
  readonly quick: boolean;
  /** Rounds that count; each has a run of every server. */
  readonly rounds: number;
  /** The length of a run. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Shows the current step on a terminal. */
  report(step: string): void;
}

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The lowest and the highest of the runs, or their quartiles; the value is their median. */
  readonly spread?: readonly [number, number];
  /** What must be reached; without one the figure is information only. */
  readonly budget?: { readonly atLeast: number } | { readonly atMost: number };
}

/** Latencies of all rounds in microseconds, as a compressed HDR histogram in base64. */
export interface Latency {
  readonly name: string;
  readonly histogram: string;
}

/** A measured value for several sizes. */
export interface Growth {
  /** The value and its unit. */
  readonly name: string;
  readonly unit: string;
  /** What grows. */
  readonly of: string;
  readonly series: readonly { readonly name: string; readonly points: readonly GrowthPoint[] }[];
}

interface GrowthPoint {
  readonly x: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface Findings {
  readonly figures: readonly Figure[];
  readonly latencies?: readonly Latency[];
  readonly growth?: readonly Growth[];
  /** Remarks on the figures, such as a missing baseline. */
  readonly notes?: readonly string[];
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  run(settings: Settings): Promise<Findings>;
}

export function settingsOf(quick: boolean, report: (step: string) => void): Settings {
  return quick
    ? { quick, report, rounds: 1, seconds: 0.6, warmUpSeconds: 0.3 }
    : { quick, report, rounds: 5, seconds: 3, warmUpSeconds: 3 };
}

/** Whether a figure keeps its budget; null when it has none. */
export function keepsBudget({ value, budget }: Figure): boolean | null {
  if (budget === undefined) return null;
  return 'atLeast' in budget ? value >= budget.atLeast : value <= budget.atMost;
}

/** What an audit counts is a fault on any machine. */
export const AUDIT = 'audit: ';

/** Whether it can be said that a figure keeps its budget or misses it. */
export function hasVerdict({ name }: Figure, isDisturbed: boolean): boolean {
  return !isDisturbed || name.startsWith(AUDIT);
}

/** The median of several runs as a figure, with its spread. */
export function figureOf(name: string, unit: string, runs: readonly number[], budget?: Figure['budget']): Figure {
  const { value, low, high } = pointOf(0, runs);
  return { name, unit, value, spread: [low, high], ...(budget !== undefined && { budget }) };
}

/** The median of many runs as a figure, with their quartiles: some of the runs may have been disturbed. */
export function quartilesOf(name: string, unit: string, runs: readonly number[], budget?: Figure['budget']): Figure {
  const sorted = runs.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const spread = [median(sorted.slice(0, half || 1)), median(sorted.slice(-half || -1))] as const;
  return { name, unit, value: median(sorted), spread, ...(budget !== undefined && { budget }) };
}

/** The median of several runs as a point of a growth. */
export function pointOf(x: number, runs: readonly number[]): GrowthPoint {
  const sorted = runs.toSorted((a, b) => a - b);
  return { x, value: median(sorted), low: sorted[0]!, high: sorted.at(-1)! };
}

function median(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Processor seconds of this thread for some work. Elapsed time would depend on other processes of a shared machine.
 */
export async function secondsOf(work: () => unknown): Promise<number> {
  const begin = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(begin);
  return (user + system) / 1e6;
}

/**
 * Period of the timer that measures the delay of an event loop: short enough for every stall that a budget concerns.
 */
export const LOOP_PERIOD_MS = 2;

// ── figures as text ──────────────────────────────────────────────────────────────────────────────────────────────────

/** Figures as lines of text: name, value, spread, budget and, unless the scenario was disturbed, a verdict. */
export function formatFigures(figures: readonly Figure[], isDisturbed = false): string {
  const width = Math.max(...figures.map(({ name }) => name.length));
  const lineOf = (figure: Figure): string =>
    `  ${figure.name.padEnd(width)}  ${valueOf(figure)}${verdictOf(figure, isDisturbed)}\n`;
  return figures.map(lineOf).join('');
}

function valueOf({ value, unit, spread }: Figure): string {
  const text = `${round(value).padStart(10)} ${unit}`;
  if (spread === undefined || spread[0] === spread[1]) return text;
  return `${text} (${round(spread[0])} to ${round(spread[1])})`;
}

function verdictOf(figure: Figure, isDisturbed: boolean): string {
  const { budget } = figure;
  if (budget === undefined) return '';
  const verdict = !hasVerdict(figure, isDisturbed) ? 'disturbed' : keepsBudget(figure) === true ? 'good' : 'MISSED';
  return `  ${verdict}: ${boundOf(budget)}`;
}

export function boundOf(budget: NonNullable<Figure['budget']>): string {
  return 'atLeast' in budget ? `at least ${round(budget.atLeast)}` : `at most ${round(budget.atMost)}`;
}

/** Three significant digits, thousands separated. */
export function round(value: number): string {
  if (!Number.isFinite(value) || value === 0) return String(value);
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString('en-GB', { maximumFractionDigits: Math.min(digits, 6) });
}
