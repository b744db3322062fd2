/**
 * The shape of a JSON body, read from a TypeScript type or from a JSON schema, so that the two can be compared.
 *
 *  1. A shape keeps what a client can rely on: properties, which of them are optional, null, enum values and primitives.
 *     Integers are numbers, and formats, limits and descriptions are left out.
 *  2. Alternatives that are objects are joined to one, in which a property that only some of them have is optional.
 *  3. `differences` names each place where two shapes differ by its path, as in `Order.payments[].status`.
 */
import { API, type Checker, SymbolFlags, type Type, TypeFlags } from 'typescript/unstable/sync';

export type Shape =
  | { readonly kind: 'string' | 'number' | 'boolean' | 'null' | 'unknown' }
  | { readonly kind: 'enum'; readonly values: readonly string[] }
  | { readonly kind: 'array'; readonly items: Shape }
  | { readonly kind: 'record'; readonly values: Shape }
  | ObjectShape
  | { readonly kind: 'union'; readonly members: readonly Shape[] };

export interface ObjectShape {
  readonly kind: 'object';
  readonly properties: Readonly<Record<string, Property>>;
}

export interface Property {
  readonly shape: Shape;
  readonly isOptional: boolean;
}

// ── from TypeScript ──────────────────────────────────────────────────────────────────────────────────────────────────

/** The shapes of all types that a file exports, by name. */
export function shapesInFile(project: string, file: string): ReadonlyMap<string, Shape> {
  const api = new API();
  try {
    const snapshot = api.updateSnapshot({ openProject: project });
    const { checker, program } = snapshot.getProject(project)!;
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!;
    return new Map(
      checker
        .getExportsOfModule(module)
        .map((symbol) => [symbol.name, shapeOfType(checker, checker.getDeclaredTypeOfSymbol(symbol))]),
    );
  } finally {
    api.close();
  }
}

const PRIMITIVES = [
  [TypeFlags.String, 'string'],
  [TypeFlags.Number, 'number'],
  [TypeFlags.Boolean | TypeFlags.BooleanLiteral, 'boolean'],
  [TypeFlags.Null, 'null'],
  [TypeFlags.Unknown, 'unknown'],
] as const;

function shapeOfType(checker: Checker, type: Type): Shape {
  const primitive = PRIMITIVES.find(([flag]) => (type.flags & flag) !== 0);
  if (primitive !== undefined) return { kind: primitive[1] };
  if (type.isStringLiteralType()) return { kind: 'enum', values: [type.value] };
  if (type.isUnionType()) {
    const members = type.getTypes()!.filter(({ flags }) => (flags & TypeFlags.Undefined) === 0);
    return unionOf(members.map((member) => shapeOfType(checker, member)));
  }
  if (type.isTypeReference() && checker.isArrayLikeType(type)) {
    return { kind: 'array', items: shapeOfType(checker, checker.getTypeArguments(type)[0]!) };
  }
  const [index] = checker.getIndexInfosOfType(type);
  if (index !== undefined) return { kind: 'record', values: shapeOfType(checker, index.valueType) };
  const properties = checker.getPropertiesOfType(type).map((symbol): [string, Property] => {
    const isOptional = (symbol.flags & SymbolFlags.Optional) !== 0;
    return [symbol.name, { shape: shapeOfType(checker, checker.getTypeOfSymbol(symbol)!), isOptional }];
  });
  return { kind: 'object', properties: Object.fromEntries(properties) };
}

// ── from a JSON schema ───────────────────────────────────────────────────────────────────────────────────────────────

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  readonly const?: string;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
}

/** The shape that a schema describes; `named` are the schemas to which `$ref` leads. */
export function shapeOfSchema(schema: Schema, named: Readonly<Record<string, Schema>>): Shape {
  const shapeOf = (inner: Schema): Shape => shapeOfSchema(inner, named);
  if (schema.$ref !== undefined) return shapeOf(named[/\w+(?=#?$)/.exec(schema.$ref)![0]]!);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return unionOf(alternatives.map(shapeOf));
  const values = schema.const === undefined ? schema.enum : [schema.const];
  if (values !== undefined) {
    return unionOf(values.map((value) => (value === null ? { kind: 'null' } : { kind: 'enum', values: [value] })));
  }
  if (schema.type === undefined) return { kind: 'unknown' };
  if (typeof schema.type !== 'string') return unionOf(schema.type.map((type) => shapeOf({ ...schema, type })));
  if (schema.type === 'integer') return { kind: 'number' };
  if (schema.type === 'array') return { kind: 'array', items: shapeOf(schema.items ?? {}) };
  if (schema.type !== 'object') return { kind: schema.type as 'string' | 'number' | 'boolean' | 'null' };
  const { properties, required = [], additionalProperties } = schema;
  if (properties === undefined && typeof additionalProperties === 'object') {
    return { kind: 'record', values: shapeOf(additionalProperties) };
  }
  const entries = Object.entries(properties ?? {}).map(([name, inner]): [string, Property] => {
    return [name, { shape: shapeOf(inner), isOptional: !required.includes(name) }];
  });
  return { kind: 'object', properties: Object.fromEntries(entries) };
}

// ── compared ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Alternatives as one shape: at most one member of each kind (rule 2). */
function unionOf(shapes: readonly Shape[]): Shape {
  const flat = shapes.flatMap((shape) => (shape.kind === 'union' ? shape.members : [shape]));
  const members = [...Map.groupBy(flat, ({ kind }) => kind)].map(([kind, same]): Shape => {
    if (kind === 'enum') {
      return { kind, values: same.flatMap((shape) => (shape.kind === 'enum' ? shape.values : [])).toSorted() };
    }
    return kind === 'object' ? joined(same.filter((shape) => shape.kind === 'object')) : same[0]!;
  });
  return members.length === 1 ? members[0]! : { kind: 'union', members: members.toSorted(byKind) };
}

const byKind = (a: Shape, b: Shape): number => a.kind.localeCompare(b.kind);

function joined(objects: readonly ObjectShape[]): ObjectShape {
  const names = new Set(objects.flatMap(({ properties }) => Object.keys(properties)));
  const properties = [...names].map((name): [string, Property] => {
    const found = objects.flatMap(({ properties }) => properties[name] ?? []);
    const isOptional = found.length < objects.length || found.some((property) => property.isOptional);
    return [name, { shape: unionOf(found.map(({ shape }) => shape)), isOptional }];
  });
  return { kind: 'object', properties: Object.fromEntries(properties) };
}

/** A shape and all shapes within it. */
export function partsOf(shape: Shape): Shape[] {
  switch (shape.kind) {
    case 'array':
      return [shape, ...partsOf(shape.items)];
    case 'record':
      return [shape, ...partsOf(shape.values)];
    case 'object':
      return [shape, ...Object.values(shape.properties).flatMap((property) => partsOf(property.shape))];
    case 'union':
      return [shape, ...shape.members.flatMap(partsOf)];
    default:
      return [shape];
  }
}

/**
 * How a client uses a body: it reads the `whole` of it or a `part`, or it sends it. What is sent may be narrower than what
 * the service takes: a property that may be left out can be required, and null is another way to leave one out.
 */
export type Use = 'whole' | 'part' | 'sent';

/** Where the type of a client differs from what the service documents; empty when they agree. */
export function differences(path: string, client: Shape, documented: Shape, use: Use): string[] {
  const inner = (step: string, a: Shape, b: Shape): string[] => differences(`${path}${step}`, a, b, use);
  if (client.kind === 'array' && documented.kind === 'array') return inner('[]', client.items, documented.items);
  if (client.kind === 'record' && documented.kind === 'record') return inner('{}', client.values, documented.values);
  if (client.kind === 'object' && documented.kind === 'object') {
    const names = new Set([...Object.keys(client.properties), ...Object.keys(documented.properties)]);
    return [...names].flatMap((name) => {
      const [a, b] = [client.properties[name], documented.properties[name]];
      if (b === undefined) return [`${path}.${name} is not documented`];
      if (a === undefined) return use === 'part' ? [] : [`${path}.${name} is missing in the client`];
      const agrees = a.isOptional === b.isOptional || (use === 'sent' && b.isOptional);
      const optionality = agrees ? [] : [`${path}.${name} is optional on one side only`];
      return [...optionality, ...inner(`.${name}`, a.shape, b.shape)];
    });
  }
  if (client.kind === 'union' && documented.kind === 'union' && kindsOf(client) === kindsOf(documented)) {
    return client.members.flatMap((member, index) => inner('', member, documented.members[index]!));
  }
  if (use === 'sent' && documented.kind === 'unknown') return [];
  if (use === 'sent' && documented.kind === 'union' && client.kind !== 'union') {
    return inner('', client, unionOf(documented.members.filter(({ kind }) => kind !== 'null')));
  }
  const [a, b] = [client, documented].map((shape) => JSON.stringify(shape));
  return a === b ? [] : [`${path} is ${a} in the client, ${b} in the document`];
}

function kindsOf({ members }: { readonly members: readonly Shape[] }): string {
  return members.map(({ kind }) => kind).join();
}
