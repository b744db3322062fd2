/**
 * Whole purchases per second, and what one costs the server, beside a plain route that answers one request at once.
 *
 * The two are put under load in turns. Afterwards everything that was bought must be on disk.
 */
import { auditFolder } from '../http/audit.ts';
import type { BuyersJob, BuyersResult } from '../http/buyers.ts';
import { cpuOf, openGun, type Shot } from '../http/gun.ts';
import type { LoadJob, LoadResult } from '../http/load.ts';
import { startHoldfast, startPlain, type MeasuredServer } from '../http/server.ts';
import { hotEvent } from '../events.ts';
import { figureOf, type Figure, type Scenario, type Settings } from '../scenario.ts';
import { holdTraffic } from './post-hold.ts';

const BUYERS = 64;
const REQUESTS_PER_PURCHASE = 4;

interface Round {
  readonly purchases: Shot<BuyersResult>;
  readonly plain: Shot<LoadResult>;
}

export const purchases: Scenario = {
  name: 'purchases',
  about: 'whole purchases (hold, checkout, payment, order) by 64 buyers at once, beside a plain route',
  async run(settings) {
    const service = await startHoldfast([hotEvent]);
    const { head, tail } = holdTraffic.body!;
    const sample = await fetch(service.url + holdTraffic.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `${head}sample${tail}`,
    });
    const { method, path } = holdTraffic;
    const plain = await startPlain({ method, path, status: sample.status, body: await sample.text() });
    try {
      const { rounds, bought } = await alternate(service, plain, settings);
      await service.stop();
      return [...figuresOf(rounds), ...(await auditFolder(service.folder, bought + 1, bought))];
    } finally {
      await Promise.all([service.stop(), plain.stop()]);
      service.removeFolder();
    }
  },
};

/** Purchases and plain answers in turns, after one warm-up of each; `bought` counts the warm-up too. */
async function alternate(service: MeasuredServer, plain: MeasuredServer, { quick }: Settings) {
  const buyers = openGun<BuyersJob, BuyersResult>(new URL('../http/buyers.ts', import.meta.url));
  const load = openGun<LoadJob, LoadResult>(new URL('../http/load.ts', import.meta.url));
  const rounds: Round[] = [];
  let bought = 0;
  let firstNumber = 1;
  const buy = async (seconds: number): Promise<Shot<BuyersResult>> => {
    const shot = await buyers.shoot(service, { url: service.url, buyers: BUYERS, seconds, firstNumber });
    const { requests, troubles, nextNumber } = shot.load;
    if (troubles.length > 0 || requests === 0) throw new Error(`purchases failed: ${troubles.join('; ')}`);
    bought += requests;
    firstNumber = nextNumber;
    return shot;
  };
  const ask = async (seconds: number): Promise<Shot<LoadResult>> => {
    const job = { url: plain.url, traffic: holdTraffic, connections: BUYERS, seconds, firstNumber: 1 };
    const shot = await load.shoot(plain, job);
    if (shot.load.errors > 0 || shot.load.statuses['201'] !== shot.load.requests) {
      throw new Error(JSON.stringify(shot.load));
    }
    return shot;
  };
  try {
    for (let round = 0; round <= (quick ? 3 : 7); round += 1) {
      const seconds = quick ? 2 : 5;
      const shots = { plain: await ask(seconds), purchases: await buy(seconds) };
      if (round > 0) rounds.push(shots);
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
    of('a purchase from first request to last answer, p50', 'ms', ({ purchases }) => purchases.load.p50Micros / 1000),
    of('a purchase from first request to last answer, p99', 'ms', ({ purchases }) => purchases.load.p99Micros / 1000),
    of('plain: answers', 'per s', ({ plain }) => plain.load.perSecond),
    of('plain: processor time of an answer', 'µs', ({ plain }) => cpuOf(plain)),
    of('event-loop delay p99', 'ms', ({ purchases }) => purchases.meter.loopDelayP99Ms, { atMost: 10 }),
  ];
}
