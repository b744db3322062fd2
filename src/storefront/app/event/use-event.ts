/**
 * An event on one of its dates, kept up to date.
 *
 * Owns which figures are shown: those of the live stream for somebody without a hold, and the event's own payload, in
 * which the session's hold counts as free, for somebody with one.
 *
 *  1. While a hold stands, a change on the stream makes the payload be asked again, at most every 1.5 s.
 *  2. A hidden page watches nothing: browsers allow only few connections to one place.
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { EventPayload, SeatState, TicketAvailability } from '#client/bodies.ts';
import type { DatePicture } from '#client/live.ts';
import { client } from '../shop.ts';
import { noteServiceTime } from '../service-clock.ts';
import { useLoaded } from '../loaded.ts';

export interface EventOnDate {
  readonly event: EventPayload | null;
  readonly error: unknown;
  readonly performanceId: string | null;
  readonly rows: readonly TicketAvailability[];
  readonly seats: ReadonlyMap<string, SeatState>;
  readonly reload: () => void;
}

const REFRESH_MS = 1_500;
const NO_SEATS: ReadonlyMap<string, SeatState> = new Map();

/** `wanted` is the date in the address; without one the first date that can be bought is taken. */
export function useEvent(slug: string, wanted: string | null, hasHold: boolean): EventOnDate {
  const loaded = useLoaded(`${slug} ${wanted ?? ''}`, async (signal) => {
    const event = await client.getEvent(slug, { performanceId: wanted, signal });
    const performanceId = wanted ?? firstDate(event);
    const isSummed = event.ticketAvailability[0]?.performance_id === null && performanceId !== null;
    return { event: isSummed ? await client.getEvent(slug, { performanceId, signal }) : event, performanceId };
  });
  const event = loaded.value?.event ?? null;
  const performanceId = loaded.value?.performanceId ?? null;
  const picture = useDate(event === null ? null : slug, performanceId);
  const definition = useRef<number | null>(null);

  useEffect(() => {
    const version = picture?.definitionVersion ?? null;
    if (definition.current !== null && version !== null && version !== definition.current) loaded.reload();
    definition.current = version ?? definition.current;
  }, [picture?.definitionVersion]);

  const wasAsked = useRef(0);
  useEffect(() => {
    if (!hasHold || picture === null) return;
    const waitMs = Math.max(0, wasAsked.current + REFRESH_MS - Date.now());
    const timer = setTimeout(() => {
      wasAsked.current = Date.now();
      loaded.reload();
    }, waitMs);
    return () => clearTimeout(timer);
  }, [picture?.rows, hasHold]);

  const own = event?.ticketAvailability ?? [];
  return {
    event,
    error: loaded.error,
    performanceId,
    rows: hasHold || picture === null ? own : picture.rows,
    seats: picture?.seats ?? NO_SEATS,
    reload: loaded.reload,
  };
}

/** The live picture of a date; null until it is there. */
function useDate(slug: string | null, performanceId: string | null): DatePicture | null {
  const [picture, setPicture] = useState<DatePicture | null>(null);
  const isVisible = useVisible();
  useEffect(() => setPicture(null), [slug, performanceId]);
  useEffect(() => {
    if (slug === null || performanceId === null || !isVisible) return;
    const abort = new AbortController();
    const onPicture = (next: DatePicture): void => {
      if (next.now !== null) noteServiceTime(next.now);
      setPicture(next);
    };
    client.watchDate({ slug, performanceId, signal: abort.signal, onPicture }).catch(() => {});
    return () => abort.abort();
  }, [slug, performanceId, isVisible]);
  return picture;
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

/** The first date that sells now, else the first that has something left, else the first at all. */
function firstDate(event: EventPayload): string | null {
  const open = event.performances.find(({ on_sale: onSale }) => onSale);
  const next = event.performances.find(({ status, sold_out: soldOut }) => status === 'ON_SALE' && soldOut !== true);
  return (open ?? next ?? event.performances[0])?.id ?? null;
}
