/**
 * Nodes without membership: each claims a shard when it guesses that nobody serves it, and sometimes just so. A
 * client's front is any process that believes it owns the shard, the ones that are wrong among them.
 */
import { Moved, type Call } from '#cluster/calls/shard-calls.ts';
import { shardOf } from '#cluster/directory/placement.ts';
import type { Front } from './caller.ts';
import type { Cluster } from './cluster.ts';
import { ledgerKind, type LedgerShard } from './ledger-shard.ts';
import { wayMs } from './network.ts';
import { Owner, type ShardKind } from './owner.ts';
import { SimulatedProcess } from './scheduler.ts';
import type { World } from './world.ts';

/** How long a front tries to find the owner for a client. */
const LIMIT_MS = 12_000;
const SILENCE_MS = 3_000;

interface Node {
  readonly owner: Owner<LedgerShard>;
  readonly owned: Map<number, LedgerShard>;
  readonly claiming: Set<number>;
}

export class GuessingCluster implements Cluster {
  readonly #world: World;
  readonly #kind: ShardKind<LedgerShard>;
  readonly #nodes: Node[] = [];
  /** What owners have given up, as `shard epoch`. */
  readonly #givenUp = new Set<string>();
  /** How often a node claims, in a hundred looks, what has an owner that works. */
  readonly #whimShare: number;
  /** How often, in a hundred looks, it reads one ahead. */
  readonly #aheadShare: number;
  #starts = 0;
  #commands = 0;

  constructor(world: World) {
    this.#world = world;
    this.#kind = ledgerKind(world);
    this.#whimShare = world.without.has('whim') ? 0 : world.chance.pick([0, 1, 6]);
    this.#aheadShare = world.without.has('ahead') ? 0 : world.chance.pick([0, 20, 60]);
  }

  start(): void {
    const count = this.#world.chance.between(2, 3);
    for (let index = 0; index < count; index += 1) this.#open(index);
  }

  fronts(): readonly Front[] {
    const { scheduler } = this.#world;
    return this.#nodes.map(
      (): Front => (call, answered) => this.#ask(this.#withId(call), scheduler.nowMs + LIMIT_MS, answered),
    );
  }

  processes(): readonly SimulatedProcess[] {
    return this.#nodes.map(({ owner }) => owner.process);
  }

  restart(index: number): void {
    if (this.#nodes[index]!.owner.process.state === 'ENDED') this.#open(index);
  }

  checkpoint(shard: number): void {
    this.#atBeliever(shard, ({ owner }, owned) => void owner.checkpoint(shard, owned));
  }

  /** A believer gives the shard up. */
  leave(): void {
    const shard = this.#world.chance.between(0, this.#world.logs.length - 1);
    this.#atBeliever(shard, (node, owned) => {
      node.owned.delete(shard);
      void owned.giveUp().then(() => this.#release(node, shard, owned));
    });
  }

  /** Others learn that an owner gave a shard up when its own hold-off is over. */
  #release({ owner: { process } }: Node, shard: number, owned: LedgerShard): void {
    process.after(owned.holdOffLeftMs, () => {
      this.#world.count('gave up');
      this.#givenUp.add(`${shard} ${owned.journal.epoch}`);
    });
  }

  #open(index: number): void {
    const name = `n${index}`;
    const process = new SimulatedProcess(this.#world.scheduler, `${name}.${(this.#starts += 1)}`);
    const node: Node = {
      owner: new Owner(this.#world, name, process, this.#kind),
      owned: new Map(),
      claiming: new Set(),
    };
    this.#nodes[index] = node;
    this.#guess(node);
  }

  #believers(shard: number): Node[] {
    return this.#nodes.filter(({ owner, owned }) => owner.process.state !== 'ENDED' && owned.has(shard));
  }

  #atBeliever(shard: number, act: (node: Node, owned: LedgerShard) => void): void {
    const believers = this.#believers(shard);
    if (believers.length === 0) return;
    const node = this.#world.chance.pick(believers);
    node.owner.process.receive(0, () => {
      const owned = node.owned.get(shard);
      if (owned !== undefined) act(node, owned);
    });
  }

  /** Claims now and then what seems to have no owner, and sometimes what has one. */
  #guess(node: Node): void {
    const { chance, logs } = this.#world;
    node.owner.process.after(chance.between(50, 800), () => {
      const whimShare = this.#world.isCalm ? 0 : this.#whimShare;
      for (const shard of logs.keys()) {
        if (node.owned.has(shard) || node.claiming.has(shard)) continue;
        const isServed = this.#believers(shard).some(
          ({ owner: { process } }) => process.state === 'RUNS' && !process.isCutOff,
        );
        if (chance.percent(isServed ? whimShare : 60)) void this.#claim(node, shard);
        else if (chance.percent(this.#aheadShare)) node.owner.readAhead(shard).catch(() => {});
      }
      this.#guess(node);
    });
  }

  async #claim({ owner, owned, claiming }: Node, shard: number): Promise<void> {
    claiming.add(shard);
    const opened = await owner.open(shard, (epoch) => epoch === 0 || this.#givenUp.has(`${shard} ${epoch}`));
    claiming.delete(shard);
    if (opened === null) return;
    if (opened.owned.journal.status !== 'OPEN') return opened.owned.lose();
    owned.set(shard, opened.owned);
    opened.owned.journal.onFenced(() => {
      this.#world.count('fenced');
      opened.owned.lose();
      if (owned.get(shard) === opened.owned) owned.delete(shard);
    });
  }

  /** A command has one id for all tries of its front. */
  #withId(call: Call): Call {
    return call.kind === 'command' ? { ...call, commandId: `front-${(this.#commands += 1)}` } : call;
  }

  /** Asks whoever believes that it owns the shard, with the same id until the time is up. */
  #ask(call: Call, untilMs: number, answered: (answer: unknown) => void): void {
    const { scheduler, chance, logs, network } = this.#world;
    if (scheduler.nowMs > untilMs) return answered(null);
    const shard = call.kind === 'shard' ? 0 : shardOf(call.eventId, logs.length);
    const believers = this.#believers(shard);
    let isOver = false;
    const again = (afterMs: number): void => {
      if (isOver) return;
      isOver = true;
      scheduler.after(afterMs, () => this.#ask(call, untilMs, answered));
    };
    if (believers.length === 0) return again(50);
    const { owner, owned: all } = chance.pick(believers);
    const { process } = owner;
    scheduler.after(SILENCE_MS, () => again(0));
    process.receive(wayMs(chance, network), () => {
      const owned = all.get(shard);
      if (owned === undefined) return again(20);
      owned.handle(call).then(
        (seen) => {
          scheduler.after(wayMs(chance, network), () => {
            if (!isOver) answered(seen);
            isOver = true;
          });
        },
        (error: unknown) => {
          if (!(error instanceof Moved)) scheduler.fail(error);
          again(20);
        },
      );
    });
  }
}
