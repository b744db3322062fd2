/**
 * The entries of a waiting room: who is in it, who polled when, who holds a pass, who is gone.
 *
 * Owns the status of every entry and the indexes over entries. The doors, the draw and who is admitted when belong to
 * `waiting-room.ts`, the only caller but for the snapshot.
 *
 * 1. Every entry is in exactly one place: WAITING in the line (or in the pool of a draw under way), ADMITTED among the passes,
 *    EXPIRED or LEFT among those that ended.
 * 2. A session has at most one live entry.
 * 3. When an entry was last seen is soft state: no fact, in no snapshot. The waiting are chained in the order in which they were
 *    seen, so that the one who was silent longest is always at hand; a poll moves its entry to the end of the chain.
 * 4. Of an entry that ended it is kept for two hours how it ended (`ended-records.ts`, 36 bytes each), however many end.
 */
import { follow } from '#machines/compile.ts';
import { queueEntryTransitions, type QueueEntryStatus, type QueueEntryTrigger } from '#machines/queue-entry.ts';
import { invariant } from '../invariant.ts';
import { EndedRecords, type EndedRecord } from '../collections/ended-records.ts';
import { append, createQueuePositions, stepOut, type Line } from './queue-positions.ts';
import { ShardedMap } from '../collections/maps.ts';

/** The places of these names are in snapshots: new ones are added behind. */
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
  /** Where it stands in the line, or in the pool of the draw. */
  slot: number;
  /** Null until it is admitted; kept when the pass has ended. */
  pass: QueuePass | null;
  /** Soft (3). */
  seenAt: number;
  seenBefore: QueueEntry | null;
  seenAfter: QueueEntry | null;
}

export interface QueueEntries {
  readonly byId: ShardedMap<QueueEntry>;
  readonly liveBySession: ShardedMap<QueueEntry>;
  /** Who waits, in order; before the draw in the order of arrival, which then counts for nothing. */
  line: Line<QueueEntry>;
  /** In the order of admission. */
  readonly passes: Set<QueueEntry>;
  readonly ended: EndedRecords<EndedStatus>;
  /** The WAITING entry that was silent longest, and the one seen last. */
  silent: QueueEntry | null;
  lately: QueueEntry | null;
  waitingCount: number;
  /** Everybody who waits counts as seen at this moment at least. Soft (3). */
  presumedSeenAt: number;
  /** How many ever joined. */
  joinedCount: number;
}

export function noEntries(): QueueEntries {
  return {
    byId: new ShardedMap(),
    liveBySession: new ShardedMap(),
    line: createQueuePositions(),
    passes: new Set(),
    ended: new EndedRecords(ENDED_STATUSES, 2),
    silent: null,
    lately: null,
    waitingCount: 0,
    presumedSeenAt: 0,
    joinedCount: 0,
  };
}

// ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export function findEntry(entries: QueueEntries, entryId: string): QueueEntry | undefined {
  return entries.byId.get(entryId);
}

/** An entry that ended, to be read only; none where the key is not its session's. */
export function findEndedEntry(entries: QueueEntries, entryId: string, sessionKey: string): QueueEntry | undefined {
  const found = entries.ended.find(entryId, sessionKey);
  if (found === null) return undefined;
  const [admittedAt = NaN, expiresAt = NaN] = found.times;
  const entry = makeEntry(entryId, sessionKey, 0);
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
  invariant(entry !== undefined, 'a fact names a queue entry that is there');
  return entry;
}

/** When somebody who waits was last seen. */
export function lastSeen(entries: QueueEntries, entry: QueueEntry): number {
  return Math.max(entry.seenAt, entries.presumedSeenAt);
}

// ── changes ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Makes an entry that waits at the back of the line. */
export function addWaiting(entries: QueueEntries, id: string, sessionKey: string, at: number): QueueEntry {
  const entry = makeEntry(id, sessionKey, at);
  entry.slot = append(entries.line, entry);
  keepWaiting(entries, entry);
  entries.joinedCount += 1;
  return entry;
}

/** A new entry that stands nowhere yet. */
export function makeEntry(id: string, sessionKey: string, seenAt: number): QueueEntry {
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

/** Enters somebody who waits, and whose place is known, into the indexes. */
export function keepWaiting(entries: QueueEntries, entry: QueueEntry): void {
  invariant(!entries.liveBySession.has(entry.sessionKey), 'a session has one live queue entry');
  entries.byId.set(entry.id, entry);
  entries.liveBySession.set(entry.sessionKey, entry);
  linkLast(entries, entry);
}

/** Somebody who waits was seen. Soft (3). Constant time. */
export function noteSeen(entries: QueueEntries, entry: QueueEntry, now: number): void {
  entry.seenAt = now;
  if (entries.lately === entry) return;
  unlink(entries, entry);
  linkLast(entries, entry);
}

/** Lets somebody out of the line with a pass. */
export function admitEntry(entries: QueueEntries, entry: QueueEntry, pass: QueuePass): void {
  entry.status = follow(queueEntryTransitions, entry.status, 'ADMIT');
  stepOut(entries.line, entry.slot, entry);
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
    stepOut(entries.line, entry.slot, entry);
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
  entry.seenBefore = entries.lately;
  entry.seenAfter = null;
  if (entries.lately === null) entries.silent = entry;
  else entries.lately.seenAfter = entry;
  entries.lately = entry;
  entries.waitingCount += 1;
}

function unlink(entries: QueueEntries, entry: QueueEntry): void {
  const { seenBefore, seenAfter } = entry;
  if (seenBefore === null) entries.silent = seenAfter;
  else seenBefore.seenAfter = seenAfter;
  if (seenAfter === null) entries.lately = seenBefore;
  else seenAfter.seenBefore = seenBefore;
  entry.seenBefore = null;
  entry.seenAfter = null;
  entries.waitingCount -= 1;
}
