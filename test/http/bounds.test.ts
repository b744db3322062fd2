/** Everything in a request has a limit in its schema: every text a length, every list a count. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openApps, type Apps } from './apps.ts';

type Schema = Readonly<Record<string, unknown>>;

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Fields that are limited after their schema, and where that is tested. */
const BOUNDED_ELSEWHERE = new Set([
  // Cut, never refused: test/domain/orders/tracking.test.ts, test/api/checkout.test.ts.
  'post /api/checkout/start /tracking',
  'post /api/checkout/start /promoter_code',
  'post /api/checkout/start /referral_code',
  // Compared and never kept; all headers of a request together have 16 KiB, which is the server's own bound.
  'get /api/events/public/{slug}/seating /If-None-Match',
  'get /api/events/public/{slug}/seating/occupancy /If-None-Match',
  'get /api/events/public/{slug}/live /Last-Event-ID',
  // The text is read as its provider signed it, within the bounds of all headers and of all bodies.
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature', 'Stripe-Signature', 'type', 'timestamp'].map(
    (name) => `post /api/payments/webhooks/{provider} /${name}`,
  ),
]);

/**
 * The body is checked by the catalogue's own schema, by patterns and formats too: test/catalogue/definition.test.ts.
 */
const CHECKED_BY_CATALOGUE = 'put /admin/events/{id} /';

let apps: Apps;
before(async () => {
  apps = await openApps();
});
after(() => apps.close());

/** The paths in a schema that take a text or a list of any length. */
function* unbounded(schema: Schema, document: Document, path: string): Generator<string> {
  const named = schema['$ref'];
  if (typeof named === 'string') {
    return yield* unbounded(document.components.schemas[named.split('/').at(-1)!]!, document, path);
  }
  const { enum: values, const: only, maxLength, maxItems, properties = {}, items } = schema;
  if (values !== undefined || only !== undefined) return;
  const types = [schema['type']].flat();
  const parts = [schema['anyOf'], schema['oneOf'], schema['allOf']].flat().filter((part) => part !== undefined);
  if (types[0] === undefined && parts.length === 0) yield path;
  if (types.includes('string') && maxLength === undefined) yield path;
  if (types.includes('array') && maxItems === undefined) yield path;
  if (types.includes('object') && schema['additionalProperties'] === true) yield path;
  for (const part of parts) yield* unbounded(part as Schema, document, path);
  if (items !== undefined) yield* unbounded(items as Schema, document, `${path}/*`);
  for (const [name, part] of Object.entries(properties as Readonly<Record<string, Schema>>)) {
    yield* unbounded(part, document, `${path}/${name}`);
  }
}

test('no field of a body, an address or a header takes a text or a list of any length', async () => {
  const found: string[] = [];
  let places = 0;
  for (const app of [apps.app, apps.admin]) {
    const document = (await app.inject('/openapi.json')).json<Document>();
    for (const [url, methods] of Object.entries(document.paths)) {
      for (const [method, { parameters = [], requestBody }] of Object.entries(methods)) {
        const where = `${method} ${url}`;
        // An address's own parts are bounded by the router (PARAMETER_LENGTH_MAX).
        for (const parameter of parameters.filter((each) => each.in !== 'path')) {
          places += 1;
          found.push(
            ...[...unbounded(parameter.schema, document, `/${parameter.name}`)].map((path) => `${where} ${path}`),
          );
        }
        for (const { schema } of Object.values(requestBody?.content ?? {})) {
          places += 1;
          found.push(...[...unbounded(schema, document, '')].map((path) => `${where} ${path}`));
        }
      }
    }
  }
  assert.ok(places > 20, `the walk saw ${places} places`);
  assert.deepEqual(
    found.filter((place) => !BOUNDED_ELSEWHERE.has(place) && !place.startsWith(CHECKED_BY_CATALOGUE)),
    [],
  );
  assert.deepEqual(
    [...BOUNDED_ELSEWHERE].filter((place) => !found.includes(place)),
    [],
  );
});
