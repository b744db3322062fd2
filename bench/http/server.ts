/** The measured servers, each a process of its own with the meter loaded first. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { MeterResult, Stops, Weight } from '#rehearsal/server/meter.ts';
import type { PlainRoute } from './plain.ts';

/**
 * A second after its start a service begins to compile what no request has needed yet, some 130 schemas in half a
 * second of its main thread; in production that is over long before a sale. What is measured before it is over counts
 * it to the first requests.
 */
const SETTLED_MS = 4_000;

export interface MeasuredServer {
  readonly url: string;
  readonly adminUrl: string;
  /** Resets the meters. */
  beginMeter(): Promise<void>;
  readMeter(): Promise<MeterResult>;
  /** What could keep answers waiting since the call before; it is noted from the first call on. */
  takeStops(): Promise<Stops>;
  /** Memory in use after the garbage is collected. */
  weigh(): Promise<Weight>;
  stop(): Promise<void>;
  /** Ends the process at once. */
  kill(): Promise<void>;
}

export const ADMIN_TOKEN = 'bench-operators-only';
/** Load generators sign payments with it. */
export const WEBHOOK_SECRET = `whsec_${Buffer.from('a secret that only benches know').toString('base64')}`;

const meter = import.meta.resolve('#rehearsal/server/meter.ts');
const root = fileURLToPath(new URL('../../', import.meta.url));

/** An empty data folder. */
export function makeFolder(): string {
  return mkdtempSync(path.join(tmpdir(), 'holdfast-bench-'));
}

/** Starts the service on a new or a prepared data folder, with `more` settings, and adds events. */
export async function startHoldfast(
  events: readonly { readonly id: string }[],
  folder = makeFolder(),
  file = 'src/main.ts',
  more: Readonly<Record<string, string>> = {},
): Promise<MeasuredServer & { readonly folder: string; removeFolder(): void }> {
  const environment = {
    DATA_DIR: folder,
    PORT: '0',
    ADMIN_PORT: '0',
    ADMIN_TOKEN,
    WEBHOOK_SECRET_A: WEBHOOK_SECRET,
    LOG_LEVEL: 'info',
    ...more,
  };
  const server = await startMeasured(file, [], environment);
  await defineEvents(server, events);
  await pause(SETTLED_MS);
  return { ...server, folder, removeFolder: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Adds events through the operators' listener. */
export async function defineEvents(
  { adminUrl }: Pick<MeasuredServer, 'adminUrl'>,
  events: readonly { readonly id: string }[],
): Promise<void> {
  for (const event of events) {
    const answer = await fetch(`${adminUrl}/admin/events/${event.id}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(event),
    });
    if (answer.status !== 201) throw new Error(`${event.id}: ${await answer.text()}`);
  }
}

export function startPlain(route: PlainRoute): Promise<MeasuredServer> {
  return startMeasured('bench/http/plain.ts', [JSON.stringify(route)], {});
}

/** Starts a file that prints a line with its addresses when it is ready. */
export async function startMeasured(
  file: string,
  args: readonly string[],
  environment: object,
): Promise<MeasuredServer> {
  const child = fork(file, args, {
    cwd: root,
    env: { PATH: process.env['PATH'], ...environment },
    execArgv: ['--import', meter, ...profiling()],
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const closed = once(child, 'close');
  const ready = await readyLine(child, closed);
  return {
    url: ready.public,
    adminUrl: ready.admin,
    async beginMeter() {
      await request(child, 'begin');
    },
    readMeter: () => request(child, 'read') as Promise<MeterResult>,
    takeStops: () => request(child, 'stops') as Promise<Stops>,
    weigh: () => request(child, 'weigh') as Promise<Weight>,
    async stop() {
      child.kill('SIGTERM');
      await closed;
    },
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

/** With `--profile` each server writes a processor profile when it ends. */
function profiling(): string[] {
  const folder = process.env['BENCH_PROFILE_DIR'];
  return folder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`];
}

function readyLine(child: ChildProcess, closed: Promise<unknown>): Promise<{ public: string; admin: string }> {
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (line.includes('"msg":"ready"')) resolve(JSON.parse(line) as { public: string; admin: string });
    });
    void closed.then(() => reject(new Error('the server ended before it was ready')));
  });
}

async function request(child: ChildProcess, message: 'begin' | 'read' | 'stops' | 'weigh'): Promise<unknown> {
  const answered = once(child, 'message');
  child.send(message);
  const [answer] = await answered;
  return answer;
}
