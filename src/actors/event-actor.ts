/**
 * The single writer of an event: its turns one after the other, and the durability gate that replies wait at.
 *
 * Owns the state of an event while it is in memory. What a command means is decided in `domain/decide.ts`; how facts reach the disk
 * is the journal's. The inventory of each performance is an object of its own that alone changes its seat map, counters and claims;
 * the event actor is the one mailbox and turn of all performances, because holds, sessions, the waiting room and purchase limits
 * span them. So a performance has one writer and a hold over several is one atomic turn, without locks or messages between actors.
 *
 * 1. A turn runs to its end without waiting (I3); there is no queue before it, and no other lock.
 * 2. What is due (a hold, a pass, an opening) is settled before anything else in a turn, so that expiry is exact to the millisecond.
 * 3. A reply leaves when everything the state was built from is durable (I4): its own facts, and for a refusal or the
 *    read of one hold, order or entry the facts it saw.
 * 4. When a fact could not be applied or appended, memory is ahead of the journal: the actor is retired at once and
 *    the event is activated again from the disk.
 * 5. While the disk is full nothing can be written, and time goes on: what runs out is settled for reading alone, in a state
 *    that is discarded before anything is written again.
 * 6. When a buyer who waits was last seen is soft state: it changes after the decision, and no fact says so.
 * 7. A command whose id was executed before, here or by an earlier owner of the event, is answered by what was named then.
 * 8. Who erases is answered when the keys are destroyed, which is done once the facts are durable.
 * 9. What is too much for one turn follows in others: large draws (`draw.ts`), orders of cancelled performances (`cancellation-turns.ts`).
 */
import { JournalFault } from '#persistence/journal.ts';
import { nextDeadline, nextEnding, nextWorkAt } from '#domain/deadlines.ts';
import { decide, type Turn } from '#domain/decide.ts';
import { evolve } from '#domain/evolve.ts';
import { invariant } from '#domain/invariant.ts';
import { WAITS_FOR_DURABILITY, type QueryOf, type QueryType, type Views } from '#domain/query.ts';
import { read, type ReadContext } from '#domain/read.ts';
import { listingOf, type EventListing } from '#domain/catalogue/view.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { isCancelling } from '#domain/orders/state.ts';
import { toReply } from '#domain/reply.ts';
import { recordCountOf } from '#domain/snapshot.ts';
import {
  type LastSeen,
  lastSeenTimes,
  markEverybodySeen,
  noteEntrySeen,
  restoreLastSeen,
} from '#domain/waiting-room/last-seen.ts';
import { isRoomFull, viewOwnEntry } from '#domain/waiting-room/view.ts';
import { isRefusedOnLowDisk, Overloaded, RETRY_AFTER_SECONDS } from './admission.ts';
import { CancellationTurns } from './cancellation-turns.ts';
import { beginStep, endStep, turnChannel, type TurnMessage } from './channels.ts';
import { createHashing } from './crypto.ts';
import { FollowedDraws } from './draw.ts';
import { erases, keyIdsErasedBy } from './key-destruction.ts';
import type { Command, CommandOf, CommandType, Reply, ReplyTo } from '#domain/command.ts';
import type { Decision } from '#domain/decision.ts';
import type { EventState } from '#domain/event-state.ts';
import type { Fact } from '#domain/fact.ts';
import type { EventActorPorts } from './event-actor-ports.ts';
import type { EventPort } from './event-port.ts';
import type { EvictedEvent } from './evicted-events.ts';

/** Space on a disk takes longer to return. */
const RETRY_AFTER_SPACE_SECONDS = 10;
/** Activations in this process; an activation's number tells its revisions from those of another one. */
let activations = 0;

export class EventActor implements EventPort {
  readonly eventId: string;
  readonly #state: EventState;
  readonly #ports: EventActorPorts<EventActor>;
  readonly #turn: Turn & { now: number };
  readonly #reading: ReadContext & { now: number };
  #lastSeq: number;
  #factsSinceSnapshot: number;
  #unanswered = 0;
  /** What runs out next; undefined from a change of the state until it is looked up again. */
  #due: ReturnType<typeof nextDeadline> | undefined;
  #scheduledAt = Number.POSITIVE_INFINITY;
  #isRetired = false;
  /** Whether the state was settled without facts (5). */
  #isForReading = false;
  readonly #draws = new FollowedDraws();
  readonly #cancellation: CancellationTurns;
  /** Of the erasure that was decided last. */
  #keyIdsErased: readonly string[] = [];

  /**
   * Takes over a state that was activated from facts up to `lastSeq`, and what was remembered at its eviction. Without that
   * everybody who waits counts as just seen.
   */
  constructor(
    state: EventState,
    lastSeq: number,
    factsSinceSnapshot: number,
    ports: EventActorPorts<EventActor>,
    evicted: EvictedEvent | null = null,
  ) {
    this.eventId = state.eventId;
    this.#state = state;
    this.#ports = ports;
    this.#lastSeq = lastSeq;
    this.#factsSinceSnapshot = factsSinceSnapshot;
    const hashing = createHashing();
    activations += 1;
    const sealing = ports.sealingOf?.(this.eventId) ?? null;
    this.#reading = { now: 0, activation: `${ports.owner ?? ''}${activations.toString(36)}`, hashing, sealing };
    this.#turn = {
      now: 0,
      newId: (prefix) => ports.ids.newId(prefix, state.eventNumber),
      newSeed: () => ports.ids.newSeed(),
      hashing,
      sealing,
    };
    if (evicted?.lastSeen != null) restoreLastSeen(state, evicted.lastSeen);
    else markEverybodySeen(state, evicted?.since ?? ports.clock.now());
    this.#cancellation = new CancellationTurns(state, ports, {
      run: (command, now) => this.#run(command, now),
      schedule: () => this.#scheduleDue(),
    });
    this.#draws.follow(this, state);
    this.#scheduleDue();
  }

  /** Sequence number of the newest fact that the state was built from. */
  get lastSeq(): number {
    return this.#lastSeq;
  }

  /** Facts that a replay from the newest snapshot would have to apply. */
  get factsSinceSnapshot(): number {
    return this.#factsSinceSnapshot;
  }

  /** About how many records a snapshot would have. */
  get recordCount(): number {
    return recordCountOf(this.#state);
  }

  /** Whether no reply waits and nothing is under way, so that the event may be evicted. */
  get isIdle(): boolean {
    return this.#unanswered === 0 && !this.isUnfinished;
  }

  /** Whether a cancellation is under way, or facts are not durable yet, so that one may be. */
  get isUnfinished(): boolean {
    return this.#lastSeq > this.#ports.journal.durableSeq || isCancelling(this.#state);
  }

  get isRetired(): boolean {
    return this.#isRetired;
  }

  /**
   * Runs a command in a turn; resolves with its reply, or a refusal, once that is durable (3).
   * Rejects with Overloaded when the command cannot be accepted now. A command that may be sent again has an id (7).
   */
  execute<Type extends CommandType>(command: CommandOf<Type>, commandId?: string): Promise<ReplyTo<Type> | Refusal> {
    if (command.type === 'PollQueue' && this.#ports.journal.status === 'FULL') {
      return this.#pollForReading(command as CommandOf<'PollQueue'>) as Promise<ReplyTo<Type> | Refusal>;
    }
    try {
      const begin = beginStep();
      this.#admit(command.type);
      const now = this.#settle();
      const named = commandId === undefined ? undefined : this.#ports.executed?.(commandId);
      if (named === undefined) this.#refuseFullRoom(command as Command);
      const answer =
        named === undefined ? this.#run(command as Command, now, commandId) : toReply(this.#state, named, now);
      endStep('turn', begin);
      const durable = this.#answerWhenDurable(answer as ReplyTo<Type> | Refusal);
      return erases(command.type) ? this.#answerWhenErased(durable) : this.#cancellation.answer(command.type, durable);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** Answers a query; the view of a query that waits for durability is given once what it shows is durable (3). */
  async read<Type extends QueryType>(query: QueryOf<Type>): Promise<Views[Type]> {
    this.#refuseRetired();
    const begin = beginStep();
    this.#reading.now = this.#settle();
    const view = read(this.#state, query, this.#reading);
    endStep('turn', begin);
    return WAITS_FOR_DURABILITY[query.type] ? this.#answerWhenDurable(view) : view;
  }

  /** Inspects the state as it is now, inside this module and in tests; it does not wait for the disk. */
  inspect<Result>(query: (state: EventState, now: number) => Result): Result {
    this.#refuseRetired();
    return query(this.#state, this.#settle());
  }

  /** The same; resolves once a crash cannot undo what was inspected (3). */
  async inspectDurably<Result>(query: (state: EventState, now: number) => Result): Promise<Result> {
    return this.#answerWhenDurable(this.inspect(query));
  }

  /** Settles what is due, goes on with a cancellation (9), and schedules what is due next. */
  settleDue(): void {
    if (this.#isRetired) return;
    this.#settle((now) => this.#cancellation.goOn(now));
    this.#scheduledAt = Number.POSITIVE_INFINITY;
    this.#scheduleDue();
  }

  /** When something has to be done here, in milliseconds since 1970; infinite when nothing has. */
  get dueAt(): number {
    return nextWorkAt(this.#state) ?? Number.POSITIVE_INFINITY;
  }

  /** Retires the actor; returns what stays in memory. `lastSeen` is null when more than `lastSeenMax` buyers wait. */
  evict(lastSeenMax: number): { readonly listing: EventListing; readonly lastSeen: readonly LastSeen[] | null } {
    this.retire();
    return { listing: listingOf(this.#state), lastSeen: lastSeenTimes(this.#state, lastSeenMax) };
  }

  /** A snapshot is on disk that covers so many of the facts since the one before. */
  snapshotTaken(factsCovered: number): void {
    this.#factsSinceSnapshot = Math.max(0, this.#factsSinceSnapshot - factsCovered);
  }

  /** Refuses everything from now on; replies that wait are decided by the journal alone. */
  retire(): void {
    this.#isRetired = true;
    this.#cancellation.retire();
  }

  // ── the turn ───────────────────────────────────────────────────────────────────────────────────────────────────────

  #admit(type: CommandType): void {
    this.#refuseRetired();
    if (erases(type)) this.#ports.keyDestruction?.admit();
    const { journal, waitingRepliesMax, isShortOfSpace } = this.#ports;
    if (journal.status !== 'OPEN') throw new Overloaded('the journal cannot be written now', RETRY_AFTER_SECONDS);
    if (this.#unanswered >= waitingRepliesMax) throw new Overloaded('too many requests wait', RETRY_AFTER_SECONDS);
    if (isRefusedOnLowDisk(type) && isShortOfSpace?.() === true) {
      throw new Overloaded('the disk is nearly full', RETRY_AFTER_SPACE_SECONDS);
    }
  }

  #refuseRetired(): void {
    if (this.#isRetired) throw new Overloaded('the event is being activated again', RETRY_AFTER_SECONDS);
  }

  #refuseFullRoom(command: Command): void {
    if (command.type !== 'JoinQueue' || !isRoomFull(this.#state, command.sessionKey)) return;
    throw new Overloaded('the waiting room is full', RETRY_AFTER_SECONDS);
  }

  /** Ends whatever has run out by now, in the order in which it ran out, and returns the moment of the turn. */
  #settle(andThen?: (now: number) => void): number {
    const now = this.#ports.clock.now();
    const { status } = this.#ports.journal;
    if (status !== 'OPEN' && status !== 'FULL') return now;
    try {
      if (status === 'OPEN') this.#settleUntil(now);
      else this.#settleForReading(now);
      andThen?.(now);
    } catch (error) {
      if (error instanceof Overloaded) throw error;
      this.#giveUp(error);
      throw new Overloaded('the event is being activated again', RETRY_AFTER_SECONDS, error);
    }
    return now;
  }

  #settleUntil(now: number): void {
    let due = this.#nextDue();
    while (due !== null && due.at <= now) {
      const { revision } = this.#state;
      this.#run({ type: 'SettleDeadline', subjectId: due.subjectId }, now);
      invariant(this.#state.revision > revision, 'a turn that settles a deadline changes the state');
      due = this.#nextDue();
    }
  }

  /** Ends in memory alone what ran out (5). */
  #settleForReading(now: number): void {
    let due = nextEnding(this.#state);
    while (due !== null && due.at <= now) {
      const { revision } = this.#state;
      this.#isForReading = true;
      this.#turn.now = now;
      const decision = decide(this.#state, { type: 'SettleDeadline', subjectId: due.subjectId }, this.#turn);
      for (const fact of isRefusal(decision) ? [] : decision.facts) evolve(this.#state, fact, now);
      invariant(this.#state.revision > revision, 'a turn that settles a deadline changes the state');
      due = nextEnding(this.#state);
    }
    this.#due = undefined;
  }

  /** While nothing can be written a poll admits nobody; it reads the place and keeps the buyer from being dropped. */
  #pollForReading(command: CommandOf<'PollQueue'>): Promise<ReplyTo<'PollQueue'> | Refusal> {
    return this.inspectDurably((state, now) => {
      this.#noteSeen(command, now);
      const entry = viewOwnEntry(state, command.entryId, command.sessionKey, now);
      return isRefusal(entry) ? entry : { outcome: 'DONE', entry };
    });
  }

  #run(command: Command, now: number, commandId?: string): Reply | Refusal {
    this.#turn.now = now;
    const decision = decide(this.#state, command, this.#turn);
    this.#noteSeen(command, now);
    if (isRefusal(decision)) {
      this.#publish(command, decision.code, []);
      return decision;
    }
    if (decision.facts.length > 0) this.#commit(decision, now, commandId);
    if (erases(command.type)) this.#keyIdsErased = decision.facts.flatMap(keyIdsErasedBy);
    const reply = toReply(this.#state, decision.reply, now);
    this.#publish(command, null, decision.facts);
    return reply;
  }

  /** Applies the facts of a turn and hands them to the journal as one unit. */
  #commit({ facts, reply }: Decision, at: number, commandId?: string): void {
    try {
      invariant(!this.#isForReading, 'a state that was settled for reading alone accepts no command');
      this.#due = undefined;
      for (const fact of facts) evolve(this.#state, fact, at);
      const rows = facts.map(({ type, data }) => ({ type, data: JSON.stringify(data) }));
      const unit = { eventId: this.eventId, at, facts: rows };
      const command = commandId === undefined ? null : { id: commandId, reply: JSON.stringify(reply) };
      this.#lastSeq = this.#ports.journal.append(command === null ? unit : { ...unit, command });
    } catch (error) {
      this.#giveUp(error);
      if (error instanceof JournalFault) throw new Overloaded('the journal cannot be written now', RETRY_AFTER_SECONDS);
      throw error;
    }
    this.#factsSinceSnapshot += facts.length;
    this.#cancellation.noteFacts();
    this.#draws.follow(this, this.#state);
    this.#scheduleDue();
  }

  /** A buyer who polls or joins again is still there (6); no decision of the same turn depends on it. */
  #noteSeen(command: Command, now: number): void {
    if (command.type !== 'PollQueue' && command.type !== 'JoinQueue') return;
    noteEntrySeen(this.#state, command, now);
    this.#due = undefined;
  }

  /** The state in memory cannot be trusted any more (4). */
  #giveUp(defect: unknown): void {
    if (this.#isRetired) return;
    this.retire();
    this.#ports.retired(this, defect);
  }

  // ── the gate ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Resolves with an answer once all that the state was built from is durable. */
  async #answerWhenDurable<Answer>(answer: Answer): Promise<Answer> {
    const { journal } = this.#ports;
    if (this.#lastSeq <= journal.durableSeq) return answer;
    this.#unanswered += 1;
    const begin = beginStep();
    try {
      await journal.durable(this.#lastSeq);
      endStep('disk', begin);
      return answer;
    } catch (fault) {
      throw new Overloaded('the change could not be written', RETRY_AFTER_SECONDS, fault);
    } finally {
      this.#unanswered -= 1;
    }
  }

  /** Resolves with the answer to an erasure once its keys, and those that failed before, are destroyed (8). */
  async #answerWhenErased<Answer>(durable: Promise<Answer>): Promise<Answer> {
    const keyIds = this.#keyIdsErased;
    this.#keyIdsErased = [];
    const answer = await durable;
    await this.#ports.keyDestruction?.destroy(keyIds);
    return answer;
  }

  // ── what follows a turn ────────────────────────────────────────────────────────────────────────────────────────────

  /** Looked up once after each change, because `nextDeadline` has to drop stale entries. */
  #nextDue(): ReturnType<typeof nextDeadline> {
    if (this.#due === undefined) this.#due = nextDeadline(this.#state);
    return this.#due;
  }

  #scheduleDue(): void {
    const at = this.#cancellation.mayGoOn ? this.#ports.clock.now() : this.#nextDue()?.at;
    if (at === undefined || at === this.#scheduledAt) return;
    this.#scheduledAt = at;
    this.#ports.schedule(this.eventId, at);
  }

  #publish(command: Command, code: string | null, facts: readonly Fact[]): void {
    if (!turnChannel.hasSubscribers) return;
    turnChannel.publish({ eventId: this.eventId, command: command.type, code, facts } satisfies TurnMessage);
  }
}
