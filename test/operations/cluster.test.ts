/**
 * The files that start a cluster: they name each other's services and the settings that exist, and a real NATS server
 * takes its own.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { promisify } from 'node:util';
import { readConfig } from '#service/config.ts';
import { startGroup } from '#operations/nats-servers.ts';
import { SETTINGS } from '#service/settings.ts';
import { holdfast } from '../cli/holdfast.ts';
import { newFolder } from '../fixtures/folders.ts';
import { nats, prepareServers } from '../fixtures/nats.ts';

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

describe('The files for a cluster', () => {
  it('have a compose file whose nodes set only settings that exist, and all that a node must have', () => {
    const compose = textOf('compose.yaml');
    const node = /^x-node-environment:[^]*?\n\n/m.exec(compose)![0];
    const set = [...node.matchAll(/^ {2}([A-Z_]+): /gm)].map(([, name]) => name!);
    assert.deepEqual(
      set.filter((name) => !(name in SETTINGS)),
      [],
    );
    for (const name of [
      'NATS_URL',
      'NATS_CA',
      'NATS_USER',
      'NATS_PASSWORD',
      'ADMIN_TOKEN',
      'TICKET_KEY',
      'WEBHOOK_SECRET_A',
      'WEBHOOK_SECRET_B',
    ]) {
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
      const reading = readConfig({ ...secrets, NATS_URL: 'tls://nats-1:4222', NATS_USER: 'holdfast' });
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
    assert.deepEqual(named('compose.yaml', /tls:\/\/([^:]+):4222/g), services.slice(0, 3));
    assert.deepEqual(named('compose.yaml', /http:\/\/([^:]+):8222[,\n]/g), services.slice(0, 3));
    assert.deepEqual(named('haproxy.cfg', /^ {2}server \S+ ([^:]+):8080$/gm), services.slice(3));
  });

  it(
    'have settings that the NATS server takes, and with the certificate of the compose file a node uses TLS',
    { skip: nats.missing || withoutOpenssl },
    async (t) => {
      const folder = newFolder(t);
      const [, lines] = /^# {3}(mkdir -p tls && [^]*?)\n# {3}docker/m.exec(textOf('compose.yaml'))!;
      // This machine has not the names of the containers.
      const command = lines!.replaceAll(/^# +/gm, '').replace('DNS:nats-1', 'DNS:localhost,DNS:nats-1');
      await run('/bin/sh', ['-c', command], { cwd: folder });
      const file = path.join(folder, 'nats.conf');
      const withCertificate = (text: string): string => text.replaceAll('/etc/nats/tls', `${folder}/tls`);
      writeFileSync(file, withCertificate(textOf('nats.conf')));
      const { stderr } = await run(nats.program!, ['-c', file, '-t'], { env: environmentOf('nats-1') });
      assert.match(stderr, /is valid/);

      const [server] = await prepareServers(1, { user: 'holdfast', password: PASSWORD });
      t.after(() => server!.close());
      const [tls] = /^tls \{[^]*?^\}$/m.exec(textOf('nats.conf'))!;
      const settings = readFileSync(`${server!.folder}.conf`, 'utf8');
      writeFileSync(
        `${server!.folder}.conf`,
        `${settings}\n${withCertificate(tls)}\nclient_advertise: "192.0.2.7:4222"\n`,
      );
      await server!.start();
      const checked = await holdfast(['cluster', 'check'], {
        NATS_URL: server!.url.replace('nats://127.0.0.1', 'tls://localhost'),
        NATS_CA: `${folder}/tls/cert.pem`,
        NATS_USER: 'holdfast',
        NATS_PASSWORD: PASSWORD,
        CLUSTER_REPLICAS: '1',
      });
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);
      assert.match(checked.stdout, /^good +access [^]*^good +TLS /m);
    },
  );

  it(
    'start three NATS servers, in which holdfast cluster check finds nothing wrong once they have met',
    { skip: nats.missing },
    async (t) => {
      const servers = await prepareServers(3, { user: 'holdfast', password: PASSWORD });
      t.after(() => Promise.all(servers.map((server) => server.close())));
      const settings = {
        NATS_URL: servers.map(({ url }) => url).join(','),
        NATS_MONITOR_URL: servers.map(({ operatorsUrl }) => operatorsUrl).join(','),
        NATS_USER: 'holdfast',
        NATS_PASSWORD: PASSWORD,
      };
      await startGroup(servers, path.dirname(servers[0]!.folder));
      const checked = await holdfast(['cluster', 'check'], settings);
      assert.equal(checked.code, 0, checked.stdout + checked.stderr);
      assert.match(checked.stdout, /^good +servers +server-0.* .*server-1.* .*server-2.* /);
      assert.match(checked.stdout, /^good +access +3 servers asked: none lets anybody in/m);
      assert.match(checked.stdout, /^good +fsync +before each acknowledgement at server-0.*, server-1.*, server-2.*$/m);
      const { max_payload: bytesMax } = (await (await fetch(`${servers[0]!.operatorsUrl}/varz`)).json()) as {
        max_payload: number;
      };
      assert.equal(bytesMax, 8 * 1024 * 1024);
      const refused = await holdfast(['cluster', 'check'], { ...settings, NATS_PASSWORD: 'another' });
      assert.equal(refused.code, 1);
      assert.match(refused.stdout, /refuse the credentials/);
    },
  );
});
