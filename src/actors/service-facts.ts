/**
 * Facts of the service itself, in the journal's stream '': what belongs to no event.
 */
import type { FactRow } from '#persistence/journal.ts';

/** The stream of the service's own facts. */
export const SERVICE_STREAM = '';

export interface ServiceFactData {
  /** Somebody moved the sandbox clock; the offset is the whole of it, not the step. */
  ClockAdvanced: { readonly offsetMs: number };
}

export type ServiceFact = {
  [Type in keyof ServiceFactData]: { readonly type: Type; readonly data: ServiceFactData[Type] };
}[keyof ServiceFactData];

/** A service fact as the journal stores it; null for a fact of another stream. */
export function readServiceFact(row: FactRow): ServiceFact | null {
  return row.eventId === SERVICE_STREAM ? ({ type: row.type, data: JSON.parse(row.data) } as ServiceFact) : null;
}
