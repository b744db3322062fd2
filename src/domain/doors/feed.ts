/**
 * What a gate knows of its event's tickets: its service's feed, and what happened at the gate since.
 *
 * 1. It is there at a gate alone, from the first page of the feed on. A ticket is known by its digest; a gate has no
 *    orders.
 * 2. A page says until when it includes the gate's own scans; later scans are applied on top. A change about a scan
 *    that was undone here is older than the UNDO.
 * 3. When a feed begins anew, known tickets stay as they are until its last page. Then every ticket that it did not
 *    name counts as UNNAMED.
 */
import { ticketDigest } from '#client/doors/digest.ts';
import { hasHappened } from '#client/doors/scan.ts';
import { compareScans, leftByUndo } from '#client/doors/merging.ts';
import { joinId } from '../ids.ts';
import { happenedOf, mergedOf, type Doors, type DoorState } from './state.ts';
import { isToldAlike } from './station-conflicts.ts';
import { FedTickets, UNNAMED, type FedTicket } from './fed-tickets.ts';
import type { TicketScan } from './scanned-tickets.ts';
import type { EventDefinition } from '../catalogue/definition.ts';
import type { FactData } from '../fact.ts';
import type { FedChange, FeedKey, StationKind } from '../recorded-scan.ts';

// ── scans ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The ticket after an entry or exit; an earlier scan than the known change has no effect. */
function withScan(row: FedTicket, { kind, at, doorId }: TicketScan): FedTicket {
  const isInside = row.presence === 'INSIDE';
  if (row.presence !== 'NEVER_IN' && at < row.at) return row;
  if (kind === 'EXIT') {
    const { leftFrom: _leftFrom, ...others } = row;
    return { ...others, presence: 'OUTSIDE', at, doorId, ...(row.presence !== 'INSIDE' && { leftFrom: row.presence }) };
  }
  if (isInside) return row;
  return { ...row, presence: 'INSIDE', at, doorId, ...(row.presence === 'OUTSIDE' && { isReturn: true }) };
}

/**
 * The ticket without a scan; `left` are the ticket's other scans here. Scans elsewhere are known from the conflicts
 * that the service reported, and from where the ticket was before it entered or left here.
 */
function withoutScan(
  row: FedTicket,
  scan: TicketScan,
  left: readonly TicketScan[],
  reentry: Doors['reentry'],
): FedTicket {
  if (!isAbout(row, scan)) return row;
  const { isInside, admission } = mergedOf({ scans: left.filter(({ id }) => id !== scan.id) }, reentry);
  if (scan.kind === 'EXIT') {
    const { at, doorId } = isInside && admission !== null ? admission : scan;
    if (isInside || row.leftFrom === undefined) return { ...row, presence: 'INSIDE' as const, at, doorId };
    return { ...row, presence: row.leftFrom, ...(row.leftFrom === 'NEVER_IN' && { at: 0, doorId: null }) };
  }
  const elsewhere = leftByUndo(scan.at, entriesElsewhere(row, scan, left));
  if (elsewhere?.isInside === true || (admission === null && elsewhere !== null)) {
    const { at, doorId } = elsewhere.entry;
    return { ...row, presence: elsewhere.isInside ? ('INSIDE' as const) : ('OUTSIDE' as const), at, doorId };
  }
  if (admission === null && row.isReturn === true) return { ...row, presence: 'OUTSIDE' as const, at: scan.at };
  if (admission === null) return { ...row, presence: 'NEVER_IN' as const, at: 0, doorId: null };
  return {
    ...row,
    presence: isInside ? ('INSIDE' as const) : ('OUTSIDE' as const),
    at: admission.at,
    doorId: admission.doorId,
  };
}

/** The entries that conflict with an entry, as the service says, and that were not made here. */
function entriesElsewhere({ told = [] }: FedTicket, { id }: TicketScan, own: readonly TicketScan[]) {
  const others = told.filter(({ scanId }) => scanId === id).map(({ admitted }) => admitted);
  return others.filter(({ at }) => !own.some((each) => each.at === at));
}

/** Whether the known change is a scan's; a feed has the second and the door of the scan. */
function isAbout({ presence, at, doorId }: FedTicket, scan: TicketScan): boolean {
  if (presence !== (scan.kind === 'ENTRY' ? 'INSIDE' : 'OUTSIDE')) return false;
  return secondOf(at) === secondOf(scan.at) && doorId === scan.doorId;
}

const secondOf = (ms: number): number => Math.floor(ms / 1_000);

/** A ticket that was scanned has this number. Answers its digest; null of another code, and where no gate is. */
export function noteNumber(state: DoorState, key: string, number: number): string | null {
  const { feed } = state.doors!;
  if (feed === null || key.startsWith('~')) return null;
  const digest = ticketDigest(joinId('tkt', state.eventNumber, key));
  feed.scanned.set(digest, number);
  return digest;
}

/** A scan of a ticket was recorded or changed: updates what is known of the ticket. */
export function noteScan(state: DoorState, number: number, before: TicketScan | undefined, after: TicketScan): void {
  const { feed, tickets, reentry } = state.doors!;
  if (feed === null) return;
  const { key, scans } = tickets.at(number);
  const digest = noteNumber(state, key, number);
  if (digest === null) return;
  const isMoved = counts(after) !== (before !== undefined && counts(before));
  feed.tickets.put(fedAfter(feed.tickets.find(digest), before, after, scans, reentry), isMoved);
}

/** What is known of a ticket after one of its scans was recorded or changed. */
export function fedAfter(
  row: FedTicket,
  before: TicketScan | undefined,
  after: TicketScan,
  scans: readonly TicketScan[],
  reentry: Doors['reentry'],
): FedTicket {
  const had = before !== undefined && counts(before);
  if (counts(after) === had) return row;
  return had ? withoutScan(row, after, scans, reentry) : withScan(row, after);
}

/** The last scan that a feed knows of, which was within its second. */
export function lastOf(fed: FedTicket | undefined): readonly { readonly at: number }[] {
  if (fed === undefined || fed.presence === 'NEVER_IN') return [];
  return [{ at: fed.at % 1_000 === 0 ? fed.at + 999 : fed.at }];
}

const counts = (scan: TicketScan): boolean => hasHappened(scan) && !scan.isUndone;

// ── pages ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export function takePage(state: DoorState, page: FactData['FeedTaken']): void {
  const doors = state.doors!;
  const { cursor, isAnew, more, head, includesUntil } = page;
  const known = doors.feed ?? {
    ...head!,
    isWhole: false,
    tickets: new FedTickets(),
    named: null,
    scanned: new Map<string, number>(),
  };
  const named = isAnew ? new Set<string>() : known.named;
  doors.feed = { ...known, ...head, cursor, named: more ? named : null, isWhole: known.isWhole || !more };
  for (const change of page.changes) {
    named?.add(change[0]);
    putNamed(state, namedRow(change), includesUntil);
  }
  if (more || named === null) return;
  for (const [{ digest }] of [...known.tickets.rows()]) {
    if (!named.has(digest)) putNamed(state, { ...UNNAMED, digest }, includesUntil);
  }
}

function namedRow([digest, state, at, doorId, told]: FedChange): FedTicket {
  const presence = state === 'I' || state === 'W' ? 'INSIDE' : state === 'O' ? 'OUTSIDE' : 'NEVER_IN';
  return { digest, presence, isVoid: state === 'V' || state === 'W', at, doorId, ...(told !== undefined && { told }) };
}

/** Stores what a page says of a ticket, with the scans that it does not include yet (rule 2). */
function putNamed(state: DoorState, named: FedTicket, includesUntil: number): void {
  const { feed, tickets, reentry } = state.doors!;
  const number = feed!.scanned.get(named.digest);
  const scans = number === undefined ? [] : happenedOf(tickets.at(number).scans);
  let row = number === undefined ? named : { ...named, includesUntil };
  for (const scan of scans) if (isAbout(row, scan)) row = { ...row, at: scan.at };
  for (const scan of scans) if (scan.isUndone) row = withoutScan(row, scan, scans, reentry);
  const later = scans.filter((scan) => counts(scan) && scan.receivedAt > includesUntil).sort(compareScans);
  row = later.reduce(withScan, row);
  feed!.tickets.put(row, !isToldAlike(state, feed!.tickets.find(row.digest), row));
}

// ── read ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** How far a gate has come with its service's feed, with the tokens of its stations. */
export interface FeedView {
  readonly eventNumber: number;
  readonly definition: EventDefinition;
  readonly cursor: string;
  readonly isWhole: boolean;
  readonly stationId: string;
  readonly keys: readonly FeedKey[];
  readonly tokens: readonly { readonly tokenSha256: string; readonly kind: StationKind }[];
}

/** How far a gate has come; null where it is none. */
export function viewFeed({ doors, eventNumber, plan }: DoorState): FeedView | null {
  if (doors === null || doors.feed === null) return null;
  const { cursor, isWhole, stationId, keys } = doors.feed;
  const tokens = Array.from(doors.stations.values(), ({ tokenSha256, kind }) => ({ tokenSha256, kind }));
  return { eventNumber, definition: plan.definition, cursor, isWhole, stationId, keys, tokens };
}
