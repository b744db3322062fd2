/**
 * What it costs to forward a call to the owner of its event: processor time at the node that was asked and at the
 * owner, without HTTP, decisions, the shard's log and the servers between them. The owner answers with a reply that is
 * made beforehand.
 *
 * The work is timed in its three parts, each for many batches in a row: calls are written, taken and answered, and
 * answers received.
 */
import { CallServer } from '#cluster/calls/server.ts';
import { Forwarding } from '#cluster/calls/forwarding.ts';
import { MemoryNetwork } from '#cluster/calls/memory-bus.ts';
import { messageKeysOf, signedBus } from '#cluster/calls/signed-bus.ts';
import { ShardRouter } from '#cluster/calls/router.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import type { Bus } from '#cluster/calls/bus.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import { hotEvent } from '../events.ts';
import { definitionOf } from '../../test/fixtures/events.ts';
import { openDomain, placeHold } from '../in-process.ts';
import { figureOf, secondsOf, type Figure, type Scenario } from '../scenario.ts';
import type { Command } from '#domain/command.ts';

const KEYS = messageKeysOf('bench', [Buffer.alloc(32).toString('base64url')]);
const SHARD = 1;
const EPOCH = 10;
const BATCHES_AT_ONCE = 64;
/** Calls of one tick in a busy node, and in one with little to do. */
const BATCH_SIZES = [32, 1];
const MICROS_MAX = 15;

interface Work {
  readonly name: string;
  commandOf(n: number): Command;
  readonly reply: unknown;
}

export const forwardedCalls: Scenario = {
  name: 'forwarded-calls',
  about:
    'processor time of forwarding a hold and a poll to the owner of the event, at both nodes, by calls in a message',
  async run({ quick, rounds, report }) {
    const calls = quick ? 20_000 : 400_000;
    const figures: Figure[] = [];
    for (const work of works()) {
      for (const size of BATCH_SIZES) {
        const runs: { readonly front: number; readonly owner: number }[] = [];
        const pair = openPair(work);
        for (let round = 0; round <= rounds; round += 1) {
          report(`${work.name}, ${size} in a message, round ${round} of ${rounds}`);
          const run = await pair.forward(Math.ceil(calls / size / BATCHES_AT_ONCE), size);
          // The first round warms up.
          if (round > 0) runs.push(run);
        }
        const budget = size === 1 ? undefined : { atMost: MICROS_MAX };
        const nameOf = (side: string): string => `${work.name}, ${size} in a message: ${side}`;
        const figure = (side: 'front' | 'owner'): Figure =>
          figureOf(
            nameOf(side),
            'µs per call',
            runs.map((run) => run[side]),
            budget,
          );
        figures.push(figure('front'), figure('owner'));
      }
    }
    return { figures, notes: ['front: the node that a request came to; owner: the node that owns the event'] };
  },
};

/** The two commands that a rush is made of, each with the reply that the domain gives to it. */
function works(): readonly Work[] {
  const sale = openDomain(definitionOf(hotEvent));
  const room = openDomain({ ...definitionOf(hotEvent), waitingRoom: true });
  const joined = room.do({ type: 'JoinQueue', sessionKey: 'session-0' });
  const entryId = 'entry' in joined ? joined.entry.id : '';
  return [
    {
      name: 'PlaceHold',
      commandOf: (n) => placeHold(n, 'single', 2),
      reply: sale.do(placeHold(0, 'single', 2)),
    },
    {
      name: 'PollQueue',
      commandOf: (n) => ({ type: 'PollQueue', entryId, sessionKey: `session-${n}` }),
      reply: joined,
    },
  ];
}

/** What waits for its turn, run by hand so that each part can be timed. */
class Waiting {
  #works: (() => void)[] = [];

  readonly add = (work: () => void): void => void this.#works.push(work);

  /** Runs what waits by now. */
  run(): void {
    const works = this.#works;
    this.#works = [];
    for (const work of works) work();
  }
}

function openPair({ commandOf, reply }: Work) {
  const messages = new Waiting();
  const endOfTick = new Waiting();
  const network = new MemoryNetwork({ later: messages.add });
  const time: Timing = { stopwatchMs, after: () => () => {}, soon: endOfTick.add };
  const common = { time, cluster: 'bench' };
  const handle = (): Promise<unknown> => Promise.resolve(reply);
  const busOf = (instance: string): Bus => signedBus({ bus: network.connect(instance), time, keys: KEYS, instance });
  const server = new CallServer({ ...common, bus: busOf('owner-1'), handle });
  server.serve(SHARD, EPOCH);
  const front = { ...common, bus: busOf('front-1'), instance: 'front-1' };
  const router = new ShardRouter({
    ...front,
    forwarding: new Forwarding(front),
    membership: { ownerOf: () => ({ node: 'owner', instance: 'owner-1', epoch: EPOCH }), onChange: () => () => {} },
    isOwned: () => false,
    handle,
  });
  let n = 0;
  const write = (size: number): Promise<unknown>[] => {
    const answers: Promise<unknown>[] = [];
    for (let batch = 0; batch < BATCHES_AT_ONCE; batch += 1) {
      for (let call = 0; call < size; call += 1) {
        n += 1;
        const commandId = router.newCommandId();
        answers.push(router.call(SHARD, { kind: 'command', commandId, eventId: hotEvent.id, command: commandOf(n) }));
      }
      endOfTick.run();
    }
    return answers;
  };
  return {
    /** Microseconds for each call. */
    async forward(times: number, size: number): Promise<{ readonly front: number; readonly owner: number }> {
      let frontSeconds = 0;
      let ownerSeconds = 0;
      for (let time = 0; time < times; time += 1) {
        let answers: Promise<unknown>[] = [];
        frontSeconds += await secondsOf(() => void (answers = write(size)));
        ownerSeconds += await secondsOf(async () => {
          messages.run();
          await settled();
          endOfTick.run();
        });
        frontSeconds += await secondsOf(async () => {
          messages.run();
          await Promise.all(answers);
        });
      }
      const calls = times * size * BATCHES_AT_ONCE;
      return { front: (frontSeconds * 1e6) / calls, owner: (ownerSeconds * 1e6) / calls };
    },
  };
}

/** Lets the promises of handled calls settle. */
async function settled(): Promise<void> {
  for (let step = 0; step < 4; step += 1) await Promise.resolve();
}
