/**
 * The state of one event: everything that changes about its sale, as one value. One aggregate changes each field,
 * except those under "of several aggregates".
 *
 * Facts alone change it, in `evolve.ts`, so that the same facts in the same order give the same state in a running
 * actor and in a replay (I9). Soft fields (last seen, the pause between sweeps) are in no fact and no snapshot.
 */
import { LazyHeap } from '../collections/lazy-heap.ts';
import { noHolds } from '../holds/state.ts';
import { noIdempotency, type IdempotencyBook } from '../idempotency.ts';
import { noOrders } from '../orders/state.ts';
import type { DoorState } from '../doors/state.ts';
import { NOT_STEERED } from '../catalogue/state.ts';
import { compileSalePlan } from '../catalogue/sale-plan.ts';
import type { IdempotentAnswer } from '../view.ts';
import { NOTHING_DEFINED } from '../catalogue/definition.ts';

export interface EventState extends DoorState {
  /** Grows with every fact. */
  revision: number;
  /** Each request that may be repeated has its first answer here. */
  readonly idempotency: IdempotencyBook<IdempotentAnswer>;
}

/** The state of an event that nobody has defined yet. */
export function initialState(eventId: string, eventNumber: number): EventState {
  return {
    eventId,
    eventNumber,
    revision: 0,
    definitionVersion: 0,
    plan: compileSalePlan(NOTHING_DEFINED),
    steering: NOT_STEERED,
    performances: new Map(),
    cancelling: new Map(),
    holds: noHolds(),
    orders: noOrders(),
    perksSold: new Map(),
    waitingRoom: null,
    deadlines: new LazyHeap(),
    doors: null,
    idempotency: noIdempotency(),
  };
}
