/** The holds of one event as its state keeps them, and how one is found. */
import { createEndedHolds, type EndedHolds } from './ended-holds.ts';
import { HoldRecords, type Hold } from './hold-records.ts';
import { ShardedMap } from '../collections/maps.ts';

export type { Hold };

export interface Holds {
  readonly byId: HoldRecords;
  readonly activeBySession: ShardedMap<Hold>;
  /** Holds that ended without an order. */
  readonly ended: EndedHolds;
}

export function noHolds(): Holds {
  return { byId: new HoldRecords(), activeBySession: new ShardedMap(), ended: createEndedHolds() };
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
 * A hold that can still be read, for reading only; with a session key only where it is that key's. One whose items are no longer
 * kept has no lines.
 */
export function findAnyHold({ byId, ended }: Holds, holdId: string, sessionKey: string | null): Hold | undefined {
  const hold = byId.get(holdId) ?? ended.find(holdId, sessionKey);
  return hold !== undefined && (sessionKey === null || hold.sessionKey === sessionKey) ? hold : undefined;
}

/** Whether a noted deadline of a hold still stands. */
export function holdDeadlineStands(holds: Holds, holdId: string, at: number): boolean {
  const hold = holds.byId.get(holdId);
  return hold !== undefined && hold.expiresAt === at && isLive(hold);
}
