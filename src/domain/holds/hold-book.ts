/** The holds of one event, as its state keeps them. */
import { createEndedHolds, type EndedHolds } from './ended-holds.ts';
import { HoldRecords } from './hold-records.ts';
import { ShardedMap } from '../collections/maps.ts';
import type { Hold } from './hold.ts';

export interface HoldBook {
  readonly byId: HoldRecords;
  readonly activeBySession: ShardedMap<Hold>;
  /** Holds that ended without an order. */
  readonly ended: EndedHolds;
}

export function noHolds(): HoldBook {
  return { byId: new HoldRecords(), activeBySession: new ShardedMap(), ended: createEndedHolds() };
}

/** Whether the hold keeps tickets from others. */
export function isLive(hold: Hold): boolean {
  return hold.status === 'ACTIVE' || hold.status === 'CONVERTED';
}

/**
 * Any hold that can be read, to be read only; with a session key only where it is that key's. One of which no more is kept than
 * how it ended has no items.
 */
export function findAnyHold({ byId, ended }: HoldBook, holdId: string, sessionKey: string | null): Hold | undefined {
  const hold = byId.get(holdId) ?? ended.find(holdId, sessionKey);
  return hold !== undefined && (sessionKey === null || hold.sessionKey === sessionKey) ? hold : undefined;
}

/** Whether a noted deadline of a hold still stands. */
export function holdDeadlineStands(book: HoldBook, holdId: string, at: number): boolean {
  const hold = book.byId.get(holdId);
  return hold !== undefined && hold.expiresAt === at && isLive(hold);
}
