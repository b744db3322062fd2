/**
 * The metrics: events are counted as they happen, states are read when the metrics are read.
 *
 * Other modules do not call this one; they publish on diagnostics channels (`actors/channels.ts`). `stock-gauges.ts`
 * owns the states.
 *
 * 1. An observation on a hot route costs under 0.5 µs: turns, facts and requests are counted in maps and arrays that
 *    become metrics when they are read. A request is one observation of one histogram, whose count is the counter of
 *    requests.
 * 2. Labels are few and limited: patterns of routes, classes of statuses, names of commands, codes and facts. A counter
 *    begins at 0 for each label that is known, because an alert on its increase would otherwise miss its first count.
 * 3. Names have base units (seconds, bytes) and the prefix `holdfast_`, or are the names that dashboards expect.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from '@platformatic/prom-client';
import { COMMAND_CLASSES } from '#actors/admission.ts';
import type { ActivationMessage, BatchMessage, TurnMessage } from '#actors/channels.ts';
import { TROUBLE_PLACES, type TroubleMessage } from '#actors/trouble.ts';
import { GIVEN, outcomeOf } from '#client/doors/scan.ts';
import { FACT_TYPES } from '#domain/fact.ts';
import { sumOf } from '#domain/money.ts';
import type { RecordedScan } from '#domain/recorded-scan.ts';
import type { GaugesPort, InUse, Metrics } from '../ports.ts';
import { addClusterMetrics } from './cluster-metrics.ts';
import { type Counted, MetricsHistory } from './history.ts';
import { watchLoop } from './loop-delay.ts';
import { addGateGauges, addThreadGauges } from './process-gauges.ts';
import { newUseCount, observeRequests, REQUEST_SECONDS } from './request-metrics.ts';
import { addStockGauges } from './stock-gauges.ts';
import { type Series, TalliedHistogram } from './tallied-histogram.ts';

const AMENDMENT_STATUSES = ['PENDING', 'APPLIED', 'EXPIRED', 'CANCELLED'];

const COMMIT_SECONDS = [0.0002, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];
const BATCH_FACTS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000];
const ACTIVATION_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5];

/** Gauges with the names of counters: the sums of gauges that are shown by type. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`);

/** The library's own measurement of the event loop is not shown: its timer must not wake the process. */
const UNUSED_PERIOD_MS = 24 * 60 * 60 * 1000;

/** The metrics of the process and its event loop, made once: their observers cannot be removed again. */
let processRegistry: Registry | null = null;

/** Starts listening; it knows nothing that happened before. A node of a cluster has metrics of its own. */
export function createMetrics(gauges: GaugesPort): Metrics {
  const registry = new Registry();
  const registers = [registry];
  processRegistry ??= startProcessRegistry();
  let state = gauges.deployment.state();
  addStockGauges(registers, gauges, () => state);
  const turns = new Tally();
  const commits = histogramOfCommits(registers);
  const listeners = [
    ...listenToTurns(registers, turns),
    ...listenToJournal(registers, commits),
    ...observeService(registers),
    ...addClusterMetrics(registers, () => state),
  ];
  for (const [name, listener] of listeners) subscribe(name, listener);
  const requests = new TalliedHistogram({
    name: 'http_request_duration_seconds',
    help: 'From the first byte of a request to the last of its answer, by pattern of the route and class of the status.',
    buckets: REQUEST_SECONDS,
    registers,
  });
  const inUse = new InUseCounts(registers);
  const history = new MetricsHistory({
    now: () => gauges.clock.now(),
    count: () => countAll(requests, commits, turns),
    admissionQueue: () => inUse.sumOf('claims_in_line'),
    requestBounds: REQUEST_SECONDS,
    commitBounds: COMMIT_SECONDS,
  });
  if (gauges.threads !== undefined) addThreadGauges(registers, gauges.threads);
  if (gauges.gate !== undefined) addGateGauges(registers, gauges.gate);
  const whole = Registry.merge([registry, processRegistry]);
  return {
    contentType: whole.contentType,
    read() {
      // Read once for all gauges: making a state visits all broken events and shards.
      state = gauges.deployment.state();
      return whole.metrics();
    },
    watchInUse: (what, count) => inUse.watch(what, count),
    countInUse(what) {
      const count = newUseCount();
      inUse.watch(what, () => count.own);
      return count;
    },
    history: (from, to) => history.read(from, to),
    observe: observeRequests({
      seriesOf: (labels) => requests.series(labels),
      noteCode: (command, code) => turns.add(command, code, 0),
    }),
    include(news) {
      if (news.kind === 'series') return requests.series(news.labels).include(news.cells);
      turns.add(news.command, news.code, 0);
      return () => {};
    },
    close() {
      history.stop();
      for (const [name, listener] of listeners) unsubscribe(name, listener);
    },
  };
}

/** The gauge of what is in use. */
class InUseCounts {
  readonly #counts: { readonly what: InUse; readonly count: () => number }[] = [];

  constructor(registers: Registers) {
    const counts = this.#counts;
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
  }

  watch(what: InUse, count: () => number): void {
    this.#counts.push({ what, count });
  }

  sumOf(what: InUse): number {
    return sumOf(this.#counts, (each) => (each.what === what ? each.count() : 0));
  }
}

/** What the history is made of. */
function countAll(requests: TalliedHistogram, commits: TalliedHistogram, turns: Tally): Counted {
  const ofStatus = (status: string): number[] =>
    requests.countsOf((each) => isOfSale(each) && each['status'] === status);
  const refusals = new Map<string, number>();
  for (const [, code, count] of turns.entries()) {
    if (code !== 'DONE') refusals.set(code, (refusals.get(code) ?? 0) + count);
  }
  return {
    requests: requests.countsOf(isOfSale),
    clientErrors: sumOf(ofStatus('4xx'), (count) => count),
    serverErrors: sumOf(ofStatus('5xx'), (count) => count),
    commits: commits.countsOf(() => true),
    refusals,
  };
}

/** A live stream is answered when its client goes; a webhook is a provider's request. */
function isOfSale({ route = '' }: Series['labels']): boolean {
  return route.startsWith('/api/') && !route.startsWith('/api/payments/') && !route.endsWith('/live');
}

type Listener = readonly [name: string, (message: unknown) => void];
type Registers = Registry[];

function startProcessRegistry(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: UNUSED_PERIOD_MS });
  for (const name of MISNAMED) register.removeSingleMetric(name);
  showLoopDelay(register);
  return register;
}

/**
 * Shows the delay of the event loop since the last reading in place of the library's gauges of the same names: those
 * include the period of the timer that measures, and with a short period they cost an idle service more than all the
 * rest.
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

// ── turns ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Counts by two names; a map is twenty times cheaper than a counter, and becomes one when it is read. */
class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  add(one: string, other: string, count = 1): void {
    let row = this.#counts.get(one);
    if (row === undefined) this.#counts.set(one, (row = new Map()));
    row.set(other, (row.get(other) ?? 0) + count);
  }

  *entries(): Iterable<readonly [one: string, other: string, count: number]> {
    for (const [one, row] of this.#counts) for (const [other, count] of row) yield [one, other, count];
  }
}

function listenToTurns(registers: Registers, turns: Tally): Listener[] {
  const facts = new Tally();
  for (const command of Object.keys(COMMAND_CLASSES)) turns.add(command, 'DONE', 0);
  for (const type of Object.keys(FACT_TYPES)) facts.add(type, '', 0);
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
  new Counter({
    name: 'holdfast_amendments_total',
    help: 'Amendments of orders, by the status that they came to.',
    labelNames: ['status'],
    registers,
    collect() {
      this.reset();
      for (const status of AMENDMENT_STATUSES) this.inc({ status }, 0);
      for (const [type, outcome, count] of facts.entries()) {
        const status = type === 'AmendmentRequested' ? 'PENDING' : type === 'OrderAmended' ? 'APPLIED' : outcome;
        if (status !== '') this.inc({ status }, count);
      }
    },
  });
  const scans = countScans(registers);
  const onTurn = (message: unknown): void => {
    const turn = message as TurnMessage;
    turns.add(turn.command, turn.code ?? 'DONE');
    for (const { type, data } of turn.facts) {
      facts.add(type, type === 'AmendmentEnded' ? data.outcome : '');
      if (type === 'TicketsScanned') noteScans(scans, data.scans);
      else if (type === 'TicketScannedByHand') noteScans(scans, [data.scan]);
    }
  };
  return [['holdfast:turn', onTurn]];
}

function countScans(registers: Registers): Tally {
  const scans = new Tally();
  for (const outcome of GIVEN) scans.add(outcome, '', 0);
  new Counter({
    name: 'holdfast_scans_total',
    help: 'Scans at doors, each once, by what they count as: the verdict, or what the station decided by itself.',
    labelNames: ['verdict'],
    registers,
    collect() {
      this.reset();
      for (const [verdict, , count] of scans.entries()) this.inc({ verdict }, count);
    },
  });
  return scans;
}

/** Counts the scans that are recorded for the first time. */
function noteScans(tally: Tally, scans: readonly RecordedScan[]): void {
  for (const { isAgain, verdict, given = null } of scans) {
    if (isAgain !== true) tally.add(outcomeOf({ verdict, given }), '');
  }
}

// ── the journal and activations ──────────────────────────────────────────────────────────────────────────────────────

function histogramOfCommits(registers: Registers): TalliedHistogram {
  return new TalliedHistogram({
    name: 'holdfast_journal_commit_duration_seconds',
    help: 'One batch from its first row to the return of the fsync.',
    buckets: COMMIT_SECONDS,
    registers,
  });
}

function listenToJournal(registers: Registers, histogram: TalliedHistogram): Listener[] {
  const commits = histogram.series({});
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
  for (const where of TROUBLE_PLACES) troubles.inc({ where }, 0);
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
