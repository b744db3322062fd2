/**
 * What is counted of a date's scans. Each number is a sum over tickets of what their merged scans come to, so it is the
 * same in whatever order they arrived: what a ticket came to before a scan is taken off, what it comes to now is added.
 *
 * 1. A scan counts at the date and door where its station stands, and in the minute of its `at`.
 * 2. `admitted` counts a ticket once at each date where it entered. People inside are entries less exits.
 * 3. Minutes are kept for the last hour; older ones are never shown.
 */
import type { Given } from './scan.ts';
import type { MergedScan, MergedTicket, ScanConflict } from './merging.ts';

export interface CountedScan extends MergedScan {
  readonly performanceId: string;
  readonly doorId: string;
}

interface InAndOut {
  entries: number;
  exits: number;
}

interface DoorCounts extends InAndOut {
  admitted: number;
  readonly conflicts: Map<ScanConflict<MergedScan>['kind'], number>;
  readonly refused: Map<Given, number>;
  readonly byDoor: Map<string, InAndOut>;
  readonly admittedByType: Map<string, number>;
  /** By the minute since 1970. */
  readonly byMinute: Map<number, InAndOut>;
}

/** Counts by date. */
export type CountsByPerformance = Map<string, DoorCounts>;

export const MINUTE_MS = 60_000;
export const MINUTES_SHOWN = 60;

export function countsOf(counts: CountsByPerformance, performanceId: string): DoorCounts {
  return getOrAdd(counts, performanceId, () => ({
    entries: 0,
    exits: 0,
    admitted: 0,
    conflicts: new Map(),
    refused: new Map(),
    byDoor: new Map(),
    admittedByType: new Map(),
    byMinute: new Map(),
  }));
}

/** Adds the counts of a ticket's scans, or subtracts them (`sign` -1). */
export function countTicket(
  counts: CountsByPerformance,
  { scans, conflicts }: MergedTicket<CountedScan>,
  ticketTypeId: string | null,
  sign: 1 | -1,
): void {
  const entered = new Set<string>();
  for (const { kind, at, performanceId, doorId } of scans) {
    const ofPerformance = countsOf(counts, performanceId);
    const door = getOrAdd(ofPerformance.byDoor, doorId, nobody);
    const minute = getOrAdd(ofPerformance.byMinute, Math.floor(at / MINUTE_MS), nobody);
    const name = kind === 'ENTRY' ? 'entries' : 'exits';
    for (const each of [ofPerformance, door, minute]) each[name] += sign;
    if (kind === 'ENTRY') entered.add(performanceId);
  }
  for (const performanceId of ticketTypeId === null ? [] : entered) {
    const ofPerformance = countsOf(counts, performanceId);
    ofPerformance.admitted += sign;
    addTo(ofPerformance.admittedByType, ticketTypeId!, sign);
  }
  for (const { kind, second } of conflicts) addTo(countsOf(counts, second.performanceId).conflicts, kind, sign);
}

/** Counts so many refusals, or takes them off. */
export function countRefusal(counts: CountsByPerformance, performanceId: string, outcome: Given, change: number): void {
  addTo(countsOf(counts, performanceId).refused, outcome, change);
}

/** Forgets minutes that are not shown any more (rule 3). */
export function dropOldMinutes(counts: CountsByPerformance, now: number): void {
  const first = Math.floor(now / MINUTE_MS) - MINUTES_SHOWN;
  for (const { byMinute } of counts.values()) {
    for (const minute of byMinute.keys()) if (minute < first) byMinute.delete(minute);
  }
}

const nobody = (): InAndOut => ({ entries: 0, exits: 0 });

function addTo<Key>(counts: Map<Key, number>, key: Key, change: number): void {
  const count = (counts.get(key) ?? 0) + change;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

function getOrAdd<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
