/**
 * Three NATS servers and three nodes as processes of this machine, in a folder that is removed at the end.
 *
 * 1. The servers have the settings of `operations/nats.conf`, but for folder, addresses and users.
 * 2. Each process is in a group of its own: a Ctrl-C at the terminal reaches this process alone, which then ends nodes before servers.
 * 3. Nothing is started again unless somebody asks for it.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { samplesFolder } from '#catalogue/files.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { SECRETS } from './secrets.ts';

const SIZE = 3;
/** Fewer than a shop has: each is a stream on every server, and all of them share one disk here. */
const SHARDS = 16;
const HOST = '127.0.0.1';
const OTHER_PORT_MIN = 12_000;
const OTHER_PORT_MAX = 32_000;
const POLL_MS = 50;
/** A machine that is busy with other things creates the streams slowly. */
const READY_MS_MAX = 180_000;
/** Longer than a node takes to end. */
const END_MS_MAX = 15_000;
const VERSION_MIN = [2, 10, 23] as const;
const LOG_TAIL_CHARS = 2_000;

/** It cannot be started; the message says why. */
export class CannotStart extends Error {
  /** 2: a NATS server is missing or too old. */
  readonly exitCode: 1 | 2;
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.name = 'CannotStart';
    this.exitCode = exitCode;
  }
}

/** A server or a node. */
export interface LocalProcess {
  readonly name: string;
  readonly kind: 'server' | 'node';
  /** The address of clients: of NATS, or of buyers. */
  readonly url: string;
  /** The address of a node's operators, or of a server's monitoring. */
  readonly operatorsUrl: string;
  /** Null while it does not run. */
  readonly pid: number | null;
  /** Starts it and waits until it is ready. Throws CannotStart. */
  start(): Promise<void>;
}

export interface LocalCluster {
  readonly processes: readonly LocalProcess[];
  readonly adminToken: string;
  /** Calls the function whenever a process has ended before it was asked to. */
  onEnd(listener: (ended: LocalProcess, how: string) => void): void;
  /** Ends nodes, then servers, and removes the folder. */
  close(): Promise<void>;
}

/** The program of the NATS server: NATS_SERVER, or the one in PATH. Throws CannotStart where there is none, or an old one. */
export function findNatsServer(environment: Readonly<Record<string, string | undefined>>): string {
  const program = environment['NATS_SERVER'] || 'nats-server';
  const least = VERSION_MIN.join('.');
  let printed: string;
  try {
    printed = execFileSync(program, ['--version'], { encoding: 'utf8', env: { PATH: environment['PATH'] } });
  } catch {
    throw new CannotStart(
      `There is no ${program}: install NATS server ${least} or later (apt-get install nats-server from Debian 13 on, brew install nats-server, or https://nats.io/download), or set NATS_SERVER to its path.`,
      2,
    );
  }
  const version = /v(\d+)\.(\d+)\.(\d+)/.exec(printed)?.slice(1).map(Number) ?? [];
  const differs = VERSION_MIN.findIndex((part, n) => version[n] !== part);
  if (differs >= 0 && !(version[differs]! > VERSION_MIN[differs]!)) {
    throw new CannotStart(`${program} is ${printed.trim()}: a cluster needs ${least} or later.`, 2);
  }
  return program;
}

/**
 * Starts all of it and waits until every node is ready. Null when `stopped` resolved before. Throws CannotStart; nothing is left running
 * then.
 */
export async function startLocalCluster(
  program: string,
  path: string,
  stopped: Promise<void>,
): Promise<LocalCluster | null> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-cluster-'));
  const taken = new Set<number>();
  const port = (wanted: number): Promise<number> => takePort(wanted, taken);
  const adminToken = SECRETS.token.make();
  const listeners: ((ended: LocalProcess, how: string) => void)[] = [];
  const children: Child[] = [];
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => {});
  const add = (options: ChildOptions): Child => {
    const child = new Child({ ...options, folder }, (how) => {
      // The others would wait for it.
      lost.reject(new CannotStart(`${child.name} ended (${how}) while the others were starting:\n${child.tail()}`));
      listeners.forEach((listener) => listener(child, how));
    });
    children.push(child);
    return child;
  };
  const close = async (): Promise<void> => {
    for (const kind of ['node', 'server'] as const) {
      await Promise.all(children.filter((child) => child.kind === kind).map((child) => child.end()));
    }
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', () => children.forEach((child) => child.kill()));
  let isStarting = true;
  let isStopped = false;
  void stopped.then(() => {
    isStopped = true;
    if (isStarting) children.forEach((child) => void child.end());
  });
  try {
    const servers = (await serverOptions(folder, program, path, port)).map(add);
    await Promise.race([Promise.all(servers.map((server) => server.start())), lost.promise]);
    if (isStopped) return await close().then(() => null);
    const settings = {
      PATH: path,
      NATS_URL: servers.map(({ url }) => url).join(','),
      NATS_MONITOR_URL: servers.map(({ operatorsUrl }) => operatorsUrl).join(','),
      CATALOG: samplesFolder,
      CLUSTER_SHARDS: String(SHARDS),
      ADMIN_TOKEN: adminToken,
      TICKET_KEY: SECRETS.ticketKey.make(),
      WEBHOOK_SECRET_A: SECRETS.webhook.make(),
      WEBHOOK_SECRET_B: SECRETS.webhook.make(),
    };
    const nodes = (await nodeOptions(folder, settings, port)).map(add);
    await Promise.race([Promise.all(nodes.map((node) => node.start())), lost.promise]);
    if (isStopped) return await close().then(() => null);
  } catch (error) {
    await close();
    throw error;
  } finally {
    isStarting = false;
  }
  return { processes: children, adminToken, onEnd: (listener) => void listeners.push(listener), close };
}

// ── what is started ──────────────────────────────────────────────────────────────────────────────────────────────────

interface ChildOptions {
  readonly name: string;
  readonly kind: 'server' | 'node';
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly url: string;
  readonly operatorsUrl: string;
  /** Answers 200 once it is ready. */
  readonly readyUrl: string;
}

type PortTaker = (wanted: number) => Promise<number>;

async function serverOptions(folder: string, program: string, path: string, port: PortTaker): Promise<ChildOptions[]> {
  const secret = `n${randomBytes(16).toString('hex')}`;
  const addresses = [];
  for (let n = 0; n < SIZE; n += 1) {
    addresses.push({ client: await port(4_222 + n), monitor: await port(8_222 + n), route: await port(6_222 + n) });
  }
  const routes = JSON.stringify(addresses.map(({ route }) => `nats-route://routes:${secret}@${HOST}:${route}`));
  return addresses.map(({ client, monitor, route }, n) => {
    const name = `nats-${n + 1}`;
    const store = join(folder, name);
    const file = join(folder, `${name}.conf`);
    mkdirSync(store);
    const settings = replaced(readFileSync(new URL('./operations/nats.conf', import.meta.url), 'utf8'), [
      ['listen: 0.0.0.0:4222', `listen: ${HOST}:${client}`],
      ['http: 0.0.0.0:8222', `http: ${HOST}:${monitor}`],
      ['store_dir: /data', `store_dir: ${JSON.stringify(store)}`],
      ['max_file_store: 50GB', 'max_file_store: 2GB'],
      ['listen: 0.0.0.0:6222', `listen: ${HOST}:${route}`],
      [/^authorization .*$/m, ''],
    ]);
    writeFileSync(file, settings);
    const url = `nats://${HOST}:${client}`;
    const operatorsUrl = `http://${HOST}:${monitor}`;
    const environment = {
      PATH: path,
      SERVER_NAME: name,
      NATS_USER: 'routes',
      NATS_PASSWORD: secret,
      NATS_ROUTES: routes,
    };
    const readyUrl = `${operatorsUrl}/healthz`;
    return { name, kind: 'server', program, args: ['-c', file], environment, url, operatorsUrl, readyUrl };
  });
}

async function nodeOptions(
  folder: string,
  settings: Readonly<Record<string, string>>,
  port: PortTaker,
): Promise<ChildOptions[]> {
  const main = fileURLToPath(new URL('./main.ts', import.meta.url));
  const options: ChildOptions[] = [];
  for (let n = 0; n < SIZE; n += 1) {
    const name = `node-${n + 1}`;
    const [publicPort, adminPort] = [await port(8_080 + 2 * n), await port(8_081 + 2 * n)];
    const url = `http://${HOST}:${publicPort}`;
    const environment = {
      ...settings,
      NODE_NAME: name,
      DATA_DIR: join(folder, name),
      PORT: String(publicPort),
      ADMIN_PORT: String(adminPort),
    };
    options.push({
      ...{ name, kind: 'node', program: process.execPath, args: [main], environment, url },
      operatorsUrl: `http://${HOST}:${adminPort}`,
      readyUrl: `${url}/health/ready`,
    });
  }
  return options;
}

/** Throws where the text has not what is to be replaced. */
function replaced(text: string, replacements: readonly (readonly [from: string | RegExp, to: string])[]): string {
  return replacements.reduce((before, [from, to]) => {
    const after = before.replace(from, () => to);
    if (after === before) throw new Error(`operations/nats.conf has no ${from}`);
    return after;
  }, text);
}

/** The wanted port, or another one where that is taken: none that the system gives to an outgoing connection before it is used. */
async function takePort(wanted: number, taken: Set<number>): Promise<number> {
  let port = wanted;
  while (taken.has(port) || !(await isFree(port))) port = randomInt(OTHER_PORT_MIN, OTHER_PORT_MAX);
  taken.add(port);
  return port;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, HOST);
    await once(server, 'listening');
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}

// ── processes ────────────────────────────────────────────────────────────────────────────────────────────────────────

class Child implements LocalProcess {
  readonly name: string;
  readonly kind: 'server' | 'node';
  readonly url: string;
  readonly operatorsUrl: string;
  readonly #options: ChildOptions & { readonly folder: string };
  readonly #onEnd: (how: string) => void;
  #process: ChildProcess | null = null;
  #closed: Promise<unknown> = Promise.resolve();
  #isEnding = false;

  constructor(options: ChildOptions & { readonly folder: string }, onEnd: (how: string) => void) {
    ({ name: this.name, kind: this.kind, url: this.url, operatorsUrl: this.operatorsUrl } = options);
    this.#options = options;
    this.#onEnd = onEnd;
  }

  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  async start(): Promise<void> {
    const { program, args, environment, readyUrl } = this.#options;
    const log = openSync(this.#logFile, 'a');
    const started = spawn(program, args, { env: { ...environment }, stdio: ['ignore', log, log], detached: true });
    closeSync(log);
    this.#process = started;
    this.#closed = once(started, 'close').catch(() => {});
    let isReady = false;
    let end: string | null = null;
    started.once('close', (code, signal) => {
      end = signal ?? `exit code ${code}`;
      this.#process = null;
      if (isReady && !this.#isEnding) this.#onEnd(end);
    });
    const begun = stopwatchMs();
    while (!(await answersOk(readyUrl))) {
      if (this.#isEnding) return;
      if (end !== null) throw new CannotStart(`${this.name} ended (${end}):\n${this.tail()}`);
      if (stopwatchMs() - begun > READY_MS_MAX) throw new CannotStart(`${this.name} is not ready:\n${this.tail()}`);
      await pause(POLL_MS);
    }
    isReady = true;
  }

  /** Lets it end by itself, and kills it where that takes too long. */
  async end(): Promise<void> {
    this.#isEnding = true;
    // A stopped process gets no other signal than SIGKILL before it is resumed.
    this.#process?.kill('SIGCONT');
    this.#process?.kill('SIGTERM');
    const late = setTimeout(() => this.kill(), END_MS_MAX);
    await this.#closed;
    clearTimeout(late);
  }

  kill(): void {
    this.#process?.kill('SIGKILL');
  }

  get #logFile(): string {
    return join(this.#options.folder, `${this.name}.log`);
  }

  /** The end of its log. */
  tail(): string {
    return readFileSync(this.#logFile, 'utf8').slice(-LOG_TAIL_CHARS);
  }
}

async function answersOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}
