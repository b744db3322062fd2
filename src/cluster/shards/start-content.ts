/**
 * What the claim of a shard begins with: its newest checkpoint, or more where the shard was read ahead
 * (`read-ahead.ts`).
 *
 * 1. What was read ahead is a part of the log from its beginning on. The claim reads what came afterwards, and its
 *    expectation proves that nothing is missing.
 * 2. A claim that comes while states are still made takes those that are there, and waits for none but that of the
 *    event that is asked for.
 */
import { readAhead } from '#persistence/nats/log/claim.ts';
import type { Checkpoint, Checkpoints } from '#persistence/nats/objects/checkpoints.ts';
import type { ShardContent } from '#persistence/nats/log/journal.ts';
import type { ShardLog } from '#persistence/shard-log.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import { AHEAD_MS_MAX } from './read-ahead.ts';
import type { StatesAhead } from './states-ahead.ts';

interface ShardBeginsPorts {
  readonly node: string;
  readonly time: Timing;
  readonly checkpoints: (shard: number) => Pick<Checkpoints, 'newest'>;
  /** The log after what is known of it. */
  readonly log: (shard: number, known: ShardContent | null) => ShardLog;
  /** States of the shard's events, of which none is made yet; null where there are to be none. */
  readonly states: (shard: number, checkpoint: Checkpoint | null) => Promise<StatesAhead | null>;
}

/** What is read before a shard is claimed. */
interface ShardBegin {
  readonly checkpoint: Checkpoint | null;
  /** The checkpoint's, or more. */
  readonly content: ShardContent | null;
  /** States of events as of the content, or of a part of it. */
  readonly states: StatesAhead | null;
}

export class ShardBegins {
  readonly #ports: ShardBeginsPorts;
  /** What was read ahead, by shard. */
  readonly #ahead = new Map<number, ShardBegin & { readonly readAtMs: number }>();
  /** The reading under way, by shard; the result of any other reading is not kept. */
  readonly #readings = new Map<number, object>();

  constructor(ports: ShardBeginsPorts) {
    this.#ports = ports;
  }

  /**
   * Reads a shard of another owner, and keeps it until it is claimed; resolves when the states of its events are there.
   */
  async readAhead(shard: number): Promise<void> {
    const { node, time, log, states: statesOf } = this.#ports;
    const reading = {};
    this.#readings.set(shard, reading);
    const { checkpoint, content: known } = await this.#begin(shard);
    const readAtMs = time.stopwatchMs();
    const content = await readAhead(log(shard, known), { node, checkpoint: known, timing: time });
    const states = await statesOf(shard, checkpoint);
    if (this.#readings.get(shard) !== reading) return;
    this.#ahead.set(shard, { checkpoint, content, states, readAtMs });
    await states?.make(content);
  }

  /** Lets go of what was read ahead. */
  forget(shard: number): void {
    this.#readings.delete(shard);
    this.#ahead.get(shard)?.states?.clear();
    this.#ahead.delete(shard);
  }

  /** For a claim: what was read ahead, which is forgotten then, else the newest checkpoint. */
  take(shard: number): Promise<ShardBegin> {
    this.#readings.delete(shard);
    return this.#begin(shard);
  }

  async #begin(shard: number): Promise<ShardBegin> {
    const { time, checkpoints } = this.#ports;
    const ahead = this.#ahead.get(shard);
    this.#ahead.delete(shard);
    ahead?.states?.end();
    if (ahead !== undefined && time.stopwatchMs() - ahead.readAtMs < AHEAD_MS_MAX) return ahead;
    const checkpoint = await checkpoints(shard).newest();
    return { checkpoint, content: checkpoint, states: null };
  }
}
