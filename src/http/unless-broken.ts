/** Reading one event among many: what is wrong with it must not keep the others from being shown. */
import { isEventBroken, Overloaded } from '#actors/overloaded.ts';
import { readAt, type EventFinder } from '#actors/event-port.ts';
import type { QueryOf, QueryType, Views } from '#domain/query.ts';

/** The view of an event; null where there is no such event, or where it cannot be activated. */
export async function readUnlessBroken<Type extends QueryType>(
  directory: Pick<EventFinder, 'byEventId'>,
  eventId: string,
  query: QueryOf<Type>,
): Promise<Views[Type] | null> {
  try {
    return await readAt(directory.byEventId(eventId), null, query);
  } catch (error) {
    if (isEventBroken(error)) return null;
    throw error;
  }
}

/** The view; null where the event is just being evicted or activated again. */
export async function unlessOverloaded<View>(reading: Promise<View>): Promise<View | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Overloaded) return null;
    throw error;
  }
}
