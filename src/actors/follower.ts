/**
 * Followers of an event actor: a feature that outlives a turn is a follower in a file of its own, and the actor does
 * not know the feature.
 *
 * 1. A follower changes its event by commands alone. Soft state, which is in no fact, it may change itself, after a
 *    turn.
 * 2. Followers are called one after the other in every turn. One that has nothing to do allocates nothing.
 */
import { Defect } from '#domain/invariant.ts';
import type { Command, CommandOf, CommandType, Reply, ReplyTo } from '#domain/command.ts';
import type { Fact } from '#domain/fact.ts';
import type { Refusal } from '#domain/refusal.ts';

export interface Follower {
  /** Throws Overloaded where a command cannot be decided now. What is due is settled before. */
  admit?(command: Command): void;
  /**
   * Answers, while nothing can be written, a command that the admission table lets through then; null where it is not
   * its own.
   */
  answerUnwritten?(command: Command, now: number): Reply | Refusal | null;
  /** A turn has ended: its facts, of which a refusal has none, are applied and on their way to the disk. */
  afterTurn?(command: Command, facts: readonly Fact[], answer: Reply | Refusal, now: number): void;
  /**
   * Holds back the answer to a command, which is given once it is durable; returns `durable` itself where nothing holds
   * it back.
   */
  beforeAnswer?<Answer extends object>(command: Command, durable: Promise<Answer>): Promise<Answer>;
  /** When its next turn is due; infinite where none is. Until then, and no longer, the event may be evicted. */
  dueAt?(): number;
  /** The command of the turn that is due. */
  nextCommand?(): Command;
  /** The actor is retired. What is unfinished follows from the facts, so that the next activation goes on. */
  retire?(): void;
}

/** An event actor, for its followers. */
export interface FollowedActor {
  readonly isRetired: boolean;
  readonly due: DueMoments;
  execute<Type extends CommandType>(command: CommandOf<Type>): Promise<ReplyTo<Type> | Refusal>;
}

/** Is told of what changes without a fact. */
export interface DueMoments {
  /** Something may be due at another moment than before. */
  noteChange(): void;
  /** Something may be due later than is known, and nothing sooner. */
  notePostponed(): void;
}

type Having<Hook extends keyof Follower> = Follower & Required<Pick<Follower, Hook>>;

/** Makes the followers of an actor. */
export type Follow = (actor: FollowedActor) => readonly Follower[];

/** The followers of one actor, in their order. */
export class Followers {
  readonly #all: readonly Follower[];
  readonly #admitting: readonly Having<'admit'>[];
  readonly #afterTurn: readonly Having<'afterTurn'>[];
  readonly #beforeAnswer: readonly Having<'beforeAnswer'>[];
  readonly #working: readonly Having<'dueAt'>[];

  constructor(all: readonly Follower[]) {
    this.#all = all;
    this.#admitting = having(all, 'admit');
    this.#afterTurn = having(all, 'afterTurn');
    this.#beforeAnswer = having(all, 'beforeAnswer');
    this.#working = having(all, 'dueAt');
  }

  admit(command: Command): void {
    for (const follower of this.#admitting) follower.admit(command);
  }

  answerUnwritten(command: Command, now: number): Reply | Refusal {
    for (const follower of this.#all) {
      const answer = follower.answerUnwritten?.(command, now) ?? null;
      if (answer !== null) return answer;
    }
    throw new Defect('a command that is admitted while nothing can be written is the own one of a follower');
  }

  afterTurn(command: Command, facts: readonly Fact[], answer: Reply | Refusal, now: number): void {
    for (const follower of this.#afterTurn) follower.afterTurn(command, facts, answer, now);
  }

  beforeAnswer<Answer extends object>(command: Command, durable: Promise<Answer>): Promise<Answer> {
    let answer = durable;
    for (const follower of this.#beforeAnswer) answer = follower.beforeAnswer(command, answer);
    return answer;
  }

  /** When the next turn of a follower is due; infinite where none is. */
  dueAt(): number {
    let at = Number.POSITIVE_INFINITY;
    for (const follower of this.#working) at = Math.min(at, follower.dueAt());
    return at;
  }

  /** The command of a turn that is due; null where none is. */
  nextCommand(now: number): Command | null {
    for (const follower of this.#working) if (follower.dueAt() <= now) return follower.nextCommand!();
    return null;
  }

  retire(): void {
    for (const follower of this.#all) follower.retire?.();
  }
}

function having<Hook extends keyof Follower>(all: readonly Follower[], hook: Hook): readonly Having<Hook>[] {
  return all.filter((each): each is Having<Hook> => each[hook] !== undefined);
}
