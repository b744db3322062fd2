/**
 * An event on one of its performances, kept up to date.
 *
 * Owns which counts are shown: without a hold the counts of the live stream, with a hold those of the event's own
 * payload, in which the tickets of the session's hold count as free.
 *
 * 1. While a hold stands, a change on the stream causes the payload to be read again, at most every `REFRESH_MS`.
 * 2. A hidden page closes its stream, because browsers allow only few connections to one host.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { EventPayload, SaleSteering, TicketAvailability } from '#client/bodies.ts';
import { firstPerformance } from '#client/first-performance.ts';
import type { LiveState, SeatStates } from '#client/live.ts';
import { client } from '../app/service.ts';
import { takeFirstEvent, type FirstEvent } from '../app/first-html.ts';
import { lastPerformance } from './choices.ts';
import { useLoaded } from '../../hooks.ts';

interface ShownEvent {
  readonly event: EventPayload | null;
  readonly error: unknown;
  readonly performanceId: string | null;
  readonly rows: readonly TicketAvailability[];
  readonly seats: SeatStates;
  readonly steering: SaleSteering | null;
  readonly reload: () => void;
}

const REFRESH_MS = 5_000;
const NO_SEATS: SeatStates = new Map();

/**
 * `chosenId` is the performance that the address names. Without one the performance that this tab showed last is shown,
 * else the first that can be bought.
 */
export function useEvent(slug: string, chosenId: string | null, hasHold: boolean): ShownEvent {
  const [known] = useState(() => takeFirstEvent(slug, chosenId ?? lastPerformance(slug)));
  const isChanged = useRef(false);
  const load = async (signal: AbortSignal, before: FirstEvent | null): Promise<FirstEvent> => {
    // An event that was changed may no longer have the date that is shown.
    const wantedId = chosenId ?? (isChanged.current ? null : (before?.performanceId ?? null));
    const event = await client.getEvent(slug, { performanceId: wantedId, signal });
    isChanged.current = false;
    const performanceId = wantedId ?? shownBefore(event) ?? firstPerformance(event);
    const isSummed = event.ticketAvailability[0]?.performance_id === null && performanceId !== null;
    return { event: isSummed ? await client.getEvent(slug, { performanceId, signal }) : event, performanceId };
  };
  const loaded = useLoaded(`${slug} ${chosenId ?? ''}`, load, null, known);
  const event = loaded.value?.event ?? null;
  const performanceId = loaded.value?.performanceId ?? null;
  const live = useLiveState(event === null ? null : slug, performanceId);
  const definition = useRef<number | null>(null);

  useEffect(() => {
    const version = live?.definitionVersion ?? null;
    if (definition.current !== null && version !== null && version !== definition.current) {
      isChanged.current = true;
      loaded.reload();
    }
    definition.current = version ?? definition.current;
  }, [live?.definitionVersion]);

  const lastReload = useRef(0);
  useEffect(() => {
    if (!hasHold || live === null) return;
    const waitMs = Math.max(0, lastReload.current + REFRESH_MS - Date.now());
    const timer = setTimeout(() => {
      lastReload.current = Date.now();
      loaded.reload();
    }, waitMs);
    return () => clearTimeout(timer);
  }, [live?.rows, hasHold]);

  const own = event?.ticketAvailability ?? [];
  return {
    event,
    error: loaded.error,
    performanceId,
    rows: hasHold || live === null ? own : live.rows,
    seats: live?.seats ?? NO_SEATS,
    steering: live === null ? (event?.steering ?? null) : live.steering,
    reload: loaded.reload,
  };
}

/** The live state of a performance; null until the first message. */
function useLiveState(slug: string | null, performanceId: string | null): LiveState | null {
  const [state, setState] = useState<LiveState | null>(null);
  const isVisible = useVisible();
  useEffect(() => setState(null), [slug, performanceId]);
  useEffect(() => {
    if (slug === null || performanceId === null || !isVisible) return;
    const abort = new AbortController();
    client.watchDate({ slug, performanceId, signal: abort.signal, onState: setState }).catch(() => {});
    return () => abort.abort();
  }, [slug, performanceId, isVisible]);
  return state;
}

function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const follow = (): void => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', follow);
    return () => document.removeEventListener('visibilitychange', follow);
  }, []);
  return isVisible;
}

function shownBefore(event: EventPayload): string | null {
  const lastId = lastPerformance(event.slug);
  return event.performances.some(({ id }) => id === lastId) ? lastId : null;
}
