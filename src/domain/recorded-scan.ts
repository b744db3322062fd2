/** What facts say of scans at doors: a part of the storage format, by the rules of `fact.ts`. */
import type { Given, ScanKind, Verdict } from '#client/doors/scan.ts';

/** What a station is: a device that scans, or a hall's own machine that other stations scan at. */
export type StationKind = 'STATION' | 'GATE';

/** A scan as it is kept. One that is kept by its id alone has no moment. */
export interface RecordedScan {
  readonly id: string;
  readonly kind: ScanKind;
  readonly performanceId: string;
  readonly doorId: string;
  readonly verdict: Verdict;
  /** What the station decided by itself. */
  readonly given?: Given;
  /** Of what was read, keyed. */
  readonly digest: number;
  /** When it counts. */
  readonly at?: number;
  /** Absent where the code is of no ticket of the event. */
  readonly ticketId?: string;
  readonly ticketTypeId?: string;
  /** The date of the ticket, where it is not the scan's. */
  readonly ofPerformanceId?: string;
  /** Of an entry that a station decided: what it should have been refused for. */
  readonly unfit?: 'VOID' | 'OTHERWISE';
  /** The scan that it undoes. */
  readonly undoes?: string;
  /** A gate decided, not a station without a network. */
  readonly isOfGate?: true;
  /** Where a gate sends the scan of another station. */
  readonly stationId?: string;
  /** It was recorded before, and is this from now on. */
  readonly isAgain?: true;
}

// ── what became of it ────────────────────────────────────────────────────────────────────────────────────────────────

/** Why a ticket is void. */
export type VoidReason = 'ORDER_CANCELLED' | 'PERFORMANCE_CANCELLED' | 'TICKET_CANCELLED' | 'REPLACED';

/** What a door shows of a ticket: nothing about its order or its people. */
export interface ScannedTicketView {
  readonly ticketTypeId: string;
  readonly ticketTypeName: string;
  readonly section: string | null;
  readonly rowLabel: string | null;
  readonly seatLabel: string | null;
}

/** An entry or exit as it is shown beside another. */
export interface ScanView {
  readonly scanId: string;
  readonly at: number;
  readonly receivedAt: number;
  readonly doorId: string;
  readonly doorName: string;
  /** Null of a scan by hand. */
  readonly stationId: string | null;
  readonly stationName: string | null;
  /** The station itself decided. */
  readonly offline: boolean;
}

/** What became of a scan. */
export interface ScanResult {
  readonly id: string;
  readonly verdict: Verdict;
  readonly repeated: boolean;
  /** Of a ticket of the event. */
  readonly ticket?: ScannedTicketView;
  /** Of one that is ALREADY_ADMITTED; null where that entry was taken back since. */
  readonly admitted?: ScanView | null;
  readonly voidReason?: VoidReason;
  /** The date that the ticket is for. */
  readonly performance?: { readonly id: string; readonly name: string; readonly startsAt: number | null };
  /** The doors that take it. */
  readonly doorIds?: readonly string[];
  readonly opensAt?: number | null;
}
