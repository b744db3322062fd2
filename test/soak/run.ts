/**
 * A soak from its first start to its audit: the service process, buyers, attackers, operators, and leaps of the clock.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '#operations/free-ports.ts';
import { holdfast } from '../cli/holdfast.ts';
import { bareEnvironment } from '../environment.ts';
import { builtProgram } from '../fixtures/program.ts';
import { chanceOf } from '../simulation/chance.ts';
import { attack } from './attackers.ts';
import { buy, newRecord, type SoakSale } from './buyers.ts';
import { newAnswerLog, noteWrong, send, type AnswerLog } from './connection.ts';
import { soakEvents } from './events.ts';
import type { SoakReport, SoakRequest } from './service-process.ts';

export interface SoakSettings {
  readonly seconds: number;
  readonly buyers: number;
  readonly attackers: number;
  readonly liveEventsMax: number;
  /** The least number of rounds of operations, however long they take; six rounds have one of each kind. */
  readonly roundsMin: number;
  onProgress(line: string): void;
}

export interface SoakOutcome {
  readonly requests: number;
  readonly statuses: Readonly<Record<string, number>>;
  readonly holds: number;
  readonly confirmed: number;
  readonly restarts: number;
  readonly kills: number;
  readonly leaps: number;
  readonly prunes: number;
  /** Bytes in use after garbage collection, six times over the soak. */
  readonly memory: readonly number[];
  /** Descriptions of everything that was wrong; empty when the soak went well. */
  readonly wrong: readonly string[];
}

const ADMIN_TOKEN = 'soak-admin-token-of-a-test';
const DAY_MS = 86_400_000;
/** A service that takes longer to start or to stop is killed, or it would keep the process alive. */
const START_MS_MAX = 200_000;
const STOP_MS_MAX = 200_000;
const CAPACITY = 1_000_000;
/** Memory may grow by compact orders and ended holds, but not by the requests of attackers. */
const GROWTH_MAX_RATIO = 1.5;

interface Running {
  readonly child: ChildProcess;
  memory(): Promise<number>;
  leap(byMs: number): void;
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<number | null>;
}

/** A soak in progress; its service is another process after each restart. */
interface Soak {
  readonly folder: string;
  readonly adminUrl: string;
  readonly answers: AnswerLog;
  readonly sale: SoakSale;
  readonly tally: { restarts: number; kills: number; leaps: number; prunes: number };
  /** Bytes in use, in the order of measuring. */
  readonly memory: number[];
  service: Running;
  start(): Promise<Running>;
}

const admin = { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } };

/** Runs a soak. Wrong behaviour of the service is in the outcome; the promise is not rejected for it. */
export async function runSoak(settings: SoakSettings): Promise<SoakOutcome> {
  const events = soakEvents(CAPACITY);
  const soak = await openSoak(settings, events);
  const { answers, sale, memory } = soak;
  try {
    for (const { event, definition } of events) {
      const url = `${soak.adminUrl}/admin/events/${event.id}`;
      const answer = await send(answers, url, { ...admin, method: 'PUT', body: definition });
      if (answer === null || answer.status >= 300) throw new Error(`no event: ${JSON.stringify(answer)}`);
    }
    const chance = chanceOf(settings.seconds);
    const clients = [
      ...Array.from({ length: settings.buyers }, () => buy(sale, chance.next)),
      ...Array.from({ length: settings.attackers }, () => attack(sale, chance.next)),
    ];
    await runRounds(soak, settings);
    sale.isClosing = true;
    await Promise.all(clients);
    await audit(soak);
  } finally {
    sale.isClosing = true;
    await soak.service.end('SIGKILL');
    rmSync(soak.folder, { recursive: true, force: true });
  }
  return {
    requests: answers.requests,
    statuses: Object.fromEntries([...answers.statuses].sort(([a], [b]) => a - b)),
    holds: sale.record.holds,
    confirmed: sale.record.confirmed.length,
    ...soak.tally,
    memory,
    wrong: answers.wrong,
  };
}

/** Starts the service on a new folder. */
async function openSoak(settings: SoakSettings, events: ReturnType<typeof soakEvents>): Promise<Soak> {
  const folder = mkdtempSync(path.join(tmpdir(), 'holdfast-soak-'));
  const [port, adminPort] = [await freePort(), await freePort()];
  const answers = newAnswerLog();
  const environment = {
    ...bareEnvironment,
    DATA_DIR: folder,
    PORT: String(port),
    ADMIN_PORT: String(adminPort),
    ADMIN_TOKEN,
    LIVE_EVENTS_MAX: String(settings.liveEventsMax),
    LOG_LEVEL: 'silent',
  };
  const start = () => startService(environment, (message) => noteWrong(answers, message));
  return {
    folder,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    answers,
    sale: {
      answers,
      record: newRecord(),
      events: events.map(({ event }) => event),
      publicUrl: `http://127.0.0.1:${port}`,
      isClosing: false,
    },
    tally: { restarts: 0, kills: 0, leaps: 0, prunes: 0 },
    memory: [],
    service: await start(),
    start,
  };
}

/** Rounds of operations until the time is over, with six measurements of the memory. */
async function runRounds(soak: Soak, { seconds, roundsMin, onProgress }: SoakSettings): Promise<void> {
  const endsAt = Date.now() + seconds * 1_000;
  const roundMs = Math.max(200, Math.min(20_000, (seconds * 1_000) / 12));
  let nextMemoryAt = Date.now() + (seconds * 1_000) / 6;
  for (let round = 0; round < roundsMin || Date.now() < endsAt; round += 1) {
    await pause(roundMs);
    await operate(soak, round);
    if (Date.now() < nextMemoryAt) continue;
    nextMemoryAt += (seconds * 1_000) / 6;
    soak.memory.push(await soak.service.memory());
    onProgress(progressOf(soak));
  }
}

/** One round: a snapshot with a prune, a leap of the clock, a restart, a kill, or nothing. */
async function operate(soak: Soak, round: number): Promise<void> {
  const { adminUrl, answers, sale, tally, service } = soak;
  await send(answers, `${adminUrl}/admin/events?limit=100`, admin);
  await send(answers, `${adminUrl}/admin/events`, { headers: { authorization: 'Bearer of-nothing-at-all' } });
  switch (round % 6) {
    case 0:
    case 3: {
      const answer = await send(answers, `${adminUrl}/admin/snapshot`, {
        ...admin,
        method: 'POST',
        body: { prune: true },
      });
      if (answer?.status === 200) tally.prunes += 1;
      return;
    }
    case 1:
      service.leap(tally.leaps % 2 === 0 ? DAY_MS : -DAY_MS);
      await send(answers, `${sale.publicUrl}/api/events/public`);
      await pause(200);
      service.leap(0);
      tally.leaps += 1;
      return;
    case 2:
      tally.restarts += 1;
      return restart(soak, 'SIGTERM');
    case 4:
      tally.kills += 1;
      return restart(soak, 'SIGKILL');
    default:
      return;
  }
}

async function restart(soak: Soak, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  const code = await soak.service.end(signal);
  if (signal === 'SIGTERM' && code !== 0) noteWrong(soak.answers, `SIGTERM ended it with exit code ${code}`);
  soak.service = await soak.start();
}

function progressOf({ answers, sale, memory }: Soak): string {
  const { requests, wrong } = answers;
  return `${requests} requests, ${sale.record.confirmed.length} orders confirmed, ${Math.round(memory.at(-1)! / 2 ** 20)} MiB in use, ${wrong.length} wrong`;
}

/** The checks at the end, when all clients have stopped. */
async function audit(soak: Soak): Promise<void> {
  const { answers, sale, memory, folder } = soak;
  soak.service.leap(0);
  await restart(soak, 'SIGTERM');
  for (const order of sale.record.confirmed) {
    const answer = await send(answers, `${sale.publicUrl}/api/checkout/status/${order.orderId}`);
    const tickets = answer?.body['tickets'] as readonly unknown[] | undefined;
    const isKept = answer?.body['status'] === 'CONFIRMED' && tickets?.length === order.ticketCount;
    if (!isKept) noteWrong(answers, `a confirmed order is ${JSON.stringify(answer?.body['status'])}`);
  }
  for (const { id } of sale.events) await auditEvent(soak, id);
  const early = memory[0];
  const late = memory.at(-1);
  if (early !== undefined && late !== undefined && late > early * GROWTH_MAX_RATIO) {
    noteWrong(answers, `memory grew from ${early} to ${late} bytes`);
  }
  await soak.service.end('SIGTERM');
  const { code, stdout, stderr } = await holdfast(['verify', '--data', folder]);
  if (code !== 0) noteWrong(answers, `verify: ${stdout}${stderr}`);
}

async function auditEvent({ answers, adminUrl }: Soak, eventId: string): Promise<void> {
  const shown = await send(answers, `${adminUrl}/admin/events/${eventId}`, admin);
  const stocks = (shown?.body['performances'] ?? []) as readonly Record<string, number>[];
  for (const { capacity, available, held, sold, blocked } of stocks) {
    const sum = available! + held! + sold! + blocked!;
    if (sum !== capacity) noteWrong(answers, `${eventId}: ${sum} tickets of ${capacity}`);
  }
  const sold = stocks.reduce((total, stock) => total + stock['sold']!, 0);
  let bought = 0;
  let cursor = '';
  do {
    const page = await send(answers, `${adminUrl}/admin/events/${eventId}/orders?limit=100${cursor}`, admin);
    const orders = (page?.body['orders'] ?? []) as readonly {
      readonly status: string;
      readonly tickets: unknown[];
    }[];
    for (const { status, tickets } of orders) {
      if (status === 'CONFIRMED' || status === 'PARTIALLY_PAID') bought += tickets.length;
    }
    const next = page?.body['next_cursor'];
    cursor = typeof next === 'string' ? `&cursor=${encodeURIComponent(next)}` : '';
  } while (cursor !== '');
  if (bought !== sold) noteWrong(answers, `${eventId}: ${sold} tickets are sold, its orders have ${bought}`);
}

async function startService(
  environment: Record<string, string>,
  onDefect: (message: string) => void,
): Promise<Running> {
  const child = fork(await builtProgram(new URL('./service-process.ts', import.meta.url)), [], {
    env: environment,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  let isEnding = false;
  void exited.then((code) => {
    if (!isEnding) onDefect(`the service ended by itself with exit code ${code}`);
  });
  const reports: ((report: SoakReport) => void)[] = [];
  child.on('message', (report: SoakReport) => {
    if (report.type === 'defect') onDefect(report.message);
    else reports.shift()?.(report);
  });
  const next = (): Promise<SoakReport> => new Promise((resolve) => reports.push(resolve));
  const post = (request: SoakRequest): void => void (child.connected && child.send(request, () => {}));
  const killAfter = (ms: number): NodeJS.Timeout => setTimeout(() => child.kill('SIGKILL'), ms);
  const killer = killAfter(START_MS_MAX);
  await Promise.race([next(), exited.then((code) => Promise.reject(new Error(`no start: exit code ${code}`)))]).finally(
    () => clearTimeout(killer),
  );
  return {
    child,
    leap: (byMs) => post({ type: 'leap', byMs }),
    async memory() {
      const answer = next();
      post({ type: 'memory' });
      const report = await Promise.race([answer, exited]);
      return typeof report === 'object' && report?.type === 'memory' ? report.usedBytes : 0;
    },
    end(signal) {
      isEnding = true;
      child.kill(signal);
      const killer = killAfter(STOP_MS_MAX);
      return exited.finally(() => clearTimeout(killer));
    },
  };
}
