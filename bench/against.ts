/**
 * The ordinary scenarios against a service that already runs, for measuring one's own machine: rates and latencies as
 * its clients see them, without baselines and without what only the service's own process can tell.
 *
 * 1. The events are defined through the admin API for this run alone, with ids of their own, and are hidden as drafts
 *    afterwards.
 * 2. An address that is not of this machine is loaded only when that is said.
 */
import { randomBytes } from 'node:crypto';
import { isLoopback } from '#rehearsal/server/service.ts';
import { hotEvent, stadiumOf, type EventFile } from './events.ts';
import { mergeHistograms, percentileMillis } from './histogram.ts';
import type { BuyersJob, BuyersResult } from './http/buyers.ts';
import type { LoadJob, LoadResult } from './http/load.ts';
import { startLoadGenerator } from './http/load-generator.ts';
import type { OpenLoopJob, OpenLoopResult } from './http/open-loop.ts';
import type { MeasuredServer } from './http/server.ts';
import type { Traffic } from './http/traffic.ts';
import type { VirtualUsersJob, VirtualUsersResult } from './http/virtual-users.ts';
import { figureOf, type Figure, type Findings, type Scenario, type Settings } from './scenario.ts';

export interface Address {
  readonly url: URL;
  readonly adminUrl: URL;
  readonly token: string | undefined;
  readonly mayBeRemote: boolean;
}

const CONNECTIONS = 64;
const BLOCKS = 48;
const QUICK_BLOCKS = 8;
/** A quick round is so long, and not a time: a busy machine would end some with nothing measured. */
const QUICK_ANSWERS = 2_048;
const QUICK_PURCHASES = 256;
const SELL_OUT_SECONDS_MAX = 600;
/** Shares of the closed loop's rate at which the open loop sends. */
const SHARES = [0.25, 0.5, 0.75];

interface Run {
  readonly url: string;
  readonly hot: Event;
  readonly stadium: Event;
  readonly settings: Settings;
}

interface Event {
  readonly id: string;
  readonly slug: string;
}

interface AgainstScenario extends Pick<Scenario, 'name' | 'about'> {
  measure(run: Run): Promise<Findings>;
}

/** What can be measured from outside, in the order in which it runs: the stadium is sold out at the end. */
export const AGAINST: readonly AgainstScenario[] = [
  {
    name: 'get-event',
    about: 'GET of the public event payload, 64 connections',
    measure: ({ url, stadium, settings }) =>
      closedLoop(url, { recipe: 'gets', paths: [`/api/events/public/${stadium.slug}`] }, 200, settings),
  },
  {
    name: 'post-hold',
    about: 'holds of a hot ticket type, durable, 64 connections',
    measure: ({ url, hot, settings }) => closedLoop(url, { recipe: 'hot-hold', eventId: hot.id }, 201, settings),
  },
  {
    name: 'fixed-rate',
    about: 'the same holds at fixed rates, latency from the intended moment of sending',
    measure: fixedRates,
  },
  {
    name: 'purchases',
    about: 'whole purchases (hold, checkout, payment by the sandbox, order) by 64 buyers at once',
    measure: wholePurchases,
  },
  {
    name: 'stadium-sell-out',
    about: 'a stadium sold out to its last seat: best seats for parties of one to six, held, ordered and paid',
    measure: sellOut,
  },
];

/** Runs scenarios against an address; `report` shows steps. Throws an Error that says what is missing. */
export async function measureAgainst(
  address: Address,
  scenarios: readonly AgainstScenario[],
  settings: Settings,
  onResult: (scenario: AgainstScenario, findings: Findings) => void,
): Promise<void> {
  const { url, mayBeRemote } = address;
  if (!isLoopback(url) && !mayBeRemote) {
    throw new Error(`${url.host} is not this machine: it is loaded only with --yes-load-this`);
  }
  const run = randomBytes(4).toString('hex');
  const hot = { ...hotEvent, id: `evt_bench_${run}_hot`, slug: `bench-${run}-hot` };
  const blocks = settings.quick ? QUICK_BLOCKS : BLOCKS;
  const stadium = { ...stadiumOf(blocks), id: `evt_bench_${run}_stadium`, slug: `bench-${run}-stadium` };
  const defined = [hot, stadium];
  for (const event of defined) await define(address, event);
  try {
    for (const scenario of scenarios) {
      onResult(scenario, await scenario.measure({ url: url.origin, hot, stadium, settings }));
    }
  } finally {
    for (const event of defined) await define(address, { ...event, status: 'DRAFT' });
  }
}

async function define({ adminUrl, token }: Address, event: EventFile): Promise<void> {
  const answer = await fetch(`${adminUrl.origin}/admin/events/${event.id}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${token ?? ''}`, 'content-type': 'application/json' },
    body: JSON.stringify(event),
  });
  if (answer.status >= 300) {
    throw new Error(
      `the events cannot be defined at ${adminUrl.origin}: ${await answer.text()} (--admin, ADMIN_TOKEN)`,
    );
  }
}

// ── the scenarios ────────────────────────────────────────────────────────────────────────────────────────────────────

async function closedLoop(url: string, traffic: Traffic, status: number, settings: Settings): Promise<Findings> {
  const runs = await driven('load', url, (drive: Drive<LoadJob, LoadResult>) =>
    rounds(settings, (seconds, firstNumber) =>
      drive({
        url,
        traffic,
        status,
        connections: CONNECTIONS,
        seconds,
        ...(settings.quick ? { answers: QUICK_ANSWERS } : {}),
        firstNumber,
      }),
    ),
  );
  requireGood(runs);
  return rateAndLatency(runs);
}

async function fixedRates({ url, hot, settings }: Run): Promise<Findings> {
  const traffic = { recipe: 'hot-hold', eventId: hot.id } as const;
  const job = { url, traffic, status: 201, connections: CONNECTIONS, seconds: settings.seconds } as const;
  const most = await driven('load', url, (drive: Drive<LoadJob, LoadResult>) =>
    drive({ ...job, firstNumber: 2_000_000_000 }),
  );
  const figures: Figure[] = [];
  await driven('open-loop', url, async (drive: Drive<OpenLoopJob, OpenLoopResult>) => {
    for (const share of SHARES) {
      const perSecond = Math.max(50, Math.round((most.perSecond * share) / 50) * 50);
      const firstNumber = 2_100_000_000 + Math.round(share * 1e8);
      const run = await drive({ ...job, perSecond, firstNumber });
      const at = `at ${perSecond.toLocaleString('en-GB')} per s`;
      const ms = (name: string, packed: string, percentile: number): Figure => {
        return { name: `${at}: ${name}`, unit: 'ms', value: percentileMillis(packed, percentile) };
      };
      figures.push(ms('latency p50', run.histogram, 50), ms('latency p99', run.histogram, 99));
      figures.push(ms('delay of the generator itself, p99', run.lateness, 99));
    }
  });
  return { figures };
}

async function wholePurchases({ url, hot, settings }: Run): Promise<Findings> {
  const runs = await driven('buyers', url, (drive: Drive<BuyersJob, BuyersResult>) =>
    rounds(settings, (seconds, firstNumber) =>
      drive({
        url,
        eventId: hot.id,
        buyers: CONNECTIONS,
        ...(settings.quick ? { purchases: QUICK_PURCHASES } : { seconds }),
        firstNumber,
      }),
    ),
  );
  const troubles = runs.flatMap((run) => run.troubles);
  if (troubles.length > 0) throw new Error(troubles.join('; '));
  return rateAndLatency(runs);
}

async function sellOut({ url, stadium }: Run): Promise<Findings> {
  const sale = await driven('virtual-users', url, (drive: Drive<VirtualUsersJob, VirtualUsersResult>) =>
    drive({
      url,
      journey: 'sell-out',
      event: stadium,
      users: CONNECTIONS,
      seconds: SELL_OUT_SECONDS_MAX,
      firstNumber: 1,
      webhookSecret: null,
    }),
  );
  if (sale.troubles.length > 0) throw new Error(sale.troubles.join('; '));
  return {
    figures: [
      { name: 'from the first hold to the last seat paid', unit: 's', value: sale.seconds },
      { name: 'seats sold', unit: '', value: sale.bought },
      { name: 'requests answered', unit: 'per s', value: sale.perSecond },
      ...sale.latencies.map(({ name, histogram }) => {
        return { name: `${name}: latency p99`, unit: 'ms', value: percentileMillis(histogram, 99) };
      }),
    ],
  };
}

// ── runs ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

type Drive<Job, Load> = (job: Job) => Promise<Load>;

/** Has a generator run jobs, one after the other; nothing is known of the service's own process. */
async function driven<Job extends object, Load, Result>(
  file: string,
  url: string,
  work: (drive: Drive<Job, Load>) => Promise<Result>,
): Promise<Result> {
  const generator = startLoadGenerator<Job, Load>(new URL(`./http/${file}.ts`, import.meta.url));
  const none = { cpuMicros: 0, mainCpuMicros: 0, totalCpuMicros: 0, loopDelayP99Ms: 0, loopDelayMaxMs: 0 };
  const server: Pick<MeasuredServer, 'beginMeter' | 'readMeter'> = {
    beginMeter: async () => {},
    readMeter: async () => none,
  };
  try {
    return await work(async (job) => (await generator.run({ ...server, url } as MeasuredServer, job)).load);
  } finally {
    generator.close();
  }
}

/** A warm-up, which does not count, and the rounds. */
async function rounds<Load extends { readonly nextNumber: number }>(
  { rounds: count, seconds, warmUpSeconds, report }: Settings,
  run: (seconds: number, firstNumber: number) => Promise<Load>,
): Promise<Load[]> {
  const warmUp = await run(warmUpSeconds, 1);
  let { nextNumber } = warmUp;
  const runs: Load[] = [];
  for (let round = 1; round <= count; round += 1) {
    report(`round ${round} of ${count}`);
    const load = await run(seconds, nextNumber);
    ({ nextNumber } = load);
    runs.push(load);
  }
  return runs;
}

function requireGood(runs: readonly LoadResult[]): void {
  for (const { requests, statuses, errors } of runs) {
    if (requests > 0 && errors === 0) continue;
    throw new Error(`not every request was answered well: ${JSON.stringify(statuses)}, ${errors} connections failed`);
  }
}

function rateAndLatency(runs: readonly { readonly perSecond: number; readonly histogram: string }[]): Findings {
  const histogram = mergeHistograms(runs.map((run) => run.histogram));
  return {
    figures: [
      figureOf(
        'answered',
        'per s',
        runs.map(({ perSecond }) => perSecond),
      ),
      ...[50, 99, 99.9].map((percentile) => {
        return { name: `latency p${percentile}`, unit: 'ms', value: percentileMillis(histogram, percentile) };
      }),
    ],
  };
}
