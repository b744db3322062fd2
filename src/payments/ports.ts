/** The narrow types of other modules that payments need; `actors` implements them. */
import type { EventState } from '#domain/event-state.ts';
import type { CommandOf, CommandType, ReplyTo } from '#domain/command.ts';
import type { IdPrefix } from '#domain/ids.ts';
import type { Refusal } from '#domain/refusal.ts';

/** The mailbox of one event. */
export interface EventPort {
  execute<Type extends CommandType>(command: CommandOf<Type>): Promise<ReplyTo<Type> | Refusal>;
  look<Answer>(query: (state: EventState, now: number) => Answer): Answer;
  lookDurably<Answer>(query: (state: EventState, now: number) => Answer): Promise<Answer>;
}

export interface EventsPort {
  /** The event that an id of this prefix belongs to; null for another id or an unknown event. */
  byId(prefix: IdPrefix, id: string): EventPort | null | Promise<EventPort | null>;
}

export interface ClockPort {
  now(): number;
  /** How far the clock is ahead of the machine's. */
  readonly offsetMs: number;
  /** The time of the machine's clock. */
  machineNow(): number;
}
