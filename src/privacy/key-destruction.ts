/**
 * Destroys the keys of what was erased, once the facts that say so are durable.
 *
 * 1. A fact first, then its keys: a crash in between leaves keys that the next start, or the next owner of the event,
 *    destroys.
 * 2. Keys that could not be destroyed are kept here and tried again, with those of the next erasure and by themselves
 *    after `retryMs`. Whoever asked is refused as Overloaded, and answered when a repeated request finds nothing left
 *    to destroy.
 * 3. While too many wait, nothing is erased (I10).
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import { reportTrouble } from '#actors/trouble.ts';
import type { KeyStore } from '#persistence/keys.ts';

/** Keys that may wait; some megabytes. */
const WAITING_MAX = 20_000;

const RETRY_MS = 1_000;

interface KeyDestructionOptions {
  readonly retryMs?: number;
  /** Has work done later; a simulation brings its own time. */
  readonly later?: (work: () => void, ms: number) => void;
}

export class KeyDestruction {
  readonly #keys: Pick<KeyStore, 'destroy'>;
  readonly #retryMs: number;
  readonly #later: (work: () => void, ms: number) => void;
  /** Keys whose destruction is not known to be durable. */
  readonly #waiting = new Set<string>();
  #isRetrying = false;
  #isStopped = false;

  constructor(
    keys: Pick<KeyStore, 'destroy'>,
    { retryMs = RETRY_MS, later = unheldTimer }: KeyDestructionOptions = {},
  ) {
    this.#keys = keys;
    this.#retryMs = retryMs;
    this.#later = later;
  }

  /** Keys that wait for another try. */
  get waitingCount(): number {
    return this.#waiting.size;
  }

  /** Refuses an erasure while too many keys wait (rule 3). */
  admit(): void {
    if (this.#waiting.size < WAITING_MAX) return;
    throw new Overloaded('keys of erased orders cannot be destroyed now', RETRY_AFTER_SECONDS);
  }

  /**
   * Resolves when these keys, and all that wait, are destroyed for good; rejects with Overloaded where they are not
   * (rule 2).
   */
  async destroy(keyIds: readonly string[]): Promise<void> {
    for (const id of keyIds) this.#waiting.add(id);
    if (this.#waiting.size === 0) return;
    const tried = [...this.#waiting];
    try {
      await this.#keys.destroy(tried);
      for (const id of tried) this.#waiting.delete(id);
    } catch (fault) {
      this.#retryLater(fault);
      throw new Overloaded('the keys of what was erased cannot be destroyed now', RETRY_AFTER_SECONDS, fault);
    }
  }

  /** Ends the retries; the next start, or the next owner, destroys what waits (rule 1). */
  stop(): void {
    this.#isStopped = true;
  }

  #retryLater(fault: unknown): void {
    if (this.#isRetrying || this.#isStopped) return;
    this.#isRetrying = true;
    const { message } = fault instanceof Error ? fault : new Error(String(fault));
    reportTrouble('keys', `${this.#waiting.size} keys of erased orders are not destroyed yet: ${message}`, fault);
    this.#later(() => {
      this.#isRetrying = false;
      if (this.#isStopped) return;
      // What fails again is tried again.
      this.destroy([]).catch(() => {});
    }, this.#retryMs);
  }
}

function unheldTimer(work: () => void, ms: number): void {
  setTimeout(work, ms).unref();
}

/**
 * Notes under a label that the keys of every erasure up to a durable fact are destroyed. Rejects where some are not.
 */
export async function noteErasuresThrough(
  label: string,
  seq: number,
  keys: Pick<KeyStore, 'noteErased'>,
  destruction: Pick<KeyDestruction, 'destroy'>,
): Promise<void> {
  // Whoever waited for these facts to be durable has asked for the destruction of their keys by then.
  await nextRound();
  await destruction.destroy([]);
  await keys.noteErased(label, seq);
}
