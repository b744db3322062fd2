/**
 * `npm run soak`: a service under buyers, attackers, snapshots, prunes, stops, kills and leaps of its clock, for as
 * long as asked.
 *
 *   npm run soak -- --minutes 30 [--buyers 12] [--attackers 6] [--events-max 3] [--json]
 *
 *   npm run soak -- --cluster [--minutes M] [--buyers 32] [--json]
 *
 * At the end every order that a buyer was told is confirmed is confirmed, the tickets sold are those of the orders, the
 * folder verifies, and memory has not grown much since a sixth of the time. With --cluster, three nodes and three NATS
 * servers fail in turn and are started again (`test/cluster/drill`). Exit code 0 good, 1 something was wrong, 2 wrong
 * use.
 */
import { commandOptions, wrongUse } from '../command-options.ts';
import { runSoak, type SoakOutcome, type SoakSettings } from './run.ts';

const USE =
  'npm run soak -- [--minutes M] [--buyers N] [--attackers N] [--events-max N] [--json], or with --cluster [--minutes M] [--buyers N] [--json]';

const values = commandOptions(
  {
    cluster: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '30' },
    buyers: { type: 'string' },
    attackers: { type: 'string', default: '6' },
    'events-max': { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
  USE,
);

const CLUSTER_BUYERS = 32;
const settings: SoakSettings = {
  seconds: Number(values.minutes) * 60,
  buyers: Number(values.buyers ?? (values.cluster ? CLUSTER_BUYERS : 12)),
  attackers: Number(values.attackers),
  liveEventsMax: Number(values['events-max']),
  roundsMin: 6,
  onProgress: (line) => {
    if (!values.json) console.log(line);
  },
};
if (![settings.seconds, settings.buyers, settings.attackers, settings.liveEventsMax].every((number) => number > 0)) {
  wrongUse('minutes, buyers, attackers and events-max are numbers above 0.', USE);
}
process.exitCode = (await (values.cluster ? drill() : soak())) ? 0 : 1;

async function soak(): Promise<boolean> {
  const outcome = await runSoak(settings);
  console.log(values.json ? JSON.stringify(outcome) : summaryOf(outcome));
  return outcome.wrong.length === 0;
}

async function drill(): Promise<boolean> {
  const { nats } = await import('../fixtures/nats.ts');
  if (nats.program === null) {
    console.error(nats.missing);
    process.exit(2);
  }
  const { everyFault, runDrill } = await import('../cluster/drill/run.ts');
  const { gapRows, missedPromises, reportDrill } = await import('../cluster/drill/report.ts');
  const { seconds, buyers, onProgress } = settings;
  const outcome = await runDrill({
    faults: everyFault(seconds),
    buyers,
    shards: 12,
    events: 12,
    restMsMax: 100,
    seed: seconds,
    onProgress,
  });
  const missed = missedPromises(outcome.steps);
  const kept = missed.length === 0 ? 'every promised time was kept' : `MISSED:\n${missed.join('\n')}`;
  console.log(
    values.json
      ? JSON.stringify({ ...outcome, gaps: gapRows(outcome.steps), missed })
      : `${reportDrill(outcome)}\n${kept}`,
  );
  return outcome.wrong.length === 0 && missed.length === 0;
}

function summaryOf({
  requests,
  statuses,
  holds,
  confirmed,
  restarts,
  kills,
  leaps,
  prunes,
  memory,
  wrong,
}: SoakOutcome): string {
  const counts = Object.entries(statuses).map(([status, count]) => `${status} × ${count}`);
  return [
    `${requests} requests (${counts.join(', ')})`,
    `${holds} holds, ${confirmed} orders confirmed; ${restarts} stops and starts, ${kills} kills, ${leaps} leaps of the clock, ${prunes} prunes`,
    `memory after collections, MiB: ${memory.map((bytes) => Math.round(bytes / 2 ** 20)).join(', ')}`,
    wrong.length === 0 ? 'nothing was wrong' : `WRONG:\n${wrong.join('\n')}`,
  ].join('\n');
}
