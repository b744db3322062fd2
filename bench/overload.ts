/**
 * Ten times the load that the service can carry: how much of the peak is still sold, how quickly the rest is told to come
 * back, and what the process weighs meanwhile. Run by hand:
 *
 *     node bench/overload.ts [SECONDS] [TIMES]
 *
 * The peak is that of a closed loop over 64 connections. Then requests come at TIMES the rate of the peak, whether those
 * before have been answered or not, over a number of open connections. Latency counts from the moment
 * at which a request should have been sent. The generator is this same file in a process of its own, without an HTTP
 * library: it must be many times faster than the server that it drives.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';
import { hotEvent } from './events.ts';
import { newHistogram, packHistogram, percentileMillis, recordMillis } from './histogram.ts';
import { auditFolder } from './http/audit.ts';
import { startHoldfast } from './http/server.ts';

interface Job {
  readonly port: number;
  readonly seconds: number;
  /** Null: a closed loop, each connection asks again when it has its answer. */
  readonly perSecond: number | null;
  readonly connectionsMax: number;
  readonly firstNumber: number;
}

interface Kind {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

interface Outcome {
  readonly elapsedSeconds: number;
  readonly sent: number;
  readonly connections: number;
  /** Answers by status. */
  readonly byStatus: Readonly<Record<string, Kind>>;
  /** Refusals that do not say when to come back. */
  readonly withoutRetryAfter: number;
  /** Connections that the server closed or refused. */
  readonly cutOff: number;
  /** Asked for and not answered when the time was over. */
  readonly unanswered: number;
  readonly nextNumber: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('content-length: ');
const RETRY_AFTER = Buffer.from('retry-after: ');
const TICK_MS = 2;
/** Opening thousands of connections is work of its own; what happens meanwhile does not count. */
const LEAD_MS = 4_000;
/** How long the last answers are waited for. */
const GRACE_MS = 3_000;

// ── the generator ────────────────────────────────────────────────────────────────────────────────────────────────────

function requestOf(port: number, number: number): string {
  const body = `{"event_id":"evt_hot","session_key":"session-${number}","items":[{"ticket_type_id":"single","selling_stage_id":"general","quantity":1}]}`;
  return `POST /api/checkout/holds HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** One connection with at most one request under way. */
interface Line {
  readonly socket: Socket;
  /** When its request should have been sent; 0 while it is idle. */
  askedAt: number;
  received: Buffer | null;
}

/** Drives one server and tells what came of it. */
async function drive({ port, seconds, perSecond, connectionsMax, firstNumber }: Job): Promise<Outcome> {
  const kinds = new Map<number, ReturnType<typeof newHistogram>>();
  const idle: Line[] = [];
  /** Moments at which requests should have gone out for which there was no connection. */
  const late: number[] = [];
  let lateRead = 0;
  let [sent, connections, withoutRetryAfter, cutOff, number] = [0, 0, 0, 0, firstNumber];
  let isOver = false;

  const ask = (line: Line, askedAt: number): void => {
    line.askedAt = askedAt;
    sent += 1;
    line.socket.write(requestOf(port, number++));
  };
  const next = (line: Line): void => {
    if (isOver) return;
    if (perSecond === null) ask(line, performance.now());
    else if (lateRead < late.length) ask(line, late[lateRead++]!);
    else idle.push(line);
  };
  const hear = (line: Line, chunk: Buffer): void => {
    const bytes = line.received === null ? chunk : Buffer.concat([line.received, chunk]);
    const headEnd = bytes.indexOf(HEAD_END);
    const lengthAt = headEnd < 0 ? -1 : bytes.indexOf(LENGTH) + LENGTH.length;
    const end =
      headEnd < 0 ? Infinity : headEnd + 4 + Number.parseInt(bytes.toString('latin1', lengthAt, lengthAt + 8), 10);
    if (bytes.length < end) {
      line.received = bytes;
      return;
    }
    line.received = null;
    const status = Number(bytes.toString('latin1', 9, 12));
    let histogram = kinds.get(status);
    if (histogram === undefined) kinds.set(status, (histogram = newHistogram()));
    recordMillis(histogram, performance.now() - line.askedAt);
    if (status === 503 && bytes.indexOf(RETRY_AFTER) < 0) withoutRetryAfter += 1;
    line.askedAt = 0;
    next(line);
  };
  const open = (first: number): void => {
    connections += 1;
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const line: Line = { socket, askedAt: first, received: null };
    socket.on('data', (chunk) => hear(line, chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      if (isOver) return;
      connections -= 1;
      cutOff += 1;
    });
    socket.once('connect', () => ask(line, first));
  };

  for (let i = 0; i < connectionsMax; i += 1) open(performance.now());
  await pause(LEAD_MS);
  kinds.clear();
  const begin = performance.now();
  const sentBefore = sent;
  [withoutRetryAfter, cutOff] = [0, 0];
  if (perSecond === null) await pause(seconds * 1_000);
  else {
    let due = 0;
    while (performance.now() - begin < seconds * 1_000) {
      const dueNow = Math.floor(((performance.now() - begin) / 1_000) * perSecond);
      for (; due < dueNow; due += 1) {
        const at = begin + (due / perSecond) * 1_000;
        const line = idle.pop();
        if (line !== undefined) ask(line, at);
        else late.push(at);
      }
      await pause(TICK_MS);
    }
  }
  isOver = true;
  const elapsedSeconds = (performance.now() - begin) / 1_000;
  const byStatus = Object.fromEntries(
    Array.from(kinds, ([status, histogram]) => {
      const packed = packHistogram(histogram);
      const ms = (percentile: number): number => percentileMillis(packed, percentile);
      return [status, { count: histogram.totalCount, p50Ms: ms(50), p99Ms: ms(99), maxMs: ms(100) }];
    }),
  );
  const answered = [...kinds.values()].reduce((sum, { totalCount }) => sum + totalCount, 0);
  return {
    elapsedSeconds,
    sent: sent - sentBefore,
    connections,
    byStatus,
    withoutRetryAfter,
    cutOff,
    unanswered: Math.max(0, sent - sentBefore - answered) + late.length - lateRead,
    nextNumber: number,
  };
}

/** What was answered after the time was over is on disk too: the audit counts it, the figures do not. */
async function generate(job: Job): Promise<void> {
  process.send!(await drive(job));
  await pause(GRACE_MS);
  process.exit(0);
}

// ── the measurement ──────────────────────────────────────────────────────────────────────────────────────────────────

async function run(job: Job): Promise<Outcome> {
  const child = fork(fileURLToPath(import.meta.url), ['--generate'], { execArgv: [] });
  const closed = once(child, 'close');
  const told = once(child, 'message');
  child.send(job);
  const [outcome] = (await told) as [Outcome];
  await closed;
  return outcome;
}

function residentMegabytes(pid: number, line: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${line}:\\s+(\\d+) kB`).exec(status)![1]) / 1_024);
}

function perSecondOf({ byStatus, elapsedSeconds }: Outcome, status: number): number {
  return (byStatus[status]?.count ?? 0) / elapsedSeconds;
}

function tell(what: string, outcome: Outcome, peak: number, cpuShare: number): void {
  const kinds = Object.entries(outcome.byStatus).map(
    ([status, { count, p50Ms, p99Ms, maxMs }]) =>
      `    ${status}: ${Math.round(count / outcome.elapsedSeconds)} per s, p50 ${p50Ms.toFixed(0)} ms, p99 ${p99Ms.toFixed(0)} ms, longest ${maxMs.toFixed(0)} ms`,
  );
  const goodput = perSecondOf(outcome, 201);
  console.log(
    [
      `${what}: ${Math.round(outcome.sent / outcome.elapsedSeconds)} per s sent over ${outcome.connections} connections, ` +
        `${(cpuShare * 100).toFixed(0)} % of a core, goodput ${Math.round((goodput / peak) * 100)} % of the peak`,
      ...kinds,
      `    unanswered ${outcome.unanswered}, cut off ${outcome.cutOff}, refused without Retry-After ${outcome.withoutRetryAfter}`,
    ].join('\n'),
  );
}

async function measure(seconds: number, times: number): Promise<void> {
  const service = await startHoldfast([hotEvent]);
  const port = Number(new URL(service.url).port);
  const pid = Number(readFileSync(path.join(service.folder, 'holdfast.pid'), 'utf8'));
  let firstNumber = 1;
  let answered = 0;
  const shoot = async (job: Pick<Job, 'perSecond' | 'connectionsMax'>, forSeconds = seconds) => {
    await service.beginMeter();
    const outcome = await run({ port, seconds: forSeconds, firstNumber, ...job });
    const { cpuMicros } = await service.readMeter();
    firstNumber = outcome.nextNumber;
    answered += outcome.byStatus[201]?.count ?? 0;
    return { outcome, cpuShare: cpuMicros / 1e6 / outcome.elapsedSeconds };
  };
  try {
    await shoot({ perSecond: null, connectionsMax: 64 }, 2);
    const calm = await shoot({ perSecond: null, connectionsMax: 64 });
    const peak = perSecondOf(calm.outcome, 201);
    tell('closed loop, the peak', calm.outcome, peak, calm.cpuShare);
    for (const connectionsMax of [640, 5_000]) {
      const { outcome, cpuShare } = await shoot({ perSecond: null, connectionsMax });
      tell('closed loop', outcome, peak, cpuShare);
    }
    for (const connectionsMax of [1_000, 10_000]) {
      const { outcome, cpuShare } = await shoot({ perSecond: peak * times, connectionsMax });
      tell(`open loop at ${times} times the peak`, outcome, peak, cpuShare);
    }
    const again = await shoot({ perSecond: null, connectionsMax: 64 });
    tell('closed loop, afterwards', again.outcome, peak, again.cpuShare);
    console.log(
      `memory: ${residentMegabytes(pid, 'VmRSS')} MB resident, ${residentMegabytes(pid, 'VmHWM')} MB at most`,
    );
  } finally {
    await service.stop();
  }
  for (const { name, value } of await auditFolder(service.folder, answered)) console.log(`${name}: ${value}`);
  service.removeFolder();
}

if (process.argv[2] === '--generate') process.once('message', (job) => void generate(job as Job));
else {
  const [seconds = 6, times = 10] = process.argv.slice(2).map(Number);
  await measure(seconds, times);
}
