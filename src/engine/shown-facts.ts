/**
 * Facts and texts in the form that operators are shown: `holdfast journal` without --reveal, the admin API, the
 * console, the log.
 *
 * Facts show the fields that `SHOWN_FIELDS` and the list below name. Other texts (messages of errors, findings of
 * `verify`) show everything except what looks like the id of a hold, a queue entry or a checkout session.
 */
import { hash } from 'node:crypto';
import { idsIn } from '#domain/ids.ts';
import { MASK, SHOWN_FIELDS, shownData, type FieldRules } from '#privacy/shown-fields.ts';
import type { ServiceFactData } from './service-facts.ts';
import type { FactRow, Journal } from '#persistence/journal.ts';
import type { FactsPage, FactsRequest } from './deployment.ts';

const SERVICE_FIELDS = {
  ClockAdvanced: { offsetMs: 'SHOWN' },
  NotificationsDelivered: { throughSeq: 'SHOWN', behind: 'WHOLE' },
  MailDelivered: { throughSeq: 'SHOWN', behind: 'WHOLE' },
  ServiceRequestAnswered: { key: 'HIDDEN', digest: 'HIDDEN', at: 'SHOWN', answer: 'HIDDEN' },
  EventReserved: { eventId: 'SHOWN', eventNumber: 'SHOWN', slug: 'SHOWN' },
  EventIndexed: { entry: 'WHOLE' },
  EventReservationEnded: { eventId: 'SHOWN', slug: 'SHOWN' },
} as const satisfies {
  readonly [Type in keyof ServiceFactData]: { readonly [Field in keyof ServiceFactData[Type]]-?: string };
};

const RULES: Readonly<Record<string, FieldRules>> = { ...SHOWN_FIELDS, ...SERVICE_FIELDS };

const LABEL_LENGTH = 8;

/** The JSON text of a fact's data without its secrets; of an unknown type nothing is shown. */
export function shownFact(type: string, data: string): string {
  const rules = Object.hasOwn(RULES, type) ? RULES[type]! : {};
  return JSON.stringify(shownData(rules, JSON.parse(data), labelOf));
}

/** A text with labels in place of the secret ids in it. */
export function withoutSecretIds(text: string): string {
  return idsIn(text, ['hld', 'que', 'cs']).reduce((shown, id) => shown.replaceAll(id, labelOf(id)), text);
}

/** The label in place of a secret id: the first digits of its SHA-256. */
function labelOf(id: string): string {
  return MASK + hash('sha256', id).slice(0, LABEL_LENGTH);
}

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
