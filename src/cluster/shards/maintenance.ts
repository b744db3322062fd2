/**
 * The maintenance of the shards that a node owns, in rounds: snapshots, checkpoints, and the eviction of events that
 * are over.
 *
 * 1. One shard after the other, because snapshots take processor time and uploads the network.
 * 2. What fails at one shard is reported and keeps no other waiting, and neither does what takes very long: the next
 *    one begins meanwhile, and that one is left out until it is done.
 */
import { inBackground } from '#actors/trouble.ts';
import { pauseFor, type Timing } from '#persistence/nats/timing.ts';

interface MaintainedShard {
  maintain(): Promise<void>;
}

/** Between two looks at what has grown enough for a snapshot or a checkpoint. */
const ROUND_EVERY_MS = 15_000;
/** How long one shard keeps the others waiting (rule 2). */
const SHARD_MS_MAX = 60_000;

export class Maintenance {
  readonly #time: Pick<Timing, 'after'>;
  readonly #owned: () => Iterable<MaintainedShard>;
  readonly #underWay = new Set<MaintainedShard>();
  #cancelNext = (): void => {};
  #isStopped = false;

  constructor(time: Pick<Timing, 'after'>, owned: () => Iterable<MaintainedShard>) {
    this.#time = time;
    this.#owned = owned;
    this.#roundLater();
  }

  /** Begins with no further shard. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelNext();
  }

  #roundLater(): void {
    if (this.#isStopped) return;
    this.#cancelNext = this.#time.after(ROUND_EVERY_MS, () => void this.#round().then(() => this.#roundLater()));
  }

  async #round(): Promise<void> {
    for (const shard of [...this.#owned()]) {
      if (this.#isStopped) return;
      if (!this.#underWay.has(shard)) await this.#maintain(shard);
    }
  }

  /** Resolves when it is done, failed, or takes too long. */
  async #maintain(shard: MaintainedShard): Promise<void> {
    this.#underWay.add(shard);
    const maintained = shard.maintain().finally(() => this.#underWay.delete(shard));
    inBackground('snapshot', maintained);
    const isDone = new AbortController();
    const done = maintained.catch(() => {}).then(() => isDone.abort());
    await Promise.race([done, pauseFor(this.#time, SHARD_MS_MAX, isDone.signal)]);
  }
}
