/**
 * When those who wait were last seen, and who of them is stale.
 *
 * 1. A WAITING entry that was not seen for waiting_room_inactivity_seconds is stale: from that millisecond on it reads
 *    EXPIRED.
 * 2. Last seen is soft state: in no fact and no snapshot. It is noted after the command is decided, and no decision of
 *    the same turn depends on it. An event that is evicted leaves it to its next activation.
 */
import { findEntry, findLiveEntry, lastSeen, noteSeen, type QueueEntry } from './queue-entries.ts';
import type { Command } from '../command.ts';
import type { WaitingRoomState } from './state.ts';
import type { WaitingRoom } from './state.ts';

/** From when on an entry that waits is stale (rule 1). */
export function staleFrom(state: WaitingRoomState, { entries }: WaitingRoom, entry: QueueEntry): number {
  return lastSeen(entries, entry) + Math.round(state.plan.definition.waitingRoomInactivitySeconds * 1000);
}

export function isStale(state: WaitingRoomState, room: WaitingRoom, entry: QueueEntry, now: number): boolean {
  return entry.status === 'WAITING' && staleFrom(state, room, entry) <= now;
}

/** Notes that whoever polls or joins again is still there, unless the entry is stale already. Constant time. */
export function noteEntrySeen(state: WaitingRoomState, command: Command, now: number): void {
  const room = state.waitingRoom;
  if (room === null || (command.type !== 'PollQueue' && command.type !== 'JoinQueue')) return;
  const { entries } = room;
  const entry =
    command.type === 'PollQueue' ? findEntry(entries, command.entryId) : findLiveEntry(entries, command.sessionKey);
  if (entry?.status !== 'WAITING' || entry.sessionKey !== command.sessionKey) return;
  if (!isStale(state, room, entry, now)) noteSeen(entries, entry, now);
}

/** Counts everybody who waits as just seen, where last-seen times are not known. Constant time. */
export function markEverybodySeen({ waitingRoom }: WaitingRoomState, now: number): void {
  if (waitingRoom !== null) waitingRoom.entries.presumedSeenAt = now;
}

export interface LastSeen {
  readonly entryId: string;
  readonly seenAt: number;
}

/** Everybody who waits, the least recently seen first; null when they are more than `lastSeenMax`. */
export function lastSeenTimes({ waitingRoom }: WaitingRoomState, lastSeenMax: number): readonly LastSeen[] | null {
  if (waitingRoom === null) return [];
  const { entries } = waitingRoom;
  if (entries.waitingCount > lastSeenMax) return null;
  const times: LastSeen[] = [];
  for (let entry = entries.leastRecentlySeen; entry !== null; entry = entry.seenAfter) {
    times.push({ entryId: entry.id, seenAt: lastSeen(entries, entry) });
  }
  return times;
}

/** Restores the times that `lastSeenTimes` gave of the same state. */
export function restoreLastSeen({ waitingRoom }: WaitingRoomState, times: readonly LastSeen[]): void {
  if (waitingRoom === null) return;
  const { entries } = waitingRoom;
  for (const { entryId, seenAt } of times) {
    const entry = findEntry(entries, entryId);
    if (entry?.status === 'WAITING') noteSeen(entries, entry, seenAt);
  }
}
