/**
 * What was answered to requests about the service itself that carried an idempotency key, for a day and over restarts.
 *
 * Owns the book of these keys; those of an event belong to the domain. Few requests are about the service: a snapshot is.
 *
 * 1. Requests under one key that come at once share one piece of work.
 * 2. The work is done first and its answer recorded then: when it fails nothing is kept, and a repeat is judged anew.
 * 3. What is kept is bounded (`service-facts.ts`).
 */
import { IDEMPOTENCY_WINDOW_MS } from '#domain/idempotency.ts';
import { refuse, type Refusal } from '#domain/refusal.ts';
import type { IdempotencyMark } from '#domain/fact.ts';
import { keepAnswer, type ServiceAnswer, type ServiceFact } from './service-facts.ts';

export interface ServiceAnswersPorts {
  readonly now: () => number;
  /** Appends a fact; resolves when it is durable. */
  readonly record: (fact: ServiceFact) => Promise<void>;
}

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

export class ServiceAnswers {
  readonly #ports: ServiceAnswersPorts;
  #kept: readonly ServiceAnswer[];
  readonly #underWay = new Map<string, Work>();

  constructor(kept: readonly ServiceAnswer[], ports: ServiceAnswersPorts) {
    this.#kept = kept;
    this.#ports = ports;
  }

  /** Does the work of a marked request, unless an earlier one with its key did: IDEMPOTENCY_KEY_REUSED. */
  async once<Answer>(
    mark: IdempotencyMark | null,
    work: () => Promise<Answer>,
  ): Promise<AnsweredOnce<Answer> | Refusal> {
    if (mark === null) return { outcome: 'DONE', answer: await work(), replayed: false };
    const known = this.#underWay.get(mark.key) ?? this.#find(mark.key);
    if (known !== undefined && known.digest !== mark.digest) return refuse('IDEMPOTENCY_KEY_REUSED', {});
    if (known !== undefined) return { outcome: 'DONE', answer: (await known.answer) as Answer, replayed: true };
    const answer = this.#record(mark, work()).finally(() => this.#underWay.delete(mark.key));
    this.#underWay.set(mark.key, { digest: mark.digest, answer });
    return { outcome: 'DONE', answer: await answer, replayed: false };
  }

  #find(key: string): { readonly digest: string; readonly answer: unknown } | undefined {
    const oldest = this.#ports.now() - IDEMPOTENCY_WINDOW_MS;
    return this.#kept.find((each) => each.key === key && each.at > oldest);
  }

  async #record<Answer>(mark: IdempotencyMark, work: Promise<Answer>): Promise<Answer> {
    const answer = await work;
    const kept: ServiceAnswer = { ...mark, at: this.#ports.now(), answer };
    await this.#ports.record({ type: 'ServiceRequestAnswered', data: kept });
    this.#kept = keepAnswer(this.#kept, kept);
    return answer;
  }
}
