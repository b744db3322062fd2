/**
 * What a scenario is: a name, what it measures, and a run that ends in figures.
 *
 * A scenario is one small file in `scenarios/`; it is listed in `scenarios.ts` and runs in a process of its own, so that no
 * heap and no compiled code of another one shows in its figures.
 */
export interface Settings {
  /** Short runs, for a look; figures for the record come from full ones. */
  readonly quick: boolean;
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

export interface Scenario {
  readonly name: string;
  readonly about: string;
  run(settings: Settings): Promise<readonly Figure[]>;
}

/** Whether a figure keeps its budget; null when it has none. */
export function keepsBudget({ value, budget }: Figure): boolean | null {
  if (budget === undefined) return null;
  return 'atLeast' in budget ? value >= budget.atLeast : value <= budget.atMost;
}

/** The median of several runs as a figure, with its spread. */
export function figureOf(name: string, unit: string, runs: readonly number[], budget?: Figure['budget']): Figure {
  const sorted = runs.toSorted((a, b) => a - b);
  const spread = [sorted[0]!, sorted.at(-1)!] as const;
  return { name, unit, value: median(sorted), spread, ...(budget !== undefined && { budget }) };
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
