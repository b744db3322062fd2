/**
 * The OpenAPI 3.1 document of each listener, made from the schemas that also validate and serialize.
 *
 * `installDocument` runs before the routes are added, so that it sees all of them. A route brings `operationId`, `tags`
 * and `summary`; a route of operators also brings `security`. A schema with a name is listed once, under it. What an
 * operation may be refused with, and what the framework would only copy at each request, is in `documented-…` beside
 * this file.
 *
 * 1. All rules of a public linter hold, except the one about the order of topics: `test/http/document.test.ts` has
 *    those that routes can break.
 */
import type { FastifySchemaControllerOptions } from 'fastify/types/schema.js';
import type { TSchema } from 'typebox';
import { withAnswers } from '../protocol/documented-answers.ts';
import { withExamples } from './documented-examples.ts';
import { withHeaders } from './documented-headers.ts';
import { withParameters } from './documented-parameters.ts';
import { NOTIFICATIONS, PAYMENT_REPORT } from './documented-webhooks.ts';
import { ERRORS } from '../protocol/errors.ts';
import { Quote, StartedCheckout } from '../buyers/checkout/schema.ts';
import { Cluster } from '../operators/cluster.ts';
import { Overview } from '../operators/console.ts';
import { JournalPage } from '../operators/journal.ts';
import {
  EventList,
  EventListEntry,
  EventPayload,
  Performance,
  EventBrand,
  SaleSteering,
  SellingStage,
  TicketAvailability,
  TicketType,
} from '../buyers/events/schema.ts';
import { Hold, HoldItem } from '../buyers/holds.ts';
import { LiveChange, LiveSnapshot } from '../live/schema.ts';
import { Amendment, AmendmentQuoteBody } from '../buyers/orders/amendments.ts';
import { RefundList, RefundTotals } from '../operators/refunds.ts';
import { EventMoney, MoneyList, MoneySums } from '../operators/money.ts';
import { ServiceHistory } from '../operators/history.ts';
import { SaleByMinute } from '../operators/sale.ts';
import { AdminEvent, DocumentedDefinition } from '../operators/events.ts';
import { Cancellation } from '../operators/cancellation.ts';
import { AdminOrder, AdminTicket, TicketScan } from '../operators/orders/schema.ts';
import { OrderStatus, Ticket } from '../buyers/orders/schema.ts';
import { ScanResults } from '../doors/scans.ts';
import { StationSync } from '../doors/sync.ts';
import { DoorCounts, ScanConflicts } from '../operators/doors.ts';
import { SteeringFields } from '../operators/steering.ts';
import { MadeStation, Station } from '../operators/stations.ts';
import { Draw, QueueEntry } from '../buyers/queue.ts';
import { Occupancy, Seat, Seating } from '../buyers/seating.ts';
import { FoundOrders } from '../operators/search.ts';
import { Subject } from '../operators/subject.ts';
import { ErrorBodySchema } from '../protocol/fields.ts';
import type { HttpApp } from '../protocol/app.ts';
import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';

/** The interface version, as every answer says in X-Api-Version. */
export const API_VERSION = '1.3.0';

const BEARER = { bearer: { type: 'http', scheme: 'bearer' } } as const;

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
  EventBrand,
  SaleSteering,
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
  SteeringFields,
  AdminEvent,
  DocumentedDefinition,
  AdminOrder,
  AdminTicket,
  TicketScan,
  Overview,
  Cluster,
  JournalPage,
  Cancellation,
  MoneySums,
  EventMoney,
  MoneyList,
  SaleByMinute,
  ServiceHistory,
  RefundTotals,
  Amendment,
  AmendmentQuoteBody,
  RefundList,
  Station,
  MadeStation,
  DoorCounts,
  ScanConflicts,
  ScanResults,
  StationSync,
  FoundOrders,
  Subject,
];

const schemasByName = Object.fromEntries(
  NAMED_SCHEMAS.map((schema) => [(schema as TSchema & { readonly $id: string }).$id, schema]),
);

/**
 * Gives every app the named schemas. Added to each app, they would be copied for it, and searched again for each answer
 * of each route.
 */
export const namedSchemas: NonNullable<FastifySchemaControllerOptions['bucket']> = () => ({
  add() {
    throw new Error('a schema with a name belongs to NAMED_SCHEMAS');
  },
  getSchema: (name) => schemasByName[name],
  getSchemas: () => schemasByName,
});

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
  Notifications: 'What the service tells a receiver (`webhooks`).',
  Tickets: 'What doors check tickets with.',
  Doors: 'Stations that scan tickets at the doors, and who is inside.',
  Sandbox: 'Payments without money and a clock that can be moved, for those who build storefronts.',
  Service: 'The service itself: overview, journal, snapshots, and the cluster where there is one.',
  Health: 'Whether it lives and can answer, and what it measures.',
} as const;

const LICENSE = { name: 'MIT', url: 'https://opensource.org/license/mit' };

/** Where the service has no address of its own (RFC 2606). */
const NOWHERE = 'https://holdfast.example';

/** A mailbox that each domain should have (RFC 2142), at that of the buyers' address where it has one. */
function contactOf(baseUrl: string | null) {
  const { href, hostname } = new URL(baseUrl ?? NOWHERE);
  const domain = /\.[a-z]+$/i.test(hostname) ? hostname : new URL(NOWHERE).hostname;
  return { name: 'Holdfast', url: new URL('docs', href.replace(/\/*$/, '/')).href, email: `support@${domain}` };
}

/**
 * The document names the address that it was loaded from; `baseUrl` is the address that buyers see, where one is set.
 */
export async function installDocument(
  app: HttpApp,
  listener: 'public' | 'admin',
  baseUrl: string | null = null,
): Promise<void> {
  /** The operations that take an Idempotency-Key. */
  const repeatable = new Set<string>();
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { ...INFO[listener], version: API_VERSION, contact: contactOf(baseUrl), license: LICENSE },
      servers: [{ url: baseUrl ?? '/' }],
      components: { securitySchemes: BEARER },
    },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) => String(schema['$id'] ?? `Schema${index}`),
    },
    // A route without a credential says so.
    transform: ({ schema, url, route }) => {
      if (route.config?.isRepeatable === true) repeatable.add(String(schema?.operationId));
      return { schema: { security: [], ...(documented(schema) as typeof schema) }, url };
    },
    transformObject: (made) =>
      'openapiObject' in made ? withoutUnused(made.openapiObject, listener, repeatable) : made.swaggerObject,
  });
}

/**
 * Shows parameters that are digits in a text as the integers that they mean, and bodies by the other schema that checks
 * them, where there is one.
 */
function documented(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(documented);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { integerText, documentedAs, mustBe: _, ...rest } = schema as Record<string, unknown>;
  if (typeof documentedAs === 'string') return { $ref: `${documentedAs}#` };
  if (typeof integerText === 'object') return { ...rest, ...integerText, type: 'integer' };
  return Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, documented(part)]));
}

type Made = Parameters<NonNullable<FastifyDynamicSwaggerOptions['transformObject']>>[0];
type Document = Extract<Made, { readonly openapiObject: unknown }>['openapiObject'];

/** The document with the tags and the named schemas that its operations lead to. */
function withoutUnused(document: Document, listener: 'public' | 'admin', repeatable: ReadonlySet<string>): Document {
  const { schemas = {}, ...components } = document.components ?? {};
  const paths = withParts(document.paths as Paths, repeatable);
  const webhooks = listener === 'public' ? NOTIFICATIONS : {};
  const used = namesIn(paths);
  // A set grows while it is walked: what a schema leads to is walked as well.
  for (const name of used) for (const further of namesIn(schemas[name])) used.add(further);
  const kept = Object.fromEntries(Object.entries(schemas).filter(([name]) => used.has(name)));
  const operations = [paths, webhooks].flatMap((part) => Object.values(part)).flatMap((path) => Object.values(path));
  const topics = new Set(operations.flatMap((operation) => (operation as { readonly tags?: string[] }).tags ?? []));
  const tags = Object.entries(TAGS).filter(([name]) => topics.has(name));
  return {
    ...document,
    paths: withExamples(withHeaders(paths, repeatable), listener),
    ...(listener === 'public' && { webhooks }),
    tags: tags.map(([name, description]) => ({ name, description })),
    components: { ...components, schemas: kept },
  } as Document;
}

type Paths = Readonly<Record<string, Readonly<Record<string, MadeOperation>>>>;

interface MadeOperation {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly description?: string }[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content: Readonly<Record<string, { readonly schema?: { readonly type?: unknown } }>>;
  };
  readonly responses?: Readonly<Record<string, object>>;
}

/** The paths with what their schemas do not say. */
function withParts(paths: Paths, repeatable: ReadonlySet<string>): Paths {
  const operations = Object.entries(paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods).map(([method, made]) => {
        const operation = withBody(made.operationId === 'receivePaymentWebhook' ? withReport(made) : made);
        const isRepeatable = repeatable.has(made.operationId ?? '');
        return [method, withParameters(path, withAnswers(operation, { method, isRepeatable }))];
      }),
    ),
  ]);
  return Object.fromEntries(operations) as Paths;
}

function withReport({ parameters = [], ...operation }: MadeOperation): MadeOperation {
  return { ...operation, ...PAYMENT_REPORT, parameters: [...parameters, ...PAYMENT_REPORT.parameters] };
}

/** A body that may be null may be left out. */
function withBody(operation: MadeOperation): MadeOperation {
  const { requestBody } = operation;
  if (requestBody === undefined) return operation;
  const mayBeNull = Object.values(requestBody.content).some(({ schema }) => [schema?.type].flat().includes('null'));
  return mayBeNull ? { ...operation, requestBody: { ...requestBody, required: false } } : operation;
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
