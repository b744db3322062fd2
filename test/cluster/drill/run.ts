/**
 * A drill from its first start to its audit: three servers, three nodes, buyers at random nodes, and faults one after
 * the other.
 *
 * 1. Each fault is one step and its undoing the next, each measured by itself: how long changes of each event had no
 *    answer.
 * 2. A fault waits until every server has caught up with the last one: with two servers behind, no stream has a
 *    majority. A server that does not get there by itself is started again, as a supervisor does that watches its
 *    health; the outcome counts these.
 * 3. A step lasts until every event has been answered since it began.
 * 4. Everything wrong is in the outcome; the promise is rejected only when the cluster does not start.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isHealthy } from '#operations/nats-servers.ts';
import { startNodes } from '../../fixtures/nodes.ts';
import { isCurrent, startServers, type NatsServers } from '../../fixtures/nats.ts';
import { until } from '../../fixtures/until.ts';
import { chanceOf } from '../../simulation/chance.ts';
import { AnswerTimes } from './answer-times.ts';
import { audit } from './audit.ts';
import { buy, probe, type DrillSale } from './buyers.ts';
import { newTally, noteWrong, StruckNodes, type BusyAnswer } from './calls.ts';
import { FAULTS, touches, type Aim, type DrillCluster, type Fault, type FaultKind } from './faults.ts';

export interface DrillSettings {
  /** What happens, in this order; the victims follow each other. */
  readonly faults: Iterable<FaultKind>;
  readonly buyers: number;
  readonly shards: number;
  readonly events: number;
  /** Milliseconds that a buyer rests between two purchases, at most. */
  readonly restMsMax: number;
  readonly seed: number;
  onProgress(line: string): void;
}

/** One fault, or its undoing. */
export interface DrillStep {
  readonly what: string;
  /** Milliseconds without an answer: of each event that it touches, and of each other one. */
  readonly touchedMs: readonly number[];
  readonly otherMs: readonly number[];
  /** Answers 503: of all nodes, and those to requests that began in the step, of nodes that were not struck. */
  readonly busy: number;
  readonly busyElsewhere: readonly BusyAnswer[];
  /** Connections that broke or were given up. */
  readonly lost: number;
}

export interface DrillOutcome {
  readonly seconds: number;
  readonly requests: number;
  readonly repeats: number;
  readonly holds: number;
  readonly released: number;
  readonly orders: number;
  readonly ticketsHeld: number;
  readonly ticketsSold: number;
  /** Servers that did not catch up by themselves (2). */
  readonly serversStartedAgain: number;
  readonly steps: readonly DrillStep[];
  /** Descriptions of everything that was wrong; empty when the drill went well. */
  readonly wrong: readonly string[];
}

/** A cluster of real processes. */
export interface RunningCluster extends DrillCluster {
  readonly servers: NatsServers['servers'];
  close(): Promise<void>;
}

const SIZE = 3;
const CAPACITY = 1_000_000;
const STEP_MS_MAX = 60_000;
const CATCH_UP_MS_MAX = 30_000;

/** Starts three servers and three nodes. */
export async function openRunningCluster(shards: number): Promise<RunningCluster> {
  const { servers, url, close } = await startServers(SIZE);
  const clusterName = 'drill';
  try {
    const nodes = await startNodes(SIZE, { url, clusterName, shards, replicas: SIZE });
    return {
      nodes,
      servers,
      clusterName,
      shards,
      async close() {
        await Promise.all(nodes.map((node) => node.close()));
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** One ticket type for general admission. */
export function drillEvent(id: string, capacity: number): { readonly id: string } {
  const slug = id.replace('evt_', '');
  return {
    id,
    slug,
    name: slug,
    currency: 'EUR',
    hold_minutes: 600,
    payment_minutes: 700,
    performances: [{ id: 'night', name: 'Night' }],
    localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity }],
    ticketTypes: [{ id: 'single', name: 'Single', locality_id: 'floor' }],
    sellingStages: [{ id: 'general', name: 'General sale', prices: { single: 4_500 } }],
  } as { readonly id: string };
}

/** A sale at these events, by buyers who choose their node by chance. */
export function openSale(
  { nodes }: DrillCluster,
  eventIds: readonly string[],
  { seed, restMsMax }: Pick<DrillSettings, 'seed' | 'restMsMax'>,
): DrillSale {
  return {
    nodes,
    eventIds,
    struck: new StruckNodes(),
    chance: chanceOf(seed),
    answers: new AnswerTimes(eventIds),
    tally: newTally(),
    ledger: [],
    restMsMax,
    isClosing: false,
  };
}

/** Every kind of fault in turn, whole rounds until so many seconds are over. */
export function* everyFault(seconds: number): Generator<FaultKind> {
  const endsAt = performance.now() + seconds * 1_000;
  do yield* Object.keys(FAULTS) as FaultKind[];
  while (performance.now() < endsAt);
}

/** Runs a drill on a new cluster, or on one that runs already. */
export async function runDrill(settings: DrillSettings, given?: RunningCluster): Promise<DrillOutcome> {
  const begin = performance.now();
  const cluster = given ?? (await openRunningCluster(settings.shards));
  try {
    const eventIds = Array.from({ length: settings.events }, (_, n) => `evt_drill-${n}`);
    for (const [n, id] of eventIds.entries()) {
      await cluster.nodes[n % SIZE]!.define(drillEvent(id, CAPACITY));
    }
    const sale = openSale(cluster, eventIds, settings);
    const clients = [
      ...Array.from({ length: settings.buyers }, () => buy(sale)),
      ...eventIds.map((eventId) => probe(sale, eventId)),
    ];
    const steps = await goThrough(cluster, sale, settings);
    sale.isClosing = true;
    await Promise.all(clients);
    const { held, sold } = await audit(sale, cluster.nodes);
    return outcomeOf(sale, steps, { held, sold, seconds: (performance.now() - begin) / 1_000 });
  } finally {
    if (given === undefined) await cluster.close();
  }
}

async function goThrough(cluster: DrillCluster, sale: DrillSale, settings: DrillSettings): Promise<DrillStep[]> {
  const steps: DrillStep[] = [];
  const take = async (what: string, aim: Aim, work: () => Promise<void>): Promise<void> => {
    const step = await measure(cluster, sale, what, aim, work);
    steps.push(step);
    settings.onProgress(`${what}: ${progressOf(step)}`);
  };
  // Every event is on sale before the first fault.
  sale.answers.begin();
  await untilAnswering(sale, 'the start');
  let n = -1;
  for (const kind of settings.faults) {
    n += 1;
    const fault: Fault = FAULTS[kind];
    await untilCurrent(cluster, sale);
    const aim = await fault.aim(cluster, n, sale.eventIds);
    await take(kind, aim, async () => {
      for (const { name } of aim.nodes) sale.struck.add(name);
      const exitCode = await aim.strike();
      if (exitCode !== 0) noteWrong(sale, `SIGTERM ended a node with exit code ${exitCode}`);
      await pause(fault.lastsMs);
    });
    await take(`after ${kind}`, aim, async () => {
      await aim.undo();
      for (const { name } of aim.nodes) sale.struck.delete(name);
    });
  }
  return steps;
}

/** Resolves when every server has caught up with the others (rule 2). */
export async function untilCurrent({ servers }: DrillCluster, sale: DrillSale): Promise<void> {
  for (const _ of [...servers, null]) {
    const begin = performance.now();
    while (performance.now() - begin < CATCH_UP_MS_MAX) {
      const current = await Promise.all(servers.map(isCurrent));
      if (current.every(Boolean)) return;
      await pause(100);
    }
    const health = await Promise.all(servers.map(isHealthy));
    const ill = servers[Math.max(0, health.indexOf(false))]!;
    sale.tally.serversStartedAgain += 1;
    await ill.kill();
    await ill.start();
  }
  noteWrong(sale, 'the servers do not catch up with each other');
}

/** One step: what it does, and how long each event had no answer. */
async function measure(
  cluster: DrillCluster,
  sale: DrillSale,
  what: string,
  aim: Aim,
  work: () => Promise<void>,
): Promise<DrillStep> {
  const before = { ...sale.tally };
  const beganAt = performance.now();
  sale.answers.begin();
  await work();
  await untilAnswering(sale, what);
  const gapsMs = sale.answers.gapsMs();
  const touched = (isTouched: boolean): number[] =>
    [...gapsMs].filter(([eventId]) => touches(aim, eventId, cluster) === isTouched).map(([, gapMs]) => gapMs);
  const { busy, busyElsewhere, lost } = sale.tally;
  return {
    what,
    touchedMs: touched(true),
    otherMs: touched(false),
    busy: busy - before.busy,
    busyElsewhere: busyElsewhere.filter(({ askedAt }) => askedAt >= beganAt),
    lost: lost - before.lost,
  };
}

/** Waits until every event has been answered since now. */
async function untilAnswering(sale: DrillSale, what: string): Promise<void> {
  const { answers } = sale;
  const begin = performance.now();
  answers.expectAll();
  await until(() => answers.isAnswering || performance.now() - begin > STEP_MS_MAX);
  if (!answers.isAnswering) noteWrong(sale, `${what}: no answer of ${answers.silent.join(', ')}`);
}

function progressOf({ touchedMs, otherMs, busy, lost }: DrillStep): string {
  const longest = (gaps: readonly number[]): string => `${Math.round(Math.max(0, ...gaps))} ms`;
  return `touched events without an answer for ${longest(touchedMs)}, others ${longest(otherMs)}; 503 × ${busy}, lost × ${lost}`;
}

function outcomeOf(
  { tally, ledger }: DrillSale,
  steps: readonly DrillStep[],
  { held, sold, seconds }: { readonly held: number; readonly sold: number; readonly seconds: number },
): DrillOutcome {
  return {
    seconds,
    requests: tally.requests,
    repeats: tally.repeats,
    holds: ledger.length,
    released: ledger.filter(({ end }) => end === 'released').length,
    orders: ledger.filter(({ orderId }) => orderId !== null).length,
    ticketsHeld: held,
    ticketsSold: sold,
    serversStartedAgain: tally.serversStartedAgain,
    steps,
    wrong: tally.wrong,
  };
}
