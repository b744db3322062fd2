/** A node that waits for its servers: not ready, and it says why. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { startNode } from '#cluster/start-node.ts';
import { untilReady } from '#src/service.ts';
import { freePort } from '../../bench/free-port.ts';
import { newDataFolder } from '../fixtures/folders.ts';
import { nats, startNats } from '../fixtures/nats.ts';
import { troublesAt } from '../fixtures/troubles.ts';
import { until } from '../fixtures/until.ts';

async function settingsOf(dataDir: string, url?: string) {
  const servers = [url ?? `nats://127.0.0.1:${await freePort()}`];
  const cluster = { servers, nodeName: 'one', clusterName: 'starting', shards: 2, replicas: 1 };
  return { cluster, dataDir, liveEventsMax: 10, limits: { waitingRepliesMax: 10 } };
}

describe('A node whose servers cannot be reached', () => {
  it('is not ready, refuses what it is asked, and ends when it is told to', async (t) => {
    const troubles = troublesAt(t, 'cluster');
    const node = startNode(await settingsOf(newDataFolder(t)));
    // A node that goes on trying keeps the process of the tests alive.
    t.after(() => node.stop());
    await until(
      () => node.trouble?.includes('no NATS server can be reached') === true,
      () => String(node.trouble),
    );
    await pause(1_200);
    const reported = troubles
      .map(({ message }) => message)
      .filter((message) => message.includes('no NATS server can be reached'));
    assert.throws(() => node.events.byEventId('evt_concert'), { name: 'Overloaded' });
    assert.equal(node.cluster.isConnected, false);
    const ready = node.whenReady().then(
      () => 'ready',
      (error: Error) => error.name,
    );
    await node.stop();
    assert.equal(await ready, 'LogUnreachable');
    assert.equal(node.status, 'STOPPED');
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
    const waiting = untilReady({ whenReady: () => ready.promise, trouble: 'no node owns shard 3' }, log, 5);
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
    await assert.rejects(other.whenReady(), { name: 'FolderInUse' });
    await first.stop();
    const next = startNode(settings);
    await until(
      () => next.trouble?.includes('no NATS server can be reached') === true,
      () => String(next.trouble),
    );
    await next.stop();
  });
});

describe('A node with another number of shards than the first one', { skip: nats.missing }, () => {
  it('refuses to start', async (t) => {
    const server = await startNats();
    t.after(() => server.close());
    const settings = await settingsOf(newDataFolder(t), server.url);
    const first = startNode(settings);
    await first.whenReady();
    assert.equal(first.trouble, null);
    const dataDir = newDataFolder(t);
    const other = startNode({ ...settings, dataDir, cluster: { ...settings.cluster, nodeName: 'two', shards: 3 } });
    await assert.rejects(other.whenReady(), { name: 'ServersRefused' });
    await first.stop();
  });
});
