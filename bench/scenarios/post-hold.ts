/**
 * The first 100,000 holds of a fresh event, against the plain route and other stores.
 *
 * The ratio that decides has all that the service did for them in it, its snapshots too: their time is not in a round
 * when they are taken while another server is measured.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { startPostgresBaseline, startRedisBaseline } from '../baselines/baselines.ts';
import { auditFolder } from '../http/audit.ts';
import { compare, type ComparisonFindings } from '../http/comparison.ts';
import { cpuOf } from '../http/load-generator.ts';
import { startHoldfast, type MeasuredServer } from '../http/server.ts';
import { hotEvent } from '../events.ts';
import { figureOf, type Figure, type Scenario } from '../scenario.ts';

/** An event for the warm-up, so that the measured one is fresh. */
const warmUpEvent = { ...hotEvent, id: 'evt_warm_up', slug: 'warm-up' };

/** The holds of all counted rounds together: an event grows and is snapshotted meanwhile. */
const HOLDS = 100_000;

/** The service looks this often which events need a snapshot, and has time to take it. */
const SNAPSHOT_DUE_MS = 20_000;

export const postHold: Scenario = {
  name: 'post-hold',
  about:
    'the first 100,000 holds of a hot ticket type, durable, 64 connections, against a plain route, Redis and PostgreSQL',
  async run(settings) {
    const service = await startHoldfast([hotEvent, warmUpEvent]);
    const redis = await startRedisBaseline();
    const postgres = await startPostgresBaseline();
    const holds = settings.quick ? HOLDS / 20 : HOLDS;
    try {
      const { answered, ours, theirs, ...findings } = await compare(
        {
          service,
          traffic: { recipe: 'hot-hold' },
          warmUpTraffic: { recipe: 'hot-hold', eventId: warmUpEvent.id },
          answersOfRun: Math.ceil(holds / settings.rounds),
          connections: 64,
          status: 201,
          baselines: [
            { baseline: redis, ratio: { atLeast: 1.1 } },
            { baseline: postgres, ratio: { atLeast: 5 } },
          ],
        },
        settings,
      );
      if (!settings.quick) await pause(SNAPSHOT_DUE_MS);
      const whole = await wholeCost(service, { ours, theirs });
      await service.stop();
      return {
        ...findings,
        figures: [...whole, ...findings.figures, ...(await auditFolder(service.folder, answered))],
      };
    } finally {
      await Promise.all([service.stop(), redis.server?.stop(), postgres.server?.stop()]);
      service.removeFolder();
    }
  },
};

/**
 * All that the service did for the counted holds, ÷ the plain route: the snapshots as well, whether they were taken in
 * a round or while other servers were measured.
 */
async function wholeCost(
  service: MeasuredServer,
  { ours, theirs }: Pick<ComparisonFindings, 'ours' | 'theirs'>,
): Promise<readonly Figure[]> {
  const { totalCpuMicros } = await service.readMeter();
  const holds = ours.runs.reduce((sum, { load }) => sum + load.requests, 0);
  const micros = (totalCpuMicros - ours.warmUp.meter.totalCpuMicros) / holds;
  const ratios = theirs.runs.map((run) => micros / cpuOf(run));
  return [
    figureOf('processor time of a hold, snapshots included, service ÷ plain', '×', ratios, { atMost: 1.9 }),
    { name: 'processor time of a hold, snapshots included', unit: 'µs', value: micros },
  ];
}
