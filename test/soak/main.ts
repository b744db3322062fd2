/**
 * `npm run soak`: a service under buyers, attackers, snapshots, prunes, stops, kills and leaps of its clock, for as long as asked.
 *
 *   npm run soak -- --minutes 30 [--buyers 12] [--attackers 6] [--events-max 3] [--json]
 *
 * At the end every order that a buyer was told is confirmed is confirmed, the tickets sold are those of the orders, the folder
 * verifies, and memory has not grown much since a sixth of the time. Exit code 0 good, 1 something was wrong, 2 wrong use.
 */
import { parseArgs } from 'node:util';
import { runSoak, type SoakOutcome, type SoakSettings } from './run.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    buyers: { type: 'string', default: '12' },
    attackers: { type: 'string', default: '6' },
    'events-max': { type: 'string', default: '3' },
    json: { type: 'boolean', default: false },
  },
});

const settings: SoakSettings = {
  seconds: Number(values.minutes) * 60,
  buyers: Number(values.buyers),
  attackers: Number(values.attackers),
  liveEventsMax: Number(values['events-max']),
  roundsMin: 6,
  onProgress: (line) => {
    if (!values.json) console.log(line);
  },
};
if (![settings.seconds, settings.buyers, settings.attackers, settings.liveEventsMax].every((number) => number > 0)) {
  console.error('wrong use: --minutes M, --buyers N, --attackers N and --events-max N take numbers above 0');
  process.exit(2);
}

const outcome = await runSoak(settings);
console.log(values.json ? JSON.stringify(outcome) : summaryOf(outcome));
process.exitCode = outcome.wrong.length === 0 ? 0 : 1;

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
