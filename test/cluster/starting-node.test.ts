/** A node that waits for its servers: not ready, and it says why. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startNode } from '#cluster/start-node.ts';
import type { ClusterNode } from '#cluster/node.ts';
import { untilReady } from '#service/service.ts';
import { freePort } from '#operations/free-ports.ts';
import { newDataFolder } from '../fixtures/folders.ts';
import { nats, startNats } from '../fixtures/nats.ts';
import { troublesAt } from '../fixtures/troubles.ts';
import { until } from '../fixtures/until.ts';

const TICKET_KEY = Buffer.alloc(32, 5).toString('base64url');

async function settingsOf(dataDir: string, url?: string) {
  const servers = [url ?? `nats://127.0.0.1:${await freePort()}`];
  const ticketKeys = [TICKET_KEY] as const;
  const cluster = { ticketKeys, servers, nodeName: 'one', clusterName: 'starting', shards: 2, replicas: 1 };
  return { cluster, dataDir, liveEventsMax: 10, limits: { waitingRepliesMax: 10 } };
}

describe('A node whose servers cannot be reached', () => {
  it('is not ready, refuses what it is asked, and ends when it is told to', async (t) => {
    const troubles = troublesAt(t, 'cluster');
    const node = startNode(await settingsOf(newDataFolder(t)));
    // A node that goes on trying keeps the process of the tests alive.
    t.after(() => node.stop());
    await until(
      () => node.state().trouble?.includes('no NATS server can be reached') === true,
      () => String(node.state().trouble),
    );
    await pause(1_200);
    const reported = troubles
      .map(({ message }) => message)
      .filter((message) => message.includes('no NATS server can be reached'));
    assert.throws(() => node.events.byEventId('evt_concert'), { name: 'Overloaded' });
    assert.equal(node.state().cluster!.isConnected, false);
    const ready = node.opened.then(
      () => 'ready',
      (error: Error) => error.name,
    );
    await node.stop();
    assert.equal(await ready, 'LogUnreachable');
    assert.equal(node.isStopping, true);
    assert.ok(reported.length > 0);
    const changes = reported.filter((message, place) => message !== reported[place - 1]);
    assert.deepEqual(reported, changes, 'what is tried again with the same outcome is reported once');
  });
});

describe('A start that waits for its node', () => {
  it('says what the node waits for until it is ready', async () => {
    const said: unknown[] = [];
    const ready = Promise.withResolvers<void>();
    const log = { warn: (...line: unknown[]) => void said.push(line) };
    const opened = { whenReady: () => ready.promise };
    const waiting = untilReady(
      { opened: Promise.resolve(opened), state: () => ({ trouble: 'no node owns shard 3' }) },
      log,
      5,
    );
    await until(
      () => said.length >= 2,
      () => 'nothing is said',
    );
    assert.deepEqual(said[0], [{ reason: 'no node owns shard 3' }, 'not ready yet']);
    ready.resolve();
    await waiting;
    const saidByThen = said.length;
    await pause(20);
    assert.equal(said.length, saidByThen);
  });
});

describe('A node on the data folder of another one', () => {
  it('refuses to start, because both would change the same files', async (t) => {
    const settings = await settingsOf(newDataFolder(t));
    const first = startNode(settings);
    const other = startNode(settings);
    await assert.rejects(other.opened, { name: 'FolderInUse' });
    await first.stop();
    const next = startNode(settings);
    await until(
      () => next.state().trouble?.includes('no NATS server can be reached') === true,
      () => String(next.state().trouble),
    );
    await next.stop();
  });
});

describe('A node with another TICKET_KEY than the others', { skip: nats.missing }, () => {
  it('refuses to start, and both sides hear why; a key beside the old one takes its place', async (t) => {
    const server = await startNats();
    t.after(() => server.close());
    const troubles = troublesAt(t, 'cluster');
    const settings = await settingsOf(newDataFolder(t), server.url);
    const other = Buffer.alloc(32, 6).toString('base64url');
    const open = async (nodeName: string, ...ticketKeys: [string, ...string[]]): Promise<ClusterNode> => {
      const node = startNode({
        ...settings,
        dataDir: newDataFolder(t),
        cluster: { ...settings.cluster, nodeName, ticketKeys },
      });
      t.after(() => node.stop());
      const opened = await node.opened;
      await opened.whenReady();
      return opened;
    };
    const first = await open('one', TICKET_KEY);
    await assert.rejects(open('two', other), (refusal: Error & { hint?: string }) => {
      assert.equal(refusal.message, 'TICKET_KEY is another one than that of the other nodes of this cluster');
      assert.match(refusal.hint!, /TICKET_KEY=OLD,NEW at all nodes, then NEW,OLD.*delete the stream starting_GUARD/);
      return true;
    });
    await until(
      () => troubles.some(({ message }) => /^messages of two\.\w+ are ignored.*the same TICKET_KEY$/.test(message)),
      () => JSON.stringify(troubles),
    );
    // From key to key, node by node.
    const second = await open('two', TICKET_KEY, other);
    await first.stop();
    const third = await open('three', other, TICKET_KEY);
    await second.stop();
    await open('four', other);
    const seen = third.cluster.nodes().filter(({ isLeaving }) => !isLeaving);
    assert.deepEqual(
      seen.map(({ name }) => name),
      ['four', 'three'],
    );
    await assert.rejects(open('five', TICKET_KEY), { name: 'ServersRefused' });
  });
});

describe('A node with another number of shards than the first one', { skip: nats.missing }, () => {
  it('refuses to start', async (t) => {
    const server = await startNats();
    t.after(() => server.close());
    const settings = await settingsOf(newDataFolder(t), server.url);
    const first = startNode(settings);
    await (await first.opened).whenReady();
    assert.equal(first.state().trouble, null);
    const dataDir = newDataFolder(t);
    const other = startNode({ ...settings, dataDir, cluster: { ...settings.cluster, nodeName: 'two', shards: 3 } });
    await assert.rejects(other.opened, { name: 'ServersRefused' });
    await first.stop();
  });
});
