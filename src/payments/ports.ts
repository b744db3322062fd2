/** What payments need of the rooms around them: narrow types that `actors` fill. */
import type { BoxOffice } from '#domain/box-office.ts';
import type { CommandOf, CommandType, ReplyTo } from '#domain/command.ts';
import type { IdPrefix } from '#domain/ids.ts';
import type { Refusal } from '#domain/refusal.ts';

/** The mailbox of one event. */
export interface OfficePort {
  ask<Type extends CommandType>(command: CommandOf<Type>): Promise<ReplyTo<Type> | Refusal>;
  look<Answer>(query: (office: BoxOffice, now: number) => Answer): Answer;
  lookDurably<Answer>(query: (office: BoxOffice, now: number) => Answer): Promise<Answer>;
}

export interface OfficesPort {
  /** The box office that an id of this prefix names; null when it is no such id or the event is unknown. */
  byId(prefix: IdPrefix, id: string): Promise<OfficePort | null>;
}

export interface ClockPort {
  now(): number;
  /** How far the clock runs ahead of the machine's. */
  readonly offsetMs: number;
  /** What the machine's clock says. */
  machineNow(): number;
}
