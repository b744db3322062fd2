/**
 * The entries of a waiting room: the status of each, and the indexes over them.
 *
 * 1. Every entry is in exactly one place: WAITING among the positions (or in the pool of a draw under way), ADMITTED
 *    among the passes, EXPIRED or LEFT among those that ended.
 * 2. A session has at most one live entry.
 * 3. When an entry was last seen is soft state. WAITING entries are linked in the order in which they were last seen,
 *    so that the least recently seen one is found at once; a poll moves its entry to the end.
 * 4. How an entry ended is kept for two hours (`ended-records.ts`, 36 bytes each), however many end.
 */
import { follow } from '#machines/compile.ts';
import { queueEntryTransitions, type QueueEntryStatus, type QueueEntryTrigger } from '#machines/queue-entry.ts';
import { invariant } from '../invariant.ts';
import { EndedRecords, type EndedRecord } from '../collections/ended-records.ts';
import { append, createQueuePositions, vacate, type QueuePositions } from './queue-positions.ts';
import { ShardedMap } from '../collections/maps.ts';

/** Snapshots keep the index of a name: add new names at the end. */
const ENDED_STATUSES = ['EXPIRED', 'LEFT'] as const;

type EndedStatus = (typeof ENDED_STATUSES)[number];

export interface QueuePass {
  readonly admittedAt: number;
  readonly expiresAt: number;
  /** An order was placed with it by a request that named no session key; a second one of that kind is refused. */
  readonly spentWithoutKey?: true;
}

export interface QueueEntry {
  readonly id: string;
  readonly sessionKey: string;
  status: QueueEntryStatus;
  /** Its slot among the positions, or in the pool of the draw. */
  slot: number;
  /** Null until it is admitted; kept when the pass has ended. */
  pass: QueuePass | null;
  /** Soft (rule 3). */
  seenAt: number;
  seenBefore: QueueEntry | null;
  seenAfter: QueueEntry | null;
}

export interface QueueEntries {
  readonly byId: ShardedMap<QueueEntry>;
  readonly liveBySession: ShardedMap<QueueEntry>;
  /** Who waits, in order; before the draw in the order of arrival, which has no influence on the draw. */
  positions: QueuePositions<QueueEntry>;
  /** In the order of admission. */
  readonly passes: Set<QueueEntry>;
  readonly ended: EndedRecords<EndedStatus>;
  /** The ends of the list of WAITING entries (rule 3). */
  leastRecentlySeen: QueueEntry | null;
  mostRecentlySeen: QueueEntry | null;
  waitingCount: number;
  /** Everybody who waits counts as seen at this moment at least. Soft (rule 3). */
  presumedSeenAt: number;
  /** How many ever joined. */
  joinedCount: number;
}

export function noEntries(): QueueEntries {
  return {
    byId: new ShardedMap(),
    liveBySession: new ShardedMap(),
    positions: createQueuePositions(),
    passes: new Set(),
    ended: new EndedRecords(ENDED_STATUSES, 2),
    leastRecentlySeen: null,
    mostRecentlySeen: null,
    waitingCount: 0,
    presumedSeenAt: 0,
    joinedCount: 0,
  };
}

// ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export function findEntry(entries: QueueEntries, entryId: string): QueueEntry | undefined {
  return entries.byId.get(entryId);
}

/** Reads of many entries what their polls will read (`ShardedMap.readAhead`). */
export function readEntriesAhead({ byId }: QueueEntries, entryIds: readonly string[]): number {
  return byId.readAhead(entryIds, ({ slot, sessionKey }) => slot + sessionKey.length);
}

/** An entry that ended, to be read only; none where the key is not its session's. */
export function findEndedEntry(entries: QueueEntries, entryId: string, sessionKey: string): QueueEntry | undefined {
  const found = entries.ended.find(entryId, sessionKey);
  if (found === null) return undefined;
  const [admittedAt = NaN, expiresAt = NaN] = found.times;
  const entry = newEntry(entryId, sessionKey, 0);
  entry.status = found.status;
  entry.pass = Number.isNaN(admittedAt) ? null : { admittedAt, expiresAt };
  return entry;
}

/** The session's WAITING or ADMITTED entry. */
export function findLiveEntry(entries: QueueEntries, sessionKey: string): QueueEntry | undefined {
  return entries.liveBySession.get(sessionKey);
}

/** An entry that a fact names. */
export function entryOf(entries: QueueEntries, entryId: string): QueueEntry {
  const entry = findEntry(entries, entryId);
  invariant(entry !== undefined, 'a queue entry that a fact names exists');
  return entry;
}

/** When somebody who waits was last seen. */
export function lastSeen(entries: QueueEntries, entry: QueueEntry): number {
  return Math.max(entry.seenAt, entries.presumedSeenAt);
}

// ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Adds an entry that waits, at the back. */
export function addWaiting(entries: QueueEntries, id: string, sessionKey: string, at: number): QueueEntry {
  const entry = newEntry(id, sessionKey, at);
  entry.slot = append(entries.positions, entry);
  indexWaiting(entries, entry);
  entries.joinedCount += 1;
  return entry;
}

/** A new entry without a slot. */
export function newEntry(id: string, sessionKey: string, seenAt: number): QueueEntry {
  return {
    id,
    sessionKey,
    status: queueEntryTransitions.initial,
    slot: -1,
    pass: null,
    seenAt,
    seenBefore: null,
    seenAfter: null,
  };
}

/** Enters an entry that waits, and has its slot, into the indexes. */
export function indexWaiting(entries: QueueEntries, entry: QueueEntry): void {
  invariant(!entries.liveBySession.has(entry.sessionKey), 'a session has at most one live queue entry (rule 2)');
  entries.byId.set(entry.id, entry);
  entries.liveBySession.set(entry.sessionKey, entry);
  linkLast(entries, entry);
}

/** Somebody who waits was seen. Soft (rule 3). Constant time. */
export function noteSeen(entries: QueueEntries, entry: QueueEntry, now: number): void {
  entry.seenAt = now;
  if (entries.mostRecentlySeen === entry) return;
  unlink(entries, entry);
  linkLast(entries, entry);
}

/** Admits an entry: it leaves the positions with a pass. */
export function admitEntry(entries: QueueEntries, entry: QueueEntry, pass: QueuePass): void {
  entry.status = follow(queueEntryTransitions, entry.status, 'ADMIT');
  vacate(entries.positions, entry.slot, entry);
  unlink(entries, entry);
  entry.pass = pass;
  entries.passes.add(entry);
}

/** Ends an entry at a moment, whether it waits or holds a pass. */
export function endEntry(
  entries: QueueEntries,
  entry: QueueEntry,
  trigger: Exclude<QueueEntryTrigger, 'ADMIT'>,
  at: number,
): void {
  if (entry.status === 'WAITING') {
    // In a draw under way the slot is one of the pool, which keeps everybody who takes part.
    vacate(entries.positions, entry.slot, entry);
    unlink(entries, entry);
  }
  entries.passes.delete(entry);
  entry.status = follow(queueEntryTransitions, entry.status, trigger);
  entries.liveBySession.delete(entry.sessionKey);
  entries.byId.delete(entry.id);
  entries.ended.add(entry.id, entry.sessionKey, endOf(entry), at);
}

/** How an entry ended; without a pass its times are NaN. */
export function endOf({ status, pass }: Pick<QueueEntry, 'status' | 'pass'>): EndedRecord<EndedStatus> {
  return { status: status as EndedStatus, times: [pass?.admittedAt ?? NaN, pass?.expiresAt ?? NaN] };
}

function linkLast(entries: QueueEntries, entry: QueueEntry): void {
  entry.seenBefore = entries.mostRecentlySeen;
  entry.seenAfter = null;
  if (entries.mostRecentlySeen === null) entries.leastRecentlySeen = entry;
  else entries.mostRecentlySeen.seenAfter = entry;
  entries.mostRecentlySeen = entry;
  entries.waitingCount += 1;
}

function unlink(entries: QueueEntries, entry: QueueEntry): void {
  const { seenBefore, seenAfter } = entry;
  if (seenBefore === null) entries.leastRecentlySeen = seenAfter;
  else seenBefore.seenAfter = seenAfter;
  if (seenAfter === null) entries.mostRecentlySeen = seenBefore;
  else seenAfter.seenBefore = seenBefore;
  entry.seenBefore = null;
  entry.seenAfter = null;
  entries.waitingCount -= 1;
}
