/**
 * A command takes effect once or not at all, and as it was answered, whatever the messages, owners and nodes do. The
 * shards' logs are played by one map: what is in it counts, and an owner with an older epoch writes nothing.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Moved, type Call } from '#cluster/calls/shard-calls.ts';
import { commandCall, openCluster, type TestCluster, type TestNode } from './nodes.ts';
import { chanceOf, type Chance } from '../simulation/chance.ts';

const SHARDS = 3;
const NODES = ['a', 'b', 'c'];
const STEPS = 100;
const SEEDS = 25;

/** What is durable: the epoch of each shard, and the effect of each command. */
class Logs {
  readonly epochs = new Map<number, number>();
  readonly effects = new Map<string, string>();
  #seq = 0;

  claim(shard: number): number {
    this.#seq += 1;
    this.epochs.set(shard, this.#seq);
    return this.#seq;
  }
}

class Sale {
  readonly #chance: Chance;
  readonly #logs = new Logs();
  readonly #cluster: TestCluster;
  readonly #nodes = new Map<string, TestNode>();
  readonly #paused = new Set<string>();
  readonly #answers = new Map<string, unknown>();
  /** Half of the faults are switched off, others in each sale. */
  readonly #weights = { ask: 80, claim: 6, release: 4, kill: 3, pause: 4, resume: 10, cut: 4 };
  #asked = 0;
  #isCalm = false;

  constructor(seed: number) {
    this.#chance = chanceOf(seed);
    for (const fault of ['claim', 'release', 'kill', 'pause', 'cut'] as const) {
      if (this.#chance.percent(50)) this.#weights[fault] = 0;
    }
    this.#cluster = openCluster();
    this.#cluster.travel = () => {
      if (this.#isCalm) return 1;
      if (this.#chance.percent(4)) return null;
      return this.#chance.percent(3) ? this.#chance.between(1_000, 3_500) : this.#chance.between(1, 10);
    };
    this.#cluster.handle = (shard, call, node) => this.#handle(shard, call, node);
    for (const name of NODES) this.#nodes.set(name, this.#cluster.open(name));
  }

  async run(): Promise<void> {
    await this.#cluster.time.pass(20);
    for (let shard = 0; shard < SHARDS; shard += 1) this.#claim(shard, this.#anyNode());
    for (let step = 0; step < STEPS; step += 1) {
      this.#step();
      await this.#cluster.time.pass(this.#chance.between(0, 80));
    }
    await this.#settle();
    this.#check();
  }

  /**
   * As the owner of a shard does: a command that is in the log is answered from it, others are decided and written
   * later.
   */
  async #handle(shard: number, call: Call, node: TestNode): Promise<unknown> {
    assert.ok(call.kind === 'command');
    const { commandId } = call;
    const epoch = node.owned.get(shard);
    const writingMs = this.#chance.percent(8) ? this.#chance.between(1_500, 4_000) : this.#chance.between(0, 60);
    await new Promise<void>((resolve) => this.#cluster.time.after(writingMs, resolve));
    // What a process that was killed had begun ends with it.
    if (this.#nodes.get(node.name) !== node) return new Promise(() => {});
    const known = this.#logs.effects.get(commandId);
    if (this.#logs.epochs.get(shard) !== epoch) throw new Moved(shard, 'another node claimed it');
    if (known !== undefined) return known;
    if (this.#chance.percent(35)) return 'REFUSED';
    const effect = `${commandId} at ${epoch}`;
    this.#logs.effects.set(commandId, effect);
    return effect;
  }

  #step(): void {
    const shard = this.#chance.between(0, SHARDS - 1);
    const what = this.#chance.weighted(this.#weights);
    if (what === 'ask') this.#ask(shard);
    else if (what === 'claim') this.#claim(shard, this.#anyNode());
    else if (what === 'release') this.#release(shard);
    else if (what === 'kill') this.#kill(this.#anyNode());
    else if (what === 'pause') this.#pause(this.#anyNode());
    else if (what === 'resume') this.#resumeAll();
    else this.#breakConnection(this.#anyNode());
  }

  #anyNode(): TestNode {
    return this.#nodes.get(this.#chance.pick(NODES))!;
  }

  #ask(shard: number): void {
    const front = this.#anyNode();
    for (let count = this.#chance.between(1, 5); count > 0; count -= 1) {
      this.#asked += 1;
      const id = `c${this.#asked}`;
      const note = (answer: unknown): void => void this.#answers.set(id, answer);
      front.router.call(shard, commandCall(id)).then(note, note);
    }
  }

  /** Whoever claims is the owner from then on; an earlier one finds out later, or never. */
  #claim(shard: number, node: TestNode): void {
    if (this.#paused.has(node.name)) return;
    if (node.owned.has(shard)) node.release(shard);
    node.own(shard, this.#logs.claim(shard));
  }

  #release(shard: number): void {
    for (const node of this.#nodes.values()) {
      if (node.owned.has(shard) && !this.#paused.has(node.name)) node.release(shard);
    }
  }

  /** A process ends, and another one of its name starts. */
  #kill(node: TestNode): void {
    node.kill();
    this.#paused.delete(node.name);
    this.#nodes.set(node.name, this.#cluster.open(node.name));
  }

  #pause(node: TestNode): void {
    if (this.#paused.has(node.name)) return;
    this.#paused.add(node.name);
    node.pause();
  }

  #resumeAll(): void {
    for (const name of this.#paused) this.#nodes.get(name)!.resume();
    this.#paused.clear();
  }

  #breakConnection({ name }: TestNode): void {
    this.#cluster.network.setConnected(name, false);
    this.#cluster.time.after(this.#chance.between(10, 2_500), () => this.#cluster.network.setConnected(name, true));
  }

  /** Faults end, each shard gets an owner, and everything is answered. */
  async #settle(): Promise<void> {
    this.#isCalm = true;
    this.#resumeAll();
    await this.#cluster.time.pass(4_000);
    for (let shard = 0; shard < SHARDS; shard += 1) {
      this.#release(shard);
      this.#claim(shard, this.#anyNode());
    }
    const before = this.#asked;
    for (let shard = 0; shard < SHARDS; shard += 1) this.#ask(shard);
    await this.#cluster.time.pass(15_000);
    for (let each = before + 1; each <= this.#asked; each += 1) {
      const answer = this.#answers.get(`c${each}`);
      assert.equal(typeof answer, 'string', `c${each} was not answered: ${String(answer)}`);
    }
  }

  #check(): void {
    for (const [id, answer] of this.#answers) {
      // An error leaves open what became of the command.
      if (answer instanceof Error) continue;
      const effect = this.#logs.effects.get(id);
      assert.equal(
        answer,
        effect ?? 'REFUSED',
        `${id} was answered ${String(answer)}, and ${effect ?? 'nothing'} is kept`,
      );
    }
  }
}

describe('A command to a shard that moves', () => {
  it('takes effect once, and as it was answered, over losses, deaths, pauses and claims', async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      try {
        await new Sale(seed).run();
      } catch (error) {
        throw new Error(`seed ${seed}`, { cause: error });
      }
    }
  });
});
