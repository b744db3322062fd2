/**
 * The stores of the baselines: Debian's Redis and PostgreSQL, each started on a free loopback port with data in a
 * temporary folder, and stopped and removed afterwards. Servers that run already are not touched.
 *
 * 1. Both answer only what is on disk: `appendfsync always`; `fsync` and `synchronous_commit` on.
 * 2. PostgreSQL refuses to run as root; then it runs as the user `postgres` of its package.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { accepts, freePort } from '#operations/free-ports.ts';
import { makeFolder } from '../http/server.ts';

export interface Store {
  readonly port: number;
  readonly version: string;
  /** Microseconds of processor time that all of its processes have used. */
  cpuMicros(): number;
  stop(): Promise<void>;
}

const POSTGRES_HOME = '/usr/lib/postgresql';
const START_MS_MAX = 20_000;
const LOOK_MS = 50;
/** Of `/proc/PID/stat`, which counts in hundredths of a second. */
const TICK_MICROS = 10_000;

/** Null when Redis is not installed. */
export async function startRedis(): Promise<Store | null> {
  const version = versionOf('redis-server', ['--version']);
  if (version === null) return null;
  const folder = makeFolder();
  const port = await freePort();
  const settings = { bind: '127.0.0.1', port, dir: folder, save: '', appendonly: 'yes', appendfsync: 'always' };
  const words = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return started(spawn('redis-server', words, { stdio: 'ignore' }), { folder, port, version, signal: 'SIGTERM' });
}

/** Null when PostgreSQL is not installed, or there is no user to run it as. */
export async function startPostgres(): Promise<Store | null> {
  const bin = newestPostgres();
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? userOf('postgres') : null;
  const version = bin === null ? null : versionOf(path.join(bin, 'postgres'), ['--version']);
  if (bin === null || version === null || (isRoot && user === null)) return null;
  const folder = makeFolder();
  chmodSync(folder, 0o755);
  if (user !== null) chownSync(folder, user.uid, user.gid);
  const data = path.join(folder, 'data');
  const environment = { cwd: folder, env: { PATH: process.env['PATH'] }, ...(user ?? {}) };
  const initialise = ['-D', data, '-U', 'bench', '--auth=trust', '--no-locale', '-E', 'UTF8', '--no-sync'];
  execFileSync(path.join(bin, 'initdb'), initialise, { ...environment, stdio: 'ignore' });
  const port = await freePort();
  const settings = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: '',
    fsync: 'on',
    synchronous_commit: 'on',
    shared_buffers: '256MB',
    max_wal_size: '4GB',
  };
  const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(path.join(bin, 'postgres'), ['-D', data, ...words], { ...environment, stdio: 'ignore' });
  return started(child, { folder, port, version, signal: 'SIGINT' });
}

interface Started {
  readonly folder: string;
  readonly port: number;
  readonly version: string;
  readonly signal: NodeJS.Signals;
}

async function started(child: ChildProcess, { folder, port, version, signal }: Started): Promise<Store> {
  const closed = once(child, 'close');
  const stop = async (): Promise<void> => {
    if (child.exitCode === null) child.kill(signal);
    await closed;
    rmSync(folder, { recursive: true, force: true });
  };
  const begin = performance.now();
  while (!(await accepts(port))) {
    await pause(LOOK_MS);
    if (child.exitCode === null && performance.now() - begin < START_MS_MAX) continue;
    await stop();
    throw new Error(`${version} does not start`);
  }
  return { port, version, stop, cpuMicros: () => cpuMicrosOf(child.pid!) };
}

/** Of a process and its children. */
export function cpuMicrosOf(pid: number): number {
  let ticks = 0;
  for (const entry of readdirSync('/proc')) {
    if (!/^\d+$/.test(entry)) continue;
    const fields = statOf(entry);
    if (fields === null || (Number(entry) !== pid && Number(fields[1]) !== pid)) continue;
    ticks += Number(fields[11]) + Number(fields[12]);
  }
  return ticks * TICK_MICROS;
}

/** The fields after the name of a process: state, parent and so on; null when it has ended. */
function statOf(pid: string): readonly string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

function versionOf(program: string, words: readonly string[]): string | null {
  try {
    const said = execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return `${/redis/i.test(said) ? 'Redis' : 'PostgreSQL'} ${/\d+(?:\.\d+)+/.exec(said)?.[0] ?? ''}`.trim();
  } catch {
    return null;
  }
}

function newestPostgres(): string | null {
  if (!existsSync(POSTGRES_HOME)) return null;
  const newest = readdirSync(POSTGRES_HOME)
    .filter((version) => existsSync(path.join(POSTGRES_HOME, version, 'bin', 'initdb')))
    .toSorted((a, b) => Number(b) - Number(a))[0];
  return newest === undefined ? null : path.join(POSTGRES_HOME, newest, 'bin');
}

function userOf(name: string): { readonly uid: number; readonly gid: number } | null {
  const [, , uid, gid] =
    (/^.*$/gm[Symbol.match](readFileSync('/etc/passwd', 'utf8')) ?? [])
      .map((line) => line.split(':'))
      .find(([login]) => login === name) ?? [];
  return uid === undefined || gid === undefined ? null : { uid: Number(uid), gid: Number(gid) };
}
