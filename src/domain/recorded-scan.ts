/** What facts say of scans at doors: a part of the storage format, by the rules of `fact.ts`. */
import type { Given, ScanKind } from '#client/doors/scan.ts';

/** The kind of a station: a device that scans, or a machine in the hall to which other stations send their scans. */
export type StationKind = 'STATION' | 'GATE';

/** A scan as it is kept. One that is kept by its id alone has no moment. */
export interface RecordedScan {
  readonly id: string;
  readonly kind: ScanKind;
  readonly performanceId: string;
  readonly doorId: string;
  readonly verdict: Given;
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
  /** For an entry that a station decided: why it should have been refused. */
  readonly unfit?: 'VOID' | 'OTHERWISE';
  /** The scan that it undoes. */
  readonly undoes?: string;
  /** A gate decided, not a station without a network. */
  readonly isOfGate?: true;
  /** Where a gate sends the scan of another station. */
  readonly stationId?: string;
  /** The scan was recorded before; this record replaces the earlier one. */
  readonly isAgain?: true;
  /**
   * At a gate: further data of the scan for its service. It has no code where the text that was read is no ticket code.
   */
  readonly upstream?: { readonly at: number; readonly code?: string };
}

/** V: void, I: inside, W: void and inside, O: out, N: none of these any more. */
export type TicketPresence = 'V' | 'I' | 'W' | 'O' | 'N';

/**
 * A ticket by its digest, its state, since when in milliseconds, the id of the door and, where there are any, the
 * conflicts that stations are told.
 */
export type FedChange = readonly [
  digest: string,
  state: TicketPresence,
  at: number,
  doorId: string | null,
  conflicts?: readonly StationConflict[],
];

/** A public key of codes, as a JWK. */
export interface FeedKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
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
  /** At a gate alone, which does not know where the seat is. */
  readonly seatId?: string | null;
}

/** An entry as it is shown to a station. */
export interface Admission {
  /** Absent at a gate of one that was made elsewhere. */
  readonly scanId?: string;
  readonly at: number;
  readonly doorId: string;
  readonly doorName: string;
  /** Null of a scan by hand, and at a gate of one that was made elsewhere. */
  readonly stationName: string | null;
  /** The station itself decided. */
  readonly offline: boolean;
}

/** An entry of a station, and another one of its ticket with which it conflicts. */
export interface StationConflict {
  readonly scanId: string;
  readonly stationId: string;
  readonly at: number;
  readonly ticket: ScannedTicketView;
  readonly admitted: Admission;
}

/** An entry or exit as it is shown beside another. */
export interface ScanView extends Admission {
  readonly scanId: string;
  readonly receivedAt: number;
  /** Null of a scan by hand. */
  readonly stationId: string | null;
}

/** What became of a scan. */
export interface ScanResult {
  readonly id: string;
  readonly verdict: Given;
  readonly repeated: boolean;
  /** Of a ticket of the event. */
  readonly ticket?: ScannedTicketView;
  /** For an ALREADY_ADMITTED scan: the entry that caused it; null at a gate that does not know where it was. */
  readonly admitted?: Admission | null;
  readonly voidReason?: VoidReason;
  /** The date that the ticket is for. */
  readonly performance?: { readonly id: string; readonly name: string; readonly startsAt: number | null };
  /** The doors that take it. */
  readonly doorIds?: readonly string[];
  readonly opensAt?: number | null;
}
