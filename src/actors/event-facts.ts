/**
 * The facts of one event on their way to the disk: appended as the unit of a turn, counted for the next snapshot, and
 * the gate at which answers wait until what they were made from is durable (I4).
 */
import { Overloaded, RETRY_AFTER_SECONDS } from './admission.ts';
import { beginStep, endStep } from './channels.ts';
import type { Decision } from '#domain/decision.ts';
import type { Journal } from '#persistence/journal.ts';

export class EventFacts {
  readonly #eventId: string;
  readonly #journal: Journal;
  #lastSeq: number;
  #sinceSnapshot: number;
  #waiting = 0;

  constructor(eventId: string, journal: Journal, lastSeq: number, sinceSnapshot: number) {
    this.#eventId = eventId;
    this.#journal = journal;
    this.#lastSeq = lastSeq;
    this.#sinceSnapshot = sinceSnapshot;
  }

  /** Sequence number of the newest fact that the state of the event was built from. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Facts that a replay from the newest snapshot would have to apply. */
  get sinceSnapshot(): number {
    return this.#sinceSnapshot;
  }

  /** Whether all that an answer could show is durable. */
  get areDurable(): boolean {
    return this.#lastSeq <= this.#journal.durableSeq;
  }

  /** Answers that wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Hands the facts of a turn to the journal as one unit. A command with an id has its reply stored beside them. */
  append({ facts, reply }: Decision, at: number, commandId?: string): void {
    const rows = facts.map(({ type, data }) => ({ type, data: JSON.stringify(data) }));
    const unit = { eventId: this.#eventId, at, facts: rows };
    const command = commandId === undefined ? null : { id: commandId, reply: JSON.stringify(reply) };
    this.#lastSeq = this.#journal.append(command === null ? unit : { ...unit, command });
    this.#sinceSnapshot += facts.length;
  }

  /** A snapshot is on disk that covers so many of the facts since the one before. */
  noteSnapshot(factsCovered: number): void {
    this.#sinceSnapshot = Math.max(0, this.#sinceSnapshot - factsCovered);
  }

  /**
   * Resolves with an answer once the state that it was made from is durable. Rejects with Overloaded where that was
   * lost.
   */
  async whenDurable<Answer>(answer: Answer): Promise<Answer> {
    if (this.areDurable) return answer;
    this.#waiting += 1;
    const begin = beginStep();
    try {
      await this.#journal.durable(this.#lastSeq);
      endStep('disk', begin);
      return answer;
    } catch (fault) {
      throw new Overloaded('the change could not be written', RETRY_AFTER_SECONDS, fault);
    } finally {
      this.#waiting -= 1;
    }
  }
}
