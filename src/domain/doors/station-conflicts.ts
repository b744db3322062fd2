/**
 * The conflicts that stations are told: one of their entries with another entry of the same ticket.
 *
 * 1. Both sides are told: also the station whose entry came first.
 * 2. A gate knows only its own scans. For scans that its service has, the service's conflicts count; for later scans
 *    the gate finds conflicts itself. Where the service names an entry that was undone here, its conflicts are dropped,
 *    and the gate finds the conflicts of the ticket's other entries here itself.
 */
import type { MergedTicket } from '#client/doors/merging.ts';
import { issuedTicket, mergedOf, type DoorState } from './state.ts';
import { viewScan, viewTicket } from './results.ts';
import { ticketIdOf } from './view.ts';
import type { FedTicket } from './fed-tickets.ts';
import type { StationConflict } from '../recorded-scan.ts';
import type { TicketScan, TicketScans } from './scanned-tickets.ts';

/** Those of a ticket as it was merged; `isNews`: one of both entries is such a one. */
export function stationConflicts(
  state: DoorState,
  ticket: TicketScans,
  { conflicts }: Pick<MergedTicket<TicketScan>, 'conflicts'>,
  isNews: (entry: TicketScan) => boolean = () => true,
): readonly StationConflict[] {
  const sides = conflicts.flatMap(({ first, second }) => {
    if (first === null || !(isNews(first) || isNews(second))) return [];
    return [[first, second] as const, [second, first] as const];
  });
  if (sides.length === 0) return [];
  const ticketId = ticketIdOf(state, ticket);
  const issued = ticketId === null ? null : issuedTicket(state, ticketId);
  const shown = viewTicket(state, issued ?? { ticketTypeId: ticket.ticketTypeId ?? '', seatId: null });
  // Nothing is told of an entry by hand: it has no station.
  return sides.flatMap(([{ id: scanId, stationId, at }, other]) =>
    stationId === null ? [] : [{ scanId, stationId, at, ticket: shown, admitted: viewScan(state, other) }],
  );
}

/** Those of a ticket at a gate (rule 2). */
export function stationConflictsAtGate(
  state: DoorState,
  { digest, told = [], ...row }: FedTicket,
): readonly StationConflict[] {
  const { feed, tickets, reentry } = state.doors!;
  const number = feed!.scanned.get(digest);
  if (number === undefined) return told;
  const ticket = tickets.at(number);
  const undone = ticket.scans.filter(({ isUndone }) => isUndone);
  const left = told.filter(({ scanId, admitted }) => {
    return !undone.some(({ id, at, doorId }) => id === scanId || (at === admitted.at && doorId === admitted.doorId));
  });
  const { includesUntil = 0 } = row;
  const isOlder = left.length < told.length;
  const merged = mergedOf(ticket, reentry);
  const own = stationConflicts(state, ticket, merged, ({ receivedAt }) => isOlder || receivedAt > includesUntil);
  return [...left, ...own.filter((each) => !isAmong(each, left))];
}

/** Whether stations are told the same of a ticket at a gate, apart from how it is shown. */
export function isToldAlike(state: DoorState, one: FedTicket, other: FedTicket): boolean {
  const [before, after] = [stationConflictsAtGate(state, one), stationConflictsAtGate(state, other)];
  return before.length === after.length && before.every((each) => isAmong(each, after));
}

function isAmong({ scanId, admitted }: StationConflict, all: readonly StationConflict[]): boolean {
  return all.some((each) => each.scanId === scanId && each.admitted.at === admitted.at);
}
