/** A shard's log on a real NATS server: appends, reads, following, settings, the guard. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, it, type TestContext } from 'node:test';
import { nats, startNats, type NatsServer } from '../../../fixtures/nats.ts';
import { until } from '../../../fixtures/until.ts';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { ServersRefused, whyTooOld } from '#persistence/nats/connection.ts';
import { raceGuard } from '#persistence/nats/servers/race-guard.ts';
import { openServers, type ClusterServers, type ClusterSettings } from '#persistence/nats/servers/servers.ts';
import { LogUnreachable, type AppendOutcome, type LogMessage, type ShardLog } from '#persistence/shard-log.ts';
import { appendAll, durable, outcome, unitOf } from '../../journals.ts';
import { claimed, readShard } from '../../shards.ts';

const text = (body: Uint8Array): string => Buffer.from(body).toString();
const body = (given: string): Uint8Array => Buffer.from(given);

describe('The version of a NATS server', () => {
  it('is refused before 2.10.23, and in no later one', () => {
    for (const old of ['1.4.1', '2.9.25', '2.10.22', '2.10.0', '2.10.22-RC.1'])
      assert.match(whyTooOld(old)!, /version/);
    for (const good of ['2.10.23', '2.10.27', '2.10.27-beta', '2.11.0', '2.12.3', '3.0.0'])
      assert.equal(whyTooOld(good), null, good);
  });
});

describe('The race guard', () => {
  it('refuses servers that let two writers append after the same message', async () => {
    const log = new MemoryLog();
    await raceGuard([log, log.reconnected()], 20);
    let round = 0;
    const broken = Object.assign(log.reconnected(), {
      append(given: Uint8Array, expected: number): Promise<AppendOutcome> {
        round += 1;
        if (round < 7) return MemoryLog.prototype.append.call(log, given, expected);
        return Promise.resolve({ outcome: 'APPENDED', seq: expected + 1 });
      },
    });
    await assert.rejects(raceGuard([log, broken], 20), ServersRefused);
  });
});

// Two of these wait for seconds.
describe('A log on a NATS server', { skip: nats.missing, concurrency: true }, () => {
  let server: NatsServer;
  before(async () => void (server = await startNats()));
  after(() => server.close());

  const settings = (own: Partial<ClusterSettings> = {}): ClusterSettings => ({
    servers: [server.url],
    clusterName: `test-${randomUUID().slice(0, 8)}`,
    shards: 1,
    replicas: 1,
    ...own,
  });

  async function servers(t: TestContext, own: Partial<ClusterSettings> = {}): Promise<ClusterServers> {
    const opened = await openServers(settings(own), { name: 'test' });
    t.after(() => opened.close());
    return opened;
  }

  async function newLog(t: TestContext): Promise<ShardLog> {
    return (await servers(t)).log(0);
  }

  async function all(messages: AsyncIterable<LogMessage>): Promise<string[]> {
    const found: string[] = [];
    for await (const message of messages) found.push(`${message.seq} ${text(message.body)}`);
    return found;
  }

  it('appends after the expected message alone', async (t) => {
    const log = await newLog(t);
    assert.equal(await log.lastSeq(), 0);
    assert.equal(await log.get(1), null);
    assert.deepEqual(await log.append(body('a'), 0), { outcome: 'APPENDED', seq: 1 });
    assert.deepEqual(await log.append(body('b'), 0), { outcome: 'CONFLICT' });
    assert.deepEqual(await log.append(body('b'), 2), { outcome: 'CONFLICT' });
    assert.deepEqual(await log.append(body('b'), 1), { outcome: 'APPENDED', seq: 2 });
    assert.equal(await log.lastSeq(), 2);
    assert.equal(text((await log.get(2))!.body), 'b');
    const unanswered = await log.append(body('x'.repeat(9_000_000)), 2);
    assert.equal(unanswered.outcome, 'UNKNOWN');
  });

  it('reads any part, small and large messages, and what a purge has left', async (t) => {
    const log = await newLog(t);
    const bodies = Array.from({ length: 60 }, (_, n) => `${n + 1}`.padEnd(n % 20 === 7 ? 2_000_000 : 10, '.'));
    for (const [n, each] of bodies.entries()) await log.append(body(each), n);
    const expected = bodies.map((each, n) => `${n + 1} ${each}`);
    assert.deepEqual(await all(log.read(1, 60)), expected);
    assert.deepEqual(await all(log.read(5, 9)), expected.slice(4, 9));
    assert.deepEqual(await all(log.read(9, 8)), []);
    await log.purge(31);
    assert.deepEqual(await all(log.read(1, 60)), expected.slice(30));
    assert.equal(await log.get(30), null);
    assert.equal(await log.lastSeq(), 60);
    assert.deepEqual(await log.append(body('after the purge'), 60), { outcome: 'APPENDED', seq: 61 });
  });

  it('reads what is too much to ask for message by message', async (t) => {
    const log = await newLog(t);
    const count = 1_500;
    for (let n = 0; n < count; n += 100)
      await Promise.all(Array.from({ length: 100 }, (_, next) => log.append(body(`${n + next}`), n + next)));
    const expected = Array.from({ length: count }, (_, n) => `${n + 1} ${n}`);
    assert.deepEqual(await all(log.read(1, count)), expected);
    await log.purge(301);
    assert.deepEqual(await all(log.read(1, count - 1)), expected.slice(300, -1));
    const [first] = await all(log.read(301, 301));
    assert.equal(first, '301 300');
    await assert.rejects(all(log.read(count - 1, count + 1)), LogUnreachable);
  });

  it('reads nothing of a long range that was purged meanwhile, and does not wait for what is not there yet', async (t) => {
    const log = await newLog(t);
    const count = 200;
    await Promise.all(Array.from({ length: count }, (_, n) => log.append(body(`${n}`), n)));
    await log.purge(151);
    assert.deepEqual(await all(log.read(1, 100)), []);
    await assert.rejects(all(log.read(151, 400)), LogUnreachable);
  });

  it('shows those that follow it what is there and what comes, until they end it', async (t) => {
    const log = await newLog(t);
    for (let n = 0; n < 5; n += 1) await log.append(body(`${n}`), n);
    const found: number[] = [];
    const end = new AbortController();
    const following = (async () => {
      for await (const { seq } of log.follow(3, end.signal)) found.push(seq);
    })();
    await until(() => found.length === 3);
    for (let n = 5; n < 8; n += 1) await log.append(body(`${n}`), n);
    await until(() => found.length === 6);
    end.abort();
    await following;
    assert.deepEqual(found, [3, 4, 5, 6, 7, 8]);
  });

  it('is claimed, appended to by many turns at once, and taken over', async (t) => {
    const cluster = await servers(t);
    const { journal } = await claimed(cluster.log(0), { node: 'node-a' });
    for (let turn = 0; turn < 3_000; turn += 1) {
      journal.append(unitOf(`evt_${turn % 7}`, 2));
      if (turn % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await durable(journal);
    const other = await claimed(cluster.log(0), { node: 'node-b' });
    assert.equal(other.recovered.rows.length, 6_000);
    assert.match((await outcome(journal, journal.append(unitOf('evt_1'))))!.message, /node-b/);
    await appendAll(other.journal, [unitOf('evt_1')]);
    const { head, outcomes } = await readShard(cluster.log(0));
    assert.deepEqual(head, other.journal.content().head);
    assert.ok(outcomes.length < 1_000, `${outcomes.length} messages`);
  });

  it('goes on after its server was killed: nothing is lost, nothing is there twice', async (t) => {
    const own = await startNats();
    const cluster = await servers(t, { servers: [own.url] });
    t.after(() => own.close());
    const { journal } = await claimed(cluster.log(0));
    const answered: number[] = [];
    const changes: boolean[] = [];
    cluster.connection.onConnection((isConnected) => changes.push(isConnected));
    let isOver = false;
    const selling = (async () => {
      while (!isOver) {
        const seq = journal.append(unitOf('evt_a'));
        await journal.durable(seq);
        answered.push(seq);
      }
    })();
    await until(() => answered.length > 20);
    await own.kill();
    await until(() => changes.length > 0);
    await assert.rejects(cluster.log(0).lastSeq(), LogUnreachable);
    await own.start();
    const count = answered.length;
    await until(() => answered.length > count + 20);
    isOver = true;
    await selling;
    assert.deepEqual(changes, [false, true]);
    const { rows } = await readShard(cluster.log(0));
    assert.deepEqual(
      rows.map(({ seq }) => seq),
      answered,
    );
  });

  it('is one of as many streams as the first node had shards; another number is refused', async (t) => {
    const clusterName = `test-${randomUUID().slice(0, 8)}`;
    const [first] = await Promise.all([1, 2].map(() => servers(t, { clusterName, shards: 6 })));
    assert.deepEqual(await first!.log(5).append(body('a'), 0), { outcome: 'APPENDED', seq: 1 });
    const rejected = async (own: Partial<ClusterSettings>, reason: RegExp): Promise<void> => {
      await assert.rejects(
        servers(t, { clusterName, ...own }),
        (error) => error instanceof ServersRefused && reason.test(`${error.message} ${error.hint}`),
      );
    };
    await rejected({ shards: 7 }, /CLUSTER_SHARDS is 7.*fixed it to 6.*CLUSTER_SHARDS=6/);
    await rejected({ shards: 6, replicas: 3 }, /CLUSTER_REPLICAS is 3.*fixed it to 1/);
    assert.equal(await (await servers(t, { clusterName, shards: 6 })).log(5).lastSeq(), 1);
  });

  it('passes the race guard, also when two nodes start together', async (t) => {
    const clusterName = `test-${randomUUID().slice(0, 8)}`;
    const nodes = await Promise.all([servers(t, { clusterName }), servers(t, { clusterName })]);
    await Promise.all(nodes.map((node) => node.guard(20)));
  });

  it('waits for servers that cannot be reached, and says so', async () => {
    const reasons: string[] = [];
    const signal = AbortSignal.timeout(1_500);
    const waiting = openServers(settings({ servers: ['nats://127.0.0.1:1'] }), {
      name: 'test',
      signal,
      onWaiting: (reason) => reasons.push(reason),
    });
    await assert.rejects(waiting, LogUnreachable);
    assert.match(reasons[0] ?? '', /no NATS server can be reached/);
  });
});
