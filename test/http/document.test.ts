/** The OpenAPI document: correct and complete. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { ERRORS } from '#http/protocol/errors.ts';
import type { HttpApp } from '#http/protocol/app.ts';
import { ADMIN_TOKEN, clubHold, clusterOfTwo, openApps, type Apps } from './apps.ts';

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly Record<string, readonly string[]>[];
  readonly parameters?: readonly { name: string; in: string; description?: string; schema: Record<string, unknown> }[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Record<string, { schema: object }> };
  readonly responses: Record<
    string,
    { description: string; content?: Record<string, { schema: object }>; headers?: Record<string, object> }
  >;
}

interface Document {
  readonly openapi: string;
  readonly info: {
    readonly description: string;
    readonly version: string;
    readonly license?: { readonly name: string; readonly url: string };
    readonly contact?: { readonly name: string; readonly url: string; readonly email: string };
  };
  readonly servers?: readonly { readonly url: string }[];
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly webhooks?: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, object>; readonly securitySchemes?: Record<string, object> };
}

let apps: Apps;
before(async () => {
  apps = await openApps({}, undefined, { cluster: clusterOfTwo() });
});
after(() => apps.close());

const documentOf = async (app: HttpApp): Promise<Document> => (await app.inject('/openapi.json')).json<Document>();

test('both documents are valid OpenAPI 3.1 of the interface version', async () => {
  for (const app of [apps.app, apps.admin]) {
    const document = await documentOf(app);
    const { valid, errors } = await new Validator().validate(
      structuredClone(document) as unknown as Record<string, unknown>,
    );
    assert.ok(valid, JSON.stringify(errors));
    const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
    const schemas = [
      ...Object.values(document.components.schemas),
      ...operations.flatMap(({ parameters = [] }) => parameters.map(({ schema }) => schema)),
      ...operations.flatMap(({ requestBody }) => Object.values(requestBody?.content ?? {}).map(({ schema }) => schema)),
    ];
    const ajv = new Ajv2020();
    assert.deepEqual([...schemas.filter((schema) => ajv.validateSchema(schema) !== true)], []);
    assert.equal(document.openapi, '3.1.0');
    assert.equal(document.info.version, '1.3.0');
  }
});

test('every operation has a name of its own, a summary, a description and a topic', async () => {
  const names = new Set<string>();
  for (const app of [apps.app, apps.admin]) {
    const listener = app === apps.app ? 'public' : 'admin';
    const { paths, webhooks = {} } = await documentOf(app);
    for (const [url, methods] of Object.entries({ ...paths, ...webhooks })) {
      for (const [method, operation] of Object.entries(methods)) {
        const where = `${method} ${url}`;
        assert.ok(operation.operationId, where);
        assert.ok(operation.summary, where);
        assert.ok(operation.description, where);
        for (const { name, description } of operation.parameters ?? []) assert.ok(description, `${where} ${name}`);
        for (const [status, { description }] of Object.entries(operation.responses))
          assert.ok(description && description !== 'Default Response', `${where} ${status}`);
        assert.ok(operation.tags.length > 0, where);
        assert.ok(!names.has(`${listener} ${operation.operationId}`), `${where}: ${operation.operationId} is taken`);
        names.add(`${listener} ${operation.operationId}`);
      }
    }
  }
});

interface Described extends Operation {
  readonly listener: 'public' | 'admin';
  readonly method: string;
  readonly path: string;
  readonly where: string;
}

async function operationsOf(listener: 'public' | 'admin'): Promise<readonly Described[]> {
  const { paths } = await documentOf(listener === 'public' ? apps.app : apps.admin);
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      return { ...operation, listener, method, path, where: `${listener} ${method} ${path}` };
    }),
  );
}

test('a document says where it is served, under which licence, and what its topics are', async () => {
  for (const app of [apps.app, apps.admin]) {
    const { servers, info, tags, paths, webhooks = {} } = await documentOf(app);
    assert.deepEqual(servers, [{ url: '/' }]);
    assert.deepEqual(info.license, { name: 'MIT', url: 'https://opensource.org/license/mit' });
    assert.equal(info.contact?.email, 'support@holdfast.example');
    const topics = new Set(
      Object.values({ ...paths, ...webhooks }).flatMap((methods) => Object.values(methods).flatMap(({ tags }) => tags)),
    );
    assert.deepEqual(tags?.map(({ name }) => name).sort(), [...topics].sort());
    assert.ok(tags?.every(({ description }) => (description ?? '').length > 0));
  }
  const elsewhere = await openApps({ baseUrl: 'https://tickets.example' });
  const published = await documentOf(elsewhere.app);
  assert.deepEqual(published.servers, [{ url: 'https://tickets.example' }]);
  assert.deepEqual(published.info.contact, {
    name: 'Holdfast',
    url: 'https://tickets.example/docs',
    email: 'support@tickets.example',
  });
  assert.deepEqual(
    (await documentOf(elsewhere.admin)).servers,
    [{ url: '/' }],
    'operators have an address of their own',
  );
  await elsewhere.close();
});

test('every operation of operators and of stations requires a bearer token, and no other one does', async () => {
  for (const listener of ['public', 'admin'] as const) {
    const { components } = await documentOf(listener === 'public' ? apps.app : apps.admin);
    assert.deepEqual(Object.keys(components.securitySchemes ?? {}), ['bearer']);
    for (const { path, security, where } of await operationsOf(listener)) {
      const needsToken = path.startsWith('/admin/') || path.startsWith('/api/doors/');
      assert.deepEqual(security, needsToken ? [{ bearer: [] }] : [], where);
    }
  }
});

test('every operation has answers for success and for errors of the client', async () => {
  for (const { responses, where } of [...(await operationsOf('public')), ...(await operationsOf('admin'))]) {
    const statuses = Object.keys(responses);
    assert.ok(
      statuses.some((status) => /^[23]/.test(status)),
      where,
    );
    assert.ok(
      statuses.some((status) => /^4/.test(status)),
      where,
    );
  }
});

test('every named schema is used by an operation', async () => {
  for (const app of [apps.app, apps.admin]) {
    const document = await documentOf(app);
    const named = Object.keys(document.components.schemas);
    assert.ok(named.length > 3);
    const text = JSON.stringify(document);
    const used = named.filter((name) => text.includes(`"#/components/schemas/${name}"`));
    assert.deepEqual(used, named);
    for (const [, name] of text.matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      assert.ok(named.includes(name!), `${name} is named and there`);
    }
  }
});

test('paths have the parameters that they name, one form for each address, and names that fit into one', async () => {
  for (const listener of ['public', 'admin'] as const) {
    const operations = await operationsOf(listener);
    for (const { path, parameters = [], operationId, where } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const given = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      assert.deepEqual(given.sort(), named.sort(), where);
      assert.equal(new Set(parameters.map(({ name, in: place }) => `${place} ${name}`)).size, parameters.length, where);
      assert.match(operationId, /^[\w-]+$/, where);
      assert.match(path, /^\/[^?#]*[^/?#]$/, where);
    }
    const paths = [...new Set(operations.map(({ path }) => path))];
    for (const [index, path] of paths.entries()) {
      for (const other of paths.slice(index + 1)) assert.ok(!areAmbiguous(path, other), `${path} and ${other}`);
    }
  }
});

/** Whether one address can match two paths, each of them with a parameter where the other has a fixed part. */
function areAmbiguous(one: string, other: string): boolean {
  const [ours, theirs] = [one.split('/'), other.split('/')];
  if (ours.length !== theirs.length) return false;
  const isParameter = (step: string): boolean => step.startsWith('{');
  const fits = ours.every((step, place) => step === theirs[place] || isParameter(step) || isParameter(theirs[place]!));
  const isLess = (left: readonly string[], right: readonly string[]): boolean =>
    left.every((step, place) => isParameter(right[place]!) || !isParameter(step));
  return fits && isLess(ours, theirs) === isLess(theirs, ours);
}

interface Refusal {
  readonly allOf: readonly [
    { readonly $ref: string },
    { readonly properties: { readonly code: { readonly enum: string[] } } },
  ];
}

test('an operation lists the codes with which it refuses, each with its status, and answers with no other', async () => {
  const operations = [...(await operationsOf('public')), ...(await operationsOf('admin'))];
  const named = new Set<string>();
  const codesAt = ({ responses }: Operation, status: string) => {
    const { allOf } = responses[status]!.content!['application/json']!.schema as Refusal;
    assert.equal(allOf[0].$ref, '#/components/schemas/ErrorBody');
    return allOf[1].properties.code.enum;
  };
  for (const operation of operations) {
    const codes = ['4XX', '5XX'].flatMap((status) => codesAt(operation, status));
    for (const code of codes) named.add(code);
    for (const code of ['VALIDATION_ERROR', 'OVERLOADED']) assert.ok(codes.includes(code), operation.where);
    assert.equal(codes.includes('UNAUTHORIZED'), /^\/admin\/|webhooks|^\/api\/doors\//.test(operation.path));
  }
  // The answers of an address to a method that it does not take, and of the page of an order to a button.
  assert.deepEqual(
    Object.keys(ERRORS).filter((code) => !named.has(code)),
    ['METHOD_NOT_ALLOWED', 'MAIL_LIMIT_EXCEEDED'],
  );
  const release = operations.find(({ operationId }) => operationId === 'releaseHold')!;
  assert.match(release.responses['4XX']!.description, /404 `HOLD_NOT_FOUND`, .*409 `HOLD_NOT_ACTIVE`/);
});

test('a payment provider finds the signature of its report, and its body', async () => {
  const { parameters, requestBody } = (await operationsOf('public')).find(
    ({ operationId }) => operationId === 'receivePaymentWebhook',
  )!;
  assert.deepEqual(
    parameters?.map(({ name }) => name),
    ['provider', 'webhook-id', 'webhook-timestamp', 'webhook-signature', 'Stripe-Signature'],
  );
  const { schema } = requestBody!.content['application/json'] as { schema: { required: string[] } };
  assert.deepEqual(schema.required, ['type', 'data']);
});

test('a body that may be left out is not required', async () => {
  const operations = await operationsOf('admin');
  const requiredAt = (name: string) =>
    operations.find(({ operationId }) => operationId === name)!.requestBody!.required;
  assert.deepEqual(['takeSnapshot', 'cancelOrder', 'recordRefund'].map(requiredAt), [false, false, true]);
  const taken = await apps.admin.inject({
    method: 'POST',
    url: '/admin/snapshot',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  assert.equal(taken.statusCode, 200);
});

test('the document lists every error code', async () => {
  const { description } = (await documentOf(apps.app)).info;
  for (const code of Object.keys(ERRORS)) assert.ok(description.includes(`\`${code}\``), code);
});

test('parameters of digits are shown as integers', async () => {
  const list = (await documentOf(apps.app)).paths['/api/events/public']?.['get'];
  const limit = list?.parameters?.find(({ name }) => name === 'limit');
  assert.deepEqual(limit?.schema, { type: 'integer', minimum: 1, maximum: 500, default: 100 });
});

test('bodies match their schemas in the document', async () => {
  const document = await documentOf(apps.app);
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'api', components: document.components });
  const compile = (schema: object) =>
    ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/')) as object);
  const hold = (await apps.app.inject({ method: 'POST', url: '/api/checkout/holds', payload: clubHold() })).json<{
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
    const answer = await apps.app.inject(url);
    const { responses } = document.paths[path]![method]!;
    const response = responses[answer.statusCode] ?? responses['4XX'];
    const isBody = compile(response!.content!['application/json']!.schema);
    assert.ok(isBody(answer.json()), `${url}: ${ajv.errorsText(isBody.errors)}`);
  }
});

test('the document names the headers of requests and answers, and an answer has those of every answer', async () => {
  const operations = [...(await operationsOf('public')), ...(await operationsOf('admin'))];
  for (const { responses, where } of operations) {
    for (const [status, { headers = {} }] of Object.entries(responses)) {
      for (const name of ['Date', 'X-Request-Id', 'X-Api-Version']) assert.ok(name in headers, `${where} ${status}`);
    }
  }
  const headersOf = (name: string): string[] =>
    operations
      .filter(({ operationId, listener }) => operationId === name && listener === 'public')
      .flatMap(({ parameters = [] }) => parameters.filter((each) => each.in === 'header').map((each) => each.name));
  assert.deepEqual(headersOf('changeHold'), ['X-Session-Key', 'Idempotency-Key']);
  assert.deepEqual(headersOf('getSeating'), ['If-None-Match']);
  assert.deepEqual(headersOf('watchDate'), ['Last-Event-ID']);
  const first = await apps.app.inject({ method: 'POST', url: '/api/checkout/holds', payload: clubHold() });
  for (const name of ['date', 'x-request-id', 'x-api-version']) assert.ok(first.headers[name], name);
  const seating = await apps.app.inject('/api/events/public/erfurt-volley/seating');
  assert.ok(seating.headers['etag']);
});

test('a repeat with the same key is answered with the header of the document', async () => {
  const payload = clubHold();
  const headers = { 'idempotency-key': 'the-same' };
  const send = () => apps.app.inject({ method: 'POST', url: '/api/checkout/holds', payload, headers });
  const [first, second] = [await send(), await send()];
  assert.deepEqual([first.headers['idempotent-replayed'], second.headers['idempotent-replayed']], [undefined, 'true']);
});
