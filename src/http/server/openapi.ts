/**
 * The OpenAPI 3.1 document of each listener, made from the schemas that also validate and serialize.
 *
 * `installDocument` runs before the routes are added, so that it sees all of them. A route brings `operationId`, `tags` and `summary`
 * and spreads `errorResponses`; a route of operators also brings `security`. A schema with a name is listed once, under it.
 *
 * 1. The recommended rules of a public linter hold: `test/http/document.test.ts` has them.
 */
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { Type, type TSchema } from 'typebox';
import { withExamples } from './documented-examples.ts';
import { withHeaders } from './documented-headers.ts';
import { ERRORS } from './errors.ts';
import { Quote, StartedCheckout } from './schemas/checkout.ts';
import { Cluster } from './schemas/cluster.ts';
import { Overview } from './schemas/console.ts';
import { JournalPage } from './schemas/journal.ts';
import {
  EventList,
  EventListEntry,
  EventPayload,
  Performance,
  SellingStage,
  TicketAvailability,
  TicketType,
} from './schemas/events.ts';
import { ref, Time } from './schemas/fields.ts';
import { Hold, HoldItem } from './schemas/holds.ts';
import { LiveChange, LiveSnapshot } from './schemas/live.ts';
import { EventMoney, MoneyList, MoneySums } from './schemas/money.ts';
import { AdminEvent, Cancellation, EventDefinition } from './schemas/operators.ts';
import { AdminOrder, AdminTicket, OrderStatus, Ticket } from './schemas/orders.ts';
import { Draw, QueueEntry } from './schemas/queue.ts';
import { Occupancy, Seat, Seating } from './schemas/seating.ts';
import { FoundOrders } from './schemas/search.ts';
import { Subject } from './schemas/subject.ts';
import type { HttpApp } from './app.ts';

/** The interface version, as every answer says in X-Api-Version. */
export const API_VERSION = '1.3.0';

const ErrorBodySchema = Type.Object(
  {
    statusCode: Type.Integer(),
    code: Type.String({ description: 'Stable identifier to match on.', examples: ['INSUFFICIENT_TICKETS'] }),
    message: Type.String(),
    detail: Type.Object({}, { additionalProperties: true, description: 'Keys depend on the code.' }),
    timestamp: Time,
  },
  { $id: 'Error' },
);

/** Every address answers a method that it does not take, a header that is too large. */
export const clientErrors = { '4xx': ref(ErrorBodySchema) };

/** What a route spreads into its responses: every error has one body. */
export const errorResponses = { ...clientErrors, '5xx': ref(ErrorBodySchema) };

const BEARER = { bearer: { type: 'http', scheme: 'bearer' } } as const;

/** The security of a route of the operators' API. */
export const bearer = [{ bearer: [] }];

/** Every schema that has a name. Further topics add theirs here. */
const NAMED_SCHEMAS: readonly TSchema[] = [
  ErrorBodySchema,
  HoldItem,
  Hold,
  QueueEntry,
  Draw,
  Performance,
  TicketType,
  SellingStage,
  TicketAvailability,
  EventPayload,
  EventListEntry,
  EventList,
  Seating,
  Occupancy,
  Seat,
  LiveSnapshot,
  LiveChange,
  Quote,
  StartedCheckout,
  Ticket,
  OrderStatus,
  AdminEvent,
  EventDefinition,
  AdminOrder,
  AdminTicket,
  Overview,
  Cluster,
  JournalPage,
  Cancellation,
  MoneySums,
  EventMoney,
  MoneyList,
  FoundOrders,
  Subject,
];

const INFO = {
  public: {
    title: 'Holdfast ticket sales',
    description: `Browse events, hold tickets, wait in line, check out. All times are RFC 3339 in UTC, all amounts integers in the minor unit of the event's currency (ISO 4217): cents of EUR, yen of JPY, fils of KWD.\n\n${errorTable()}`,
  },
  admin: {
    title: 'Holdfast for operators',
    description: 'Define events, watch their stock, cancel and refund. Every call under /admin needs the bearer token.',
  },
} as const;

/** The topics of both listeners. */
const TAGS = {
  Events: 'What is for sale, and its definitions.',
  Seating: 'Where the seats are, which are free, and the best of them.',
  Holds: 'Tickets kept for a buyer for some minutes.',
  'Waiting room': 'A line with passes in front of the sale.',
  Checkout: 'Orders: their start, status and payments.',
  Orders: 'Orders with everything on them; cancelling, and money that was given back.',
  Payments: 'What payment providers report.',
  Tickets: 'What doors check tickets with.',
  Sandbox: 'Payments without money and a clock that can be moved, for those who build storefronts.',
  Service: 'The service itself: overview, journal, snapshots, and the cluster where there is one.',
  Health: 'Whether it lives and can answer, and what it measures.',
} as const;

/** The document is of where it was loaded from; `baseUrl` is the address that buyers see, where one is set. */
export async function installDocument(
  app: HttpApp,
  listener: 'public' | 'admin',
  baseUrl: string | null = null,
): Promise<void> {
  for (const schema of NAMED_SCHEMAS) app.addSchema(schema);
  const components = listener === 'admin' ? { components: { securitySchemes: BEARER } } : {};
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { ...INFO[listener], version: API_VERSION, license: { name: 'MIT', identifier: 'MIT' } },
      servers: [{ url: baseUrl ?? '/' }],
      ...components,
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) => String(schema['$id'] ?? `Schema${index}`),
    },
    // A route without a credential says so.
    transform: ({ schema, url }) => ({ schema: { security: [], ...(documented(schema) as typeof schema) }, url }),
    transformObject: (made) =>
      'openapiObject' in made ? withoutUnused(made.openapiObject, listener) : made.swaggerObject,
  });
}

/** Shows parameters that are digits in a text as the integers that they mean, and bodies that another schema checks by that one. */
function documented(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(documented);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { integerText, documentedAs, ...rest } = schema as Record<string, unknown>;
  if (typeof documentedAs === 'string') return { $ref: `${documentedAs}#` };
  if (typeof integerText === 'object') return { ...rest, ...integerText, type: 'integer' };
  return Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, documented(part)]));
}

type Made = Parameters<NonNullable<FastifyDynamicSwaggerOptions['transformObject']>>[0];
type Document = Extract<Made, { readonly openapiObject: unknown }>['openapiObject'];

/** The document with the tags and the named schemas that its operations lead to. */
function withoutUnused(document: Document, listener: 'public' | 'admin'): Document {
  const { schemas = {}, ...components } = document.components ?? {};
  const used = namesIn(document.paths);
  // A set grows while it is walked: what a schema leads to is walked as well.
  for (const name of used) for (const further of namesIn(schemas[name])) used.add(further);
  const kept = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
  const operations = Object.values(document.paths ?? {}).flatMap((path) => Object.values(path ?? {}));
  const topics = new Set(operations.flatMap((operation) => (operation as { readonly tags?: string[] }).tags ?? []));
  const tags = Object.entries(TAGS).filter(([name]) => topics.has(name));
  return {
    ...document,
    paths: withExamples(withHeaders(document.paths), listener),
    tags: tags.map(([name, description]) => ({ name, description })),
    components: { ...components, schemas: kept },
  } as Document;
}

/** The named schemas that something leads to. */
function namesIn(part: unknown): Set<string> {
  const references = JSON.stringify(part ?? null).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
  return new Set(Array.from(references, ([, name]) => name!));
}

/** The error catalogue as a table in Markdown. */
function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, meaning }]) => `| ${status} | \`${code}\` | ${meaning} |`);
  return ['| Status | Code | Meaning |', '|---|---|---|', ...rows].join('\n');
}
