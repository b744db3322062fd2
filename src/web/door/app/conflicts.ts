/**
 * Scans of this station that happened and that contradict what the service says.
 *
 * 1. A scan that the station decided conflicts where its result has another verdict; ALREADY_ADMITTED is left to rule
 *    2.
 * 2. An entry conflicts with another entry of its ticket while the feed says so. When the ticket changes and the feed
 *    no longer says so, the conflict is removed. A conflict that somebody has seen does not come back while the feed
 *    says so.
 * 3. A scan that was undone has no conflict.
 */
import type { StationConflict, StationSync } from '#client/doors/wire.ts';
import type { OwnVerdict } from './check.ts';

const CONFLICTS_MAX = 50;
const SEEN_MAX = 500;

/** A scan with what the service says of it. */
export interface Conflict extends OwnVerdict {
  readonly id: string;
  readonly kind: 'ENTRY' | 'EXIT';
  /** When the station scanned. */
  readonly at: string;
  /** For a conflict of rule 2: the digest of the ticket. */
  readonly digest?: string;
}

export interface KnownConflicts {
  /** What nobody has seen yet, the newest first. */
  readonly conflicts?: readonly Conflict[];
  /** Those of rule 2 that somebody has seen. */
  readonly seen?: readonly SeenConflict[];
}

interface SeenConflict extends Pick<Conflict, 'digest'> {
  readonly mark: string;
}

/** What identifies a conflict: an entry may have several. */
export function markOf({ id, verdict, admitted }: Conflict): string {
  return `${id} ${admitted?.at ?? verdict}`;
}

/** The entries with which an entry conflicts by the feed, seen or not. */
export function othersOf(
  id: string,
  { conflicts = [], seen = [] }: KnownConflicts,
): readonly { readonly at: number }[] {
  const told = [...conflicts.map(toSeen), ...seen].filter(({ digest }) => digest !== undefined);
  const marks = told.map(({ mark }) => mark).filter((mark) => mark.startsWith(`${id} `));
  return marks.map((mark) => ({ at: Date.parse(mark.slice(id.length + 1)) }));
}

/** With the newest first; further ones are known to the console alone. */
export function withConflicts(known: readonly Conflict[], found: readonly Conflict[]): readonly Conflict[] {
  const all = new Map([...known, ...found].map((each) => [markOf(each), each]));
  return [...all.values()].toSorted((one, other) => Date.parse(other.at) - Date.parse(one.at)).slice(0, CONFLICTS_MAX);
}

/** After an answer of the feed (rule 2). */
export function conflictsAfter(
  { conflicts: known = [], seen = [] }: KnownConflicts,
  { reset, changes, conflicts = [] }: Pick<StationSync, 'reset' | 'changes' | 'conflicts'>,
): Required<KnownConflicts> {
  const changed = new Set(changes.map(([digest]) => digest));
  const told = conflicts.map(toConflict);
  const marks = new Set(told.map(markOf));
  const left = known.filter(({ digest }) => digest === undefined || (!reset && !changed.has(digest)));
  const leftSeen = seen.filter(({ mark, digest = '' }) => marks.has(mark) || !changed.has(digest));
  const seenMarks = leftSeen.map(({ mark }) => mark);
  return {
    conflicts: withConflicts(
      left,
      told.filter((each) => !seenMarks.includes(markOf(each))),
    ),
    seen: leftSeen,
  };
}

/** After somebody has seen some. */
export function withoutSeen(
  { conflicts = [], seen = [] }: KnownConflicts,
  nowSeen: readonly Conflict[],
): Required<KnownConflicts> {
  const marks = nowSeen.map(markOf);
  return {
    conflicts: conflicts.filter((each) => !marks.includes(markOf(each))),
    seen: [...seen, ...nowSeen.map(toSeen)].slice(-SEEN_MAX),
  };
}

/** What the feed of another pairing said stays, and is not taken back any more. */
export function keptConflicts({ conflicts = [], seen = [] }: KnownConflicts): Required<KnownConflicts> {
  return { conflicts: conflicts.map(({ digest: _digest, ...conflict }) => conflict), seen };
}

function toSeen(conflict: Conflict): SeenConflict {
  const { digest } = conflict;
  return { mark: markOf(conflict), ...(digest !== undefined && { digest }) };
}

function toConflict({ digest, scan_id: id, at, ticket, admitted }: StationConflict): Conflict {
  return { id, kind: 'ENTRY', at, verdict: 'ALREADY_ADMITTED', ticket, admitted, digest };
}
