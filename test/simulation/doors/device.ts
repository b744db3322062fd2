/**
 * A device at a door, as the contract describes it: a clock that is wrong, a queue that a scan leaves only when it was
 * answered with all that the device had decided, and what it knows without a network.
 *
 * 1. What it has shown is its book. At the end the counters must say what the books of all devices say.
 * 2. Paired anew it has another token and keeps its queue.
 */
import type { Chance } from '../chance.ts';
import type { SentScan } from './model.ts';
import type { SyncView } from '#domain/view.ts';

export interface DeviceStation {
  readonly id: string;
  readonly tokenSha256: string;
  readonly performanceIds: readonly string[] | null;
  readonly doorIds: readonly string[] | null;
  readonly kind: 'STATION' | 'GATE';
}

/** What was shown of a scan. */
interface BookedScan {
  readonly scan: SentScan;
  readonly outcome: string;
}

const OUTCOMES = {
  ENTRY: { ADMIT: 14, ALREADY_ADMITTED: 2, VOID: 1, WRONG_DOOR: 0.5, NOT_YET: 0.3, UNKNOWN: 0.2, CANNOT_TELL: 1 },
  EXIT: { EXIT: 10, NOT_INSIDE: 1, CANNOT_TELL: 0.5 },
  UNDO: { UNDONE: 8, NOT_UNDOABLE: 1 },
} as const;

export class Device {
  station: DeviceStation;
  isRevoked = false;
  /** It has no network until then. */
  offlineUntil = 0;
  readonly clockOffMs: number;
  /** By id, what waits for an answer. */
  readonly queue = new Map<string, SentScan>();
  readonly book = new Map<string, BookedScan>();
  /** By digest. */
  readonly feed = new Map<string, string>();
  /** By digest, what it is told of conflicts of entries of its own: that entry, and the other. */
  readonly told = new Map<string, readonly string[]>();
  cursor: string | null = null;
  readonly #chance: Chance;

  constructor(station: DeviceStation, chance: Chance, clockOffMs: number) {
    this.station = station;
    this.#chance = chance;
    this.clockOffMs = clockOffMs;
  }

  /** Rule 2. */
  pair(station: DeviceStation): void {
    this.station = station;
    this.isRevoked = false;
    this.cursor = null;
  }

  /** Decides by itself and shows it: whatever it decides, it happened. */
  decide(scan: SentScan): void {
    const given: string = this.#chance.weighted<string>(OUTCOMES[scan.kind]);
    this.queue.set(scan.id, { ...scan, given });
    this.#show({ ...scan, given }, given);
  }

  /** The answer to a scan as it was sent. */
  take(sent: SentScan, verdict: string): void {
    const waiting = this.queue.get(sent.id);
    if (waiting === undefined || waiting.given !== sent.given) return;
    this.queue.delete(sent.id);
    this.#show(waiting, waiting.given ?? verdict);
  }

  #show(scan: SentScan, outcome: string): void {
    if (!this.book.has(scan.id)) this.book.set(scan.id, { scan, outcome });
  }

  /** An answer to what was asked with an older cursor changes nothing. */
  sync(after: string | null, { reset, cursor, changes, conflicts = [] }: SyncView): void {
    if (after !== this.cursor) return;
    if (reset) this.feed.clear();
    if (reset) this.told.clear();
    for (const [digest, state] of changes) {
      this.feed.set(digest, state);
      const found = conflicts.filter((each) => each.digest === digest);
      this.told.set(
        digest,
        found.map(({ scanId, admitted }) => `${scanId} ${admitted.scanId}`),
      );
    }
    this.cursor = cursor;
  }
}
