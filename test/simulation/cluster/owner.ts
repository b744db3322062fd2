/**
 * Claims shards for a process, with the product's claim over what the process reaches of logs and objects. What a shard
 * has above its journal, ledgers or event actors, is given.
 */
import { HOLD_OFF_MS } from '#cluster/shards/answer-gate.ts';
import { ShardBegins } from '#cluster/shards/start-content.ts';
import { ArchiveBucket } from '#persistence/nats/objects/archive-bucket.ts';
import { Checkpoints, type Checkpoint } from '#persistence/nats/objects/checkpoints.ts';
import { CheckpointOutdated, claimShard } from '#persistence/nats/log/claim.ts';
import { ObjectDamaged, ObjectsUnreachable } from '#persistence/objects.ts';
import { ChainBroken } from '#persistence/nats/log/head.ts';
import { LogUnreachable, type ShardLog } from '#persistence/shard-log.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import type { ClaimedShard, OpenedShard } from '#cluster/shards/claims.ts';
import type { StatesAhead } from '#cluster/shards/states-ahead.ts';
import type { ShardContent, ShardJournal } from '#persistence/nats/log/journal.ts';
import type { Call } from '#cluster/calls/shard-calls.ts';
import type { SimulatedProcess } from './scheduler.ts';
import type { World } from './world.ts';

/** A claim that takes longer is given up, and tried again. */
const CLAIM_MS_MAX = 5_000;

/** What a process reaches of a shard in the servers. */
interface Access {
  readonly log: ShardLog;
  readonly checkpoints: Checkpoints;
  readonly archive: ArchiveBucket;
}

export function accessOf({ logs, store }: World, process: SimulatedProcess, shard: number): Access {
  return {
    log: logs[shard]!.connect(process),
    checkpoints: new Checkpoints(store.connect(process, 'checkpoints'), shard),
    archive: new ArchiveBucket(store.connect(process, 'archive'), shard),
  };
}

/**
 * An error of the servers is expected, and so is an object that a former owner has just put in the place of the same
 * one. Damage is expected where a message was damaged. Any other error fails the run.
 */
function refuseDefect({ scheduler, damagedShards, count }: World, shard: number, error: unknown): void {
  const isExpected = [LogUnreachable, ObjectsUnreachable, ObjectDamaged, CheckpointOutdated].some(
    (kind) => error instanceof kind,
  );
  if (isExpected) return;
  if (damagedShards.has(shard) && error instanceof ChainBroken) return count('damage found');
  scheduler.fail(error);
}

/** What a claim gives to whoever opens the shard. */
export interface ClaimedLog {
  readonly shard: number;
  readonly journal: ShardJournal;
  readonly recovered: ShardContent;
  readonly checkpoint: Checkpoint | null;
  readonly states: StatesAhead | null;
  /** When answers may leave, by the stopwatch. */
  readonly opensAtMs: number;
}

/** A shard that this process owns, whatever is in it. */
export type ServedShard = ClaimedShard & { handle(call: Call): Promise<unknown> };

/** What the shards of a run have above their journals. */
export interface ShardKind<Shard extends ServedShard> {
  /** States that are made before a claim; null where the kind has none. */
  statesAhead(): StatesAhead | null;
  open(claimed: ClaimedLog, process: SimulatedProcess): Shard | Promise<Shard>;
  /** Snapshots what is there, writes a checkpoint, and purges the log. */
  checkpoint(shard: number, owned: Shard, process: SimulatedProcess): Promise<void>;
}

export class Owner<Shard extends ServedShard> {
  readonly process: SimulatedProcess;
  readonly #world: World;
  readonly #node: string;
  readonly #timing: Timing;
  readonly #kind: ShardKind<Shard>;
  readonly #begins: ShardBegins;
  #ids = 0;

  constructor(world: World, node: string, process: SimulatedProcess, kind: ShardKind<Shard>) {
    this.#world = world;
    this.#kind = kind;
    this.#node = node;
    this.process = process;
    this.#timing = timeOf(process);
    this.#begins = new ShardBegins({
      node,
      time: this.#timing,
      checkpoints: (shard) => accessOf(world, process, shard).checkpoints,
      log: (shard) => accessOf(world, process, shard).log,
      states: async () => kind.statesAhead(),
    });
  }

  /** Reads a shard of another owner, and keeps it until it is claimed. */
  async readAhead(shard: number): Promise<void> {
    try {
      await this.#begins.readAhead(shard);
      this.#world.count('read ahead');
    } catch (error) {
      refuseDefect(this.#world, shard, error);
      throw error;
    }
  }

  forget(shard: number): void {
    this.#begins.forget(shard);
  }

  /** Claims a shard; null when another process was faster, or the servers were not reached. */
  async open(shard: number, hasGivenUp: (epoch: number) => boolean): Promise<OpenedShard<Shard> | null> {
    try {
      return await this.#claim(shard, hasGivenUp);
    } catch (error) {
      refuseDefect(this.#world, shard, error);
      return null;
    }
  }

  async checkpoint(shard: number, owned: Shard): Promise<void> {
    try {
      await this.#kind.checkpoint(shard, owned, this.process);
    } catch (error) {
      refuseDefect(this.#world, shard, error);
    }
  }

  async #claim(shard: number, hasGivenUp: (epoch: number) => boolean): Promise<OpenedShard<Shard> | null> {
    const { log } = accessOf(this.#world, this.process, shard);
    const { checkpoint, content, states } = await this.#begins.take(shard);
    const newId = (): string => `${this.process.name}-${(this.#ids += 1)}`;
    const giveUp = new AbortController();
    const cancel = this.process.after(CLAIM_MS_MAX, () => giveUp.abort());
    const options = { node: this.#node, checkpoint: content, newId, timing: this.#timing, signal: giveUp.signal };
    const claimed = await claimShard(log, options).finally(cancel);
    this.#world.count(claimed.outcome.toLowerCase());
    if (claimed.outcome === 'LOST') return null;
    const { journal, recovered, previousEpoch } = claimed;
    const claimedAtMs = this.process.stopwatchMs();
    const opensAtMs = hasGivenUp(previousEpoch) ? claimedAtMs : claimedAtMs + HOLD_OFF_MS;
    const owned = await this.#kind.open({ shard, journal, recovered, checkpoint, states, opensAtMs }, this.process);
    return { owned, previousEpoch };
  }
}

export function timeOf(process: SimulatedProcess): Timing {
  return {
    stopwatchMs: () => process.stopwatchMs(),
    soon: (run) => void process.after(0, run),
    after: (delayMs, run) => process.after(delayMs, run),
  };
}
