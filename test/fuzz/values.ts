/**
 * Generators of values: made from schemas, mutated in one place or several, and texts that are not quite JSON.
 *
 * Ids of a running service are written as placeholders such as `‹hold 3›`, which `fuzz/service.ts` replaces when it
 * sends, so that counterexamples stay short and readable.
 */
import { anyText, fc } from '../property.ts';
import type { Schema } from './document.ts';

export type Arbitrary<Value> = fc.Arbitrary<Value>;

/** Kinds of ids: the client's own, and those of customers that the client knows. */
const KINDS = ['hold', 'entry', 'order', 'session', 'ticket', 'other hold', 'other entry'] as const;
export type Kind = (typeof KINDS)[number];

/** An id of one of the kinds, as a placeholder. */
export function idOf(...kinds: readonly Kind[]): Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...kinds), fc.nat({ max: 40 })).map(([kind, index]) => `‹${kind} ${index}›`);
}

export const CLIENT_KEYS = ['client-key-one', 'client-key-two', 'client-key-ünïcode-🎫'];

const nasty = [
  '',
  ' ',
  '0',
  '-1',
  '1e3',
  'null',
  'undefined',
  'NaN',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '\u0000',
  '\uFEFF',
  '\u202Eabc',
  'ﷺ'.repeat(50),
  'e\u0301'.repeat(100),
  '🎫'.repeat(130),
  'x'.repeat(129),
  'x'.repeat(5_000),
  "'; DROP TABLE journal; --",
  '<script>alert(1)</script>',
  '${7*7}{{7*7}}',
  '../../../etc/passwd',
  '%s%n%x',
  '{ORDER_ID}',
  'javascript:alert(1)',
  'hld_1_aaaaaaaaaaaaaaaaaaaaaaaa',
  'ord_zzzzzzzz_aaaaaaaaaaaaaaaaaaaaaaaa',
];

const numbers = [0, -0, -1, 0.5, 1e9, 1e9 + 1, 2 ** 31, 2 ** 53, 2 ** 53 + 2, -(2 ** 53), 1e21, 1e300, 5e-324];

export const text = fc.oneof(
  fc.constantFrom(...nasty),
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  anyText({ maxLength: 20 }),
);

const scalar = fc.oneof(text, fc.constantFrom(...numbers), fc.integer(), fc.boolean(), fc.constant(null));

const deep = fc.integer({ min: 3, max: 2_000 }).map((depth) => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
});

export const anything = fc.oneof({ weight: 6, arbitrary: scalar }, fc.jsonValue({ maxDepth: 4 }), deep);

// ── from schemas ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** Useful values of a property, by its name in the API. */
export type Vocabulary = Readonly<Record<string, Arbitrary<unknown>>>;

/** Values that a schema allows, most of the time; properties in the vocabulary take their values from it. */
export function valueOf(schema: Schema, words: Vocabulary): Arbitrary<unknown> {
  const types = [schema['type']].flat() as (string | undefined)[];
  const values = types.flatMap((type) => ofType(type, schema, words));
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...(schema['enum'] as unknown[]));
  return values.length === 0 ? fc.jsonValue({ maxDepth: 2 }) : fc.oneof(...values);
}

function ofType(type: string | undefined, schema: Schema, words: Vocabulary): Arbitrary<unknown>[] {
  const least = Number(schema['minimum'] ?? -1);
  const most = Number(schema['maximum'] ?? 1_000);
  switch (type) {
    case 'string':
      return [textOf(schema)];
    case 'integer':
      return [fc.oneof(fc.integer({ min: least, max: Math.min(most, least + 5) }), fc.constantFrom(least, most))];
    case 'number':
      return [fc.double({ min: least, max: most, noNaN: true })];
    case 'boolean':
      return [fc.boolean()];
    case 'null':
      return [fc.constant(null)];
    case 'array': {
      const minLength = Number(schema['minItems'] ?? 0);
      const item = valueOf((schema['items'] ?? {}) as Schema, words);
      return [fc.array(item, { minLength, maxLength: Math.min(Number(schema['maxItems'] ?? 3), minLength + 2) })];
    }
    case 'object':
      return [objectOf(schema, words)];
    default:
      return [];
  }
}

function textOf({ examples, minLength = 0, maxLength = 60 }: Schema): Arbitrary<unknown> {
  const bounds = { minLength: Number(minLength), maxLength: Math.min(Number(maxLength), Number(minLength) + 40) };
  const made = fc.oneof(fc.string(bounds), fc.string({ ...bounds, unit: 'grapheme' }));
  return Array.isArray(examples) ? fc.oneof(made, fc.constantFrom(...(examples as unknown[]))) : made;
}

function objectOf({ properties = {}, required = [] }: Schema, words: Vocabulary): Arbitrary<unknown> {
  const named = Object.entries(properties as Readonly<Record<string, Schema>>).map(
    ([name, part]) => [name, words[name] ?? valueOf(part, words)] as const,
  );
  return fc.record(Object.fromEntries(named), { requiredKeys: required as string[] }) as Arbitrary<unknown>;
}

// ── mutated values ───────────────────────────────────────────────────────────────────────────────────────────────────

const CHANGES = ['drop', 'replace', 'wrap', 'double', 'add', 'rename'] as const;

interface Mutation {
  /** The index of the place in the value, counted from its root; it wraps around. */
  readonly at: number;
  readonly change: (typeof CHANGES)[number];
  readonly name: string;
  readonly value: unknown;
}

const mutate: Arbitrary<Mutation> = fc.record({
  at: fc.nat({ max: 60 }),
  change: fc.constantFrom(...CHANGES),
  name: fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', 'length', 'id', ''), text),
  value: anything,
});

/** A value of the arbitrary, mutated in no place, in one or in several. */
export function mutated(value: Arbitrary<unknown>): Arbitrary<unknown> {
  const bends = fc.oneof(fc.constant([]), fc.array(mutate, { minLength: 1, maxLength: 3 }));
  return fc.tuple(value, bends).map(([whole, all]) => all.reduce<unknown>(applyBend, whole));
}

function applyBend(whole: unknown, { at, change, name, value }: Mutation): unknown {
  const places = placesIn(whole);
  const place = places[at % places.length]!;
  return replaceAt(whole, place, (part) => {
    switch (change) {
      case 'drop':
        return DROPPED;
      case 'replace':
        return value;
      case 'wrap':
        return [part];
      case 'double':
        return Array.isArray(part) ? Array.from({ length: 30 }, () => part).flat() : print(part).repeat(2);
      case 'add':
        return isObject(part) ? ownProperty(part, name, value) : part;
      case 'rename':
        return isObject(part) ? Object.fromEntries(Object.entries(part).map(([key, each]) => [`${key}_`, each])) : part;
    }
  });
}

const DROPPED = Symbol('dropped');

type Place = readonly (string | number)[];

function placesIn(value: unknown, place: Place = [], depth = 0): Place[] {
  if (typeof value !== 'object' || value === null || depth > 6) return [place];
  return [place, ...Object.entries(value).flatMap(([key, part]) => placesIn(part, [...place, key], depth + 1))];
}

function replaceAt(value: unknown, [step, ...rest]: Place, change: (part: unknown) => unknown): unknown {
  if (step === undefined) {
    const changed = change(value);
    return changed === DROPPED ? null : changed;
  }
  const entries = Object.entries(value as object).flatMap(([key, part]) => {
    if (key !== String(step)) return [[key, part] as const];
    const changed = rest.length === 0 ? change(part) : replaceAt(part, rest, change);
    return changed === DROPPED ? [] : [[key, changed] as const];
  });
  if (Array.isArray(value)) return entries.map(([, part]) => part);
  return entries.reduce((object, [key, part]) => ownProperty(object, key, part), {});
}

/** Sets an own property of the object even when its name is `__proto__`. */
function ownProperty(object: object, name: string, value: unknown): object {
  return Object.defineProperty({ ...object }, name, { value, enumerable: true, configurable: true, writable: true });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A JSON text, in most cases unchanged, otherwise damaged so that a strict parser must notice. */
const twists: readonly ((json: string, at: number) => string)[] = [
  (json, at) => json.slice(0, at % (json.length + 1)),
  (json, at) => `${json.slice(0, at % (json.length + 1))},${json.slice(at % (json.length + 1))}`,
  (json) => `${json}${json}`,
  (json) => `\uFEFF${json}`,
  (json) => `${json}\u0000`,
  (json) => json.replaceAll('"', "'"),
  (json) => `/* hello */ ${json}`,
  (json) => json.replace(/(?<=:)\d+/, '1e999'),
  (json) => json.replace(/(?<=:)\d+/, '0001'),
  (json) => json.replace(/(?<=:)\d+/, '1.0'),
  (json) => json.replace(/(?<=:)\d+/, '9007199254740993'),
  (json) => json.replace(/(?<=:)\d+/, 'NaN'),
  (json) => json.replace(/^\{/, '{"event_id":"evt_club","event_id":"none","session_key":1,'),
  (json) => json.replace(/^\{/, '{"__proto__":{"items":[]},"constructor":{"prototype":{"a":1}},'),
  (json) => json.replace(/"([^"‹]*)"(?!:)/, '"\\ud800$1"'),
  (json) => `${'['.repeat(20_000)}${json}`,
  (json) => `${' '.repeat(2_000)}${json}\r\n\t`,
];

export function textOfJson(value: Arbitrary<unknown>): Arbitrary<string> {
  const twist = fc.tuple(fc.nat({ max: twists.length - 1 }), fc.nat({ max: 2_000 }));
  return fc.oneof(
    { weight: 5, arbitrary: value.map(print) },
    { weight: 2, arbitrary: fc.tuple(value, twist).map(([each, [which, at]]) => twists[which]!(print(each), at)) },
    { weight: 1, arbitrary: text },
  );
}

function print(value: unknown): string {
  return JSON.stringify(value) ?? '';
}
