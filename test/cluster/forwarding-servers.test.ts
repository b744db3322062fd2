/**
 * Calls between nodes over real servers: each node at a server of its own, with large messages, deaths and lost
 * servers.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { CallServer } from '#cluster/calls/server.ts';
import { Moved, type Call, type CallHandler } from '#cluster/calls/shard-calls.ts';
import { Forwarding } from '#cluster/calls/forwarding.ts';
import { natsBus } from '#cluster/calls/bus.ts';
import { nodeTiming } from '#persistence/nats/timing.ts';
import { PART_BYTES_MAX } from '#cluster/calls/wire.ts';
import { connectToServers, type ServerConnection } from '#persistence/nats/connection.ts';
import { nats, startServers, type NatsServers } from '../fixtures/nats.ts';
import { until } from '../fixtures/until.ts';
import { commandCall, queryCall } from './nodes.ts';

const SHARD = 9;
const EPOCH = 77;
const FAR = 1e12;

const idOf = (call: Call): string => (call.kind === 'command' ? call.commandId : call.kind);

/**
 * What a call is answered, tried anew while nobody is found: servers of a busy machine may lose each other for a while.
 */
async function answerOf(front: Forwarding, call: Call): Promise<unknown> {
  for (;;) {
    try {
      return await front.call(SHARD, EPOCH, call, FAR);
    } catch (error) {
      assert.ok(error instanceof Moved);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

describe('Calls over three servers', { skip: nats.missing }, () => {
  let cluster: NatsServers;
  before(async () => void (cluster = await startServers(3)));
  after(() => cluster.close());

  /** A connection that prefers one of the servers, and may go to the others. */
  async function connectAt(t: TestContext, place: number): Promise<ServerConnection> {
    const urls = cluster.servers.map(({ url }) => url);
    const connection = await connectToServers({ servers: [urls[place]!] }, { name: `node-${place}` });
    t.after(() => connection.close());
    return connection;
  }

  async function openPair(t: TestContext, name: string, handle: CallHandler) {
    const [frontConnection, ownerConnection] = [await connectAt(t, 0), await connectAt(t, 1)];
    const common = { time: nodeTiming, cluster: name };
    const server = new CallServer({ ...common, bus: natsBus(ownerConnection), handle });
    const front = new Forwarding({ ...common, bus: natsBus(frontConnection), instance: 'front-1' });
    t.after(() => {
      front.close();
      server.close();
    });
    server.serve(SHARD, EPOCH);
    // The subscription has to be known at the front's server.
    await answerOf(front, queryCall('first'));
    return { front, server, frontConnection, ownerConnection };
  }

  it('are answered, many in a message', async (t) => {
    const { front, frontConnection } = await openPair(t, 'many', (_shard, call) => Promise.resolve(idOf(call)));
    const sentBefore = frontConnection.nats.stats().outMsgs;
    const calls = Array.from({ length: 2_000 }, (_, index) => front.call(SHARD, EPOCH, commandCall(`c${index}`), FAR));
    assert.deepEqual(
      await Promise.all(calls),
      Array.from({ length: 2_000 }, (_, index) => `c${index}`),
    );
    assert.ok(frontConnection.nats.stats().outMsgs - sentBefore < 20);
  });

  it('may be long, and so may their answers', async (t) => {
    const text = 'A seat with a label, Ä.'.repeat((12 * PART_BYTES_MAX) / 20);
    const { front } = await openPair(t, 'long', (_shard, call) =>
      Promise.resolve(call.kind === 'query' ? idOf(call) : { text: (call as { eventId: string }).eventId }),
    );
    const call: Call = { ...commandCall('long'), eventId: text } as Call;
    assert.deepEqual(await answerOf(front, call), { text });
  });

  it('wait where nobody listens any more, until somebody does or the shard has another owner', async (t) => {
    const { front, ownerConnection } = await openPair(t, 'death', (_shard, call) =>
      idOf(call) === 'hangs' ? new Promise(() => {}) : Promise.resolve(idOf(call)),
    );
    const hanging = front.call(SHARD, EPOCH, commandCall('hangs'), FAR);
    await front.call(SHARD, EPOCH, queryCall('s'), FAR);
    await ownerConnection.close();
    const next = front.call(SHARD, EPOCH, queryCall('next'), FAR);
    const bus = natsBus(await connectAt(t, 2));
    const again = new CallServer({
      bus,
      time: nodeTiming,
      cluster: 'death',
      handle: (_shard, call) => Promise.resolve(`${idOf(call)} again`),
    });
    t.after(() => again.close());
    again.serve(SHARD, EPOCH);
    assert.deepEqual(await Promise.all([hanging, next]), ['hangs again', 'query again']);
    again.close();
    const last = front.call(SHARD, EPOCH, queryCall('last'), FAR);
    front.cutOffMoved(() => EPOCH + 1);
    await assert.rejects(last, Moved);
  });

  it('are taken once each while a server of theirs is killed and comes back', async (t) => {
    const taken = new Map<string, number>();
    const { front, frontConnection } = await openPair(t, 'server', async (_shard, call) => {
      taken.set(idOf(call), (taken.get(idOf(call)) ?? 0) + 1);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return idOf(call);
    });
    const answers: unknown[] = [];
    let index = 0;
    let isGoingOn = true;
    const asking = (async () => {
      while (isGoingOn || answers.length < index) {
        if (isGoingOn) {
          index += 1;
          const id = `c${index}`;
          void answerOf(front, commandCall(id)).then((answer) => {
            assert.equal(answer, id);
            answers.push(answer);
          });
        }
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    await until(() => answers.length > 20);
    const [server] = cluster.servers;
    const at = frontConnection.nats.getServer();
    await server!.kill();
    // The connection may be back at another server before anybody looks.
    await until(() => frontConnection.nats.getServer() !== at);
    await server!.start();
    const answeredBefore = answers.length;
    await until(() => answers.length > answeredBefore + 50);
    isGoingOn = false;
    await asking;
    assert.equal(new Set(answers).size, index);
    for (let each = 1; each <= index; each += 1) assert.equal(taken.get(`c${each}`), 1, `c${each}`);
  });
});
