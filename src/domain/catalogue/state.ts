/** What the catalogue keeps of one event. */
import type { SalePlan } from './sale-plan.ts';

/** What operators set during a sale, over the definition; a new definition does not undo it. */
export interface Steering {
  /** Nothing more is held, nobody joins the waiting room and nobody is admitted; what is held can be bought. */
  readonly paused: boolean;
  /** People admitted in a minute; null for the definition's. */
  readonly waitingRoomRate: number | null;
  /** What buyers are told. */
  readonly message: string | null;
}

/** What buyers are shown of it. */
export type ShownSteering = Pick<Steering, 'paused' | 'message'>;

export const NOT_STEERED: Steering = { paused: false, waitingRoomRate: null, message: null };

export function isSteered({ paused, waitingRoomRate, message }: Steering): boolean {
  return paused || waitingRoomRate !== null || message !== null;
}

/** Null while there is nothing to show. */
export function shownSteering({ paused, message }: Steering): ShownSteering | null {
  return paused || message !== null ? { paused, message } : null;
}

export interface CatalogueState {
  readonly eventId: string;
  /** The serial number of the event, which its ids carry. */
  readonly eventNumber: number;
  /** How often the event was defined; 0 before its first definition. */
  definitionVersion: number;
  /** The newest definition, compiled. */
  plan: SalePlan;
  steering: Steering;
}

/** How many are admitted to the sale in a minute, at most. */
export function admissionRate({ plan, steering }: CatalogueState): number {
  return steering.waitingRoomRate ?? plan.definition.waitingRoomRate;
}

/** Whether buyers can see the event. */
export function isPublished(state: CatalogueState): boolean {
  return state.definitionVersion > 0 && state.plan.definition.status === 'PUBLISHED';
}
