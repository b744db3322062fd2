/**
 * Views that many clients request again and again, each with a revision: the payload of an event, the layout of its
 * seats, their occupancy, and what is left of a performance.
 *
 * 1. A view is computed only when the caller does not know its revision yet.
 * 2. A revision names the activation: after a lost turn, an event that was activated again may count to the same
 *    version with other facts.
 * 3. The revision of what is left of a performance ends with the version of its seats. A client may send it back: it
 *    gets the changes since, if activation and definition are the same and the changes are still remembered.
 */
import { isPublished, type ShownSteering } from '../catalogue/state.ts';
import type { EventState } from './state.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { findPerformance, type PerformanceState } from '../inventory/performance.ts';
import { occupancyOf, seatingView, type OccupancyView, type SeatingView } from '../inventory/view.ts';
import { eventRevision, eventView, type TicketAvailability, type EventView } from './public-view.ts';

/** The moment of a query, and the activation of the event that answers it. */
export interface QueryContext {
  readonly now: number;
  readonly activation: string;
}

/** Operators see drafts too, before they publish them. */
export type Audience = 'BUYERS' | 'OPERATORS';

export interface Unchanged {
  readonly outcome: 'UNCHANGED';
}

export interface PayloadView {
  readonly event: EventView;
  /** Null for a view that is of one session alone. */
  readonly revision: string | null;
}

export interface SeatingResult extends SeatingView {
  readonly revision: string;
}

/** `revision` is null where changes are shown. */
export type OccupancyResult = OccupancyView & { readonly revision: string | null; readonly activation: string };

export interface LiveView {
  readonly eventId: string;
  readonly performanceId: string;
  readonly now: number;
  readonly definitionVersion: number;
  readonly steering: ShownSteering | null;
  readonly status: string;
  readonly ticketAvailability: readonly TicketAvailability[];
  /** Null where the event has no numbered seats. */
  readonly seats: OccupancyView | null;
  /** Whether the view is complete, because the changes since the caller's revision are not known. */
  readonly isWhole: boolean;
  readonly revision: string;
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
  { now, activation }: QueryContext,
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
  { audience, knownRevision }: Wanted & { readonly audience: Audience },
  { activation }: QueryContext,
): SeatingResult | Unchanged | Refusal {
  if (audience === 'BUYERS' && !isPublished(state)) return EVENT_NOT_FOUND;
  const revision = `${activation}.${state.definitionVersion}`;
  return revision === knownRevision ? UNCHANGED : { ...seatingView(state), revision };
}

export function occupancyReading(
  state: EventState,
  wanted: Wanted & {
    readonly audience: Audience;
    readonly performanceId: string | null;
    readonly since: number | null;
  },
  { activation }: QueryContext,
): OccupancyResult | Unchanged | Refusal {
  const { since, knownRevision } = wanted;
  const performance = findShown(state, wanted);
  if (isRefusal(performance)) return performance;
  const { id, inventory } = performance;
  if (since !== null && inventory.remembersSince(since)) {
    return { ...occupancyOf(state.eventId, performance, since), revision: null, activation };
  }
  const revision = `${activation}.${inventory.version}.${id}`;
  if (revision === knownRevision) return UNCHANGED;
  return { ...occupancyOf(state.eventId, performance, null), revision, activation };
}

/** A performance that the audience sees. EVENT_NOT_FOUND, PERFORMANCE_REQUIRED, PERFORMANCE_NOT_FOUND. */
function findShown(
  state: EventState,
  { audience, performanceId }: { readonly audience: Audience; readonly performanceId: string | null },
): PerformanceState | Refusal {
  const any = audience === 'OPERATORS' && performanceId !== null ? state.performances.get(performanceId) : undefined;
  if (any !== undefined) return any;
  return audience === 'OPERATORS' || isPublished(state) ? findPerformance(state, performanceId) : EVENT_NOT_FOUND;
}

export function liveView(
  state: EventState,
  { performanceId, knownRevision }: Wanted & { readonly performanceId: string },
  { now, activation }: QueryContext,
): LiveView | Unchanged | Refusal {
  if (!isPublished(state)) return EVENT_NOT_FOUND;
  const { eventId, definitionVersion } = state;
  const performance = state.performances.get(performanceId);
  const revision = `${activation}.${eventRevision(state, now)}.${performance?.inventory.version ?? 0}`;
  if (knownRevision === revision) return UNCHANGED;
  const event = eventView(state, { performanceId, sessionKey: null }, now);
  if (isRefusal(event)) return event;
  const since = seatVersionOf(knownRevision, `${activation}.${definitionVersion}.`);
  const hasSeats = event.localities.some((locality) => locality.definition.seating === 'NUMBERED');
  const seats = hasSeats ? occupancyOf(eventId, performance!, since) : null;
  return {
    eventId,
    performanceId,
    now,
    definitionVersion,
    steering: event.steering,
    status: event.performances.find(({ id }) => id === performanceId)?.status ?? 'CANCELLED',
    ticketAvailability: event.ticketAvailability,
    seats,
    isWhole: since === null || !performance!.inventory.remembersSince(since),
    revision,
  };
}

/** Rule 3; null for a revision of another activation or definition, and for a text that is no revision. */
function seatVersionOf(revision: string | null, definition: string): number | null {
  const [, version] = revision?.startsWith(definition) === true ? (/\.(\d{1,15})$/.exec(revision) ?? []) : [];
  return version === undefined ? null : Number(version);
}
