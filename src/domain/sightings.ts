/** When those who wait in a room were last seen: soft state that an event which falls asleep leaves to its next awakening. */
import { findEntry, lastSeen, noteSeen } from './queue-entries.ts';
import type { QueueOffice } from './room.ts';

export interface Sighting {
  readonly entryId: string;
  readonly seenAt: number;
}

/** Everybody who waits, the one who was silent longest first; null when they are more than `sightingsMax`. */
export function sightingsOf(office: QueueOffice, sightingsMax: number): readonly Sighting[] | null {
  const entries = office.waitingRoom?.entries;
  if (entries === undefined) return [];
  if (entries.waitingCount > sightingsMax) return null;
  const sightings: Sighting[] = [];
  for (let entry = entries.silent; entry !== null; entry = entry.seenAfter) {
    sightings.push({ entryId: entry.id, seenAt: lastSeen(entries, entry) });
  }
  return sightings;
}

/** Takes up what `sightingsOf` gave of the same state. */
export function recallSightings(office: QueueOffice, sightings: readonly Sighting[]): void {
  const entries = office.waitingRoom?.entries;
  if (entries === undefined) return;
  for (const { entryId, seenAt } of sightings) {
    const entry = findEntry(entries, entryId);
    if (entry?.status === 'WAITING') noteSeen(entries, entry, seenAt);
  }
}
