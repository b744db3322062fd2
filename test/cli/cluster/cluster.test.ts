/** `holdfast cluster`: what it shows of nodes and shards, and what it finds wrong with real NATS servers. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it, type TestContext } from 'node:test';
import { statusOf } from '#cli/cluster-status.ts';
import { checkStreams, type Finding } from '#cli/cluster-streams.ts';
import { Membership } from '#cluster/membership.ts';
import { natsBus } from '#cluster/nats-bus.ts';
import { machineTime } from '#cluster/time.ts';
import { encodeRecord } from '#persistence/nats/records.ts';
import { openKeyStream } from '#persistence/nats/key-stream.ts';
import { openServers, type ClusterServers } from '#persistence/nats/servers.ts';
import { readClusterConfig, type ClusterConfig } from '#src/config.ts';
import { freePort } from '../../bench/free-port.ts';
import { newFolder } from '../fixtures/folders.ts';
import { nats, startNats, type NatsServer } from '../fixtures/nats.ts';
import { until } from '../fixtures/until.ts';
import { holdfast } from './holdfast.ts';

const SHARDS = 4;

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
    NATS_MONITOR_URL: server.monitorUrl,
  });
  const check = async (changes: Record<string, string> = {}) => {
    const ended = await holdfast(['cluster', 'check', '--json'], { ...settings(), ...changes });
    const { ok, findings } = ended.json<Findings>();
    assert.equal(ended.code, ok ? 0 : 1, ended.stdout + ended.stderr);
    return Object.fromEntries(findings.map((finding) => [finding.name, finding]));
  };

  before(async () => {
    server = await startNats();
    const access = { servers: [server.url], clusterName: 'shop', shards: SHARDS, replicas: 1 };
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
    const bus = natsBus(servers.connection);
    const member = new Membership({ bus, time: machineTime, cluster: 'shop', node: 'north', instance: 'north-1' });
    member.start();
    member.own(0, 1);
    member.own(1, 2);
    try {
      const json = await holdfast(['cluster', 'status', '--json'], settings());
      assert.equal(json.code, 0, json.stderr);
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
      assert.match(stdout, /^shop: 1 node, 4 shards\n/);
      assert.match(stdout, /\n *2 {2}gone \(silent\) +1 +1\n/);
    } finally {
      member.stop();
    }
  });

  it('status says where there is no such cluster, and where no server answers', async () => {
    const absent = await holdfast(['cluster', 'status'], { ...settings(), CLUSTER_NAME: 'other' });
    assert.deepEqual([absent.code, absent.stdout], [1, '']);
    assert.match(absent.stderr, /there is no cluster other on these NATS servers\nThe first node makes it/);
    const closed = await holdfast(['cluster', 'status'], {
      ...settings(),
      NATS_URL: `nats://127.0.0.1:${await freePort()}`,
    });
    assert.equal(closed.code, 1);
    assert.match(closed.stderr, /no NATS server answers at nats:\/\/127\.0\.0\.1:\d+.*\nStart the servers/);
    const missing = await holdfast(['cluster', 'status'], {});
    assert.equal(missing.code, 2);
    assert.match(missing.stderr, /NATS_URL is not set/);
  });

  it('check finds nothing wrong with a server that is set as it should be', async () => {
    const findings = await check();
    for (const name of ['servers', 'shards', 'keys', 'race guard', 'append', 'fsync', 'space']) {
      assert.equal(findings[name]?.verdict, 'GOOD', JSON.stringify(findings[name]));
    }
    assert.match(findings['servers']!.detail, /^server-0[\w-]* 2\.\d+\.\d+$/);
    assert.match(findings['fsync']!.detail, /server-0/);
  });

  it('check finds a stream of keys that is missing or has others than those that the shards are sealed with', async () => {
    const reading = readClusterConfig(settings());
    assert.ok('cluster' in reading);
    const { cluster } = reading;
    const seen = async (changes: Partial<ClusterConfig> = {}): Promise<Finding> => {
      const findings: Finding[] = [];
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
    const late = await check({ NATS_MONITOR_URL: await startLateServer(t) });
    assert.equal(late['fsync']!.verdict, 'BAD');
    assert.match(late['fsync']!.change!, /sync_interval: always/);
    const silent = await check({ NATS_MONITOR_URL: `http://127.0.0.1:${await freePort()}` });
    assert.equal(silent['fsync']!.verdict, 'BAD');
  });

  it('check asks nothing else where no server answers', async () => {
    const closed = await holdfast(['cluster', 'check'], {
      ...settings(),
      NATS_URL: `nats://127.0.0.1:${await freePort()}`,
    });
    assert.equal(closed.code, 1);
    assert.match(closed.stdout, /^BAD +servers +no NATS server answers at .*\n +Start the servers.*\n\nDo not sell/);
  });
});

/** A server as it is without settings: it acknowledges before fsync. Answers its monitoring address. */
async function startLateServer(t: TestContext): Promise<string> {
  const [port, monitor] = [await freePort(), await freePort()];
  const args = ['-a', '127.0.0.1', '-p', String(port), '-m', String(monitor), '-js', '-sd', newFolder(t)];
  const child = spawn(nats.program!, args, { stdio: 'ignore' });
  const closed = once(child, 'close');
  t.after(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const url = `http://127.0.0.1:${monitor}`;
  await until(
    () =>
      fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    'the server is healthy',
  );
  return url;
}
