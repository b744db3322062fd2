/**
 * Holds a rehearsal: prepares the service, plays the trace and reports what came out.
 *
 * The service is defined and every connection is open before the first step is due.
 */
import { cpus } from 'node:os';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { openConnections } from './player/connections.ts';
import { definitionChanges, ticketsOnSale, withoutTaken } from './trace/definition.ts';
import { Sales } from './trace/sales.ts';
import { playOperations } from './player/operations.ts';
import { play, type Played } from './player/player.ts';
import { atSpeed, differencesOf, type Measured, type RehearsalReport } from './report/report.ts';
import { requestsFor } from './player/requests.ts';
import { scheduleOf, withWaits, type Pace, type Schedule } from './player/schedule.ts';
import {
  defineEvent,
  findGiven,
  givenService,
  startOwnService,
  type GivenEvent,
  type RehearsalClock,
  type RehearsedService,
} from './server/service.ts';
import { createTimeline } from './player/timeline.ts';
import type { Outcome, Trace } from './trace/trace.ts';
import type { MeterResult } from './server/meter.ts';

export interface RehearsalOptions {
  readonly trace: Trace;
  readonly pace: Pace;
  readonly connections: number;
  /** An address, or null for a service of its own. */
  readonly against: URL | null;
  /** Starts the service of its own, in place of a process. */
  readonly startService?: (clock: RehearsalClock) => Promise<RehearsedService>;
  /** A definition in place of the trace's own, and its name. */
  readonly definition: { readonly file: string; readonly definition: EventDefinition } | null;
  readonly title: string;
  readonly version: string;
  /** Different in each rehearsal. */
  readonly run: string;
  readonly onProgress?: (done: number, total: number) => void;
}

interface Rehearsed extends Played {
  readonly outcome: Outcome;
}

/** Nobody waits longer than so many times the length of the trace. */
const LENGTHS_MAX = 3;
const WAITING_MS_MIN = 60_000;

export async function rehearse(options: RehearsalOptions): Promise<RehearsalReport> {
  const { trace, pace, against, startService = startOwnService } = options;
  const definition = withoutTaken(options.definition?.definition ?? trace.definition, trace.takenBefore);
  // The clock of an own service shows the time of the trace, `leadMsOf` before the first intent.
  const clock = { startsAt: trace.beganAt - leadMsOf(pace), speed: pace.speed };
  const service = against === null ? await startService(clock) : givenService(against);
  try {
    const given = await prepare(service, options, definition);
    const hasWaits = trace.intents.some(({ kind }) => kind === 'JOIN');
    const schedule = scheduleOf(given.hasWaitingRoom && !hasWaits ? withWaits(trace) : trace, pace);
    const played = await playOn(service, given, { options, schedule, definition });
    return reportOf(options, schedule, played, await service.readMeter());
  } finally {
    await service.close();
  }
}

/** Defines the event at an own service; at an address, finds it. */
async function prepare(
  service: RehearsedService,
  { trace, against }: RehearsalOptions,
  definition: EventDefinition,
): Promise<GivenEvent> {
  if (against !== null) return findGiven(against, trace.definition);
  await defineEvent(service, definition, trace.takenBefore.seats);
  return {
    slug: definition.slug,
    hasWaitingRoom: definition.waitingRoom,
    requiresNames: definition.requireIndividualData,
  };
}

async function playOn(
  service: RehearsedService,
  { slug, hasWaitingRoom, requiresNames }: GivenEvent,
  {
    options,
    schedule,
    definition,
  }: { readonly options: RehearsalOptions; readonly schedule: Schedule; readonly definition: EventDefinition },
): Promise<Rehearsed> {
  const { trace, pace, run, onProgress } = options;
  const timeline = createTimeline();
  const connections = await openConnections(service.url, options.connections, timeline.now);
  const requests = requestsFor({ eventId: trace.eventId, slug, requiresNames, run });
  const { operate } = service;
  const startsAt = trace.beganAt - leadMsOf(pace);
  const sales = new Sales(ticketsOnSale(definition, trace.takenBefore));
  let operations: ReturnType<typeof playOperations> = { refused: [], sold: Promise.resolve() };
  await service.beginMeter();
  timeline.begin();
  const beganAt = Date.now();
  if (operate !== null) {
    const atMoment = (at: number): number => (at + leadMsOf(pace)) / pace.speed;
    const isDefinitionGiven = options.definition !== null;
    operations = playOperations(trace, { operate, timeline, requests, sales, atMoment, isDefinitionGiven });
  }
  try {
    const played = await play({
      schedule,
      requests,
      connections,
      timeline,
      momentOf: (at) => (operate === null ? at - beganAt : (at - startsAt) / pace.speed),
      hasWaitingRoom,
      sales,
      endMs: Math.max(schedule.lengthMs * LENGTHS_MAX, schedule.lengthMs + WAITING_MS_MIN),
      ...(onProgress !== undefined && { onProgress }),
    });
    const notTried = { ...played.notTried };
    await operations.sold;
    for (const what of operations.refused) notTried[what] = (notTried[what] ?? 0) + 1;
    return { ...played, outcome: sales.outcome(), notTried };
  } finally {
    connections.close();
  }
}

function leadMsOf({ pageReads, lookSeconds }: Pace): number {
  return pageReads > 0 ? lookSeconds * 1_000 : 0;
}

function reportOf(
  options: RehearsalOptions,
  schedule: Schedule,
  played: Rehearsed,
  meter: MeterResult | null,
): RehearsalReport {
  const { trace, pace, definition, against } = options;
  const { tally, outcome, lengthMs, notTried, polls, otherTotals, splitParties } = played;
  const intents: Record<string, number> = {};
  for (const { kind } of schedule.steps) intents[kind] = (intents[kind] ?? 0) + 1;
  const measured: Measured = {
    format: 1,
    title: options.title,
    rehearsedAt: new Date().toISOString(),
    version: options.version,
    machine: {
      node: process.version,
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      platform: `${process.platform} ${process.arch}`,
    },
    event: { id: trace.eventId, name: trace.definition.name },
    period: {
      from: new Date(trace.beganAt).toISOString(),
      to: new Date(trace.beganAt + trace.lengthMs).toISOString(),
    },
    settings: {
      ...pace,
      connections: options.connections,
      against: against?.href ?? null,
      definition: definition?.file ?? null,
    },
    trace: { people: trace.people, intents, operations: trace.operations.length, leftOut: trace.leftOut },
    lengthMs,
    askedBySecond: schedule.askedBySecond,
    polls,
    tally,
    meter,
    notTried,
    splitParties,
    otherTotals,
    then: atSpeed(trace.outcome, pace, leadMsOf(pace)),
    now: outcome,
    definitionChanges: definition === null ? [] : definitionChanges(trace.definition, definition.definition),
  };
  return { ...measured, differences: differencesOf(measured) };
}
