/** The newest facts of a journal, for operators: a page at a time, from the end. */
import type { FactRow, Journal } from '#persistence/journal.ts';
import type { FactsPage, FactsRequest } from './engine-port.ts';

/** Facts from which a page of chosen ones is made at most: reading them takes about 10 ms. */
export const FACTS_READ_MAX = 2_000;

/** Whether facts are chosen by more than their place. */
export function isChosen({ eventId, type, orderId }: FactsRequest): boolean {
  return eventId !== null || type !== undefined || orderId !== undefined;
}

/** Whether a fact is among those that are asked for. Its data is searched as text: an id stands in it as it is. */
export function isWanted(row: FactRow, { eventId, type, orderId }: FactsRequest): boolean {
  if (eventId !== null && row.eventId !== eventId) return false;
  if (type !== undefined && row.type !== type) return false;
  return orderId === undefined || row.data.includes(`"${orderId}"`);
}

/** A page of chosen facts has no end before the part of the journal that was read: there may be more of them. */
export function newestFacts(journal: Pick<Journal, 'durableSeq' | 'read'>, request: FactsRequest): FactsPage {
  const { limit, before } = request;
  const end = Math.min(before ?? Number.MAX_SAFE_INTEGER, journal.durableSeq + 1);
  const begin = Math.max(0, end - 1 - (isChosen(request) ? FACTS_READ_MAX : limit));
  const facts: FactRow[] = [];
  for (const row of journal.read({ afterSeq: begin })) {
    if (row.seq >= end) break;
    if (!isWanted(row, request)) continue;
    facts.push(row);
    if (facts.length > limit) facts.shift();
  }
  facts.reverse();
  const isEnd = !isChosen(request) && facts.length < limit;
  const first = facts.length === limit ? facts.at(-1)!.seq : begin + 1;
  return { facts, nextBefore: isEnd || first <= 1 ? null : first };
}
