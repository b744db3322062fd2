/**
 * The port of one event: everything outside `domain` and `actors` reaches an event through it.
 *
 * 1. Commands, queries, replies and views are plain data, so that an event may live in another process.
 * 2. A reply or view is given once everything that it was made from is durable (I4); an advisory view does not wait.
 * 3. `execute` and `read` reject with Overloaded when the event cannot take the call; nothing has changed then.
 * 4. Finding an event in memory takes no promise; one that is not in memory is activated first.
 */
import { invariant } from '#domain/invariant.ts';
import { isEventBroken, Overloaded } from './admission.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { CommandOf, CommandType, Reply, ReplyTo } from '#domain/command.ts';
import type { IdPrefix } from '#domain/ids.ts';
import type { QueryOf, QueryType, Views } from '#domain/event/query.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { Unchanged } from '#domain/event/revisioned-views.ts';

/** The commands that come in the thousands when a sale opens. */
export type RushCommand = CommandOf<'PlaceHold'> | CommandOf<'PollQueue'>;

export interface EventPort {
  readonly eventId: string;
  execute<Type extends CommandType>(command: CommandOf<Type>): Promise<ReplyTo<Type> | Refusal>;
  /** `execute` without a promise for each call, where the event is in this process; no follower holds these back. */
  executeThen?(
    command: RushCommand,
    answered: (answer: Reply | Refusal) => void,
    failed: (error: unknown) => void,
  ): void;
  /** Announces that polls of these entries come next, all in this pass of the event loop. */
  foreseePolls?(entryIds: readonly string[]): void;
  /** A local event computes an advisory view in the tick of the call. */
  read<Type extends QueryType>(query: QueryOf<Type>): Promise<Views[Type]>;
}

/** An event, or null where there is none; a promise while it is being activated. */
export type Found = EventPort | null | Promise<EventPort | null>;

export interface EventFinder {
  byEventId(eventId: string): Found;
  bySlug(slug: string): Found;
  /** The event that an id of this prefix names; null when it is no such id or the event is unknown. */
  byId(prefix: IdPrefix, id: string): Found;
}

/** Executes a command at an event, or answers `notFound` where there is none. */
export function executeAt<Type extends CommandType>(
  found: Found,
  notFound: Refusal,
  command: CommandOf<Type>,
): Promise<ReplyTo<Type> | Refusal> {
  if (found instanceof Promise) return found.then((event) => executeAt(event, notFound, command));
  return found === null ? Promise.resolve(notFound) : found.execute(command);
}

/** Resolves when every order is cancelled that has a ticket on a performance which a definition cancelled. */
export async function whenOrdersCancelled(
  events: Pick<EventFinder, 'byEventId'>,
  { id, performances }: EventDefinition,
): Promise<void> {
  const cancelled = performances.filter(({ status }) => status === 'CANCELLED');
  if (cancelled.length === 0) return;
  const event = await events.byEventId(id);
  // What is cancelled already stays so; the answer comes when its orders are.
  const again = { type: 'CancelPerformance', operator: null, note: null } as const;
  await Promise.all(cancelled.map(({ id: performanceId }) => event?.execute({ ...again, performanceId })));
}

/** Reads from an event, or answers `notFound` where there is none. */
export function readAt<Type extends QueryType, NotFound>(
  found: Found,
  notFound: NotFound,
  query: QueryOf<Type>,
): Promise<Views[Type] | NotFound> {
  if (found instanceof Promise) return found.then((event) => readAt(event, notFound, query));
  return found === null ? Promise.resolve(notFound) : found.read(query);
}

/** The same for a caller that knows no revision of the view, so that it is never answered UNCHANGED. */
export async function readWhole<Type extends 'ReadSeating' | 'ReadOccupancy' | 'ReadLivePerformance'>(
  found: Found,
  notFound: Refusal,
  query: QueryOf<Type>,
): Promise<Exclude<Views[Type], Unchanged> | Refusal> {
  const view: Views[QueryType] = await readAt(found, notFound, query);
  invariant(!('outcome' in view) || isRefusal(view), 'a view of which no revision is known is never UNCHANGED');
  return view as Exclude<Views[Type], Unchanged> | Refusal;
}

/** The view of one event among many; null where there is no such event, or where it cannot be activated. */
export async function readUnlessBroken<Type extends QueryType>(
  events: Pick<EventFinder, 'byEventId'>,
  eventId: string,
  query: QueryOf<Type>,
): Promise<Views[Type] | null> {
  try {
    return await readAt(events.byEventId(eventId), null, query);
  } catch (error) {
    if (isEventBroken(error)) return null;
    throw error;
  }
}

/** The view; null where the event is just being evicted or activated again. */
export async function readUnlessBusy<View>(reading: Promise<View>): Promise<View | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Overloaded) return null;
    throw error;
  }
}

/** An event in memory, for reading alone. */
export type EventReader = Pick<EventPort, 'eventId' | 'read'>;
