/**
 * A trace: what people did in a period of an event's sale, as plain data without anything personal.
 *
 * People, holds and orders are numbers. The only texts are ids and codes of the definition; e-mail addresses are kept
 * as numbers of buyers, so that limits per address count as they did.
 *
 * 1. Times are milliseconds since the period's beginning, in the order of the journal.
 * 2. Every intent was granted then: the journal keeps no refusals.
 */
import type { EventDefinition } from '#domain/catalogue/definition.ts';

/** Tickets of one type, stage and performance. */
export interface TracedItem {
  readonly performanceId: string;
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly quantity: number;
  /** The seats that were named; null where the best ones were taken, and without numbered seats. */
  readonly seatIds: readonly string[] | null;
}

/** An item of an order, with what a buyer adds at the checkout. */
export interface TracedOrderItem extends TracedItem {
  readonly ticketCount: number;
  readonly isNamed: boolean;
  readonly discountCode: string | null;
  readonly barPerks: readonly { readonly barPerkId: string; readonly quantity: number }[];
}

interface IntentBase {
  readonly at: number;
  readonly person: number;
}

/** How a wait in the waiting room ended then. */
export interface WaitEnd {
  readonly at: number;
  readonly by: 'ADMITTED' | 'LEFT' | 'GONE' | 'PERIOD';
}

export type Intent = IntentBase &
  (
    | { readonly kind: 'JOIN'; readonly entry: number; readonly end: WaitEnd }
    | { readonly kind: 'LEAVE'; readonly entry: number }
    | { readonly kind: 'HOLD'; readonly hold: number; readonly items: readonly TracedItem[] }
    /** Quantities that the change sets; 0 for a line that it drops. */
    | { readonly kind: 'CHANGE'; readonly hold: number; readonly items: readonly TracedItem[] }
    | { readonly kind: 'RELEASE'; readonly hold: number }
    | {
        readonly kind: 'START';
        /** Null for a checkout that began without a hold. */
        readonly hold: number | null;
        readonly order: number;
        /** Whose address it was: the same number for the same address. */
        readonly buyer: number;
        readonly items: readonly TracedOrderItem[];
        readonly promoCode: string | null;
        readonly installments: number;
        readonly totalCents: number;
      }
    | { readonly kind: 'REQUEST_PAYMENT'; readonly order: number }
    | { readonly kind: 'PAY'; readonly order: number; readonly outcome: 'paid' | 'declined' | 'cancelled' }
  );

export type IntentKind = Intent['kind'];

/** What operators did in the period. */
export type OperatorAction =
  | { readonly at: number; readonly kind: 'DEFINE'; readonly definition: EventDefinition }
  | {
      readonly at: number;
      readonly kind: 'CANCEL_PERFORMANCE';
      readonly performanceId: string;
      readonly orders: 'WHOLE' | 'TICKETS';
    }
  | {
      readonly at: number;
      readonly kind: 'BLOCK' | 'UNBLOCK';
      readonly performanceId: string;
      readonly seatIds: readonly string[];
    }
  | TracedCounterSale;

export interface TracedCounterSale {
  readonly at: number;
  readonly kind: 'SELL_AT_COUNTER';
  /** As of a START. */
  readonly buyer: number;
  readonly items: readonly TracedOrderItem[];
  /** FREE also where an order in cash came to nothing. */
  readonly payment: 'CASH' | 'FREE';
  readonly exceedsLimits: boolean;
}

/** What came out of the period. */
export interface Outcome {
  /** Tickets sold, less those cancelled. */
  readonly ticketsSold: number;
  /** `performance seat` of every numbered seat sold, sorted. */
  readonly seatsSold: readonly string[];
  readonly ordersSold: number;
  readonly soldCents: number;
  /** What was paid for one unit, by ticket type and stage: of orders of one kind, with discounts and perks. */
  readonly pricesCents: Readonly<Record<string, readonly number[]>>;
  /** When the last ticket of all on sale was sold; null when some were left. */
  readonly soldOutAt: number | null;
  /** Tickets sold by the end of each second. */
  readonly soldBySecond: readonly number[];
}

export interface Trace {
  readonly eventId: string;
  readonly beganAt: number;
  readonly lengthMs: number;
  /** As of the beginning. */
  readonly definition: EventDefinition;
  readonly people: number;
  readonly intents: readonly Intent[];
  readonly operations: readonly OperatorAction[];
  /** What was taken before the period and must not be sold in it. */
  readonly takenBefore: TakenBefore;
  readonly outcome: Outcome;
  /** What could not be made an intent of, and how often. */
  readonly leftOut: Readonly<Record<string, number>>;
}

export interface TakenBefore {
  readonly seats: readonly { readonly performanceId: string; readonly seatIds: readonly string[] }[];
  /** Places without numbers, by locality: the least of all performances. */
  readonly places: Readonly<Record<string, number>>;
}
