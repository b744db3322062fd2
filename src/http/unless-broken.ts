/** Reading one event among many: what is wrong with it must not keep the others from being shown. */
import { isEventBroken, Overloaded } from '#actors/overloaded.ts';
import type { EventState } from '#domain/event-state.ts';
import type { DirectoryPort } from './ports.ts';

/** What the query makes of an event; null where there is none, or where it cannot be activated. */
export async function readUnlessBroken<Answer>(
  directory: Pick<DirectoryPort, 'byEventId'>,
  eventId: string,
  query: (state: EventState, now: number) => Answer,
): Promise<Answer | null> {
  try {
    const event = await directory.byEventId(eventId);
    return event === null ? null : event.look(query);
  } catch (error) {
    if (isEventBroken(error)) return null;
    throw error;
  }
}

/** What the work gives; null where the event is just being put to sleep or activated again. */
export function unlessOverloaded<Answer>(work: () => Answer): Answer | null {
  try {
    return work();
  } catch (error) {
    if (error instanceof Overloaded) return null;
    throw error;
  }
}
