/**
 * Runs `holdfast` as an operator does.
 *
 * 1. `holdfast` and `serving` run in this process, which costs a tenth of a start of Node. Tests of a process itself
 *    (its exit code, umask and pipes, and what a kill leaves) take `holdfastProcess` and `servingProcess`.
 * 2. A service in this process has locks on the files of its journal, and reading one through `fs` would drop them:
 *    tests that search the files of a folder in use need `servingProcess`.
 */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import type { Program } from '#cli/terminal/command.ts';
import { runHoldfast } from '#cli/run.ts';
import { freePort } from '#operations/free-ports.ts';
import { bareEnvironment } from '../environment.ts';
import { clientOf, type ServiceClient } from '../fixtures/client.ts';
import { builtProgram } from '../fixtures/program.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

export const samples = path.join(root, 'src/catalogue/samples');

export type Environment = Readonly<Record<string, string>>;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** What was printed with --json. */
  json<Value = Readonly<Record<string, unknown>>>(): Value;
}

function ended(code: number | null, stdout: string, stderr: string): Ended {
  return { code, stdout, stderr, json: <Value>() => JSON.parse(stdout) as Value };
}

/** What a command printed that must have done what it was asked for. */
export function succeeded(run: Ended): Ended {
  assert.equal(run.code, 0, run.stdout + run.stderr);
  return run;
}

// ── in this process ──────────────────────────────────────────────────────────────────────────────────────────────────

/** What a command gets in place of a process, with what it printed. */
export function programOf(environment: Environment = {}): Program & { readonly printed: () => [string, string] } {
  const texts: [string, string] = ['', ''];
  const gather = (index: 0 | 1): Writable =>
    new Writable({
      decodeStrings: false,
      write(text: string, _encoding, done) {
        texts[index] += text;
        done();
      },
    });
  return {
    environment,
    stdin: new PassThrough().end(),
    stdout: gather(0),
    stderr: gather(1),
    exit(code) {
      throw new Error(`it would end the process with exit code ${code}: ${texts.join('')}`);
    },
    printed: () => texts,
  };
}

/** Runs a command to its end. */
export async function holdfast(args: readonly string[], environment: Environment = {}): Promise<Ended> {
  if (args[0] === 'serve' && args[1] !== '--help')
    throw new Error('serve ends the process that it runs in: use holdfastProcess');
  const program = programOf(environment);
  const code = await runHoldfast(args, program);
  return ended(code, ...program.printed());
}

export interface Serving {
  readonly publicUrl: string;
  /** What other commands need to find this service. */
  readonly environment: Environment;
  /** Calls it as its buyers and its operators may. */
  readonly client: ServiceClient;
  /** Stops it gracefully; a process must end with exit code 0. */
  stop(): Promise<void>;
}

/** Starts a service on a folder. */
export async function serving(
  t: Pick<TestContext, 'after'>,
  folder: string,
  settings: Environment = {},
): Promise<Serving> {
  // Not every test that runs a command needs these modules.
  const [{ readConfig }, { startService }] = await Promise.all([
    import('#service/config.ts'),
    import('#service/service.ts'),
  ]);
  const environment = { DATA_DIR: folder, PORT: '0', ADMIN_PORT: '0', ...settings };
  const reading = readConfig(environment);
  if ('problems' in reading) throw new Error(reading.problems.join('\n'));
  const service = await startService(reading.config, { log: pino({ level: 'silent' }) });
  let stopping: Promise<void> | null = null;
  const stop = (): Promise<void> => (stopping ??= service.stop());
  t.after(stop);
  const { publicUrl, adminUrl, adminToken } = service;
  const client = clientOf([publicUrl], [adminUrl], adminToken);
  return { publicUrl, environment: { ...environment, ADMIN_PORT: new URL(adminUrl).port }, client, stop };
}

// ── as a process of its own, with plain Node ─────────────────────────────────────────────────────────────────────────

/** Starts the program, from its sources unless it is given another file of it. */
export function spawnHoldfast(
  args: readonly string[],
  environment: Environment = {},
  umask: string | null = null,
  program = 'src/cli/holdfast.ts',
): ChildProcess {
  const command = [process.execPath, program, ...args];
  const [first = '', ...rest] =
    umask === null ? command : ['/bin/sh', '-c', 'umask "$0"; exec "$@"', umask, ...command];
  return spawn(first, rest, {
    cwd: root,
    env: { ...bareEnvironment, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs the program with a command to its end. */
export async function holdfastProcess(
  args: readonly string[],
  environment: Environment = {},
  umask: string | null = null,
): Promise<Ended> {
  const child = spawnHoldfast(args, environment, umask, await builtProgram('holdfast'));
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return ended(code, stdout, stderr);
}

interface ServingProcess extends Serving {
  /** Kills it on the spot. */
  kill(): Promise<void>;
}

/** Starts `holdfast serve` on a folder and waits for its ready line. */
export async function servingProcess(
  t: Pick<TestContext, 'after'>,
  folder: string,
  umask: string | null = null,
): Promise<ServingProcess> {
  const environment = { DATA_DIR: folder, PORT: '0', ADMIN_PORT: String(await freePort()) };
  const child = spawnHoldfast(['serve'], environment, umask, await builtProgram('holdfast'));
  t.after(() => child.kill('SIGKILL'));
  const printed: string[] = [];
  const ready = new Promise<{ readonly public: string }>((resolve, reject) => {
    let rest = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) {
        printed.push(line);
        if (line.includes('"msg":"ready"')) resolve(JSON.parse(line) as { public: string });
      }
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => printed.push(text));
    child.once('close', () => reject(new Error(`it ended before it was ready:\n${printed.join('\n')}`)));
  });
  const { public: publicUrl } = await ready;
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`it ended with exit code ${code}:\n${printed.join('\n')}`);
  };
  const adminUrl = `http://127.0.0.1:${environment.ADMIN_PORT}`;
  const client = clientOf([publicUrl], [adminUrl], readFileSync(path.join(folder, 'admin-token'), 'utf8').trim());
  return {
    publicUrl,
    environment,
    client,
    stop,
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
