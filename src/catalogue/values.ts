/**
 * The values that an event's file is made of. Each list, text and number has a limit, so that a definition has a
 * bounded size.
 */
import { Type } from 'typebox';
import { nullable, plain, record, required, type Codec } from './codec.ts';

/** Ten million in the main unit of most currencies; sums of many stay exact integers. */
export const priceCentsMax = 1_000_000_000;
/** More than any place on earth has. */
const ticketsMax = 10_000_000;
/** The largest coordinate in every direction. */
export const coordinateMax = 1e9;

/** No control character, and no half of a surrogate pair, which no address and no file can have. */
const unprintable = '\\u0000-\\u001f\\u007f-\\u009f\\ud800-\\udfff';
export const printable = `^[^${unprintable}]*$`;

/** The same without space at its ends. */
export const printableWord = `^[^\\s${unprintable}]([^${unprintable}]*[^\\s${unprintable}])?$`;

/** The same with line feeds, for texts of several lines. */
const printableLines = '^[^\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\ud800-\\udfff]*$';

/** A text that names something: 1 to so many characters. */
export function printableText(maxLength: number) {
  const description = `a text of 1 to ${maxLength} characters without control characters`;
  return plain(Type.String({ minLength: 1, maxLength, pattern: printable, description }));
}

export const id = printableText(128);
export const label = printableText(100);
/** Long enough for the default id of a seat: the section's id, the row's label and the seat's. */
export const seatId = printableText(400);
export const addressable = plain(
  Type.String({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$',
    description: '1 to 100 letters, digits, dots, hyphens, underscores or tildes, the first a letter or digit',
  }),
);
export const name = printableText(300);
export const text = plain(
  Type.String({
    maxLength: 20_000,
    pattern: printableLines,
    description: 'a text of at most 20000 characters, without control characters but line feeds',
  }),
);
export const textOrNull = nullable(
  plain(
    Type.String({
      maxLength: 300,
      pattern: printable,
      description: 'a text of at most 300 characters without control characters',
    }),
  ),
);
export const webAddress = plain(
  Type.String({
    maxLength: 2_048,
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$',
    description: 'an address that begins with http:// or https://',
  }),
);
export const truth = plain(Type.Boolean());
export const colorOrNull = nullable(
  plain(
    Type.String({
      maxLength: 60,
      pattern: '^(#[0-9A-Fa-f]{3,8}|[A-Za-z]+|(rgb|hsl)a?\\([0-9.,%/ -]+\\))$',
      description: 'a colour, such as #0072B2',
    }),
  ),
);

/** A time: text with an offset in a file, milliseconds since 1970 in a definition. */
export const timeOrNull: Codec<string | null, number> = {
  ...nullable(
    plain(
      Type.String({
        format: 'date-time',
        description: 'a time with its offset (RFC 3339), such as 2027-05-07T18:00:00Z',
      }),
    ),
  ),
  read: (file) => Date.parse(file!),
  write: (instant) => new Date(instant).toISOString(),
};

export const count = (minimum: number, maximum = ticketsMax) => plain(Type.Integer({ minimum, maximum }));
export const countOrNull = (minimum: number, maximum = ticketsMax) => nullable(count(minimum, maximum));
export const minutes = (maximum: number) => plain(Type.Number({ exclusiveMinimum: 0, maximum }));
export const price = plain(
  Type.Integer({
    minimum: 0,
    maximum: priceCentsMax,
    description: 'a whole number in the minor unit of the currency, such as 4550 for 45.50',
  }),
);
export const priceOrNull = nullable(price);
/** Where something stands among its like. */
export const rank = count(-1_000_000, 1_000_000);

export function oneOf<const Values extends readonly string[]>(...values: Values) {
  return plain(Type.Unsafe<Values[number]>({ enum: values }));
}

/** Different texts, at least one; null is no restriction. */
export function someOrNull(item: Codec<string, string>): Codec<string[] | null, readonly string[]> {
  const some = Type.Array(item.schema, { minItems: 1, maxItems: 1_000, uniqueItems: true });
  return nullable(plain(Type.Unsafe<string[]>(some)));
}

export const coordinate = plain(Type.Number({ minimum: -coordinateMax, maximum: coordinateMax }));
/** A coordinate that is added to others: the sum of three is still a coordinate. */
export const offset = plain(Type.Number({ minimum: -coordinateMax / 4, maximum: coordinateMax / 4 }));

const pointOf = (along: typeof coordinate) =>
  record({ x: required(along, 'from left to right'), y: required(along, 'from top to bottom') });

export const point = pointOf(coordinate);
export const origin = pointOf(offset);
