/** What a station sends to `/api/doors/*` and is answered there, as far as this page reads it; times are ISO 8601. */
import type { Given, ScanKind } from '#client/doors/scan.ts';
import type { Reentry } from '#client/doors/verdict.ts';

interface TicketKey {
  readonly kid: string;
  /** The 32 bytes of the public key, base64url. */
  readonly x: string;
}

interface StationDate {
  readonly id: string;
  readonly name: string;
  readonly doors_at: string | null;
  readonly starts_at: string | null;
  readonly ends_at: string | null;
  readonly status: string;
}

interface StationDoor {
  readonly id: string;
  readonly name: string;
  /** Null for all. */
  readonly ticket_type_ids: readonly string[] | null;
}

export interface StationHead {
  readonly event: { readonly id: string; readonly name: string };
  readonly station: { readonly id: string; readonly name: string; readonly door_ids: readonly string[] | null };
  readonly keys: readonly TicketKey[];
  readonly performances: readonly StationDate[];
  readonly doors: readonly StationDoor[];
  readonly ticket_types: readonly { readonly id: string; readonly name: string }[];
  readonly reentry: Reentry;
}

/** Digest of a ticket's id, its state, since when in seconds, and the place of the door in the head's list. */
export type FeedChange = readonly [
  digest: string,
  state: 'V' | 'I' | 'W' | 'O' | 'N',
  seconds: number,
  door: number | null,
];

export interface SyncAnswer {
  readonly now: string;
  readonly cursor: string;
  readonly more: boolean;
  readonly reset: boolean;
  /** Null where it is as before. */
  readonly head: StationHead | null;
  readonly changes: readonly FeedChange[];
}

/** What is known of a scan beside its verdict; nothing about people. */
export interface ScanDetails {
  readonly ticket?: {
    readonly ticket_type_name: string;
    readonly section: string | null;
    readonly row_label: string | null;
    readonly seat_label: string | null;
    /** Where its place has no names: without the service. */
    readonly seat_id?: string | null;
  };
  readonly admitted?: {
    readonly at: string;
    readonly door_name: string;
    readonly station_name: string | null;
  } | null;
  readonly performance?: { readonly name: string; readonly starts_at: string | null };
  readonly door_ids?: readonly string[];
  readonly opens_at?: string | null;
}

export interface ScanVerdict extends ScanDetails {
  readonly id: string;
  readonly verdict: Given;
}

/** A scan as it is sent. */
export interface SentScan {
  readonly id: string;
  readonly kind: ScanKind;
  readonly code?: string;
  readonly undoes?: string;
  readonly performance_id: string;
  readonly door_id: string;
  readonly at: string;
  /** What was shown without the service; null while its answer is waited for. */
  readonly given: Given | null;
}
