/**
 * The entries and exits of one ticket, in whatever order they arrived: where the ticket is, and what conflicts.
 *
 * 1. They are ordered by `at`, then station id, then scan id; undone ones are left out. Scans by hand have no station
 *    and come before those of stations.
 * 2. An entry of a ticket that is inside is a DOUBLE_ENTRY of the entry that let it in with this one. Where tickets
 *    enter ALWAYS there is none. One exit lets the ticket out, however often it entered.
 * 3. An entry that should have been VOID is ENTERED_VOID, one that should have been refused otherwise, by the checks or
 *    because the ticket may NEVER enter again, is ENTERED_OTHERWISE. A void double is both kinds.
 */
import type { Reentry } from './verdict.ts';

/** An entry or exit that happened. */
export interface MergedScan {
  readonly id: string;
  readonly kind: 'ENTRY' | 'EXIT';
  /** When it counts, in milliseconds. */
  readonly at: number;
  readonly stationId: string | null;
  readonly isUndone: boolean;
  /** What an entry that a station decided should have been refused for. */
  readonly unfit: 'VOID' | 'OTHERWISE' | null;
}

export interface ScanConflict<Scan> {
  readonly kind: 'DOUBLE_ENTRY' | 'ENTERED_VOID' | 'ENTERED_OTHERWISE';
  /** Null where there is but one scan. */
  readonly first: Scan | null;
  readonly second: Scan;
}

export interface MergedTicket<Scan> {
  /** In their order, without undone ones (rule 1). */
  readonly scans: readonly Scan[];
  readonly isInside: boolean;
  /** The entry that let the ticket in, or the last that had; null where it never entered. */
  readonly admission: Scan | null;
  readonly conflicts: readonly ScanConflict<Scan>[];
}

/** The order of rule 1. */
export function compareScans(one: MergedScan, other: MergedScan): number {
  return (
    one.at - other.at || compareTexts(one.stationId ?? '', other.stationId ?? '') || compareTexts(one.id, other.id)
  );
}

export function mergeScans<Scan extends MergedScan>(all: readonly Scan[], reentry: Reentry): MergedTicket<Scan> {
  const scans = all.filter(({ isUndone }) => !isUndone).sort(compareScans);
  const conflicts: ScanConflict<Scan>[] = [];
  let isInside = false;
  let admission: Scan | null = null;
  for (const scan of scans) {
    if (scan.kind === 'EXIT') {
      isInside = false;
      continue;
    }
    const isDouble = isInside && reentry !== 'ALWAYS';
    const isReturn = !isInside && admission !== null && reentry === 'NEVER';
    if (isDouble) conflicts.push({ kind: 'DOUBLE_ENTRY', first: admission, second: scan });
    if (scan.unfit === 'VOID') conflicts.push({ kind: 'ENTERED_VOID', first: null, second: scan });
    else if (scan.unfit === 'OTHERWISE' || isReturn) {
      conflicts.push({ kind: 'ENTERED_OTHERWISE', first: isReturn ? admission : null, second: scan });
    }
    if (!isInside) admission = scan;
    isInside = true;
  }
  return { scans, isInside, admission, conflicts };
}

/** Another entry of a ticket. */
interface OtherEntry {
  readonly at: number;
}

/**
 * Where a ticket is once its entry at a moment is undone, by other entries that are said to conflict with that one: a
 * later one let the ticket in then, an earlier one had let it in before. Null where there is none.
 */
export function leftByUndo<Entry extends OtherEntry>(
  at: number,
  others: readonly Entry[],
): { readonly isInside: boolean; readonly entry: Entry } | null {
  const sorted = others.toSorted((one, other) => one.at - other.at);
  const later = sorted.find((each) => each.at >= at);
  const entry = later ?? sorted.at(-1);
  return entry === undefined ? null : { isInside: later !== undefined, entry };
}

/**
 * When a scan counts that the service or a gate checks itself: at the earliest 1 ms after the last known scan of the
 * ticket. So a device's clock never makes a double entry of an exit and an entry that came in their order.
 */
export function countedAt(at: number, known: readonly Pick<MergedScan, 'at'>[]): number {
  return known.reduce((latest, scan) => Math.max(latest, scan.at + 1), at);
}

export function compareTexts(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
