/**
 * What is wrong in the checkout form, by field: what the page sees itself, and refusals of the service that are about
 * one field.
 */
import { isApiError } from '#client/api-error.ts';
import type { EventPayload, Hold } from '#client/bodies.ts';
import { inWords, texts } from '../app/language.ts';
import { attendeeField, attendeeName, type FieldProblems, type FormValues } from './fields.tsx';

/** The fields that must be filled in and are not, in the order of the form. */
export function problemsIn(event: EventPayload, hold: Hold, values: FormValues, acceptsTerms: boolean): FieldProblems {
  const text = (name: string): string => (values[name] ?? '').trim();
  const problems: Record<string, string> = {};
  if (text('name') === '') problems['name'] = texts.problems.name;
  if (text('email') === '') problems['email'] = texts.problems.email;
  else if (!/^[^\s@]+@[^\s@]+\.[^\s@.]{2,}$/.test(text('email'))) {
    problems['email'] = texts.problems.noEmail;
  }
  if (event.require_individual_data) {
    for (const [index, { ticket_count: count }] of hold.items.entries()) {
      for (let ticket = 0; ticket < count; ticket += 1) {
        const hasName = attendeeName(values, index, ticket) !== '';
        if (!hasName) problems[attendeeField(index, ticket)] = texts.problems.attendee;
      }
    }
  }
  if (!acceptsTerms) problems['terms'] = texts.refusals.TERMS_NOT_ACCEPTED;
  return problems;
}

const FIELD_OF: Readonly<Record<string, string>> = {
  MAX_TICKETS_PER_EMAIL_EXCEEDED: 'email',
  PROMO_CODE_INVALID: 'promo',
  PROMO_CODE_EXHAUSTED: 'promo',
  TERMS_NOT_ACCEPTED: 'terms',
};

/** The field that a refusal is about, with its sentence; empty when it is about none. */
export function problemsOf(error: unknown, event: EventPayload): FieldProblems {
  if (!isApiError(error)) return {};
  const field = FIELD_OF[error.code] ?? fieldOfPath(error.detail['errors']);
  return field === null ? {} : { [field]: inWords(error, { timezone: event.timezone }) };
}

/** The field of the first problem of a body: "/customer/email" is `email`, "/items/0/attendees/1/name" a ticket's. */
function fieldOfPath(errors: unknown): string | null {
  const path = Array.isArray(errors) ? String((errors[0] as { path?: unknown } | undefined)?.path ?? '') : '';
  const [, ofBuyer] = /^\/customer\/(name|email|phone)\b/.exec(path) ?? [];
  if (ofBuyer !== undefined) return ofBuyer;
  const [, item, ticket] = /^\/items\/(\d+)\/attendees\/(\d+)\b/.exec(path) ?? [];
  return item === undefined ? null : attendeeField(Number(item), Number(ticket));
}
