/**
 * Tells whether other work disturbs a measurement: how much of all cores this machine gives to who asks for all of it,
 * and how fast they are then.
 *
 * A loop runs on every core at once, before the first scenario and after each. A scenario is disturbed where one of the
 * two readings beside it shows cores that are taken or slow. Its figures are printed, and its budgets are not checked.
 */
import { availableParallelism, loadavg } from 'node:os';
import { Worker } from 'node:worker_threads';
import { sumOf } from '#domain/money.ts';

/** What one moment's loop found. */
export interface Calibration {
  /** Processor time that the loops got ÷ what they asked for; 1 on an idle machine. */
  readonly share: number;
  /** Rounds of the loop in a millisecond of processor time, the mean of all cores. */
  readonly pace: number;
}

interface LoopRun {
  readonly rounds: number;
  readonly cpuMs: number;
  readonly elapsedMs: number;
}

const LOOP_MS = 200;
/** An idle machine gives more than this. */
const SHARE_MIN = 0.85;
/** Of the best pace of the run: clocks of processors vary by less. */
const PACE_MIN = 0.75;

const LOOP = `
  const { parentPort } = require('node:worker_threads');
  const begin = performance.now();
  const usage = process.threadCpuUsage();
  let rounds = 0;
  for (let x = 1; performance.now() - begin < ${LOOP_MS}; rounds += 1) {
    for (let i = 0; i < 20_000; i += 1) x = (Math.imul(x, 1_664_525) + 1_013_904_223) | 0;
  }
  const { user, system } = process.threadCpuUsage(usage);
  parentPort.postMessage({ rounds, cpuMs: (user + system) / 1_000, elapsedMs: performance.now() - begin });
`;

/** Takes a fifth of a second on all cores. */
export async function calibrate(): Promise<Calibration> {
  const runs = await Promise.all(Array.from({ length: availableParallelism() }, runLoop));
  const cpuMs = sumOf(runs, (run) => run.cpuMs);
  return { share: cpuMs / sumOf(runs, (run) => run.elapsedMs), pace: sumOf(runs, (run) => run.rounds) / cpuMs };
}

function runLoop(): Promise<LoopRun> {
  const { promise, resolve, reject } = Promise.withResolvers<LoopRun>();
  new Worker(LOOP, { eval: true, execArgv: [] }).once('message', resolve).once('error', reject);
  return promise;
}

/** Why what was measured between two readings is not checked; null where nothing disturbed it. */
export function disturbanceOf(beside: readonly [Calibration, Calibration], bestPace: number): string | null {
  const share = Math.min(...beside.map((each) => each.share));
  const pace = Math.min(...beside.map((each) => each.pace)) / bestPace;
  if (share < SHARE_MIN) return `other work left ${percent(share)} of the cores`;
  return pace < PACE_MIN ? `the cores ran at ${percent(pace)} of the pace that they had in this run` : null;
}

/** What is said before the first scenario on a busy machine; null on one that is idle. */
export function busyWarning({ share }: Calibration): string | null {
  if (share >= SHARE_MIN) return null;
  const load = `a load of ${loadavg()[0]!.toFixed(1)} on ${availableParallelism()} cores`;
  return `this machine is busy (${load}; other work leaves ${percent(share)} of them): budgets will not be checked\n`;
}

function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}
