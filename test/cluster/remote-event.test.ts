/** An event of another node passes the suite of every port: its calls and answers cross a bus as bytes. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { CallServer } from '#cluster/calls/server.ts';
import { Forwarding } from '#cluster/calls/forwarding.ts';
import { laterOnTimers, MemoryNetwork } from '#cluster/calls/memory-bus.ts';
import { eventAt, ShardRouter } from '#cluster/calls/router.ts';
import { nodeTiming } from '#persistence/nats/timing.ts';
import { openSampleEvent, testEventPort } from '../actors/event-port-suite.ts';

const SHARD = 12;
const EPOCH = 34;

/** Rounds of the event loop in which a call arrives, is answered from memory, and the answer comes back. */
const ROUNDS = 20;

async function arrive(): Promise<void> {
  for (let round = 0; round < ROUNDS; round += 1) await nextRound();
}

testEventPort('an event of another node', async () => {
  const { events, eventId, ...controls } = await openSampleEvent(arrive);

  const network = new MemoryNetwork({ later: laterOnTimers });
  const common = { time: nodeTiming, cluster: 'test' };
  const server = new CallServer({
    ...common,
    bus: network.connect('owner'),
    async handle(_shard, call) {
      if (call.kind === 'shard') throw new Error(`${call.name} is not asked here`);
      const event = (await events.byEventId(call.eventId))!;
      return call.kind === 'command' ? event.execute(call.command) : event.read(call.query);
    },
  });
  server.serve(SHARD, EPOCH);
  const front = { ...common, bus: network.connect('front'), instance: 'front-1' };
  const router = new ShardRouter({
    ...front,
    forwarding: new Forwarding(front),
    membership: { ownerOf: () => ({ node: 'owner', instance: 'owner-1', epoch: EPOCH }), onChange: () => () => {} },
    isOwned: () => false,
    handle: () => Promise.reject(new Error('this node owns nothing')),
  });
  return { ...controls, find: async () => eventAt(router, SHARD, eventId) };
});
