/**
 * Shards that this node should own and another node still owns. Their contents are read meanwhile and the states of
 * their events are made, so that a shard is without an owner only during its claim, however much it has.
 *
 * 1. A claim begins with what was read (`start-content.ts`), and reads what came afterwards.
 * 2. The others are told, so that an owner that is about to give a shard up does so when it is awaited.
 * 3. A few are read at a time, beside requests. One that cannot be read is tried again after a while.
 */
import type { Timing } from '#persistence/nats/timing.ts';
import type { Membership } from '../calls/membership.ts';

interface ReadAheadPorts {
  readonly time: Timing;
  readonly membership: Pick<Membership, 'setAwaited'>;
  /** Reads what a shard has, makes the states of its events, and keeps both for the claim. */
  readonly read: (shard: number) => Promise<void>;
  /** Lets go of what was kept. */
  readonly forget: (shard: number) => void;
}

/** What was read serves for so long: checkpoints that are written later may name other snapshots. */
export const AHEAD_MS_MAX = 10_000;

const AT_ONCE_MAX = 4;
const RETRY_MS = 500;

export class ReadAhead {
  readonly #ports: ReadAheadPorts;
  readonly #wanted = new Set<number>();
  #reading = 0;

  constructor(ports: ReadAheadPorts) {
    this.#ports = ports;
  }

  /** This node is going to own the shard. */
  want(shard: number): void {
    if (this.#wanted.has(shard) || this.#reading >= AT_ONCE_MAX) return;
    this.#wanted.add(shard);
    this.#reading += 1;
    const { time, membership, read } = this.#ports;
    read(shard).then(
      () => {
        this.#reading -= 1;
        if (this.#wanted.has(shard)) membership.setAwaited(shard, true);
        else this.#forget(shard);
      },
      () => {
        this.#reading -= 1;
        // Whoever claims it reports what is wrong.
        time.after(RETRY_MS, () => this.#wanted.delete(shard));
      },
    );
  }

  /** This node is no longer going to own the shard, or owns it now. */
  end(shard: number): void {
    if (this.#wanted.delete(shard)) this.#forget(shard);
  }

  #forget(shard: number): void {
    this.#ports.forget(shard);
    this.#ports.membership.setAwaited(shard, false);
  }
}
