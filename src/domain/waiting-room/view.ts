/**
 * What is shown of a waiting room: an entry to its owner, figures to operators, and the proof of the draw to everybody.
 */
import { admissionRate, shownSteering } from '../catalogue/state.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import { findLiveEntry, type QueueEntry } from './queue-entries.ts';
import { rankOf } from './queue-positions.ts';
import { admittedLately, findOwnEntry, isRoomOpen, waitingRoomOf, type WaitingRoom } from './state.ts';
import type { WaitingRoomState } from './state.ts';
import type { DrawView, QueueEntryView, WaitingRoomCounts } from '../view.ts';
import type { Hashing } from './draw.ts';

/** Some 600 MB; whoever would be the next is asked to come back later. */
const WAITING_ENTRIES_MAX = 2_000_000;

const MINUTE_MS = 60_000;

/** An entry as its owner sees it: QUEUE_ENTRY_NOT_FOUND. Cost: a walk down the tree of positions. */
export function viewOwnEntry(
  state: WaitingRoomState,
  entryId: string,
  sessionKey: string,
  now: number,
): QueueEntryView | Refusal {
  const entry = findOwnEntry(state, entryId, sessionKey);
  return isRefusal(entry) ? entry : viewEntry(state, entry, now);
}

function viewEntry(state: WaitingRoomState, entry: QueueEntry, now: number): QueueEntryView {
  const room = waitingRoomOf(state);
  const { waitingRoomPauseWhenSoldOut: pauses } = state.plan.definition;
  const rate = admissionRate(state);
  const hasPosition = entry.status === 'WAITING' && isRoomOpen(room);
  const position = hasPosition ? rankOf(room.entries.positions, entry.slot) : null;
  const view: QueueEntryView = {
    id: entry.id,
    eventId: state.eventId,
    status: entry.status,
    position,
    waitingAhead: position === null ? 0 : position - 1,
    estimatedMinutes: estimatedMinutes(room, entry, position, rate, now),
    open: isRoomOpen(room),
    opensAt: room.opensAt,
    admittedAt: entry.pass?.admittedAt ?? null,
    passExpiresAt: entry.pass?.expiresAt ?? null,
    rate,
    drawCommitment: room.draw?.commitment ?? null,
    soldOut: pauses ? entry.status === 'WAITING' && room.status === 'PAUSED' : null,
  };
  const steering = shownSteering(state.steering);
  return steering === null ? view : { ...view, steering };
}

function estimatedMinutes(
  room: WaitingRoom,
  entry: QueueEntry,
  position: number | null,
  rate: number,
  now: number,
): number {
  if (entry.status !== 'WAITING') return 0;
  if (position !== null) return Math.ceil(position / rate);
  return Math.max(0, Math.ceil((room.opensAt! - now) / MINUTE_MS));
}

/** Whether the room has no space for this session, which has no entry yet. */
export function isRoomFull(
  { waitingRoom }: WaitingRoomState,
  sessionKey: string,
  entriesMax = WAITING_ENTRIES_MAX,
): boolean {
  if (waitingRoom === null) return false;
  const { entries } = waitingRoom;
  return entries.waitingCount >= entriesMax && findLiveEntry(entries, sessionKey) === undefined;
}

/** What operators see of the room; null where there is none. */
export function waitingRoomFigures({ waitingRoom }: WaitingRoomState, now: number): WaitingRoomCounts | null {
  if (waitingRoom === null) return null;
  const { status, opensAt, draw, entries, admissions } = waitingRoom;
  return {
    status,
    opensAt,
    waiting: entries.waitingCount,
    admitted: entries.passes.size,
    admittedLastMinute: admittedLately(admissions, now),
    joined: entries.joinedCount,
    drawCommitment: draw?.commitment ?? null,
  };
}

/** A page of the proof of the room's draw; null where there is none. Cost: 0.5 µs an entry shown. */
export function viewDraw(
  { eventId, waitingRoom }: WaitingRoomState,
  page: { readonly offset: number; readonly limit: number },
  hashing: Hashing,
): DrawView | null {
  const draw = waitingRoom?.draw ?? null;
  if (draw === null) return null;
  const { seed, opening, commitment: drawCommitment, drawnAt, entryCount: count, entriesDigest, order } = draw;
  if (drawnAt === null) {
    const nothing = { seed: null, opening: null, drawnAt: null, count: 0, entriesDigest: null, entries: [] };
    return { eventId, status: 'pending', drawCommitment, ...nothing };
  }
  const entries = order.slice(page.offset, page.offset + page.limit).map((entryId) => hashing.sha256(entryId));
  return { eventId, status: 'drawn', drawCommitment, seed, opening, drawnAt, count, entriesDigest, entries };
}
