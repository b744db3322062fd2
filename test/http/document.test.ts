/** The OpenAPI document, and the explorer: true, whole, and from this service alone. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ERRORS } from '#http/errors.ts';
import type { HttpApp } from '#http/app.ts';
import { clubHold, openCounter, type Counter } from './counter.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly { name: string; in: string; schema: Record<string, unknown> }[];
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>;
}

interface Document {
  readonly openapi: string;
  readonly info: { readonly description: string; readonly version: string };
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object> };
}

let counter: Counter;
before(async () => {
  counter = await openCounter();
});
after(() => counter.close());

const documentOf = async (app: HttpApp): Promise<Document> => (await app.inject('/openapi.json')).json<Document>();

test('both documents are valid OpenAPI 3.1 of the interface version', async () => {
  for (const app of [counter.app, counter.admin]) {
    const document = await documentOf(app);
    const { valid, errors } = await new Validator().validate(
      structuredClone(document) as unknown as Record<string, unknown>,
    );
    assert.ok(valid, JSON.stringify(errors));
    assert.equal(document.openapi, '3.1.0');
    assert.equal(document.info.version, '1.3.0');
  }
});

test('every operation has a name of its own, a summary and a topic', async () => {
  const names = new Set<string>();
  for (const app of [counter.app, counter.admin]) {
    const listener = app === counter.app ? 'public' : 'admin';
    for (const [url, methods] of Object.entries((await documentOf(app)).paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const where = `${method} ${url}`;
        assert.ok(operation.operationId, where);
        assert.ok(operation.summary, where);
        assert.ok(operation.tags.length > 0, where);
        assert.ok(!names.has(`${listener} ${operation.operationId}`), `${where}: ${operation.operationId} is taken`);
        names.add(`${listener} ${operation.operationId}`);
      }
    }
  }
});

test('the document lists every error code', async () => {
  const { description } = (await documentOf(counter.app)).info;
  for (const code of Object.keys(ERRORS)) assert.ok(description.includes(`\`${code}\``), code);
});

test('parameters that are digits are shown as the integers that they mean', async () => {
  const list = (await documentOf(counter.app)).paths['/api/events/public']?.['get'];
  const limit = list?.parameters?.find(({ name }) => name === 'limit');
  assert.deepEqual(limit?.schema, { type: 'integer', minimum: 1, maximum: 500, default: 100 });
});

test('bodies are what the document says', async () => {
  const document = await documentOf(counter.app);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'api', components: document.components });
  const judge = (schema: object) =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as object);
  const hold = (await counter.app.inject({ method: 'POST', url: '/api/checkout/holds', payload: clubHold() })).json<{
    id: string;
  }>();
  const event = '/api/events/public/{slug}';
  const calls = [
    ['get', '/api/events/public', '/api/events/public'],
    ['get', event, '/api/events/public/night-shift'],
    ['get', event, '/api/events/public/erfurt-volley'],
    ['get', event, '/api/events/public/erfurt-volley?performance_id=derby'],
    ['get', `${event}/seating`, '/api/events/public/erfurt-volley/seating'],
    ['get', `${event}/seating/occupancy`, '/api/events/public/erfurt-volley/seating/occupancy?performance_id=derby'],
    [
      'get',
      `${event}/seating/occupancy`,
      '/api/events/public/erfurt-volley/seating/occupancy?performance_id=derby&since=0',
    ],
    ['get', '/api/checkout/holds/{id}', `/api/checkout/holds/${hold.id}?session_key=session-one`],
    ['get', event, '/api/events/public/unknown'],
  ] as const;
  for (const [method, path, url] of calls) {
    const answer = await counter.app.inject(url);
    const { responses } = document.paths[path]![method]!;
    const response = responses[answer.statusCode] ?? responses['4XX'];
    const isBody = judge(response!.content!['application/json']!.schema);
    assert.ok(isBody(answer.json()), `${url}: ${ajv.errorsText(isBody.errors)}`);
  }
});

test('the reference page loads nothing from elsewhere', async () => {
  for (const url of [
    '/docs',
    '/docs/',
    '/docs/errors',
    '/docs/explorer',
    '/docs/explorer/static/swagger-initializer.js',
    '/docs/explorer/static/index.css',
  ]) {
    const { statusCode, body, headers } = await counter.app.inject(url);
    assert.equal(statusCode, 200, url);
    assert.doesNotMatch(body.replaceAll(/https?:\/\/(www\.)?w3\.org/g, ''), /(?:src|href)=["']?(?:https?:)?\/\//, url);
    assert.match(String(headers['content-security-policy']), /default-src 'none'/);
  }
  const script = await counter.app.inject('/docs/explorer/static/swagger-ui-bundle.js');
  assert.equal(script.statusCode, 200);
});
