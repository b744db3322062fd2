/** Reduces a failing sale: fewer steps, fewer buyers, fewer habits and faults, as long as it still fails. */
import { HABITS } from './buyers.ts';
import { FAULTS, simulate, type Outcome, type Scenario } from './run.ts';

interface Shrunk {
  readonly scenario: Scenario;
  readonly outcome: Outcome;
}

/** The smallest failing sale that is found in so many tries. */
export async function shrink(scenario: Scenario, outcome: Outcome, triesMax = 80): Promise<Shrunk> {
  let best: Shrunk = { scenario: { ...scenario, stepsMax: Math.max(1, outcome.steps) }, outcome };
  let tries = 0;
  const attempt = async (change: Partial<Scenario>): Promise<boolean> => {
    if ((tries += 1) > triesMax) return false;
    const smaller = { ...best.scenario, ...change };
    const found = await simulate(smaller);
    if (found.failure === null) return false;
    best = { scenario: { ...smaller, stepsMax: Math.max(1, found.steps) }, outcome: found };
    return true;
  };
  for (const name of [...FAULTS, ...HABITS]) await attempt({ without: new Set([...best.scenario.without, name]) });
  while (best.scenario.buyersMax > 2 && (await attempt({ buyersMax: best.scenario.buyersMax - 1 })));
  for (const share of [0.5, 0.75, 0.9]) {
    while (best.scenario.stepsMax > 1 && (await attempt({ stepsMax: Math.floor(best.scenario.stepsMax * share) })));
  }
  return best;
}

/** The command that repeats a scenario. */
export function commandOf({ seed, stepsMax, buyersMax, without }: Scenario): string {
  const left = without.size === 0 ? '' : ` --without ${[...without].join()}`;
  return `npm run simulate -- --seed ${seed} --steps ${stepsMax} --buyers ${buyersMax}${left}`;
}
