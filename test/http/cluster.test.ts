/** The cluster as operators read it, and its absence on a single machine. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { connectRaw } from '../fixtures/raw-socket.ts';
import { ADMIN_TOKEN, clusterOfTwo, openApps, type Apps } from './apps.ts';

const authorization = `Bearer ${ADMIN_TOKEN}`;

async function withApps(apps: Promise<Apps>, check: (apps: Apps) => Promise<void>): Promise<void> {
  const opened = await apps;
  try {
    await check(opened);
  } finally {
    await opened.close();
  }
}

describe('GET /admin/cluster', () => {
  it('shows the live nodes, who owns each shard, and the latest takeovers', () =>
    withApps(openApps({}, ['club-night'], { cluster: clusterOfTwo() }), async ({ admin }) => {
      const answer = await admin.inject({ url: '/admin/cluster', headers: { authorization } });
      assert.equal(answer.statusCode, 200, answer.body);
      const { now, ...body } = answer.json<Record<string, unknown>>();
      assert.equal(now, '2027-05-07T12:00:00.000Z');
      assert.deepEqual(body, {
        name: 'holdfast',
        node: 'north',
        connected: true,
        shards_owned: 2,
        shards_unowned: 1,
        nodes: [
          { name: 'north', shards: 2, leaving: false },
          { name: 'south', shards: 1, leaving: true },
        ],
        shards: [
          { shard: 0, owner: 'north', epoch: 7 },
          { shard: 1, owner: 'south', epoch: 9 },
          { shard: 2, owner: 'north', epoch: 1_204 },
          { shard: 3, owner: null, epoch: null },
        ],
        takeovers: [
          { shard: 2, at: '2027-05-07T12:00:00.000Z', from: 'south', to: 'north', epoch: 1_204, ownerless_ms: 1_630 },
        ],
      });
      const overview = await admin.inject({ url: '/admin/overview', headers: { authorization } });
      assert.equal(overview.json<{ service: { node: string } }>().service.node, 'north');
    }));

  it('asks for the token', () =>
    withApps(openApps({}, ['club-night'], { cluster: clusterOfTwo() }), async ({ admin }) => {
      assert.equal((await admin.inject('/admin/cluster')).statusCode, 401);
    }));

  it('is not there on a single machine, neither as a route nor in the document', () =>
    withApps(openApps({}, ['club-night']), async ({ admin }) => {
      const answer = await admin.inject({ url: '/admin/cluster', headers: { authorization } });
      assert.equal(answer.statusCode, 404);
      const document = (await admin.inject('/openapi.json')).body;
      assert.doesNotMatch(document, /\/admin\/cluster|getCluster/);
      const overview = await admin.inject({ url: '/admin/overview', headers: { authorization } });
      assert.equal(overview.json<{ service: { node: null } }>().service.node, null);
    }));
});

describe('X-Served-By', () => {
  it('names the node in every answer of both listeners, errors included', () =>
    withApps(openApps({ nodeName: 'north' }, ['club-night'], { cluster: clusterOfTwo() }), async ({ app, admin }) => {
      const addresses = ['/health/ready', '/api/events/public', '/no/such/address', '/%E0%A4%A'];
      for (const listener of [app, admin]) {
        for (const url of addresses) {
          const answer = await listener.inject(url);
          assert.equal(answer.headers['x-served-by'], 'north', `${url}: ${answer.statusCode}`);
        }
        await listener.listen({ host: '127.0.0.1', port: 0 });
        const { port } = listener.server.address() as { readonly port: number };
        for (const bytes of ['not HTTP\r\n\r\n', 'CONNECT x:1 HTTP/1.1\r\nhost: x:1\r\n\r\n']) {
          const client = connectRaw(`http://127.0.0.1:${port}`);
          client.write(bytes);
          assert.match(await client.closed(), /^x-served-by: north\r$/m, bytes);
        }
      }
    }));

  it('is a digest where NODE_NAME is not set, as the node is in the health that the public reads', () =>
    withApps(openApps({}, ['club-night'], { cluster: clusterOfTwo() }), async ({ app, admin }) => {
      const answer = await app.inject('/health/ready');
      const { node } = answer.json<{ node: string }>();
      assert.match(node, /^[\w-]{16}$/);
      assert.equal(answer.headers['x-served-by'], node);
      assert.equal((await admin.inject('/health/ready')).json<{ node: string }>().node, 'north');
    }));

  it('is not sent by a single machine', () =>
    withApps(openApps({}, ['club-night']), async ({ app }) => {
      for (const url of ['/health/ready', '/no/such/address']) {
        assert.equal((await app.inject(url)).headers['x-served-by'], undefined, url);
      }
      assert.equal((await app.inject('/health/ready')).json<{ node?: string }>().node, undefined);
    }));
});
