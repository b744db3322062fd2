/**
 * What a decision is: plain data.
 *
 * Its reply names by id what it shows, because the views depend on facts that are not applied yet; `toReply` makes
 * them.
 */
import { isRefusal, type Refusal } from './refusal.ts';
import type { CommandType, Replies, Reply } from './command.ts';
import type { Fact } from './fact.ts';

/** What a command leads to, unless it is refused: facts to keep, and the reply once they are applied. */
export interface Decision {
  readonly facts: readonly Fact[];
  readonly reply: ReplyReference;
}

const NO_FACTS: readonly Fact[] = [];

/** The facts that a command leads to; none where it is refused. */
export function factsOf(decision: Decision | Refusal): readonly Fact[] {
  return isRefusal(decision) ? NO_FACTS : decision.facts;
}

/** A reply that names what it shows. */
export type ReplyReference =
  /** The reply has only values, or a view of something that the facts do not change. */
  | { readonly shows: 'VALUES'; readonly reply: Reply }
  | { readonly shows: 'HOLD'; readonly holdId: string; readonly sessionKey: string }
  | { readonly shows: 'ENTRY'; readonly entryId: string; readonly sessionKey: string; readonly joined: boolean }
  /** `repeated`: what was reported was known already. */
  | { readonly shows: 'ORDER'; readonly orderId: string; readonly repeated: boolean }
  | { readonly shows: 'STATION'; readonly stationId: string }
  /** `paymentId`: of one that is to be paid, its first try. */
  | {
      readonly shows: 'AMENDMENT';
      readonly orderId: string;
      readonly amendmentId: string;
      readonly paymentId?: string;
      readonly replayed?: boolean;
    }
  /**
   * A payment id of null: the order has nothing to pay. `before`: the reply shows the order without later amendments.
   */
  | {
      readonly shows: 'PAYMENT';
      readonly orderId: string;
      readonly paymentId: string | null;
      readonly resumed: boolean;
      readonly replayed: boolean;
      readonly before?: { readonly changes: object | null };
    };

/** The reply to a command that shows values alone. */
export function valuesReply<Type extends CommandType>(reply: Replies[Type]): ReplyReference {
  return { shows: 'VALUES', reply: { outcome: 'DONE', ...reply } as Reply };
}
