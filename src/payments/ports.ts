/** What payments need of the rooms around them: narrow types that `actors` fill. */
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
  /** The box office that an id of this prefix names; null when it is no such id or the event is unknown. */
  byId(prefix: IdPrefix, id: string): EventPort | null | Promise<EventPort | null>;
}

export interface ClockPort {
  now(): number;
  /** How far the clock runs ahead of the machine's. */
  readonly offsetMs: number;
  /** What the machine's clock says. */
  machineNow(): number;
}
