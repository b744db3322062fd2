/**
 * Servers under measurement, each a process of its own under plain Node with a meter loaded first.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { MeterReading, Weight } from './meter.ts';
import type { PlainRoute } from './plain.ts';

export interface MeasuredServer {
  readonly url: string;
  readonly adminUrl: string;
  /** Sets the meters to nought. */
  beginMeter(): Promise<void>;
  readMeter(): Promise<MeterReading>;
  /** Memory in use after the garbage is collected. */
  weigh(): Promise<Weight>;
  stop(): Promise<void>;
}

const ADMIN_TOKEN = 'bench-operators-only';
/** With which loads sign payments themselves. */
export const WEBHOOK_SECRET = `whsec_${Buffer.from('a secret that only benches know').toString('base64')}`;

const meter = new URL('./meter.ts', import.meta.url).href;
const root = fileURLToPath(new URL('../../', import.meta.url));

/** An empty data folder. */
export function makeFolder(): string {
  return mkdtempSync(path.join(tmpdir(), 'holdfast-bench-'));
}

/** The service with a new data folder, or one that was filled before, and these events on sale besides. */
export async function startHoldfast(
  events: readonly { readonly id: string }[],
  folder = makeFolder(),
): Promise<MeasuredServer & { readonly folder: string; removeFolder(): void }> {
  const environment = {
    DATA_DIR: folder,
    PORT: '0',
    ADMIN_PORT: '0',
    ADMIN_TOKEN,
    WEBHOOK_SECRET_A: WEBHOOK_SECRET,
    LOG_LEVEL: 'info',
  };
  const server = await startMeasured('src/main.ts', [], environment);
  for (const event of events) {
    const answer = await fetch(`${server.adminUrl}/admin/events/${event.id}`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(event),
    });
    if (answer.status !== 201) throw new Error(`${event.id}: ${await answer.text()}`);
  }
  return { ...server, folder, removeFolder: () => rmSync(folder, { recursive: true, force: true }) };
}

/** The plain route. */
export function startPlain(route: PlainRoute): Promise<MeasuredServer> {
  return startMeasured('bench/http/plain.ts', [JSON.stringify(route)], {});
}

/** A server of this house: a file that prints where it can be reached once it is ready. */
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
      await ask(child, 'begin');
    },
    readMeter: () => ask(child, 'read') as Promise<MeterReading>,
    weigh: () => ask(child, 'weigh') as Promise<Weight>,
    async stop() {
      child.kill('SIGTERM');
      await closed;
    },
  };
}

/** Where processor profiles go that `--profile` asks for; each server writes its own when it ends. */
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

async function ask(child: ChildProcess, question: 'begin' | 'read' | 'weigh'): Promise<unknown> {
  const answered = once(child, 'message');
  child.send(question);
  const [answer] = await answered;
  return answer;
}
