/**
 * The whole service: engine, catalogue, payments, notifications and the two listeners, started and stopped in order. It
 * owns no rule of the sale.
 */
import type { Logger } from 'pino';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Overloaded } from '#actors/admission.ts';
import { inBackground } from '#actors/trouble.ts';
import { startEngine, type EngineOptions } from '#engine/engine.ts';
import { formatFileProblem, readCatalogue, samplesFolder } from '#catalogue/files.ts';
import { startRetentionSchedule, type RetentionSchedule } from '#privacy/retention-schedule.ts';
import { isRefusal } from '#domain/refusal.ts';
import { createMetrics } from '#http/metrics/metrics.ts';
import { buildAdminApp } from '#http/server/apps.ts';
import { openMailer, type Mailer } from '#notifications/smtp.ts';
import { DELIVERED } from '#engine/service-facts.ts';
import { absentProviders, openPaymentService, type PaymentService } from '#payments/service.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { pagesOf } from '#http/pages/bundle.ts';
import { listeningHost, originsOf, type Config } from './config.ts';
import { isDelivered, startMail, startNotifications } from './deliveries.ts';
import { canSharePorts, gaugesOf, HttpThreads, shownWith, startWorker, type StartThread } from './http-threads.ts';
import { createJsonLog, logTroubles } from './log.ts';
import { buildBuyersApp, referenceOf } from './public-app.ts';
import { openSecrets, type ServiceSecrets } from './secrets.ts';
import type { StartNodeOptions } from '#cluster/start-node.ts';
import type { HttpApp } from '#http/protocol/app.ts';
import type { Metrics, ThreadsGauges } from '#http/ports.ts';
import type { Deployment, DeploymentState, EnginePort, StartFound } from '#engine/deployment.ts';
import type { JournalFault } from '#persistence/journal.ts';

export interface ServiceOptions {
  /** Load the demo catalogue when the journal is empty and no catalogue is set. */
  readonly demo?: boolean;
  /** The journal broke; the process must end with exit code 4. */
  readonly onFatal?: (fault: JournalFault) => void;
  /**
   * The listeners answer: from here on the service can be stopped, also while a node still waits or loads the
   * catalogue.
   */
  readonly onListening?: (service: Service) => void;
  readonly engine?: Pick<EngineOptions, 'clockSource' | 'journal' | 'onProgress' | 'isSealing'>;
  /** Where it is a node of a cluster; for tests. */
  readonly node?: Pick<StartNodeOptions, 'time' | 'guardRounds'>;
  /**
   * For tests: milliseconds that a test moves, for the clocks of other threads, and how these are started. For a bench:
   * whether HTTP_THREADS=1 makes a thread beside the engine's, to be compared with none.
   */
  readonly threads?: {
    readonly stopwatch?: SharedArrayBuffer;
    readonly start?: StartThread;
    readonly evenOne?: boolean;
  };
  readonly log?: Logger;
}

export interface Service<Served extends Deployment = Deployment> {
  /** The engine of one machine, or the node of a cluster. */
  readonly engine: Served;
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  /** What the start says of itself in one line of the log. */
  readonly started: StartReport;
  readonly payments: PaymentService;
  /** The threads that answer buyers; null where one thread does everything. */
  readonly threads: HttpThreads | null;
  readonly log: Logger;
  /** Stops accepting, finishes what was accepted, makes it durable, snapshots, closes. */
  stop(): Promise<void>;
}

/** What an operator wants to know after a start: the state that it continues from, and the sources of its parts. */
interface StartReport extends Partial<StartFound> {
  readonly events: number;
  /** Absent where none is loaded. */
  readonly catalogue?: string;
  readonly adminToken: string;
}

/** A catalogue that cannot be loaded; the message lists every problem, a line each. */
export class BadCatalogue extends Error {
  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
    this.name = 'BadCatalogue';
  }
}

/** Between two tries to open the checkout sessions that a crash or an outage left unopened. */
const RESUME_EVERY_MS = 20_000;

const LOAD_RETRY_MS = 1_000;

/** How often the log says what a node that starts waits for: longer than most starts take. */
const WAITING_SAID_EVERY_MS = 10_000;

/** After a signal: a node listens so long at most while it gives up its shards. */
const HAND_OVER_MS_MAX = 1_500;

/** Requests that wait for a payment provider are answered within this time after a signal. */
const ANSWERS_MS_MAX = 5_500;

/** After a signal: snapshots are taken until then, so that what is left suffices to close the journal. */
const SNAPSHOTS_END_MS = 7_500;
const SNAPSHOTS_MS_MIN = 500;

/**
 * Starts serving, in numbered stages. Rejects with BadCatalogue, and as `startEngine` does; what was started by then is
 * stopped again.
 */
export async function startService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  const log = options.log ?? createJsonLog(config.logLevel);
  logTroubles(log);
  // 1. The engine: journal, clock, events; or a node of a cluster.
  const engine =
    config.cluster === null ? await openEngine(config, log, options) : await openNode(config, log, options);
  const listeners: Listener[] = [];
  try {
    // 2. The catalogue. While a node starts, its definitions need the other nodes, which may wait for this one.
    const isServing = engine.state().phase === 'SERVING';
    const loaded: { catalogue?: string } = {};
    const loading = async (): Promise<void> => {
      const source = await loadCatalogue(engine, config, options.demo ?? false);
      if (source !== null) loaded.catalogue = source;
    };
    if (isServing) await loading();
    const service = await openService(config, options, engine, { log, listeners, loaded });
    options.onListening?.(service);
    if (isServing) return service;
    await untilReady(engine, log);
    await untilAccepted(loading);
    return service;
  } catch (error) {
    await Promise.all(listeners.map((listener) => listener.close()));
    await engine.stop();
    throw error;
  }
}

/** Waits for a node, and says what it waits for: its listeners answer `/health/ready` meanwhile, but nobody may ask. */
export async function untilReady(
  deployment: { state(): Pick<DeploymentState, 'trouble'>; readonly opened: Promise<Pick<EnginePort, 'whenReady'>> },
  log: Pick<Logger, 'warn'>,
  sayEveryMs = WAITING_SAID_EVERY_MS,
): Promise<void> {
  const saying = setInterval(() => log.warn({ reason: deployment.state().trouble }, 'not ready yet'), sayEveryMs);
  try {
    await (await deployment.opened).whenReady();
  } finally {
    clearInterval(saying);
  }
}

/** An owner may change, and servers may elect, while a node loads the catalogue. */
async function untilAccepted(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Overloaded)) throw error;
    }
    await pause(LOAD_RETRY_MS);
  }
}

function openEngine(config: Config, log: Logger, options: ServiceOptions): Promise<Deployment> {
  return startEngine({
    folder: config.dataDir,
    liveEventsMax: config.liveEventsMax,
    freeBytesMin: config.freeBytesMin,
    keepsUndelivered: DELIVERED.filter((delivered) => isDelivered(config, delivered)),
    keysLost: config.keysLost,
    waitingRepliesMax: config.limits.waitingRepliesMax,
    pruning: {
      everyMs: config.pruneEveryHours * 3_600_000,
      onPruned({ outcomes, archived }) {
        const moved = archived && { fromSeq: archived.fromSeq, toSeq: archived.toSeq };
        log.info({ snapshots: outcomes.length, archived: moved }, 'the journal was pruned');
      },
    },
    onFatal: options.onFatal ?? (() => {}),
    ...options.engine,
  });
}

/** Loads the modules of a cluster, and the NATS client with them, only here. */
async function openNode(config: Config, log: Logger, { engine = {}, node = {} }: ServiceOptions): Promise<Deployment> {
  const { startNode } = await import('#cluster/start-node.ts');
  const { clockSource } = engine;
  const cluster = config.cluster!;
  const warn = (message: string): void => log.warn(message);
  return startNode({ ...config, cluster }, { ...node, warn, ...(clockSource !== undefined && { clockSource }) });
}

interface Opening {
  readonly log: Logger;
  readonly listeners: Listener[];
  /** What is loaded before this or later. */
  readonly loaded: { readonly catalogue?: string };
}

async function openService(
  config: Config,
  options: ServiceOptions,
  engine: Deployment,
  { log, listeners, loaded }: Opening,
): Promise<Service> {
  // 3. Secrets: configured, kept or new.
  const secrets = openSecrets(config, log);
  warnOfSettings(config, log);
  // 4. Payments and notifications. Buyers are answered, and their payments opened, before the last thread listens.
  const { ports, origins } = originsOf(config);
  const baseUrl = (): string => origins().public;
  const payments = await openPayments(config, secrets, engine, baseUrl);
  await startNotifications(config, engine);
  const mailer = config.mail && (await openMailer(config.mail, () => engine.clock.machineNow()));
  // 5. Metrics, of the state that listeners show too.
  const opened: { threads: HttpThreads | null } = { threads: null };
  const isThreaded = await mayThread(config, log, options.threads?.evenOne ?? false);
  const deployment = shownWith(engine, () => opened.threads);
  const threadsShown = isThreaded ? gaugesOf(() => opened.threads) : null;
  const metrics = openMetrics({ engine, deployment, payments, threads: threadsShown, mailer });
  // 6. The listeners of buyers and of operators.
  const { clock, personalData } = engine;
  const made = { tickets: secrets.tickets, reference: referenceOf(origins) };
  const common = { ...made, clock, deployment, log, personalData, metrics, baseUrl, payments };
  const served = { config, demo: options.demo ?? false, engine, payments, metrics, log };
  const openThreads = async (): Promise<HttpThreads> => {
    const { stopwatch = null, start: startThread = startWorker } = options.threads ?? {};
    const own = { readState: deployment.state, stopwatch, startThread, ports };
    return (opened.threads = await HttpThreads.open({ ...served, ...own }));
  };
  const buyers = isThreaded ? await openThreads() : await listenHere({ ...common, ...served });
  const { threads } = opened;
  listeners.push(buyers);
  ports.public = buyers.port;
  // Mails name the base URL.
  if (mailer !== null) await startMail(mailer, config, engine, baseUrl);
  const adminApp = await buildAdminApp({
    ...common,
    settings: config,
    events: noting(engine.events, () => opened.threads?.noteDefinition()),
    adminToken: secrets.adminToken,
    absentProviders: payments.absent,
    checkoutSessions: payments.checkoutSessions,
    newestFacts: async (request) => engine.serving().newestFacts(request),
    saleByMinute: async (request) => engine.serving().saleByMinute(request),
    console: pagesOf(new URL('../web/console/', import.meta.url)),
    takeSnapshot: async (options, idempotency) => engine.serving().takeSnapshots(options, idempotency),
  });
  listeners.push(adminApp);
  await adminApp.listen({ host: listeningHost(config.adminHost), port: config.adminPort });
  ports.admin = portOf(adminApp);
  threads?.noteAdminPort(ports.admin);
  // 7. What runs beside the requests.
  const jobs = startJobs(engine, payments, log);
  let stopped: Promise<void> | null = null;
  return {
    engine,
    publicUrl: baseUrl(),
    adminUrl: origins().admin,
    adminToken: secrets.adminToken,
    get started() {
      const { events } = engine.state();
      return { ...loaded, events, ...engine.serving().found, adminToken: secrets.adminTokenFrom };
    },
    payments,
    threads,
    log,
    stop: () => (stopped ??= stop({ engine, threads, jobs, payments, listeners, metrics, log, mailer })),
  };
}

interface Running extends Pick<Service, 'engine' | 'threads' | 'payments' | 'log'> {
  readonly jobs: { stop(): void };
  readonly listeners: readonly Listener[];
  readonly metrics: { close(): void };
  readonly mailer: Pick<Mailer, 'close'> | null;
}

async function stop({ engine, threads, jobs, payments, listeners, metrics, log, mailer }: Running): Promise<void> {
  const begin = stopwatchMs();
  log.info('stopping');
  const drained = engine.drain();
  if (engine.isStopping) threads?.noteStopping();
  jobs.stop();
  // A node is taken off the list of a load balancer meanwhile, and goes on answering; one machine is drained at once.
  await Promise.race([drained, pause(HAND_OVER_MS_MAX, undefined, { ref: false })]);
  payments.checkoutSessions.finishWithin(ANSWERS_MS_MAX);
  await Promise.all(listeners.map((listener) => listener.close()));
  metrics.close();
  mailer?.close();
  await engine.stop({ snapshotMsMax: Math.max(SNAPSHOTS_MS_MIN, SNAPSHOTS_END_MS + begin - stopwatchMs()) });
}

/** Something that listens and can be closed. */
interface Listener {
  close(): Promise<unknown>;
}

/** Has buyers answered on this thread. */
async function listenHere({
  engine,
  ...ports
}: Omit<Parameters<typeof buildBuyersApp>[0], 'events' | 'advanceClock'> & {
  readonly engine: Deployment;
}): Promise<Listener & { readonly port: number }> {
  const { host, port, limits } = ports.config;
  const app = await buildBuyersApp({
    ...ports,
    events: engine.events,
    advanceClock: async (seconds) => engine.serving().advanceClock(seconds),
  });
  await app.listen({ host: listeningHost(host), port, backlog: limits.connectionsBacklogMax });
  return { port: portOf(app), close: () => app.close() };
}

/** Whether several threads answer buyers: where a port cannot be shared one does, and the log says so. */
async function mayThread({ httpThreads }: Config, log: Logger, evenOne: boolean): Promise<boolean> {
  if (httpThreads === 1 && !evenOne) return false;
  if (await canSharePorts()) return true;
  log.warn({ asked: httpThreads }, 'one thread answers all requests: this system shares no port between threads');
  return false;
}

interface Measured {
  readonly engine: Deployment;
  readonly deployment: Pick<Deployment, 'state' | 'isStopping'>;
  readonly payments: PaymentService;
  readonly threads: ThreadsGauges | null;
  readonly mailer: Mailer | null;
}

function openMetrics({ engine, deployment, payments, threads, mailer }: Measured): Metrics {
  const { checkoutSessions, refundOutbox } = payments;
  const metrics = createMetrics({
    deployment,
    clock: engine.clock,
    active: () => engine.active(),
    notInMemory: () => engine.notInMemory(),
    refundTries: () => refundOutbox.tries,
    ...(threads !== null && { threads }),
    ...(mailer !== null && { mailer }),
  });
  metrics.watchInUse('provider_calls', () => checkoutSessions.calls.underWay);
  metrics.watchInUse('provider_calls_waiting', () => checkoutSessions.calls.waiting);
  return metrics;
}

/** The events, with a note of each definition. */
function noting(events: Deployment['events'], note: () => void): Deployment['events'] {
  return {
    byEventId: (eventId) => events.byEventId(eventId),
    bySlug: (slug) => events.bySlug(slug),
    byId: (prefix, id) => events.byId(prefix, id),
    list: (page) => events.list(page),
    listAll: (page) => events.listAll(page),
    readActive: (eventIds) => events.readActive(eventIds),
    define: (...definition) => events.define(...definition).finally(note),
  };
}

/** Starts erasures whose time has come, and the repair of checkout sessions. */
function startJobs(
  engine: Deployment,
  { checkoutSessions, sessionExpiry, refundOutbox }: PaymentService,
  log: Logger,
): { stop(): void } {
  const repair = setInterval(() => {
    inBackground('payments', checkoutSessions.resumeUnopened());
    inBackground('payments', sessionExpiry.scanActivated());
  }, RESUME_EVERY_MS);
  repair.unref();
  const retention = scheduleRetention(engine, log);
  return {
    stop() {
      clearInterval(repair);
      sessionExpiry.stop();
      refundOutbox.stop();
      retention.stop();
    },
  };
}

function scheduleRetention(engine: Deployment, log: Logger): Pick<RetentionSchedule, 'stop'> {
  const schedule = startRetentionSchedule({
    clock: engine.clock,
    events: engine.events,
    pastRetention: () => engine.serving().pastRetention(),
    mayErase: () => engine.state().trouble === null && !engine.isStopping,
    onErased({ eventId, erasedOrders, unsealedOrders }) {
      if (erasedOrders > 0) {
        log.info({ event: eventId, orders: erasedOrders }, 'personal data was erased: its retention has passed');
      }
      if (unsealedOrders > 0) {
        log.warn(
          { event: eventId, orders: unsealedOrders },
          'orders of an earlier version keep personal data past its retention: rewrite the folder with holdfast seal',
        );
      }
    },
  });
  // A node owns events some time after its start; whoever started it learns of a start that fails.
  void engine.opened
    .then((served) => served.whenReady())
    .then(
      () => schedule.eraseWhenDue(),
      () => {},
    );
  return schedule;
}

/** Warns of settings that are wrong where tickets are sold for money. */
function warnOfSettings({ baseUrl, mail, sandbox, sandboxClock, stripe }: Config, log: Logger): void {
  if (mail !== null && baseUrl === null) log.warn('mails have links that only this machine can open: set BASE_URL');
  if (sandboxClock) log.warn('the sandbox clock is on: anybody who can reach the service can move its time');
  if (sandbox)
    log.warn('the sandbox is on: anybody can pay for nothing; set SANDBOX=off where tickets are sold for money');
  const absent = absentProviders(sandbox, stripe);
  if (absent.length === 0) return;
  log.warn(
    { providers: absent },
    'payment providers are not set up: paid checkouts of events that name them answer 502 PAYMENT_PROVIDER_UNAVAILABLE',
  );
}

function openPayments(
  { sandbox, stripe, limits }: Config,
  { webhooks }: ServiceSecrets,
  engine: Deployment,
  baseUrl: () => string,
): Promise<PaymentService> {
  const { events, clock, personalData } = engine;
  const owns = (eventId: string): boolean => engine.owns(eventId);
  const ports = { events, owns, active: () => engine.active(), clock, elapsedMs: stopwatchMs, personalData, baseUrl };
  return openPaymentService({ sandbox, secrets: webhooks, stripe, callsMax: limits.providerCallsMax }, ports);
}

function portOf(app: HttpApp): number {
  return (app.server.address() as AddressInfo).port;
}

/**
 * Loads CATALOG, or the demo events into an empty journal, and answers from where, or null. The same definitions again
 * change nothing.
 */
async function loadCatalogue(engine: Deployment, config: Config, demo: boolean): Promise<string | null> {
  const source = config.catalog ?? (demo && engine.serving().wasEmpty ? samplesFolder : null);
  if (source === null) return null;
  const { definitions, problems } = readCatalogue(source);
  if (problems.length > 0) {
    throw new BadCatalogue(problems.map(formatFileProblem));
  }
  for (const definition of definitions) {
    const reply = await engine.events.define(definition, { operator: 'catalogue', note: null });
    if (!isRefusal(reply)) continue;
    const conflicts = reply.code === 'UPDATE_CONFLICT' ? reply.detail.conflicts : [];
    const lines = conflicts.map(({ path, message }) => `${definition.id} /${path.join('/')}: ${message}`);
    throw new BadCatalogue(lines.length > 0 ? lines : [`${definition.id}: ${reply.code}`]);
  }
  return source;
}
