/**
 * What the service wrote into the first HTML for this script, so that it need not ask: the list of events, or an event on one performance.
 *
 * Each is taken once: a page that is reached later reads what is true then.
 */
import type { EventList, EventPayload } from '#client/bodies.ts';

interface First {
  list?: EventList;
  event?: EventPayload;
  readonly performance_id?: string | null;
}

export interface FirstEvent {
  readonly event: EventPayload;
  readonly performanceId: string | null;
}

const first = readFirst();

function readFirst(): First {
  try {
    return JSON.parse(document.getElementById('first')?.textContent ?? '{}') as First;
  } catch {
    return {};
  }
}

export function takeFirstList(): EventList | null {
  const list = first.list ?? null;
  delete first.list;
  return list;
}

/** The event of an address, where the page came with it on this performance; null stands for any. */
export function takeFirstEvent(slug: string, wantedId: string | null): FirstEvent | null {
  const { event, performance_id: performanceId = null } = first;
  delete first.event;
  if (event?.slug !== slug || (wantedId !== null && wantedId !== performanceId)) return null;
  return { event, performanceId };
}
