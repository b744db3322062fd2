/**
 * Personal data in a cluster: sealed on the servers, erased at any node, and erased whatever happens to the node that
 * does it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { Overloaded } from '#actors/admission.ts';
import { shardOf } from '#cluster/directory/placement.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import type { OrderStatusBody } from '#http/buyers/orders/schema.ts';
import { keyIdOf } from '#domain/personal.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView } from '#domain/view.ts';
import { readAllKeys } from '#persistence/nats/keys/copy.ts';
import { openServers, type ClusterServers } from '#persistence/nats/servers/servers.ts';
import { checkoutBody, START_CHECKOUT, type Started } from '../fixtures/checkout.ts';
import { clusterSecrets } from '../fixtures/cluster.ts';
import {
  defineAt,
  executeAt,
  findAt,
  withNodes,
  ownerOf,
  type TestNode,
  type TestNodes,
} from '../fixtures/cluster-nodes.ts';
import { erase, start, visitor } from '../fixtures/commands.ts';
import { concert } from '../fixtures/actors.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { filesWith } from '../fixtures/folders.ts';
import { nats, startNats, type NatsServer } from '../fixtures/nats.ts';
import { runToEnd, spawnService, type ServiceProcess } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const EVENT = 'evt_concert';
const SHARD = shardOf(EVENT, 4);

/** Two nodes and a concert that costs nothing. */
const withConcert = (work: (all: readonly TestNode[], nodes: TestNodes) => Promise<void>): Promise<void> =>
  withNodes(['a', 'b'], async (all, nodes) => {
    await defineAt(all, concert({ sellingStages: [{ id: 'now', name: 'Now', prices: { stand: 0 } }] }));
    await work(all, nodes);
  });

async function buy(node: TestNode, email: string): Promise<OrderView> {
  const item = { ticketTypeId: 'stand', sellingStageId: 'now', quantity: 1, performanceId: null, seatIds: null };
  const items = [{ ...item, discountCode: null, attendees: [visitor('Bernd')], barPerks: [] }];
  const customer = { email, name: 'Maria', documentNumber: null, phone: null };
  return (await executeAt(node, EVENT, start({ items, customer }))).order;
}

async function orderAt({ engine }: TestNode, orderId: string): Promise<OrderView> {
  const found = await (await findAt(engine, EVENT)).read({ type: 'FindOrder', orderId });
  assert.ok(!isRefusal(found), JSON.stringify(found));
  return found.order;
}

const keyOf = ({ personal }: OrderView): string => keyIdOf(personal.sealed!);

const tryToErase = async ({ engine }: TestNode, { id }: OrderView) => (await findAt(engine, EVENT)).execute(erase(id));

describe('An order in a cluster', () => {
  it('is read at every node, and erased at any: its key is gone for all', () =>
    withConcert(async (all, nodes) => {
      const order = await buy(all[0]!, 'maria@example.com');
      for (const node of all) {
        const opened = await node.engine.personalData.open(await orderAt(node, order.id));
        assert.equal(opened.customer?.email, 'maria@example.com');
      }
      assert.ok(nodes.storage.keys.has(keyOf(order)));
      await executeAt(
        all.find((node) => node !== ownerOf(all, EVENT))!,
        EVENT,
        erase(order.id),
      );
      assert.ok(!nodes.storage.keys.has(keyOf(order)));
      for (const node of all) {
        assert.equal((await node.engine.personalData.open(order)).state, 'ERASED', 'also of a view from before');
        assert.equal((await orderAt(node, order.id)).personal.sealed, null);
      }
    }));

  it('is erased by the next owner when the one before was killed between the fact and the key', () =>
    withConcert(async (all, nodes) => {
      const order = await buy(all[0]!, 'maria@example.com');
      const owner = ownerOf(all, EVENT);
      const other = all.find((node) => node !== owner)!;
      owner.keys.fail(true);
      await assert.rejects(tryToErase(owner, order), Overloaded);
      assert.ok(nodes.storage.keys.has(keyOf(order)), 'the fact is durable, the key is there');
      owner.kill();
      await until(() => !nodes.storage.keys.has(keyOf(order)), 'the next owner destroys the key');
      const reply = await executeAt(other, EVENT, erase(order.id));
      assert.equal(reply.order.personal.erasure?.operator, 'olga', 'a repeat finds nothing to do');
    }));

  it('is erased by a later owner though the log was purged, because no checkpoint leaves an unfinished erasure out', () =>
    withConcert(async (all, nodes) => {
      const [first, second] = [await buy(all[0]!, 'maria@example.com'), await buy(all[0]!, 'otto@example.com')];
      const owner = ownerOf(all, EVENT);
      const other = all.find((node) => node !== owner)!;
      await executeAt(owner, EVENT, erase(first.id));
      const snapshot = (): Promise<unknown> => owner.engine.takeSnapshots({ prune: true }, null);
      await snapshot();
      const noted = nodes.storage.erasedThrough.get(`shard-${SHARD}`) ?? 0;
      assert.ok(noted > 0, 'it is noted that the first erasure is complete');
      owner.keys.fail(true);
      await assert.rejects(tryToErase(owner, second), Overloaded);
      await snapshot().catch(() => {});
      await snapshot().catch(() => {});
      assert.equal(nodes.storage.erasedThrough.get(`shard-${SHARD}`), noted);
      owner.kill();
      await until(() => !nodes.storage.keys.has(keyOf(second)), 'the next owner destroys the key');
      const again = other.engine.takeSnapshots({ prune: true }, null);
      assert.ok(!isRefusal(await again));
      assert.ok(nodes.storage.erasedThrough.get(`shard-${SHARD}`)! > noted);
    }));

  it('past its retention is looked for again by a node that owns the event again', () =>
    withNodes(['a', 'b'], async (all, nodes) => {
      const performances = [{ id: 'fri', starts_at: '2027-05-08T20:00:00Z', ends_at: '2027-05-08T22:00:00Z' }];
      await defineAt(all, concert({ performances, retention_days: 1 }));
      nodes.clock.now = Date.parse('2027-05-10T00:00:00Z');
      const owner = ownerOf(all, EVENT);
      const other = all.find((node) => node !== owner)!;
      const [past] = owner.engine.pastRetention();
      owner.kill();
      await until(() => other.engine.owns(EVENT), 'the other node takes the event over');
      assert.ok(other.engine.pastRetention()[0]!.epoch! > past!.epoch!);
    }));

  it('is erased in the end when the keys could not be reached for a while, and a repeat is answered then', () =>
    withConcert(async (all, nodes) => {
      const order = await buy(all[0]!, 'maria@example.com');
      const owner = ownerOf(all, EVENT);
      owner.keys.fail(true);
      await assert.rejects(tryToErase(owner, order), Overloaded);
      owner.keys.fail(false);
      await executeAt(owner, EVENT, erase(order.id));
      assert.ok(!nodes.storage.keys.has(keyOf(order)));
    }));
});

describe('Nodes on a NATS server', { skip: nats.missing }, () => {
  const CLUSTER = 'shop';
  const PERSONAL = ['qzxqz@example.com', 'Qzxqz Curie', 'qzxqz-click'];
  let server: NatsServer;
  let nodes: ServiceProcess[] = [];
  let servers: ClusterServers;

  const environment = (name: string): Record<string, string> => ({
    NATS_URL: server.url,
    NODE_NAME: name,
    CLUSTER_NAME: CLUSTER,
    CLUSTER_SHARDS: '2',
    CLUSTER_REPLICAS: '1',
    ...clusterSecrets,
  });
  const open = (name: string, more: Record<string, string> = {}): Promise<ServiceProcess> =>
    spawnService({ environment: { ...environment(name), ...more } });

  before(async () => {
    server = await startNats();
    nodes = await Promise.all(['one', 'two'].map((name) => open(name)));
    const settings = { servers: [server.url], clusterName: CLUSTER, shards: 2, replicas: 1 };
    servers = await openServers(settings, { name: 'test', mustExist: true });
    await nodes[0]!.define(clubNight());
  });

  after(async () => {
    await servers?.close();
    await Promise.all(nodes.map((node) => node.close()));
    await server?.close();
  });

  async function purchase(node: ServiceProcess): Promise<Started> {
    const customer = { email: PERSONAL[0], name: PERSONAL[1] };
    const attendees = [{ name: PERSONAL[1], email: PERSONAL[0] }];
    const body = checkoutBody({
      event_id: 'evt_club',
      items: [floor(1, { attendees })],
      customer,
      tracking: { gclid: PERSONAL[2] },
    });
    const { status, body: started } = await node.post<Started>(START_CHECKOUT, body);
    assert.equal(status, 201, JSON.stringify(started));
    const paid = await node.post(`/sandbox/payments/${started.checkout_session_id}`, { outcome: 'paid' });
    assert.equal(paid.status, 200, JSON.stringify(paid.body));
    return started;
  }

  const nameAt = async (node: ServiceProcess, { order_id: id }: Started): Promise<string | null> => {
    const { body, status } = await node.get<OrderStatusBody>(`/api/checkout/status/${id}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.customer.name;
  };

  const onDisk = (): string[] => PERSONAL.flatMap((text) => filesWith(server.folder, Buffer.from(text)));

  async function keysThere(): Promise<readonly Buffer[]> {
    const keys: Buffer[] = [];
    for await (const part of readAllKeys(await servers.keyLog())) keys.push(...part.keys.map(({ key }) => key));
    return keys;
  }

  it('have no personal data on the disk of the server, and no key there once an order is erased', async () => {
    const [one, two] = nodes as [ServiceProcess, ServiceProcess];
    const order = await purchase(one);
    for (const node of nodes) assert.equal(await nameAt(node, order), PERSONAL[1]);
    const taken = await one.operate('POST', '/admin/snapshot', { body: { prune: true } });
    assert.equal(taken.status, 200, JSON.stringify(taken.body));
    assert.deepEqual(onDisk(), []);
    const keys = await keysThere();
    const erased = await two.operate<AdminOrderBody>('POST', `/admin/orders/${order.order_id}/erase`);
    assert.equal(erased.status, 200, JSON.stringify(erased.body));
    const left = await keysThere();
    const gone = keys.filter((key) => !left.some((other) => other.equals(key)));
    assert.equal(gone.length, 1);
    assert.deepEqual(filesWith(server.folder, gone[0]!), []);
    for (const node of nodes) assert.equal(await nameAt(node, order), null);
  });

  it('erase each at their own, though one is killed meanwhile', async () => {
    const [one, two] = nodes as [ServiceProcess, ServiceProcess];
    const orders = await Promise.all(Array.from({ length: 12 }, (_, n) => purchase(nodes[n % 2]!)));
    const erasing = orders.map(async ({ order_id: id }) => {
      for (;;) {
        const answer = await two.operate('POST', `/admin/orders/${id}/erase`);
        if (answer.status === 200) return;
        assert.equal(answer.status, 503, JSON.stringify(answer.body));
        await pause(50);
      }
    });
    await one.end('SIGKILL');
    await Promise.all(erasing);
    for (const order of orders) assert.equal(await nameAt(two, order), null);
    assert.deepEqual(onDisk(), []);
    nodes = [two];
  });

  it('do not start without the keys, unless an operator accepts that they are lost', async () => {
    const [two] = nodes as [ServiceProcess];
    const order = await purchase(two);
    await two.end('SIGTERM');
    const { jetstreamManager } = await import('@nats-io/jetstream');
    await (await jetstreamManager(servers.connection.nats)).streams.delete(`${CLUSTER}_K`);
    const { code, text } = await runToEnd({ environment: environment('three') });
    assert.equal(code, 5, text);
    assert.match(text, /the stream shop_K, which has their keys, is missing\n.*KEYS_LOST=accept/);
    assert.equal(await servers.existingKeyLog(), null, 'nothing was made');
    nodes = [await open('one', { KEYS_LOST: 'accept' })];
    nodes.push(await open('two'));
    for (const node of nodes) assert.equal(await nameAt(node, order), null);
    const next = await purchase(nodes[0]!);
    for (const node of nodes) assert.equal(await nameAt(node, next), PERSONAL[1]);
  });
});
