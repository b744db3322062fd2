/** Attendees: the people on the tickets, one for each, where they are given or must be. */
import { refuse, type Refusal } from '../refusal.ts';
import type { Attendee } from '../fact.ts';

/** What of an item this file judges. */
interface AttendedItem {
  readonly ticketTypeId: string;
  readonly ticketCount: number;
  /** Null where the request named nobody. */
  readonly attendees: readonly Attendee[] | null;
}

/** Refuses the first item whose attendees are not as many as its tickets: ATTENDEE_COUNT_MISMATCH. */
export function checkAttendees(items: readonly AttendedItem[], isRequired: boolean): Refusal | null {
  for (const { ticketTypeId, ticketCount: expected, attendees } of items) {
    if (attendees === null && !isRequired) continue;
    const given = attendees?.length ?? 0;
    if (given !== expected) return refuse('ATTENDEE_COUNT_MISMATCH', { ticketTypeId, expected, given });
  }
  return null;
}
