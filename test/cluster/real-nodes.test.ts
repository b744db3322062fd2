/** Real processes on a real NATS server: what a shop sees when it runs several nodes. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { shardOf } from '#cluster/directory/placement.ts';
import { clusterSecrets } from '../fixtures/cluster.ts';
import { HOLDS } from '../fixtures/client.ts';
import { newFolder } from '../fixtures/folders.ts';
import { startNodes } from '../fixtures/nodes.ts';
import { nats, startNats, type NatsServer } from '../fixtures/nats.ts';
import { spawnService, type ServiceProcess } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { sample } from '../fixtures/events.ts';

const NAMES = ['one', 'two', 'three'];
const SHARDS = 4;
/** Loaded in more time than it takes to hear that the node is ready. */
const EVENTS = 600;
/**
 * Three seconds and one are promised, and measured by the bench; these only tell a takeover from a request that waits
 * to its limit.
 */
const TAKEOVER_MS_MAX = 15_000;
const HAND_OVER_MS_MAX = 10_000;

describe('Three nodes on a NATS server', { skip: nats.missing }, () => {
  let server: NatsServer;
  let nodes: ServiceProcess[];

  const start = (name: string): Promise<ServiceProcess> =>
    spawnService({
      environment: {
        NATS_URL: server.url,
        NODE_NAME: name,
        CLUSTER_SHARDS: String(SHARDS),
        CLUSTER_REPLICAS: '1',
        ...clusterSecrets,
      },
    });

  before(async () => {
    server = await startNats();
    nodes = await Promise.all(NAMES.map(start));
  });

  after(async () => {
    await Promise.all((nodes ?? []).map((node) => node.close()));
    await server?.close();
  });

  const place = (node: ServiceProcess, sessionKey: string) =>
    node.post(HOLDS, {
      event_id: 'evt_club',
      session_key: sessionKey,
      items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 1 }],
    });

  it('say who they are, and whether they are ready', async () => {
    for (const [place, node] of nodes.entries()) {
      // On a busy machine shards may still move when the last node is up.
      let ready = await node.get('/health/ready');
      await until(async () => (ready = await node.get('/health/ready')).status === 200);
      assert.equal(ready.body['node'], NAMES[place]);
      assert.equal(ready.headers.get('x-served-by'), NAMES[place]);
      const missing = await node.get('/api/no/such/address');
      assert.equal(missing.headers.get('x-served-by'), NAMES[place]);
    }
  });

  it('know what was defined at one of them, and count what they own', async () => {
    const definition = sample('club-night');
    const put = await nodes[0]!.admin.put(`/admin/events/${String(definition['id'])}`, definition);
    assert.equal(put.status, 201);
    for (const node of nodes)
      await until(async () => (await node.get(`/api/events/public/${String(definition['slug'])}`)).status === 200);
    const owned = await Promise.all(
      nodes.map(async (node) => {
        const { body } = await node.admin.get<string>('/metrics');
        const value = (name: string): number => Number(new RegExp(`^${name} (.*)$`, 'm').exec(body)?.[1]);
        assert.equal(value('holdfast_cluster_nodes'), NAMES.length);
        for (const name of [
          'forwarded_total',
          'takeovers_total',
          'fenced_total',
          'foreign_messages_total',
          'append_seconds_count',
        ])
          assert.ok(value(`holdfast_cluster_${name}`) >= 0, name);
        return value('holdfast_cluster_shards_owned');
      }),
    );
    assert.equal(
      owned.reduce((sum, count) => sum + count, 0),
      SHARDS,
    );
  });

  it('sell without an error while the owner of the event is told to stop, and when it is back', async () => {
    const owner = await ownerOf('evt_club', nodes);
    const others = nodes.filter((node) => node !== owner);
    let isOver = false;
    let longestMs = 0;
    const buyer = async (node: ServiceProcess, name: string): Promise<number> => {
      let holds = 0;
      for (; !isOver; holds += 1) {
        const begin = performance.now();
        const placed = await place(node, `session-${name}-${holds}`);
        assert.equal(placed.status, 201, JSON.stringify(placed.body));
        longestMs = Math.max(longestMs, performance.now() - begin);
        await node.delete(`${HOLDS}/${String(placed.body['id'])}`, { 'x-session-key': `session-${name}-${holds}` });
      }
      return holds;
    };
    const buying = others.map((node, place) => buyer(node, `buyer-${place}`));
    assert.equal(await owner.end('SIGTERM'), 0);
    isOver = true;
    const holds = await Promise.all(buying);
    assert.ok(holds.every((count) => count > 0));
    assert.ok(longestMs < HAND_OVER_MS_MAX, `${longestMs} ms`);
    nodes[nodes.indexOf(owner)] = await start(NAMES[nodes.indexOf(owner)]!);
  });

  it('go on selling at every node when the owner of the event is killed', async () => {
    const first = await place(nodes[1]!, 'session-first');
    assert.equal(first.status, 201, JSON.stringify(first.body));
    const killed = await ownerOf('evt_club', nodes);
    const others = nodes.filter((node) => node !== killed);
    await killed.end('SIGKILL');
    const begin = performance.now();
    const second = await place(others[0]!, 'session-second');
    const tookMs = performance.now() - begin;
    assert.equal(second.status, 201, JSON.stringify(second.body));
    assert.ok(tookMs < TAKEOVER_MS_MAX, `${tookMs} ms`);
    const found = await others[1]!.get(`${HOLDS}/${String(first.body['hold_id'] ?? first.body['id'])}`, {
      'x-session-key': 'session-first',
    });
    assert.equal(found.status, 200, JSON.stringify(found.body));
    await until(async () => (await others[0]!.get('/health/ready')).status === 200);
  });
});

describe('A node that is told to stop while it loads its catalogue', { skip: nats.missing }, () => {
  it('gives its shards up in order, as any node that stops', async (t) => {
    const server = await startNats();
    t.after(() => server.close());
    const catalogue = newFolder(t);
    for (let number = 0; number < EVENTS; number += 1) {
      const event = { ...sample('club-night'), picture: null, id: `evt_${number}`, slug: `night-${number}` };
      writeFileSync(path.join(catalogue, `${number}.json`), JSON.stringify(event));
    }
    const [node] = await startNodes(1, {
      url: server.url,
      clusterName: 'loading',
      shards: SHARDS,
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

/** The node that owns the event, as the first one hears it. */
async function ownerOf(eventId: string, nodes: readonly ServiceProcess[]): Promise<ServiceProcess> {
  const { body } = await nodes[0]!.admin.get<{ shards: { owner: string }[] }>('/admin/cluster');
  assert.equal(body.shards.length, SHARDS);
  return nodes[NAMES.indexOf(body.shards[shardOf(eventId, SHARDS)]!.owner)]!;
}
