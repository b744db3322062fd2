/** When those who wait in a room were last seen: soft state that an event which falls asleep leaves to its next awakening. */
import { findEntry, lastSeen, noteSeen } from './queue-entries.ts';
import type { EventState } from '../event-state.ts';

export interface LastSeen {
  readonly entryId: string;
  readonly seenAt: number;
}

/** Everybody who waits, the one who was silent longest first; null when they are more than `lastSeenMax`. */
export function lastSeenTimes(state: EventState, lastSeenMax: number): readonly LastSeen[] | null {
  const entries = state.waitingRoom?.entries;
  if (entries === undefined) return [];
  if (entries.waitingCount > lastSeenMax) return null;
  const sightings: LastSeen[] = [];
  for (let entry = entries.silent; entry !== null; entry = entry.seenAfter) {
    sightings.push({ entryId: entry.id, seenAt: lastSeen(entries, entry) });
  }
  return sightings;
}

/** Takes up what `lastSeenTimes` gave of the same state. */
export function restoreLastSeen(state: EventState, sightings: readonly LastSeen[]): void {
  const entries = state.waitingRoom?.entries;
  if (entries === undefined) return;
  for (const { entryId, seenAt } of sightings) {
    const entry = findEntry(entries, entryId);
    if (entry?.status === 'WAITING') noteSeen(entries, entry, seenAt);
  }
}
