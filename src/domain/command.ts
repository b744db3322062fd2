/**
 * Commands: what can be asked of a box office, and what it answers.
 *
 * Commands and replies are plain data, so that they can cross a thread or a network without a change behind the door.
 * Each command has one reply; a refusal may stand in its place.
 */
import type { EventDefinition } from './catalogue.ts';
import type { IdempotencyMark, OperatorMark } from './fact.ts';
import type { HoldView } from './views.ts';

/** One item of a request for tickets, as asked. */
export interface ItemRequest {
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly quantity: number;
  /** Null where the request left it out. */
  readonly performanceId: string | null;
  /** The seats picked, or null for the best available. */
  readonly seatIds: readonly string[] | null;
}

export interface Commands {
  PlaceHold: {
    readonly sessionKey: string;
    readonly items: readonly ItemRequest[];
    readonly queuePass: string | null;
    readonly idempotency: IdempotencyMark | null;
  };
  ChangeHold: { readonly holdId: string; readonly sessionKey: string; readonly items: readonly ItemRequest[] };
  ReleaseHold: { readonly holdId: string; readonly sessionKey: string };
  /** Ends what has run out; sent by the box office's actor before anything else in a turn. */
  SettleDeadline: { readonly subjectId: string };
  DefineEvent: OperatorMark & { readonly definition: EventDefinition };
  CancelPerformance: OperatorMark & { readonly performanceId: string };
  BlockSeats: OperatorMark & { readonly performanceId: string; readonly seatIds: readonly string[] };
  UnblockSeats: OperatorMark & { readonly performanceId: string; readonly seatIds: readonly string[] };
}

export interface Replies {
  /** `replayed`: the answer of an earlier request with the same idempotency key. */
  PlaceHold: { readonly hold: HoldView; readonly replayed: boolean };
  ChangeHold: { readonly hold: HoldView };
  ReleaseHold: { readonly hold: HoldView };
  SettleDeadline: Record<never, never>;
  DefineEvent: { readonly eventId: string; readonly version: number; readonly changed: boolean };
  CancelPerformance: { readonly releasedHolds: number; readonly cancelledOrders: number };
  BlockSeats: { readonly blockedSeats: number };
  UnblockSeats: { readonly unblockedSeats: number };
}

export type CommandType = keyof Commands;

export type CommandOf<Type extends CommandType> = { readonly type: Type } & Commands[Type];

export type Command = { [Type in CommandType]: CommandOf<Type> }[CommandType];

export type ReplyTo<Type extends CommandType> = { readonly outcome: 'DONE' } & Replies[Type];

export type Reply = { [Type in CommandType]: ReplyTo<Type> }[CommandType];
