/**
 * Both apps over event states in memory, for tests of the HTTP layer by injection.
 *
 * Decisions are those of the real domain; mailbox and journal are missing. The clock stands still until a test moves
 * it.
 */
import { LATEST_MOMENT } from '#actors/clock.ts';
import { eventSummary } from '#domain/event/public-view.ts';
import { read } from '#domain/event/read.ts';
import { createHashing } from '#actors/crypto.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { MemoryKeys } from '#persistence/memory/keys.ts';
import { isPublished } from '#domain/catalogue/state.ts';
import type { HttpApp } from '#http/protocol/app.ts';
import { createMetrics } from '#http/metrics/metrics.ts';
import { buildAdminApp, buildPublicApp } from '#http/server/apps.ts';
import type { EventPort } from '#actors/event-port.ts';
import type { CommandType } from '#domain/command.ts';
import { isReading } from '#http/limits/admission-queue.ts';
import type { FastifyInstance } from 'fastify';
import type { ClusterState, DeploymentState } from '#engine/deployment.ts';
import type { AdminPorts, EventsPort, HttpSettings } from '#http/ports.ts';
import { eventNumberOf } from '#domain/ids.ts';
import { isRefusal } from '#domain/refusal.ts';
import { SalesByMinute } from '#engine/sales-by-minute.ts';
import { LIMITS } from '#service/limits.ts';
import { openPaymentService } from '#payments/service.ts';
import { createTicketSigner } from '#tickets/signing.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { definitionOf, sample } from '../fixtures/events.ts';
import { servingState } from '../fixtures/test-service.ts';
import { EVENT_NUMBER, given, START, type EventFixture } from '../fixtures/event-state.ts';

export const ADMIN_TOKEN = 'operators-only-token';
const BASE_URL = 'http://shop.test';
const hashing = createHashing();
const KEYS = new MemoryKeys();
export const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export interface Apps {
  readonly app: HttpApp;
  readonly admin: HttpApp;
  readonly fixtures: Map<string, EventFixture>;
  readonly clock: { ms: number };
  readonly logged: { level: 'error' | 'info' | 'debug'; details: object; message: string }[];
  readonly deployment: { now: DeploymentState; isStopping: boolean; state(): DeploymentState };
  /** Thrown by every event instead of an answer, for the tests of faults. */
  trouble: Error | null;
  /** Every command waits for this before its turn, as it would for a slow disk. */
  delay: Promise<void> | null;
  /** Whether the events are owned here: without, no refund is tried. */
  isOwner: boolean;
  /** What each changing route executes, by method and address. */
  readonly commands: ReadonlyMap<string, CommandType | undefined>;
  close(): Promise<void>;
}

const settingsOfTests: HttpSettings = {
  brand: null,
  corsOrigins: '*',
  baseUrl: null,
  trustProxy: false,
  nodeName: null,
  rateLimitPerMinute: 0,
  clientLimits: true,
  responseEnvelope: 'none',
  sandboxClock: true,
  serverTiming: false,
  limits: LIMITS,
};

/** Builds both apps with the named sample events on sale. */
export async function openApps(
  settings: Partial<HttpSettings> = {},
  samples: readonly string[] = ['club-night', 'erfurt-volley'],
  { cluster = null, console }: Pick<AdminPorts, 'console'> & { readonly cluster?: ClusterState | null } = {},
): Promise<Apps> {
  const fixtures = new Map<string, EventFixture>();
  const commands = new Map<string, CommandType | undefined>();
  const clock = { ms: START };
  const logged: Apps['logged'] = [];
  const deployment: Apps['deployment'] = {
    now: { ...servingState, cluster, events: samples.length, journal: { appendedSeq: 7, durableSeq: 7 } },
    isStopping: false,
    state: () => deployment.now,
  };
  for (const definition of samples.map((name) => definitionOf(sample(name))))
    fixtures.set(definition.id, openEvent(definition, clock.ms));
  const apps = {
    fixtures,
    clock,
    logged,
    deployment,
    commands,
    trouble: null,
    delay: null,
    isOwner: true,
  } as unknown as {
    -readonly [K in keyof Apps]: Apps[K];
  };

  const events = createEvents(apps);
  const personalData = new PersonalDataReader(KEYS);
  const payments = await openPaymentService(
    { sandbox: true, secrets: { provider_a: WEBHOOK_SECRET, provider_b: WEBHOOK_SECRET }, stripe: null, callsMax: 64 },
    {
      events,
      owns: () => apps.isOwner,
      active: () => [...fixtures.values()].flatMap((fixture) => portOf(apps, fixture) ?? []),
      clock: { now: () => clock.ms, offsetMs: 0, machineNow: () => clock.ms },
      elapsedMs: () => clock.ms,
      baseUrl: () => BASE_URL,
      personalData,
    },
  );
  const refunds = { notInMemory: () => [], refundTries: () => ({}) };
  const metrics = createMetrics({ deployment, clock: { now: () => clock.ms, leaps: 0 }, active: () => [], ...refunds });
  const common = {
    tickets: createTicketSigner([Buffer.alloc(32, 7).toString('base64url')]),
    settings: { ...settingsOfTests, ...settings },
    metrics: {
      ...metrics,
      observe(app: FastifyInstance) {
        metrics.observe(app);
        app.addHook('onRoute', ({ method, url, config }) => {
          if (!isReading(method)) commands.set(`${[method].flat().join()} ${url}`, config?.command);
        });
      },
    },
    events,
    personalData,
    baseUrl: () => BASE_URL,
    clock: { now: () => clock.ms },
    deployment,
    log: {
      error: (details: object, message: string) => void logged.push({ level: 'error', details, message }),
      info: (details: object, message: string) => void logged.push({ level: 'info', details, message }),
      debug: (details: object, message: string) => void logged.push({ level: 'debug', details, message }),
    },
  } as const;
  const sales = new SalesByMinute({
    factsAfter: () => [],
    durableSeq: () => 0,
    archivedSeq: () => 0,
    now: () => clock.ms,
  });
  const advanceClock = async (seconds: number) => {
    if (clock.ms + seconds * 1000 > LATEST_MOMENT) return null;
    return (clock.ms += seconds * 1000);
  };
  apps.app = await buildPublicApp({ ...common, payments, advanceClock });
  apps.admin = await buildAdminApp({
    ...common,
    adminToken: ADMIN_TOKEN,
    ...(console !== undefined && { console }),
    absentProviders: [],
    checkoutSessions: payments.checkoutSessions,
    newestFacts: async () => ({ facts: [], nextBefore: null }),
    saleByMinute: (request) => sales.read(request),
    takeSnapshot: async () => ({
      answer: { seq: 7, taken: fixtures.size, failed: 0, archived: null },
      replayed: false,
    }),
  });
  apps.close = async () => {
    payments.refundOutbox.stop();
    await Promise.all([apps.app.close(), apps.admin.close()]);
    metrics.close();
  };
  return apps;
}

/** An event whose orders have open personal data, as those of older versions have. */
function openEvent(definition: EventDefinition, now: number): EventFixture {
  const fixture = given(definition, now);
  fixture.seals = false;
  return fixture;
}

/** The port of an event; null without one. */
function portOf(apps: Pick<Apps, 'clock' | 'trouble' | 'delay'>, fixture: EventFixture | undefined): EventPort | null {
  if (fixture === undefined) return null;
  const settle = () => {
    if (apps.trouble !== null) throw apps.trouble;
    fixture.now = apps.clock.ms;
    fixture.settle();
  };
  return {
    eventId: fixture.state.eventId,
    async execute(command) {
      if (apps.delay !== null) await apps.delay;
      settle();
      return fixture.execute(command);
    },
    async read(query) {
      settle();
      const sealing = fixture.seals ? fixture.sealing.sealing : null;
      return read(fixture.state, query, { now: apps.clock.ms, activation: fixture.state.eventId, hashing, sealing });
    },
  };
}

/** The events of the fixtures, found as the service finds its own. */
function createEvents(apps: Apps): EventsPort {
  const { fixtures, clock } = apps;
  const all = () => [...fixtures.values()];
  return {
    byEventId: async (eventId) => portOf(apps, fixtures.get(eventId)),
    bySlug: async (slug) =>
      portOf(
        apps,
        all().find(({ state }) => state.plan.definition.slug === slug),
      ),
    byId: async (prefix, id) => {
      if (eventNumberOf(prefix, id) !== EVENT_NUMBER) return null;
      return portOf(apps, all().find(({ state }) => state.holds.byId.has(id)) ?? all()[0]);
    },
    list: async (page) => {
      const { ids, nextAfter } = pageOf([...fixtures.keys()], page);
      const events = ids.map((id) => fixtures.get(id)!.state).filter(isPublished);
      return { events: events.map((state) => eventSummary(state, clock.ms)), nextAfter };
    },
    listAll: async (page) => {
      const { ids, nextAfter } = pageOf([...fixtures.keys()], page);
      return { eventIds: ids, nextAfter };
    },
    readActive: async () => [],
    define: async (definition, mark) => {
      const known = fixtures.get(definition.id);
      if (known === undefined) {
        fixtures.set(definition.id, openEvent(definition, clock.ms));
        return { outcome: 'DONE', eventId: definition.id, version: 1, created: true, changed: true };
      }
      const reply = known.execute({ type: 'DefineEvent', definition, ...mark });
      return isRefusal(reply) ? reply : { ...reply, created: false };
    },
  };
}

function pageOf(ids: readonly string[], { limit, after }: { limit: number; after: string | null }) {
  const begin = after === null ? 0 : ids.indexOf(after) + 1;
  return {
    ids: ids.slice(begin, begin + limit),
    nextAfter: begin + limit < ids.length ? ids[begin + limit - 1]! : null,
  };
}

/** A body that holds tickets of the club night. */
export function clubHold(overrides: object = {}): Record<string, unknown> {
  return {
    event_id: 'evt_club',
    session_key: 'session-one',
    items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 2 }],
    ...overrides,
  };
}

/** A cluster of two nodes as the first one sees it: shard 2 was taken over, shard 3 has no owner. */
export function clusterOfTwo(): ClusterState {
  return {
    clusterName: 'holdfast',
    nodeName: 'north',
    isConnected: true,
    nodes: [
      { name: 'north', shards: 2, isLeaving: false },
      { name: 'south', shards: 1, isLeaving: true },
    ],
    shards: [
      { shard: 0, owner: 'north', epoch: 7 },
      { shard: 1, owner: 'south', epoch: 9 },
      { shard: 2, owner: 'north', epoch: 1_204 },
      { shard: 3, owner: null, epoch: null },
    ],
    takeovers: [{ shard: 2, at: START, from: 'south', to: 'north', epoch: 1_204, ownerlessMs: 1_630.2 }],
    forwarded: 0,
  };
}
