/**
 * What the service wrote into the first HTML for this script, so that it need not ask: the list of events, or an event
 * on one performance.
 *
 * Each is taken once: a page that is reached later reads what is true then.
 */
import type { EventList, EventListEntry, EventPayload } from '#client/bodies.ts';

interface FirstData {
  list?: EventList;
  found?: readonly EventListEntry[];
  event?: EventPayload;
  readonly performance_id?: string | null;
}

export interface FirstEvent {
  readonly event: EventPayload;
  readonly performanceId: string | null;
}

const firstData = readFirstData();

function readFirstData(): FirstData {
  try {
    return JSON.parse(document.getElementById('first')?.textContent ?? '{}') as FirstData;
  } catch {
    return {};
  }
}

interface FirstList {
  /** The first page of the list; null where the page came with a narrowed list. */
  readonly list: EventList | null;
  /** The events that the page drew of a narrowed list. */
  readonly found: readonly EventListEntry[];
}

export function takeFirstList(): FirstList {
  const { list = null, found = [] } = firstData;
  delete firstData.list;
  delete firstData.found;
  return { list, found };
}

/** The event of an address, where the page came with it on this performance; null stands for any. */
export function takeFirstEvent(slug: string, wantedId: string | null): FirstEvent | null {
  const { event, performance_id: performanceId = null } = firstData;
  delete firstData.event;
  if (event?.slug !== slug || (wantedId !== null && wantedId !== performanceId)) return null;
  return { event, performanceId };
}
