/**
 * `npm run simulate -- --cluster`: runs simulated clusters by their seeds and stops at the first that fails.
 *
 * A seed that fails is reduced: fewer faults, fewer clients, less time, as long as it still fails. Many seeds are
 * shared among the processors.
 */
import { fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { simulateCluster, kindOf, type Kind, type ClusterOutcome, type ClusterScenario } from './run.ts';
import { CLUSTER_FAULTS } from './network.ts';

interface ClusterCommand {
  readonly first: number;
  readonly last: number;
  /** The time to stop at. */
  readonly endsAt: number;
  /** Null: the kind that follows from each seed. */
  readonly kind: Kind | null;
  readonly lastsMs: number;
  readonly clientsMax: number;
  readonly without: ReadonlySet<string>;
  readonly isReduced: boolean;
}

/** What one process did. */
interface ClusterSum {
  seeds: number;
  failures: number;
  simulatedMs: number;
  readonly seen: Map<string, number>;
}

/** Fewer seeds are not worth a second process. */
const SHARED_FROM = 2_000;
const REPORT_EVERY_MS = 30_000;

export function commandOf({ seed, kind, lastsMs, clientsMax, without }: ClusterScenario): string {
  const left = without.size === 0 ? '' : ` --without ${[...without].join()}`;
  return `npm run simulate -- --cluster --seed ${seed} --kind ${kind} --lasts ${lastsMs} --clients ${clientsMax}${left}`;
}

/** Runs all seeds of a command and prints what it saw; returns how many failed. */
export async function runCluster(command: ClusterCommand): Promise<number> {
  const begin = Date.now();
  const isLong = command.endsAt === Infinity && command.last - command.first >= SHARED_FROM;
  const isShared = isLong && process.send === undefined;
  const sum = isShared ? await shareSeeds(command) : await playSeeds(command);
  if (process.send !== undefined) {
    process.send({ ...sum, seen: [...sum.seen] });
    return sum.failures;
  }
  const seconds = ((Date.now() - begin) / 1_000).toFixed(1);
  const minutes = Math.round(sum.simulatedMs / 60_000);
  console.log(`${sum.seeds} clusters, ${sum.failures} failed; ${minutes} minutes simulated in ${seconds} s`);
  const counts = [...sum.seen].sort(([, a], [, b]) => b - a).map(([what, count]) => `${what} ${count}`);
  console.log(counts.join(', '));
  return sum.failures;
}

async function playSeeds(command: ClusterCommand): Promise<ClusterSum> {
  const { first, last, endsAt, kind, lastsMs, clientsMax, without } = command;
  const sum: ClusterSum = { seeds: 0, failures: 0, simulatedMs: 0, seen: new Map() };
  let reportedAt = Date.now();
  for (let seed = first; seed <= last && sum.failures === 0 && Date.now() < endsAt; seed += 1) {
    const scenario: ClusterScenario = { seed, kind: kind ?? kindOf(seed), lastsMs, clientsMax, without };
    const outcome = await simulateCluster(scenario);
    sum.seeds += 1;
    sum.simulatedMs += outcome.simulatedMs;
    for (const [what, count] of outcome.seen) sum.seen.set(what, (sum.seen.get(what) ?? 0) + count);
    if (outcome.failure !== null) {
      sum.failures += 1;
      await report(scenario, outcome, command.isReduced);
    }
    if (Date.now() < reportedAt + REPORT_EVERY_MS) continue;
    reportedAt = Date.now();
    console.log(`${sum.seeds} clusters; at seed ${seed}`);
  }
  return sum;
}

async function report(scenario: ClusterScenario, outcome: ClusterOutcome, isReduced: boolean): Promise<void> {
  const small = isReduced ? await reduce(scenario, outcome) : { scenario, outcome };
  console.log(`seed ${scenario.seed} failed: ${outcome.failure?.message}`);
  console.log(`reduced: ${small.outcome.failure?.stack ?? ''}`);
  console.log(`repeat it: ${commandOf(scenario)}\n  or reduced: ${commandOf(small.scenario)}`);
}

interface Reduced {
  readonly scenario: ClusterScenario;
  readonly outcome: ClusterOutcome;
}

async function reduce(scenario: ClusterScenario, outcome: ClusterOutcome): Promise<Reduced> {
  let best: Reduced = { scenario, outcome };
  const attempt = async (change: Partial<ClusterScenario>): Promise<boolean> => {
    const smaller = { ...best.scenario, ...change };
    const found = await simulateCluster(smaller);
    if (found.failure === null) return false;
    best = { scenario: smaller, outcome: found };
    return true;
  };
  for (const fault of CLUSTER_FAULTS) await attempt({ without: new Set([...best.scenario.without, fault]) });
  while (best.scenario.clientsMax > 1 && (await attempt({ clientsMax: best.scenario.clientsMax - 1 })));
  while (best.scenario.lastsMs > 100 && (await attempt({ lastsMs: Math.floor(best.scenario.lastsMs * 0.8) })));
  return best;
}

/** Gives each processor a part of the seeds, in a process of its own. */
async function shareSeeds({ first, last }: ClusterCommand): Promise<ClusterSum> {
  const parts = availableParallelism();
  const size = Math.ceil((last - first + 1) / parts);
  const sums = await Promise.all(
    Array.from({ length: parts }, (_, part) => {
      const from = first + part * size;
      return playElsewhere(from, Math.min(last, from + size - 1));
    }),
  );
  const total: ClusterSum = { seeds: 0, failures: 0, simulatedMs: 0, seen: new Map() };
  for (const sum of sums) {
    total.seeds += sum.seeds;
    total.failures += sum.failures;
    total.simulatedMs += sum.simulatedMs;
    for (const [what, count] of sum.seen) total.seen.set(what, (total.seen.get(what) ?? 0) + count);
  }
  return total;
}

/** The same command with other seeds: later options count. */
function playElsewhere(first: number, last: number): Promise<ClusterSum> {
  return new Promise((resolve, reject) => {
    const child = fork(process.argv[1]!, [...process.argv.slice(2), '--seeds', `${first}..${last}`]);
    let sum: ClusterSum | null = null;
    child.on('message', (message) => {
      const given = message as Omit<ClusterSum, 'seen'> & { readonly seen: readonly (readonly [string, number])[] };
      sum = { ...given, seen: new Map(given.seen) };
    });
    child.on('exit', () =>
      sum === null ? reject(new Error(`seeds ${first} to ${last} were not played`)) : resolve(sum),
    );
  });
}
