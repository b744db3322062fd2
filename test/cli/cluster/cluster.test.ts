/** `holdfast cluster`: what it shows of nodes and shards, and what it finds wrong with real NATS servers. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { runHoldfast } from '#cli/run.ts';
import { statusOf } from '#cli/cluster/status.ts';
import { checkStreams, type ClusterFinding } from '#cli/cluster/streams.ts';
import { Membership } from '#cluster/calls/membership.ts';
import { natsBus } from '#cluster/calls/bus.ts';
import { messageKeysOf, signedBus } from '#cluster/calls/signed-bus.ts';
import { nodeTiming } from '#persistence/nats/timing.ts';
import { encodeRecord } from '#persistence/nats/log/records.ts';
import { openKeyStream } from '#persistence/nats/keys/keys.ts';
import { openServers, type ClusterServers } from '#persistence/nats/servers/servers.ts';
import { readClusterConfig, type ClusterConfig } from '#service/config.ts';
import { freePort } from '#operations/free-ports.ts';
import { nats, prepareServers, startNats, startServers, type NatsServer } from '../../fixtures/nats.ts';
import { until } from '../../fixtures/until.ts';
import { holdfast, programOf, succeeded } from '../holdfast.ts';

const SHARDS = 4;
const LOGIN = { user: 'holdfast', password: 'n0123456789' };
/** The settings that name them. */
const LOGIN_SETTINGS = { NATS_USER: LOGIN.user, NATS_PASSWORD: LOGIN.password };

interface Findings {
  readonly ok: boolean;
  readonly findings: readonly { name: string; verdict: string; detail: string; change: string | null }[];
}

const stream = (head: number) => ({ head, replicas: 3, behind: [] });

describe('The status of a cluster', () => {
  it('has for each shard the announced owner with the highest epoch, else the last one of its log, who is not live', () => {
    const heard = [
      {
        name: 'north',
        isLeaving: false,
        shards: new Map([
          [0, 5],
          [1, 6],
        ]),
      },
      { name: 'south', isLeaving: true, shards: new Map([[1, 9]]) },
    ];
    const seen = [0, 1, 2, 3].map((shard) => ({ shard, state: shard === 3 ? null : stream(10 + shard) }));
    assert.deepEqual(statusOf(heard, seen, new Map([[2, { node: 'dead', epoch: 4 }]])), {
      nodes: [
        { name: 'dead', shards: 1, live: false },
        { name: 'north', shards: 1, live: true },
        { name: 'south', shards: 1, live: true },
      ],
      shards: [
        { shard: 0, owner: 'north', epoch: 5, head: 10 },
        { shard: 1, owner: 'south', epoch: 9, head: 11 },
        { shard: 2, owner: 'dead', epoch: 4, head: 12 },
        { shard: 3, owner: null, epoch: null, head: null },
      ],
    });
  });
});

describe('holdfast cluster', { skip: nats.missing }, () => {
  let server: NatsServer;
  let servers: ClusterServers;
  const settings = (): Record<string, string> => ({
    NATS_URL: server.url,
    CLUSTER_NAME: 'shop',
    CLUSTER_SHARDS: String(SHARDS),
    CLUSTER_REPLICAS: '1',
    NATS_MONITOR_URL: server.operatorsUrl,
    ...LOGIN_SETTINGS,
  });
  const check = async (changes: Record<string, string> = {}) => {
    const ended = await holdfast(['cluster', 'check', '--json'], { ...settings(), ...changes });
    const { ok, findings } = ended.json<Findings>();
    assert.equal(ended.code, ok ? 0 : 1, ended.stdout + ended.stderr);
    return Object.fromEntries(findings.map((finding) => [finding.name, finding]));
  };

  /** They wait for seconds, beside the tests. */
  let unanswered: ReturnType<typeof askNobody>;
  const askNobody = async () => {
    const settings = { NATS_URL: `nats://127.0.0.1:${await freePort()}`, CLUSTER_NAME: 'shop', ...LOGIN_SETTINGS };
    return Promise.all(['status', 'check'].map((command) => holdfast(['cluster', command], settings)));
  };

  before(async () => {
    unanswered = askNobody();
    server = await startNats(LOGIN);
    const access = { ...LOGIN, servers: [server.url], clusterName: 'shop', shards: SHARDS, replicas: 1 };
    servers = await openServers(access, { name: 'test' });
  });
  after(async () => {
    await servers?.close();
    await server?.close();
  });

  it('status shows live nodes and a silent one, and the owner, epoch and head of every shard', async () => {
    const append = async (shard: number, id: string, node: string): Promise<number> => {
      const log = servers.log(shard);
      const appended = await log.append(encodeRecord({ kind: 'claim', id, node }), await log.lastSeq());
      assert.equal(appended.outcome, 'APPENDED');
      return appended.outcome === 'APPENDED' ? appended.seq : 0;
    };
    await append(1, 'a', 'gone');
    await append(1, 'b', 'north');
    await append(2, 'c', 'gone');
    const memberOf = (node: string, ticketKey: string): Membership => {
      const common = { time: nodeTiming, instance: `${node}-1` };
      const keys = messageKeysOf('shop', [ticketKey]);
      const bus = signedBus({ bus: natsBus(servers.connection), keys, ...common });
      return new Membership({ bus, cluster: 'shop', node, ...common });
    };
    const ticketKey = Buffer.alloc(32, 5).toString('base64url');
    const member = memberOf('north', ticketKey);
    const stranger = memberOf('stranger', Buffer.alloc(32, 6).toString('base64url'));
    member.start();
    member.own(0, 1);
    member.own(1, 2);
    stranger.start();
    try {
      const json = succeeded(await holdfast(['cluster', 'status', '--json'], { ...settings(), TICKET_KEY: ticketKey }));
      assert.deepEqual(json.json(), {
        nodes: [
          { name: 'gone', shards: 1, live: false },
          { name: 'north', shards: 2, live: true },
        ],
        shards: [
          { shard: 0, owner: 'north', epoch: 1, head: 0 },
          { shard: 1, owner: 'north', epoch: 2, head: 2 },
          { shard: 2, owner: 'gone', epoch: 1, head: 1 },
          { shard: 3, owner: null, epoch: null, head: 0 },
        ],
      });
      const { stdout } = await holdfast(['cluster', 'status'], settings());
      assert.match(stdout, /^shop: 2 nodes, 4 shards\n/);
      assert.match(
        stdout,
        /\n *stranger +0 +live\n[^]*Set the TICKET_KEY of the nodes to have their heartbeats verified/,
      );
      assert.match(stdout, /\n *2 {2}gone \(silent\) +1 +1\n/);
    } finally {
      member.stop();
      stranger.stop();
    }
  });

  it('status says where there is no such cluster, and what is not set', async () => {
    const absent = await holdfast(['cluster', 'status'], { ...settings(), CLUSTER_NAME: 'other' });
    assert.deepEqual([absent.code, absent.stdout], [1, '']);
    assert.match(absent.stderr, /there is no cluster other on these NATS servers\nThe first node makes it/);
    const missing = await holdfast(['cluster', 'status'], {});
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /NATS_URL is not set/);
  });

  it('check finds nothing wrong with a server that is set as it should be', async () => {
    const findings = await check();
    for (const name of ['servers', 'access', 'TLS', 'shards', 'keys', 'race guard', 'append', 'fsync', 'space']) {
      assert.equal(findings[name]?.verdict, 'GOOD', JSON.stringify(findings[name]));
    }
    assert.match(findings['servers']!.detail, /^server-0[\w-]* 2\.\d+\.\d+$/);
    assert.match(findings['fsync']!.detail, /server-0/);
  });

  it('check finds a stream of keys that is missing or has others than those that the shards are sealed with', async () => {
    const reading = readClusterConfig(settings());
    assert.ok('cluster' in reading);
    const { cluster } = reading;
    const seen = async (changes: Partial<ClusterConfig> = {}): Promise<ClusterFinding> => {
      const findings: ClusterFinding[] = [];
      for await (const finding of checkStreams({ ...cluster, ...changes }, servers.connection)) findings.push(finding);
      return findings.find(({ name }) => name === 'keys')!;
    };
    assert.equal((await seen()).detail, 'none yet; the first node makes them');
    await servers.noteKeysId('others');
    const missing = await seen();
    assert.deepEqual([missing.verdict, missing.detail.split(',')[0]], ['BAD', 'the stream shop_K is missing']);
    assert.match(missing.change!, /KEYS_LOST=accept/);
    const keys = await openKeyStream({ log: await servers.keyLog(), poolSize: 1 });
    try {
      assert.match((await seen()).detail, /^shop_K does not have the keys that personal data are sealed with/);
      await servers.noteKeysId(keys.keysId);
      const { verdict, detail } = await seen();
      assert.deepEqual(
        [verdict, /^shop_K up to message \d+, 1 replica, up to date/.test(detail)],
        ['GOOD', true],
        detail,
      );
      assert.match((await seen({ replicas: 3 })).change!, /nats stream edit shop_K --replicas 3/);
    } finally {
      await keys.close();
    }
  });

  it('check names what the first node fixed otherwise, and replicas that there are no servers for', async () => {
    const { shards } = await check({ CLUSTER_SHARDS: '8' });
    assert.deepEqual(
      [shards!.verdict, shards!.change],
      ['BAD', `Set CLUSTER_SHARDS=${SHARDS}, as the first node fixed it.`],
    );
    const findings = await check({ CLUSTER_REPLICAS: '3' });
    assert.equal(findings['servers']!.verdict, 'BAD');
    assert.match(findings['shards']!.change!, /CLUSTER_REPLICAS=1/);
  });

  it('check says that it cannot see fsync without monitoring addresses, and finds a server that answers before it', async (t) => {
    const { fsync } = await check({ NATS_MONITOR_URL: '' });
    assert.equal(fsync!.verdict, 'UNSEEN');
    assert.match(fsync!.change!, /NATS_MONITOR_URL/);
    // A server as it is without that setting.
    const [careless] = await prepareServers(1);
    t.after(() => careless!.close());
    const file = `${careless!.folder}.conf`;
    writeFileSync(file, readFileSync(file, 'utf8').replace('sync_interval: always', ''));
    await careless!.start();
    const late = await check({ NATS_MONITOR_URL: careless!.operatorsUrl });
    assert.equal(late['fsync']!.verdict, 'BAD');
    assert.match(late['fsync']!.change!, /sync_interval: always/);
    const silent = await check({ NATS_MONITOR_URL: `http://127.0.0.1:${await freePort()}` });
    assert.equal(silent['fsync']!.verdict, 'BAD');
  });

  it('check finds a server that lets anybody in, also by a user of its own, and one that others reach without TLS', async (t) => {
    const startAs = async (login: typeof LOGIN | null, change: (text: string) => string): Promise<NatsServer> => {
      const [other] = await prepareServers(1, login);
      t.after(() => other!.close());
      const file = `${other!.folder}.conf`;
      writeFileSync(file, change(readFileSync(file, 'utf8')));
      await other!.start();
      return other!;
    };
    const seen = async ({ url }: NatsServer, more: Record<string, string> = {}) => {
      const { access, TLS } = await check({ NATS_URL: url, CLUSTER_NAME: 'exposed', ...more });
      return { access: access!, TLS: TLS! };
    };
    const open = await startAs(null, (text) => text);
    const found = await seen(open, { NATS_USER: '', NATS_PASSWORD: '' });
    assert.deepEqual([found.access.verdict, found.TLS.verdict], ['BAD', 'GOOD']);
    assert.equal(found.access.detail, `${open.name} (${open.url}) asks for no credentials`);
    assert.match(found.access.change!, /authorization.*NATS_USER.*sell for nothing and read all names/);
    const guest = await startAs(LOGIN, (text) =>
      text.replace(
        /^authorization .*$/m,
        'authorization { users: [{ user: holdfast, password: n0123456789 }, { user: guest, password: guest }] }\nno_auth_user: guest',
      ),
    );
    assert.equal((await seen(guest)).access.verdict, 'BAD');
    // As a server says that listens for others, without a listener that others reach.
    const reachable = await startAs(LOGIN, (text) => `${text}\nclient_advertise: "192.0.2.7:4222"\n`);
    const plain = await seen(reachable);
    assert.deepEqual([plain.access.verdict, plain.TLS.verdict], ['GOOD', 'BAD']);
    assert.match(plain.TLS.detail, /has an address that is not loopback, and no TLS$/);
    assert.match(plain.TLS.change!, /NATS_CA.*sell for nothing/);
  });

  it('check waits for servers that are just meeting, and says so in one line, also with --json', async (t) => {
    const group = await startServers(3, LOGIN);
    t.after(() => group.close());
    const [first, second, late] = group.servers;
    // A server that comes late to a new group may be left out of it for good; one that comes back to it is not.
    await late!.kill();
    const program = programOf({ NATS_URL: `${first!.url},${second!.url}`, CLUSTER_NAME: 'met', ...LOGIN_SETTINGS });
    const checking = runHoldfast(['cluster', 'check', '--json'], program);
    await until(() => program.printed()[1] !== '', 'it says that it waits');
    await late!.start();
    const [stdout, stderr] = [await checking, ...program.printed()].slice(1) as [string, string];
    assert.equal(stderr, 'waiting for the NATS servers to meet, for up to 30 s\n');
    const { ok, findings } = JSON.parse(stdout) as Findings;
    assert.equal(ok, true, stdout);
    assert.deepEqual(
      findings.map(({ name }) => name),
      ['servers', 'access', 'TLS', 'shards', 'race guard', 'append', 'fsync', 'space'],
    );
    assert.match(findings[0]!.detail, /server-0.* server-1.* server-2/);
  });

  it('status and check ask nothing else where no server answers', async () => {
    const [status, check] = await unanswered;
    assert.equal(status!.code, 1);
    assert.match(status!.stderr, /no NATS server answers at nats:\/\/127\.0\.0\.1:\d+.*\nStart the servers/);
    assert.equal(check!.code, 1);
    assert.match(check!.stdout, /^BAD +servers +no NATS server answers at .*\n +Start the servers.*\n\nDo not sell/);
  });
});
