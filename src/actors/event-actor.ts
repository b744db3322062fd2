/**
 * The single writer of an event: admit → settle → decide → evolve → append → followers → durable → reply.
 *
 * Owns the state of an event in memory. The inventory of each performance alone changes its seat map, counters and
 * claims; this actor is the one mailbox and turn of all of them, because holds, sessions, the waiting room and limits
 * span performances. So a hold over several is one atomic turn, without locks or messages.
 *
 * 1. A turn runs to its end without waiting (I3); there is no queue before it, and no other lock.
 * 2. What is due is settled before anything else in a turn, so that expiry is exact to the millisecond.
 * 3. A reply waits until all that it was built from is durable (I4): its own facts, and what a refusal or read saw.
 * 4. Where a fact is not applied or appended, memory is ahead of the journal: the event is activated again from disk.
 * 5. A command whose id was executed before, here or by an earlier owner, is answered by what was named then.
 */
import { JournalFault } from '#persistence/journal.ts';
import { factsOf, type Decision } from '#domain/decision.ts';
import { decide } from '#domain/event/decide.ts';
import { evolve } from '#domain/event/evolve.ts';
import { WAITS_FOR_DURABILITY, type QueryOf, type QueryType, type Views } from '#domain/event/query.ts';
import { read } from '#domain/event/read.ts';
import { toReply } from '#domain/event/reply.ts';
import { recordCountOf } from '#domain/event/snapshot.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { readEntriesAhead } from '#domain/waiting-room/queue-entries.ts';
import { checkAdmission, isAnsweredUnwritten, journalClosed, Overloaded, RETRY_AFTER_SECONDS } from './admission.ts';
import { beginStep, endStep, publishTurn } from './channels.ts';
import { DueWork } from './due-work.ts';
import { EventFacts, isOfRoom } from './event-facts.ts';
import { Followers, type Follow, type FollowedActor } from './follower.ts';
import type { Command, CommandOf, CommandType, Reply, ReplyTo } from '#domain/command.ts';
import type { EventState } from '#domain/event/state.ts';
import type { Activated } from './activation.ts';
import type { EventActorPorts, TurnContext } from './event-actor-ports.ts';
import type { EventPort, RushCommand } from './event-port.ts';

export class EventActor implements EventPort, FollowedActor {
  readonly eventId: string;
  readonly facts: EventFacts;
  readonly due: DueWork;
  readonly #state: EventState;
  readonly #context: TurnContext;
  readonly #ports: EventActorPorts<EventActor>;
  readonly #followers: Followers;
  #isRetired = false;

  constructor(activated: Activated, context: TurnContext, ports: EventActorPorts<EventActor>, follow: Follow) {
    const { state, lastSeq, factsReplayed } = activated;
    this.eventId = state.eventId;
    this.facts = new EventFacts(state.eventId, ports.journal, lastSeq, factsReplayed);
    this.#state = state;
    this.#context = context;
    this.#ports = ports;
    this.#followers = new Followers(follow(this));
    this.due = new DueWork(state, ports, this.#followers, {
      context,
      isRetired: () => this.#isRetired,
      run: (command) => this.#run(command),
      giveUp: (defect) => this.#giveUp(defect),
    });
    this.due.schedule();
  }

  /** About how many records a snapshot would have. */
  get recordCount(): number {
    return recordCountOf(this.#state);
  }

  get isRetired(): boolean {
    return this.#isRetired;
  }

  /** Resolves with the reply to a command, or a refusal, once durable (rule 3), or rejects with Overloaded. */
  execute<Type extends CommandType>(command: CommandOf<Type>, commandId?: string): Promise<ReplyTo<Type> | Refusal> {
    try {
      const begin = beginStep();
      const answer = this.#answer(command as Command, commandId) as ReplyTo<Type> | Refusal;
      endStep('turn', begin);
      const durable = this.facts.whenDurable(answer, isOfRoom(command.type, answer));
      return this.#followers.beforeAnswer(command as Command, durable);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  executeThen(
    command: RushCommand,
    answered: (answer: Reply | Refusal) => void,
    failed: (error: unknown) => void,
  ): void {
    let answer: Reply | Refusal;
    try {
      answer = this.#answer(command);
    } catch (error) {
      return failed(error);
    }
    this.facts.onceDurable(answer, isOfRoom(command.type, answer), answered, failed);
  }

  /** Loads their entries into the processor's cache ahead of the polls: among a million they are never in it. */
  foreseePolls(entryIds: readonly string[]): void {
    const room = this.#state.waitingRoom;
    if (room !== null) readEntriesAhead(room.entries, entryIds);
  }

  #answer(command: Command, commandId?: string): Reply | Refusal {
    this.#refuseRetired();
    const isUnwritten = this.#ports.journal.status === 'FULL' && isAnsweredUnwritten(command.type);
    if (!isUnwritten) checkAdmission(command.type, this.#ports, this.facts.waiting);
    const now = this.due.settle();
    if (isUnwritten) return this.#followers.answerUnwritten(command, now);
    const executed = commandId === undefined ? undefined : this.#ports.executed?.(commandId);
    if (executed !== undefined) return toReply(this.#state, executed, now);
    this.#followers.admit(command);
    return this.#run(command, commandId);
  }

  #run(command: Command, commandId?: string): Reply | Refusal {
    const { now } = this.#context;
    const decision = decide(this.#state, command, this.#context);
    const facts = factsOf(decision);
    if (facts.length > 0) this.#commit(decision as Decision, commandId);
    const answer = isRefusal(decision) ? decision : toReply(this.#state, decision.reply, now);
    this.#followers.afterTurn(command, facts, answer, now);
    publishTurn(this.eventId, command.type, answer, facts);
    if (facts.length > 0) this.due.schedule();
    return answer;
  }

  #commit(decision: Decision, commandId?: string): void {
    const { now } = this.#context;
    try {
      this.due.noteFacts();
      for (const fact of decision.facts) evolve(this.#state, fact, now);
      this.facts.append(decision, now, commandId);
    } catch (error) {
      this.#giveUp(error);
      throw error instanceof JournalFault ? journalClosed() : error;
    }
  }

  /** Answers a query; the view of a query that waits for durability is given once what it shows is durable (rule 3). */
  async read<Type extends QueryType>(query: QueryOf<Type>): Promise<Views[Type]> {
    this.#refuseRetired();
    const begin = beginStep();
    this.due.settle();
    const view = read(this.#state, query, this.#context);
    endStep('turn', begin);
    return WAITS_FOR_DURABILITY[query.type] ? this.facts.whenDurable(view) : view;
  }

  /** Inspects the state as it is now, inside this module and in tests; it does not wait for the disk. */
  inspect<Result>(query: (state: EventState, now: number) => Result): Result {
    this.#refuseRetired();
    return query(this.#state, this.due.settle());
  }

  /** The timer came: settles what is due, and has the followers go on. */
  settleDue(): void {
    if (!this.#isRetired) this.due.goOn();
  }

  #refuseRetired(): void {
    if (this.#isRetired) throw new Overloaded('the event is being activated again', RETRY_AFTER_SECONDS);
  }

  /** The state in memory cannot be trusted any more (rule 4). */
  #giveUp(defect: unknown): void {
    if (this.#isRetired) return;
    this.retire();
    this.#ports.retired(this, defect);
  }

  /** Refuses all from now on; the journal decides replies that wait. `leave` takes what is to be remembered. */
  retire(leave?: (state: EventState) => void): void {
    this.#isRetired = true;
    this.#followers.retire();
    leave?.(this.#state);
  }
}
