import type { Inventory, StockLine } from './inventory.ts';
import type { Claimant } from './release-queue.ts';
import type { SaleRow, TicketTypePlan } from './sale-plan.ts';

export interface Trial {
  readonly inventory: Inventory;
}
/** Which of the picked seats cannot be had, and why; all three lists are empty when every one can. */
export interface SeatJudgement {
  /** Unknown, or of a zone that the type may not sit in. */
  readonly notInTicketType: readonly string[];
  /** Blocked by the operator. */
  readonly notSellable: readonly string[];
  /** Held or sold. */
  readonly taken: readonly string[];
}
export interface Shortfall {
  readonly available: number;
  readonly reservedByOthers: boolean;
  readonly nextReleaseAt: number | null;
}
/** What a date's stock would be; nearly free until something is given back or taken. */
export declare function beginTrial(inventory: Inventory): Trial;
/** A held line of this session counts as free from here on. */
export declare function giveBackInTrial(trial: Trial, line: StockLine): void;
/** A line that was judged to be available counts as taken from here on. */
export declare function takeInTrial(trial: Trial, line: StockLine): void;
/** Tickets that the sale row could still sell. */
export declare function leftInTrial(trial: Trial, row: SaleRow): number;
/** Judges seats that were picked for a type of a NUMBERED locality. */
export declare function judgeSeats(trial: Trial, type: TicketTypePlan, seatIds: readonly string[]): SeatJudgement;
/** Why `wanted` tickets cannot be had. With `wanted` not above what is left, the seats themselves are taken to be in the way (no block). */
export declare function shortfall(trial: Trial, row: SaleRow, wanted: number, own: Claimant | null): Shortfall;
