/**
 * The views that many clients ask for again and again, with the revision by which a caller keeps them: the payload of an event, the
 * layout of its seats, their occupancy, and what is left of a performance as it changes.
 *
 * 1. A view is computed only when the caller does not know its revision yet.
 * 2. A revision names the activation: after a lost turn, an event that was activated again may count to the same version with
 *    other facts.
 */
import { isPublished, type EventState } from '../event-state.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { findPerformance } from './performance.ts';
import { occupancyOf, seatingView, type OccupancyView, type SeatingView } from './view.ts';
import { eventRevision, eventView, type TicketAvailability, type EventView } from '../catalogue/view.ts';

/** The moment of a query, and the activation of the event that answers it. */
export interface Reading {
  readonly now: number;
  readonly activation: string;
}

export interface Unchanged {
  readonly outcome: 'UNCHANGED';
}

export interface PayloadView {
  readonly event: EventView;
  /** Null for a view that is of one session alone. */
  readonly revision: string | null;
}

export interface SeatingReading extends SeatingView {
  readonly revision: string;
}

/** `revision` is null where changes are shown. */
export type OccupancyReading = OccupancyView & { readonly revision: string | null };

/** Names what a caller was told last, so that the next view can say what changed since. */
export interface LiveMark {
  readonly revision: string;
  /** Names the activation and the definition; changes can be told within the same alone. */
  readonly definition: string;
  /** Null where the event has no numbered seats. */
  readonly seatVersion: number | null;
}

export interface LiveView {
  readonly eventId: string;
  readonly performanceId: string;
  readonly now: number;
  readonly definitionVersion: number;
  readonly status: string;
  readonly ticketAvailability: readonly TicketAvailability[];
  /** Null where the event has no numbered seats. */
  readonly seats: OccupancyView | null;
  readonly mark: LiveMark;
}

/** The revision that the caller has, or null. */
interface Wanted {
  readonly knownRevision: string | null;
}

const UNCHANGED: Unchanged = { outcome: 'UNCHANGED' };
const EVENT_NOT_FOUND = refuse('EVENT_NOT_FOUND', {});

export function payloadView(
  state: EventState,
  wanted: Wanted & { readonly performanceId: string | null; readonly sessionKey: string | null },
  { now, activation }: Reading,
): PayloadView | Unchanged | Refusal {
  if (!isPublished(state)) return EVENT_NOT_FOUND;
  const { performanceId, sessionKey, knownRevision } = wanted;
  const isOwn = sessionKey !== null && state.holds.activeBySession.has(sessionKey);
  const revision = isOwn ? null : `${activation}.${eventRevision(state, now)}`;
  if (revision !== null && revision === knownRevision) return UNCHANGED;
  const event = eventView(state, { performanceId, sessionKey }, now);
  return isRefusal(event) ? event : { event, revision };
}

export function seatingReading(
  state: EventState,
  { knownRevision }: Wanted,
  { activation }: Reading,
): SeatingReading | Unchanged | Refusal {
  if (!isPublished(state)) return EVENT_NOT_FOUND;
  const revision = `${activation}.${state.definitionVersion}`;
  return revision === knownRevision ? UNCHANGED : { ...seatingView(state), revision };
}

export function occupancyReading(
  state: EventState,
  wanted: Wanted & { readonly performanceId: string | null; readonly since: number | null },
  { activation }: Reading,
): OccupancyReading | Unchanged | Refusal {
  const { performanceId, since, knownRevision } = wanted;
  const performance = isPublished(state) ? findPerformance(state, performanceId) : EVENT_NOT_FOUND;
  if (isRefusal(performance)) return performance;
  const { id, inventory } = performance;
  if (since !== null && inventory.remembersSince(since)) {
    return { ...occupancyOf(state.eventId, performance, since), revision: null };
  }
  const revision = `${activation}.${inventory.version}.${id}`;
  if (revision === knownRevision) return UNCHANGED;
  return { ...occupancyOf(state.eventId, performance, null), revision };
}

/** The seats of any performance: operators block seats of a draft before they publish it. PERFORMANCE_NOT_FOUND. */
export function anyOccupancy(
  state: EventState,
  { performanceId, since }: { readonly performanceId: string; readonly since: number | null },
): OccupancyView | Refusal {
  const performance = state.performances.get(performanceId);
  if (performance === undefined) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  return occupancyOf(state.eventId, performance, since);
}

export function liveView(
  state: EventState,
  { performanceId, last }: { readonly performanceId: string; readonly last: LiveMark | null },
  { now, activation }: Reading,
): LiveView | Unchanged | Refusal {
  if (!isPublished(state)) return EVENT_NOT_FOUND;
  const { eventId, definitionVersion } = state;
  const revision = `${activation}.${eventRevision(state, now)}`;
  if (last?.revision === revision) return UNCHANGED;
  const event = eventView(state, { performanceId, sessionKey: null }, now);
  if (isRefusal(event)) return event;
  const definition = `${activation}.${definitionVersion}`;
  const since = last?.definition === definition ? last.seatVersion : null;
  const hasSeats = event.localities.some((locality) => locality.definition.seating === 'NUMBERED');
  const seats = hasSeats ? occupancyOf(eventId, state.performances.get(performanceId)!, since) : null;
  return {
    eventId,
    performanceId,
    now,
    definitionVersion,
    status: event.performances.find(({ id }) => id === performanceId)?.status ?? 'CANCELLED',
    ticketAvailability: event.ticketAvailability,
    seats,
    mark: { revision, definition, seatVersion: seats?.version ?? null },
  };
}
