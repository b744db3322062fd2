/**
 * Destroys the keys of erased data once the facts of the erasure are durable, and before the answer. A follower of the
 * event actor; `ErasedKeys` destroys the keys and tries again.
 */
import { erases, keyIdsErasedBy } from '#domain/orders/erasure.ts';
import type { Command } from '#domain/command.ts';
import type { Fact } from '#domain/fact.ts';
import type { ErasedKeys } from './event-actor-ports.ts';
import type { Follower } from './follower.ts';

export class Erasures implements Follower {
  readonly #keys: ErasedKeys;
  /** Of the erasure that was decided last. */
  #keyIds: readonly string[] = [];

  constructor(keys: ErasedKeys) {
    this.#keys = keys;
  }

  admit({ type }: Command): void {
    if (erases(type)) this.#keys.admit();
  }

  afterTurn({ type }: Command, facts: readonly Fact[]): void {
    if (erases(type)) this.#keyIds = facts.flatMap(keyIdsErasedBy);
  }

  beforeAnswer<Answer extends object>({ type }: Command, durable: Promise<Answer>): Promise<Answer> {
    return erases(type) ? this.#answerWhenDestroyed(durable) : durable;
  }

  /** Those that failed before are tried again too. */
  async #answerWhenDestroyed<Answer>(durable: Promise<Answer>): Promise<Answer> {
    const keyIds = this.#keyIds;
    this.#keyIds = [];
    const answer = await durable;
    await this.#keys.destroy(keyIds);
    return answer;
  }
}
