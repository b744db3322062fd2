/**
 * Facts and texts in the form that operators are shown: `holdfast journal` without --reveal, the admin API, the console, the log.
 *
 * Of facts, what `SHOWN_FIELDS` and the list below name. Of other texts (messages of errors, what `verify` finds), everything but
 * what looks like the id of a hold, of a queue entry or of a checkout session.
 */
import { hash } from 'node:crypto';
import { idsIn } from '#domain/ids.ts';
import { MASK, SHOWN_FIELDS, shownData, type FieldRules } from '#domain/shown-fields.ts';
import type { ServiceFactData } from './service-facts.ts';

const SERVICE_FIELDS = {
  ClockAdvanced: { offsetMs: 'SHOWN' },
  NotificationsDelivered: { throughSeq: 'SHOWN', behind: 'WHOLE' },
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

/** What stands for a secret id: the first digits of its SHA-256. */
export function labelOf(id: string): string {
  return MASK + hash('sha256', id).slice(0, LABEL_LENGTH);
}
