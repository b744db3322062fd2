/**
 * `npm run simulate`: runs sales by their seeds and stops at the first that fails, with the command that repeats it.
 *
 *   npm run simulate -- --seed 7            one seed
 *   npm run simulate -- --seeds 1..5000     a range
 *   npm run simulate -- --minutes 10        from a fresh seed on, until the time is up
 *
 *   npm run simulate -- --refunds --seeds 10000    refunds in place of sales, and their provider
 *   npm run simulate -- --doors --seeds 10000      evenings at the doors in place of sales
 *   npm run simulate -- --cluster --seeds 100000   clusters in place of sales, seeds from 1 on
 *
 * `--steps` and `--buyers` limit a sale, `--without crash,full` switches habits and faults off, `--keep-on` continues
 * after a failure, `--no-shrink` does not reduce a failing sale. A cluster has `--lasts` (milliseconds), `--clients`
 * and `--kind` in their place. Exit code 0 good, 1 something failed, 2 wrong use.
 */
import { commandOptions, wrongUse } from '../command-options.ts';
import { simulate, type Scenario } from './run.ts';
import { simulateRefunds } from './refunds/run.ts';
import { simulateDoors } from './doors/run.ts';
import { runCluster } from './cluster/command.ts';
import { KINDS, type Kind } from './cluster/run.ts';
import { commandOf, shrink } from './shrink.ts';

const USE =
  'npm run simulate -- [--seed N | --seeds [A..]B | --minutes M] [--steps N] [--buyers N] [--without crash,full] [--keep-on] [--no-shrink] [--refunds | --doors], with --cluster [--lasts MS] [--clients N] [--kind NAME] in place of steps and buyers';

const values = commandOptions(
  {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    steps: { type: 'string', default: '150' },
    buyers: { type: 'string', default: '8' },
    without: { type: 'string', default: '' },
    cluster: { type: 'boolean', default: false },
    refunds: { type: 'boolean', default: false },
    doors: { type: 'boolean', default: false },
    kind: { type: 'string' },
    lasts: { type: 'string', default: '6000' },
    clients: { type: 'string', default: '4' },
    'keep-on': { type: 'boolean', default: false },
    'no-shrink': { type: 'boolean', default: false },
  },
  USE,
);

/** The first seed, the last, and the time to stop at. */
function span(): { readonly first: number; readonly last: number; readonly endsAt: number } {
  const endless = { last: Number.MAX_SAFE_INTEGER, endsAt: Number.POSITIVE_INFINITY };
  const range = /^(?:(\d+)\.\.)?(\d+)$/.exec(values.seeds ?? '');
  if (range === null && values.seeds !== undefined) wrongUse('--seeds takes 5000 or 1..5000.', USE);
  if (range !== null) return { ...endless, first: Number(range[1] ?? 1), last: Number(range[2]) };
  if (values.seed !== undefined) return { ...endless, first: Number(values.seed), last: Number(values.seed) };
  const minutes = Number(values.minutes ?? 1);
  return { ...endless, first: Math.floor(Math.random() * 1e9), endsAt: Date.now() + minutes * 60_000 };
}

const { first, last, endsAt } = span();
const counts = [values.steps, values.buyers, values.lasts, values.clients].map(Number);
if (![first, last, ...counts].every(Number.isInteger)) {
  wrongUse('seeds, minutes, steps, buyers, lasts and clients are whole numbers.', USE);
}
const switchedOff = new Set(values.without.split(',').filter((name) => name !== ''));
if (values.cluster) {
  const [, , lastsMs, clientsMax] = counts as [number, number, number, number];
  const isReduced = !values['no-shrink'];
  if (values.kind !== undefined && !(KINDS as readonly string[]).includes(values.kind))
    wrongUse(`--kind is one of ${KINDS.join(', ')}.`, USE);
  const kind = (values.kind as Kind | undefined) ?? null;
  const options = { first, last, endsAt, kind, lastsMs, clientsMax, without: switchedOff, isReduced };
  const failures = await runCluster(options);
  process.exit(failures === 0 ? 0 : 1);
}

/** What is played in place of sales, with its option and what is counted of it. */
const OTHERS = { refunds: simulateRefunds, doors: simulateDoors };
const other = values.refunds ? 'refunds' : values.doors ? 'doors' : null;
const play = other === null ? simulate : OTHERS[other];

/** The pause between lines of progress in a log. */
const REPORT_EVERY_MS = 30_000;

const begin = Date.now();
let reportedAt = begin;
const sum = { seeds: 0, steps: 0, simulatedMs: 0, failures: 0 };
const seen = new Map<string, number>();

function progress(): string {
  const seconds = Math.max(0.001, (Date.now() - begin) / 1000);
  const ratio = Math.round(sum.simulatedMs / 1000 / seconds);
  const pace = Math.round(sum.steps / seconds);
  const counted = other === 'doors' ? 'scans' : 'refunds';
  const played = other === null ? 'sales' : `seeds, ${seen.get(counted) ?? 0} ${counted}`;
  return `${sum.seeds} ${played}, ${sum.steps} steps (${pace}/s), ${sum.failures} failed; ${ratio} s simulated in one`;
}

/** Updates a line on a terminal; writes a line to a log from time to time. */
function reportProgress(seed: number): void {
  if (process.stdout.isTTY && sum.seeds % 20 === 0) process.stdout.write(`\r${progress()}`);
  if (process.stdout.isTTY || Date.now() < reportedAt + REPORT_EVERY_MS) return;
  reportedAt = Date.now();
  console.log(`${progress()}; at seed ${seed}`);
}

async function report(scenario: Scenario, outcome: Awaited<ReturnType<typeof simulate>>): Promise<void> {
  const isKept = values['no-shrink'] || other !== null;
  const small = isKept ? { scenario, outcome } : await shrink(scenario, outcome);
  console.log(`\nseed ${scenario.seed} failed: ${outcome.failure?.message}`);
  console.log(`reduced to ${small.scenario.stepsMax} steps: ${small.outcome.failure?.stack ?? ''}`);
  const kind = other === null ? '' : ` --${other}`;
  console.log(`repeat it: ${commandOf(scenario)}${kind}\n    or reduced: ${commandOf(small.scenario)}${kind}`);
}

for (let seed = first; seed <= last && Date.now() < endsAt; seed += 1) {
  const scenario: Scenario = {
    seed,
    stepsMax: Number(values.steps),
    buyersMax: Number(values.buyers),
    without: switchedOff,
  };
  const outcome = await play(scenario);
  sum.seeds += 1;
  sum.steps += outcome.steps;
  sum.simulatedMs += outcome.simulatedMs;
  for (const [what, count] of outcome.seen) seen.set(what, (seen.get(what) ?? 0) + count);
  if (outcome.failure !== null) {
    sum.failures += 1;
    await report(scenario, outcome);
    if (!values['keep-on']) break;
  }
  reportProgress(seed);
}

console.log(`${process.stdout.isTTY ? '\r' : ''}${progress()}`);
if (sum.seeds > 1)
  console.log(
    [...seen]
      .sort(([, a], [, b]) => b - a)
      .map(([what, count]) => `${what} ${count}`)
      .join(', '),
  );
process.exitCode = sum.failures === 0 ? 0 : 1;
