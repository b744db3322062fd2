/**
 * The bucket on real servers: the contract of named objects, what a damage of the servers looks like, and their
 * absence.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { jetstreamManager } from '@nats-io/jetstream';
import { Objm } from '@nats-io/obj';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { ObjectBucket } from '#persistence/nats/objects/objects.ts';
import { ObjectDamaged, ObjectsUnreachable } from '#persistence/objects.ts';
import { nats, startNats, type NatsServer } from '../../../fixtures/nats.ts';
import { describeObjects } from '../../objects.ts';

describe('On a NATS server,', { skip: nats.missing }, () => {
  let server: NatsServer;
  let connection: NatsConnection;
  let buckets = 0;
  const open = (): Promise<ObjectBucket> =>
    ObjectBucket.open(connection, { name: `test_${(buckets += 1)}`, replicas: 1 });

  before(async () => {
    server = await startNats();
    connection = await connect({ servers: server.url });
  });
  after(async () => {
    await connection?.close();
    await server?.close();
  });

  describeObjects('a bucket', open);

  it('a bucket is in the format of other clients, and opens a second time', async () => {
    const bucket = await open();
    const bytes = randomBytes(400_000);
    await bucket.put('7/a b', bytes);
    const theirs = await new Objm(connection).open(`test_${buckets}`);
    assert.deepEqual(Buffer.from((await theirs.getBlob('7/a b'))!), bytes);
    const again = await ObjectBucket.open(connection, { name: `test_${buckets}`, replicas: 1 });
    assert.deepEqual(await again.list('7/'), ['7/a b']);
  });

  it('a bucket leaves nothing of an object that was deleted or replaced', async () => {
    const bucket = await open();
    const manager = await jetstreamManager(connection);
    for (let round = 0; round < 3; round += 1) await bucket.put('a', randomBytes(300_000));
    assert.equal((await manager.streams.info(`OBJ_test_${buckets}`)).state.messages, 4);
    await bucket.delete('a');
    assert.equal((await manager.streams.info(`OBJ_test_${buckets}`)).state.messages, 0);
  });

  it('an object without one of its chunks is damaged, is listed and can be deleted', async () => {
    const bucket = await open();
    await bucket.put('a', randomBytes(300_000));
    const manager = await jetstreamManager(connection);
    await manager.streams.deleteMessage(`OBJ_test_${buckets}`, 2, false);
    await assert.rejects(bucket.get('a'), ObjectDamaged);
    assert.deepEqual(await bucket.list(''), ['a']);
    await bucket.delete('a');
    assert.deepEqual(await bucket.list(''), []);
  });

  it('an object with other bytes in a chunk is damaged', async () => {
    const bucket = await open();
    await bucket.put('a', randomBytes(300_000));
    const entry = await new Objm(connection).open(`test_${buckets}`).then((store) => store.info('a'));
    const manager = await jetstreamManager(connection);
    const stream = `OBJ_test_${buckets}`;
    await manager.streams.deleteMessage(stream, 3, false);
    connection.publish(`$O.test_${buckets}.C.${entry!.nuid}`, randomBytes(300_000 - 2 * 128 * 1024));
    await connection.flush();
    await assert.rejects(bucket.get('a'), ObjectDamaged);
  });

  it('a bucket says when no server answers', async () => {
    const bucket = await open();
    await bucket.put('a', randomBytes(10));
    const own = await connect({ servers: server.url, reconnect: false });
    const lost = await ObjectBucket.open(own, { name: `test_${buckets}`, replicas: 1 });
    await own.close();
    await assert.rejects(lost.get('a'), ObjectsUnreachable);
    await assert.rejects(lost.put('b', randomBytes(10)), ObjectsUnreachable);
    await assert.rejects(lost.list(''), ObjectsUnreachable);
    await assert.rejects(lost.delete('a'), ObjectsUnreachable);
    assert.deepEqual(await bucket.list(''), ['a']);
  });
});
