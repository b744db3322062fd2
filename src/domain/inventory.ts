import type { SeatStatus } from '#machines/seat.ts';
import type { Claimant } from './release-queue.ts';
import type { SalePlan, SaleRow } from './sale-plan.ts';

export interface StockLine {
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly ticketCount: number;
  readonly seatIds: readonly string[];
}
export interface Inventory {
  /** Replaced by `rebase`. */
  plan: SalePlan;
  readonly performanceId: string;
  /** Grows by one with every change of a seat. */
  version: number;
}
export interface StockTotals {
  readonly capacity: number;
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
}
/** The stock of a date on which nothing has happened yet. */
export declare function createInventory(plan: SalePlan, performanceId: string): Inventory;
/** A hold takes a line's tickets and seats off sale. Set the claimant's status and `expiresAt` first. */
export declare function take(inventory: Inventory, claimant: Claimant, line: StockLine): void;
/** A held line returns to sale. */
export declare function giveBack(inventory: Inventory, line: StockLine): void;
/** A held line is sold. */
export declare function sell(inventory: Inventory, line: StockLine): void;
/** A sold line returns to sale. */
export declare function returnSold(inventory: Inventory, line: StockLine): void;
/** A line that had returned to sale is taken and sold at once, for money that landed late. */
export declare function retake(inventory: Inventory, line: StockLine): void;
export declare function block(inventory: Inventory, seatIds: readonly string[]): void;
export declare function unblock(inventory: Inventory, seatIds: readonly string[]): void;
/** The end of a claimant's window moved (or the inventory was restored or rebased). Set `expiresAt` first. */
export declare function reschedule(inventory: Inventory, claimant: Claimant, lines: readonly StockLine[]): void;
/** Tickets that a sale row can still sell on this date. */
export declare function left(inventory: Inventory, row: SaleRow): number;
/** Tickets of ACTIVE and CONVERTED holds on a sale row. */
export declare function reserved(inventory: Inventory, row: SaleRow): number;
export declare function totals(inventory: Inventory): StockTotals;
export declare function totalsOf(inventory: Inventory, localityId: string): StockTotals;
/** The state of a seat; undefined for an id that no locality has. */
export declare function seatState(inventory: Inventory, seatId: string): SeatStatus | undefined;
