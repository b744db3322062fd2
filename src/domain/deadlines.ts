/** What runs out next in an event, over all its aggregates. */
import { holdDeadlineStands } from './holds/state.ts';
import { isOfQueue, queueDeadlineStands, staleEntryDeadline } from './waiting-room/decide.ts';
import { OPENING } from './waiting-room/state.ts';
import type { EventState } from './event-state.ts';

export interface Deadline {
  readonly subjectId: string;
  readonly at: number;
}

/** What runs out next, or null; once its moment has come, the command SettleDeadline settles it. */
export function nextDeadline(state: EventState): Deadline | null {
  return earliestOf(state, () => true);
}

/**
 * The same without what has to be decided at its moment: the opening of a waiting room, whose draw nobody may foresee. Only for a
 * state that is thrown away, because the opening is dropped from its deadlines.
 */
export function nextEnding(state: EventState): Deadline | null {
  return earliestOf(state, (subjectId) => subjectId !== OPENING);
}

function earliestOf(state: EventState, isIncluded: (subjectId: string) => boolean): Deadline | null {
  const stands = (subjectId: string, at: number): boolean => {
    if (!isIncluded(subjectId)) return false;
    if (isOfQueue(subjectId)) return queueDeadlineStands(state, subjectId, at);
    return holdDeadlineStands(state.holds, subjectId, at);
  };
  state.deadlines.clean(stands);
  const noted = state.deadlines.first(stands);
  const silence = staleEntryDeadline(state);
  if (silence !== null && (noted === null || silence.at <= noted.at)) return silence;
  return noted === null ? null : { subjectId: noted.item, at: noted.at };
}
