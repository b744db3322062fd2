/**
 * An event's sale, fact by fact: between two facts the state can be asked as it was then.
 *
 * It reads only; what runs out without a fact stays as the facts left it.
 */
import { initialState } from '#domain/event-state.ts';
import { evolve } from '#domain/evolve.ts';
import type { QueryOf, QueryType, Views } from '#domain/query.ts';
import { read } from '#domain/read.ts';
import { readFact } from '#domain/replay.ts';
import type { Fact } from '#domain/fact.ts';
import type { FactRow } from '#persistence/journal.ts';
import { createHashing } from './crypto.ts';

export interface EventReplay {
  /** A stored fact in today's form, which is to be applied next. Throws UnknownFact. */
  readFact(row: FactRow): Fact;
  apply(fact: Fact, at: number): void;
  /** Answers a query as of a moment. */
  read<Type extends QueryType>(query: QueryOf<Type>, now: number): Views[Type];
}

export function startReplay(eventId: string, eventNumber: number): EventReplay {
  const state = initialState(eventId, eventNumber);
  const hashing = createHashing();
  return {
    readFact: (row) => readFact(row, state.plan),
    apply: (fact, at) => evolve(state, fact, at),
    read: (query, now) => read(state, query, { now, activation: 'replay', hashing, sealing: null }),
  };
}
