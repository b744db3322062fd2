/**
 * From the journal's texts back to facts, and from facts back to the state of an event.
 *
 * Owns the upcasters: a fact written by an older version is brought to today's form here and nowhere else. Facts are
 * applied by `evolve.ts`, on the same path as in a turn.
 */
import type { EventState } from './state.ts';
import { fact, FACT_TYPES, type Fact, type FactData, type FactType } from '../fact.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';
import { shareIds } from '../inventory/hold-line.ts';
import { readTracking } from '../orders/tracking.ts';
import { evolve } from './evolve.ts';

/** A fact as it is stored. */
export interface EventFact {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly data: string;
}

/** The journal holds a fact that this version of the code does not know; a newer one wrote it. */
export class UnknownFact extends Error {
  readonly hint = 'Run the version of Holdfast that wrote this journal, or a newer one.';
  constructor(seq: number, type: string) {
    super(`fact ${seq} is of the type ${type}, which this version does not know`);
    this.name = 'UnknownFact';
  }
}

/** Applies a stored fact. Throws UnknownFact, or a Defect when it cannot follow on what was before. */
export function replayFact(state: EventState, stored: EventFact): void {
  evolve(state, readFact(stored, state.plan), stored.at);
}

/** A stored fact in today's form. */
export function readFact({ seq, type, data }: EventFact, plan: SalePlan): Fact {
  if (!isKnownFact(type)) throw new UnknownFact(seq, type);
  const read = fact(type, JSON.parse(data));
  if (read.type === 'HoldPlaced' || read.type === 'HoldChanged') shareIds(read.data.lines, plan);
  if (read.type === 'OrderPlaced') boundStored(read.data);
  return read;
}

/** Facts of the first version kept attribution data of any size. Writes into what was parsed just now. */
function boundStored(order: Writable<FactData['OrderPlaced']>): void {
  order.tracking = readTracking(order.tracking);
}

/** Whether this version knows facts of a type. */
export function isKnownFact(type: string): type is FactType {
  return Object.hasOwn(FACT_TYPES, type);
}

type Writable<Value> = { -readonly [Key in keyof Value]: Value[Key] };
