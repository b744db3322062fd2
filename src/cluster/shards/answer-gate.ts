/**
 * The gate of a shard's answers: nothing leaves an owner that another owner has already changed.
 *
 * A node that was paused or cut off may own a shard no longer and not know it. The log refuses its appends, but it sees
 * no reads. Heartbeats cannot tell either: a claim that was sent during the pause may be appended long after the node's
 * heartbeats are back.
 *
 * 1. An answer leaves only when the shard's journal has confirmed, to a question that was asked at most `PROOF_MS` ago,
 *    that the log has no claim after this owner's. The time runs from the question, because the shard may be claimed
 *    right after it is answered.
 * 2. A new owner lets no answer leave for `HOLD_OFF_MS` after its claim was acknowledged: the newest proof of the owner
 *    before is older than the claim, so that it is over by then. It need not wait where the owner before has released
 *    the shard; an owner whose own hold-off is not over does not say so before (`leftMs`), because the owner before it
 *    may still answer.
 * 3. Both times are measured by each node's own stopwatch. Nobody's time of day counts.
 * 4. A reply to durable facts passes as well, because of rule 2; the proof is asked for once in `PROOF_MS`, not once an
 *    answer.
 */

/** How long a proof serves. */
export const PROOF_MS = 750;

/** Longer than a proof serves, because two stopwatches do not run at exactly the same rate. */
export const HOLD_OFF_MS = 800;

/** The pause before the log is asked again when it could not be reached. */
const ASK_AGAIN_MS = 100;

interface AnswerGatePorts {
  /** Asks the log whether its last message is still this owner's. Rejects when the log cannot be reached. */
  readonly confirm: () => Promise<boolean>;
  /** Milliseconds that pass on while the process is stopped. */
  readonly stopwatchMs: () => number;
  readonly after: (delayMs: number, run: () => void) => void;
}

export class AnswerGate {
  readonly #ports: AnswerGatePorts;
  readonly #opensAtMs: number;
  #provenAtMs = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  /** The question that is under way, shared by all answers that wait. */
  #proving: Promise<void> | null = null;
  /** Ends the pause that is under way. */
  #endPause: (() => void) | null = null;

  /**
   * `opensAtMs`, by the stopwatch: `HOLD_OFF_MS` after the claim, or any moment that is over where the owner before
   * released the shard.
   */
  constructor(ports: AnswerGatePorts, opensAtMs: number) {
    this.#ports = ports;
    this.#opensAtMs = opensAtMs;
  }

  /** How long the hold-off still lasts (rule 2). */
  get leftMs(): number {
    return Math.max(0, this.#opensAtMs - this.#ports.stopwatchMs());
  }

  /** Whether an answer may leave in this very tick. */
  get isOpen(): boolean {
    const now = this.#ports.stopwatchMs();
    return !this.#isClosed && now >= this.#opensAtMs && now - this.#provenAtMs <= PROOF_MS;
  }

  /** Resolves with true when the answer may leave, in the same tick; with false when the shard has another owner. */
  async pass(): Promise<boolean> {
    while (!this.isOpen) {
      if (this.#isClosed) return false;
      await (this.#proving ??= this.#prove());
    }
    return true;
  }

  /** The shard has another owner, or none: every answer that waits is given up. */
  close(): void {
    this.#isClosed = true;
    this.#endPause?.();
  }

  async #prove(): Promise<void> {
    try {
      const askedAtMs = this.#ports.stopwatchMs();
      if (askedAtMs < this.#opensAtMs) return await this.#pause(this.#opensAtMs - askedAtMs);
      const isOwner = await this.#ports.confirm();
      if (isOwner) this.#provenAtMs = askedAtMs;
      else this.close();
    } catch {
      await this.#pause(ASK_AGAIN_MS);
    } finally {
      this.#proving = null;
    }
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      this.#endPause = resolve;
      this.#ports.after(delayMs, resolve);
    });
  }
}
