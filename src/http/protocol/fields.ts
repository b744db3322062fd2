/**
 * The fields that many bodies share, as JSON Schema and TypeScript type in one.
 *
 * Bounds of ids are those of the catalogue: a longer id names nothing. `ref` lets one schema name another, so that the
 * OpenAPI document has each body once, under its name.
 */
import { Type, type Static, type TSchema } from 'typebox';

export const Id = Type.String({ minLength: 1, maxLength: 128 });
export const SeatId = Type.String({ minLength: 1, maxLength: 400 });

export const SESSION_KEY_LENGTH_MIN = 8;
export const SESSION_KEY_LENGTH_MAX = 128;

export const SessionKey = Type.String({
  minLength: SESSION_KEY_LENGTH_MIN,
  maxLength: SESSION_KEY_LENGTH_MAX,
  description: 'Opaque id of one browser; owns its holds and queue entries. Keep it secret.',
  examples: ['browser-7f3a9c'],
});

export const Time = Type.String({ format: 'date-time', examples: ['2027-05-07T18:00:00.000Z'] });
export const Cents = Type.Integer({
  description: "In the minor unit of the event's currency (ISO 4217): cents of EUR, yen of JPY, fils of KWD.",
  examples: [4500],
});
export const Count = Type.Integer({ minimum: 0 });

/** A field whose value may be null, in the plain form that documents, validators and serializers all know. */
export function Nullable<Schema extends TSchema>(schema: Schema) {
  const type = (schema as { readonly type?: string }).type;
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [type, 'null'] });
}

/** A query parameter that is a whole number written in digits; the document shows it as the integer that it means. */
export function IntegerText(bounds: { readonly minimum: number; readonly maximum: number; readonly default?: number }) {
  return Type.Unsafe<string>({ type: 'string', integerText: bounds });
}

/** Names another schema by its `$id`. */
export function ref<Schema extends TSchema>(schema: Schema) {
  return Type.Unsafe<Static<Schema>>({ $ref: `${(schema as { readonly $id?: string }).$id}#` });
}

/** Where a call takes the session key from the address or, preferred, from the X-Session-Key header. */
export const SessionKeyQuery = Type.Object({
  session_key: Type.Optional({
    ...SessionKey,
    description: 'The key that owns the hold or entry; the header X-Session-Key is preferred, it stays out of logs.',
  }),
});

const noteText = Type.String({ maxLength: 1_000, description: 'Why; kept with what was done.' });

export const Note = Type.Optional(Nullable(noteText));

/** The headers of a change by an operator. */
export const OperatorHeaders = Type.Object({
  'x-operator': Type.Optional(Type.String({ maxLength: 200, description: 'Who does it; kept with what was done.' })),
});

/** The note of a definition stands in the address, because the body is the definition alone. */
export const NoteQuery = Type.Object({ note: Type.Optional(noteText) });

/** The body of a change that needs no other; it may be missing. */
export const NoteOnly = Type.Unsafe<{ readonly note?: string | null } | null>({
  ...Type.Object({ note: Note }),
  type: ['object', 'null'],
});

export const ErrorBodySchema = Type.Object(
  {
    statusCode: Type.Integer({ description: 'The HTTP status.' }),
    code: Type.String({ description: 'Stable identifier to match on.', examples: ['INSUFFICIENT_TICKETS'] }),
    message: Type.String({ description: 'For people; programs match on the code.' }),
    detail: Type.Object({}, { additionalProperties: true, description: 'Keys depend on the code.' }),
    timestamp: Time,
  },
  { $id: 'ErrorBody', description: 'What every error answers.' },
);

/** The security of a route of the operators' API. */
export const bearer = [{ bearer: [] }];

/** As long as the longest address that browsers and proxies take. */
const WEB_ADDRESS_LENGTH_MAX = 2_048;

/** Where a buyer returns to. */
export const WebAddress = Type.Optional(
  Nullable(
    Type.String({
      maxLength: WEB_ADDRESS_LENGTH_MAX,
      pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$',
      mustBe: 'an address that begins with http:// or https://',
      description: '{ORDER_ID} in it is replaced.',
      examples: ['https://shop.example/thanks?order={ORDER_ID}'],
    }),
  ),
);

/** The path under which the pictures of the catalogue's folder are served. */
export const PICTURES_PATH = '/pictures/';
