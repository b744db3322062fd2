/**
 * The OpenAPI documents of both listeners: their operations, and a checker of answers against their schemas.
 *
 * Schemas of answers are closed before they are compiled, so that a field which the document does not name is a
 * finding.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

export type Schema = Readonly<Record<string, unknown>>;

export type Listener = 'public' | 'admin';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Operation {
  readonly listener: Listener;
  readonly method: string;
  /** Its parameters are in braces. */
  readonly path: string;
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  /** Null when the operation takes no body. */
  readonly body: Schema | null;
  readonly responses: Readonly<Record<string, Content>>;
}

export interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Documented>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface Documented {
  readonly operationId: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

const JSON_TYPE = 'application/json';

export function operationsOf(document: ApiDocument, listener: Listener): readonly Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId, parameters = [], requestBody, responses }]) => ({
      listener,
      method: method.toUpperCase(),
      path,
      operationId,
      parameters,
      body: requestBody?.content?.[JSON_TYPE]?.schema ?? null,
      responses,
    })),
  );
}

/** Describes what is wrong with the body of an answer; null when the document allows it. */
export type BodyChecker = (operation: Operation, status: number, body: unknown) => string | null;

/** Makes the checker of a document's answers. Compiles a schema when it is first needed. */
export function bodyCheckerOf(document: ApiDocument): BodyChecker {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'api', components: closed(document.components) as Schema });
  const compiled = new Map<Schema, ReturnType<typeof ajv.compile>>();
  const validatorOf = (schema: Schema) => {
    const known = compiled.get(schema);
    if (known !== undefined) return known;
    const text = JSON.stringify(closed(schema)).replaceAll('"#/', '"api#/');
    const isBody = ajv.compile(JSON.parse(text) as Schema);
    compiled.set(schema, isBody);
    return isBody;
  };
  return (operation, status, body) => {
    const response = operation.responses[status] ?? operation.responses[`${Math.floor(status / 100)}XX`];
    if (response === undefined) return `the document does not know status ${status}`;
    const schema = (response.content?.[JSON_TYPE] ?? Object.values(response.content ?? {})[0])?.schema;
    if (schema === undefined) return null;
    const isBody = validatorOf(schema);
    return isBody(body) ? null : ajv.errorsText(isBody.errors);
  };
}

/** The same schema, with additionalProperties false on every object that does not set it. */
export function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const parts = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  const isObject = [parts['type']].flat().includes('object') && typeof parts['properties'] === 'object';
  return isObject && parts['additionalProperties'] === undefined ? { ...parts, additionalProperties: false } : parts;
}
