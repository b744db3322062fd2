/**
 * The whole service: engine, catalogue, payments, notifications and the two listeners, started and stopped in order. It owns no rule
 * of the sale.
 */
import type { Logger } from 'pino';
import type { AddressInfo } from 'node:net';
import { inBackground } from '#actors/trouble.ts';
import { startEngine, type Engine, type EngineOptions } from '#actors/engine.ts';
import { formatFileProblem, readCatalogue, samplesFolder } from '#catalogue/files.ts';
import { startPruneSchedule, type PruneSchedule } from '#actors/prune-schedule.ts';
import { isRefusal } from '#domain/refusal.ts';
import { createMetrics } from '#http/metrics.ts';
import { buildAdminApp, buildPublicApp } from '#http/server.ts';
import { openOutbox, type Outbox } from '#notifications/outbox.ts';
import { createPoster } from '#notifications/messages.ts';
import { absentProviders, openPaymentService, type PaymentService } from '#payments/service.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { addressOf, baseUrlOf, type Config } from './config.ts';
import { gaugesOf, healthOf } from './health.ts';
import { pagesOf } from './pages.ts';
import { createJsonLog, logTroubles } from './log.ts';
import { openSecrets, type ServiceSecrets } from './secrets.ts';
import type { HttpApp } from '#http/app.ts';
import type { SnapshotSummary } from '#http/ports.ts';
import type { JournalFault } from '#persistence/journal.ts';

export interface ServiceOptions {
  /** Load the demo catalogue when the journal is empty and no catalogue is set. */
  readonly demo?: boolean;
  /** The journal broke; the process must end with exit code 4. */
  readonly onFatal?: (fault: JournalFault) => void;
  readonly engine?: Pick<EngineOptions, 'clockSource' | 'journal' | 'onProgress'>;
  readonly log?: Logger;
}

export interface Service {
  readonly engine: Engine;
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
  // 1. The engine: journal, clock, events.
  const engine = await startEngine({
    folder: config.dataDir,
    liveEventsMax: config.liveEventsMax,
    freeBytesMin: config.freeBytesMin,
    waitingRepliesMax: config.limits.waitingRepliesMax,
    onFatal: options.onFatal ?? (() => {}),
    ...options.engine,
  });
  const apps: HttpApp[] = [];
  try {
    // 2. The catalogue.
    await loadCatalogue(engine, config, options.demo ?? false);
    return await openService(config, engine, log, apps);
  } catch (error) {
    await Promise.all(apps.map((app) => app.close()));
    await engine.stop();
    throw error;
  }
}

async function openService(config: Config, engine: Engine, log: Logger, apps: HttpApp[]): Promise<Service> {
  // 3. Secrets: configured, kept or new.
  const secrets = openSecrets(config, log);
  warnOfSettings(config, log);
  // 4. Payments and notifications. The base URL is known once the public listener has its port.
  let publicUrl: string | null = null;
  const baseUrl = (): string => (publicUrl ??= baseUrlOf(config, portOf(publicApp)));
  const payments = await openPayments(config, secrets, engine, baseUrl);
  const outbox = await openNotifications(config, engine);
  // 5. Health and metrics.
  const health = healthOf(engine);
  const gauges = gaugesOf(engine, health, () => outbox?.deliveredSeq ?? null);
  const metrics = createMetrics(gauges);
  // 6. The listeners of buyers and of operators.
  const { events, clock, stream } = engine;
  const ports = { settings: config, events, clock, health, log, tickets: secrets.tickets, metrics };
  const publicApp: HttpApp = await buildPublicApp({
    ...ports,
    payments,
    baseUrl,
    advanceClock: (seconds) => stream.advanceClock(seconds),
    storefront: pagesOf(new URL('./storefront/app/', import.meta.url)),
    example: pagesOf(new URL('./storefront/example/', import.meta.url), '/example/'),
  });
  apps.push(publicApp);
  const adminApp = await buildAdminApp({
    ...ports,
    adminToken: secrets.adminToken,
    absentProviders: payments.absent,
    gauges,
    facts: (afterSeq) => engine.journal.read({ afterSeq }),
    console: pagesOf(new URL('./console/app/', import.meta.url)),
    takeSnapshot: (options, mark) => stream.once(mark, () => snapshotAll(engine, options)),
  });
  apps.push(adminApp);
  await publicApp.listen({ host: listeningHost(config.host), port: config.port });
  await adminApp.listen({ host: listeningHost(config.adminHost), port: config.adminPort });
  // 7. What runs beside the requests.
  const jobs = startJobs(config, engine, payments, log);
  const stop = async (): Promise<void> => {
    const begin = stopwatchMs();
    log.info('stopping');
    engine.drain();
    jobs.stop();
    payments.checkoutSessions.finishWithin(ANSWERS_MS_MAX);
    await Promise.all(apps.map((app) => app.close()));
    metrics.close();
    await outbox?.stop();
    await engine.stop({ snapshotMsMax: Math.max(SNAPSHOTS_MS_MIN, SNAPSHOTS_END_MS + begin - stopwatchMs()) });
  };
  let stopped: Promise<void> | null = null;
  return {
    engine,
    publicUrl: baseUrl(),
    adminUrl: addressOf(config.adminHost, portOf(adminApp)),
    adminToken: secrets.adminToken,
    payments,
    log,
    stop: () => (stopped ??= stop()),
  };
}

/** Starts prunes by schedule and the repair of checkout sessions. */
function startJobs(
  config: Config,
  engine: Engine,
  { checkoutSessions, sessionExpiry }: PaymentService,
  log: Logger,
): { stop(): void } {
  const repair = setInterval(() => {
    inBackground('payments', checkoutSessions.resumeUnopened());
    inBackground('payments', sessionExpiry.scanActivated());
  }, RESUME_EVERY_MS);
  repair.unref();
  const pruning = schedulePruning(config, engine, log);
  return {
    stop() {
      clearInterval(repair);
      sessionExpiry.stop();
      pruning.stop();
    },
  };
}

function schedulePruning({ pruneEveryHours }: Config, engine: Engine, log: Logger): PruneSchedule {
  return startPruneSchedule(pruneEveryHours * 3_600_000, {
    clock: engine.clock,
    lastPrunedAt: () => engine.snapshots.lastPrunedAt,
    mayPrune: () => engine.trouble === null,
    prune: () => engine.snapshots.takeRound({ prune: true, proveAll: false }),
    onPruned({ outcomes, archived }) {
      const moved = archived && { fromSeq: archived.fromSeq, toSeq: archived.toSeq };
      log.info({ snapshots: outcomes.length, archived: moved }, 'the journal was pruned');
    },
  });
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
  { events, clock }: Engine,
  baseUrl: () => string,
): Promise<PaymentService> {
  const ports = { events, active: () => events.actors.active(), clock, baseUrl };
  return openPaymentService({ sandbox, secrets: webhooks, stripe }, ports);
}

/** Starts notifications to the receiver in the settings; null without one. */
async function openNotifications({ notify }: Config, engine: Engine): Promise<Outbox | null> {
  if (notify === null) return null;
  const { journal, clock, events } = engine;
  const outbox = await openOutbox({
    journal,
    cursor: engine.notificationCursor,
    events,
    // Receivers compare the time of a message with their own clock, so the sandbox clock must not move it.
    post: createPoster(notify, () => clock.machineNow()),
    storeCursor: (cursor) => engine.stream.record({ type: 'NotificationsDelivered', data: cursor }),
  });
  engine.snapshots.keepFactsAfter(() => outbox.deliveredSeq);
  return outbox;
}

async function snapshotAll(engine: Engine, options: { readonly prune: boolean }): Promise<SnapshotSummary> {
  const { seq, outcomes, archived } = await engine.snapshots.takeRound(options);
  const failed = outcomes.filter(({ trouble }) => trouble !== null).length;
  return { seq, taken: outcomes.length - failed, failed, archived };
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

/** Loads CATALOG, or the demo events into an empty journal. The same definitions again change nothing. */
async function loadCatalogue(engine: Engine, config: Config, demo: boolean): Promise<void> {
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
