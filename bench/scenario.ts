/**
 * What a scenario is: a name, what it measures, and a run that ends in figures.
 *
 * A scenario is one small file in `scenarios/`; it is listed in `scenarios.ts` and runs in a process of its own, so that no
 * heap and no compiled code of another one shows in its figures.
 */
export interface Settings {
  /** Small sizes, for a look; figures for the record come from full ones. */
  readonly quick: boolean;
  /** Rounds that count; in each of them all contenders have a turn. */
  readonly rounds: number;
  /** How long a turn of a contender under load is. */
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Says on a terminal what is done now. */
  tell(step: string): void;
}

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The lowest and the highest of the runs whose median the value is. */
  readonly spread?: readonly [number, number];
  /** What must be reached; figures without one are told for their own sake. */
  readonly budget?: { readonly atLeast: number } | { readonly atMost: number };
}

/** How long answers took, all rounds together: microseconds as a compressed HDR histogram in base64. */
export interface Latency {
  readonly name: string;
  readonly histogram: string;
}

/** How something changes while something else grows. */
export interface Growth {
  /** What is told, and its unit. */
  readonly name: string;
  readonly unit: string;
  /** What grows. */
  readonly of: string;
  readonly series: readonly { readonly name: string; readonly points: readonly GrowthPoint[] }[];
}

export interface GrowthPoint {
  readonly x: number;
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

export interface Findings {
  readonly figures: readonly Figure[];
  readonly latencies?: readonly Latency[];
  readonly growth?: readonly Growth[];
  /** What a reader must know beside the figures: a baseline that was not there, the shape of a load. */
  readonly notes?: readonly string[];
}

export interface Scenario {
  readonly name: string;
  readonly about: string;
  run(settings: Settings): Promise<Findings>;
}

/** Five pairs of turns where figures are for the record, one where they are for a look. */
export function settingsOf(quick: boolean, tell: (step: string) => void): Settings {
  return quick
    ? { quick, tell, rounds: 1, seconds: 0.6, warmUpSeconds: 0.3 }
    : { quick, tell, rounds: 5, seconds: 3, warmUpSeconds: 3 };
}

/** Whether a figure keeps its budget; null when it has none. */
export function keepsBudget({ value, budget }: Figure): boolean | null {
  if (budget === undefined) return null;
  return 'atLeast' in budget ? value >= budget.atLeast : value <= budget.atMost;
}

/** The median of several runs as a figure, with its spread. */
export function figureOf(name: string, unit: string, runs: readonly number[], budget?: Figure['budget']): Figure {
  const { value, low, high } = pointOf(0, runs);
  return { name, unit, value, spread: [low, high], ...(budget !== undefined && { budget }) };
}

/** The median of several runs as a point of a growing thing. */
export function pointOf(x: number, runs: readonly number[]): GrowthPoint {
  const sorted = runs.toSorted((a, b) => a - b);
  return { x, value: median(sorted), low: sorted[0]!, high: sorted.at(-1)! };
}

function median(sorted: readonly number[]): number {
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/**
 * Processor seconds that some work takes on this thread. Not the time on the wall: on a shared machine that says more about
 * the neighbours than about the work.
 */
export async function secondsOf(work: () => unknown): Promise<number> {
  const begin = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(begin);
  return (user + system) / 1e6;
}

/** Bytes in use on this process's heap, and outside it for objects of the heap, after the garbage is collected. */
export function usedBytes(): number {
  for (let i = 0; i < 4; i += 1) globalThis.gc!();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
