/**
 * The turns that cancel the orders of cancelled performances, of one event actor.
 *
 * There may be tens of thousands of them: in one turn they would keep everybody waiting for seconds.
 *
 * 1. Each turn cancels a bounded number, and the next one begins when the facts of the one before are durable. Other requests and
 *    events are served in between.
 * 2. Who cancels a performance, or does it again, is answered after the last turn. Who cancels it by a definition is not kept waiting.
 * 3. What is left after a crash follows from the facts (`domain/orders/state.ts`), so that the next activation goes on.
 */
import { isCancelling } from '#domain/orders/state.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from './admission.ts';
import type { CommandOf, CommandType, Reply, ReplyTo } from '#domain/command.ts';
import type { EventState } from '#domain/event-state.ts';
import type { Journal } from '#persistence/journal.ts';
import type { EventActorPorts } from './event-actor-ports.ts';

/** Orders that one turn looks at: some milliseconds where all of them are cancelled. */
const ORDERS_A_TURN = 200;

/** What of the actor's ports is needed. */
type CancellationPorts = Pick<EventActorPorts<never>, 'journal' | 'cancelledAtOnceMax'>;

/** The event actor, for its turns. */
export interface CancellingActor {
  /** Runs a turn at a moment. */
  run(command: CommandOf<'CancelNextOrders'>, now: number): Reply | Refusal;
  /** Has `goOn` called. */
  schedule(): void;
}

export class CancellationTurns {
  readonly #state: EventState;
  readonly #journal: Journal;
  readonly #ordersATurn: number;
  readonly #actor: CancellingActor;
  /** The order that the next turn goes on after, and the newest fact of the turn before. */
  #upTo: number | null = null;
  #seq = 0;
  /** Settled when every order is cancelled; null where nobody waits for that. */
  #done: PromiseWithResolvers<void> | null = null;
  #isRetired = false;

  constructor(state: EventState, { journal, cancelledAtOnceMax }: CancellationPorts, actor: CancellingActor) {
    this.#state = state;
    this.#journal = journal;
    this.#ordersATurn = cancelledAtOnceMax ?? ORDERS_A_TURN;
    this.#actor = actor;
  }

  /** Whether the next turn may begin (1). */
  get mayGoOn(): boolean {
    if (!isCancelling(this.#state)) return false;
    const { status, durableSeq } = this.#journal;
    return status === 'OPEN' && this.#seq <= durableSeq;
  }

  /** Runs the next turn, where it may begin. */
  goOn(now: number): void {
    if (!this.mayGoOn) return;
    this.#seq = Number.MAX_SAFE_INTEGER;
    const command = { type: 'CancelNextOrders', after: this.#upTo, limit: this.#ordersATurn } as const;
    const { nextAfter } = this.#actor.run(command, now) as ReplyTo<'CancelNextOrders'>;
    if (!isCancelling(this.#state)) return;
    this.#upTo = nextAfter;
    this.#seq = this.#journal.appendedSeq;
    const next = (): void => {
      if (!this.#isRetired) this.#actor.schedule();
    };
    this.#journal.durable(this.#seq).then(next, next);
  }

  /** Facts were applied. */
  noteFacts(): void {
    if (isCancelling(this.#state)) return;
    this.#upTo = null;
    this.#seq = 0;
    this.#done?.resolve();
    this.#done = null;
  }

  /** The answer to a command, when it may be given (2). */
  answer<Answer extends object>(type: CommandType, durable: Promise<Answer>): Promise<Answer> {
    return type === 'CancelPerformance' ? this.#answerWhenDone(durable) : durable;
  }

  async #answerWhenDone<Answer extends object>(durable: Promise<Answer>): Promise<Answer> {
    const answer = await durable;
    if (isRefusal(answer)) return answer;
    try {
      if (isCancelling(this.#state)) {
        this.#done ??= Promise.withResolvers();
        if (this.#isRetired) this.retire();
        await this.#done.promise;
      }
      await this.#journal.durable(this.#journal.appendedSeq);
      return answer;
    } catch (fault) {
      throw new Overloaded('orders are still to be cancelled', RETRY_AFTER_SECONDS, fault);
    }
  }

  /** The actor is retired: its next activation goes on (3). */
  retire(): void {
    this.#isRetired = true;
    this.#done?.reject(new Error('the event is being activated again'));
  }
}
