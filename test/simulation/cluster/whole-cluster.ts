/**
 * Nodes with the product's membership, placement, claims, router and call server over a simulated bus. A client's front
 * is a node's router. In some runs a node is misled now and then about who is there.
 */
import { Overloaded } from '#actors/admission.ts';
import { ClaimedEpochs } from '#cluster/calls/claimed-epochs.ts';
import { CallServer } from '#cluster/calls/server.ts';
import { Moved, type Call, type CallHandler } from '#cluster/calls/shard-calls.ts';
import { Forwarding } from '#cluster/calls/forwarding.ts';
import { Membership } from '#cluster/calls/membership.ts';
import { messageKeysOf, signedBus } from '#cluster/calls/signed-bus.ts';
import { shardOf } from '#cluster/directory/placement.ts';
import { ShardRouter } from '#cluster/calls/router.ts';
import { ShardClaims, type ShardClaimsPorts } from '#cluster/shards/claims.ts';
import type { Front } from './caller.ts';
import type { Cluster } from './cluster.ts';
import { wayMs } from './network.ts';
import { accessOf, Owner, timeOf, type ServedShard, type ShardKind } from './owner.ts';
import { SimulatedProcess } from './scheduler.ts';
import type { World } from './world.ts';

const CLUSTER = 'sim';
const KEYS = messageKeysOf(CLUSTER, [Buffer.alloc(32).toString('base64url')]);

interface Node<Shard extends ServedShard> {
  readonly owner: Owner<Shard>;
  readonly claims: ShardClaims<Shard>;
  readonly router: ShardRouter;
}

export class WholeCluster<Shard extends ServedShard> implements Cluster {
  readonly #world: World;
  readonly #nodes: Node<Shard>[] = [];
  readonly #kind: ShardKind<Shard>;
  /** How often, in a hundred looks, a node sees itself alone and every shard without an owner. */
  readonly #whimShare: number;
  /** How often, in a hundred claims, a node leaves soon after one. */
  readonly #briefShare: number;
  #starts = 0;

  constructor(world: World, kind: ShardKind<Shard>) {
    this.#world = world;
    this.#kind = kind;
    this.#whimShare = world.without.has('whim') ? 0 : world.chance.pick([0, 0.2, 2]);
    this.#briefShare = world.without.has('brief') ? 0 : world.chance.pick([0, 0, 30]);
  }

  start(): void {
    const count = this.#world.chance.between(2, 3);
    for (let index = 0; index < count; index += 1) this.#open(index);
  }

  fronts(): readonly Front[] {
    return this.#nodes.map(
      (_, index): Front =>
        (call, answered) =>
          this.#ask(index, call, answered),
    );
  }

  processes(): readonly SimulatedProcess[] {
    return this.#nodes.map(({ owner }) => owner.process);
  }

  restart(index: number): void {
    if (this.#nodes[index]!.owner.process.state === 'ENDED') this.#open(index);
  }

  checkpoint(shard: number): void {
    for (const { owner, claims } of this.#nodes) {
      owner.process.receive(0, () => {
        const owned = claims.owned.get(shard);
        if (owned !== undefined) void owner.checkpoint(shard, owned);
      });
    }
  }

  leave(): void {
    this.#leave(this.#world.chance.between(0, this.#nodes.length - 1));
  }

  /** A node is told to end: it gives up its shards, ends, and is started again after a while. */
  #leave(index: number): void {
    const { chance, scheduler } = this.#world;
    const { owner, claims } = this.#nodes[index]!;
    owner.process.receive(0, () => {
      void claims.leave().then(() => {
        this.#world.count('gave up');
        owner.process.end();
        scheduler.after(chance.between(1, 2_000), () => this.restart(index));
      });
    });
  }

  #open(index: number): void {
    const { scheduler, bus: servers, logs } = this.#world;
    const node = `n${index}`;
    const instance = `${node}.${(this.#starts += 1)}`;
    const process = new SimulatedProcess(scheduler, instance);
    const time = timeOf(process);
    const bus = signedBus({ bus: servers.connect(process), time, keys: KEYS, instance });
    const common = { bus, time, cluster: CLUSTER, node, instance };
    const owner = new Owner(this.#world, node, process, this.#kind);
    const claimed = new ClaimedEpochs({
      time,
      log: (shard) => accessOf(this.#world, process, shard).log,
      changed: () => membership.reconsider(),
    });
    const membership: Membership = new Membership({ ...common, verdict: (announced) => claimed.verdict(announced) });
    const forwarding = new Forwarding(common);
    const handle: CallHandler = (shard, call) => {
      const owned = claims.owned.get(shard);
      return owned === undefined ? Promise.reject(new Moved(shard, 'it is not owned')) : owned.handle(call);
    };
    const isOwned = (shard: number): boolean => claims.owned.has(shard);
    const server = new CallServer({ ...common, handle });
    const router = new ShardRouter({ membership, forwarding, time, instance, isOwned, handle });
    membership.start();
    const claims: ShardClaims<Shard> = new ShardClaims<Shard>({
      ...common,
      shards: logs.length,
      membership: this.#misled(membership, node),
      open: (shard, hasGivenUp) => {
        this.#leaveSoon(index);
        return owner.open(shard, hasGivenUp);
      },
      readAhead: (shard) => owner.readAhead(shard),
      forget: (shard) => owner.forget(shard),
      serve: (shard, epoch) => server.serve(shard, epoch),
      giveUp: (shard, epoch) => server.giveUp(shard, epoch),
      changed: () => router.lookNow(),
    });
    this.#nodes[index] = { owner, claims, router };
  }

  /** In some runs a node leaves while it claims, or a moment later. */
  #leaveSoon(index: number): void {
    const { chance, scheduler, isCalm } = this.#world;
    if (isCalm || !chance.percent(this.#briefShare)) return;
    scheduler.after(chance.between(0, 700), () => this.#leave(index));
  }

  /** Membership whose hints are wrong now and then: the shards' logs decide all the same. */
  #misled(membership: Membership, node: string): ShardClaimsPorts<Shard>['membership'] {
    const { chance } = this.#world;
    let isMisled = false;
    return {
      live: () => {
        isMisled = !this.#world.isCalm && chance.percent(this.#whimShare);
        return isMisled ? [node] : membership.live();
      },
      ownerOf: (shard) => (isMisled ? null : membership.ownerOf(shard)),
      nodes: () => membership.nodes(),
      onChange: (listener) => membership.onChange(listener),
      own: (shard, epoch) => membership.own(shard, epoch),
      release: (shard) => membership.release(shard),
      setAwaited: (shard, isAwaited) => membership.setAwaited(shard, isAwaited),
      isAwaited: (shard) => membership.isAwaited(shard),
      leave: () => membership.leave(),
    };
  }

  #ask(index: number, call: Call, answered: (answer: unknown) => void): void {
    const { scheduler, chance, logs, network } = this.#world;
    const { owner, router } = this.#nodes[index]!;
    const { process } = owner;
    if (process.state === 'ENDED') return scheduler.after(1, () => answered(null));
    const shard = call.kind === 'shard' ? 0 : shardOf(call.eventId, logs.length);
    const answer = (seen: unknown): void => scheduler.after(wayMs(chance, network), () => answered(seen));
    process.receive(wayMs(chance, network), () => {
      const given: Call = call.kind === 'command' ? { ...call, commandId: router.newCommandId() } : call;
      router.call(shard, given).then(answer, (error: unknown) => {
        if (!(error instanceof Overloaded)) scheduler.fail(error);
        answer(null);
      });
    });
  }
}
