/** The doors in numbers, and their conflicts, for operators. */
import { MINUTE_MS, MINUTES_SHOWN } from '#client/doors/counters.ts';
import type { Given } from '#client/doors/scan.ts';
import { doorsOf } from '../catalogue/definition.ts';
import { joinId } from '../ids.ts';
import { sumOf } from '../money.ts';
import { issuedTicket, mergedOf, scansOf, stationStatus, type Doors, type DoorState, type Station } from './state.ts';
import { refuse, refuseProblems, type Refusal } from '../refusal.ts';
import { viewScan } from './results.ts';
import type { PerformanceState } from '../inventory/performance.ts';
import type { SealedOperatorNote } from '../fact.ts';
import type { ScanView, TicketScanView } from '../view.ts';
import type { ConflictPosition, ListedConflict } from './conflict-list.ts';

interface InAndOut {
  readonly entries: number;
  readonly exits: number;
}

export interface DoorCountsView extends InAndOut {
  readonly id: string;
  /** Valid tickets of the date. */
  readonly expected: number;
  /** Tickets that entered, each once. */
  readonly admitted: number;
  readonly inside: number;
  readonly conflicts: number;
  readonly refused: Readonly<Partial<Record<Given, number>>>;
  readonly doors: readonly (InAndOut & { readonly id: string })[];
  readonly ticketTypes: readonly { readonly id: string; readonly expected: number; readonly admitted: number }[];
  /** The last hour; empty where nobody was scanned. */
  readonly minutes: readonly (InAndOut & { readonly at: number })[];
}

const NOBODY: InAndOut = { entries: 0, exits: 0 };

/** Of one date, or of all that the definition has: PERFORMANCE_NOT_FOUND. */
export function readDoors(
  state: DoorState,
  { performanceId }: { readonly performanceId: string | null },
  now: number,
): { readonly performances: readonly DoorCountsView[] } | Refusal {
  const performances = state.plan.performances.filter(({ id }) => performanceId === null || id === performanceId);
  if (performanceId !== null && performances.length === 0) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  return { performances: performances.map(({ id }) => countsView(state, state.performances.get(id)!, now)) };
}

function countsView({ plan, doors }: DoorState, { id, inventory }: PerformanceState, now: number): DoorCountsView {
  const counts = doors?.counts.get(id);
  const { entries, exits } = counts ?? NOBODY;
  const ticketTypes = plan.ticketTypes.map((type) => {
    return {
      id: type.id,
      expected: inventory.soldInPool(type.pool),
      admitted: counts?.admittedByType.get(type.id) ?? 0,
    };
  });
  return {
    id,
    expected: inventory.totals().sold,
    admitted: counts?.admitted ?? 0,
    inside: entries - exits,
    entries,
    exits,
    conflicts: [...(counts?.conflicts.values() ?? [])].reduce((sum, count) => sum + count, 0),
    refused: Object.fromEntries(counts?.refused ?? []),
    doors: doorIdsOf(plan.definition, counts).map((doorId) => ({
      id: doorId,
      ...(counts?.byDoor.get(doorId) ?? NOBODY),
    })),
    ticketTypes,
    minutes: counts === undefined ? [] : minutesOf(counts.byMinute, now),
  };
}

type Counts = Doors['counts'] extends Map<string, infer OfDate> ? OfDate : never;

function doorIdsOf(definition: Parameters<typeof doorsOf>[0], counts: Counts | undefined): readonly string[] {
  return [...new Set([...doorsOf(definition).map(({ id }) => id), ...(counts?.byDoor.keys() ?? [])])];
}

/** The oldest first. */
function minutesOf(byMinute: Counts['byMinute'], now: number): DoorCountsView['minutes'] {
  const last = Math.floor(now / MINUTE_MS);
  return Array.from({ length: MINUTES_SHOWN }, (_, index) => {
    const minute = last - MINUTES_SHOWN + 1 + index;
    return { at: minute * MINUTE_MS, ...(byMinute.get(minute) ?? NOBODY) };
  });
}

// ── scans of tickets ─────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The scans of a ticket that are kept, the oldest first and those of one moment as they arrived, with what operators
 * said of them.
 */
export function viewScansOf(state: DoorState, ticketId: string): readonly TicketScanView[] {
  const notes = state.orders.byTicket.get(ticketId)?.scanNotes ?? [];
  return scansOf(state, ticketId)
    .toSorted((one, other) => one.at - other.at)
    .map((scan) => {
      const { kind, performanceId, verdict, given, isUndone } = scan;
      const ofScan = notes.filter(({ scanId }) => scanId === scan.id);
      const byHand = ofScan.find(({ isUndoing }) => isUndoing !== true) ?? NOT_NOTED;
      const undoneBy = (isUndone && ofScan.find(({ isUndoing }) => isUndoing === true)) || null;
      const of = { ticketId, kind, performanceId, verdict, given, isUndone };
      return { ...of, ...viewScan(state, scan), ...toNote(byHand), undoneBy: undoneBy && toNote(undoneBy) };
    });
}

const NOT_NOTED = { operator: null, note: null };

function toNote({ operator, note, sealedNote }: SealedOperatorNote): SealedOperatorNote {
  return { operator, note, ...(sealedNote !== undefined && { sealedNote }) };
}

/** A scan of somebody who came, as exports have it. */
export interface ExportedScan extends Pick<TicketScanView, 'at' | 'performanceId' | 'doorId' | 'stationName'> {
  readonly kind: TicketScanView['kind'];
  readonly verdict: TicketScanView['verdict'];
  readonly given: Given | null;
  /** Null where a station let in by the code of no ticket. */
  readonly ticketId: string | null;
  readonly ticketTypeId: string | null;
  readonly seatId: string | null;
}

export interface ScanPage {
  readonly scans: readonly ExportedScan[];
  /** The number of the last ticket; null at the end. */
  readonly nextAfter: number | null;
}

/** The scans of tickets from the one after number `after` on, ticket after ticket, without those that were undone. */
export function listScans(
  state: DoorState,
  { after, limit }: { readonly after: number | null; readonly limit: number },
): ScanPage {
  const scans: ExportedScan[] = [];
  const count = state.doors?.tickets.count ?? 0;
  for (let number = after === null ? 0 : after + 1; number < count; number += 1) {
    const ticket = state.doors!.tickets.at(number);
    const ticketId = ticketIdOf(state, ticket);
    const seatId = ticketId === null ? null : (issuedTicket(state, ticketId)?.seatId ?? null);
    for (const scan of ticket.scans) {
      if (scan.isUndone) continue;
      const { at, performanceId, doorId, kind, verdict, given } = scan;
      const { stationName } = viewScan(state, scan);
      const of = { ticketId, ticketTypeId: ticket.ticketTypeId, seatId };
      scans.push({ at, performanceId, doorId, stationName, kind, verdict, given, ...of });
    }
    if (scans.length >= limit && number + 1 < count) return { scans, nextAfter: number };
  }
  return { scans, nextAfter: null };
}

/** Conflicts of all dates, for metrics; they stay as they are while nothing happens. */
export interface ConflictSums {
  readonly conflicts: Readonly<Record<ListedConflict['kind'], number>>;
}

export interface DoorGauges extends ConflictSums {
  /** People inside, as scans say. */
  readonly inside: number;
  /** By status; SILENT are the LIVE ones that reported waiting scans and were not seen for ten minutes. */
  readonly stations: Readonly<Record<'LIVE' | 'SILENT' | 'EXPIRED' | 'REVOKED', number>>;
}

const SILENT_MS = 10 * MINUTE_MS;

export function conflictSums({ doors }: Pick<DoorState, 'doors'>): ConflictSums {
  const conflicts = { DOUBLE_ENTRY: 0, ENTERED_VOID: 0, ENTERED_OTHERWISE: 0 };
  for (const counts of doors?.counts.values() ?? []) {
    for (const [kind, count] of counts.conflicts) conflicts[kind] += count;
  }
  return { conflicts };
}

export function doorGauges(state: Pick<DoorState, 'doors'>, now: number): DoorGauges {
  const stations = { LIVE: 0, SILENT: 0, EXPIRED: 0, REVOKED: 0 };
  for (const station of state.doors?.stations.values() ?? []) {
    const isSilent = hasWaitingScans(station, now) && station.seen!.at <= now - SILENT_MS;
    stations[isSilent ? 'SILENT' : stationStatus(station, now)] += 1;
  }
  const inside = sumOf(state.doors?.counts.values() ?? [], ({ entries, exits }) => entries - exits);
  return { ...conflictSums(state), inside, stations };
}

/** Whether a live station reported that scans wait on it. */
export function awaitsScans({ doors }: Pick<DoorState, 'doors'>, now: number): boolean {
  return [...(doors?.stations.values() ?? [])].some((station) => hasWaitingScans(station, now));
}

function hasWaitingScans(station: Station, now: number): boolean {
  return (station.seen?.queued ?? 0) > 0 && stationStatus(station, now) === 'LIVE';
}

// ── conflicts ────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface ConflictView {
  readonly kind: ListedConflict['kind'];
  /** Null where the code is of no ticket of the event. */
  readonly ticketId: string | null;
  readonly orderId: string | null;
  readonly performanceId: string;
  readonly first: ScanView | null;
  readonly second: ScanView;
}

export interface ConflictPage {
  readonly conflicts: readonly ConflictView[];
  readonly nextAfter: string | null;
}

/** The newest first, of one date or of all: VALIDATION_ERROR for a position that no page ended with. */
export function listConflicts(
  state: DoorState,
  wanted: { readonly performanceId: string | null; readonly after: string | null; readonly limit: number },
): ConflictPage | Refusal {
  const { performanceId, after, limit } = wanted;
  const position = after === null ? null : readPosition(after);
  if (position === undefined) return refuseProblems([{ path: ['cursor'], message: 'is not a cursor of this list' }]);
  const page: ListedConflict[] = [];
  for (const conflict of state.doors?.conflicts.before(position) ?? []) {
    if (performanceId !== null && conflict.performanceId !== performanceId) continue;
    if (page.length === limit) {
      return { conflicts: page.map((each) => viewConflict(state, each)), nextAfter: writePosition(page.at(-1)!) };
    }
    page.push(conflict);
  }
  return { conflicts: page.map((each) => viewConflict(state, each)), nextAfter: null };
}

function viewConflict(state: DoorState, { kind, scanId, ticket, performanceId }: ListedConflict): ConflictView {
  const doors = state.doors!;
  const scanned = doors.tickets.at(ticket);
  const { conflicts } = mergedOf(scanned, doors.reentry);
  const { first, second } = conflicts.find((each) => each.kind === kind && each.second.id === scanId)!;
  const ticketId = ticketIdOf(state, scanned);
  const orderId = ticketId === null ? null : (issuedTicket(state, ticketId)?.orderId ?? null);
  const shown = { first: first && viewScan(state, first), second: viewScan(state, second) };
  return { kind, ticketId, orderId, performanceId, ...shown };
}

/** The id of a scanned ticket; null of another code. */
export function ticketIdOf(
  { eventNumber }: Pick<DoorState, 'eventNumber'>,
  { key, ticketTypeId }: { readonly key: string; readonly ticketTypeId: string | null },
): string | null {
  return ticketTypeId === null ? null : joinId('tkt', eventNumber, key);
}

function writePosition({ at, scanId, kind }: ConflictPosition): string {
  return `${at}.${kind}.${scanId}`;
}

/** Undefined for a text of another form. */
function readPosition(text: string): ConflictPosition | undefined {
  const [, at, kind, scanId] = /^(-?\d{1,16})\.([A-Z_]{1,20})\.([A-Za-z0-9_-]{1,64})$/.exec(text) ?? [];
  return at === undefined ? undefined : { at: Number(at), kind: kind as ConflictPosition['kind'], scanId: scanId! };
}
