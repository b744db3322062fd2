import type { SeatStatus } from '#machines/seat.ts';
import type { Inventory } from './inventory.ts';

export interface Occupancy {
  readonly version: number;
  readonly available: number;
  readonly held: readonly string[];
  readonly sold: readonly string[];
  readonly blocked: readonly string[];
}
export interface SeatChange {
  readonly id: string;
  readonly state: SeatStatus;
}
/** Every seat of the date that is not AVAILABLE, by state. */
export declare function occupancy(inventory: Inventory): Occupancy;
/** The seats that changed after version `since`, each once in its newest state; null when that version is too old or yet to come. */
export declare function occupancySince(inventory: Inventory, since: number): readonly SeatChange[] | null;
