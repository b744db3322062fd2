import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { nats, startNats, type NatsServer } from '../../fixtures/nats.ts';
import { until } from '../../fixtures/until.ts';
import { natsBus, type Bus, type BusMessage } from '#cluster/calls/bus.ts';
import { connectToServers } from '#persistence/nats/connection.ts';

const body = (given: string): Uint8Array => Buffer.from(given);

describe('The bus over core NATS', { skip: nats.missing }, () => {
  let server: NatsServer;
  before(async () => void (server = await startNats()));
  after(() => server.close());

  async function newBus(t: TestContext): Promise<Bus> {
    const connection = await connectToServers({ servers: [server.url] }, { name: 'test' });
    t.after(() => connection.close());
    return natsBus(connection);
  }

  /** Subscribes, and waits until the servers know it. */
  async function listen(bus: Bus, subject: string): Promise<BusMessage[]> {
    const received: BusMessage[] = [];
    const ready = Promise.withResolvers<void>();
    bus.subscribe(subject, (message) => {
      if (Buffer.from(message.data).equals(body('ready'))) ready.resolve();
      else received.push(message);
    });
    bus.publish(subject.replace('.>', '.ready'), body('ready'));
    await ready.promise;
    return received;
  }

  it('carries messages to everybody that listens, in the order of their sender', async (t) => {
    const [one, other] = [await newBus(t), await newBus(t)];
    const received = [await listen(one, 'shop.hb'), await listen(other, 'shop.>')];
    for (let n = 0; n < 50; n += 1) one.publish('shop.hb', body(`${n}`), 'shop.inbox');
    await until(() => received.every(({ length }) => length === 50));
    for (const messages of received) {
      assert.deepEqual(
        messages.map(({ data }) => Number(Buffer.from(data))),
        Array.from({ length: 50 }, (_, n) => n),
      );
      assert.deepEqual(
        { ...messages[0]!, data: null },
        { subject: 'shop.hb', data: null, replyTo: 'shop.inbox', isNobodyThere: false },
      );
    }
  });

  it('says at once where nobody listens', async (t) => {
    const bus = await newBus(t);
    const inbox = await listen(bus, 'inbox.one');
    bus.publish('nobody.here', body('hello'), 'inbox.one');
    await until(() => inbox.length === 1);
    assert.equal(inbox[0]!.isNobodyThere, true);
  });

  it('carries nothing to a subscription that ended', async (t) => {
    const bus = await newBus(t);
    const received: string[] = [];
    const end = bus.subscribe('shop.notice', ({ data }) => received.push(Buffer.from(data).toString()));
    const other = await listen(bus, 'shop.notice');
    bus.publish('shop.notice', body('1'));
    await until(() => other.length === 1);
    end();
    bus.publish('shop.notice', body('2'));
    await until(() => other.length === 2);
    assert.deepEqual(
      received.filter((each) => each !== 'ready'),
      ['1'],
    );
  });

  it('tells of a lost connection and its return, and goes on by itself; what is sent between is lost', async (t) => {
    const bus = await newBus(t);
    const received = await listen(bus, 'shop.hb');
    const changes: boolean[] = [];
    bus.onConnection((isConnected) => changes.push(isConnected));
    await server.kill();
    await until(() => !bus.isConnected);
    bus.publish('shop.hb', body('lost'));
    await server.start();
    await until(() => bus.isConnected);
    bus.publish('shop.hb', body('back'));
    await until(() => received.length > 0);
    assert.deepEqual(
      received.map(({ data }) => Buffer.from(data).toString()),
      ['back'],
    );
    assert.deepEqual(changes, [false, true]);
  });
});
