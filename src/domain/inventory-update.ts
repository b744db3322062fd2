import type { Inventory } from './inventory.ts';
import type { Problem } from './refusal.ts';
import type { SalePlan } from './sale-plan.ts';

/** What in a new definition would take away something held or sold on this date; empty when it may replace the old one. */
export declare function rebaseConflicts(inventory: Inventory, plan: SalePlan): readonly Problem[];
/** Puts the date under a new plan that has no conflicts; then `reschedule` each live claim. */
export declare function rebase(inventory: Inventory, plan: SalePlan): void;
