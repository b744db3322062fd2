/**
 * The records that requests leave in an event: their bytes by kind, and how the oldest are dropped.
 *
 * 1. An event drops records by itself as its own facts decide (`idempotency.ts`, `ended-holds.ts`, `ended-records.ts`).
 * 2. The bound of a process depends on all its events, which no event knows. So the process takes a turn of the event
 *    that keeps most (`actors/process-bytes.ts`), and a fact of that turn says that the oldest of a kind are dropped. A
 *    replay, a copy and the next owner in a cluster drop the same (I9).
 */
import { fact, type RetainedKind } from '../fact.ts';
import { valuesReply, type Decision } from '../decision.ts';
import { cutOldestHolds } from '../holds/evolve.ts';
import type { CommandOf } from '../command.ts';
import type { EventState } from './state.ts';

/** Every kind, in the order in which a process looks at them. */
export const RETAINED_KINDS = [
  'ANSWERS',
  'HOLD_ITEMS',
  'ENDED_HOLDS',
  'ENDED_ENTRIES',
] as const satisfies readonly RetainedKind[];

/** This share of answers or items is dropped at once, so that such turns are few and take some milliseconds each. */
const DROPPED_SHARE = 1 / 8;
const DROPPED_MAX = 10_000;

/** What the records of a kind take in memory, about. Constant time. */
export function retainedBytes({ idempotency, holds, waitingRoom }: EventState, kind: RetainedKind): number {
  switch (kind) {
    case 'ANSWERS':
      return idempotency.bytes;
    case 'HOLD_ITEMS':
      return holds.ended.wholeBytes;
    case 'ENDED_HOLDS':
      return holds.ended.cutBytes;
    case 'ENDED_ENTRIES':
      return waitingRoom?.entries.ended.bytes ?? 0;
  }
}

export function decideDropOldest(state: EventState, { of }: CommandOf<'DropOldest'>): Decision {
  const facts = retainedBytes(state, of) > 0 ? [fact('OldestDropped', { of })] : [];
  return { facts, reply: valuesReply<'DropOldest'>({}) };
}

/** The oldest of a kind leave: an eighth of the answers or items, or what ended within the oldest ten minutes. */
export function dropOldest({ idempotency, holds, waitingRoom }: EventState, kind: RetainedKind, at: number): void {
  switch (kind) {
    case 'ANSWERS':
      return idempotency.dropOldest(shareOf(idempotency.size));
    case 'HOLD_ITEMS':
      return cutOldestHolds(holds, shareOf(holds.ended.wholeCount), at);
    case 'ENDED_HOLDS':
      return holds.ended.dropOldest();
    case 'ENDED_ENTRIES':
      return waitingRoom?.entries.ended.dropOldest();
  }
}

function shareOf(count: number): number {
  return Math.min(DROPPED_MAX, Math.ceil(DROPPED_SHARE * count));
}
