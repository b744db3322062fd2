/**
 * The OpenAPI 3.1 document of each listener, made from the schemas that also validate and serialize.
 *
 * `installDocument` comes before the routes, so that it sees them all; routes bring `operationId`, `tags`, `summary` and
 * spread `errorResponses`. Schemas with a name are listed once, under it.
 */
import swagger from '@fastify/swagger';
import { Type, type TSchema } from 'typebox';
import { ERRORS } from './errors.ts';
import { StartedCheckout } from './schemas/checkout.ts';
import { Overview } from './schemas/console.ts';
import { JournalPage } from './schemas/journal.ts';
import { EventList, EventListEntry, EventPayload } from './schemas/events.ts';
import { Performance, SellingStage, TicketAvailability, TicketType } from './schemas/events.ts';
import { ref, Time } from './schemas/fields.ts';
import { Hold, HoldItem } from './schemas/holds.ts';
import { LiveChange, LiveSnapshot } from './schemas/live.ts';
import { AdminEvent } from './schemas/operators.ts';
import { AdminOrder, AdminTicket, OrderStatus, Ticket } from './schemas/orders.ts';
import { Draw, QueueEntry } from './schemas/queue.ts';
import { Occupancy, Seat, Seating } from './schemas/seating.ts';
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

/** What a route spreads into its responses: every error has one body. */
export const errorResponses = { '4xx': ref(ErrorBodySchema), '5xx': ref(ErrorBodySchema) };

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
  StartedCheckout,
  Ticket,
  OrderStatus,
  AdminEvent,
  AdminOrder,
  AdminTicket,
  Overview,
  JournalPage,
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

export async function installDocument(app: HttpApp, listener: 'public' | 'admin'): Promise<void> {
  for (const schema of NAMED_SCHEMAS) app.addSchema(schema);
  const components = listener === 'admin' ? { components: { securitySchemes: BEARER } } : {};
  await app.register(swagger, {
    openapi: { openapi: '3.1.0', info: { ...INFO[listener], version: API_VERSION }, ...components },
    refResolver: {
      buildLocalReference: (schema, _base, _fragment, index) => String(schema['$id'] ?? `Schema${index}`),
    },
    transform: ({ schema, url }) => ({ schema: documented(schema) as typeof schema, url }),
  });
}

/** Shows parameters that are digits in a text as the integers that they mean. */
function documented(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(documented);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { integerText, ...rest } = schema as Record<string, unknown>;
  if (typeof integerText === 'object') return { ...rest, ...integerText, type: 'integer' };
  return Object.fromEntries(Object.entries(rest).map(([name, part]) => [name, documented(part)]));
}

/** The error catalogue as a table in Markdown. */
function errorTable(): string {
  const rows = Object.entries(ERRORS).map(([code, { status, meaning }]) => `| ${status} | \`${code}\` | ${meaning} |`);
  return ['| Status | Code | Meaning |', '|---|---|---|', ...rows].join('\n');
}
