/**
 * Whole purchases per second and the processor time of one, compared with a plain route that answers one request at
 * once.
 *
 * Runs of the two alternate. Afterwards every purchase must be on disk.
 */
import { auditFolder } from '../http/audit.ts';
import type { BuyersJob, BuyersResult } from '../http/buyers.ts';
import { startPlainLike } from '../http/comparison.ts';
import { cpuOf, startLoadGenerator, type LoadRun } from '../http/load-generator.ts';
import type { LoadJob, LoadResult } from '../http/load.ts';
import { startHoldfast, type MeasuredServer } from '../http/server.ts';
import type { Traffic } from '../http/traffic.ts';
import { requireAnswers } from '../http/alternating-runs.ts';
import { hotEvent } from '../events.ts';
import { mergeHistograms, percentileMillis } from '../histogram.ts';
import { figureOf, type Figure, type Scenario, type Settings } from '../scenario.ts';

const BUYERS = 64;
const REQUESTS_PER_PURCHASE = 4;
const traffic: Traffic = { recipe: 'hot-hold' };

interface Round {
  readonly purchases: LoadRun<BuyersResult>;
  readonly plain: LoadRun<LoadResult>;
}

export const purchases: Scenario = {
  name: 'purchases',
  about: 'whole purchases (hold, checkout, payment, order) by 64 buyers at once, beside a plain route',
  async run(settings) {
    const service = await startHoldfast([hotEvent]);
    const plain = await startPlainLike(service, traffic, 201);
    try {
      const { rounds, bought } = await alternate(service, plain, settings);
      await service.stop();
      const histogram = mergeHistograms(rounds.map((round) => round.purchases.load.histogram));
      return {
        figures: [...figuresOf(rounds), ...(await auditFolder(service.folder, bought + 1, bought))],
        latencies: [{ name: 'a whole purchase', histogram }],
      };
    } finally {
      await Promise.all([service.stop(), plain.stop()]);
      service.removeFolder();
    }
  },
};

/** Purchases and plain answers alternately, after a warm-up of each; `bought` includes the warm-up. */
async function alternate(service: MeasuredServer, plain: MeasuredServer, settings: Settings) {
  const { rounds: roundsMax, seconds, warmUpSeconds, report } = settings;
  const buyers = startLoadGenerator<BuyersJob, BuyersResult>(new URL('../http/buyers.ts', import.meta.url));
  const load = startLoadGenerator<LoadJob, LoadResult>(new URL('../http/load.ts', import.meta.url));
  const rounds: Round[] = [];
  let bought = 0;
  let firstNumber = 1;
  const buy = async (seconds: number): Promise<LoadRun<BuyersResult>> => {
    const run = await buyers.run(service, { url: service.url, buyers: BUYERS, seconds, firstNumber });
    const { requests, troubles, nextNumber } = run.load;
    if (troubles.length > 0 || requests === 0) throw new Error(`purchases failed: ${troubles.join('; ')}`);
    bought += requests;
    firstNumber = nextNumber;
    return run;
  };
  const ask = async (seconds: number): Promise<LoadRun<LoadResult>> => {
    const job = { url: plain.url, traffic, status: 201, connections: BUYERS, seconds, firstNumber: 1 };
    const run = await load.run(plain, job);
    requireAnswers('plain', run.load);
    return run;
  };
  try {
    for (let round = 0; round <= roundsMax; round += 1) {
      report(round === 0 ? 'warm-up' : `round ${round} of ${roundsMax}`);
      const turnSeconds = round === 0 ? warmUpSeconds : seconds;
      const runs = { plain: await ask(turnSeconds), purchases: await buy(turnSeconds) };
      if (round > 0) rounds.push(runs);
    }
    return { rounds, bought };
  } finally {
    buyers.close();
    load.close();
  }
}

function figuresOf(rounds: readonly Round[]): Figure[] {
  const of = (name: string, unit: string, value: (round: Round) => number, budget?: Figure['budget']) =>
    figureOf(name, unit, rounds.map(value), budget);
  return [
    of('processor time: a purchase ÷ a plain answer', '×', ({ purchases, plain }) => cpuOf(purchases) / cpuOf(plain)),
    of(
      'requests of purchases ÷ plain answers, per second',
      '×',
      ({ purchases, plain }) => (REQUESTS_PER_PURCHASE * purchases.load.perSecond) / plain.load.perSecond,
    ),
    of('purchases', 'per s', ({ purchases }) => purchases.load.perSecond),
    of('processor time of a purchase', 'µs', ({ purchases }) => cpuOf(purchases)),
    of('a purchase from first request to last answer, p50', 'ms', ({ purchases }) =>
      percentileMillis(purchases.load.histogram, 50),
    ),
    of('a purchase from first request to last answer, p99', 'ms', ({ purchases }) =>
      percentileMillis(purchases.load.histogram, 99),
    ),
    of('plain: answers', 'per s', ({ plain }) => plain.load.perSecond),
    of('plain: processor time of an answer', 'µs', ({ plain }) => cpuOf(plain)),
    of('event-loop delay p99', 'ms', ({ purchases }) => purchases.meter.loopDelayP99Ms, { atMost: 10 }),
  ];
}
