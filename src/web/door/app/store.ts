/**
 * What lies on the device: token, feed and queue, and nothing about people. What belongs together is changed at once: a
 * feed with its cursor, an answered scan with what it says about its ticket.
 */
import type { FeedChange, SentScan, StationHead, Verdict } from '#client/doors/wire.ts';
import type { DoorChoice } from './check.ts';
import type { KnownConflicts } from './conflicts.ts';

/** A scan until an answer names its id. */
export interface QueuedScan extends SentScan {
  readonly code?: string;
  readonly undoes?: string;
  readonly given: Verdict | null;
  /** What the service refused it for; such a scan stays listed and is not sent again by itself. */
  readonly refused?: { readonly status: number; readonly code: string };
}

export interface StationRecord extends KnownConflicts {
  readonly token: string | null;
  readonly isRevoked: boolean;
  readonly choice: DoorChoice | null;
  readonly cursor: string | null;
  /** When the last whole sync came, by the service's clock; null before the first. */
  readonly syncedAt: number | null;
  /** How far the service's clock is ahead of the device's, in milliseconds. */
  readonly aheadMs: number;
}

export const UNPAIRED: StationRecord = {
  token: null,
  isRevoked: false,
  choice: null,
  cursor: null,
  syncedAt: null,
  aheadMs: 0,
};

export interface StoredStation {
  readonly record: StationRecord;
  readonly head: StationHead | null;
  readonly changes: readonly FeedChange[];
  readonly scans: readonly QueuedScan[];
}

interface StoredChanges {
  readonly record?: StationRecord;
  /** Null removes it. */
  readonly head?: StationHead | null;
  /** Whether the feed begins anew before `changes`. */
  readonly reset?: boolean;
  readonly changes?: readonly FeedChange[];
  readonly put?: readonly QueuedScan[];
  /** Ids of scans that leave the queue. */
  readonly remove?: readonly string[];
}

export interface StationStore {
  read(): Promise<StoredStation>;
  /** Resolves when the change is on the device. */
  write(changes: StoredChanges): Promise<void>;
}
