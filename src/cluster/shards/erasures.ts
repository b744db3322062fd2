/**
 * Erasures of a shard at its owner: the keys of what was erased are destroyed whoever owns the shard, and whenever an
 * owner stops.
 *
 * 1. A new owner destroys the keys again of every erasure that is not known to be complete, before it answers: the
 *    owner before may have been killed between the fact and its keys. Where the keys cannot be reached then, it goes on
 *    trying beside its other work.
 * 2. How far erasures are complete is noted before a checkpoint, after which a next owner does not see them any more.
 */
import { keyIdsOf } from '#privacy/folder-keys.ts';
import { KeyDestruction, noteErasuresThrough } from '#privacy/key-destruction.ts';
import { reportTrouble } from '#actors/trouble.ts';
import type { FactRow, Unit } from '#persistence/journal.ts';
import type { KeyStore } from '#persistence/keys.ts';

/** Keys destroyed together at a claim. */
const KEYS_AT_ONCE = 10_000;

export class ShardErasures {
  readonly destruction: KeyDestruction;
  readonly #shard: number;
  readonly #keys: Pick<KeyStore, 'destroy' | 'erasedThrough' | 'noteErased'>;
  /** Whether something was erased since the last note. */
  #isNoteDue = false;
  /** Notes come one after the other, so that nobody goes on while one is under way. */
  #lastNote: Promise<void> = Promise.resolve();

  constructor(shard: number, keys: Pick<KeyStore, 'destroy' | 'erasedThrough' | 'noteErased'>) {
    this.#shard = shard;
    this.#keys = keys;
    this.destruction = new KeyDestruction(keys);
  }

  /** Repeats erasures among the facts that a claim found (rule 1). Never rejects. */
  async repeat(rows: readonly FactRow[], durableSeq: number): Promise<void> {
    const erasures = rows.filter(({ type }) => type === 'OrderErased');
    if (erasures.length === 0) return;
    try {
      const notedSeq = await this.#notedSeq(durableSeq);
      const since = erasures.filter(({ seq }) => seq > notedSeq).flatMap(keyIdsOf);
      this.#isNoteDue ||= since.length > 0;
      for (let begin = 0; begin < since.length; begin += KEYS_AT_ONCE)
        await this.destruction.destroy(since.slice(begin, begin + KEYS_AT_ONCE));
    } catch (error) {
      reportTrouble('keys', `the keys of erased orders of shard ${this.#shard} are not destroyed yet`, error);
    }
  }

  /** Sees what is appended. */
  see({ facts }: Pick<Unit, 'facts'>): void {
    this.#isNoteDue ||= facts.some(({ type }) => type === 'OrderErased');
  }

  /** Notes that the keys of every erasure up to a durable fact are destroyed (rule 2). Rejects where some are not. */
  note(throughSeq: number): Promise<void> {
    const noted = this.#lastNote.then(() => this.#note(throughSeq));
    this.#lastNote = noted.catch(() => {});
    return noted;
  }

  async #note(throughSeq: number): Promise<void> {
    if (!this.#isNoteDue) return;
    this.#isNoteDue = false;
    try {
      await noteErasuresThrough(this.#label, throughSeq, this.#keys, this.destruction);
    } catch (error) {
      this.#isNoteDue = true;
      throw error;
    }
  }

  /**
   * What cannot be read counts as never noted: to destroy keys twice does no harm. A log that begins anew has the same
   * numbers again.
   */
  async #notedSeq(durableSeq: number): Promise<number> {
    const notedSeq = await this.#keys.erasedThrough(this.#label).catch(() => 0);
    return notedSeq > durableSeq ? 0 : notedSeq;
  }

  get #label(): string {
    return `shard-${this.#shard}`;
  }
}
