/**
 * The verdict of a scan, from plain data: the same at the service, at a gate and at a station without a network.
 *
 * 1. The checks of an entry run in this order: UNKNOWN, FORGED, WRONG_EVENT, no such ticket, VOID, WRONG_PERFORMANCE,
 *    WRONG_DOOR, NOT_YET, OVER, ALREADY_ADMITTED.
 * 2. An exit asks only for a ticket of the event that is inside; it may be void.
 * 3. Entry is open from the date's `doors_at` to its `ends_at`, both included; a bound that is null does not hold.
 * 4. Whoever cannot decide a check cannot decide the verdict, whatever the later checks would say.
 */
import { NO_TICKET, type Given, type UNFIT } from './scan.ts';

/** A ticket of the event, as far as it is known. */
export interface ScannedTicket {
  readonly performanceId: string;
  /** Null where it is not known: an older code without a network. */
  readonly ticketTypeId: string | null;
  readonly isVoid: boolean;
}

/** What was found behind a code: a ticket of the event, or why there is none. */
export type ScanFinding = ScannedTicket | (typeof NO_TICKET)[number] | 'CANNOT_TELL';

/** Whether a ticket enters again. */
export type Reentry = 'AFTER_EXIT' | 'NEVER' | 'ALWAYS';

/** Where a station stands; times in milliseconds. */
export interface Entrance {
  readonly performanceId: string;
  readonly doorsAt: number | null;
  readonly endsAt: number | null;
  /** The ticket types that its door takes; null for all. */
  readonly ticketTypeIds: readonly string[] | null;
}

/** Where a ticket is, by the scans that are known. */
export interface Presence {
  readonly isInside: boolean;
  readonly hasEntered: boolean;
}

/** Why an entry is refused, or would have to be, whoever is inside; null where it is not. */
export function unfitFor(
  ticket: ScannedTicket,
  entrance: Entrance,
  at: number,
): (typeof UNFIT)[number] | 'CANNOT_TELL' | null {
  const { performanceId, doorsAt, endsAt, ticketTypeIds } = entrance;
  if (ticket.isVoid) return 'VOID';
  if (ticket.performanceId !== performanceId) return 'WRONG_PERFORMANCE';
  if (ticketTypeIds !== null) {
    if (ticket.ticketTypeId === null) return 'CANNOT_TELL';
    if (!ticketTypeIds.includes(ticket.ticketTypeId)) return 'WRONG_DOOR';
  }
  if (doorsAt !== null && at < doorsAt) return 'NOT_YET';
  if (endsAt !== null && at > endsAt) return 'OVER';
  return null;
}

/** The verdict of an entry (rule 1). */
export function verdictOfEntry(
  finding: ScanFinding,
  entrance: Entrance,
  at: number,
  { isInside, hasEntered }: Presence,
  reentry: Reentry,
): Given {
  if (typeof finding === 'string') return finding;
  const unfit = unfitFor(finding, entrance, at);
  if (unfit !== null) return unfit;
  const isRefused = reentry === 'NEVER' ? hasEntered : reentry === 'AFTER_EXIT' && isInside;
  return isRefused ? 'ALREADY_ADMITTED' : 'ADMIT';
}

/** The verdict of an exit (rule 2). */
export function verdictOfExit(finding: ScanFinding, { isInside }: Presence): Given {
  if (typeof finding === 'string') return finding;
  return isInside ? 'EXIT' : 'NOT_INSIDE';
}

const UNDOABLE_MS = 10 * 60_000;

/** An ADMIT or EXIT, by verdict or by `given`, that a scan would undo. */
interface UndoneScan {
  readonly at: number;
  readonly stationId: string | null;
  readonly isUndone: boolean;
}

/** The verdict of an UNDO of what has the id that it names; null where nothing has. Operators have no ten minutes. */
export function verdictOfUndo(
  undo: { readonly at: number; readonly stationId: string | null },
  undone: UndoneScan | null,
): Extract<Given, 'UNDONE' | 'NOT_UNDOABLE'> {
  if (undone === null || undone.isUndone) return 'NOT_UNDOABLE';
  const isByHand = undo.stationId === null;
  const isOwn = undone.stationId === undo.stationId && undo.at - undone.at <= UNDOABLE_MS;
  return isByHand || isOwn ? 'UNDONE' : 'NOT_UNDOABLE';
}
