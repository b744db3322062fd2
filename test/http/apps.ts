/**
 * Both apps over event states in memory, for tests of the HTTP layer by injection.
 *
 * Decisions are those of the real domain; mailbox and journal are missing. The clock stands still until a test moves it.
 */
import { LATEST_MOMENT } from '#actors/clock.ts';
import { readFileSync } from 'node:fs';
import { checkDefinition } from '#catalogue/definition.ts';
import { eventSummary } from '#domain/catalogue/view.ts';
import { read } from '#domain/read.ts';
import { createHashing } from '#actors/crypto.ts';
import { PersonalDataReader } from '#actors/personal-data.ts';
import { MemoryKeys } from '#persistence/memory-keys.ts';
import { isPublished } from '#domain/event-state.ts';
import type { HttpApp } from '#http/app.ts';
import { createMetrics } from '#http/metrics.ts';
import { buildAdminApp, buildPublicApp } from '#http/server.ts';
import type { EventPort } from '#actors/event-port.ts';
import type { ClusterPort } from '#actors/cluster-port.ts';
import type { AdminPorts, EventsPort, GaugesPort, HttpSettings, Readiness } from '#http/ports.ts';
import { eventNumberOf } from '#domain/ids.ts';
import { isRefusal } from '#domain/refusal.ts';
import { LIMITS } from '#src/limits.ts';
import { openPaymentService } from '#payments/service.ts';
import { createTicketSigner } from '#tickets/signing.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { EVENT_NUMBER, given, START, type EventFixture } from '../fixtures/event-state.ts';

export const ADMIN_TOKEN = 'operators-only-token';
const BASE_URL = 'http://shop.test';
const hashing = createHashing();
const KEYS = new MemoryKeys();
const WEBHOOK_SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

export interface Apps {
  readonly app: HttpApp;
  readonly admin: HttpApp;
  readonly fixtures: Map<string, EventFixture>;
  readonly clock: { ms: number };
  readonly logged: { level: 'error' | 'debug'; details: object; message: string }[];
  readonly health: { readiness: () => Readiness; draining: boolean; readonly node?: string };
  /** Thrown by every event instead of an answer, for the tests of faults. */
  trouble: Error | null;
  /** Every command waits for this before its turn, as it would for a slow disk. */
  delay: Promise<void> | null;
  close(): Promise<void>;
}

const settingsOfTests: HttpSettings = {
  corsOrigins: '*',
  baseUrl: null,
  trustProxy: false,
  rateLimitPerMinute: 0,
  responseEnvelope: 'none',
  sandboxClock: true,
  serverTiming: false,
  limits: LIMITS,
};

/** Builds both apps with the named sample events on sale. */
export async function openApps(
  settings: Partial<HttpSettings> = {},
  samples: readonly string[] = ['club-night', 'erfurt-volley'],
  { cluster, console }: Pick<AdminPorts, 'cluster' | 'console'> = {},
): Promise<Apps> {
  const fixtures = new Map<string, EventFixture>();
  const clock = { ms: START };
  const logged: Apps['logged'] = [];
  const health: Apps['health'] = {
    ...(cluster !== undefined && { node: cluster.nodeName }),
    readiness: () => ({ ready: true, degraded: [] }),
    draining: false,
  };
  for (const definition of samples.map(readSample)) fixtures.set(definition.id, openEvent(definition, clock.ms));
  const apps = { fixtures, clock, logged, health, trouble: null, delay: null } as unknown as {
    -readonly [K in keyof Apps]: Apps[K];
  };

  const events = createEvents(apps);
  const personalData = new PersonalDataReader(KEYS);
  const payments = await openPaymentService(
    { sandbox: true, secrets: { provider_a: WEBHOOK_SECRET, provider_b: WEBHOOK_SECRET }, stripe: null },
    {
      events,
      active: () => [...fixtures.values()].flatMap((fixture) => portOf(apps, fixture) ?? []),
      clock: { now: () => clock.ms, offsetMs: 0, machineNow: () => clock.ms },
      baseUrl: () => BASE_URL,
      personalData,
    },
  );
  const gauges = gaugesOf(fixtures.size);
  const metrics = createMetrics(gauges, cluster && { cluster, figures: { forwarded: 0 } });
  const common = {
    tickets: createTicketSigner([Buffer.alloc(32, 7).toString('base64url')]),
    settings: { ...settingsOfTests, ...settings },
    metrics,
    events,
    personalData,
    baseUrl: () => BASE_URL,
    clock: { now: () => clock.ms },
    health,
    ...(cluster !== undefined && { cluster }),
    log: {
      error: (details: object, message: string) => void logged.push({ level: 'error', details, message }),
      debug: (details: object, message: string) => void logged.push({ level: 'debug', details, message }),
    },
  } as const;
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
    newestFacts: async () => ({ facts: [], nextBefore: null }),
    gauges,
    takeSnapshot: async () => ({
      answer: { seq: 7, taken: fixtures.size, failed: 0, archived: null },
      replayed: false,
    }),
  });
  apps.close = async () => {
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
      const { sealing } = fixture.sealing;
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

function gaugesOf(events: number): GaugesPort {
  return {
    ready: true,
    events,
    brokenEvents: 0,
    clockLeaps: 0,
    journal: { appendedSeq: 7, durableSeq: 7 },
    freeBytes: null,
    snapshotAgeSeconds: () => 0,
    notifiedSeq: () => null,
    active: () => [],
  };
}

/** A sample of the demo catalogue, its seating plan inlined because a PUT needs that. */
export function sampleJson(name: string): Record<string, unknown> {
  const read = (file: string) =>
    JSON.parse(readFileSync(new URL(`../../src/catalogue/samples/${file}`, import.meta.url), 'utf8')) as unknown;
  const event = read(`${name}.json`) as { localities: { seating_plan?: unknown }[] };
  for (const locality of event.localities) {
    if (typeof locality.seating_plan === 'string') locality.seating_plan = read(locality.seating_plan);
  }
  return event as unknown as Record<string, unknown>;
}

export function readSample(name: string): EventDefinition {
  const checked = checkDefinition(sampleJson(name));
  if ('problems' in checked) throw new Error(`${name}: ${JSON.stringify(checked.problems)}`);
  return checked.definition;
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
export function clusterOfTwo(): ClusterPort {
  return {
    clusterName: 'holdfast',
    nodeName: 'north',
    isConnected: true,
    nodes: () => [
      { name: 'north', shards: 2, isLeaving: false },
      { name: 'south', shards: 1, isLeaving: true },
    ],
    shards: () => [
      { shard: 0, owner: 'north', epoch: 7 },
      { shard: 1, owner: 'south', epoch: 9 },
      { shard: 2, owner: 'north', epoch: 1_204 },
      { shard: 3, owner: null, epoch: null },
    ],
    takeovers: () => [{ shard: 2, at: START, from: 'south', to: 'north', epoch: 1_204, ownerlessMs: 1_630.2 }],
  };
}
