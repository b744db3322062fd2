import type { TurnIds } from '../ids.ts';
import type { Sealing } from '../personal.ts';

/** What orders need of a turn. */
export interface OrderTurn extends TurnIds {
  readonly now: number;
  /** Null where nothing can be sealed: facts have open fields then. */
  readonly sealing: Sealing | null;
}
