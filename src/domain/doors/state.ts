/**
 * Check-in of one event: its stations, the tickets that they scanned, and what is counted of them.
 *
 * 1. It is null until the first station, so that an event without doors costs nothing.
 * 2. The scans of a ticket are merged by `merging.ts` of the client, the same at a gate and on a station's own device.
 *    Counts and conflicts are sums over tickets: a scan takes off the ticket's values from before it and adds the new
 *    ones.
 * 3. At most 50 refused scans of a ticket are kept. Further ones, and scans of no ticket of the event, are counted and
 *    recognized by their ids.
 * 4. A station is LIVE until it is revoked or expires. When it was last seen is soft state.
 * 5. A scan is undone while any UNDO of it stands, whether the scan or the UNDO arrives first: one UNDO may be undone
 *    itself, and another not.
 */
import { countRefusal, countTicket, type CountsByPerformance } from '#client/doors/counters.ts';
import { hasHappened, outcomeOf, type Given } from '#client/doors/scan.ts';
import { mergeScans, type MergedTicket } from '#client/doors/merging.ts';
import type { Reentry } from '#client/doors/verdict.ts';
import { ConflictList } from './conflict-list.ts';
import { RefusedScans } from './refused-scans.ts';
import { ScannedTickets, type TicketScans, type TicketScan } from './scanned-tickets.ts';
import type { GateFeed } from './fed-tickets.ts';
import { agreedOf, itemOfTicket, voidReasonOf, type VoidedTicket } from '../orders/order.ts';
import type { OrderState } from '../orders/state.ts';
import type { FactData } from '../fact.ts';
import type { VoidReason } from '../view.ts';

export interface DoorState extends OrderState {
  /** Null until the first station is made (rule 1). */
  doors: Doors | null;
}

/** What a station told of itself when it was last seen (rule 4). */
interface StationSeen {
  readonly at: number;
  readonly syncedAt: number | null;
  /** Scans that wait on it. */
  readonly queued: number | null;
  readonly version: string | null;
}

export interface Station extends Omit<FactData['StationAdded'], 'stationId'> {
  readonly id: string;
  readonly createdAt: number;
  revokedAt: number | null;
  seen: StationSeen | null;
}

export interface Doors {
  /** In the order of making. */
  readonly stations: Map<string, Station>;
  readonly byToken: Map<string, Station>;
  readonly tickets: ScannedTickets;
  readonly refused: RefusedScans;
  /** How often scans were undone, by id: those undone before they arrived, or more than once (rule 5). */
  readonly undone: Map<string, number>;
  readonly counts: CountsByPerformance;
  readonly conflicts: ConflictList;
  /** At which somebody was scanned. */
  readonly usedDoors: Set<string>;
  /** At a gate alone: what it knows of tickets; it has no orders. */
  feed: GateFeed | null;
  /** The rule for entering again by which tickets were merged. */
  reentry: Reentry;
  /** The minute in which minutes were dropped last. */
  prunedMinute: number;
}

export function noDoors(reentry: Reentry): Doors {
  return {
    stations: new Map(),
    byToken: new Map(),
    tickets: new ScannedTickets(),
    refused: new RefusedScans(),
    undone: new Map(),
    counts: new Map(),
    conflicts: new ConflictList(),
    usedDoors: new Set(),
    feed: null,
    reentry,
    prunedMinute: 0,
  };
}

type StationStatus = 'LIVE' | 'EXPIRED' | 'REVOKED';

export function stationStatus({ revokedAt, expiresAt }: Station, now: number): StationStatus {
  if (revokedAt !== null) return 'REVOKED';
  return expiresAt !== null && expiresAt <= now ? 'EXPIRED' : 'LIVE';
}

const KEY_LENGTH = 24;

/** Under which a ticket's scans are kept; those of another code under its digest. */
export function keyOf({ ticketId, digest }: { readonly ticketId?: string; readonly digest: number }): string {
  return ticketId === undefined ? `~${digest.toString(36)}` : ticketId.slice(-KEY_LENGTH);
}

/** Scans that let somebody in or out, undone ones too. */
export function happenedOf(scans: readonly TicketScan[]): readonly TicketScan[] {
  return scans.filter(hasHappened);
}

export function mergedOf({ scans }: Pick<TicketScans, 'scans'>, reentry: Reentry): MergedTicket<TicketScan> {
  return mergeScans(happenedOf(scans), reentry);
}

/** Whether a scan is undone (null before it arrives), and how many UNDOs wait for it or stand beside the first. */
interface Undoing {
  readonly isUndone: boolean | null;
  readonly waiting: number;
}

/** A scan after one UNDO more, or one less (rule 5). */
export function undoneAfter({ isUndone, waiting }: Undoing, change: 1 | -1): Undoing {
  if (change === 1) return isUndone === false ? { isUndone: true, waiting } : { isUndone, waiting: waiting + 1 };
  return waiting > 0 ? { isUndone, waiting: waiting - 1 } : { isUndone: isUndone === null ? null : false, waiting };
}

/** Adds the values of a ticket's entries and exits to the counts, or takes them off (rule 2). */
export function countScans(doors: Doors, number: number, ticket: TicketScans, sign: 1 | -1): void {
  const merged = mergedOf(ticket, doors.reentry);
  countTicket(doors.counts, merged, ticket.ticketTypeId, sign);
  doors.conflicts.note(number, merged.conflicts, sign);
}

/** The scans of a ticket that are kept, in the order of their arrival. */
export function scansOf({ doors }: Pick<DoorState, 'doors'>, ticketId: string): readonly TicketScan[] {
  const number = doors?.tickets.find(keyOf({ ticketId, digest: 0 })) ?? null;
  return number === null ? [] : doors!.tickets.at(number).scans;
}

/** Whether a ticket was let in once, by an entry that was not undone; it may have left since. */
export function hasEntered(state: Pick<DoorState, 'doors'>, ticketId: string): boolean {
  const scans = scansOf(state, ticketId);
  return scans.length > 0 && mergedOf({ scans }, state.doors!.reentry).admission !== null;
}

/** Counts a scan that was refused, or takes it off. */
export function countRefused(
  { counts }: Pick<Doors, 'counts'>,
  performanceId: string,
  scan: { readonly verdict: Given; readonly given: Given | null },
  sign: 1 | -1,
): void {
  const outcome = outcomeOf(scan);
  if (outcome !== 'UNDONE') countRefusal(counts, performanceId, outcome, sign);
}

/** What the check of a ticket at a door needs of its order: the ticket without the people on it. */
export interface IssuedTicket extends Pick<VoidedTicket, 'ticketTypeId' | 'performanceId' | 'seatId'> {
  readonly orderId: string;
  /** Null while it is valid. */
  readonly voided: { readonly since: number; readonly reason: VoidReason } | null;
}

/** A ticket, void ones too; null where no order has it. */
export function issuedTicket({ orders }: Pick<OrderState, 'orders'>, ticketId: string): IssuedTicket | null {
  const order = orders.byTicket.get(ticketId);
  if (order === undefined) return null;
  const { id: orderId, cancellation } = order;
  const voided = order.changed?.voidedTickets.find(({ id }) => id === ticketId);
  if (voided !== undefined) {
    const { ticketTypeId, performanceId, seatId, voidSince: since, voidReason: reason } = voided;
    return { orderId, ticketTypeId, performanceId, seatId, voided: { since, reason } };
  }
  const { items } = agreedOf(order);
  const { itemIndex, offset } = itemOfTicket(items, order.ticketIds.indexOf(ticketId));
  const { ticketTypeId, performanceId, seatIds } = items[itemIndex]!;
  const ended = cancellation && { since: cancellation.at, reason: voidReasonOf(order) };
  return { orderId, ticketTypeId, performanceId, seatId: seatIds[offset] ?? null, voided: ended };
}
