/**
 * The validator of every route, and the list of problems in an answer.
 *
 * 1. Types are never coerced; unknown fields are neither removed nor refused.
 * 2. Every problem is listed, except in a list that is too long: only its length is reported, so that a body of bad
 *    items costs no more than a good one (`boundLists`).
 * 3. A query parameter that is a number stays a text of digits, checked by the keyword `integerText`.
 * 4. Schemas are compiled at their first use, or one in each pass of the event loop once the service is ready
 *    (`compileAhead`): to compile all of them took a fifth of the processor time of a start.
 */
import SerializerSelector from '@fastify/fast-json-stringify-compiler';
import { _, Ajv, type ErrorObject, type FormatDefinition, type ValidateFunction } from 'ajv';
import { useFunc } from 'ajv/dist/compile/util.js';
import ucs2length from 'ajv/dist/runtime/ucs2length.js';
import limitLength from 'ajv/dist/vocabularies/validation/limitLength.js';
import addFormats from 'ajv-formats';
import type { FastifySchemaCompiler } from 'fastify';
import { problemsInWords } from '#domain/schema-problems.ts';
import type { Problem } from '#domain/refusal.ts';

type JsonSchema = Readonly<Record<string, unknown>>;

type NamedSchemas = Readonly<Record<string, object>>;

interface IntegerBounds {
  readonly minimum: number;
  readonly maximum: number;
}

function isIntegerText(bounds: IntegerBounds, text: string): boolean {
  if (!/^(0|[1-9]\d{0,15})$/.test(text)) return false;
  const number = Number(text);
  return number >= bounds.minimum && number <= bounds.maximum;
}

/** RFC 3339 in UTC with milliseconds. The 31st and 29 February do not match: the full check decides about them. */
const PLAIN_MOMENT =
  /^\d{4}-(0[13-9]|1[0-2]|02(?=-[01]|-2[0-8]))-(0[1-9]|[12]\d|30)T([01]\d|2[0-3])(:[0-5]\d){2}\.\d{3}Z$/;

/** The compilers of this process, by the named schemas that they know. */
const serializerCompilers = new WeakMap<object, SerializerSelector.SerializerCompiler>();
const schemaTexts = new WeakMap<object, string>();

const ajv = new Ajv({
  allErrors: true,
  allowUnionTypes: true,
  coerceTypes: false,
  removeAdditional: false,
  verbose: true,
  // A test checks the schemas of the documents; the schema of schemas takes long to compile.
  validateSchema: false,
});
addFormats.default(ajv);
// Nearly all moments come as machines write them; the format's own check takes ten times as long.
const anyMoment = ajv.formats['date-time'] as FormatDefinition<string>;
const isMoment = anyMoment.validate as (text: string) => boolean;
ajv.addFormat('date-time', { ...anyMoment, validate: (text: string) => PLAIN_MOMENT.test(text) || isMoment(text) });
// A text has at least half as many characters as code units, and at most as many: they are counted only where that does
// not decide.
for (const keyword of limitLength.default.keyword) ajv.removeKeyword(keyword);
ajv.addKeyword({
  ...limitLength.default,
  before: 'pattern',
  code(at) {
    const { keyword, data, schemaCode: limit, gen } = at;
    const count = _`${useFunc(gen, ucs2length.default)}(${data})`;
    if (keyword === 'maxLength') at.fail$data(_`${data}.length > ${limit} && ${count} > ${limit}`);
    else at.fail$data(_`${data}.length < 2 * ${limit} && ${count} < ${limit}`);
  },
});
// Completes "must be …" where a pattern is not met.
ajv.addKeyword({ keyword: 'mustBe', schemaType: 'string' });
// The document shows another schema in place of the one that has it.
ajv.addKeyword({ keyword: 'documentedAs', schemaType: 'string' });
ajv.addKeyword({ keyword: 'integerText', type: 'string', schemaType: 'object', validate: isIntegerText });

/** Compiles the schemas of routes, once for all listeners and services of a process, as serializers are (rule 4). */
export const compileValidator: FastifySchemaCompiler<unknown> = oncePerSchema(({ schema }) => {
  const compiled = later((): ValidateFunction => ajv.compile(boundLists(schema) as JsonSchema));
  const validate = (value: unknown): boolean => {
    const check = compiled();
    const isValid = check(value);
    validate.errors = check.errors ?? null;
    return isValid;
  };
  validate.errors = null as ErrorObject[] | null;
  return validate;
});

/**
 * Makes the function that compiles the serializers of answers, once for each schema: most routes share those of errors,
 * and so do both listeners and all services of a process, because a serializer keeps nothing (rule 4).
 */
export function buildSerializer(
  ...[namedSchemas, options]: Parameters<SerializerSelector.SerializerFactory>
): SerializerSelector.SerializerCompiler {
  const named = namedSchemas as NamedSchemas;
  const compiler = serializerCompilers.get(named) ?? newSerializerCompiler(named, options);
  serializerCompilers.set(named, compiler);
  return compiler;
}

function newSerializerCompiler(
  namedSchemas: NamedSchemas,
  options: Parameters<SerializerSelector.SerializerFactory>[1],
): SerializerSelector.SerializerCompiler {
  type Compile = SerializerSelector.SerializerCompiler;
  const select = SerializerSelector();
  return oncePerSchema<Parameters<Compile>[0], ReturnType<Compile>>((route) => {
    const serializer = later(() => select(namedIn(route.schema as object, namedSchemas), options)(route));
    return (answer) => serializer()(answer);
  });
}

/**
 * The named schemas that a schema leads to, through others too: a compiler checks and copies each that it is given,
 * which for all of them took as long as the rest of its work.
 */
function namedIn(schema: object, named: NamedSchemas, found: Record<string, object> = {}): NamedSchemas {
  for (const [, name = ''] of textOf(schema).matchAll(/"\$ref":"([^"#]+)/g)) {
    const target = named[name];
    if (target === undefined || Object.hasOwn(found, name)) continue;
    found[name] = target;
    namedIn(target, named, found);
  }
  return found;
}

/** What is not compiled yet. */
const uncompiled = new Set<() => unknown>();

/** The same function, called once: when its result is first needed, or ahead of that (rule 4). */
function later<Compiled>(compile: () => Compiled): () => Compiled {
  let compiled: Compiled | undefined;
  const get = (): Compiled => {
    if (compiled === undefined) {
      uncompiled.delete(get);
      compiled = compile();
    }
    return compiled;
  };
  uncompiled.add(get);
  return get;
}

/** The pause after a start, which has more urgent work. */
const COMPILE_AHEAD_AFTER_MS = 1_000;

/** Has `compileAhead` begin a second from now. Keeps no process alive. */
export function compileAheadSoon(): void {
  setTimeout(compileAhead, COMPILE_AHEAD_AFTER_MS).unref();
}

/** Compiles what no request has needed yet, so that no buyer waits for it at the opening of a sale (rule 4). */
export function compileAhead(): void {
  const [first] = uncompiled;
  if (first === undefined) return;
  first();
  setImmediate(compileAhead).unref();
}

/** A schema as text, written once: every plugin of an app asks with the same objects. */
function textOf(schema: object): string {
  const text = schemaTexts.get(schema) ?? JSON.stringify(schema);
  schemaTexts.set(schema, text);
  return text;
}

/** The same compiler, which gives routes of equal schemas one compiled function. */
function oncePerSchema<Route extends { readonly schema?: unknown }, Compiled>(
  compile: (route: Route) => Compiled,
): (route: Route) => Compiled {
  const bySchema = new Map<string, Compiled>();
  return (route) => {
    const key = JSON.stringify(route.schema);
    const compiled = bySchema.get(key) ?? compile(route);
    bySchema.set(key, compiled);
    return compiled;
  };
}

/**
 * The same schema, in which the items of a list are checked only when the list has at most `maxItems` of them (rule 2).
 */
export function boundLists(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(boundLists);
  if (typeof schema !== 'object' || schema === null) return schema;
  const bounded = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, boundLists(part)]));
  const { items, uniqueItems, maxItems, ...rest } = bounded;
  if (![bounded['type']].flat().includes('array') || maxItems === undefined) return bounded;
  const checked = uniqueItems === undefined ? { items } : { items, uniqueItems };
  return { ...rest, if: { type: 'array', maxItems }, then: { type: 'array', ...checked }, else: { maxItems } };
}

/** What is wrong in a request, with the request's own names. */
export function problemsOf(errors: readonly Partial<ErrorObject>[]): readonly { path: string; message: string }[] {
  return problemsInWords(errors, ({ mustBe }) => mustBe);
}

/** A problem that no schema can show. */
export function problemAt(name: string, message: string): Problem {
  return { path: [name], message };
}
