/**
 * The metrics: events are counted as they happen, states are read when the metrics are read.
 *
 * Other modules do not call this one; they publish on diagnostics channels (`actors/channels.ts`). `stock-gauges.ts` owns the states.
 *
 * 1. An observation on a hot route costs under 0.5 µs: turns, facts and requests are counted in maps and arrays that become metrics
 *    when they are read. A request is one observation of one histogram, whose count is the counter of requests.
 * 2. Labels are few and limited: patterns of routes, classes of statuses, names of commands, codes and facts.
 * 3. Names have base units (seconds, bytes) and the prefix `holdfast_`, or are the names that dashboards expect.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@platformatic/prom-client';
import type { ActivationMessage, BatchMessage, TurnMessage } from '#actors/channels.ts';
import type { TroubleMessage } from '#actors/trouble.ts';
import type { FastifyReply, onResponseHookHandler } from 'fastify';
import type { GaugesPort, InUse, Metrics } from './ports.ts';
import { addClusterMetrics, type ClusterGaugesPort } from './cluster-metrics.ts';
import { watchLoop } from './loop-delay.ts';
import { addStockGauges } from './stock-gauges.ts';
import { type Series, TalliedHistogram } from './tallied-histogram.ts';

const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
const COMMIT_SECONDS = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const BATCH_FACTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
const ACTIVATION_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

const STATUS_CLASSES = ['', '1xx', '2xx', '3xx', '4xx', '5xx'];

/** The library's own measurement of the event loop is not shown: its timer must not wake the process. */
const UNUSED_PERIOD_MS = 24 * 60 * 60 * 1000;

/** Those of the process and its event loop, once for all: they hang on observers that cannot be taken off again. */
let processRegistry: Registry | null = null;

/** Starts listening; what stood before is unknown to it. A node of a cluster has metrics of its own. */
export function createMetrics(gauges: GaugesPort, node?: ClusterGaugesPort): Metrics {
  const registry = new Registry();
  const registers = [registry];
  processRegistry ??= startProcessRegistry();
  addStockGauges(registers, gauges);
  const ofNode = node === undefined ? [] : addClusterMetrics(registers, node);
  const listeners = [
    ...listenToTurns(registers),
    ...listenToJournal(registers),
    ...observeService(registers),
    ...ofNode,
  ];
  for (const [name, listener] of listeners) subscribe(name, listener);
  const observe = observeRequests(registers);
  const watchInUse = showInUse(registers);
  const whole = Registry.merge([registry, processRegistry]);
  return {
    contentType: whole.contentType,
    read: () => whole.metrics(),
    watchInUse,
    observe,
    close() {
      for (const [name, listener] of listeners) unsubscribe(name, listener);
    },
  };
}

/** Makes the function that adds a count to the gauge of what is in use. */
function showInUse(registers: Registers): Metrics['watchInUse'] {
  const counts: { readonly what: InUse; readonly count: () => number }[] = [];
  new Gauge({
    name: 'holdfast_in_use',
    help: 'What clients take up now: all of it returns to 0 when they are gone.',
    labelNames: ['what'],
    registers,
    collect() {
      this.reset();
      for (const { what, count } of counts) this.inc({ what }, count());
    },
  });
  return (what, count) => void counts.push({ what, count });
}

type Listener = readonly [name: string, (message: unknown) => void];
type Registers = Registry[];

function startProcessRegistry(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: UNUSED_PERIOD_MS });
  showLoopDelay(register);
  return register;
}

/**
 * Shows the delay of the event loop since the last reading in place of the library's gauges of the same names: those include the
 * period of the timer that measures, and with a short period they cost an idle service more than all the rest.
 */
function showLoopDelay(register: Registry): void {
  const loop = watchLoop();
  const readings: readonly (readonly [what: string, readMs: () => number])[] = [
    ['min', () => loop.minMs],
    ['max', () => loop.maxMs],
    ['mean', () => loop.meanMs],
    ['stddev', () => loop.stddevMs],
    ['p50', () => loop.percentileMs(50)],
    ['p90', () => loop.percentileMs(90)],
    ['p99', () => loop.percentileMs(99)],
  ];
  const gauges = readings.map(([what, readMs], index) => {
    const name = `nodejs_eventloop_lag_${what}_seconds`;
    register.removeSingleMetric(name);
    const gauge = new Gauge({
      name,
      help: `How late timers of the event loop fired since the last reading: ${what}.`,
      registers: [register],
      // Gauges are read in the order in which they were made; the first one sets all.
      ...(index === 0 && { collect: setAll }),
    });
    return { gauge, readMs };
  });
  function setAll(): void {
    for (const { gauge, readMs } of gauges) gauge.set(readMs() / 1_000);
    loop.reset();
  }
}

// ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Makes the function that has the requests of an app observed. */
function observeRequests(registers: Registers): Metrics['observe'] {
  const requests = new TalliedHistogram({
    name: 'http_request_duration_seconds',
    help: 'From the first byte of a request to the last of its answer, by pattern of the route and class of the status.',
    buckets: REQUEST_SECONDS,
    registers,
  });
  /** A route keeps its series, because naming one for each request costs more than the observation. */
  const observerOf = (method: string, route: string) => {
    const byClass: Series[] = [];
    return ({ statusCode, elapsedTime }: FastifyReply): void => {
      const index = Math.floor(statusCode / 100);
      byClass[index] ??= requests.series({ method, route, status: STATUS_CLASSES[index] ?? '' });
      byClass[index].observe(elapsedTime / 1_000);
    };
  };
  return (app) => {
    app.addHook('onRoute', (route) => {
      const observe = observerOf(String(route.method), route.url);
      const onResponse: onResponseHookHandler = (_request, reply, done) => {
        observe(reply);
        done();
      };
      route.onResponse = [...[route.onResponse ?? []].flat(), onResponse];
    });
    // What reaches no route.
    app.addHook('onResponse', (request, reply, done) => {
      if (request.is404) observerOf(request.method, 'none')(reply);
      done();
    });
  };
}

// ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Counts by two names; a map is twenty times cheaper than a counter, and becomes one when it is read. */
class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  add(one: string, other: string): void {
    let row = this.#counts.get(one);
    if (row === undefined) this.#counts.set(one, (row = new Map()));
    row.set(other, (row.get(other) ?? 0) + 1);
  }

  *entries(): Iterable<readonly [one: string, other: string, count: number]> {
    for (const [one, row] of this.#counts) for (const [other, count] of row) yield [one, other, count];
  }
}

function listenToTurns(registers: Registers): Listener[] {
  const turns = new Tally();
  const facts = new Tally();
  new Counter({
    name: 'holdfast_turns_total',
    help: 'Commands that ran to their end, by command and code: DONE, or the code of the refusal.',
    labelNames: ['command', 'code'],
    registers,
    collect() {
      this.reset();
      for (const [command, code, count] of turns.entries()) this.inc({ command, code }, count);
    },
  });
  new Counter({
    name: 'holdfast_facts_total',
    help: 'Facts that turns led to, by type.',
    labelNames: ['type'],
    registers,
    collect() {
      this.reset();
      for (const [type, , count] of facts.entries()) this.inc({ type }, count);
    },
  });
  const onTurn = (message: unknown): void => {
    const turn = message as TurnMessage;
    turns.add(turn.command, turn.code ?? 'DONE');
    for (const { type } of turn.facts) facts.add(type, '');
  };
  return [['holdfast:turn', onTurn]];
}

// ── the journal and activations ──────────────────────────────────────────────────────────────────────────────────────

function listenToJournal(registers: Registers): Listener[] {
  const commits = new Histogram({
    name: 'holdfast_journal_commit_duration_seconds',
    help: 'One batch from its first row to the return of the fsync.',
    buckets: COMMIT_SECONDS,
    registers,
  });
  const batches = new Histogram({
    name: 'holdfast_journal_batch_facts',
    help: 'Facts that became durable with one fsync.',
    buckets: BATCH_FACTS,
    registers,
  });
  const onBatch = (message: unknown): void => {
    const { facts, commitMs } = message as BatchMessage;
    commits.observe(commitMs / 1_000);
    batches.observe(facts);
  };
  return [['holdfast:batch', onBatch]];
}

function observeService(registers: Registers): Listener[] {
  const activations = new Histogram({
    name: 'holdfast_activation_duration_seconds',
    help: 'How long activations of events took.',
    buckets: ACTIVATION_SECONDS,
    registers,
  });
  const troubles = new Counter({
    name: 'holdfast_troubles_total',
    help: 'Troubles that an operator should see in the log, by where.',
    labelNames: ['where'],
    registers,
  });
  const onActivation = (message: unknown): void => {
    const { alive, tookMs } = message as ActivationMessage;
    if (alive) activations.observe(tookMs / 1_000);
  };
  const onTrouble = (message: unknown): void => troubles.inc({ where: (message as TroubleMessage).where });
  return [
    ['holdfast:activation', onActivation],
    ['holdfast:trouble', onTrouble],
  ];
}
