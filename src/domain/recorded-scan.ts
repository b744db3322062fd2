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
