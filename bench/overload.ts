/**
 * Measures the service under ten times the load that it can carry: the share of the peak that is still sold, the
 * latency of shed requests, and the memory of the process. Run by hand:
 *
 *     node bench/overload.ts [SECONDS] [TIMES]
 *
 * The peak is that of a closed loop with 64 connections. Then requests are sent at TIMES the rate of the peak, whether
 * earlier ones are answered or not, over several numbers of connections. A latency counts from the moment at which the
 * request should have been sent. The generator is this file in a process of its own, without an HTTP library, because
 * it must be many times faster than the server.
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
  /** Null: a closed loop, in which each connection sends its next request when it has the answer before. */
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
  /** Shed requests whose answer has no Retry-After. */
  readonly withoutRetryAfter: number;
  /** Connections that the server closed or refused. */
  readonly cutOff: number;
  /** Requests without an answer at the end. */
  readonly unanswered: number;
  readonly nextNumber: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
const LENGTH = Buffer.from('content-length: ');
const RETRY_AFTER = Buffer.from('retry-after: ');
const TICK_MS = 2;
/** Time to open thousands of connections, which is not measured. */
const CONNECT_MS = 4_000;
/** Wait for the last answers. */
const GRACE_MS = 3_000;

// ── the generator ────────────────────────────────────────────────────────────────────────────────────────────────────

function requestOf(port: number, number: number): string {
  const body = `{"event_id":"evt_hot","session_key":"session-${number}","items":[{"ticket_type_id":"single","selling_stage_id":"general","quantity":1}]}`;
  return `POST /api/checkout/holds HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
}

/** A connection with at most one open request. */
interface Connection {
  readonly socket: Socket;
  /** When its request should have been sent; 0 while it is idle. */
  dueAt: number;
  received: Buffer | null;
}

class Generator {
  readonly #job: Job;
  readonly #histograms = new Map<number, ReturnType<typeof newHistogram>>();
  readonly #idle: Connection[] = [];
  /** Times at which requests should have been sent for which no connection was free. */
  readonly #late: number[] = [];
  #lateRead = 0;
  #sent = 0;
  #connections = 0;
  #withoutRetryAfter = 0;
  #cutOff = 0;
  #number: number;
  #isOver = false;

  constructor(job: Job) {
    this.#job = job;
    this.#number = job.firstNumber;
  }

  async run(): Promise<Outcome> {
    const { seconds, perSecond, connectionsMax } = this.#job;
    for (let i = 0; i < connectionsMax; i += 1) this.#open(performance.now());
    await pause(CONNECT_MS);
    this.#histograms.clear();
    [this.#sent, this.#withoutRetryAfter, this.#cutOff] = [0, 0, 0];
    const begin = performance.now();
    if (perSecond === null) await pause(seconds * 1_000);
    else await this.#sendAtRate(perSecond, begin, seconds);
    this.#isOver = true;
    return this.#outcome((performance.now() - begin) / 1_000);
  }

  #open(dueAt: number): void {
    this.#connections += 1;
    const socket = connect({ port: this.#job.port, host: '127.0.0.1', noDelay: true });
    const connection: Connection = { socket, dueAt, received: null };
    socket.on('data', (chunk) => this.#receive(connection, chunk));
    socket.on('error', () => {});
    socket.on('close', () => {
      if (this.#isOver) return;
      this.#connections -= 1;
      this.#cutOff += 1;
    });
    socket.once('connect', () => this.#send(connection, dueAt));
  }

  #send(connection: Connection, dueAt: number): void {
    connection.dueAt = dueAt;
    this.#sent += 1;
    connection.socket.write(requestOf(this.#job.port, this.#number++));
  }

  #receive(connection: Connection, chunk: Buffer): void {
    const bytes = connection.received === null ? chunk : Buffer.concat([connection.received, chunk]);
    const headEnd = bytes.indexOf(HEAD_END);
    const lengthAt = headEnd < 0 ? -1 : bytes.indexOf(LENGTH) + LENGTH.length;
    const end =
      headEnd < 0 ? Infinity : headEnd + 4 + Number.parseInt(bytes.toString('latin1', lengthAt, lengthAt + 8), 10);
    if (bytes.length < end) {
      connection.received = bytes;
      return;
    }
    connection.received = null;
    const status = Number(bytes.toString('latin1', 9, 12));
    let histogram = this.#histograms.get(status);
    if (histogram === undefined) this.#histograms.set(status, (histogram = newHistogram()));
    recordMillis(histogram, performance.now() - connection.dueAt);
    if (status === 503 && bytes.indexOf(RETRY_AFTER) < 0) this.#withoutRetryAfter += 1;
    connection.dueAt = 0;
    this.#next(connection);
  }

  #next(connection: Connection): void {
    if (this.#isOver) return;
    if (this.#job.perSecond === null) this.#send(connection, performance.now());
    else if (this.#lateRead < this.#late.length) this.#send(connection, this.#late[this.#lateRead++]!);
    else this.#idle.push(connection);
  }

  async #sendAtRate(perSecond: number, begin: number, seconds: number): Promise<void> {
    let due = 0;
    while (performance.now() - begin < seconds * 1_000) {
      const dueNow = Math.floor(((performance.now() - begin) / 1_000) * perSecond);
      for (; due < dueNow; due += 1) {
        const at = begin + (due / perSecond) * 1_000;
        const connection = this.#idle.pop();
        if (connection !== undefined) this.#send(connection, at);
        else this.#late.push(at);
      }
      await pause(TICK_MS);
    }
  }

  #outcome(elapsedSeconds: number): Outcome {
    const byStatus = Object.fromEntries(
      Array.from(this.#histograms, ([status, histogram]) => {
        const packed = packHistogram(histogram);
        const ms = (percentile: number): number => percentileMillis(packed, percentile);
        return [status, { count: histogram.totalCount, p50Ms: ms(50), p99Ms: ms(99), maxMs: ms(100) }];
      }),
    );
    const answered = Object.values(byStatus).reduce((sum, { count }) => sum + count, 0);
    return {
      elapsedSeconds,
      sent: this.#sent,
      connections: this.#connections,
      byStatus,
      withoutRetryAfter: this.#withoutRetryAfter,
      cutOff: this.#cutOff,
      unanswered: Math.max(0, this.#sent - answered) + this.#late.length - this.#lateRead,
      nextNumber: this.#number,
    };
  }
}

/** Answers after the end are on disk too, so the audit counts them and the figures do not. */
async function generate(job: Job): Promise<void> {
  process.send!(await new Generator(job).run());
  await pause(GRACE_MS);
  process.exit(0);
}

// ── the measurement ──────────────────────────────────────────────────────────────────────────────────────────────────

async function run(job: Job): Promise<Outcome> {
  const child = fork(fileURLToPath(import.meta.url), ['--generate'], { execArgv: [] });
  const closed = once(child, 'close');
  const message = once(child, 'message');
  child.send(job);
  const [outcome] = (await message) as [Outcome];
  await closed;
  return outcome;
}

function residentMegabytes(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Math.round(Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)![1]) / 1_024);
}

function perSecondOf({ byStatus, elapsedSeconds }: Outcome, status: number): number {
  return (byStatus[status]?.count ?? 0) / elapsedSeconds;
}

function report(what: string, outcome: Outcome, peak: number, cpuShare: number): void {
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
  const runLoad = async (job: Pick<Job, 'perSecond' | 'connectionsMax'>, forSeconds = seconds) => {
    await service.beginMeter();
    const outcome = await run({ port, seconds: forSeconds, firstNumber, ...job });
    const { cpuMicros } = await service.readMeter();
    firstNumber = outcome.nextNumber;
    answered += outcome.byStatus[201]?.count ?? 0;
    return { outcome, cpuShare: cpuMicros / 1e6 / outcome.elapsedSeconds };
  };
  try {
    await runLoad({ perSecond: null, connectionsMax: 64 }, 2);
    const calm = await runLoad({ perSecond: null, connectionsMax: 64 });
    const peak = perSecondOf(calm.outcome, 201);
    report('closed loop, the peak', calm.outcome, peak, calm.cpuShare);
    for (const connectionsMax of [640, 5_000]) {
      const { outcome, cpuShare } = await runLoad({ perSecond: null, connectionsMax });
      report('closed loop', outcome, peak, cpuShare);
    }
    for (const connectionsMax of [1_000, 10_000]) {
      const { outcome, cpuShare } = await runLoad({ perSecond: peak * times, connectionsMax });
      report(`open loop at ${times} times the peak`, outcome, peak, cpuShare);
    }
    const again = await runLoad({ perSecond: null, connectionsMax: 64 });
    report('closed loop, afterwards', again.outcome, peak, again.cpuShare);
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
