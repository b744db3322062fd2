/**
 * The black box: a whole service for tests that speak HTTP alone.
 *
 * `openHouse` starts it in this process, under a clock that the test moves; `spawnHouse` starts the real process with
 * plain Node, to be signalled and killed. Both listen on free ports of 127.0.0.1 and keep a folder of their own under the
 * system's temporary folder, which goes away with `close`. Nothing here knows the inside of the service.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { readConfig, type Limits } from '#src/config.ts';
import { startService, type Service, type ServiceOptions } from '#src/service.ts';
import { bareEnvironment } from '../environment.ts';

/** A Saturday noon, before every sample event. */
export const START = Date.UTC(2027, 4, 8, 12);
export const SECOND = 1_000;
export const MINUTE = 60_000;

export const ADMIN_TOKEN = 'operators-only-token';

const root = fileURLToPath(new URL('../../', import.meta.url));
const STOP_MS_MAX = 60_000;

export type Json = Record<string, unknown>;

export interface Answer<Body = Json> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly sessionKey?: string;
}

/** What a test can ask of a service, wherever it runs. */
export interface Window {
  readonly publicUrl: string;
  readonly adminUrl: string;
  /** Calls the public listener; a body that is not JSON comes as its text. */
  call<Body = Json>(method: string, path: string, options?: CallOptions): Promise<Answer<Body>>;
  /** Calls the operators' listener with the bearer token. */
  operate<Body = Json>(method: string, path: string, options?: CallOptions): Promise<Answer<Body>>;
  /** Defines an event from its file form; throws when it is refused. */
  define(definition: Json): Promise<void>;
}

function windowOf(publicUrl: string, adminUrl: string, adminToken: string): Window {
  const authorization = { authorization: `Bearer ${adminToken}` };
  const operate = <Body>(method: string, address: string, options: CallOptions = {}): Promise<Answer<Body>> =>
    request<Body>(adminUrl + address, method, { ...options, headers: { ...authorization, ...options.headers } });
  return {
    publicUrl,
    adminUrl,
    operate,
    call: (method, address, options = {}) => request(publicUrl + address, method, options),
    async define(definition) {
      const answer = await operate('PUT', `/admin/events/${String(definition['id'])}`, { body: definition });
      if (answer.status >= 300) throw new Error(`not defined: ${JSON.stringify(answer.body)}`);
    },
  };
}

async function request<Body>(url: string, method: string, options: CallOptions): Promise<Answer<Body>> {
  const { body, sessionKey } = options;
  const headers = {
    ...(body !== undefined && { 'content-type': 'application/json' }),
    ...(sessionKey !== undefined && { 'x-session-key': sessionKey }),
    ...options.headers,
  };
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const response = await fetch(url, {
    method,
    headers,
    redirect: 'manual',
    ...(payload !== undefined && { body: payload }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') === true;
  return { status: response.status, headers: response.headers, body: (isJson ? JSON.parse(text) : text) as Body };
}

// ── in this process ──────────────────────────────────────────────────────────────────────────────────────────────────

export interface HouseOptions extends Pick<ServiceOptions, 'demo' | 'onFatal'> {
  readonly environment?: Readonly<Record<string, string>>;
  /** Sets the clock going from here; without it the machine's clock runs. Default: stands at START. */
  readonly clock?: number | 'running';
  /** Levers and tuning of the journal. */
  readonly journal?: NonNullable<ServiceOptions['engine']>['journal'];
  /** Bounds that are no settings, made small enough to be reached. */
  readonly limits?: Partial<Limits>;
}

export interface House extends Window {
  readonly folder: string;
  readonly service: Service;
  /** The moment that the service's clock shows. */
  now(): number;
  /** Lets time pass on the manual clock. */
  wait(ms: number): void;
  /** Sets the machine's clock ahead, or with less than 0 back, without any time passing. */
  leap(ms: number): void;
  /** Stops in order and starts again on the same folder. */
  restart(): Promise<void>;
  /** Stops, and removes the folder. */
  close(): Promise<void>;
}

/** Starts a whole service in this process, its clock standing still until the test moves it. */
export async function openHouse(houseOptions: HouseOptions = {}): Promise<House> {
  const { environment, clock = START, journal, limits, ...options } = houseOptions;
  const folder = newFolder();
  let nowMs = clock === 'running' ? 0 : clock;
  let leaptMs = 0;
  const clockSource = clock === 'running' ? undefined : { wallMs: () => nowMs + leaptMs, stopwatchMs: () => nowMs };
  const start = (): Promise<Service> => {
    const reading = readConfig({ ...environmentOf(folder), ...environment });
    if ('problems' in reading) throw new Error(reading.problems.join('\n'));
    const config = { ...reading.config, limits: { ...reading.config.limits, ...limits } };
    const engine = { ...(clockSource !== undefined && { clockSource }), ...(journal !== undefined && { journal }) };
    return startService(config, { ...options, log: pino({ level: 'silent' }), engine });
  };
  let service = await start();
  const house: House = {
    folder,
    ...windowOf(service.publicUrl, service.adminUrl, service.adminToken),
    get service() {
      return service;
    },
    now: () => service.engine.clock.now(),
    wait(ms) {
      nowMs += ms;
    },
    leap(ms) {
      leaptMs += ms;
    },
    async restart() {
      await service.stop();
      service = await start();
      Object.assign(house, windowOf(service.publicUrl, service.adminUrl, service.adminToken));
    },
    async close() {
      await service.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return house;
}

// ── as a process of its own ──────────────────────────────────────────────────────────────────────────────────────────

export interface SpawnOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** The folder of an earlier process; a new one by default. */
  readonly folder?: string;
  readonly demo?: boolean;
}

export interface SpawnedHouse extends Window {
  readonly folder: string;
  readonly pid: number;
  /** Everything printed so far. */
  printed(): string;
  /** The first line, printed already or to come, that the pattern matches. */
  shows(pattern: RegExp): Promise<string>;
  /** Sends a signal and resolves with the exit code, null when the signal killed it. */
  end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | null>;
  /** Ends it when it still runs, and removes the folder. */
  close(): Promise<void>;
}

/** Starts the real process with plain Node and waits until it logs that it is ready; rejects with what it printed otherwise. */
export async function spawnHouse(options: SpawnOptions = {}): Promise<SpawnedHouse> {
  const folder = options.folder ?? newFolder();
  const { child, lines, exited, shows } = startProcess(folder, options);
  const addresses = JSON.parse(await shows(/"msg":"ready"/)) as { readonly public: string; readonly admin: string };
  const end = (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    const killer = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX);
    return exited.finally(() => clearTimeout(killer));
  };
  return {
    ...windowOf(addresses.public, addresses.admin, ADMIN_TOKEN),
    folder,
    pid: child.pid!,
    printed: () => lines.join('\n'),
    shows,
    end,
    async close() {
      if (child.exitCode === null && child.signalCode === null) await end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs the real process to its end; for starts that must fail. */
export async function runToEnd(
  options: SpawnOptions = {},
): Promise<{ readonly code: number | null; readonly text: string }> {
  const folder = options.folder ?? newFolder();
  const { lines, exited } = startProcess(folder, options);
  const code = await exited;
  if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  return { code, text: lines.join('\n') };
}

function startProcess(folder: string, { environment = {}, demo = false }: SpawnOptions) {
  const child: ChildProcess = spawn(process.execPath, ['src/main.ts', ...(demo ? ['--demo'] : [])], {
    cwd: root,
    env: { ...bareEnvironment, ...environmentOf(folder), LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const news = new EventEmitter().setMaxListeners(0);
  for (const input of [child.stdout!, child.stderr!]) {
    createInterface({ input }).on('line', (line) => {
      lines.push(line);
      news.emit('line', line);
    });
  }
  const exited = once(child, 'close').then(([code]) => code as number | null);
  const shows = (pattern: RegExp): Promise<string> =>
    new Promise((resolve, reject) => {
      const told = lines.find((line) => pattern.test(line));
      if (told !== undefined) return resolve(told);
      news.on('line', (line: string) => pattern.test(line) && resolve(line));
      void exited.then((code) => reject(new Error(`it ended with exit code ${code}:\n${lines.join('\n')}`)));
    });
  return { child, lines, exited, shows };
}

// ── what both need ───────────────────────────────────────────────────────────────────────────────────────────────────

export function newFolder(): string {
  return mkdtempSync(path.join(tmpdir(), 'holdfast-test-'));
}

function environmentOf(folder: string): Record<string, string> {
  return { DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', ADMIN_TOKEN, LOG_LEVEL: 'silent' };
}

/** A sample event of the demo catalogue in its file form, a seating plan that it names put in line as a PUT needs it. */
export function sample(name: string, overrides: Json = {}): Json {
  const event = { ...readSample(`${name}.json`), ...overrides };
  const localities = (event['localities'] as Json[]).map((locality) =>
    typeof locality['seating_plan'] === 'string'
      ? { ...locality, seating_plan: readSample(locality['seating_plan']) }
      : locality,
  );
  return { ...event, localities };
}

function readSample(file: string): Json {
  return JSON.parse(readFileSync(path.join(root, 'src/catalogue/samples', file), 'utf8')) as Json;
}
