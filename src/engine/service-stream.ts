/**
 * The service's own stream in the journal: facts that belong to no event, the sandbox clock, and answers under
 * idempotency keys.
 *
 * The keys of requests to an event belong to the domain; this stream keeps those of requests about the service, such as
 * a snapshot.
 *
 * 1. Requests under one key that come at once share one piece of work.
 * 2. The work is done first, then its answer is recorded. When the work fails nothing is kept, and a repeat is checked
 *    anew.
 * 3. What is kept is bounded (`service-facts.ts`), for a day and over restarts.
 * 4. Requests advance the clock one at a time: each adds to the result of the one before, and the sum is bounded.
 */
import { IDEMPOTENCY_WINDOW_MS } from '#domain/idempotency.ts';
import { refuse, type Refusal } from '#domain/refusal.ts';
import type { IdempotencyKey } from '#domain/fact.ts';
import type { Journal } from '#persistence/journal.ts';
import { LATEST_MOMENT, type ServiceClock } from '#actors/clock.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import { keepAnswer, SERVICE_STREAM, type ServiceAnswer, type ServiceFact } from './service-facts.ts';

/** What a request came to; `replayed`: an earlier one with its key had this answer. */
export interface AnsweredOnce<Answer> {
  readonly outcome: 'DONE';
  readonly answer: Answer;
  readonly replayed: boolean;
}

interface Work {
  readonly digest: string;
  readonly answer: Promise<unknown>;
}

export class ServiceStream {
  readonly #journal: Journal;
  readonly #clock: ServiceClock;
  #kept: readonly ServiceAnswer[];
  readonly #underWay = new Map<string, Work>();
  #lastAdvance: Promise<unknown> = Promise.resolve();

  constructor(journal: Journal, clock: ServiceClock, kept: readonly ServiceAnswer[]) {
    this.#journal = journal;
    this.#clock = clock;
    this.#kept = kept;
  }

  /** Appends a fact; resolves when it is durable. Rejects with Overloaded. */
  async record(fact: ServiceFact): Promise<void> {
    const journal = this.#journal;
    if (journal.status !== 'OPEN') throw new Overloaded('the journal cannot be written now', RETRY_AFTER_SECONDS);
    const facts = [{ type: fact.type, data: JSON.stringify(fact.data) }];
    const seq = journal.append({ eventId: SERVICE_STREAM, at: this.#clock.now(), facts });
    await journal.durable(seq).catch((fault: unknown) => {
      throw new Overloaded('the change could not be written', RETRY_AFTER_SECONDS, fault);
    });
  }

  /**
   * Moves the clock forward once that is durable; resolves with the new moment, or null where it would be beyond
   * LATEST_MOMENT.
   */
  advanceClock(seconds: number): Promise<number | null> {
    const advanced = this.#lastAdvance.then(() => this.#advance(seconds));
    this.#lastAdvance = advanced.catch(() => {});
    return advanced;
  }

  async #advance(seconds: number): Promise<number | null> {
    const clock = this.#clock;
    const stepMs = Math.round(seconds * 1000);
    if (clock.now() + stepMs > LATEST_MOMENT) return null;
    await this.record({ type: 'ClockAdvanced', data: { offsetMs: clock.offsetMs + stepMs } });
    clock.advance(stepMs);
    return clock.now();
  }

  /** Does the work of a marked request, unless an earlier one with its key did: IDEMPOTENCY_KEY_REUSED. */
  async once<Answer>(
    idempotency: IdempotencyKey | null,
    work: () => Promise<Answer>,
  ): Promise<AnsweredOnce<Answer> | Refusal> {
    if (idempotency === null) return { outcome: 'DONE', answer: await work(), replayed: false };
    const known = this.#underWay.get(idempotency.key) ?? this.#find(idempotency.key);
    if (known !== undefined && known.digest !== idempotency.digest) return refuse('IDEMPOTENCY_KEY_REUSED', {});
    if (known !== undefined) return { outcome: 'DONE', answer: (await known.answer) as Answer, replayed: true };
    const answer = this.#answer(idempotency, work()).finally(() => this.#underWay.delete(idempotency.key));
    this.#underWay.set(idempotency.key, { digest: idempotency.digest, answer });
    return { outcome: 'DONE', answer: await answer, replayed: false };
  }

  #find(key: string): { readonly digest: string; readonly answer: unknown } | undefined {
    const oldest = this.#clock.now() - IDEMPOTENCY_WINDOW_MS;
    return this.#kept.find((each) => each.key === key && each.at > oldest);
  }

  async #answer<Answer>(idempotency: IdempotencyKey, work: Promise<Answer>): Promise<Answer> {
    const answer = await work;
    const kept: ServiceAnswer = { ...idempotency, at: this.#clock.now(), answer };
    await this.record({ type: 'ServiceRequestAnswered', data: kept });
    this.#kept = keepAnswer(this.#kept, kept);
    return answer;
  }
}
