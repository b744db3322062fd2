/**
 * The whole service: engine, catalogue, payments, notifications and the two listeners, started and stopped in order. It owns no rule
 * of the sale.
 */
import type { Logger } from 'pino';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Overloaded } from '#actors/admission.ts';
import { inBackground } from '#actors/trouble.ts';
import { startEngine, type EngineOptions } from '#actors/engine.ts';
import { formatFileProblem, picturesFolder, readCatalogue, samplesFolder } from '#catalogue/files.ts';
import { openPictures } from '#catalogue/pictures.ts';
import { startPruneSchedule, type PruneSchedule } from '#actors/prune-schedule.ts';
import { startRetentionSchedule, type RetentionSchedule } from '#actors/retention-schedule.ts';
import { isRefusal } from '#domain/refusal.ts';
import { createMetrics } from '#http/metrics.ts';
import { buildAdminApp, buildPublicApp } from '#http/server.ts';
import { openOutbox } from '#notifications/outbox.ts';
import { createPoster } from '#notifications/messages.ts';
import { absentProviders, openPaymentService, type PaymentService } from '#payments/service.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { addressOf, baseUrlOf, type Config } from './config.ts';
import { gaugesOf, healthOf } from './health.ts';
import { pagesOf, scriptOf } from './pages.ts';
import { createJsonLog, logTroubles } from './log.ts';
import { openSecrets, type ServiceSecrets } from './secrets.ts';
import type { StartNodeOptions } from '#cluster/start-node.ts';
import type { HttpApp } from '#http/app.ts';
import type { PublicPorts } from '#http/ports.ts';
import type { EnginePort } from '#actors/engine-port.ts';
import type { JournalFault } from '#persistence/journal.ts';

export interface ServiceOptions {
  /** Load the demo catalogue when the journal is empty and no catalogue is set. */
  readonly demo?: boolean;
  /** The journal broke; the process must end with exit code 4. */
  readonly onFatal?: (fault: JournalFault) => void;
  /** The listeners answer: from here on the service can be stopped, also while a node still waits or loads the catalogue. */
  readonly onListening?: (service: Service) => void;
  readonly engine?: Pick<EngineOptions, 'clockSource' | 'journal' | 'onProgress' | 'isSealing'>;
  /** Where it is a node of a cluster; for tests. */
  readonly node?: Pick<StartNodeOptions, 'time' | 'guardRounds'>;
  readonly log?: Logger;
}

export interface Service<Served extends EnginePort = EnginePort> {
  /** The engine of one machine, or the node of a cluster. */
  readonly engine: Served;
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly adminToken: string;
  readonly payments: PaymentService;
  readonly log: Logger;
  /** Stops accepting, finishes what was accepted, makes it durable, snapshots, closes. */
  stop(): Promise<void>;
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

/** After a signal: requests that wait for a payment provider are answered by then. */
const ANSWERS_MS_MAX = 5_500;

/** After a signal: snapshots are taken until then, so that what is left suffices to close the journal. */
const SNAPSHOTS_END_MS = 7_500;
const SNAPSHOTS_MS_MIN = 500;

/**
 * Starts serving, in numbered stages. Rejects with BadCatalogue, and as `startEngine` does; what was started by then is stopped again.
 */
export async function startService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  const log = options.log ?? createJsonLog(config.logLevel);
  logTroubles(log);
  // 1. The engine: journal, clock, events; or a node of a cluster.
  const engine = config.cluster === null ? await openEngine(config, options) : await openNode(config, options);
  const apps: HttpApp[] = [];
  try {
    // 2. The catalogue. A node's definitions need the other nodes, which may wait for this one.
    const loading = (): Promise<void> => loadCatalogue(engine, config, options.demo ?? false);
    if (engine.node === null) await loading();
    const service = await openService(config, options.demo ?? false, engine, log, apps);
    options.onListening?.(service);
    if (engine.node === null) return service;
    await untilReady(engine, log);
    await untilAccepted(loading);
    return service;
  } catch (error) {
    await Promise.all(apps.map((app) => app.close()));
    await engine.stop();
    throw error;
  }
}

/** Waits for a node, and says what it waits for: its listeners answer `/health/ready` meanwhile, but nobody may ask. */
export async function untilReady(
  engine: Pick<EnginePort, 'whenReady' | 'trouble'>,
  log: Pick<Logger, 'warn'>,
  sayEveryMs = WAITING_SAID_EVERY_MS,
): Promise<void> {
  const saying = setInterval(() => log.warn({ reason: engine.trouble }, 'not ready yet'), sayEveryMs);
  try {
    await engine.whenReady();
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

function openEngine(config: Config, options: ServiceOptions): Promise<EnginePort> {
  return startEngine({
    folder: config.dataDir,
    liveEventsMax: config.liveEventsMax,
    freeBytesMin: config.freeBytesMin,
    keepsUnnotified: config.notify !== null,
    keysLost: config.keysLost,
    waitingRepliesMax: config.limits.waitingRepliesMax,
    onFatal: options.onFatal ?? (() => {}),
    ...options.engine,
  });
}

/** Loads the modules of a cluster, and the NATS client with them, only here. */
async function openNode(config: Config, { engine = {}, node = {} }: ServiceOptions): Promise<EnginePort> {
  const { startNode } = await import('#cluster/start-node.ts');
  const { clockSource } = engine;
  const cluster = config.cluster!;
  return startNode({ ...config, cluster }, { ...node, ...(clockSource !== undefined && { clockSource }) });
}

const REFERENCE_SCRIPT = new URL('./docs/app/main.ts', import.meta.url);

async function openService(
  config: Config,
  demo: boolean,
  engine: EnginePort,
  log: Logger,
  apps: HttpApp[],
): Promise<Service> {
  // 3. Secrets: configured, kept or new.
  const secrets = openSecrets(config, log);
  warnOfSettings(config, log);
  // 4. Payments and notifications. The base URL is known once the public listener has its port.
  let publicUrl: string | null = null;
  const baseUrl = (): string => (publicUrl ??= baseUrlOf(config, portOf(publicApp)));
  const payments = await openPayments(config, secrets, engine, baseUrl);
  await startNotifications(config, engine);
  // 5. Health and metrics.
  const health = healthOf(engine);
  const gauges = gaugesOf(engine, health);
  const cluster = engine.cluster === null ? {} : { cluster: engine.cluster };
  const metrics = metricsOf(engine, gauges);
  // 6. The listeners of buyers and of operators.
  const { events, clock, personalData } = engine;
  const { tickets } = secrets;
  const adminUrl = (): string => addressOf(config.adminHost, portOf(adminApp));
  const reference = { origins: () => ({ public: baseUrl(), admin: adminUrl() }), script: scriptOf(REFERENCE_SCRIPT) };
  const common = { events, clock, health, log, tickets, personalData, metrics, baseUrl, ...cluster };
  const ports = { settings: config, reference, ...common };
  const publicApp: HttpApp = await buildPublicApp({
    ...ports,
    payments,
    ...picturesOf(config, demo),
    advanceClock: (seconds) => engine.advanceClock(seconds),
    storefront: pagesOf(new URL('./storefront/app/', import.meta.url)),
    example: pagesOf(new URL('./storefront/example/', import.meta.url), '/example/'),
  });
  apps.push(publicApp);
  const adminApp: HttpApp = await buildAdminApp({
    ...ports,
    adminToken: secrets.adminToken,
    absentProviders: payments.absent,
    gauges,
    newestFacts: (request) => engine.newestFacts(request),
    console: pagesOf(new URL('./console/app/', import.meta.url)),
    takeSnapshot: (options, mark) => engine.takeSnapshots(options, mark),
  });
  apps.push(adminApp);
  const backlog = config.limits.connectionsBacklogMax;
  await publicApp.listen({ host: listeningHost(config.host), port: config.port, backlog });
  await adminApp.listen({ host: listeningHost(config.adminHost), port: config.adminPort });
  // 7. What runs beside the requests.
  const jobs = startJobs(config, engine, payments, log);
  const stop = async (): Promise<void> => {
    const begin = stopwatchMs();
    log.info('stopping');
    const drained = engine.drain();
    jobs.stop();
    // A node is taken off the list of a load balancer meanwhile, and goes on answering.
    if (engine.node !== null) await Promise.race([drained, pause(HAND_OVER_MS_MAX)]);
    payments.checkoutSessions.finishWithin(ANSWERS_MS_MAX);
    await Promise.all(apps.map((app) => app.close()));
    metrics.close();
    await engine.stop({ snapshotMsMax: Math.max(SNAPSHOTS_MS_MIN, SNAPSHOTS_END_MS + begin - stopwatchMs()) });
  };
  let stopped: Promise<void> | null = null;
  return {
    engine,
    publicUrl: baseUrl(),
    adminUrl: adminUrl(),
    adminToken: secrets.adminToken,
    payments,
    log,
    stop: () => (stopped ??= stop()),
  };
}

/** Starts prunes by schedule and the repair of checkout sessions. */
function startJobs(
  config: Config,
  engine: EnginePort,
  { checkoutSessions, sessionExpiry }: PaymentService,
  log: Logger,
): { stop(): void } {
  const repair = setInterval(() => {
    inBackground('payments', checkoutSessions.resumeUnopened());
    inBackground('payments', sessionExpiry.scanActivated());
  }, RESUME_EVERY_MS);
  repair.unref();
  const pruning = schedulePruning(config, engine, log);
  const retention = scheduleRetention(engine, log);
  return {
    stop() {
      clearInterval(repair);
      sessionExpiry.stop();
      pruning.stop();
      retention.stop();
    },
  };
}

function schedulePruning({ pruneEveryHours }: Config, engine: EnginePort, log: Logger): Pick<PruneSchedule, 'stop'> {
  const { pruning } = engine;
  if (pruning === null) return { stop: () => {} };
  return startPruneSchedule(pruneEveryHours * 3_600_000, {
    clock: engine.clock,
    lastPrunedAt: () => pruning.lastPrunedAt(),
    mayPrune: () => engine.trouble === null,
    prune: () => pruning.prune(),
    onPruned({ outcomes, archived }) {
      const moved = archived && { fromSeq: archived.fromSeq, toSeq: archived.toSeq };
      log.info({ snapshots: outcomes.length, archived: moved }, 'the journal was pruned');
    },
  });
}

function scheduleRetention(engine: EnginePort, log: Logger): Pick<RetentionSchedule, 'stop'> {
  const schedule = startRetentionSchedule({
    clock: engine.clock,
    events: engine.events,
    pastRetention: () => engine.pastRetention(),
    mayErase: () => engine.trouble === null && !engine.isStopping,
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
  void engine.whenReady().then(
    () => schedule.eraseWhenDue(),
    () => {},
  );
  return schedule;
}

/** Warns of settings that are wrong where tickets are sold for money. */
function warnOfSettings({ sandbox, sandboxClock, stripe }: Config, log: Logger): void {
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
  { sandbox, stripe }: Config,
  { webhooks }: ServiceSecrets,
  engine: EnginePort,
  baseUrl: () => string,
): Promise<PaymentService> {
  const { events, clock, personalData } = engine;
  const ports = { events, active: () => engine.active(), clock, personalData, baseUrl };
  return openPaymentService({ sandbox, secrets: webhooks, stripe }, ports);
}

function metricsOf({ cluster, figures }: EnginePort, gauges: Parameters<typeof createMetrics>[0]) {
  return cluster === null ? createMetrics(gauges) : createMetrics(gauges, { cluster, figures });
}

/** Starts notifications to the receiver in the settings, where there is one. */
async function startNotifications({ notify }: Config, engine: EnginePort): Promise<void> {
  if (notify === null) return;
  // Receivers compare the time of a message with their own clock, so the sandbox clock must not move it.
  const post = createPoster(notify, () => engine.clock.machineNow());
  const { personalData } = engine;
  await engine.followFacts((source) => openOutbox({ ...source, personalData, post }));
}

/**
 * The address to listen on. For `localhost` the framework would open a second server beside its own, which answers broken requests
 * without the error body and accepts connections without a limit; one address is enough for clients that use that name.
 */
function listeningHost(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}

function portOf(app: HttpApp): number {
  return (app.server.address() as AddressInfo).port;
}

/** The pictures that events name, where a folder for them is known. */
function picturesOf({ pictures, catalog }: Config, demo: boolean): Pick<PublicPorts, 'pictures'> {
  const ofCatalog = catalog ?? (demo ? samplesFolder : null);
  const folder = pictures ?? (ofCatalog === null ? null : picturesFolder(ofCatalog));
  return folder === null ? {} : { pictures: openPictures(folder) };
}

/** Loads CATALOG, or the demo events into an empty journal. The same definitions again change nothing. */
async function loadCatalogue(engine: EnginePort, config: Config, demo: boolean): Promise<void> {
  const source = config.catalog ?? (demo && engine.wasEmpty ? samplesFolder : null);
  if (source === null) return;
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
}
