/**
 * The turns that go through all orders: they release the holds on cancelled performances and cancel the orders there,
 * or ask for all that is due. A follower of the event actor.
 *
 * There may be tens of thousands of them: in one turn they would keep everybody waiting for seconds.
 *
 * 1. Each turn looks at a bounded number, and the next one begins when the facts of the one before are durable. Other
 *    requests and events are served in between.
 * 2. A request to cancel a performance, or a repeat of it, is answered after the last turn. A definition that cancels
 *    one, and a request to refund everything, are answered at once.
 * 3. The first turns look at few orders: their code is not compiled yet, and a turn of full length took 12 to 16 ms,
 *    not 2.
 * 4. What is left after a crash follows from the facts (`domain/orders/state.ts`), so that the next activation goes on.
 */
import { isAskingForRefunds, isCancelling } from '#domain/orders/state.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from './admission.ts';
import type { Command, CommandOf, Reply, ReplyTo } from '#domain/command.ts';
import type { OrderState } from '#domain/orders/state.ts';
import type { Journal } from '#persistence/journal.ts';
import type { FollowedActor, Follower } from './follower.ts';

interface Work {
  readonly isToDo: (state: OrderState) => boolean;
  readonly turn: 'CancelNextOrders' | 'AskNextRefunds';
  /** The command that is answered when all is done. */
  readonly awaitedBy?: Command['type'];
}

const CANCELLATION: Work = { isToDo: isCancelling, turn: 'CancelNextOrders', awaitedBy: 'CancelPerformance' };
const REFUNDS: Work = { isToDo: isAskingForRefunds, turn: 'AskNextRefunds' };

/** Orders that one turn looks at, or holds that it ends: some 2 ms. The domain bounds how many of them it changes. */
const ORDERS_A_TURN = 100;
const ORDERS_OF_FIRST_TURN = 2;

/** Orders that a turn looks at after one of so many; null for the first (rule 3). */
export function ordersAfter(before: number | null, ordersMax = ORDERS_A_TURN): number {
  return Math.min(ordersMax, before === null ? ORDERS_OF_FIRST_TURN : 2 * before);
}

export class OrderTurns implements Follower {
  readonly #work: Work;
  readonly #state: OrderState;
  readonly #journal: Journal;
  readonly #actor: Pick<FollowedActor, 'isRetired' | 'due'>;
  readonly #ordersMax: number | undefined;
  /**
   * The position after which the next turn goes on (the number of an order or, below 0, of a part of the holds), and
   * the newest fact of the turn before.
   */
  #upTo: number | null = null;
  #seq = 0;
  /** Orders that the next turn looks at (rule 3). */
  #limit: number;
  /** Settled when every order was looked at; null where nobody waits for that. */
  #done: PromiseWithResolvers<void> | null = null;

  /** Both kinds of these turns; orders are cancelled first. */
  static of(...ports: [OrderState, Journal, Pick<FollowedActor, 'isRetired' | 'due'>, number?]): OrderTurns[] {
    return [new OrderTurns(CANCELLATION, ...ports), new OrderTurns(REFUNDS, ...ports)];
  }

  private constructor(
    work: Work,
    state: OrderState,
    journal: Journal,
    actor: Pick<FollowedActor, 'isRetired' | 'due'>,
    ordersMax?: number,
  ) {
    this.#work = work;
    this.#state = state;
    this.#journal = journal;
    this.#actor = actor;
    this.#ordersMax = ordersMax;
    this.#limit = ordersAfter(null, ordersMax);
  }

  /** At once, when the facts of the turn before are durable (rule 1). */
  dueAt(): number {
    return this.#work.isToDo(this.#state) && this.#seq <= this.#journal.durableSeq ? 0 : Number.POSITIVE_INFINITY;
  }

  nextCommand(): CommandOf<Work['turn']> {
    return { type: this.#work.turn, after: this.#upTo, limit: this.#limit };
  }

  afterTurn({ type }: Command, _facts: unknown, answer: Reply | Refusal): void {
    if (!this.#work.isToDo(this.#state)) return this.#end();
    if (type !== this.#work.turn) return;
    this.#upTo = (answer as ReplyTo<Work['turn']>).nextAfter;
    this.#limit = ordersAfter(this.#limit, this.#ordersMax);
    this.#seq = this.#journal.appendedSeq;
    const next = (): void => this.#actor.due.noteChange();
    this.#journal.durable(this.#seq).then(next, next);
  }

  #end(): void {
    this.#upTo = null;
    this.#seq = 0;
    this.#limit = ordersAfter(null, this.#ordersMax);
    this.#done?.resolve();
    this.#done = null;
  }

  /** The answer to a cancellation, when it may be given (rule 2). */
  beforeAnswer<Answer extends object>({ type }: Command, durable: Promise<Answer>): Promise<Answer> {
    return type === this.#work.awaitedBy ? this.#answerWhenDone(durable) : durable;
  }

  async #answerWhenDone<Answer extends object>(durable: Promise<Answer>): Promise<Answer> {
    const answer = await durable;
    if (isRefusal(answer)) return answer;
    try {
      if (this.#work.isToDo(this.#state)) {
        this.#done ??= Promise.withResolvers();
        if (this.#actor.isRetired) this.retire();
        await this.#done.promise;
      }
      await this.#journal.durable(this.#journal.appendedSeq);
      return answer;
    } catch (fault) {
      throw new Overloaded('orders are still to be cancelled', RETRY_AFTER_SECONDS, fault);
    }
  }

  /** The next activation goes on (rule 4). */
  retire(): void {
    this.#done?.reject(new Error('the event is being activated again'));
  }
}
