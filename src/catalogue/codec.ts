/**
 * Codecs: how a part of an event's file is checked, described, read into the definition and written back, from one
 * table of fields.
 *
 *  1. Names are snake_case in a file and camelCase in a definition; `record` translates them.
 *  2. A field that is left out or null has its fallback. Without a fallback it is absent from the definition.
 *  3. `read` takes only what the schema accepted. `read` of what `write` returned gives the same definition again.
 *  4. A `description` in a schema completes the sentence "must be …", because problems quote it. `described` is the
 *     schema for documents, where a description says what a field means, and then what it must be.
 */
import { Type, type Static, type TObjectOptions, type TSchema, type TUnsafe } from 'typebox';

/** Where a value stands: its place in a list, and the object of the file that has the list. */
export interface ValuePosition<Owner = unknown, Context = unknown> {
  readonly index: number;
  readonly owner: Owner;
  /** What was prepared for the whole event. */
  readonly context: Context;
}

export interface Codec<File, Value> {
  readonly schema: TUnsafe<File>;
  readonly described: TUnsafe<File>;
  read(file: File, place: ValuePosition): Value;
  write(value: Value): File;
}

/** What a file has, as the schema accepts it. */
export type FileOf<Source> = Source extends Codec<infer File, infer _Value> ? File : never;

/**
 * Whether a file must have a field, and whether a definition has it always or only where the file does. `sparse` is
 * always there and left out of a written file where it is the default; `file` is in files only.
 */
type Presence = 'required' | 'always' | 'sparse' | 'present' | 'file';

interface Field<File, Value, P extends Presence> {
  readonly presence: P;
  readonly codec: Codec<File, Value>;
  /** What it means; where `default` is missing, also what it is when it is left out. */
  readonly meaning: string;
  readonly default?: unknown;
  /** Its value where it is left out, from the fields before it. */
  fallback?(before: unknown, place: ValuePosition): Value;
}

type Fields = Readonly<Record<string, Field<unknown, unknown, Presence>>>;
type FileIn<F> = F extends Field<infer File, infer _Value, infer _Presence> ? File : never;
type ValueIn<F> = F extends Field<infer _File, infer Value, infer _Presence> ? Value : never;
type NamesWith<F extends Fields, P extends Presence> = {
  [Name in keyof F]: F[Name]['presence'] extends P ? Name : never;
}[keyof F];
type Camel<Name> = Name extends `${infer Head}_${infer Rest}` ? `${Head}${Capitalize<Camel<Rest>>}` : Name;
type Flat<T> = { [Name in keyof T]: T[Name] };
type RecordFile<F extends Fields> = Flat<
  { [Name in NamesWith<F, 'required'>]: FileIn<F[Name]> } & {
    [Name in Exclude<keyof F, NamesWith<F, 'required'>>]?: FileIn<F[Name]>;
  }
>;
type RecordValue<F extends Fields> = Flat<
  { readonly [Name in NamesWith<F, 'required' | 'always' | 'sparse'> as Camel<Name>]: ValueIn<F[Name]> } & {
    readonly [Name in NamesWith<F, 'present'> as Camel<Name>]?: Exclude<ValueIn<F[Name]>, undefined>;
  }
>;

// ── fields ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export function required<File, Value>(codec: Codec<File, Value>, meaning: string): Field<File, Value, 'required'> {
  return { presence: 'required', codec, meaning };
}

/** A field with a default that documents show. */
export function optional<File, Value, const Default>(
  codec: Codec<File, Value>,
  standard: Default,
  meaning: string,
): Field<File, Value | Default, 'always'> {
  return { presence: 'always', codec, meaning, default: standard, fallback: () => standard };
}

/** A field whose default is made from the fields before it or from what is around it. */
export function derived<File, Value, Made>(
  codec: Codec<File, Value>,
  meaning: string,
  fallback: (before: never, place: never) => Made,
): Field<File, Value | Made, 'always'> {
  return { presence: 'always', codec, meaning, fallback: (before, place) => fallback(before as never, place as never) };
}

/** A mark that is written only where it is true. */
export function flag(meaning: string): Field<boolean, boolean, 'sparse'> {
  return { presence: 'sparse', codec: plain(Type.Boolean()), meaning, default: false, fallback: () => false };
}

/** A field that a definition has only where it has a value. */
export function present<File, Value>(
  codec: Codec<File, Value>,
  meaning: string,
  standard?: unknown,
  fallback?: (before: never, place: never) => Value | undefined,
): Field<File, Value | undefined, 'present'> {
  return {
    presence: 'present',
    codec,
    meaning,
    default: standard,
    fallback: (before, place) => fallback?.(before as never, place as never),
  };
}

/** A field that only files have: a short form of other fields. */
export function onlyInFile<File, Value>(
  codec: Codec<File, Value>,
  meaning: string,
  standard?: unknown,
): Field<File, Value, 'file'> {
  return { presence: 'file', codec, meaning, default: standard };
}

// ── codecs ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A value that is the same in a file and in a definition. */
export function plain<Schema extends TSchema>(schema: Schema): Codec<Static<Schema>, Frozen<Static<Schema>>> {
  const typed = Type.Unsafe<Static<Schema>>(schema);
  return {
    schema: typed,
    described: typed,
    read: (file) => file as Frozen<Static<Schema>>,
    write: (value) => value as Static<Schema>,
  };
}

type Frozen<T> = T extends readonly (infer Item)[] ? readonly Item[] : T;

/** The same codec with further keywords in its schemas, which allow further forms of the value in a file. */
export function widened<File, Value, Further>(
  codec: Codec<File, Value>,
  keywords: (schema: TSchema & { readonly type?: string }) => object,
): Codec<File | Further, Value> {
  const widen = (schema: TSchema) => Type.Unsafe<File | Further>({ ...schema, ...keywords(schema) });
  const { schema, described } = codec;
  return { ...(codec as Codec<File | Further, Value>), schema: widen(schema), described: widen(described) };
}

/** Null is allowed in the file, and means that the field is left out. */
export function nullable<File, Value>(codec: Codec<File, Value>): Codec<File | null, Value> {
  return widened<File, Value, null>(codec, ({ type }) => ({ type: [type, 'null'] }));
}

export function list<File, Value>(
  item: Codec<File, Value>,
  bounds: { readonly minItems?: number; readonly maxItems: number },
): Codec<File[], readonly Value[]> {
  return {
    schema: Type.Unsafe(Type.Array(item.schema, bounds)),
    described: Type.Unsafe(Type.Array(item.described, bounds)),
    read: (file, place) => file.map((each, index) => item.read(each, { ...place, index })),
    write: (value) => value.map(item.write),
  };
}

/** Rule 5. */
const ONLY_KNOWN_FIELDS = { additionalProperties: false, patternProperties: { '^x_': {} } };

/** An object with these fields, in this order. */
export function record<const F extends Fields>(fields: F): Codec<RecordFile<F>, RecordValue<F>> {
  const named = Object.entries(fields).map(([name, field]) => ({ ...field, name, key: toCamelCase(name) }));
  const schemaOf = (part: (field: Named) => TSchema, further: TObjectOptions = {}) => {
    const properties = named.map((field) => [
      field.name,
      field.presence === 'required' ? part(field) : Type.Optional(part(field)),
    ]);
    return Type.Unsafe<RecordFile<F>>(Type.Object(Object.fromEntries(properties), further));
  };
  return {
    schema: schemaOf(({ codec }) => codec.schema, ONLY_KNOWN_FIELDS),
    described: schemaOf(describe),
    read: (file, place) => readFields(named, file, place) as RecordValue<F>,
    write: (value) => writeFields(named, value) as RecordFile<F>,
  };
}

interface Named extends Field<unknown, unknown, Presence> {
  readonly name: string;
  readonly key: string;
}

type Values = Readonly<Record<string, unknown>>;

function readFields(fields: readonly Named[], file: Values, { context, ...around }: ValuePosition): Values {
  const definition: Record<string, unknown> = {};
  for (const { name, key, presence, codec, fallback } of fields) {
    if (presence === 'file') continue;
    const given = file[name] ?? null;
    const value =
      given === null
        ? fallback?.(definition, { ...around, context })
        : codec.read(given, { index: 0, owner: file, context });
    if (value !== undefined) definition[key] = value;
  }
  return definition;
}

function writeFields(fields: readonly Named[], definition: Values): Values {
  const file: Record<string, unknown> = {};
  for (const { name, key, presence, codec, fallback, default: standard } of fields) {
    if (presence === 'file') continue;
    let value = definition[key];
    // Definitions that were stored before a field existed lack it, or have null where a default stands now.
    if (presence === 'always') value ??= fallback?.(definition, nowhere);
    if (value === undefined || (presence === 'sparse' && value === standard)) continue;
    file[name] = value === null ? null : codec.write(value);
  }
  return file;
}

const nowhere: ValuePosition = { index: 0, owner: null, context: null };

function describe({ codec, meaning, default: standard }: Named): TSchema {
  const mustBe = (codec.schema as { readonly description?: string }).description;
  const description = capitalised(mustBe === undefined ? meaning : `${meaning} (${mustBe})`);
  return { ...codec.described, description, ...(standard !== undefined && { default: standard }) };
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function toCamelCase(name: string): string {
  return name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}
