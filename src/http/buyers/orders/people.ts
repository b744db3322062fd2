/** People as bodies name them. */
import { type Static, Type } from 'typebox';
import type { Attendee } from '#domain/personal.ts';
import { Nullable } from '../../protocol/fields.ts';

/** Longer than names of people; every order keeps one. */
const NAME_LENGTH_MAX = 200;

/** The longest address that mail can be sent to (RFC 5321). */
const EMAIL_LENGTH_MAX = 254;

/** Numbers of documents, with the words that people write beside them. */
const DOCUMENT_NUMBER_LENGTH_MAX = 100;

/** Fifteen digits (E.164) with signs between them and an extension. */
const PHONE_LENGTH_MAX = 50;

const CONTROLS = '\\u0000-\\u001f\\u007f-\\u009f';
const NO_CONTROLS = `^[^${CONTROLS}]*$`;

const text = (lengthMax: number) =>
  Type.Optional(
    Nullable(Type.String({ maxLength: lengthMax, pattern: NO_CONTROLS, mustBe: 'a text without control characters' })),
  );
const Name = Type.String({
  minLength: 1,
  maxLength: NAME_LENGTH_MAX,
  pattern: `^(?=.*\\S)[^${CONTROLS}]*$`,
  mustBe: 'a text that is not blank, without control characters',
});
export const Email = Type.String({
  maxLength: EMAIL_LENGTH_MAX,
  pattern: `^(?=[^${CONTROLS}]*$)\\s*[^\\s@]+@[^\\s@]+\\s*$`,
  mustBe: 'an e-mail address',
  description:
    'Kept as typed; compared trimmed, without regard to case, width and invisible characters, and without a +tag.',
  examples: ['ada@example.com'],
});

export const AttendeeInput = Type.Object({
  name: Name,
  email: Type.Optional(Nullable(Email)),
  document_number: text(DOCUMENT_NUMBER_LENGTH_MAX),
  phone: text(PHONE_LENGTH_MAX),
});

/** A person as a body names them. */
export function readAttendee({ name, email, document_number, phone }: Static<typeof AttendeeInput>): Attendee {
  return { name, email: email ?? null, documentNumber: document_number ?? null, phone: phone ?? null };
}
