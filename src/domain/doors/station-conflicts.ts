/**
 * What stations are told of entries of theirs that conflict with another entry of the same ticket.
 *
 * 1. Both sides are told: also the station whose entry came first.
 * 2. A gate knows only the scans that were made at it. Of those that its service has, the service's word counts; what
 *    came later the gate finds itself. Where that word names an entry that was undone here, nothing is left of it about
 *    that entry, and what the ticket's other entries here come to the gate finds itself.
 */
import { issuedTicket } from './issued-tickets.ts';
import { viewScan, viewTicket } from './results.ts';
import { mergedOf, type DoorState } from './state.ts';
import { ticketIdOf } from './view.ts';
import type { FedTicket } from './fed-tickets.ts';
import type { StationConflict } from '../recorded-scan.ts';
import type { TicketScan, TicketScans } from './scanned-tickets.ts';

/** Those of a ticket; `isNews`: one of both entries is such a one. */
export function stationConflicts(
  state: DoorState,
  ticket: TicketScans,
  isNews: (entry: TicketScan) => boolean = () => true,
): readonly StationConflict[] {
  if (ticket.scans.length < 2) return [];
  const { conflicts } = mergedOf(ticket, state.doors!.reentry);
  return conflicts.flatMap(({ first, second }) => {
    if (first === null || !(isNews(first) || isNews(second))) return [];
    return [...sideOf(state, ticket, first, second), ...sideOf(state, ticket, second, first)];
  });
}

/** What the station of an entry is told; nothing of one by hand. */
function sideOf(
  state: DoorState,
  ticket: TicketScans,
  { id: scanId, stationId, at }: TicketScan,
  other: TicketScan,
): readonly StationConflict[] {
  if (stationId === null) return [];
  const ticketId = ticketIdOf(state, ticket);
  const issued = ticketId === null ? null : issuedTicket(state, ticketId);
  const shown = viewTicket(state, issued ?? { ticketTypeId: ticket.ticketTypeId ?? '', seatId: null });
  return [{ scanId, stationId, at, ticket: shown, admitted: viewScan(state, other) }];
}

/** Those of a ticket at a gate (rule 2). */
export function stationConflictsAtGate(
  state: DoorState,
  { digest, told = [], ...row }: FedTicket,
): readonly StationConflict[] {
  const { feed, tickets } = state.doors!;
  const number = feed!.scanned.get(digest);
  if (number === undefined) return told;
  const ticket = tickets.at(number);
  const undone = ticket.scans.filter(({ isUndone }) => isUndone);
  const left = told.filter(({ scanId, admitted }) => {
    return !undone.some(({ id, at, doorId }) => id === scanId || (at === admitted.at && doorId === admitted.doorId));
  });
  const { includesUntil = 0 } = row;
  const isOlder = left.length < told.length;
  const own = stationConflicts(state, ticket, ({ receivedAt }) => isOlder || receivedAt > includesUntil);
  const isTold = ({ scanId, admitted }: StationConflict): boolean =>
    left.some((each) => each.scanId === scanId && each.admitted.at === admitted.at);
  return [...left, ...own.filter((each) => !isTold(each))];
}
