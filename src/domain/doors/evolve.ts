/** Applies facts to check-in. */
import { dropOldMinutes, MINUTE_MS } from '#client/doors/counters.ts';
import { hasHappened } from '#client/doors/scan.ts';
import { reentryOf } from '../catalogue/definition.ts';
import { invariant } from '../invariant.ts';
import { changeOrder } from '../orders/evolve.ts';
import { openOrder } from '../orders/state.ts';
import {
  countRefused,
  countScans,
  keyOf,
  noDoors,
  undoneAfter,
  type Doors,
  type DoorState,
  type Station,
} from './state.ts';
import { noteScan, takePage } from './feed.ts';
import type { RefusedScan } from './refused-scans.ts';
import type { TicketScans, TicketScan } from './scanned-tickets.ts';
import type { FactData, FactOf } from '../fact.ts';
import type { RecordedScan } from '../recorded-scan.ts';

type DoorFactType = 'StationAdded' | 'StationRevoked' | 'TicketsScanned' | 'TicketScannedByHand' | 'FeedTaken';

type DoorFact = { [Type in DoorFactType]: FactOf<Type> }[DoorFactType];

export function evolveDoors(state: DoorState, happened: DoorFact, at: number): void {
  const { type, data } = happened;
  const doors = (state.doors ??= noDoors(reentryOf(state.plan.definition)));
  switch (type) {
    case 'StationAdded':
      return addStation(doors, data, at);
    case 'StationRevoked':
      return revokeStation(doors, data, at);
    case 'TicketsScanned':
      for (const scan of data.scans) recordScan(state, scan, data.stationId, at);
      return pruneMinutes(doors, at);
    case 'TicketScannedByHand':
      recordScan(state, data.scan, null, at);
      noteByHand(state, happened);
      return pruneMinutes(doors, at);
    case 'FeedTaken':
      return takePage(state, data);
  }
}

function addStation(doors: Doors, { stationId: id, ...made }: FactData['StationAdded'], at: number): void {
  restoreStation(doors, { id, ...made, createdAt: at, revokedAt: null, seen: null });
}

export function restoreStation({ stations, byToken }: Doors, station: Station): void {
  stations.set(station.id, station);
  byToken.set(station.tokenSha256, station);
}

function revokeStation({ stations }: Doors, { stationId }: FactData['StationRevoked'], at: number): void {
  const station = stations.get(stationId);
  invariant(station !== undefined, 'a station that a fact names is there');
  station.revokedAt = at;
}

// ── scans ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Who scanned by hand, and why, is kept with the order: its note is erased with it. */
function noteByHand(state: DoorState, happened: FactOf<'TicketScannedByHand'>): void {
  const { orderId, scan, operator, note, sealedNote } = happened.data;
  if (operator === null && note === null && sealedNote === undefined) return;
  changeOrder(state, happened, () => {
    const order = openOrder(state.orders, orderId);
    const about = scan.verdict === 'UNDONE' ? { scanId: scan.undoes!, isUndoing: true as const } : { scanId: scan.id };
    const noted = { operator, note, ...(sealedNote !== undefined && { sealedNote }) };
    order.scanNotes = [...(order.scanNotes ?? []), { ...about, ...noted }];
  });
}

/** `senderId`: null of a scan by hand. */
function recordScan(state: DoorState, scan: RecordedScan, senderId: string | null, receivedAt: number): void {
  if (scan.kind === 'UNDO') recordUndo(state, scan);
  else if (isOfTicket(scan)) recordOfTicket(state, scan, scan.stationId ?? senderId, receivedAt);
  else recordByIdAlone(state.doors!, scan);
}

/** Counts a scan that is kept by its id alone, in place of its earlier record, which is returned. */
function recordByIdAlone(doors: Doors, { id, performanceId, ...scan }: RecordedScan): RefusedScan | null {
  const { verdict, given = null, digest, isOfGate = false } = scan;
  const recorded = { verdict, given, digest, isOfGate };
  const before = doors.refused.find(id);
  if (before !== null) countRefused(doors, performanceId, before, -1);
  countRefused(doors, performanceId, recorded, 1);
  doors.refused.put(id, recorded);
  return before;
}

type ScanOfTicket = RecordedScan & { readonly at: number };

function isOfTicket(scan: RecordedScan): scan is ScanOfTicket {
  return scan.at !== undefined;
}

function recordOfTicket(state: DoorState, scan: ScanOfTicket, stationId: string | null, receivedAt: number): void {
  const doors = state.doors!;
  const key = keyOf(scan);
  const number = doors.tickets.find(key);
  const ticket = number === null ? newTicket(key, scan) : doors.tickets.at(number);
  const index = scan.isAgain === true ? ticket.scans.findIndex(({ id }) => id === scan.id) : -1;
  const before = ticket.scans[index];
  const waiting = doors.undone.get(scan.id) ?? 0;
  const isUndone = before?.isUndone ?? waiting > 0;
  if (before === undefined && isUndone) setUndoings(doors, scan.id, waiting - 1);
  const recorded = toTicketScan(scan, before ?? { stationId, receivedAt }, isUndone);
  const scans = before === undefined ? [...ticket.scans, recorded] : ticket.scans.with(index, recorded);
  if (before === undefined && scan.isAgain === true) uncountById(doors, scan);
  if (before !== undefined && !hasHappened(before)) countRefused(doors, before.performanceId, before, -1);
  if (!hasHappened(recorded)) countRefused(doors, recorded.performanceId, recorded, 1);
  const isChange = hasHappened(recorded) || (before !== undefined && hasHappened(before));
  const place = putTicket(doors, number, ticket, { ...ticket, scans }, isChange);
  noteScan(state, place, before, recorded);
  doors.usedDoors.add(scan.doorId);
}

/** Until now it was known by its id alone. */
function uncountById(doors: Doors, { id, performanceId }: RecordedScan): void {
  const known = doors.refused.find(id);
  invariant(known !== null, 'a scan that is recorded again was recorded before');
  countRefused(doors, performanceId, known, -1);
}

function newTicket(key: string, { ticketTypeId, ofPerformanceId, performanceId }: ScanOfTicket): TicketScans {
  const isOfEvent = ticketTypeId !== undefined;
  return {
    key,
    ticketTypeId: ticketTypeId ?? null,
    performanceId: isOfEvent ? (ofPerformanceId ?? performanceId) : null,
    scans: [],
  };
}

/** A recorded scan as its ticket keeps it. */
export function toTicketScan(
  scan: ScanOfTicket,
  { stationId, receivedAt }: Pick<TicketScan, 'stationId' | 'receivedAt'>,
  isUndone: boolean,
): TicketScan {
  const { id, kind, performanceId, doorId, at, verdict, given = null, unfit = null, isOfGate = false } = scan;
  invariant(kind !== 'UNDO', 'an entry or exit is no undoing');
  return { id, kind, performanceId, doorId, stationId, at, receivedAt, verdict, given, unfit, isUndone, isOfGate };
}

/** Replaces a ticket, or adds a new one, and returns its number; counts change by both (rule 2 of `state.ts`). */
function putTicket(
  doors: Doors,
  number: number | null,
  before: TicketScans,
  after: TicketScans,
  isChange: boolean,
): number {
  const place = number ?? doors.tickets.count;
  if (isChange && number !== null) countScans(doors, place, before, -1);
  doors.tickets.put(number, after, isChange);
  if (isChange) countScans(doors, place, after, 1);
  return place;
}

/**
 * An UNDO is kept by its id alone. The scan that it undoes no longer counts, or counts again if the UNDO was undone.
 */
function recordUndo(state: DoorState, scan: RecordedScan): void {
  const doors = state.doors!;
  const { undoes, verdict, given = null } = scan;
  const before = recordByIdAlone(doors, scan);
  const isUndone = hasHappened({ kind: 'UNDO', verdict, given });
  const wasUndone = before !== null && hasHappened({ ...before, kind: 'UNDO' });
  if (undoes === undefined || isUndone === wasUndone) return;
  const number = doors.tickets.findScan(undoes);
  const ticket = number === null ? null : doors.tickets.at(number);
  const target = ticket?.scans.find(({ id }) => id === undoes) ?? null;
  const was = { isUndone: target && target.isUndone, waiting: doors.undone.get(undoes) ?? 0 };
  const now = undoneAfter(was, isUndone ? 1 : -1);
  setUndoings(doors, undoes, now.waiting);
  if (ticket === null || now.isUndone === null || now.isUndone === was.isUndone) return;
  const undone = now.isUndone;
  const scans = ticket.scans.map((each) => (each.id === undoes ? { ...each, isUndone: undone } : each));
  putTicket(doors, number, ticket, { ...ticket, scans }, true);
  noteScan(state, number!, target!, { ...target!, isUndone: undone });
}

function setUndoings({ undone }: Doors, scanId: string, waiting: number): void {
  if (waiting === 0) undone.delete(scanId);
  else undone.set(scanId, waiting);
}

function pruneMinutes(doors: Doors, at: number): void {
  const minute = Math.floor(at / MINUTE_MS);
  if (minute <= doors.prunedMinute) return;
  doors.prunedMinute = minute;
  dropOldMinutes(doors.counts, at);
}

// ── the definition ───────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * A definition was taken over: where its rule for entering again is another one, the scans of tickets are merged anew.
 */
export function rebaseDoors({ doors, plan }: DoorState): void {
  const reentry = reentryOf(plan.definition);
  if (doors === null || doors.reentry === reentry) return;
  const recount = (sign: 1 | -1): void => {
    for (let number = 0; number < doors.tickets.count; number += 1)
      countScans(doors, number, doors.tickets.at(number), sign);
  };
  recount(-1);
  doors.reentry = reentry;
  recount(1);
}
