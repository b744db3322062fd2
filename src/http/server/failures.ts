/**
 * Sends every error: refusals, errors of the framework, and requests that are not HTTP. Routes use `reply.refuse`.
 *
 * 1. Every error of every route has the error body, also one that reaches no route. A browser is sent the same as a
 *    page at an address that is made for people, or that does not exist.
 * 2. No input gets a 5xx other than 503 OVERLOADED and 502 PAYMENT_PROVIDER_UNAVAILABLE: a 500 is a defect and is
 *    logged once.
 * 3. Logs name the pattern of a route, never its address: addresses and headers carry keys and passes.
 */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Socket } from 'node:net';
import { STATUS_CODES, type IncomingMessage } from 'node:http';
import { Overloaded } from '#actors/admission.ts';
import { brandOf } from '#brand/brand.ts';
import { JSON_TYPE } from '../protocol/envelope.ts';
import { prefersHtml, varyBy, textsFor } from '../protocol/negotiation.ts';
import { API_VERSION } from './openapi.ts';
import {
  errorBody,
  ERRORS,
  fail,
  invalid,
  NOT_FOUND,
  type ErrorCode,
  type HttpRefusal,
  type Refused,
} from '../protocol/errors.ts';
import { failurePage, sendPage } from '../pages/html.ts';
import type { ClockPort, CommonPorts } from '../ports.ts';
import { problemsOf } from '../protocol/validation.ts';

declare module 'fastify' {
  interface FastifyReply {
    /** Answers with a refusal: its code's status and message, and its detail in the API's names. */
    refuse(refusal: Refused): FastifyReply;
  }
  interface FastifyContextConfig {
    /** The address is made for people: a browser is shown its errors as pages. */
    page?: boolean;
  }
}

/** After how many seconds a repeat is worthwhile, where the reply does not say it yet. */
const RETRY_AFTER_SECONDS: { readonly [Code in ErrorCode]?: number } = { OVERLOADED: 1, SALE_PAUSED: 30 };

/** Adds `refuse` to replies, and sends every error of the app with one body. */
export function installFailures(app: FastifyInstance, ports: Pick<CommonPorts, 'clock' | 'log' | 'settings'>): void {
  const { clock, log } = ports;
  const brand = brandOf(ports.settings.brand);
  const send = (reply: FastifyReply, { code, detail, reason }: Refused): FastifyReply => {
    const body = errorBody(code, detail, clock.now(), reason);
    const retryAfter = RETRY_AFTER_SECONDS[code];
    if (retryAfter !== undefined && !reply.hasHeader('retry-after')) reply.header('retry-after', retryAfter);
    reply.code(body.statusCode);
    // An error is not cached, even where the answer would be.
    reply.header('cache-control', 'no-store');
    if (isPage(reply.request, code)) varyBy(reply, 'Accept');
    if (isForPeople(reply.request, code)) return sendPage(reply, failurePage(body, textsFor(reply.request), brand));
    return reply.header('content-type', JSON_TYPE).send(JSON.stringify(body));
  };
  app.decorateReply('refuse', function (refusal: Refused) {
    return send(this, refusal);
  });
  const methods = trackMethods(app);
  app.setErrorHandler((error, request, reply) => {
    const failure = failureOf(error as FastifyError);
    const about = { requestId: request.id, route: routeOf(request) };
    if (failure.code === 'INTERNAL') {
      log.error({ err: error, ...about }, 'request failed');
      return send(reply, fail('INTERNAL', { requestId: request.id }));
    }
    // The public is not told what is busy.
    if (failure.code === 'OVERLOADED')
      log.debug({ reason: (error as Error).message, ...about }, 'request answered 503');
    if (failure.retryAfterSeconds !== undefined) reply.header('retry-after', failure.retryAfterSeconds);
    return send(reply, failure);
  });
  app.setNotFoundHandler((request, reply) => {
    const allowed = methods.allowedAt(request.url);
    if (allowed.length === 0 || allowed.includes(request.method)) return send(reply, NOT_FOUND);
    return send(reply.header('allow', allowed.join(', ')), fail('METHOD_NOT_ALLOWED', { allowed }));
  });
}

type Failure = HttpRefusal & { readonly retryAfterSeconds?: number };

/** What an error thrown on the way through the framework is called in the API. */
function failureOf(error: FastifyError): Failure {
  if (error instanceof Overloaded) {
    const detail = error.brokenEventId === null ? {} : { eventId: error.brokenEventId };
    return { ...fail('OVERLOADED', detail), retryAfterSeconds: error.retryAfterSeconds };
  }
  if (error.name === 'JournalFault') return fail('OVERLOADED');
  if (error.validation !== undefined) {
    const problems = problemsOf(error.validation);
    const isKey = error.validationContext === 'querystring' && problems.some(({ path }) => path === '/session_key');
    return isKey ? { ...invalid(problems), reason: 'SESSION_KEY' } : invalid(problems);
  }
  switch (error.statusCode) {
    case 404:
      return NOT_FOUND;
    case 408:
      return fail('REQUEST_TIMEOUT');
    case 413:
      return fail('PAYLOAD_TOO_LARGE');
    case 415:
      return fail('UNSUPPORTED_MEDIA_TYPE');
    case 429:
      return fail('RATE_LIMITED');
    default:
      return isClientError(error) ? invalid([{ path: '', message: error.message }]) : fail('INTERNAL');
  }
}

function isClientError({ statusCode }: FastifyError): boolean {
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500;
}

/** Whether a browser opens the address of a page. */
function isForPeople(request: FastifyRequest, code: ErrorCode): boolean {
  return isPage(request, code) && prefersHtml(request.headers.accept);
}

/** Whether a person may open the address: the address of a page, or one that names nothing and is not the API's. */
function isPage({ routeOptions, method, url }: FastifyRequest, code: ErrorCode): boolean {
  if (routeOptions.config.page === true) return true;
  return code === 'NOT_FOUND' && method === 'GET' && routeOptions.url === undefined && !/^\/(api|admin)\b/.test(url);
}

function routeOf(request: FastifyRequest): string {
  return `${request.method} ${request.routeOptions.url ?? '(no route)'}`;
}

/** Remembers which methods each address takes, for the Allow header. Compiled at the first miss. */
function trackMethods(app: FastifyInstance): { allowedAt(url: string): string[] } {
  const methodsByRoute = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    if (url.includes('*')) return;
    const methods = methodsByRoute.get(url) ?? new Set();
    methodsByRoute.set(url, methods);
    for (const each of [method].flat()) methods.add(each);
  });
  const patterns = () =>
    Array.from(methodsByRoute, ([url, methods]) => ({ pattern: patternOf(url), methods: [...methods] }));
  let compiled: ReturnType<typeof patterns> | null = null;
  return {
    allowedAt(url) {
      compiled ??= patterns();
      const path = url.split(/[?#]/, 1)[0]!;
      return [
        ...new Set(compiled.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods)),
      ].sort();
    },
  };
}

function patternOf(url: string): RegExp {
  const steps = url
    .split('/')
    .map((step) => (step.startsWith(':') ? '[^/]+' : step.replace(/[.+?^$()[\]{}|\\]/g, '\\$&')));
  return new RegExp(`^${steps.join('/')}$`);
}

/**
 * Answers an address that the router cannot read; no hook has run, so that the headers of every answer are set here.
 */
export function answerBadAddress(clock: ClockPort, stamp: (request: FastifyRequest, reply: FastifyReply) => void) {
  return (_error: FastifyError, request: FastifyRequest, reply: FastifyReply): void => {
    const errors = [{ path: '', message: 'the address has a part that cannot be decoded' }];
    const body = errorBody('VALIDATION_ERROR', { errors }, clock.now());
    stamp(request, reply);
    reply.code(body.statusCode).header('content-type', JSON_TYPE).send(JSON.stringify(body));
  };
}

/** What an answer on a bare socket needs. */
interface RawPorts {
  readonly clock: ClockPort;
  /** Names a request, also one that could not be read. */
  readonly newId: (request: Headed) => string;
  /** Further lines of the head. */
  readonly headers: readonly string[];
}

/** Answers what is not HTTP at all, on the bare socket. */
export function answerClientError(ports: RawPorts) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    writeRaw(socket, codeOfClientError(error), ports, UNREAD);
  };
}

/** Answers CONNECT, which Node hands over as a bare socket. */
export function answerTunnel(ports: RawPorts) {
  return (request: Headed, socket: Socket): void =>
    writeRaw(socket, 'METHOD_NOT_ALLOWED', ports, request, ['allow: GET']);
}

type Headed = Pick<IncomingMessage, 'headers'>;

const UNREAD: Headed = { headers: {} };

function codeOfClientError({ code }: NodeJS.ErrnoException): ErrorCode {
  if (code === 'HPE_HEADER_OVERFLOW') return 'HEADERS_TOO_LARGE';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'REQUEST_TIMEOUT';
  if (code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW') return 'PAYLOAD_TOO_LARGE';
  return 'VALIDATION_ERROR';
}

function writeRaw(
  socket: Socket,
  code: ErrorCode,
  { clock, newId, headers: always }: RawPorts,
  request: Headed,
  headers: readonly string[] = [],
): void {
  const { status } = ERRORS[code];
  const malformed = { errors: [{ path: '', message: 'is not a well-formed HTTP request' }] };
  const body = JSON.stringify(errorBody(code, code === 'VALIDATION_ERROR' ? malformed : {}, clock.now()));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${JSON_TYPE}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    `date: ${new Date(clock.now()).toUTCString()}`,
    `x-request-id: ${newId(request)}`,
    `x-api-version: ${API_VERSION}`,
    'x-content-type-options: nosniff',
    'cache-control: no-store',
    ...always,
    ...headers,
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroySoon());
}
