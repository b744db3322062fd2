/**
 * The state of one event: everything that changes about its sale, as one value. One aggregate changes each field, except those under "of several aggregates".
 *
 * Facts alone change it, in `evolve.ts`, so that the same facts in the same order give the same state in a running actor and in a
 * replay (I9). Soft fields (last seen, the pause between sweeps) are in no fact and no snapshot.
 */
import { LazyHeap } from './collections/lazy-heap.ts';
import { noHolds, type Holds } from './holds/state.ts';
import { noIdempotency, type IdempotencyBook } from './idempotency.ts';
import { noOrders, type Orders } from './orders/state.ts';
import { compileSalePlan, type SalePlan } from './catalogue/sale-plan.ts';
import type { EventDefinition } from './catalogue/definition.ts';
import type { PerformanceState } from './inventory/performance.ts';
import type { IdempotentAnswer } from './views.ts';
import type { WaitingRoom } from './waiting-room/state.ts';

export interface EventState {
  readonly eventId: string;
  /** The serial number of the event, which its ids carry. */
  readonly eventNumber: number;
  /** Grows with every fact. */
  revision: number;

  // catalogue
  /** How often the event was defined; 0 before its first definition. */
  definitionVersion: number;
  /** The newest definition, compiled. */
  plan: SalePlan;

  // inventory
  /** The status and the stock of every performance that the definition names, drafts too, by id. */
  readonly performances: Map<string, PerformanceState>;

  // holds
  readonly holds: Holds;

  // orders
  readonly orders: Orders;
  /** Bar perks sold, by perk, over live orders. */
  readonly perksSold: Map<string, number>;

  // waiting room
  /** Null in an event without a waiting room. */
  waitingRoom: WaitingRoom | null;
  /** When the room opens and passes run out, by the id of the subject. */
  readonly deadlines: LazyHeap<string>;

  // of several aggregates
  readonly idempotency: IdempotencyBook<IdempotentAnswer>;
}

const NOTHING_DEFINED: EventDefinition = {
  id: '',
  slug: '',
  name: '',
  description: '',
  status: 'DRAFT',
  currency: '',
  timezone: 'UTC',
  paymentProvider: 'provider_a',
  maxInstallments: 1,
  holdMinutes: 10,
  holdMaxMinutes: null,
  limitsAtHold: true,
  paymentMinutes: 30,
  waitingRoom: false,
  waitingRoomOpensAt: null,
  waitingRoomRate: 1,
  waitingRoomMinutes: 1,
  waitingRoomInactivitySeconds: 120,
  waitingRoomPauseWhenSoldOut: false,
  waitingRoomMaxAdmitted: null,
  maxTicketsPerOrder: null,
  maxTicketsPerEmail: null,
  requireIndividualData: false,
  retentionDays: null,
  performances: [],
  localities: [],
  ticketTypes: [],
  sellingStages: [],
  promoCodes: [],
};

/** The state of an event that nobody has defined yet. */
export function initialState(eventId: string, eventNumber: number): EventState {
  return {
    eventId,
    eventNumber,
    revision: 0,
    definitionVersion: 0,
    plan: compileSalePlan(NOTHING_DEFINED),
    performances: new Map(),
    holds: noHolds(),
    orders: noOrders(),
    perksSold: new Map(),
    waitingRoom: null,
    deadlines: new LazyHeap(),
    idempotency: noIdempotency(),
  };
}

/** Whether buyers can see the event. */
export function isPublished(state: EventState): boolean {
  return state.definitionVersion > 0 && state.plan.definition.status === 'PUBLISHED';
}
