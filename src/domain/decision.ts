/** What a decision is, and how one is put together. */
import { isRefusal, type Refusal } from './refusal.ts';
import type { CommandType, Replies, Reply } from './command.ts';
import type { Fact } from './fact.ts';

/** What `decide` found: facts to keep, and the reply that holds once they are applied. */
export interface Decision {
  readonly outcome: 'DECIDED';
  readonly facts: readonly Fact[];
  /** Read after `evolve`, still in the same turn. */
  readonly reply: () => Reply;
}

/** The decision on a command of a type, unless it was refused. */
export function decided<Type extends CommandType>(
  facts: readonly Fact[] | Refusal,
  _type: Type,
  reply: () => Replies[Type],
): Decision | Refusal {
  if (isRefusal(facts)) return facts;
  return { outcome: 'DECIDED', facts, reply: () => ({ outcome: 'DONE', ...reply() }) as Reply };
}
