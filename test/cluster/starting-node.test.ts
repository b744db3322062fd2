/** A node that starts: not ready before its servers are there and good, and it says why. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startNode } from '#cluster/start-node.ts';
import type { ClusterNode } from '#cluster/node.ts';
import { untilReady } from '#service/service.ts';
import { freePort } from '#operations/free-ports.ts';
import { sample } from '../fixtures/events.ts';
import { newDataFolder, newFolder } from '../fixtures/folders.ts';
import { nats, startNats, type NatsServer } from '../fixtures/nats.ts';
import { startNodes } from '../fixtures/nodes.ts';
import { troublesAt } from '../fixtures/troubles.ts';
import { until } from '../fixtures/until.ts';

/** Loaded in more time than it takes to hear that the node is ready. */
const EVENTS = 600;
const TICKET_KEY = Buffer.alloc(32, 5).toString('base64url');

async function settingsOf(dataDir: string, url?: string) {
  const servers = [url ?? `nats://127.0.0.1:${await freePort()}`];
  const ticketKeys = [TICKET_KEY] as const;
  const cluster = { ticketKeys, servers, nodeName: 'one', clusterName: 'starting', shards: 2, replicas: 1 };
  return { cluster, dataDir, liveEventsMax: 10, limits: { waitingRepliesMax: 10 } };
}

/** The guard has tests of its own. */
const startHere = (settings: Parameters<typeof startNode>[0]) => startNode(settings, { guardRounds: 5 });

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

describe('On a NATS server', { skip: nats.missing }, () => {
  let server: NatsServer;
  before(async () => {
    server = await startNats();
  });
  after(() => server?.close());

  it('a node with another TICKET_KEY than the others refuses to start, and both sides hear why; a key beside the old one takes its place', async (t) => {
    const troubles = troublesAt(t, 'cluster');
    const settings = await settingsOf(newDataFolder(t), server.url);
    const other = Buffer.alloc(32, 6).toString('base64url');
    const open = async (nodeName: string, ...ticketKeys: [string, ...string[]]): Promise<ClusterNode> => {
      const node = startHere({
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

  it('a node with another number of shards than the first one refuses to start', async (t) => {
    const settings = await settingsOf(newDataFolder(t), server.url);
    const cluster = { ...settings.cluster, clusterName: 'counted' };
    const first = startHere({ ...settings, cluster });
    await (await first.opened).whenReady();
    assert.equal(first.state().trouble, null);
    const other = startHere({
      ...settings,
      dataDir: newDataFolder(t),
      cluster: { ...cluster, nodeName: 'two', shards: 3 },
    });
    await assert.rejects(other.opened, { name: 'ServersRefused' });
    await first.stop();
  });

  it('a node that is told to stop while it loads its catalogue gives its shards up in order, as any node that stops', async (t) => {
    const catalogue = newFolder(t);
    for (let number = 0; number < EVENTS; number += 1) {
      const event = { ...sample('club-night'), picture: null, id: `evt_${number}`, slug: `night-${number}` };
      writeFileSync(path.join(catalogue, `${number}.json`), JSON.stringify(event));
    }
    const [node] = await startNodes(1, {
      url: server.url,
      clusterName: 'loading',
      shards: 4,
      replicas: 1,
      environment: { CATALOG: catalogue, LOG_LEVEL: 'info' },
    });
    t.after(() => node!.close());
    assert.equal(await node!.end(), 0);
    assert.match(node!.printed(), /"level":40.*asks for no credentials: whoever reaches it could sell for nothing/);
    assert.match(node!.printed(), /"msg":"stopping"/);
    assert.doesNotMatch(node!.printed(), /"msg":"ready"/, 'all events were loaded before it was told');
  });
});
