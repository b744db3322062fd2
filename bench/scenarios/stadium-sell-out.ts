/**
 * A stadium sold out to its last seat over HTTP, as fast as 64 virtual users can buy.
 *
 * Each buys the best seats for a party of one to six: hold, checkout start, the provider's signed webhook. Each round
 * sells a new stadium; afterwards every seat must be on disk as sold once.
 */
import { auditFolder } from '../http/audit.ts';
import type { VirtualUsersJob, VirtualUsersResult } from '../http/virtual-users.ts';
import { cpuOf, startLoadGenerator, type LoadRun } from '../http/load-generator.ts';
import { startHoldfast, WEBHOOK_SECRET } from '../http/server.ts';
import { BLOCK_SEATS, stadiumOf } from '../events.ts';
import { mergeHistograms } from '../histogram.ts';
import { figureOf, type Figure, type Findings, type Scenario } from '../scenario.ts';

const BLOCKS = 48;
/** A quick run sells a sixth of the stadium. */
const QUICK_BLOCKS = 8;
const USERS = 64;
/** A sale that takes longer fails. */
const SECONDS_MAX = 120;

interface Sale {
  readonly run: LoadRun<VirtualUsersResult>;
  readonly audit: readonly Figure[];
}

export const stadiumSellOut: Scenario = {
  name: 'stadium-sell-out',
  about: 'a stadium of 60,000 seats sold out over HTTP: best seats for parties of one to six, held, ordered and paid',
  async run({ quick, report }) {
    const rounds = quick ? 1 : 3;
    const blocks = quick ? QUICK_BLOCKS : BLOCKS;
    const sales: Sale[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      report(`stadium ${round} of ${rounds}`);
      sales.push(await sellOut(blocks));
    }
    return findingsOf(sales);
  },
};

async function sellOut(blocks: number): Promise<Sale> {
  const seats = blocks * BLOCK_SEATS;
  const service = await startHoldfast([stadiumOf(blocks)]);
  const generator = startLoadGenerator<VirtualUsersJob, VirtualUsersResult>(
    new URL('../http/virtual-users.ts', import.meta.url),
  );
  try {
    const run = await generator.run(service, {
      url: service.url,
      journey: 'sell-out',
      users: USERS,
      seconds: SECONDS_MAX,
      firstNumber: 1,
      webhookSecret: WEBHOOK_SECRET,
    });
    if (run.load.troubles.length > 0) throw new Error(run.load.troubles.join('; '));
    if (run.load.bought !== seats) throw new Error(`${run.load.bought} of ${seats} seats were bought`);
    await service.stop();
    return { run, audit: await auditFolder(service.folder, seats, seats) };
  } finally {
    generator.close();
    await service.stop();
    service.removeFolder();
  }
}

function findingsOf(sales: readonly Sale[]): Findings {
  const of = (
    name: string,
    unit: string,
    value: (run: LoadRun<VirtualUsersResult>) => number,
    budget?: Figure['budget'],
  ) =>
    figureOf(
      name,
      unit,
      sales.map(({ run }) => value(run)),
      budget,
    );
  const steps = ['hold', 'start', 'paid'];
  const latencies = steps.map((step) => ({
    name: step,
    histogram: mergeHistograms(
      sales.flatMap(({ run }) => run.load.latencies.filter(({ name }) => name === step).map((l) => l.histogram)),
    ),
  }));
  return {
    figures: [
      of('from the first hold to the last seat paid', 's', ({ load }) => load.seconds, { atMost: 8 }),
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
