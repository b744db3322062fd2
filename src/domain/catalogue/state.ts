/** What the catalogue keeps of one event. */
import type { SalePlan } from './sale-plan.ts';

export interface CatalogueState {
  readonly eventId: string;
  /** The serial number of the event, which its ids carry. */
  readonly eventNumber: number;
  /** How often the event was defined; 0 before its first definition. */
  definitionVersion: number;
  /** The newest definition, compiled. */
  plan: SalePlan;
}

/** Whether buyers can see the event. */
export function isPublished(state: CatalogueState): boolean {
  return state.definitionVersion > 0 && state.plan.definition.status === 'PUBLISHED';
}
