/** What runs out next in an event, over all its aggregates. */
import { isOfQueue, queueDeadlineStands, silenceDeadline } from './waiting-room/decide.ts';
import { OPENING } from './waiting-room/room.ts';

import { type EventState } from './event-state.ts';
import { holdDeadlineStands } from './holds/hold-book.ts';
import { earliestDeadline } from './deadlines.ts';

/** What runs out next, or null; what it names is settled with the command SettleDeadline once its moment has come. */
export function nextDeadline(state: EventState): Deadline | null {
  return earliestOf(state, () => true);
}

/**
 * The same without what has to be decided at its moment: the opening of a waiting room, whose draw nobody may foresee. Only of a
 * state that is thrown away: it forgets the opening.
 */
export function nextEnding(state: EventState): Deadline | null {
  return earliestOf(state, (subjectId) => subjectId !== OPENING);
}

interface Deadline {
  readonly subjectId: string;
  readonly at: number;
}

function earliestOf(state: EventState, isWanted: (subjectId: string) => boolean): Deadline | null {
  const noted = earliestDeadline(state.deadlines, (subjectId, at) => {
    if (!isWanted(subjectId)) return false;
    if (isOfQueue(subjectId)) return queueDeadlineStands(state, subjectId, at);
    return holdDeadlineStands(state.holds, subjectId, at);
  });
  const silence = silenceDeadline(state);
  return silence !== null && (noted === null || silence.at <= noted.at) ? silence : noted;
}
