/** Runs `holdfast` as an operator does, with plain Node, and makes folders that are removed after the test. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../bench/free-port.ts';
import { bareEnvironment } from '../environment.ts';

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

function start(args: readonly string[], environment: Environment, umask: string | null = null): ChildProcess {
  const command = [process.execPath, 'src/cli/holdfast.ts', ...args];
  const [program = '', ...rest] =
    umask === null ? command : ['/bin/sh', '-c', 'umask "$0"; exec "$@"', umask, ...command];
  return spawn(program, rest, {
    cwd: root,
    env: { ...bareEnvironment, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs a command to its end. */
export async function holdfast(
  args: readonly string[],
  environment: Environment = {},
  umask: string | null = null,
): Promise<Ended> {
  const child = start(args, environment, umask);
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr, json: <Value>() => JSON.parse(stdout) as Value };
}

export interface Serving {
  readonly publicUrl: string;
  /** What other commands need to find this service. */
  readonly environment: Environment;
  /** Places a hold and answers its id. */
  hold(sessionKey: string, body: object): Promise<string>;
  /** Sends SIGTERM and resolves with the exit code. */
  stop(): Promise<number | null>;
  /** Kills it on the spot. */
  kill(): Promise<void>;
}

/** Starts `holdfast serve` on a folder and waits for its ready line. */
export async function serving(
  t: Pick<TestContext, 'after'>,
  folder: string,
  umask: string | null = null,
  settings: Environment = {},
): Promise<Serving> {
  const environment = { DATA_DIR: folder, PORT: '0', ADMIN_PORT: String(await freePort()), ...settings };
  const child = start(['serve'], environment, umask);
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
  return {
    publicUrl,
    environment,
    async hold(sessionKey, body) {
      const response = await fetch(`${publicUrl}/api/checkout/holds`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ session_key: sessionKey, ...body }),
      });
      if (response.status !== 201) throw new Error(await response.text());
      return ((await response.json()) as { id: string }).id;
    },
    async stop() {
      child.kill('SIGTERM');
      const [code] = (await once(child, 'close')) as [number | null];
      return code;
    },
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'close');
    },
  };
}
