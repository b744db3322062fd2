/**
 * The newest facts of all shards together, for operators.
 *
 * 1. The facts of one event are numbered by its shard. Those of all are ordered by their moments, and the next page is
 *    named by a moment.
 */
import type { FactsPage, FactsRequest } from '#engine/deployment.ts';
import type { FactRow } from '#persistence/journal.ts';
import { isChosen, isWanted } from '#engine/shown-facts.ts';
import { shardOf } from './placement.ts';
import type { ShardRouter } from '../calls/router.ts';

/** A page of facts of one type is chosen from so many facts of each shard. */
const CHOSEN_FROM = 200;

/** Facts of one moment may be many; a page is at least as long as the facts of one moment that it begins with. */
export async function newestOfAll(
  router: Pick<ShardRouter, 'call'>,
  shards: number,
  request: FactsRequest,
): Promise<FactsPage> {
  const { eventId, before } = request;
  // Without an event the facts of all are read, and chosen from here.
  const limit = isChosen(request) ? Math.max(request.limit, CHOSEN_FROM) : request.limit;
  if (eventId !== null) {
    return router.call(shardOf(eventId, shards), { kind: 'shard', name: 'facts', args: request });
  }
  const facts = (
    await Promise.all(Array.from({ length: shards }, (_, shard) => newestOf(router, shard, limit, before)))
  ).flat();
  facts.sort((one, other) => other.at - one.at || other.seq - one.seq);
  if (facts.length <= limit) return { facts: facts.filter((row) => isWanted(row, request)), nextBefore: null };
  const lastAt = facts[limit - 1]!.at;
  // The facts of the last moment are shown together, so that the next page can begin before it.
  const shown = facts.filter(({ at }, index) => index < limit || at === lastAt);
  return {
    facts: shown.filter((row) => isWanted(row, request)),
    nextBefore: shown.length < facts.length ? lastAt : null,
  };
}

/** More than `limit` facts of a shard from before a moment, or all of them. */
async function newestOf(
  router: Pick<ShardRouter, 'call'>,
  shard: number,
  limit: number,
  beforeAt: number | null,
): Promise<readonly FactRow[]> {
  const found: FactRow[] = [];
  for (let before: number | null = null; found.length <= limit;) {
    const args: FactsRequest = { eventId: null, limit: limit + 1, before };
    const page: FactsPage = await router.call(shard, { kind: 'shard', name: 'facts', args });
    found.push(...page.facts.filter(({ at }) => beforeAt === null || at < beforeAt));
    before = page.nextBefore;
    if (before === null) break;
  }
  return found;
}
