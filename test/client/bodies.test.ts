/** The bodies that client and console are written against, compared with what the service documents. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Cluster } from '#http/schemas/cluster.ts';
import { LiveChange, LiveSnapshot } from '#http/schemas/live.ts';
import { openService, type TestService } from '../fixtures/service.ts';
import { differences, partsOf, shapeOfSchema, shapesInFile, type Schema, type Shape, type Use } from './body-shapes.ts';

interface Content {
  readonly content: { readonly 'application/json': { readonly schema: Schema } };
}

interface Operation {
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A schema with the use that a client makes of its bodies. */
type Compared = readonly [schema: Schema, use: Use];

const named = ({ components }: Document, name: string): Schema => components.schemas[name]!;
const answerOf = ({ paths }: Document, method: string, path: string): Schema =>
  paths[path]![method]!.responses['200']!.content['application/json'].schema;

/** A request's body without the session key, which the client adds by itself. */
function requestOf({ paths }: Document, method: string, path: string): Schema {
  const {
    properties = {},
    required = [],
    ...schema
  } = paths[path]![method]!.requestBody!.content['application/json'].schema;
  const { session_key: _, ...others } = properties;
  return { ...schema, properties: others, required: required.filter((name) => name !== 'session_key') };
}

/** Which schema describes each type of `src/client/bodies.ts` that is not a part of another one. */
const schemasOfClient = (document: Document): Readonly<Record<string, Compared>> => ({
  ...Object.fromEntries(
    [
      'EventList',
      'EventPayload',
      'Seating',
      'Occupancy',
      'Seat',
      'Hold',
      'QueueEntry',
      'Draw',
      'Quote',
      'StartedCheckout',
    ].map((name) => [name, [named(document, name), 'whole'] as const]),
  ),
  Order: [named(document, 'OrderStatus'), 'whole'],
  HoldRequest: [requestOf(document, 'post', '/api/checkout/holds'), 'sent'],
  CheckoutRequest: [requestOf(document, 'post', '/api/checkout/start'), 'sent'],
  TicketKeys: [answerOf(document, 'get', '/api/tickets/key'), 'whole'],
  VoidTickets: [answerOf(document, 'get', '/api/tickets/revoked'), 'whole'],
  // Messages of a stream have no place in an OpenAPI document; their schemas are taken from the routes.
  LiveSnapshot: [LiveSnapshot as Schema, 'whole'],
  LiveChange: [LiveChange as Schema, 'whole'],
});

/** The same for `src/console/app/bodies.ts`. */
const schemasOfConsole = (document: Document): Readonly<Record<string, Compared>> => ({
  Overview: [named(document, 'Overview'), 'part'],
  // A single machine's document is without it.
  Cluster: [Cluster as Schema, 'part'],
  JournalPage: [named(document, 'JournalPage'), 'part'],
  OrderPage: [answerOf(document, 'get', '/admin/events/{id}/orders'), 'part'],
  Order: [named(document, 'AdminOrder'), 'part'],
  MoneyList: [named(document, 'MoneyList'), 'part'],
  EventMoney: [named(document, 'EventMoney'), 'part'],
  Cancellation: [named(document, 'Cancellation'), 'part'],
  FoundOrders: [named(document, 'FoundOrders'), 'part'],
});

/** Types that are compared within another one: the two forms of `Occupancy`, and what `OverviewPerformance` extends. */
const WITHIN_OTHERS = { client: ['FullOccupancy', 'OccupancyChanges'], console: ['Stock'] };

const fileAt = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

interface Side {
  readonly shapes: ReadonlyMap<string, Shape>;
  readonly compared: Readonly<Record<string, Compared>>;
  readonly document: Document;
}

describe('The bodies', () => {
  let service: TestService;
  let client: Side;
  let operators: Side;

  before(async () => {
    service = await openService();
    const publicDocument = (await service.call<Document>('GET', '/openapi.json')).body;
    const adminDocument = (await service.operate<Document>('GET', '/openapi.json')).body;
    client = {
      shapes: shapesInFile(fileAt('tsconfig.json'), fileAt('src/client/bodies.ts')),
      compared: schemasOfClient(publicDocument),
      document: publicDocument,
    };
    operators = {
      shapes: shapesInFile(fileAt('src/console/app/tsconfig.json'), fileAt('src/console/app/bodies.ts')),
      compared: schemasOfConsole(adminDocument),
      document: adminDocument,
    };
  });

  after(() => service.close());

  const differencesOf = ({ shapes, compared, document }: Side): string[] =>
    Object.entries(compared).flatMap(([name, [schema, use]]) =>
      differences(name, shapes.get(name)!, shapeOfSchema(schema, document.components.schemas), use),
    );

  const notComparedOf = ({ shapes, compared }: Side): string[] => {
    const parts = new Set(
      Object.keys(compared).flatMap((name) => partsOf(shapes.get(name)!).map((part) => JSON.stringify(part))),
    );
    return [...shapes].filter(([, shape]) => !parts.has(JSON.stringify(shape))).map(([name]) => name);
  };

  it('of the client are those of the public OpenAPI document, property for property', () => {
    assert.deepEqual(differencesOf(client), []);
  });

  it('of the console are in the OpenAPI document of the operators’ API, which has more', () => {
    assert.deepEqual(differencesOf(operators), []);
  });

  it('are all compared: each exported type has a schema or is a part of one that has', () => {
    assert.deepEqual(notComparedOf(client), WITHIN_OTHERS.client);
    assert.deepEqual(notComparedOf(operators), WITHIN_OTHERS.console);
  });
});

describe('The comparison of bodies', () => {
  const schema: Schema = {
    type: 'object',
    required: ['id', 'status', 'parts'],
    properties: {
      id: { type: 'string' },
      note: { type: ['string', 'null'] },
      status: { enum: ['OPEN', 'CLOSED'] },
      parts: {
        type: 'array',
        items: { type: 'object', required: ['count'], properties: { count: { type: 'integer' } } },
      },
    },
  };
  const { properties = {}, required = [] } = schema;
  const shapeOf = (other: Schema): Shape => shapeOfSchema(other, {});
  const differencesTo = (changed: Schema): string[] => [
    ...differences('Body', shapeOf(schema), shapeOf(changed), 'whole'),
    ...differences('Body', shapeOf(changed), shapeOf(schema), 'whole'),
  ];

  it('finds nothing in equal bodies', () => {
    assert.deepEqual(differencesTo(schema), []);
  });

  it('finds a property that was renamed on either side', () => {
    const { id, ...others } = properties;
    assert.deepEqual(differencesTo({ ...schema, properties: { ...others, key: id! } }), [
      'Body.id is not documented',
      'Body.key is missing in the client',
      'Body.key is not documented',
      'Body.id is missing in the client',
    ]);
  });

  it('finds a property that became optional, an enum value that was added and another type within a list', () => {
    const found = (changed: Schema) => differencesTo(changed).map((text) => text.split(' is ')[0]);
    assert.deepEqual(found({ ...schema, required: required.filter((name) => name !== 'id') }), ['Body.id', 'Body.id']);
    const status = { enum: ['OPEN', 'CLOSED', 'LOST'] };
    assert.deepEqual(found({ ...schema, properties: { ...properties, status } }), ['Body.status', 'Body.status']);
    const parts = {
      type: 'array',
      items: { type: 'object', required: ['count'], properties: { count: { type: 'string' } } },
    };
    assert.deepEqual(found({ ...schema, properties: { ...properties, parts } }), [
      'Body.parts[].count',
      'Body.parts[].count',
    ]);
    const note = { type: 'string' };
    assert.deepEqual(found({ ...schema, properties: { ...properties, note } }), ['Body.note', 'Body.note']);
  });
});
