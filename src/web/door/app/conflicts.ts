/**
 * Scans of this station that happened, and with which what the service says does not agree.
 *
 * 1. A scan that the station decided is one where its result has another verdict.
 * 2. An entry that the service took is one where the feed named it as the one that let the ticket in, and then names an
 *    earlier one: another station let the ticket in before, and nothing let it out. An entry after it the feed does not
 *    name, so that it is noted at the other station alone.
 * 3. A scan that was undone is none.
 */
import type { StationHead } from '#client/doors/wire.ts';
import { namedEntry, type OwnVerdict } from './check.ts';
import type { OwnScan, TicketAdmission } from './feed.ts';

const CONFLICTS_MAX = 50;

/** A scan with what the service says of it. */
export interface Conflict extends OwnVerdict {
  readonly id: string;
  readonly kind: 'ENTRY' | 'EXIT';
  /** When the station scanned. */
  readonly at: string;
}

/** An entry of this station that the service took. */
export interface TakenScan extends OwnScan {
  readonly ticket: OwnVerdict['ticket'];
}

/** With the newest first; further ones are known to the console alone. */
export function withConflicts(known: readonly Conflict[], found: readonly Conflict[]): readonly Conflict[] {
  const left = known.filter(({ id }) => !found.some((each) => each.id === id));
  return [...found.toReversed(), ...left].slice(0, CONFLICTS_MAX);
}

/** Whether it is the entry that a feed names, which has seconds. */
export function isNamed({ at, doorId }: OwnScan, named: TicketAdmission | null): boolean {
  return named !== null && named.at === secondOf(at) && named.doorId === doorId;
}

/** Rule 2, of an entry that the feed had named. */
export function conflictWith(
  { id, at, ticket }: TakenScan,
  named: TicketAdmission | null,
  head: StationHead,
): Conflict | null {
  if (named === null || named.at >= secondOf(at) || head.reentry === 'ALWAYS') return null;
  const scan = { id, kind: 'ENTRY', at: new Date(at).toISOString(), verdict: 'ALREADY_ADMITTED' } as const;
  return { ...scan, ...(ticket !== undefined && { ticket }), admitted: namedEntry(named, head.doors) };
}

function secondOf(at: number): number {
  return Math.floor(at / 1_000) * 1_000;
}
