import type { TicketTypePlan } from './sale-plan.ts';
import type { Trial } from './trial.ts';

/** The best block of `count` neighbouring seats for a type of a NUMBERED locality, by seat index, left to right; null when there is none. */
export declare function bestBlock(trial: Trial, type: TicketTypePlan, count: number): number[] | null;
/** The most seats that can be had side by side. */
export declare function largestBlock(trial: Trial, type: TicketTypePlan): number;
/** The `count` of the held seats (already given back in the trial) to keep. */
export declare function shrinkBlock(
  trial: Trial,
  type: TicketTypePlan,
  heldSeatIds: readonly string[],
  count: number,
): number[];
/** A block of `count` that keeps the held seats (already given back in the trial) and adds neighbours; null where that cannot be. */
export declare function growBlock(
  trial: Trial,
  type: TicketTypePlan,
  heldSeatIds: readonly string[],
  count: number,
): number[] | null;
