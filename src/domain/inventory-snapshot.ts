import type { Inventory } from './inventory.ts';
import type { SalePlan } from './sale-plan.ts';

export interface InventorySnapshot {
  readonly performanceId: string;
  readonly version: number;
  /** Held and sold tickets of each sale row that has any: type, stage, held, sold. */
  readonly rows: readonly (readonly [string, string, number, number])[];
  readonly seatMaps: readonly { readonly localityId: string; readonly fingerprint: number; readonly states: string }[];
}
/** The date's stock as a plain value for JSON. The definition it was made under must be kept beside it. */
export declare function inventorySnapshot(inventory: Inventory): InventorySnapshot;
/** The stock that a snapshot describes, under the plan compiled from the definition kept beside it; then `reschedule` each live claim. */
export declare function inventoryFrom(plan: SalePlan, snapshot: InventorySnapshot): Inventory;
