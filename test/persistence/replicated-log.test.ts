/** A shard's log on three NATS servers, of which one is killed or stopped while an owner appends. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { jetstreamManager } from '@nats-io/jetstream';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, it, type TestContext } from 'node:test';
import { nats, startServers, type NatsServer, type NatsServers } from '../fixtures/nats.ts';
import { until } from '../fixtures/until.ts';
import { openServers, shardPlace, type ClusterServers } from '#persistence/nats/servers/servers.ts';
import { LogUnreachable, type ShardLog } from '#persistence/shard-log.ts';
import type { ShardJournal } from '#persistence/nats/log/journal.ts';
import { outcome, unitOf } from './journals.ts';
import { claimed, readShard, type ReadShard } from './shards.ts';

interface Group {
  readonly three: NatsServers;
  readonly cluster: ClusterServers;
}

// Both tests wait for elections.
describe('A log on three NATS servers', { skip: nats.missing, concurrency: 2 }, () => {
  const clusterName = `test-${randomUUID().slice(0, 8)}`;

  async function opened(t: TestContext): Promise<Group> {
    const three = await startServers(3);
    let cluster: ClusterServers | null = null;
    t.after(async () => {
      await cluster?.close();
      await three.close();
    });
    const settings = { servers: three.url.split(','), clusterName, shards: 1, replicas: 3 };
    cluster = await openServers(settings, { name: 'test' });
    return { three, cluster };
  }

  /** The server that leads the stream of the shard now; waits for an election. */
  async function leaderIn({ three, cluster }: Group): Promise<NatsServer> {
    const jsm = await jetstreamManager(cluster.connection.nats, { checkAPI: false });
    let leader: NatsServer | undefined;
    await until(async () => {
      const { stream } = shardPlace(clusterName, 0);
      const info = await jsm.streams.info(stream).catch(() => null);
      leader = three.servers.find(({ name }) => name === info?.cluster?.leader);
      return leader !== undefined;
    }, 'the stream has a leader');
    return leader!;
  }

  /** Claims a shard as a node does: again and again while the log has no leader. */
  async function claimedAtLast(log: ShardLog, node: string): ReturnType<typeof claimed> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await claimed(log, { node });
      } catch (error) {
        if (!(error instanceof LogUnreachable) || tries === 300) throw error;
        await pause(100);
      }
    }
  }

  function followFrom(log: ShardLog, note: (seq: number) => void): { end(): Promise<void> } {
    const ending = new AbortController();
    const following = (async () => {
      for await (const { seq } of log.follow(1, ending.signal)) note(seq);
    })();
    return {
      end: () => {
        ending.abort();
        return following;
      },
    };
  }

  /** Appends one unit after the other by several callers, and keeps the numbers that became durable. */
  function sell(journal: ShardJournal, pauseMs = 0): { readonly answered: Set<number>; end(): Promise<void> } {
    const answered = new Set<number>();
    let isOver = false;
    const callers = Array.from({ length: 20 }, async (_, caller) => {
      while (!isOver && journal.status === 'OPEN') {
        const seq = journal.append(unitOf(`evt_${caller}`, 1 + (caller % 3)));
        if ((await outcome(journal, seq)) !== null) return;
        answered.add(seq);
        if (pauseMs > 0) await pause(pauseMs);
      }
    });
    return {
      answered,
      async end() {
        isOver = true;
        await Promise.all(callers);
      },
    };
  }

  /**
   * Every answered fact is in the log, once. A server that was just elected may be asked before it has applied the
   * newest message, and one that stood still answers for a moment from what it knew before.
   */
  async function audit(log: ShardLog, answered: ReadonlySet<number>): Promise<ReadShard> {
    const newest = Math.max(...answered);
    let shown = await readShard(log);
    await until(async () => {
      if ((shown.rows.at(-1)?.seq ?? 0) < newest) shown = await readShard(log);
      return (shown.rows.at(-1)?.seq ?? 0) >= newest;
    }, `fact ${newest} is in the log`);
    const { rows } = shown;
    assert.deepEqual(
      rows.map(({ seq }) => seq),
      rows.map((_, index) => index + 1),
    );
    return shown;
  }

  it('passes the race guard, and goes on by itself when the leader of its stream is killed: nothing is lost, nothing is there twice', async (t) => {
    const group = await opened(t);
    const { cluster } = group;
    await cluster.guard(50);
    const { journal } = await claimedAtLast(cluster.log(0), 'node-a');
    t.after(() => journal.abandon());
    const { answered, end } = sell(journal);
    await until(() => answered.size > 200);
    const leader = await leaderIn(group);
    await leader.kill();
    const count = answered.size;
    await until(() => answered.size > count + 500);
    await leader.start();
    const before = answered.size;
    await until(() => answered.size > before + 200);
    await end();
    assert.equal(journal.status, 'OPEN');
    const { head } = await audit(cluster.log(0), answered);
    assert.deepEqual(head, journal.content().head);
  });

  it('is taken over while the leader of its stream stands still, and the owner before it is fenced', async (t) => {
    const group = await opened(t);
    const log = group.cluster.log(0);
    const first = (await claimedAtLast(log, 'node-a')).journal;
    t.after(() => first.abandon());
    // An owner that appends without a pause is alive, and a claim does not get between its appends.
    const before = sell(first, 200);
    await until(() => before.answered.size > 50);
    const leader = await leaderIn(group);
    leader.pause();
    const followed: number[] = [];
    const following = followFrom(log, (seq) => followed.push(seq));
    t.after(() => following.end());
    const { journal } = await claimedAtLast(log, 'node-b').finally(() => leader.resume());
    t.after(() => journal.abandon());
    const next = sell(journal);
    await until(() => next.answered.size > 200);
    await until(() => first.status === 'CLOSED');
    await before.end();
    await next.end();
    const [oldest] = [...next.answered];
    assert.ok(
      [...before.answered].every((seq) => seq < oldest!),
      'a number was answered by both owners',
    );
    const { outcomes } = await audit(log, new Set([...before.answered, ...next.answered]));
    await until(
      () => followed.length >= outcomes.length,
      () => `a follower that began meanwhile has ${followed.length} of ${outcomes.length} messages`,
    );
    await following.end();
    assert.deepEqual(
      followed,
      followed.map((_, index) => index + 1),
    );
  });
});
