/**
 * The work of an event without a request: deadlines that run out, and turns of its followers. Its actor calls it.
 *
 * Owns the moment that is scheduled. What a deadline leads to is decided in `event/decide.ts`.
 *
 * 1. Deadlines are settled in the order in which they ran out, each in a turn of its own. They are looked up once after
 *    each change, because `nextDeadline` has to drop stale entries. Where a deadline can only have moved to later, they
 *    are looked up when the known moment has come.
 * 2. While the disk is full nothing can be written, and time goes on: what runs out is settled for reading alone, in a
 *    state that is discarded before anything is written again.
 * 3. Followers take a turn when the timer comes, one each time, and never while nothing can be written.
 */
import { factsOf } from '#domain/decision.ts';
import { nextDeadline, nextEnding, type Deadline } from '#domain/event/deadlines.ts';
import { decide } from '#domain/event/decide.ts';
import { evolve } from '#domain/event/evolve.ts';
import { invariant } from '#domain/invariant.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from './admission.ts';
import type { Command } from '#domain/command.ts';
import type { EventState } from '#domain/event/state.ts';
import type { EventActorPorts, TurnContext } from './event-actor-ports.ts';
import type { DueMoments, Followers } from './follower.ts';

/** The event actor, for its turns. */
interface Turns {
  readonly context: TurnContext;
  isRetired(): boolean;
  run(command: Command): unknown;
  /** The state in memory cannot be trusted any more. */
  giveUp(defect: unknown): void;
}

type DuePorts = Pick<EventActorPorts<never>, 'journal' | 'clock' | 'schedule'>;

export class DueWork implements DueMoments {
  readonly #state: EventState;
  readonly #ports: DuePorts;
  readonly #followers: Followers;
  readonly #turns: Turns;
  /** What runs out next; undefined from a change until it is looked up again (rule 1). */
  #next: Deadline | null | undefined;
  #scheduledAt = Number.POSITIVE_INFINITY;
  /** Whether what is known to run out next may have moved to later meanwhile. */
  #mayBeLater = false;
  /** Whether the state was settled without facts (rule 2). */
  #isForReading = false;

  constructor(state: EventState, ports: DuePorts, followers: Followers, turns: Turns) {
    this.#state = state;
    this.#ports = ports;
    this.#followers = followers;
    this.#turns = turns;
  }

  /** When something is to be done, in milliseconds since 1970; infinite where nothing is. */
  get at(): number {
    return Math.min(this.#deadline()?.at ?? Number.POSITIVE_INFINITY, this.#followers.dueAt());
  }

  get isFollowerDue(): boolean {
    return this.#followers.dueAt() <= this.#ports.clock.now();
  }

  /** Facts are about to be applied (rule 2). */
  noteFacts(): void {
    invariant(!this.#isForReading, 'a state that was settled for reading alone accepts no command');
    this.#next = undefined;
  }

  noteChange(): void {
    if (this.#turns.isRetired()) return;
    this.#next = undefined;
    this.schedule();
  }

  /** Rule 1. */
  notePostponed(): void {
    this.#mayBeLater = true;
  }

  /** Begins a turn: settles what has run out, and returns the moment of the turn. */
  settle(): number {
    const now = this.#ports.clock.now();
    this.#turns.context.now = now;
    const { status } = this.#ports.journal;
    if (status !== 'OPEN' && status !== 'FULL') return now;
    try {
      if (status === 'OPEN') this.#settleInTurns(now);
      else this.#settleForReading(now);
    } catch (error) {
      throw this.#failed(error);
    }
    return now;
  }

  #settleInTurns(now: number): void {
    for (let due = this.#dueBy(now); due !== null; due = this.#dueBy(now)) {
      const { revision } = this.#state;
      this.#turns.run({ type: 'SettleDeadline', subjectId: due.subjectId });
      this.#assertChanged(revision);
    }
  }

  #settleForReading(now: number): void {
    for (let due = nextEnding(this.#state); due !== null && due.at <= now; due = nextEnding(this.#state)) {
      const { revision } = this.#state;
      this.#isForReading = true;
      const decision = decide(this.#state, { type: 'SettleDeadline', subjectId: due.subjectId }, this.#turns.context);
      for (const fact of factsOf(decision)) evolve(this.#state, fact, now);
      this.#assertChanged(revision);
    }
    this.#next = undefined;
  }

  #assertChanged(revision: number): void {
    invariant(this.#state.revision > revision, 'a turn that settles a deadline changes the state');
  }

  /** The timer came: settles what is due, and runs the turn of a follower that is due (rule 3). */
  goOn(): void {
    const now = this.settle();
    this.#scheduledAt = Number.POSITIVE_INFINITY;
    const command = this.#isWritable ? this.#followers.nextCommand(now) : null;
    try {
      if (command !== null) this.#turns.run(command);
    } catch (error) {
      throw this.#failed(error);
    }
    this.schedule();
  }

  #failed(error: unknown): Overloaded {
    if (error instanceof Overloaded) return error;
    this.#turns.giveUp(error);
    return new Overloaded('the event is being activated again', RETRY_AFTER_SECONDS, error);
  }

  /** Sets the timer to the moment when something is due. */
  schedule(): void {
    const at = this.#isWritable ? this.at : (this.#deadline()?.at ?? Number.POSITIVE_INFINITY);
    if (at === this.#scheduledAt || at === Number.POSITIVE_INFINITY) return;
    this.#scheduledAt = at;
    this.#ports.schedule(this.#state.eventId, at);
  }

  get #isWritable(): boolean {
    return this.#ports.journal.status === 'OPEN';
  }

  #dueBy(now: number): Deadline | null {
    const known = this.#deadline();
    if (known === null || known.at > now) return null;
    if (!this.#mayBeLater) return known;
    this.#next = undefined;
    return this.#dueBy(now);
  }

  #deadline(): Deadline | null {
    if (this.#next !== undefined) return this.#next;
    this.#mayBeLater = false;
    return (this.#next = nextDeadline(this.#state));
  }
}
