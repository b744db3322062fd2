/**
 * The pages of operations: a list by topic, and for each operation one page with its fields on one side and its
 * examples with their recorded answers on the other.
 */
import type { Example } from '#docs/example.ts';
import { examples, type ExampleKey } from '#docs/examples.ts';
import { drawn, html, type Html } from '../pages/html.ts';
import { answerHtml, requestHtml, stepsText, type Origins } from './samples.ts';
import { fieldHtml, fieldsHtml, resolved, type Schema, type Schemas } from './schema-fields.ts';

/** The part of an OpenAPI document that is shown. */
export interface ShownDocument {
  readonly info: { readonly title: string };
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  /** What the service sends, by type. */
  readonly webhooks?: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
  readonly components?: { readonly schemas?: Schemas };
}

interface Header {
  readonly description?: string;
  readonly schema: Schema;
}

interface DocumentedOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly object[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly schema: Schema;
  }[];
  readonly requestBody?: { readonly content?: Readonly<Record<string, { readonly schema?: Schema }>> };
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description?: string;
        readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
        readonly headers?: Readonly<Record<string, Header>>;
      }
    >
  >;
}

interface Operation extends DocumentedOperation {
  readonly path: string;
  readonly method: string;
  readonly topic: string;
}

/** Every operation of a document, by its topics. */
export function operationsOf({ paths, tags = [] }: ShownDocument): readonly Operation[] {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      path,
      method: method.toUpperCase(),
      topic: operation.tags[0] ?? '',
    })),
  );
  return tags.flatMap(({ name }) => operations.filter(({ topic }) => topic === name));
}

export const addressOf = ({ operationId }: Pick<Operation, 'operationId'>): string => `/docs/operations/${operationId}`;

/** Where a heading can be linked to. */
export const anchorOf = (title: string): string => title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

export function verbHtml(method: string): Html {
  return html`<span class="verb ${method}">${method}</span>`;
}

// ── the list ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export function operationsHtml(document: ShownDocument, origin: string): Html {
  const operations = operationsOf(document);
  const topics = (document.tags ?? []).map(({ name, description = '' }) => {
    const sent = Object.entries(document.webhooks ?? {}).flatMap(([type, methods]) =>
      Object.values(methods)
        .filter(({ tags }) => tags.includes(name))
        .map(({ summary }) => html`<li><code>${type}</code> ${summary}</li>`),
    );
    const items = operations
      .filter(({ topic }) => topic === name)
      .map(
        (operation) =>
          html`<li id="${operation.operationId}">
            <a href="${addressOf(operation)}"
              >${verbHtml(operation.method)} <code>${operation.path}</code><span>${operation.summary}</span></a
            >
          </li>`,
      );
    return html`<h2 id="${anchorOf(name)}">${name}</h2>
      <p>${description}</p>
      <ul ${items.length > 0 ? drawn('class="operations"') : null}>
        ${items} ${sent}
      </ul>`;
  });
  return html`<p class="lead">
      Every operation of <code>${origin}</code>. Each page has a request that works on the demo events and what a real
      service answered to it. Any operation may answer with an <a href="/docs/errors">error</a>.
    </p>
    ${topics}`;
}

// ── one operation ────────────────────────────────────────────────────────────────────────────────────────────────────

export function operationHtml(operation: Operation, document: ShownDocument, origins: Origins, origin: string): Html {
  const schemas = document.components?.schemas ?? {};
  const shown = (Object.entries(examples) as [ExampleKey, Example][]).filter(
    ([, example]) => example.operation === operation.operationId,
  );
  return html`<p class="line">
      ${verbHtml(operation.method)} <code><span class="host">${origin}</span>${operation.path}</code>
    </p>
    <div class="beside">
      <div class="text">
        ${operation.description === undefined ? null : html`<p>${operation.description}</p>`}
        ${
          (operation.security ?? []).length === 0
            ? null
            : html`<p>
                It needs the ${operation.path.startsWith('/admin/') ? 'operators’ token' : 'token of a station'}:
                <code>Authorization: Bearer …</code>.
              </p>`
        }
        ${parametersHtml(operation, schemas)} ${bodyHtml(operation, schemas)} ${answersHtml(operation, schemas)}
        ${refusalsHtml(operation)}
      </div>
      <div class="samples">
        ${shown.length === 0 ? html`<p>A payment provider sends it, signed with its secret; there is no example to send.</p>` : null}
        ${shown.map(([key, example]) => exampleHtml(key, example, origins))}
      </div>
    </div>`;
}

const PLACES = [
  ['path', 'In the address'],
  ['query', 'In the query'],
  ['header', 'Headers of the request'],
] as const;

function parametersHtml({ parameters = [] }: Operation, schemas: Schemas): readonly Html[] {
  return PLACES.flatMap(([place, title]) => {
    const rows = parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, required = false, description, schema }) =>
        fieldHtml(name, { ...schema, ...(description !== undefined && { description }) }, required, schemas),
      );
    if (rows.length === 0) return [];
    return [
      html`<h2>${title}</h2>
        <ul class="fields">
          ${rows}
        </ul>`,
    ];
  });
}

function bodyHtml({ requestBody }: Operation, schemas: Schemas): Html | null {
  const schema = requestBody?.content?.['application/json']?.schema;
  if (schema === undefined) return null;
  return html`<h2>Body of the request</h2>
    ${fieldsHtml(schema, schemas) ?? html`<p>${schema.description ?? 'JSON.'}</p>`}`;
}

function answersHtml({ responses }: Operation, schemas: Schemas): readonly Html[] {
  return Object.entries(responses)
    .filter(([status]) => /^\d+$/.test(status))
    .map(([status, { description = '', content = {}, headers = {} }]) => {
      const schema = Object.values(content)[0]?.schema;
      const fields = schema === undefined ? null : fieldsHtml(schema, schemas);
      const own = Object.entries(headers).map(([name, header]) =>
        fieldHtml(
          name,
          { ...header.schema, ...(header.description && { description: header.description }) },
          false,
          schemas,
        ),
      );
      const list = schema !== undefined && resolved(schema, schemas).type === 'array' ? ' An array of:' : '';
      return html`<h2>Answer ${status}</h2>
        ${description === '' ? null : html`<p>${description}</p>`} ${list === '' ? null : html`<p>${list}</p>`}
        ${fields}
        ${
          own.length === 0
            ? null
            : html`<details>
                <summary>Headers of the answer</summary>
                <ul class="fields">
                  ${own}
                </ul>
              </details>`
        }`;
    });
}

/** The codes of the operation, each with a link to what it means. */
function refusalsHtml({ responses }: Operation): Html {
  const codes = ['4XX', '5XX'].flatMap((status) => codesIn(responses[status]?.content));
  return html`<h2>Refusals</h2>
    <p>${codes.map((code) => html`<a href="/docs/errors#${code}"><code>${code}</code></a> `)}</p>`;
}

function codesIn(content: DocumentedOperation['responses'][string]['content'] = {}): readonly string[] {
  const parts = content['application/json']?.schema?.allOf ?? [];
  return parts.flatMap(({ properties }) => (properties?.['code']?.enum ?? []).map(String));
}

function exampleHtml(key: ExampleKey, { title, needs }: Example, origins: Origins): Html {
  return html`<section class="sample" data-steps="${stepsText(key)}">
    <h3>${title}</h3>
    ${needs === undefined ? null : html`<p class="needs">${needs}</p>`} ${requestHtml(key, origins)}
    <div class="try"></div>
    ${answerHtml(key, origins)}
  </section>`;
}
