/** `npm run cluster` as people run it: three servers and three nodes, one of which is killed and started again. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { findNatsServer } from '#operations/nats-servers.ts';
import { holdfast } from '../cli/holdfast.ts';
import { bareEnvironment } from '../environment.ts';
import { newFolder } from '../fixtures/folders.ts';
import { nats } from '../fixtures/nats.ts';
import { until } from '../fixtures/until.ts';

/** Six processes start beside the other tests. */
const PRINT_MS_MAX = 180_000;

const root = fileURLToPath(new URL('../../', import.meta.url));

function start(t: TestContext, environment: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, ['src/operations/run-cluster.ts'], {
    cwd: root,
    env: { ...bareEnvironment, ...environment },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  let hasEnded = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code]) => {
    hasEnded = true;
    return { code: code as number | null, stdout, stderr };
  });
  // It ends all that it has started, whatever the test has found.
  t.after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  const prints = (pattern: RegExp): Promise<void> =>
    until(
      () => {
        assert.ok(!hasEnded || pattern.test(stdout), `it ended:\n${stdout}${stderr}`);
        return pattern.test(stdout);
      },
      () => `it prints ${pattern}:\n${stdout}${stderr}${logs(environment['TMPDIR'])}`,
      PRINT_MS_MAX,
    );
  return { child, ended, prints, printed: () => stdout };
}

/** The ends of the logs of its processes, which are there while it runs. */
function logs(folder: string | undefined): string {
  if (folder === undefined) return '';
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.log'));
  return files.map((file) => `\n${file}\n${readFileSync(path.join(folder, file), 'utf8').slice(-4_000)}`).join('');
}

/** A program that has nothing of a NATS server but its version. */
function writeProgram(file: string, version: string): void {
  writeFileSync(file, `#!/bin/sh\necho 'nats-server: v${version}'\n`, { mode: 0o755 });
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe('npm run cluster', () => {
  it('says in one line how to get a NATS server where there is none, and ends with exit code 2', async (t) => {
    const { code, stdout, stderr } = await start(t, { NATS_SERVER: path.join(newFolder(t), 'nats-server') }).ended;
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^There is no .*nats-server: install NATS server 2\.10\.23 or later .*NATS_SERVER.*\n$/);
  });

  it('takes a NATS server that is too old for none, and says which it found and which is needed', (t) => {
    const program = path.join(newFolder(t), 'nats-server');
    for (const version of ['2.10.22', '2.9.10', '1.99.99']) {
      writeProgram(program, version);
      const { problem } = findNatsServer({ NATS_SERVER: program });
      assert.match(problem!, /^.*nats-server is too old .*: install NATS server 2\.10\.23 or later .*NATS_SERVER/);
      assert.ok(problem!.startsWith(`${program} is too old (nats-server: v${version}): `), problem!);
    }
  });

  it('finds a NATS server in PATH, and calls it by its full path', (t) => {
    const folder = newFolder(t);
    writeProgram(path.join(folder, 'nats-server'), '2.10.23');
    const found = { program: path.join(folder, 'nats-server'), version: '2.10.23', problem: null };
    const PATH = ['/nowhere', path.relative('.', folder), process.env['PATH']].join(path.delimiter);
    for (const environment of [{ PATH }, { PATH, NATS_SERVER: '' }, { PATH, NATS_SERVER: 'nats-server' }]) {
      assert.deepEqual(findNatsServer(environment), found);
    }
    assert.deepEqual(findNatsServer({ NATS_SERVER: path.relative('.', found.program) }), found);
    assert.match(findNatsServer({ PATH: '/nowhere' }).problem!, /^There is no nats-server: install/);
  });

  it('says which process ended while the others were starting, and leaves none', { skip: nats.missing }, async (t) => {
    const folder = newFolder(t);
    const temporary = path.join(folder, 'temporary');
    mkdirSync(temporary);
    // A server that was healthy, and ends as soon as the first node is started.
    const program = path.join(folder, 'nats-server');
    const lines = [
      'case "$*" in',
      '  *nats-2.conf)',
      '    (while kill -0 $$ && [ ! -e "${2%/*}/node-1.log" ]; do sleep 0.05; done; kill -KILL $$) 2>/dev/null &',
      'esac',
      'exec "$REAL" "$@"',
    ];
    writeFileSync(program, `#!/bin/sh\nREAL=${JSON.stringify(nats.program)}\n${lines.join('\n')}\n`, { mode: 0o755 });
    const { code, stderr } = await start(t, { NATS_SERVER: program, TMPDIR: temporary }).ended;
    assert.equal(code, 1);
    assert.match(stderr, /^nats-2 ended \(SIGKILL\) while the others were starting:/);
    assert.deepEqual(readdirSync(temporary), []);
  });

  it(
    'starts all of it, shows who owns what, reports what moves, and ends it all',
    { skip: nats.missing },
    async (t) => {
      const temporary = path.join(newFolder(t), 'temporary');
      mkdirSync(temporary);
      const { child, ended, prints, printed } = start(t, { NATS_SERVER: nats.program!, TMPDIR: temporary });
      await prints(/Ctrl-C ends everything/);
      const listed = [...printed().matchAll(/^ {2}((?:node|nats)-\d) +(\S+) {2}kill -9 (\d+)/gm)];
      assert.equal(listed.length, 6, printed());
      const nodes = listed
        .filter(([, name]) => name!.startsWith('node-'))
        .map(([, name, url]) => ({ name: name!, url: url! }));
      const owners = [...printed().matchAll(/^ {2}(node-\d) +(.+) \((evt_\w+), shard \d+\)$/gm)];
      assert.equal(owners.length, 7, printed());
      for (const { name, url } of nodes) {
        const answer = await fetch(`${url}/api/events/public/night-shift`);
        assert.deepEqual([answer.status, answer.headers.get('x-served-by')], [200, name]);
      }

      const [, user, password] = /NATS_USER=(\S+) NATS_PASSWORD=(\S+)/.exec(printed())!;
      const servers = listed.filter(([, name]) => name!.startsWith('nats-'));
      const checked = await holdfast(['cluster', 'check'], {
        NATS_URL: servers.map(([, , url]) => url).join(','),
        NATS_USER: user!,
        NATS_PASSWORD: password!,
        CLUSTER_SHARDS: '16',
      });
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);

      const [, owner, moved] = owners[0]!;
      const killed = listed.find(([, name]) => name === owner)!;
      process.kill(Number(killed[3]), 'SIGKILL');
      await prints(new RegExp(`${owner} has ended \\(SIGKILL\\)`));
      await prints(new RegExp(`${moved} moved from ${owner} to node-\\d, [\\d.]+ s after its end`));
      child.stdin.write(`${owner}\n`);
      await prints(new RegExp(`${owner} is ready as process \\d+`));

      child.kill('SIGINT');
      const { code } = await ended;
      assert.equal(code, 0, printed());
      const pids = [...printed().matchAll(/(?:kill -9|as process) (\d+)/g)].map(([, pid]) => Number(pid));
      assert.deepEqual(pids.filter(isRunning), []);
      assert.deepEqual(existsSync(temporary) ? readdirSync(temporary) : [], []);
    },
  );
});
