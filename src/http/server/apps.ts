/**
 * Builds the two apps, the public one and the operators'. Each is a Fastify app that can listen or be injected.
 *
 * A topic is a file or a short folder: schemas, routes, bodies. Its routes are a function of an app and its ports; it
 * is registered here.
 *
 * 1. Hooks on hot routes are few and synchronous. Fastify's own request log is off; a 5xx is logged once by
 *    `failures.ts`.
 * 2. Only replies are decorated: with `refuse`, `invalid` and `fail`. What routes need is given to them as ports.
 * 3. No coercion, no removal of fields, no text bodies: JSON or 415.
 */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import { createHash } from 'node:crypto';
import type { ServerOptions } from 'node:http';
import { fastify, type FastifyReply, type FastifyRequest } from 'fastify';
import { requireToken } from '../limits/bearer-tokens.ts';
import { type HttpApp, createRequestIds } from '../protocol/app.ts';
import { clientAddresses } from '../protocol/client-address.ts';
import { createPipelineBound, closeInTime } from '../limits/connections.ts';
import { allowOrigins, answerPreflights } from './cors.ts';
import { boundBodies } from '../limits/bodies.ts';
import { installEnvelope } from '../protocol/envelope.ts';
import { answerBadAddress, answerClientError, answerTunnel, installFailures } from './failures.ts';
import { installAdmission } from '../limits/admission-queue.ts';
import { API_VERSION, installDocument, namedSchemas } from './openapi.ts';
import type {
  AdminPorts,
  ClockPort,
  DeploymentPort,
  HttpSettings,
  LogPort,
  Metrics,
  PublicPorts,
  RequestMetrics,
} from '../ports.ts';
import { limitChanges, limitClients } from '../limits/rate-limits.ts';
import { adminEventRoutes } from '../operators/events.ts';
import { adminOrderRoutes } from '../operators/orders/route.ts';
import { checkoutRoutes } from '../buyers/checkout/route.ts';
import { clusterRoutes } from '../operators/cluster.ts';
import { cancellationRoutes } from '../operators/cancellation.ts';
import { amendmentRoutes } from '../operators/orders/amendments.ts';
import { refundRoutes } from '../operators/refunds.ts';
import { consoleRoutes } from '../operators/console.ts';
import { docsRoutes } from '../reference/route.ts';
import { eventRoutes, pictureRoutes } from '../buyers/events/route.ts';
import { brandRoutes } from '../pages/brand.ts';
import { assetRoutes, doorPageRoutes, fontRoutes, pageRoutes } from '../pages/route.ts';
import { fail } from '../protocol/errors.ts';
import { healthRoutes, metricsRoutes, snapshotRoutes } from '../operators/operations.ts';
import { historyRoutes } from '../operators/history.ts';
import { journalRoutes } from '../operators/journal.ts';
import { holdRoutes } from '../buyers/holds.ts';
import { ownAmendmentRoutes } from '../buyers/orders/own-amendments.ts';
import { orderRoutes } from '../buyers/orders/route.ts';
import { paymentRoutes } from '../buyers/payments.ts';
import { liveRoutes } from '../live/route.ts';
import { queueRoutes } from '../buyers/queue.ts';
import { sandboxClockRoutes, sandboxPaymentRoutes } from '../buyers/sandbox.ts';
import { shopRoutes } from '../storefront/route.ts';
import { scanRoutes } from '../doors/scans.ts';
import { syncRoutes } from '../doors/sync.ts';
import { requireStation } from '../doors/station-auth.ts';
import { counterRoutes } from '../operators/orders/counter.ts';
import { adminTicketRoutes } from '../operators/orders/tickets.ts';
import { attendeeRoutes } from '../operators/attendees.ts';
import { doorRoutes } from '../operators/doors.ts';
import { saleRoutes } from '../operators/sale.ts';
import { steeringRoutes } from '../operators/steering.ts';
import { stationRoutes } from '../operators/stations.ts';
import { showServerTiming } from './server-timing.ts';
import { searchRoutes } from '../operators/search.ts';
import { subjectRoutes } from '../operators/subject.ts';
import { seatingRoutes } from '../buyers/seating.ts';
import { ticketRoutes } from '../buyers/tickets.ts';
import { buildSerializer, compileValidator } from '../protocol/validation.ts';

/** Says which node of a cluster answered; a single machine does not send it. */
const SERVED_BY = 'x-served-by';

/**
 * Longer than any id or slug that names something, as long as an address can be: what is longer is simply not found.
 */
const PARAMETER_LENGTH_MAX = 16 * 1024;

/** Between two checks for requests that take too long to arrive. */
const RECEIVE_CHECK_MS_MAX = 1_000;

/** The public listener: what buyers and storefronts call. */
export async function buildPublicApp(ports: PublicPorts): Promise<HttpApp> {
  const { settings } = ports;
  const allowOrigin = allowOrigins(settings.corsOrigins);
  const { bodyBytesMax, stalledMsMax } = settings.limits;
  const stamp = createStamp(ports);
  const app = await buildApp(ports, { bodyBytesMax, stalledMsMax, isBuyers: true }, (request, reply) => {
    stamp(request, reply);
    allowOrigin(request, reply);
  });
  await answerPreflights(app, settings.corsOrigins);
  boundBodies(app, settings.limits, ports.metrics);
  limitChanges(app, ports);
  limitClients(app, ports);
  await installDocument(app, 'public', settings.baseUrl);
  healthRoutes(app, ports, { node: nodeOf(ports) });
  eventRoutes(app, ports);
  seatingRoutes(app, ports);
  liveRoutes(app, ports);
  queueRoutes(app, ports);
  holdRoutes(app, ports);
  checkoutRoutes(app, ports);
  await orderRoutes(app, ports);
  ownAmendmentRoutes(app, ports);
  await paymentRoutes(app, ports);
  ticketRoutes(app, ports);
  requireStation(app, ports);
  scanRoutes(app, ports);
  syncRoutes(app, ports);
  const { sandbox } = ports.payments;
  if (sandbox !== null) await sandboxPaymentRoutes(app, sandbox, ports);
  if (settings.sandboxClock) sandboxClockRoutes(app, ports);
  pictureRoutes(app, ports);
  brandRoutes(app, ports);
  const { storefront } = ports;
  if (storefront !== undefined) {
    shopRoutes(app, { ...ports, storefront });
    assetRoutes(app, storefront);
  }
  if (ports.example !== undefined) pageRoutes(app, ports.example, ['/example']);
  if (ports.door !== undefined) doorPageRoutes(app, ports.door);
  fontRoutes(app);
  docsRoutes(app, 'public', ports.reference);
  return app;
}

/** The operators' listener: everything under /admin needs the bearer token. */
export async function buildAdminApp(ports: AdminPorts): Promise<HttpApp> {
  const { settings, adminToken, clock } = ports;
  const addressOf = clientAddresses(settings.trustProxy);
  // A snapshot of everything may take its time.
  const bounds = { bodyBytesMax: settings.limits.adminBodyBytesMax, stalledMsMax: 0, isBuyers: false };
  const app = await buildApp(ports, bounds, createStamp(ports));
  requireToken(app, { token: adminToken, addressOf, clock, limits: settings.limits });
  await installDocument(app, 'admin');
  healthRoutes(app, ports);
  metricsRoutes(app, ports);
  adminEventRoutes(app, ports);
  cancellationRoutes(app, ports);
  refundRoutes(app, ports);
  amendmentRoutes(app, ports);
  adminOrderRoutes(app, ports);
  counterRoutes(app, ports);
  adminTicketRoutes(app, ports);
  saleRoutes(app, ports);
  steeringRoutes(app, ports);
  stationRoutes(app, ports);
  doorRoutes(app, ports);
  attendeeRoutes(app, ports);
  subjectRoutes(app, ports);
  searchRoutes(app, ports);
  snapshotRoutes(app, ports);
  consoleRoutes(app, ports);
  clusterRoutes(app, ports);
  journalRoutes(app, ports);
  historyRoutes(app, ports);
  if (ports.console !== undefined) pageRoutes(app, ports.console, ['/']);
  fontRoutes(app);
  docsRoutes(app, 'admin', ports.reference);
  return app;
}

interface GatePorts extends AppPorts, Pick<PublicPorts, 'events'>, Required<Pick<PublicPorts, 'door'>> {
  readonly tickets: Parameters<typeof scanRoutes>[1]['tickets'] & Parameters<typeof syncRoutes>[1]['tickets'];
  readonly metrics: Metrics;
  /** Null: the listener speaks plain HTTP. */
  readonly tls: TlsFiles | null;
  /** Whether its first feed was whole; nobody is checked before. */
  isWhole(): boolean;
}

/** A certificate with its chain and its private key, as PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** What a hall's own machine serves: stations, and whoever watches it. */
export async function buildGateApp(ports: GatePorts): Promise<HttpApp> {
  const { settings, tls } = ports;
  const { bodyBytesMax, stalledMsMax } = settings.limits;
  const app = await buildApp(ports, { bodyBytesMax, stalledMsMax, isBuyers: true, tls }, createStamp(ports));
  boundBodies(app, settings.limits, ports.metrics);
  app.addHook('onRequest', (request, reply, done) => {
    if (ports.isWhole() || !request.url.startsWith('/api/')) done();
    else reply.refuse(fail('OVERLOADED'));
  });
  healthRoutes(app, ports);
  metricsRoutes(app, ports);
  requireStation(app, ports);
  scanRoutes(app, { ...ports, isGate: true });
  syncRoutes(app, ports);
  doorPageRoutes(app, ports.door);
  fontRoutes(app);
  return app;
}

interface AppPorts {
  readonly settings: HttpSettings;
  readonly clock: ClockPort;
  readonly deployment: DeploymentPort;
  readonly log: LogPort;
  readonly metrics: RequestMetrics;
}

interface AppBounds {
  readonly bodyBytesMax: number;
  readonly isBuyers: boolean;
  /** A connection on which nothing moves for so long is closed; 0 for never. */
  readonly stalledMsMax: number;
  readonly tls?: TlsFiles | null;
}

/** Sets the headers that every answer of an app has, whatever becomes of the request. */
type Stamp = (request: FastifyRequest, reply: FastifyReply) => void;

/** What both apps have in common. */
async function buildApp(ports: AppPorts, bounds: AppBounds, setHeaders: Stamp): Promise<HttpApp> {
  const { settings, clock } = ports;
  const { limits } = settings;
  const { bodyBytesMax, stalledMsMax, tls = null } = bounds;
  const newRequestId = createRequestIds();
  const raw = { clock, newId: newRequestId, headers: rawHeaders(ports) };
  const app = fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    requestTimeout: limits.requestReceiveMsMax,
    connectionTimeout: stalledMsMax,
    keepAliveTimeout: limits.keepAliveMs,
    return503OnClosing: false,
    genReqId: newRequestId,
    schemaController: { bucket: namedSchemas, compilersFactory: { buildSerializer } },
    ...listenerOf(tls, { requireHostHeader: false, ...receiveBounds(limits.requestReceiveMsMax) }),
    routerOptions: { maxParamLength: PARAMETER_LENGTH_MAX },
    clientErrorHandler: answerClientError(raw),
    frameworkErrors: answerBadAddress(clock, setHeaders),
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.server.maxConnections = limits.connectionsMax;
  app.server.on('connect', answerTunnel(raw));
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.setValidatorCompiler(compileValidator);
  readJsonOnly(app);
  ports.metrics.observe(app);
  if (settings.serverTiming) showServerTiming(app);
  installFailures(app, ports);
  installEnvelope(app, settings.responseEnvelope);
  const inFlight = installAdmission(app, limits, ports, bounds.isBuyers);
  closeInTime(app, () => inFlight.changesUnderWay);
  const mayProceed = createPipelineBound(limits.pipelinedRequestsMax);
  app.addHook('onRequest', (request, reply, done) => {
    setHeaders(request, reply);
    if (mayProceed(request, reply)) done();
  });
  return app;
}

/** Fastify has a type of its own for each; the apps need nothing that is not in both. */
function listenerOf(tls: TlsFiles | null, options: ServerOptions): { readonly http: ServerOptions } {
  const listener = tls === null ? { http: options } : { https: { ...options, ...tls } };
  return listener as { readonly http: ServerOptions };
}

/**
 * One bound on the time that a request may take to arrive, from its first byte, or from the connection's opening, to
 * the last byte of its body. Node has a limit of its own for the headers, a minute, and checks only every half minute.
 */
function receiveBounds(receiveMsMax: number) {
  const checkMs = Math.min(RECEIVE_CHECK_MS_MAX, Math.ceil(receiveMsMax / 10));
  return { headersTimeout: receiveMsMax, connectionsCheckingInterval: checkMs };
}

/**
 * Makes what sets the headers of every answer of both apps. Nothing may be cached, unless a route allows it. `Date` is
 * the time of the service's clock, which need not be the machine's: pages count down by it.
 */
function createStamp(ports: Pick<AppPorts, 'clock' | 'deployment' | 'settings'>): Stamp {
  const { clock } = ports;
  const node = nodeOf(ports);
  const dateOf = createDateText();
  const stamp: Stamp = (request, reply) => {
    reply.header('date', dateOf(clock.now()));
    reply.header('x-request-id', request.id);
    reply.header('x-api-version', API_VERSION);
    reply.header('x-content-type-options', 'nosniff');
    reply.header('cache-control', 'no-store');
  };
  if (node === null) return stamp;
  return (request, reply) => {
    stamp(request, reply);
    reply.header(SERVED_BY, node);
  };
}

/** Makes the function that writes a moment as HTTP does; it writes each second once. */
function createDateText(): (ms: number) => string {
  let second = -1;
  let text = '';
  return (ms) => {
    const current = Math.floor(ms / 1000);
    if (current !== second) [second, text] = [current, new Date(current * 1000).toUTCString()];
    return text;
  };
}

/**
 * The node's name for the public; null on a single machine. Without NODE_NAME it is a digest, because the node is then
 * named after its machine.
 */
function nodeOf({ deployment, settings }: Pick<AppPorts, 'deployment' | 'settings'>): string | null {
  const name = deployment.state().cluster?.nodeName;
  if (name === undefined) return null;
  return settings.nodeName ?? createHash('sha256').update(name).digest('base64url').slice(0, 16);
}

/** Further headers of the answers to requests that are not HTTP. */
function rawHeaders(ports: Pick<AppPorts, 'deployment' | 'settings'>): readonly string[] {
  const node = nodeOf(ports);
  return node === null ? [] : [`${SERVED_BY}: ${node}`];
}

/** JSON is the one kind of body; an empty one counts as none, as clients send it with DELETE and bare POSTs. */
function readJsonOnly(app: HttpApp): void {
  const parse = app.getDefaultJsonParser('remove', 'remove');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) return done(null, undefined);
    void parse(request, body as string, done);
  });
}
