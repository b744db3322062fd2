/**
 * Facts: what happened, as the journal keeps it. This file is the storage format.
 *
 * A field is never renamed or given another meaning; new ones are optional, and an upcaster below
 * fills them in for facts written earlier. A golden file with one of each fact is replayed in the tests.
 * Times are milliseconds since 1970, amounts cents. The moment of a fact (`at`) stands beside it in the journal.
 */
import type { EventDefinition } from './catalogue.ts';

/** One line of a hold: units of one ticket type, in one stage, on one date, at the price of its first placing. */
export interface HoldLine {
  readonly performanceId: string;
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly quantity: number;
  /** quantity × group_size. */
  readonly ticketCount: number;
  readonly unitPriceCents: number;
  /** As many as tickets on numbered seating, empty elsewhere. */
  readonly seatIds: readonly string[];
}

/** What makes a repeat of a request recognizable. */
export interface IdempotencyMark {
  readonly key: string;
  /** Digest of the route and the request's body. */
  readonly digest: string;
}

/** Who did it and why, on facts that come from the operators' side. */
export interface OperatorMark {
  readonly operator: string | null;
  readonly note: string | null;
}

export interface FactData {
  EventDefined: OperatorMark & {
    readonly eventNumber: number;
    /** 1 for the first definition, one more with each that differs. */
    readonly version: number;
    readonly definition: EventDefinition;
  };
  PerformanceCancelled: OperatorMark & { readonly performanceId: string };
  SeatsBlocked: OperatorMark & { readonly performanceId: string; readonly seatIds: readonly string[] };
  SeatsUnblocked: OperatorMark & { readonly performanceId: string; readonly seatIds: readonly string[] };

  HoldPlaced: {
    readonly holdId: string;
    readonly sessionKey: string;
    readonly lines: readonly HoldLine[];
    readonly expiresAt: number;
    /** When this session's chain of replaced holds began; the ceiling of hold_max_minutes counts from here. */
    readonly firstPlacedAt: number;
    readonly replacedHoldId: string | null;
    readonly idempotency: IdempotencyMark | null;
  };
  HoldChanged: { readonly holdId: string; readonly lines: readonly HoldLine[]; readonly expiresAt: number };
  HoldReleased: { readonly holdId: string };
  HoldExpired: { readonly holdId: string };
}

export type FactType = keyof FactData;

export type FactOf<Type extends FactType> = { readonly type: Type; readonly data: FactData[Type] };

export type Fact = { [Type in FactType]: FactOf<Type> }[FactType];

/** Makes a fact; a function and not a literal only so that the compiler ties the data to the type. */
export function fact<Type extends FactType>(type: Type, data: FactData[Type]): Fact {
  return { type, data } as Fact;
}
