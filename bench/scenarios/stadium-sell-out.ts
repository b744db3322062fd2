/**
 * A stadium sold out to its last seat over HTTP, as fast as 64 people at once can buy.
 *
 * Each buys the best seats for a party of one to six: hold, checkout start, the provider's signed webhook. A new stadium is
 * sold in each round; afterwards all of it must be on disk as sold, and nothing twice.
 */
import { auditFolder } from '../http/audit.ts';
import type { CrowdJob, CrowdResult } from '../http/crowd.ts';
import { cpuOf, openGun, type Shot } from '../http/gun.ts';
import { startHoldfast, WEBHOOK_SECRET } from '../http/server.ts';
import { BLOCK_SEATS, stadiumOf } from '../events.ts';
import { mergeHistograms } from '../histogram.ts';
import { figureOf, type Figure, type Findings, type Scenario } from '../scenario.ts';

const BLOCKS = 48;
/** For a look a sixth of the stadium is sold. */
const QUICK_BLOCKS = 8;
const PEOPLE = 64;
/** Nobody waits for a stadium that is not sold by then. */
const SECONDS_MAX = 120;

interface Sale {
  readonly shot: Shot<CrowdResult>;
  readonly audit: readonly Figure[];
}

export const stadiumSellOut: Scenario = {
  name: 'stadium-sell-out',
  about: 'a stadium of 60,000 seats sold out over HTTP: best seats for parties of one to six, held, ordered and paid',
  async run({ quick, tell }) {
    const rounds = quick ? 1 : 3;
    const blocks = quick ? QUICK_BLOCKS : BLOCKS;
    const sales: Sale[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      tell(`stadium ${round} of ${rounds}`);
      sales.push(await sellOut(blocks));
    }
    return findingsOf(sales);
  },
};

async function sellOut(blocks: number): Promise<Sale> {
  const seats = blocks * BLOCK_SEATS;
  const service = await startHoldfast([stadiumOf(blocks)]);
  const gun = openGun<CrowdJob, CrowdResult>(new URL('../http/crowd.ts', import.meta.url));
  try {
    const shot = await gun.shoot(service, {
      url: service.url,
      walk: 'sell-out',
      people: PEOPLE,
      seconds: SECONDS_MAX,
      firstNumber: 1,
      webhookSecret: WEBHOOK_SECRET,
    });
    if (shot.load.troubles.length > 0) throw new Error(shot.load.troubles.join('; '));
    if (shot.load.bought !== seats) throw new Error(`${shot.load.bought} of ${seats} seats were bought`);
    await service.stop();
    return { shot, audit: await auditFolder(service.folder, seats, seats) };
  } finally {
    gun.close();
    await service.stop();
    service.removeFolder();
  }
}

function findingsOf(sales: readonly Sale[]): Findings {
  const of = (name: string, unit: string, value: (shot: Shot<CrowdResult>) => number, budget?: Figure['budget']) =>
    figureOf(
      name,
      unit,
      sales.map(({ shot }) => value(shot)),
      budget,
    );
  const steps = ['hold', 'start', 'paid'];
  const latencies = steps.map((step) => ({
    name: step,
    histogram: mergeHistograms(
      sales.flatMap(({ shot }) => shot.load.latencies.filter(({ name }) => name === step).map((l) => l.histogram)),
    ),
  }));
  return {
    figures: [
      of('from the first hold to the last seat paid', 's', ({ load }) => load.seconds, { atMost: 30 }),
      of('seats sold', '', ({ load }) => load.bought),
      of('seats sold', 'per s', ({ load }) => load.bought / load.seconds),
      of('requests answered', '', ({ load }) => load.requests),
      of('requests answered', 'per s', ({ load }) => load.perSecond),
      of('processor time of a request', 'µs', cpuOf),
      of('event-loop delay p99', 'ms', ({ meter }) => meter.loopDelayP99Ms, { atMost: 10 }),
      of('event-loop delay, longest', 'ms', ({ meter }) => meter.loopDelayMaxMs),
      ...sales.at(-1)!.audit,
    ],
    latencies,
  };
}
