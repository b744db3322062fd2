/** The fields of a JSON Schema as a list that people read: name, type, limits and meaning. */
import { html, type Html } from '../pages/html.ts';

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly additionalProperties?: Schema | boolean;
  readonly enum?: readonly (string | number | null)[];
  readonly const?: unknown;
  readonly description?: string;
  readonly format?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export type Schemas = Readonly<Record<string, Schema>>;

/** Deeper fields are named by their own schemas; no body of today reaches it. */
const DEPTH_MAX = 8;

/** The schema itself in place of a reference to it. */
export function resolved(schema: Schema, schemas: Schemas): Schema {
  const name = schema.$ref?.split('/').at(-1);
  return name === undefined
    ? schema
    : { ...schemas[name], ...(schema.description && { description: schema.description }) };
}

/** The fields of an object, or of the objects of an array; null where a schema has none. */
export function fieldsHtml(schema: Schema, schemas: Schemas, depth = 0): Html | null {
  const object = objectOf(schema, schemas);
  if (object === null || depth > DEPTH_MAX) return null;
  const rows = Object.entries(object.properties ?? {}).map(([name, field]) =>
    fieldHtml(name, field, object.required?.includes(name) ?? false, schemas, depth),
  );
  return rows.length === 0
    ? null
    : html`<ul class="fields">
        ${rows}
      </ul>`;
}

/** One field or parameter. */
export function fieldHtml(name: string, field: Schema, isRequired: boolean, schemas: Schemas, depth = 0): Html {
  const schema = resolved(field, schemas);
  const limits = limitsOf(schema, schemas);
  const inner = fieldsHtml(schema, schemas, depth + 1);
  return html`<li>
    <code class="name">${name}</code> <span class="type">${typeOf(schema, schemas)}</span>
    ${isRequired ? html`<span class="must">required</span>` : null}
    ${schema.description === undefined && limits === '' ? null : html`<p>${sentence(schema.description)} ${limits}</p>`}
    ${inner === null ? null : depth > 0 || inner.html.length > FOLDED_LENGTH_MIN ? folded(name, inner) : inner}
  </li>`;
}

const FOLDED_LENGTH_MIN = 1_500;

function folded(name: string, inner: Html): Html {
  return html`<details>
    <summary>Fields of <code>${name}</code></summary>
    ${inner}
  </details>`;
}

function sentence(text: string | undefined): string {
  if (text === undefined || text === '') return '';
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function objectOf(schema: Schema, schemas: Schemas): Schema | null {
  const whole = resolved(schema, schemas);
  if (whole.properties !== undefined) return whole;
  if (whole.items !== undefined) return objectOf(whole.items, schemas);
  if (typeof whole.additionalProperties === 'object') return objectOf(whole.additionalProperties, schemas);
  const parts = whole.anyOf ?? whole.oneOf ?? [];
  return parts.map((part) => objectOf(part, schemas)).find((part) => part !== null) ?? null;
}

function typeOf(schema: Schema, schemas: Schemas): string {
  const whole = resolved(schema, schemas);
  const parts = whole.anyOf ?? whole.oneOf;
  if (parts !== undefined) return [...new Set(parts.map((part) => typeOf(part, schemas)))].join(' or ');
  if (whole.const !== undefined) return JSON.stringify(whole.const);
  const types = [whole.type ?? 'any value'].flat();
  return types
    .map((type) => (type === 'array' ? `array of ${manyOf(whole.items, schemas)}` : namedType(type, whole)))
    .join(' or ');
}

function namedType(type: string, { format }: Schema): string {
  return type === 'string' && format === 'date-time' ? 'time' : type;
}

function manyOf(items: Schema | undefined, schemas: Schemas): string {
  const type = items === undefined ? 'any value' : typeOf(items, schemas);
  return type.includes(' ') ? type : `${type}s`;
}

function limitsOf(schema: Schema, schemas: Schemas): string {
  const of = (unit: string, min: number | undefined, max: number | undefined): string | null => {
    const [least, most] = [min, max].map((limit) => limit?.toLocaleString('en-US'));
    if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}.`;
    if (most !== undefined) return `At most ${most}${unit}.`;
    return least === undefined || least === '0' ? null : `At least ${least}${unit}.`;
  };
  const values = schema.enum ?? (schema.items === undefined ? undefined : resolved(schema.items, schemas).enum);
  return [
    values === undefined ? null : `One of ${values.map(String).join(', ')}.`,
    of(' characters', schema.minLength, schema.maxLength),
    of('', schema.minimum, schema.maximum),
    of(' entries', schema.minItems, schema.maxItems),
    schema.default === undefined ? null : `Default: ${JSON.stringify(schema.default)}.`,
  ]
    .filter((limit) => limit !== null)
    .join(' ');
}
