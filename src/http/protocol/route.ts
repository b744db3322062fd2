/**
 * How a route of the API is written: it names its schema, its command, what it takes beside its body, what answers it,
 * and the body of that answer. Everything else is done here, for all routes in the same way.
 *
 * 1. Session key, cursor, problems that no schema shows, and idempotency key are checked in this order, before anything
 *    is asked.
 * 2. An idempotency key counts on its route: the method, and the address without its parameters. A buyer's key counts
 *    on each hold or order by itself, and on a hold for its owner. For an operator what the address names is a part of
 *    the request.
 * 3. A refusal is sent as such; an answer to an earlier request is marked as replayed.
 * 4. A route executes what it names and nothing else: its `command` is the type of `parts.execute`, which is the only
 *    way to an event, and `config.command` is what admission asks (`limits/admission-queue.ts`). What another module
 *    executes for a route is that module's.
 * 5. `config.isRepeatable` is what the document says.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyContextConfig,
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  FastifySchema,
  RawServerDefault,
  RouteGenericInterface,
  RouteOptions,
} from 'fastify';
import type { IncomingMessage } from 'node:http';
import type { Static, TSchema } from 'typebox';
import { executeAt, type Found } from '#actors/event-port.ts';
import type { CommandOf, CommandType, ReplyTo } from '#domain/command.ts';
import type { IdempotencyKey, OperatorNote } from '#domain/fact.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { HttpApp } from './app.ts';
import { invalid, isRefused, type Refused } from './errors.ts';
import { OperatorHeaders } from './fields.ts';
import type { ListedProblem } from './formats.ts';
import {
  readIdempotencyKey,
  markReplayed,
  nameless,
  readOperator,
  readCursor,
  requiredSessionKey,
} from './request-parts.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The command as which a request of the route is admitted. */
    command?: CommandType;
    /** Takes an Idempotency-Key. */
    isRepeatable?: boolean;
  }
}

type RequestOf<Schema extends FastifySchema> = FastifyRequest<
  RouteGenericInterface,
  RawServerDefault,
  IncomingMessage,
  Schema,
  TypeBoxTypeProvider
>;

/** What a request says beside its body, its address and its query, and what it may execute. */
interface RequestParts<Type extends CommandType> {
  /** Empty where the route takes none. */
  readonly sessionKey: string;
  readonly idempotency: IdempotencyKey | null;
  /** Where the page of a list begins. */
  readonly after: string | null;
  /** Who changes something, and why. */
  readonly by: OperatorNote;
  /** Executes a command of the route at an event, or answers `notFound` where there is none (rule 4). */
  readonly execute: (found: Found, notFound: Refusal, command: CommandOf<Type>) => Promise<ReplyTo<Type> | Refusal>;
}

/** The bodies of success in a schema. */
type SuccessOf<Schema> = Schema extends { readonly response: infer Responses }
  ? {
      [Status in keyof Responses]: Status extends 200 | 201 | 202
        ? Responses[Status] extends TSchema
          ? Static<Responses[Status]>
          : unknown
        : never;
    }[keyof Responses]
  : unknown;

interface RouteOf<Schema extends FastifySchema, Result, Type extends CommandType> {
  /** What a request executes; of several, which are admitted alike, any one. */
  readonly command?: Type | readonly [Type, Type];
  /** The command that the query costs as much as. */
  readonly costs?: CommandType;
  readonly config?: FastifyContextConfig;
  /** Its sender owns a hold or a place in line. */
  readonly takesSessionKey?: true;
  readonly isRepeatable?: true;
  /** What the schema cannot show. */
  readonly problems?: (request: RequestOf<Schema>) => readonly ListedProblem[];
  /** Asks for the answer; `reply` is for headers that a refusal has as well. */
  readonly answer: (
    request: RequestOf<Schema>,
    parts: RequestParts<Type>,
    reply: FastifyReply,
  ) => Promise<Result> | Result;
  /** 200 unless it is set here. */
  readonly status?: 201 | 202 | ((answer: Exclude<Result, Refused>) => 200 | 201);
  /** The body of an answer; headers that go with it are set on the reply. */
  readonly body?: (
    answer: Exclude<Result, Refused>,
    reply: FastifyReply,
  ) => SuccessOf<Schema> | Promise<SuccessOf<Schema>>;
  /** Sends an answer whose body is written already, or is no JSON. */
  readonly send?: (
    answer: Exclude<Result, Refused>,
    reply: FastifyReply,
    request: RequestOf<Schema>,
  ) => FastifyReply | Promise<FastifyReply>;
}

const NO_OPERATOR: OperatorNote = { operator: null, note: null };
const NO_PARTS: RequestParts<CommandType> = {
  sessionKey: '',
  idempotency: null,
  after: null,
  by: NO_OPERATOR,
  execute: executeAt,
};

/**
 * Adds a route to an app or a scope of it; `at` is its method and its address, such as `GET /api/events/public/:slug`.
 */
export function addRoute<Schema extends FastifySchema, Result extends object, Type extends CommandType = never>(
  app: HttpApp,
  at: string,
  schema: Schema,
  route: RouteOf<Schema, Result, Type>,
): void {
  const { answer, command, costs, status = 200, body, send } = route;
  const [method = '', url = ''] = at.split(' ');
  const readParts = partsReader(at, schema, route);
  const handler = async (request: RequestOf<Schema>, reply: FastifyReply): Promise<FastifyReply> => {
    const parts = readParts(request);
    if (isRefused(parts)) return reply.refuse(parts);
    const found = await answer(request, parts, reply);
    if (isRefused(found)) return reply.refuse(found);
    const done = found as Exclude<Result, Refused>;
    markReplayed(reply, done);
    if (send !== undefined) return send(done, reply, request);
    if (status !== 200) reply.code(typeof status === 'number' ? status : status(done));
    const sent = body!(done, reply);
    return reply.send(sent instanceof Promise ? await sent : sent);
  };
  const admitted = [command ?? costs].flat()[0];
  const config = { ...route.config, command: admitted, isRepeatable: route.isRepeatable };
  (app as unknown as FastifyInstance).route({ method, url, schema, config, handler } as unknown as RouteOptions);
}

/** Makes the function that reads the parts which a route takes; a refusal for those that are missing or wrong. */
function partsReader<Schema extends FastifySchema, Result, Type extends CommandType>(
  at: string,
  schema: Schema,
  { takesSessionKey, isRepeatable, problems }: RouteOf<Schema, Result, Type>,
): (request: RequestOf<Schema>) => RequestParts<Type> | Refused {
  const isOperators = schema.headers === OperatorHeaders;
  const isPage = fieldsOf(schema.querystring).includes('cursor');
  if (!takesSessionKey && !isOperators && !isPage && !isRepeatable && problems === undefined) return () => NO_PARTS;
  const name = at.replaceAll(/\/:\w+/g, '');
  const noteIn = (['querystring', 'body'] as const).find((part) => fieldsOf(schema[part]).includes('note'));
  return (typed) => {
    const request = typed as unknown as SentRequest;
    const sessionKey = takesSessionKey ? requiredSessionKey(request) : '';
    if (typeof sessionKey !== 'string') return sessionKey;
    const start = isPage ? readCursor(request.query.cursor) : BEGIN;
    if ('outcome' in start) return start;
    const found = problems?.(typed) ?? [];
    if (found.length > 0) return invalid(found);
    const idempotency = isRepeatable ? idempotencyOf(name, request, sessionKey, isOperators) : null;
    if (idempotency !== null && 'outcome' in idempotency) return idempotency;
    const note = noteIn === undefined ? null : noteIn === 'body' ? request.body?.note : request.query.note;
    const by = isOperators ? readOperator(request, note) : NO_OPERATOR;
    return { sessionKey, idempotency, after: start.after, by, execute: executeAt };
  };
}

const BEGIN = { after: null };

interface SentRequest {
  readonly headers: IncomingMessage['headers'];
  readonly params: Readonly<Record<string, string>>;
  readonly query: { readonly session_key?: string; readonly cursor?: string; readonly note?: string };
  readonly body: { readonly note?: string | null } | null | undefined;
}

function idempotencyOf(
  route: string,
  request: SentRequest,
  sessionKey: string,
  isOperators: boolean,
): IdempotencyKey | Refusal | null {
  if (request.headers['idempotency-key'] === undefined) return null;
  const named = Object.values(request.params);
  if (isOperators) return readIdempotencyKey(route, request, { target: named });
  const owner = sessionKey === '' ? [] : [nameless(sessionKey)];
  return readIdempotencyKey(route, request, { subject: [...named, ...owner] });
}

/** The names of the fields of a schema; none where it is no object's. */
function fieldsOf(schema: unknown): readonly string[] {
  return Object.keys((schema as { readonly properties?: object } | undefined)?.properties ?? {});
}
