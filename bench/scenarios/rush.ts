/**
 * A mixed rush on a stadium: people look at the event and its seats, hold, change their minds, leave, buy.
 *
 * What a person does is `rush` in `http/walks.ts`. There is no baseline: nothing plain does all of this.
 */
import { auditFolder } from '../http/audit.ts';
import type { CrowdJob, CrowdResult } from '../http/crowd.ts';
import { cpuOf, openGun, type Shot } from '../http/gun.ts';
import { startHoldfast, WEBHOOK_SECRET } from '../http/server.ts';
import { stadiumEvent } from '../events.ts';
import { mergeHistograms, percentileMillis } from '../histogram.ts';
import { figureOf, type Figure, type Findings, type Scenario } from '../scenario.ts';

const PEOPLE = 64;
/** Shorter than elsewhere: seats that are sold do not come back. */
const TURN_SECONDS_MAX = 1.5;

export const rush: Scenario = {
  name: 'rush',
  about: 'a mixed rush of 64 people on a stadium: event, seats, holds, changes, releases, purchases',
  async run({ rounds, seconds, warmUpSeconds, tell }) {
    const service = await startHoldfast([stadiumEvent]);
    const gun = openGun<CrowdJob, CrowdResult>(new URL('../http/crowd.ts', import.meta.url));
    const shots: Shot<CrowdResult>[] = [];
    let firstNumber = 1;
    let bought = 0;
    try {
      for (let round = 0; round <= rounds; round += 1) {
        tell(round === 0 ? 'warm-up' : `round ${round} of ${rounds}`);
        const turnSeconds = Math.min(round === 0 ? warmUpSeconds : seconds, TURN_SECONDS_MAX);
        const job = { url: service.url, walk: 'rush', people: PEOPLE, webhookSecret: WEBHOOK_SECRET } as const;
        const shot = await gun.shoot(service, { ...job, seconds: turnSeconds, firstNumber });
        if (shot.load.troubles.length > 0) throw new Error(shot.load.troubles.join('; '));
        firstNumber = shot.load.nextNumber;
        bought += shot.load.bought;
        if (round > 0) shots.push(shot);
      }
      await service.stop();
      const { figures, latencies = [] } = findingsOf(shots);
      return { figures: [...figures, ...(await auditFolder(service.folder, bought, bought))], latencies };
    } finally {
      gun.close();
      await service.stop();
      service.removeFolder();
    }
  },
};

function findingsOf(shots: readonly Shot<CrowdResult>[]): Findings {
  const of = (name: string, unit: string, value: (shot: Shot<CrowdResult>) => number, budget?: Figure['budget']) =>
    figureOf(name, unit, shots.map(value), budget);
  const names = [...new Set(shots.flatMap(({ load }) => load.latencies.map(({ name }) => name)))];
  const latencies = names.map((name) => {
    const all = shots.flatMap(({ load }) => load.latencies.filter((each) => each.name === name));
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
