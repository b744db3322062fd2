/**
 * What stations and gates send to `/api/doors` and are answered there, and what operators are told of it:
 * `npm run render` writes this file from the schemas of `src/http`. Times are RFC 3339 in UTC.
 */

import type { TicketKey } from '../bodies.ts';

export type Verdict =
  | 'ADMIT'
  | 'EXIT'
  | 'UNDONE'
  | 'ALREADY_ADMITTED'
  | 'NOT_INSIDE'
  | 'NOT_UNDOABLE'
  | 'ID_REUSED'
  | 'UNKNOWN'
  | 'FORGED'
  | 'WRONG_EVENT'
  | 'VOID'
  | 'WRONG_PERFORMANCE'
  | 'WRONG_DOOR'
  | 'NOT_YET'
  | 'OVER'
  | 'CANNOT_TELL';

export interface SentScan {
  /** Made by the station, new for each scan; a repeat has the same. */
  readonly id: string;
  readonly kind: 'ENTRY' | 'EXIT' | 'UNDO';
  /** What was read, as it was read; not with UNDO. */
  readonly code?: string | null;
  /** With UNDO alone: the scan that did not happen. */
  readonly undoes?: string | null;
  /** The date at which the station stands. */
  readonly performance_id: string;
  /** The door at which it stands. */
  readonly door_id: string;
  /** When, by the clock of the service; over a minute ahead counts as now. */
  readonly at: string;
  /** What the station has shown by itself; null while it waits for this answer. */
  readonly given?: Verdict | null;
  /** From a GATE alone: the station that scanned. */
  readonly station_id?: string | null;
  /** From a GATE alone: its own check decided, so that the scan is not offline. */
  readonly judged?: boolean;
}

export interface ScannedTicket {
  readonly ticket_type_id: string;
  readonly ticket_type_name: string;
  readonly section: string | null;
  readonly row_label: string | null;
  readonly seat_label: string | null;
  /** From a gate alone, which does not know where the seat is. */
  readonly seat_id?: string | null;
}

export interface Admission {
  readonly at: string;
  readonly door_id: string;
  readonly door_name: string;
  /** Null of an entry by hand, and where a gate does not know it. */
  readonly station_name: string | null;
  /** The station itself decided. */
  readonly offline: boolean;
}

export interface ScanResult {
  readonly id: string;
  /** CANNOT_TELL comes from a gate alone, of a code by an unknown key or without its ticket type. */
  readonly verdict: Verdict;
  /** The id was known: it is answered as the first time, and counts nothing. */
  readonly repeated: boolean;
  readonly ticket?: ScannedTicket;
  /** With ALREADY_ADMITTED: the entry that let the ticket in. */
  readonly admitted?: Admission | null;
  readonly void_reason?: string;
  /** With WRONG_PERFORMANCE: the date of the ticket. */
  readonly performance?: { readonly id: string; readonly name: string; readonly starts_at: string | null };
  /** With WRONG_DOOR: the doors that take the ticket. */
  readonly door_ids?: readonly string[];
  /** With NOT_YET and OVER. */
  readonly opens_at?: string | null;
}

export interface PairedStation {
  readonly id: string;
  readonly name: string;
  readonly kind: 'STATION' | 'GATE';
  /** Null for all. */
  readonly performance_ids: readonly string[] | null;
  /** Null for all. */
  readonly door_ids: readonly string[] | null;
  readonly expires_at: string | null;
  readonly status: 'LIVE' | 'EXPIRED' | 'REVOKED';
}

export interface StationOfGate extends PairedStation {
  readonly token_sha256: string;
}

export interface StationHead {
  readonly event: { readonly id: string; readonly name: string };
  readonly station: PairedStation;
  /** The key that signs first, then those that signed before it. */
  readonly keys: readonly TicketKey[];
  readonly performances: readonly {
    readonly id: string;
    readonly name: string;
    readonly doors_at: string | null;
    readonly starts_at: string | null;
    readonly ends_at: string | null;
    readonly status: string;
    /** Valid tickets when the head was made. */
    readonly expected: number;
  }[];
  readonly doors: readonly {
    readonly id: string;
    readonly name: string;
    /** Null for all. */
    readonly ticket_type_ids: readonly string[] | null;
  }[];
  readonly ticket_types: readonly { readonly id: string; readonly name: string }[];
  readonly reentry: 'AFTER_EXIT' | 'NEVER' | 'ALWAYS';
  /** For a GATE. */
  readonly stations?: readonly StationOfGate[];
}

export type FeedChange = readonly [string, 'V' | 'I' | 'W' | 'O' | 'N', number, number | null];

export interface StationConflict {
  /** Of the ticket, as in `changes`. */
  readonly digest: string;
  /** The entry of the station, the earlier or the later of the two. */
  readonly scan_id: string;
  /** For a GATE: the station that scanned. */
  readonly station_id?: string;
  /** When that entry counts. */
  readonly at: string;
  readonly ticket: ScannedTicket;
  /** The other entry. */
  readonly admitted: Admission;
}

export interface StationSync {
  readonly now: string;
  /** Send it as `after` of the next request. */
  readonly cursor: string;
  /** Further changes are there: ask again at once. */
  readonly more: boolean;
  /** The feed begins anew: forget what was known before. */
  readonly reset: boolean;
  /** Null where it is as at `after`. */
  readonly head: StationHead | null;
  /**
   * Each ticket once: the first 12 characters of the base64url SHA-256 of its id; V void, I inside, W void
   * and inside, O out, N none of these any more; since when, in seconds since 1970; the place of the door in
   * `doors`, or null.
   */
  readonly changes: readonly FeedChange[];
  /**
   * Entries of the station that conflict with another entry of the same ticket, of tickets in `changes`:
   * what was said of those before is over. Absent where there are none.
   */
  readonly conflicts?: readonly StationConflict[];
}

export interface Station extends PairedStation {
  /** A GATE is a machine of the hall, at which other stations scan. */
  readonly kind: 'STATION' | 'GATE';
  /** Null for all. */
  readonly performance_ids: readonly string[] | null;
  /** Null for all. */
  readonly door_ids: readonly string[] | null;
  /** Of a GATE: stations of its hall are paired at `{gate_url}/door#{token}`. */
  readonly gate_url: string | null;
  readonly created_at: string;
  /** Null where it was not seen since the service started. */
  readonly last_seen_at: string | null;
  readonly synced_at: string | null;
  /** Scans that wait on it, as it last said. */
  readonly queued: number | null;
  readonly version: string | null;
}

export interface DateCounts {
  readonly id: string;
  /** Valid tickets of the date. */
  readonly expected: number;
  /** Tickets that entered, each once, at however many doors. */
  readonly admitted: number;
  /** People let in, doubles too, less those let out. */
  readonly inside: number;
  readonly entries: number;
  readonly exits: number;
  readonly conflicts: number;
  /** How often scans were refused, by verdict. */
  readonly refused: Readonly<Record<string, number>>;
  readonly doors: readonly { readonly id: string; readonly entries: number; readonly exits: number }[];
  readonly ticket_types: readonly { readonly id: string; readonly expected: number; readonly admitted: number }[];
  /** The last 60, the oldest first; empty where nobody was scanned. */
  readonly minutes: readonly { readonly at: string; readonly entries: number; readonly exits: number }[];
}

export interface DoorCounts {
  readonly performances: readonly DateCounts[];
}
