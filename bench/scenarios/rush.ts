/**
 * A mixed rush on a stadium: users read the event and its seats, hold, change holds, release them and buy.
 *
 * The journey is `rush` in `http/journeys.ts`. There is no baseline, because nothing else does all of this.
 */
import { auditFolder } from '../http/audit.ts';
import type { VirtualUsersJob, VirtualUsersResult } from '../http/virtual-users.ts';
import { cpuOf, startLoadGenerator, type LoadRun } from '../http/load-generator.ts';
import { startHoldfast, WEBHOOK_SECRET } from '../http/server.ts';
import { stadiumEvent } from '../events.ts';
import { mergeHistograms, percentileMillis } from '../histogram.ts';
import { figureOf, type Figure, type Findings, type Scenario } from '../scenario.ts';

const USERS = 64;
/** Shorter than in other scenarios, because sold seats do not become free again. */
const RUN_SECONDS_MAX = 1.5;

export const rush: Scenario = {
  name: 'rush',
  about: 'a mixed rush of 64 people on a stadium: event, seats, holds, changes, releases, purchases',
  async run({ rounds, seconds, warmUpSeconds, report }) {
    const service = await startHoldfast([stadiumEvent]);
    const generator = startLoadGenerator<VirtualUsersJob, VirtualUsersResult>(
      new URL('../http/virtual-users.ts', import.meta.url),
    );
    const runs: LoadRun<VirtualUsersResult>[] = [];
    let firstNumber = 1;
    let bought = 0;
    try {
      for (let round = 0; round <= rounds; round += 1) {
        report(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
        const runSeconds = Math.min(round === 0 ? warmUpSeconds : seconds, RUN_SECONDS_MAX);
        const job = { url: service.url, journey: 'rush', users: USERS, webhookSecret: WEBHOOK_SECRET } as const;
        const run = await generator.run(service, { ...job, seconds: runSeconds, firstNumber });
        if (run.load.troubles.length > 0) throw new Error(run.load.troubles.join('; '));
        firstNumber = run.load.nextNumber;
        bought += run.load.bought;
        if (round > 0) runs.push(run);
      }
      await service.stop();
      const { figures, latencies = [] } = findingsOf(runs);
      return { figures: [...figures, ...(await auditFolder(service.folder, bought, bought))], latencies };
    } finally {
      generator.close();
      await service.stop();
      service.removeFolder();
    }
  },
};

function findingsOf(runs: readonly LoadRun<VirtualUsersResult>[]): Findings {
  const of = (
    name: string,
    unit: string,
    value: (run: LoadRun<VirtualUsersResult>) => number,
    budget?: Figure['budget'],
  ) => figureOf(name, unit, runs.map(value), budget);
  const names = [...new Set(runs.flatMap(({ load }) => load.latencies.map(({ name }) => name)))];
  const latencies = names.map((name) => {
    const all = runs.flatMap(({ load }) => load.latencies.filter((each) => each.name === name));
    return {
      name,
      count: all.reduce((sum, { count }) => sum + count, 0),
      histogram: mergeHistograms(all.map((each) => each.histogram)),
    };
  });
  return {
    figures: [
      of('requests answered', 'per s', ({ load }) => load.perSecond),
      of('tickets sold', 'per s', ({ load }) => load.bought / load.seconds),
      of('processor time of a request', 'µs', cpuOf),
      of('event-loop delay p99', 'ms', ({ meter }) => meter.loopDelayP99Ms, { atMost: 10 }),
      of('event-loop delay, longest', 'ms', ({ meter }) => meter.loopDelayMaxMs),
      ...latencies.flatMap(({ name, count, histogram }): Figure[] => [
        { name: `${name}: answers in all`, value: count, unit: '' },
        { name: `${name}: latency p99`, value: percentileMillis(histogram, 99), unit: 'ms' },
      ]),
    ],
    latencies: latencies.map(({ name, histogram }) => ({ name, histogram })),
  };
}
