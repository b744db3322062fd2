/**
 * Three real nodes on three real servers: what they say of themselves, and, while nodes and servers fail, that
 * everything that was answered is there, once, and at each node.
 *
 * `npm run soak -- --cluster` runs every kind of fault, for as long as asked.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CALL_MS_MAX } from '#persistence/nats/timing.ts';
import { deep } from '../depth.ts';
import type { Answer } from '../fixtures/client.ts';
import { nats, type NatsServer } from '../fixtures/nats.ts';
import { ownerOf, type NodeProcess } from '../fixtures/nodes.ts';
import { until } from '../fixtures/until.ts';
import { audit } from './drill/audit.ts';
import { buy, purchase, takeTickets } from './drill/buyers.ts';
import { streamsLedBy, type FaultKind } from './drill/faults.ts';
import { missedPromises, PROMISED_MS, reportDrill } from './drill/report.ts';
import { drillEvent, openRunningCluster, openSale, runDrill, untilCurrent, type RunningCluster } from './drill/run.ts';

const SHARDS = 8;
const EVENTS = 4;
const BUYERS = 6;
/** Other tests run on the same machine. */
const SLACK = 4;
const STOCK = 200;
const CAPACITY = 1_000_000;
const BUYERS_OF_STOCK = 384;
/** The longest that a buyer of the drill waits between two calls. */
const REST_MS_MAX = 200;
const AT_ONCE = 48;
const ORDER_TRIES_MAX = 5;

const COUNTED = [
  'forwarded_total',
  'takeovers_total',
  'fenced_total',
  'foreign_messages_total',
  'append_seconds_count',
];

/** A server is killed below. */
const SHORT: readonly FaultKind[] = ['node killed', 'node ended'];
const REST: readonly FaultKind[] = [
  'server killed',
  'node stopped 5 s',
  'server ended',
  'server stopped 5 s',
  'everything killed',
];

describe('Three nodes on three servers', { skip: nats.missing }, () => {
  let cluster: RunningCluster;
  before(async () => {
    cluster = await openRunningCluster(SHARDS);
  });
  after(() => cluster?.close());

  it('say who they are, whether they are ready, and what they own', async () => {
    for (const node of cluster.nodes) {
      // On a busy machine shards may still move when the last node is up.
      let ready = await node.get('/health/ready');
      await until(async () => (ready = await node.get('/health/ready')).status === 200);
      assert.equal(ready.body['node'], node.name);
      assert.equal(ready.headers.get('x-served-by'), node.name);
      const missing = await node.get('/api/no/such/address');
      assert.equal(missing.headers.get('x-served-by'), node.name);
    }
    const owned = async (node: NodeProcess): Promise<number> => {
      const { body } = await node.admin.get<string>('/metrics');
      const value = (name: string): number =>
        Number(new RegExp(`^holdfast_cluster_${name} (.*)$`, 'm').exec(body)?.[1]);
      assert.equal(value('nodes'), cluster.nodes.length);
      for (const name of COUNTED) assert.ok(value(name) >= 0, name);
      return value('shards_owned');
    };
    // While a shard moves it has no owner for a moment.
    await until(async () => {
      const counts = await Promise.all(cluster.nodes.map(owned));
      return counts.reduce((sum, count) => sum + count, 0) === SHARDS;
    }, 'every shard has one owner');
  });

  it('keep what they answered while nodes are killed and ended, and say the same afterwards', async (t) => {
    const settings = {
      buyers: BUYERS,
      shards: SHARDS,
      events: EVENTS,
      restMsMax: REST_MS_MAX,
      seed: 1,
      onProgress() {},
    };
    const outcome = await runDrill({ ...settings, faults: deep(1) > 1 ? [...SHORT, ...REST] : SHORT }, cluster);
    t.diagnostic(reportDrill(outcome));
    assert.deepEqual(outcome.wrong, []);
    assert.ok(outcome.ticketsHeld > 0 && outcome.ticketsSold > 0 && outcome.released > 0, JSON.stringify(outcome));
    assert.deepEqual(missedPromises(outcome.steps, SLACK), []);
    const [killed] = outcome.steps;
    // Whether a call was lost is chance: none may have been under way at the node just then.
    assert.ok(Math.max(...killed!.touchedMs) > REST_MS_MAX, 'the fault touched events and was noticed');
  });

  it(`sell a stock of ${STOCK} to ${BUYERS_OF_STOCK} buyers exactly, though its owner is killed in the middle`, async () => {
    const { id } = drillEvent('evt_last-tickets', STOCK);
    await cluster.nodes[0]!.define(drillEvent(id, STOCK));
    const sale = openSale(cluster, [id], { seed: 2, restMsMax: 0 });
    const owner = await ownerOf(id, cluster.nodes, SHARDS);
    let left = BUYERS_OF_STOCK;
    let ending: Promise<void> | null = null;
    let placedBefore = 0;
    const placed: boolean[] = [];
    const buyNext = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        placed.push((await takeTickets(sale, id, 1)) !== null);
        if (sale.ledger.length < STOCK / 3 || ending !== null) continue;
        ending = owner!.kill();
        placedBefore = sale.ledger.length;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, buyNext));
    await ending;
    await owner!.start();
    assert.ok(placedBefore > 0 && placedBefore < STOCK, 'the owner was killed in the middle');
    assert.equal(placed.length, BUYERS_OF_STOCK);
    assert.equal(placed.filter(Boolean).length, STOCK);
    assert.deepEqual(await audit(sale, cluster.nodes), { held: STOCK, sold: 0 });
    assert.deepEqual(sale.tally.wrong, []);
  });

  it('sell, and show orders at every node, although the server that leads the stream of their keys was just killed', async () => {
    const { id } = drillEvent('evt_keys', CAPACITY);
    await cluster.nodes[0]!.define(drillEvent(id, CAPACITY));
    const sale = openSale(cluster, [id], { seed: 3, restMsMax: 200 });
    const entry = (await takeTickets(sale, id, 1))!;
    await purchase(sale, entry);
    const buyers = Array.from({ length: BUYERS }, () => buy(sale));
    const owner = await ownerOf(id, cluster.nodes, SHARDS);
    // The owner has the key at hand.
    const others = cluster.nodes.filter(({ name }) => name !== owner!.name);
    await untilCurrent(cluster, sale);
    const leader = await serverThatLeads(`${cluster.clusterName}_K`);
    sale.answers.begin();
    await leader.kill();
    sale.answers.expectAll();
    try {
      for (const { status, body } of await Promise.all(others.map((node) => orderAt(node, entry.orderId!)))) {
        const customer = { name: 'Drill Buyer', email: `${entry.sessionKey}@example.com` };
        assert.deepEqual([status, body['customer']], [200, customer], JSON.stringify(body));
      }
      await until(() => sale.answers.isAnswering, 'two servers suffice');
    } finally {
      sale.isClosing = true;
      await leader.start();
    }
    await Promise.all(buyers);
    const longestMs = Math.max(...sale.answers.gapsMs().values());
    assert.ok(longestMs <= SLACK * PROMISED_MS['server killed']!, `no answer for ${longestMs} ms`);
    const { held, sold } = await audit(sale, cluster.nodes);
    assert.ok(held + sold > 1);
    assert.deepEqual(sale.tally.wrong, []);
  });

  /** The status of an order; on a busy machine an election may take longer than a request waits. */
  async function orderAt(node: NodeProcess, orderId: string): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      const begin = performance.now();
      const answer = await node.get(`/api/checkout/status/${orderId}`);
      const tookMs = performance.now() - begin;
      if (answer.status !== 503 || tries === ORDER_TRIES_MAX) return answer;
      assert.ok(tookMs >= CALL_MS_MAX, `503 after ${tookMs} ms`);
    }
  }

  async function serverThatLeads(stream: string): Promise<NatsServer> {
    let leader: NatsServer | undefined;
    await until(async () => {
      const led = await Promise.all(cluster.servers.map(streamsLedBy));
      leader = cluster.servers[led.findIndex((streams) => streams.includes(stream))];
      return leader !== undefined;
    });
    return leader!;
  }
});
