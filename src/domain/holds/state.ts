/**
 * The holds of one event as its state keeps them, and how one is found.
 *
 * 1. An ACTIVE hold with a line on a cancelled performance counts as RELEASED: nobody buys or changes it. Its fact
 *    follows in one of the turns that come next (`CancelNextOrders`).
 */
import { follow } from '#machines/compile.ts';
import { holdTransitions } from '#machines/hold.ts';
import { createEndedHolds, type EndedHolds } from './ended-holds.ts';
import { HoldRecords, type Hold } from './hold-records.ts';
import { LazyHeap } from '../collections/lazy-heap.ts';
import { ShardedMap } from '../collections/maps.ts';
import type { WaitingRoomState } from '../waiting-room/state.ts';

export type { Hold };

/** What holds keep of one event, and what they may read. */
export interface HoldState extends WaitingRoomState {
  readonly holds: Holds;
}

export interface Holds {
  readonly byId: HoldRecords;
  readonly activeBySession: ShardedMap<Hold>;
  /** Holds that ended without an order. */
  readonly ended: EndedHolds;
  /** When live holds end. The objects and not their ids: to look up each one took a tenth of a turn (measured). */
  readonly deadlines: LazyHeap<Hold>;
}

export function noHolds(): Holds {
  return {
    byId: new HoldRecords(),
    activeBySession: new ShardedMap(),
    ended: createEndedHolds(),
    deadlines: new LazyHeap(),
  };
}

/** Whether the hold keeps tickets from others. */
export function isLive(hold: Hold): boolean {
  return hold.status === 'ACTIVE' || hold.status === 'CONVERTED';
}

/** The session's own ACTIVE hold, whose tickets count as free for that session. */
export function activeHoldOf({ holds }: { readonly holds: Holds }, sessionKey: string | null): Hold | null {
  return (sessionKey === null ? undefined : holds.activeBySession.get(sessionKey)) ?? null;
}

/**
 * A hold that can still be read, for reading only. Where a session key is given, the hold must be of that session. A
 * hold whose items are no longer kept has no lines.
 */
export function findAnyHold(state: HoldState, holdId: string, sessionKey: string | null): Hold | undefined {
  const { byId, ended } = state.holds;
  const hold = byId.get(holdId) ?? ended.find(holdId, sessionKey);
  if (hold === undefined || (sessionKey !== null && hold.sessionKey !== sessionKey)) return undefined;
  return isToRelease(state, hold) ? { ...hold, status: follow(holdTransitions, hold.status, 'RELEASE') } : hold;
}

/** Whether a hold is to be released, because a performance of it is cancelled (rule 1). */
export function isToRelease({ cancelling }: HoldState, { status, lines }: Hold): boolean {
  return cancelling.size > 0 && status === 'ACTIVE' && lines.some(({ performanceId }) => cancelling.has(performanceId));
}

/** Notes when a live hold ends; set its `expiresAt` first. */
export function noteDeadline({ deadlines, activeBySession }: Holds, hold: Hold): void {
  deadlines.add(hold, hold.expiresAt);
  deadlines.clean(deadlineStands, activeBySession.size);
}

/** The live hold that ends next, or null. */
export function nextToEnd({ deadlines }: Holds): Hold | null {
  return deadlines.first(deadlineStands)?.item ?? null;
}

function deadlineStands(hold: Hold, at: number): boolean {
  return hold.expiresAt === at && isLive(hold);
}
