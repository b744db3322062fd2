/** The files that start a cluster: they name each other's services and the settings that exist, and a real NATS server takes its own. */
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { readConfig } from '#src/config.ts';
import { SETTINGS } from '#src/settings.ts';
import { freePorts } from '../../bench/free-port.ts';
import { holdfast } from '../cli/holdfast.ts';
import { newFolder } from '../fixtures/folders.ts';
import { nats } from '../fixtures/nats.ts';
import { until } from '../fixtures/until.ts';

const run = promisify(execFile);
const withoutOpenssl = existsSync('/usr/bin/openssl') ? false : 'there is no openssl here';

function textOf(name: string): string {
  return readFileSync(new URL(`../../src/operations/${name}`, import.meta.url), 'utf8');
}

const PASSWORD = 'n0123456789';

/** What compose.yaml gives each server, with the password of its .env file. */
function environmentOf(name: string): Record<string, string> {
  const [, routes] = /NATS_ROUTES: >-\n((?: {4}.*\n)+)/.exec(textOf('compose.yaml'))!;
  return {
    SERVER_NAME: name,
    NATS_USER: 'holdfast',
    NATS_PASSWORD: PASSWORD,
    NATS_ROUTES: routes!.replaceAll(/\s+/g, ' ').trim().replaceAll('${NATS_PASSWORD}', PASSWORD),
  };
}

interface RunningServer {
  readonly url: string;
  readonly monitorUrl: string;
}

/** Servers whose ports another test has taken meanwhile never get a leader: they are started again on others. */
const STARTS_MAX = 3;
const MEET_MS_MAX = 20_000;

/** The three servers of compose.yaml, once they have a leader. */
async function startThree(t: TestContext): Promise<readonly RunningServer[]> {
  for (let starts = 1; ; starts += 1) {
    const servers = await spawnThree(t);
    try {
      const ofAll = servers.map(({ monitorUrl }) =>
        until(() => isThere(`${monitorUrl}/healthz`), 'the servers have a leader', MEET_MS_MAX),
      );
      await Promise.all(ofAll);
      return servers;
    } catch (error) {
      if (starts === STARTS_MAX) throw error;
    }
  }
}

/** Each has a folder, and addresses of this machine in place of Docker's. */
async function spawnThree(t: TestContext): Promise<readonly RunningServer[]> {
  const ports = await freePorts(9);
  const names = ['nats-1', 'nats-2', 'nats-3'];
  return names.map((name, n) => {
    const folder = newFolder(t);
    const [client, monitor, route] = ports.slice(3 * n);
    const text = textOf('nats.conf')
      .replace('store_dir: /data', `store_dir: ${JSON.stringify(folder)}`)
      .replace('0.0.0.0:4222', `127.0.0.1:${client}`)
      .replace('0.0.0.0:8222', `127.0.0.1:${monitor}`)
      .replace('0.0.0.0:6222', `127.0.0.1:${route}`)
      .replace('50GB', '1GB');
    const environment = environmentOf(name);
    for (const [other, named] of names.entries()) {
      const local = `127.0.0.1:${ports[3 * other + 2]}`;
      environment['NATS_ROUTES'] = environment['NATS_ROUTES']!.replace(`${named}:6222`, local);
    }
    const file = path.join(folder, 'nats.conf');
    writeFileSync(file, text);
    const server = spawn(nats.program!, ['-c', file], { stdio: 'ignore', env: environment });
    const closed = once(server, 'close');
    t.after(async () => {
      server.kill('SIGKILL');
      await closed;
    });
    return { url: `nats://127.0.0.1:${client}`, monitorUrl: `http://127.0.0.1:${monitor}` };
  });
}

describe('The files for a cluster', () => {
  it('have a compose file whose nodes set only settings that exist, and all that a node must have', () => {
    const compose = textOf('compose.yaml');
    const node = /^x-node-environment:[^]*?\n\n/m.exec(compose)![0];
    const set = [...node.matchAll(/^ {2}([A-Z_]+): /gm)].map(([, name]) => name!);
    assert.deepEqual(
      set.filter((name) => !(name in SETTINGS)),
      [],
    );
    for (const name of ['NATS_URL', 'ADMIN_TOKEN', 'TICKET_KEY', 'WEBHOOK_SECRET_A', 'WEBHOOK_SECRET_B']) {
      assert.ok(set.includes(name), name);
    }
    assert.equal(compose.match(/\bNODE_NAME: node-\d/g)?.length, 3);
  });

  it(
    'make secrets, by the lines at the head of the compose file, that a node takes',
    { skip: withoutOpenssl },
    async () => {
      const lines = [...textOf('compose.yaml').matchAll(/^# {5}(echo .*)$/gm)].map(([, line]) => line!);
      assert.equal(lines.length, 5);
      const { stdout } = await run('/bin/sh', ['-c', lines.join('\n')]);
      const secrets = Object.fromEntries(
        stdout
          .trim()
          .split('\n')
          .map((line) => /^(\w+)=(.*)$/.exec(line)!.slice(1)),
      );
      assert.match(secrets['NATS_PASSWORD'], /^[a-z][0-9a-z]{16,}$/);
      const reading = readConfig({ ...secrets, NATS_URL: 'nats://nats-1:4222', NATS_USER: 'holdfast' });
      assert.ok('config' in reading, JSON.stringify(reading));
    },
  );

  it('name the same servers and nodes in all three files', () => {
    const services = [...textOf('compose.yaml').matchAll(/^ {2}((?:nats|node)-\d):$\n {4}/gm)].map(([, name]) => name!);
    assert.deepEqual(services, ['nats-1', 'nats-2', 'nats-3', 'node-1', 'node-2', 'node-3']);
    const named = (file: string, pattern: RegExp) => [...textOf(file).matchAll(pattern)].map(([, name]) => name!);
    assert.deepEqual(
      named('compose.yaml', /nats-route:\/\/holdfast:\$\{NATS_PASSWORD\}@([^:]+):6222/g),
      services.slice(0, 3),
    );
    assert.deepEqual(named('compose.yaml', /nats:\/\/([^:]+):4222/g), services.slice(0, 3));
    assert.deepEqual(named('compose.yaml', /http:\/\/([^:]+):8222[,\n]/g), services.slice(0, 3));
    assert.deepEqual(named('haproxy.cfg', /^ {2}server \S+ ([^:]+):8080$/gm), services.slice(3));
  });

  it('have settings that the NATS server takes', { skip: nats.missing }, async (t) => {
    const file = path.join(newFolder(t), 'nats.conf');
    writeFileSync(file, textOf('nats.conf'));
    const { stderr } = await run(nats.program!, ['-c', file, '-t'], { env: environmentOf('nats-1') });
    assert.match(stderr, /is valid/);
  });

  it(
    'start three NATS servers in which holdfast cluster check finds nothing wrong',
    { skip: nats.missing },
    async (t) => {
      const servers = await startThree(t);
      const settings = {
        NATS_URL: servers.map(({ url }) => url).join(','),
        NATS_MONITOR_URL: servers.map(({ monitorUrl }) => monitorUrl).join(','),
        NATS_USER: 'holdfast',
      };
      const checked = await holdfast(['cluster', 'check'], { ...settings, NATS_PASSWORD: PASSWORD });
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);
      assert.match(checked.stdout, /^good +servers +nats-1 .*nats-2 .*nats-3 /);
      assert.match(checked.stdout, /^good +fsync +before each acknowledgement at nats-1, nats-2, nats-3$/m);
      const { max_payload: bytesMax } = (await (await fetch(`${servers[0]!.monitorUrl}/varz`)).json()) as {
        max_payload: number;
      };
      assert.equal(bytesMax, 8 * 1024 * 1024);
      const refused = await holdfast(['cluster', 'check'], { ...settings, NATS_PASSWORD: 'another' });
      assert.equal(refused.code, 1);
      assert.match(refused.stdout, /refuse the credentials/);
    },
  );
});

async function isThere(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}
