/**
 * Nodes on a network in memory and in a time of their own: membership, forwarding and routing as in a process, over
 * shards of a test.
 */
import { CallServer } from '#cluster/calls/server.ts';
import { Forwarding } from '#cluster/calls/forwarding.ts';
import { MemoryNetwork } from '#cluster/calls/memory-bus.ts';
import { Membership } from '#cluster/calls/membership.ts';
import { ShardRouter } from '#cluster/calls/router.ts';
import { Moved, type Call } from '#cluster/calls/shard-calls.ts';
import type { Bus } from '#cluster/calls/bus.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import { VirtualTime } from './virtual-time.ts';

export const CLUSTER = 'test';

/** What a node's shards answer; a test sets it. */
type Handle = (shard: number, call: Call, node: TestNode) => Promise<unknown>;

export interface TestNode {
  readonly name: string;
  readonly bus: Bus;
  readonly membership: Membership;
  readonly forwarding: Forwarding;
  readonly server: CallServer;
  readonly router: ShardRouter;
  /** The epoch by shard. */
  readonly owned: ReadonlyMap<number, number>;
  own(shard: number, epoch: number): void;
  release(shard: number): void;
  /** Stops the process where it is; what was due meanwhile runs when it goes on, before it receives anything. */
  pause(): void;
  resume(): void;
  /** Ends it without a word. */
  kill(): void;
}

export interface TestCluster {
  readonly time: VirtualTime;
  readonly network: MemoryNetwork;
  open(name: string): TestNode;
  /** What becomes of a message: how long it travels, or null when it is lost. */
  travel: (from: string, to: string, subject: string) => number | null;
  handle: Handle;
}

/** The time of a process that may stand still. */
class StallableTime implements Timing {
  readonly #time: Timing;
  #stalled: (() => void)[] | null = null;

  constructor(time: Timing) {
    this.#time = time;
  }

  stopwatchMs = (): number => this.#time.stopwatchMs();

  after(ms: number, work: () => void): () => void {
    let isCancelled = false;
    const run = (): void => {
      if (isCancelled) return;
      if (this.#stalled === null) work();
      else this.#stalled.push(run);
    };
    const cancel = this.#time.after(ms, run);
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  soon(work: () => void): void {
    this.after(0, work);
  }

  pause(): void {
    this.#stalled = [];
  }

  resume(): void {
    const stalled = this.#stalled ?? [];
    this.#stalled = null;
    for (const run of stalled) run();
  }
}

interface NodeLimits {
  readonly forwardedMax?: number;
  readonly servedMax?: number;
  readonly keptMax?: number;
  readonly waitingMax?: number;
}

/** A limit under its name, where one is given. */
function limit<Name extends string>(name: Name, value: number | undefined): { readonly [Given in Name]?: number } {
  return (value === undefined ? {} : { [name]: value }) as { readonly [Given in Name]?: number };
}

export function openCluster({ forwardedMax, servedMax, keptMax, waitingMax }: NodeLimits = {}): TestCluster {
  const time = new VirtualTime();
  let processes = 0;
  const network = new MemoryNetwork({
    later: time.later,
    travelMs: (from, to, subject) => cluster.travel(from, to, subject),
  });
  const cluster: TestCluster = {
    time,
    network,
    travel: () => 1,
    handle: (shard, call) => Promise.resolve({ shard, call }),
    open(name) {
      processes += 1;
      const instance = `${name}-${processes}`;
      const bus = network.connect(name);
      const stalled = new StallableTime(time);
      const common = { bus, time: stalled, cluster: CLUSTER, node: name, instance };
      const owned = new Map<number, number>();
      const handle = (shard: number, call: Call): Promise<unknown> =>
        owned.has(shard) ? cluster.handle(shard, call, node) : Promise.reject(new Moved(shard, 'it is not here'));
      const membership = new Membership(common);
      const forwarding = new Forwarding({ ...common, ...limit('callsMax', forwardedMax) });
      const limits = { ...limit('callsMax', servedMax), ...limit('keptMax', keptMax) };
      const server = new CallServer({ ...common, handle, ...limits });
      const isOwned = (shard: number): boolean => owned.has(shard);
      const router = new ShardRouter({
        ...common,
        membership,
        forwarding,
        isOwned,
        handle,
        ...limit('waitingMax', waitingMax),
      });
      const node: TestNode = {
        ...{ name, bus, membership, forwarding, server, router, owned },
        own(shard, epoch) {
          owned.set(shard, epoch);
          server.serve(shard, epoch);
          membership.own(shard, epoch);
          router.lookNow();
        },
        release(shard) {
          server.giveUp(shard, owned.get(shard)!);
          owned.delete(shard);
          membership.release(shard);
        },
        pause() {
          network.pause(name);
          stalled.pause();
        },
        resume() {
          stalled.resume();
          network.resume(name);
        },
        kill() {
          network.kill(name);
          owned.clear();
          membership.stop();
          router.close();
          forwarding.close();
          server.close();
        },
      };
      membership.start();
      return node;
    },
  };
  return cluster;
}

/** A command call that a test tells apart by its id. */
export function commandCall(commandId: string): Call {
  const command = { type: 'JoinQueue', sessionKey: commandId } as const;
  return { kind: 'command', commandId, eventId: 'evt_concert', command };
}

export function queryCall(sessionKey: string): Call {
  const query = { type: 'FindHold', holdId: 'hld_1', sessionKey } as const;
  return { kind: 'query', eventId: 'evt_concert', query };
}
