/**
 * The whole service: the engine, the catalogue and the two listeners, started and stopped in order.
 *
 * Called by `main.ts`, `holdfast serve` and the black-box tests. Owns no rule of the sale; it joins the rooms.
 */
import type { Logger } from 'pino';
import { subscribe } from 'node:diagnostics_channel';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { inBackground, type TroubleMessage } from '#actors/trouble.ts';
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
import { createTicketSigner, type TicketSigner } from '#tickets/signing.ts';
import { addressOf, baseUrlOf, type Config } from './config.ts';
import { pagesOf } from './pages.ts';
import { createJsonLog } from './log.ts';
import { confirmKey, keptSecret, peekSecret, SECRETS } from './secrets.ts';
import type { HttpApp } from '#http/app.ts';
import type { GaugesPort, HealthPort, SnapshotSummary } from '#http/ports.ts';
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

const ADMIN_TOKEN_FILE = 'admin-token';
const TICKET_KEY_FILE = 'ticket-key';
const WEBHOOK_SECRET_FILES = { provider_a: 'webhook-secret-a', provider_b: 'webhook-secret-b' } as const;

/** Between offers to the provider of orders that still wait for a session: a crash or an outage left them so. */
const RESUME_EVERY_MS = 20_000;

/** After a signal: requests that wait for a payment provider are answered by then. */
const ANSWERS_MS_MAX = 5_500;

/** After a signal: snapshots are taken until then, so that what is left suffices to close the journal. */
const SNAPSHOTS_END_MS = 7_500;
const SNAPSHOTS_MS_MIN = 500;

/**
 * Starts serving. Rejects with BadCatalogue, and as `startEngine` does; what was started by then is stopped again.
 */
export async function startService(config: Config, options: ServiceOptions = {}): Promise<Service> {
  const log = options.log ?? createJsonLog(config.logLevel);
  logTroubles(log);
  const engine = await startEngine({
    folder: config.dataDir,
    liveEventsMax: config.liveEventsMax,
    freeBytesMin: config.freeBytesMin,
    mailboxCommandsMax: config.limits.mailboxCommandsMax,
    onFatal: options.onFatal ?? (() => {}),
    ...options.engine,
  });
  const apps: HttpApp[] = [];
  try {
    await loadCatalogue(engine, config, options.demo ?? false);
    return await open(config, engine, log, apps);
  } catch (error) {
    await Promise.all(apps.map((app) => app.close()));
    await engine.stop();
    throw error;
  }
}

/** Builds and opens both listeners. */
async function open(config: Config, engine: Engine, log: Logger, apps: HttpApp[]): Promise<Service> {
  const adminToken = keptSecret({
    folder: config.dataDir,
    fileName: ADMIN_TOKEN_FILE,
    configured: config.adminToken,
    ...SECRETS.token,
  });
  if (config.adminToken === null)
    log.info({ path: `${config.dataDir}/${ADMIN_TOKEN_FILE}` }, 'the admin token is kept');
  warnOfSettings(config, log);
  const { events, clock } = engine;
  const health = healthOf(engine);
  let publicUrl: string | null = null;
  // Asked once, when the listener has its port: requests are finished after it was closed.
  const baseUrl = (): string => (publicUrl ??= baseUrlOf(config, portOf(publicApp)));
  const payments = await openPayments(config, engine, baseUrl);
  const outbox = await openNotifications(config, engine);
  const gauges = gaugesOf(engine, health, () => outbox?.deliveredSeq ?? null);
  const metrics = createMetrics(gauges);
  const ports = {
    settings: config,
    directory: events,
    clock,
    health,
    log,
    tickets: openTicketSigner(config, log),
    metrics,
  };
  const advanceClock = (seconds: number) => engine.stream.advanceClock(seconds);
  const storefront = pagesOf(new URL('./storefront/app/', import.meta.url));
  const example = pagesOf(new URL('./storefront/example/', import.meta.url), '/example/');
  const publicApp: HttpApp = await buildPublicApp({ ...ports, payments, baseUrl, advanceClock, storefront, example });
  apps.push(publicApp);
  const adminApp = await buildAdminApp({
    ...ports,
    adminToken,
    absentProviders: payments.absent,
    gauges,
    facts: (afterSeq) => engine.journal.read({ afterSeq }),
    console: pagesOf(new URL('./console/app/', import.meta.url)),
    takeSnapshot: (options, mark) => engine.stream.once(mark, () => snapshotAll(engine, options)),
  });
  apps.push(adminApp);
  await publicApp.listen({ host: listeningHost(config.host), port: config.port });
  await adminApp.listen({ host: listeningHost(config.adminHost), port: config.adminPort });
  const adminUrl = addressOf(config.adminHost, portOf(adminApp));
  const { checkoutSessions, sessionExpiry } = payments;
  const sweep = setInterval(() => {
    inBackground('payments', checkoutSessions.resumeUnopened());
    inBackground('payments', sessionExpiry.scanActivated());
  }, RESUME_EVERY_MS);
  sweep.unref();
  const pruning = schedulePruning(config, engine, log);
  let stopped: Promise<void> | null = null;
  const stop = async (): Promise<void> => {
    const begin = stopwatchMs();
    log.info('stopping');
    engine.drain();
    clearInterval(sweep);
    sessionExpiry.stop();
    pruning.stop();
    checkoutSessions.finishWithin(ANSWERS_MS_MAX);
    await Promise.all(apps.map((app) => app.close()));
    metrics.close();
    await outbox?.stop();
    await engine.stop({ snapshotMsMax: Math.max(SNAPSHOTS_MS_MIN, SNAPSHOTS_END_MS + begin - stopwatchMs()) });
  };
  return {
    engine,
    publicUrl: baseUrl(),
    adminUrl,
    adminToken,
    payments,
    log,
    stop: () => (stopped ??= stop()),
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

/** Says what these settings allow that nobody wants where tickets are sold for money. */
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

/** The signer of ticket codes; a key of its own that the settings no longer name is pointed out, for its codes cannot be checked. */
function openTicketSigner({ dataDir, ticketKeys }: Config, log: Logger): TicketSigner {
  if (ticketKeys !== null) {
    const former = peekSecret(dataDir, TICKET_KEY_FILE);
    if (former !== null && !ticketKeys.includes(former)) {
      log.warn(
        { path: join(dataDir, TICKET_KEY_FILE) },
        'TICKET_KEY does not list the key that is kept here: codes that it signed cannot be checked',
      );
    }
    return createTicketSigner(ticketKeys);
  }
  const kept = { folder: dataDir, fileName: TICKET_KEY_FILE, configured: null, ...SECRETS.ticketKey };
  const signer = createTicketSigner([keptSecret(kept)]);
  confirmKey(dataDir, TICKET_KEY_FILE, signer.keys[0].kid);
  return signer;
}

/** Stands the providers behind their names; their secrets are as configured, or made at first start. */
function openPayments(config: Config, engine: Engine, baseUrl: () => string): Promise<PaymentService> {
  const { dataDir, sandbox, stripe, webhookSecretA, webhookSecretB } = config;
  const { events, clock } = engine;
  const secretOf = (fileName: string, configured: string | null): string =>
    keptSecret({ folder: dataDir, fileName, configured, ...SECRETS.webhook });
  const secrets = {
    provider_a: secretOf(WEBHOOK_SECRET_FILES.provider_a, webhookSecretA),
    provider_b: secretOf(WEBHOOK_SECRET_FILES.provider_b, webhookSecretB),
  };
  const ports = { events, awake: () => events.actors.active(), clock, baseUrl };
  return openPaymentService({ sandbox, secrets, stripe }, ports);
}

/** Starts notifications to the receiver in the settings; null without one. */
async function openNotifications({ notify }: Config, engine: Engine): Promise<Outbox | null> {
  if (notify === null) return null;
  const { journal, clock, events } = engine;
  const outbox = await openOutbox({
    journal,
    cursor: engine.notificationCursor,
    events,
    // Receivers compare with a clock that nobody moves.
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

function healthOf(engine: Engine): HealthPort {
  return {
    readiness() {
      const reason = engine.trouble;
      return reason === null ? { ready: true, degraded: engine.degraded } : { ready: false, reason };
    },
    get draining() {
      return engine.status === 'DRAINING' || engine.status === 'STOPPED';
    },
  };
}

function gaugesOf(engine: Engine, health: HealthPort, notifiedSeq: GaugesPort['notifiedSeq']): GaugesPort {
  const { events, journal, space, clock } = engine;
  return {
    journal,
    notifiedSeq,
    get ready() {
      return health.readiness().ready;
    },
    get events() {
      return events.size;
    },
    get brokenEvents() {
      return events.actors.broken.count;
    },
    get clockLeaps() {
      return clock.leaps;
    },
    get freeBytes() {
      return space.freeBytes;
    },
    snapshotAgeSeconds: () => (clock.now() - (engine.snapshots.lastSnapshotAt ?? clock.now())) / 1_000,
    awake: () => events.actors.active(),
  };
}

/**
 * The address to listen on. For `localhost` the framework would open a second server beside its own, which answers broken requests
 * without the error body and takes connections without a bound; one address is enough for who calls it by that name.
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

let troublesAreLogged = false;

/** Puts what the rooms report into the log; once a process. */
function logTroubles(log: Logger): void {
  if (troublesAreLogged) return;
  troublesAreLogged = true;
  subscribe('holdfast:trouble', (message) => {
    const { where, message: text, error } = message as TroubleMessage;
    log.error({ where, err: error ?? undefined }, text);
  });
}
