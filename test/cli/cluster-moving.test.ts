/** A shop moves to a cluster on a real NATS server and back, by the commands that an operator runs. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect } from '@nats-io/transport-node';
import { SECRETS } from '#cli/folder/import.ts';
import { heartbeatSubject } from '#cluster/calls/membership.ts';
import { messageKeysOf, signedBus } from '#cluster/calls/signed-bus.ts';
import { natsBus } from '#cluster/calls/bus.ts';
import { connectToServers } from '#persistence/nats/connection.ts';
import { nodeTiming } from '#persistence/nats/timing.ts';
import { openBuckets } from '#persistence/nats/servers/buckets.ts';
import { freePort } from '#operations/free-ports.ts';
import { holdfast, samples, serving, succeeded, type Environment } from './holdfast.ts';
import { checkoutBody, start, START_CHECKOUT } from '../fixtures/checkout.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { nats, startNats, type NatsServer } from '../fixtures/nats.ts';
import { newFolder } from '../fixtures/folders.ts';

interface Report {
  readonly ok: boolean;
  readonly events: number;
  readonly figures: object;
  readonly state_fingerprint: string;
  readonly head_hash: string;
}

const twoInErfurt = {
  event_id: 'evt_erfurt',
  items: [{ ticket_type_id: 'kat1', selling_stage_id: 'general', performance_id: 'derby', quantity: 2 }],
};

const single = (email: string) => ({ event_id: 'evt_club', items: [floor(1)], customer: { email, name: 'Maria' } });

describe('With a NATS server,', { skip: nats.missing, concurrency: 5 }, () => {
  let server: NatsServer;
  let clusters = 0;
  /** The settings of a cluster that does not exist yet. */
  const newCluster = (): Environment => ({
    NATS_URL: server.url,
    CLUSTER_NAME: `shop_${(clusters += 1)}`,
    CLUSTER_REPLICAS: '1',
    CLUSTER_SHARDS: '4',
  });

  before(async () => {
    server = await startNats();
  });
  after(() => server?.close());

  // It waits for ten seconds, beside the others.
  it('a server that cannot be reached is named, with what to check', async (t) => {
    const out = path.join(newFolder(t), 'out');
    const away = { ...newCluster(), NATS_URL: `nats://127.0.0.1:${await freePort()}` };
    const { code, stderr } = await holdfast(['backup', out], away);
    assert.equal(code, 1);
    assert.match(stderr, /the NATS servers could not be reached: .+\nCheck NATS_URL/);
  });

  it('a folder that was imported and backed up has equal books, verifies and is served', async (t) => {
    const parent = newFolder(t);
    const [data, out] = [path.join(parent, 'data'), path.join(parent, 'out')];
    const cluster = newCluster();
    const service = await serving(t, data);
    succeeded(await holdfast(['load', samples], service.environment));
    for (const key of ['a', 'b', 'c']) await service.client.hold({ session_key: `session-${key}`, ...twoInErfurt });
    const early = await holdfast(['import', data], cluster);
    assert.equal(early.code, 1);
    assert.match(early.stderr, /a service runs on .* \(process \d+\)\nStop it first/);
    await service.stop();

    const before = (await holdfast(['verify', '--data', data, '--json'])).json<Report>();
    const imported = succeeded(await holdfast(['import', data], cluster));
    assert.match(imported.stdout, /^[\d,]+ facts of 7 events are in the cluster shop_\d, on [1-4] shards?\.\n/);
    assert.match(imported.stdout, /Start every node with TICKET_KEY as in .*ticket-key\./);
    const again = await holdfast(['import', data, '--json'], cluster);
    assert.equal(again.code, 1);
    assert.match(again.json<{ error: string }>().error, /the cluster is not empty: shard \d has records/);

    const backup = succeeded(await holdfast(['backup', out, '--json'], cluster));
    const after = backup.json<Report>();
    assert.deepEqual(after.figures, before.figures);
    assert.equal(after.state_fingerprint, before.state_fingerprint);
    assert.notEqual(after.head_hash, before.head_hash);
    succeeded(await holdfast(['verify', out], cluster));
    const served = await serving(t, out);
    await served.client.hold({ session_key: 'session-d', ...twoInErfurt });
    await served.stop();
  });

  it('a node sells from an imported folder, and a backup beside it has what it sold', async (t) => {
    const parent = newFolder(t);
    const [data, out] = [path.join(parent, 'data'), path.join(parent, 'out')];
    const cluster = newCluster();
    const service = await serving(t, data);
    succeeded(await holdfast(['load', samples], service.environment));
    await service.client.hold({ session_key: 'session-a', ...twoInErfurt });
    await service.stop();
    succeeded(await holdfast(['import', data], cluster));

    const secrets = Object.fromEntries(
      SECRETS.map(([file, setting]) => [setting, readFileSync(path.join(data, file), 'utf8').trim()]),
    );
    const node = await serving(t, path.join(parent, 'cache'), { ...cluster, ...secrets });
    await node.client.hold({ session_key: 'session-b', ...twoInErfurt });
    const backup = succeeded(await holdfast(['backup', out, '--json'], cluster));
    const { figures, events } = backup.json<
      Report & { readonly figures: { readonly holds: { readonly active: number } } }
    >();
    assert.deepEqual([events, figures.holds.active], [7, 2]);
    await node.stop();

    const back = await serving(t, out, secrets);
    await back.client.hold({ session_key: 'session-c', ...twoInErfurt });
    const verified = succeeded(await holdfast(['verify', '--json'], back.environment));
    assert.equal(verified.json<{ figures: { holds: { active: number } } }>().figures.holds.active, 3);
    await back.stop();
  });

  it('personal data can be read at a node and in a backup of it, and an address has its limit there', async (t) => {
    const parent = newFolder(t);
    const [data, out] = [path.join(parent, 'data'), path.join(parent, 'out')];
    const cluster = newCluster();
    const service = await serving(t, data);
    const file = path.join(parent, 'limited.json');
    const stages = [{ id: 'regular', name: 'Regular', prices: { single: 0, crew: 0 } }];
    writeFileSync(file, JSON.stringify(clubNight({ max_tickets_per_email: 1, sellingStages: stages })));
    succeeded(await holdfast(['load', file], service.environment));
    const [maria, bernd] = [
      await start(service.client, single('maria@example.com')),
      await start(service.client, single('bernd@example.com')),
    ];
    await service.stop();
    succeeded(await holdfast(['import', data], cluster));

    const secrets = Object.fromEntries(
      SECRETS.map(([name, setting]) => [setting, readFileSync(path.join(data, name), 'utf8').trim()]),
    );
    const node = await serving(t, path.join(parent, 'cache'), { ...cluster, ...secrets });
    const again = await node.client.post(START_CHECKOUT, checkoutBody(single('Maria@example.com')));
    assertRefused(again, 400, 'MAX_TICKETS_PER_EMAIL_EXCEEDED');
    succeeded(await holdfast(['erase', bernd.order_id!, '--yes'], node.environment));
    succeeded(await holdfast(['backup', out], cluster));
    await node.stop();

    const exported = await holdfast(['export', 'orders', 'evt_club', '--data', out]);
    assert.match(exported.stdout, new RegExp(`${maria.order_id}.*maria@example.com`));
    assert.doesNotMatch(exported.stdout, /bernd/i);
    const counted = (await holdfast(['pii', out, '--json'])).json<{ ok: boolean; total: object }>();
    const {
      sealed_texts: sealed,
      openable_texts: openable,
      erased_orders: gone,
    } = counted.total as Record<string, number>;
    assert.deepEqual([counted.ok, sealed, openable, gone], [true, 2, 1, 1]);
  });

  it('an import is refused while a node is live, and leaves the cluster empty', async (t) => {
    const parent = newFolder(t);
    const data = path.join(parent, 'data');
    const cluster = newCluster();
    succeeded(await holdfast(['load', '--offline', samples], { DATA_DIR: data }));
    const node = await connectToServers({ servers: [server.url] }, { name: 'test' });
    const name = cluster['CLUSTER_NAME']!;
    const keys = messageKeysOf(name, [Buffer.alloc(32, 5).toString('base64url')]);
    const bus = signedBus({ bus: natsBus(node), time: nodeTiming, keys, instance: 'b-1' });
    const heartbeat = '{"node":"node-b","instance":"b-1","beat":1,"shards":[],"leaving":false}';
    const beat = setInterval(() => bus.publish(heartbeatSubject(name), Buffer.from(heartbeat)), 50);
    const refused = await holdfast(['import', data], cluster);
    clearInterval(beat);
    await node.close();
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /are running: node-b\nStop all nodes first/);
    succeeded(await holdfast(['import', data], cluster));
  });

  it('a backup of a cluster that nobody made is refused, and makes nothing', async (t) => {
    const out = path.join(newFolder(t), 'out');
    const { code, stderr } = await holdfast(['backup', out], newCluster());
    assert.equal(code, 1);
    assert.match(stderr, /there is no cluster shop_\d on these servers\nCheck NATS_URL and CLUSTER_NAME/);
    assert.equal(existsSync(out), false);
  });

  it('a backup with another number of shards than the cluster has is refused', async (t) => {
    const parent = newFolder(t);
    const data = path.join(parent, 'data');
    const cluster = newCluster();
    succeeded(await holdfast(['load', '--offline', samples], { DATA_DIR: data }));
    succeeded(await holdfast(['import', data], cluster));
    const { code, stderr } = await holdfast(['backup', path.join(parent, 'out')], { ...cluster, CLUSTER_SHARDS: '8' });
    assert.equal(code, 1);
    assert.match(stderr, /CLUSTER_SHARDS is 8, but the first node of this cluster fixed it to 4/);
  });

  it('an import is refused beside the objects of a cluster whose other streams were deleted', async (t) => {
    const parent = newFolder(t);
    const cluster = newCluster();
    const service = await serving(t, path.join(parent, 'data'));
    succeeded(await holdfast(['load', samples], service.environment));
    await service.stop();
    const connection = await connect({ servers: server.url });
    t.after(() => connection.close());
    const name = cluster['CLUSTER_NAME']!;
    const { checkpoints } = await openBuckets(connection, { clusterName: name, replicas: 1 });
    await checkpoints.put('0', Buffer.from('of the cluster that was there before'));
    const { code, stderr } = await holdfast(['import', path.join(parent, 'data')], cluster);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`the cluster is not empty: the stream OBJ_${name}_CHECKPOINTS has objects`));
    assert.match(stderr, new RegExp(`delete the streams whose names begin with ${name}_ and OBJ_${name}_`));
  });

  it('a folder without a journal is not imported', async (t) => {
    const folder = newFolder(t);
    const { code, stderr } = await holdfast(['import', folder], newCluster());
    assert.equal(code, 1);
    assert.match(stderr, /there is no journal in /);
    assert.deepEqual(readdirSync(folder), []);
  });

  it('wrong use is explained in one line', async (t) => {
    const out = path.join(newFolder(t), 'out');
    const cluster = newCluster();
    const [noFolder, both] = await Promise.all([
      holdfast(['import', 'no-such-folder'], cluster),
      holdfast(['backup', out, '--data', samples], cluster),
    ]);
    assert.deepEqual([noFolder.code, both.code], [2, 2]);
    assert.match(noFolder.stderr, /there is no folder no-such-folder/);
    assert.match(both.stderr, /--data names the folder of a single machine, and NATS_URL a cluster/);
  });
});
