/**
 * NATS servers on this machine: the program that is installed, and processes of it with the settings of `nats.conf`.
 *
 * 1. A program that is too old is no server: a node would refuse it.
 * 2. Servers have the settings of `nats.conf`, except for folder, space, addresses and users; and without TLS, because
 *    they listen on a loopback address alone.
 * 3. Servers of a group that do not all meet at their first start may stay a smaller group for good, in which no stream
 *    with a replica on each can be placed. So they begin anew.
 */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isTooOld, NATS_VERSION_MIN } from '#persistence/nats/connection.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { CannotStart, type LocalProcess, type ProcessOptions } from './local-process.ts';

type FoundProgram =
  | { readonly program: string; readonly version: string; readonly problem: null }
  | { readonly program: null; readonly problem: string };

export interface Login {
  readonly user: string;
  readonly password: string;
}

interface ServersOptions {
  readonly program: string;
  /** Has the settings, the store and the log of each server. */
  readonly folder: string;
  readonly names: readonly string[];
  /** Three for each server: for clients, for its monitoring, and for the other servers. */
  readonly ports: readonly number[];
  /** What clients must give; null where they need nothing. */
  readonly login: Login | null;
  readonly isOwnGroup: boolean;
}

const HOST = '127.0.0.1';
const MEET_MS_MAX = 15_000;
const MEET_POLL_MS = 100;
const STARTS_MAX = 4;
const HOW = `install NATS server ${NATS_VERSION_MIN} or later (apt-get install nats-server from Debian 13 on, brew install nats-server, or https://nats.io/download), or set NATS_SERVER to its path.`;

/**
 * The program that NATS_SERVER names, or the one in PATH, by its full path; where there is none, or an old one, how to
 * get it.
 */
export function findNatsServer(environment: Readonly<Record<string, string | undefined>>): FoundProgram {
  const wanted = environment['NATS_SERVER'] || 'nats-server';
  const program = fullPath(wanted, environment['PATH'] ?? '');
  let printed: string;
  try {
    printed = execFileSync(program ?? wanted, ['--version'], { encoding: 'utf8', env: { PATH: environment['PATH'] } });
  } catch {
    return { program: null, problem: `There is no ${program ?? wanted}: ${HOW}` };
  }
  const [, version] = /v(\d+\.\d+\.\d+)/.exec(printed) ?? [];
  if (program === null || version === undefined || isTooOld(version)) {
    return { program: null, problem: `${program} is too old (${printed.trim()}): ${HOW}` };
  }
  return { program, version, problem: null };
}

/** A process gets the full path, because its own environment may have another PATH. */
function fullPath(name: string, path: string): string | null {
  const candidates = /[\\/]/.test(name) ? [name] : path.split(delimiter).map((folder) => join(folder, name));
  return candidates.map((file) => resolve(file)).find(isProgram) ?? null;
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Servers that are ready once JetStream is on; those that replicate for each other meet later: `startGroup`. */
export function natsServers(options: ServersOptions): readonly ProcessOptions[] {
  const { program, folder, names, ports, login, isOwnGroup } = options;
  // Without it servers of others that take each other's ports by chance would become one group.
  const { user, password } = login ?? { user: 'routes', password: `n${randomBytes(16).toString('hex')}` };
  const addresses = names.map((name, n) => {
    const [client, monitor, route] = ports.slice(3 * n);
    return { name, client, monitor, route };
  });
  const routes = JSON.stringify(addresses.map(({ route }) => `nats-route://${user}:${password}@${HOST}:${route}`));
  return addresses.map(({ name, client, monitor, route }) => {
    const store = join(folder, name);
    const file = join(folder, `${name}.conf`);
    mkdirSync(store);
    const settings = replaced(readFileSync(new URL('./nats.conf', import.meta.url), 'utf8'), [
      ['listen: 0.0.0.0:4222', `listen: ${HOST}:${client}`],
      ['http: 0.0.0.0:8222', `http: ${HOST}:${monitor}`],
      ['store_dir: /data', `store_dir: ${JSON.stringify(store)}`],
      ['max_file_store: 50GB', 'max_file_store: 8GB'],
      ['listen: 0.0.0.0:6222', `listen: ${HOST}:${route}`],
      [/^tls \{[^]*?^\}\n/m, ''],
      [/^ {2}tls \{[^]*?^ {2}\}\n/m, ''],
      ...(names.length === 1 ? [[/^cluster \{[^]*?^\}\n/m, ''] as const] : []),
      ...(login === null ? [[/^authorization .*$/m, ''] as const] : []),
    ]);
    writeFileSync(file, settings);
    return {
      name,
      kind: 'server',
      program,
      args: ['-c', file],
      environment: { SERVER_NAME: name, NATS_USER: user, NATS_PASSWORD: password, NATS_ROUTES: routes },
      url: `nats://${HOST}:${client}`,
      operatorsUrl: `http://${HOST}:${monitor}`,
      readyUrl: `http://${HOST}:${monitor}/healthz?js-enabled-only=true`,
      logFile: join(folder, `${name}.log`),
      isOwnGroup,
    };
  });
}

/**
 * Starts new servers of `natsServers`, and waits until all know all and have elected a leader (rule 3), or until one of
 * them is asked to end. Throws CannotStart.
 */
export async function startGroup(servers: readonly LocalProcess[], folder: string): Promise<void> {
  for (let starts = 1; ; starts += 1) {
    await Promise.all(servers.map((server) => server.start()));
    const begun = stopwatchMs();
    while (stopwatchMs() - begun < MEET_MS_MAX) {
      if (servers.some(({ pid }) => pid === null)) return;
      if ((await Promise.all(servers.map((server) => isInGroupOf(server, servers.length)))).every(Boolean)) return;
      await pause(MEET_POLL_MS);
    }
    if (starts === STARTS_MAX) {
      const logs = servers.map((server) => `${server.name}:\n${server.tail()}`).join('\n');
      throw new CannotStart(`the NATS servers do not all know each other, or have no leader:\n${logs}`);
    }
    await Promise.all(servers.map((server) => server.kill()));
    for (const { name } of servers) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Whether JetStream works at a server. */
export async function isHealthy({ operatorsUrl }: Pick<LocalProcess, 'operatorsUrl'>): Promise<boolean> {
  try {
    return (await fetch(`${operatorsUrl}/healthz`)).ok;
  } catch {
    return false;
  }
}

/** Whether JetStream works at a server in a group of so many; a server that came late may be left out of it. */
async function isInGroupOf(server: LocalProcess, count: number): Promise<boolean> {
  if (!(await isHealthy(server))) return false;
  if (count === 1) return true;
  try {
    const answer = await fetch(`${server.operatorsUrl}/jsz`);
    const { meta_cluster: { leader = '', cluster_size: size } = {} } = (await answer.json()) as GroupReport;
    return leader !== '' && size === count;
  } catch {
    return false;
  }
}

interface GroupReport {
  readonly meta_cluster?: { readonly leader?: string; readonly cluster_size?: number };
}

/** Throws where the text lacks what is to be replaced. */
function replaced(text: string, replacements: readonly (readonly [from: string | RegExp, to: string])[]): string {
  return replacements.reduce((before, [from, to]) => {
    const after = before.replace(from, () => to);
    if (after === before) throw new Error(`operations/nats.conf has no ${from}`);
    return after;
  }, text);
}
