/**
 * Followers of the event actor for what is in no fact: when waiting buyers and stations were last seen, and whether the
 * waiting room has space for one more.
 *
 * 1. When a buyer was last seen is soft state: it changes after the decision, and no fact says so. Where an eviction
 *    did not keep it, everybody counts as just seen.
 * 2. While the room is full nobody joins it.
 * 3. While nothing can be written a poll admits nobody: it reads the entry, and keeps the buyer from being dropped.
 */
import { markEverybodySeen, noteEntrySeen, restoreLastSeen } from '#domain/waiting-room/last-seen.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { isRoomFull, viewOwnEntry } from '#domain/waiting-room/view.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from './admission.ts';
import type { Command, Reply } from '#domain/command.ts';
import type { EventState } from '#domain/event/state.ts';
import type { Fact } from '#domain/fact.ts';
import type { WaitingRoomState } from '#domain/waiting-room/state.ts';
import type { EvictedEvent } from './evicted-events.ts';
import type { FollowedActor, Follower } from './follower.ts';

export class WaitingBuyers implements Follower {
  readonly #state: WaitingRoomState;
  readonly #actor: Pick<FollowedActor, 'due'>;

  constructor(state: WaitingRoomState, { since, lastSeen }: EvictedEvent, actor: Pick<FollowedActor, 'due'>) {
    this.#state = state;
    this.#actor = actor;
    if (lastSeen === null) markEverybodySeen(state, since);
    else restoreLastSeen(state, lastSeen);
  }

  admit(command: Command): void {
    if (command.type !== 'JoinQueue' || !isRoomFull(this.#state, command.sessionKey)) return;
    throw new Overloaded('the waiting room is full', RETRY_AFTER_SECONDS);
  }

  answerUnwritten(command: Command, now: number): Reply | Refusal | null {
    if (command.type !== 'PollQueue') return null;
    noteEntrySeen(this.#state, command, now);
    this.#actor.due.noteChange();
    const entry = viewOwnEntry(this.#state, command.entryId, command.sessionKey, now);
    return isRefusal(entry) ? entry : { outcome: 'DONE', entry };
  }

  afterTurn(command: Command, _facts: unknown, _answer: unknown, now: number): void {
    if (command.type !== 'PollQueue' && command.type !== 'JoinQueue') return;
    noteEntrySeen(this.#state, command, now);
    // Who is seen becomes stale later, and nobody sooner.
    this.#actor.due.notePostponed();
  }
}

/** When each station of an event was last seen, and what it told of itself; lost when the actor retires. */
export class SeenStations implements Follower {
  readonly #state: EventState;

  constructor(state: EventState) {
    this.#state = state;
  }

  afterTurn(command: Command, _facts: readonly Fact[], answer: Reply | Refusal, now: number): void {
    if (command.type !== 'RecordScans' && command.type !== 'SyncStation') return;
    if (isRefusal(answer)) return;
    const station = this.#state.doors!.byToken.get(command.tokenSha256)!;
    const { syncedAt = null, queued = null, version = null } = station.seen ?? {};
    station.seen =
      command.type === 'RecordScans'
        ? { at: now, syncedAt, queued, version }
        : { at: now, syncedAt: now, queued: command.queued ?? queued, version: command.version ?? version };
  }
}
