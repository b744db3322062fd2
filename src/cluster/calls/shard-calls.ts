/**
 * What a node asks of the owner of a shard, and what the owner answers. All of it is plain data that survives JSON.
 *
 * 1. A command has an id of its own, which is the same at every try: an owner that finds it in the shard's log repeats
 *    the reply that was given and decides nothing.
 * 2. A call is answered by the owner of its shard alone; another node rejects it with Moved.
 * 3. A shard call concerns a shard as a whole; the index of all events is the business of shard 0.
 */
import type { FactsPage, FactsRequest, SnapshotSummary } from '#engine/deployment.ts';
import type { SaleAsRead, SaleRequest } from '#engine/sales-by-minute.ts';
import type { DefinedEvent } from '#actors/event-index.ts';
import type { AnsweredOnce } from '#engine/service-stream.ts';
import type { IndexedEvent } from '#actors/event-entry.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { EventSummary } from '#domain/event/public-view.ts';
import type { Command, CommandOf, CommandType, ReplyTo } from '#domain/command.ts';
import type { IdempotencyKey, OperatorNote } from '#domain/fact.ts';
import type { OperatorEventView } from '#domain/event/operator-view.ts';
import type { Query, QueryOf, QueryType, Views } from '#domain/event/query.ts';
import type { Refusal } from '#domain/refusal.ts';

export interface CommandCall<Asked extends Command = Command> {
  readonly kind: 'command';
  /** The same id at every try (rule 1). */
  readonly commandId: string;
  readonly eventId: string;
  readonly command: Asked;
  /** For an event that is defined for the first time: the number and slug that the index reserved. */
  readonly entry?: IndexedEvent;
}

export interface QueryCall<Asked extends Query = Query> {
  readonly kind: 'query';
  readonly eventId: string;
  readonly query: Asked;
}

/** The calls to a shard as a whole: what is given, and what is answered. */
export interface ShardCalls {
  /** Of shard 0: creates or updates an event. */
  define: {
    readonly args: { readonly commandId: string; readonly definition: EventDefinition; readonly by: OperatorNote };
    readonly answer: DefinitionAnswer;
  };
  /** A page of the shard's newest durable facts. */
  facts: { readonly args: FactsRequest; readonly answer: FactsPage };
  /** The sale of one of its events by minute. */
  saleByMinute: { readonly args: SaleRequest; readonly answer: SaleAsRead };
  /** Snapshots every event of the shard that has grown; with `prune`, older facts move to the archive. */
  snapshot: { readonly args: { readonly prune: boolean }; readonly answer: SnapshotSummary };
  /** Of shard 0: the same at every shard, under an idempotency key once. */
  snapshotAll: {
    readonly args: { readonly prune: boolean; readonly idempotency: IdempotencyKey | null };
    readonly answer: AnsweredOnce<SnapshotSummary> | Refusal;
  };
  /** What operators see of those of the events that are in memory. */
  active: {
    readonly args: { readonly eventIds: readonly string[] };
    readonly answer: readonly OperatorEventView[];
  };
  /** What the list shows of events; null for one that is not published or cannot be activated. */
  summary: {
    readonly args: { readonly eventIds: readonly string[] };
    readonly answer: readonly (EventSummary | null)[];
  };
}

/** `entry` is how the index has the event now. */
export type DefinitionAnswer = (DefinedEvent & { readonly entry: IndexedEvent }) | Refusal;

type ShardCallName = keyof ShardCalls;

interface ShardCallOf<Name extends ShardCallName> {
  readonly kind: 'shard';
  readonly name: Name;
  readonly args: ShardCalls[Name]['args'];
}

export type ShardCall = { [Name in ShardCallName]: ShardCallOf<Name> }[ShardCallName];

export type Call = CommandCall | QueryCall | ShardCall;

/** What a call is answered; one type a kind of call. */
export type AnswerTo<Asked extends Call> =
  Asked extends CommandCall<infer Given>
    ? Given extends CommandOf<infer Type extends CommandType>
      ? ReplyTo<Type> | Refusal
      : never
    : Asked extends QueryCall<infer Given>
      ? Given extends QueryOf<infer Type extends QueryType>
        ? Views[Type]
        : never
      : Asked extends ShardCallOf<infer Name>
        ? ShardCalls[Name]['answer']
        : never;

/**
 * Answers a call at the shard that this node owns. Rejects with Moved when it does not own it any more, or with
 * Overloaded.
 */
export type CallHandler = (shard: number, call: Call) => Promise<unknown>;

/**
 * The node does not own the shard, or not any more. Whether a command took effect is unknown; sent again with its id to
 * the next owner, it takes effect once.
 */
export class Moved extends Error {
  readonly shard: number;
  readonly why: string;
  constructor(shard: number, why: string, cause?: unknown) {
    super(`shard ${shard}: ${why}`, { cause });
    this.name = 'Moved';
    this.shard = shard;
    this.why = why;
  }
}
