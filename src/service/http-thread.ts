/**
 * The entry of a thread that answers the requests of buyers: the ordinary public app over calls to the engine's thread.
 *
 * 1. It has no state of a sale: what it keeps are views that it asks for again, and its share of what clients have in
 *    use, in shared memory, where the main thread takes it back when this one dies.
 * 2. It logs and reports through the main thread, whose log and metrics are those of the process.
 */
import { subscribe } from 'node:diagnostics_channel';
import { parentPort, workerData } from 'node:worker_threads';
import type { TroubleMessage } from '#actors/trouble.ts';
import { absentProviders } from '#payments/service.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { followBell } from '#threads/doorbell.ts';
import { EngineCalls } from '#threads/engine-calls.ts';
import { SharedClients, SharedWindows } from '#threads/keyed-counts.ts';
import { FrameLink } from '#threads/link.ts';
import { LagTable, SharedClock, SharedFlags, UseTable } from '#threads/shared-counts.ts';
import type { HttpApp } from '#http/protocol/app.ts';
import type { LogPort } from '#http/ports.ts';
import { keepCompiledModules } from './compile-cache.ts';
import { listeningHost } from './config.ts';
import { CONNECTIONS_CELL, USE_CELLS, type FromThread, type ThreadData, type ToThread } from './thread-messages.ts';

keepCompiledModules();
const { buildBuyersApp, referenceOf } = await import('./public-app.ts');
const { openSecrets } = await import('./secrets.ts');
const { createThreadMetrics } = await import('#http/metrics/request-metrics.ts');
const { watchLoop } = await import('#http/metrics/loop-delay.ts');
const { WINDOW_MS } = await import('#http/limits/rate-limits.ts');

/** How often the delay of the event loop is measured and written down: an idle thread has few other timers. */
const LAG_EVERY_MS = 1_000;

const data = workerData as ThreadData;
const { config, demo, line, memory, rings } = data;
const port = parentPort!;

function post(message: FromThread): void {
  port.postMessage(message);
}

// ── what is shared ───────────────────────────────────────────────────────────────────────────────────────────────────

const flags = new SharedFlags(memory.flags);
const testStopwatch = data.stopwatch === null ? null : new Float64Array(data.stopwatch);
const clock = new SharedClock(memory.clock, testStopwatch === null ? stopwatchMs : () => testStopwatch[0]!);
const use = new UseTable(memory.use);
const windows = new SharedWindows({ memory: memory.windows, secret: memory.secret }, WINDOW_MS);
const streams = new SharedClients(memory.streams, line, memory.secret);
const lags = new LagTable(memory.lags);

// ── calls ────────────────────────────────────────────────────────────────────────────────────────────────────────────

const calls: EngineCalls = new EngineCalls({
  send: (number, text, isAlone) => link.send(number, text, isAlone),
  definitions: () => (data.state.cluster === null ? flags.definitions : null),
  isTiming: config.serverTiming,
});
const link: FrameLink = new FrameLink({
  incoming: rings.answers,
  outgoing: rings.calls,
  bell: new Int32Array(memory.engineBell),
  isAnswering: false,
  take: (number, text) => calls.take(number, text),
  sendLong: (number, text) => post({ kind: 'frame', number, text }),
});
const bell = followBell(new Int32Array(rings.bell), { hasWork: () => link.hasWork(), work: () => link.work() });

// ── the log (rule 2) ─────────────────────────────────────────────────────────────────────────────────────────────────

function logBy(level: 'error' | 'debug'): LogPort['error'] {
  return (details, message) => {
    try {
      post({ kind: 'log', level, details, message });
    } catch {
      // What cannot be cloned is said in words.
      post({ kind: 'log', level, details: { details: String(details) }, message });
    }
  };
}

const isDebugging = ['debug', 'trace'].includes(config.logLevel);
const log: LogPort = { error: logBy('error'), debug: isDebugging ? logBy('debug') : () => {} };
subscribe('holdfast:trouble', (message) => {
  const { where, message: text, error } = message as TroubleMessage;
  post({ kind: 'trouble', where, message: text, error: error instanceof Error ? error : null });
});

// ── the app ──────────────────────────────────────────────────────────────────────────────────────────────────────────

let origins = { public: '', admin: '' };
const silent = { info: () => {}, warn: () => {} };
const { sandbox, webhooks, checkoutSessions, events, personalData } = calls;
const app: HttpApp = await buildBuyersApp({
  config: { ...config, limits: shareOf(config.limits) },
  demo,
  events,
  clock,
  deployment: {
    state: () => data.state,
    get isStopping() {
      return flags.isStopping;
    },
  },
  log,
  tickets: openSecrets(config, silent).tickets,
  personalData,
  metrics: createThreadMetrics(
    (news) => post({ kind: 'news', news }),
    (what) => use.countOf(line, USE_CELLS[what]),
  ),
  sharedLimits: {
    windows: (limit) => ({
      read: (key, now) => windows.read(`${limit} ${key}`, now),
      add: (key, now, times) => windows.add(`${limit} ${key}`, now, times),
    }),
    streams,
  },
  baseUrl: () => origins.public,
  reference: referenceOf(() => origins),
  payments: {
    checkoutSessions,
    webhooks,
    sandbox: config.sandbox ? sandbox : null,
    absent: absentProviders(config.sandbox, config.stripe),
  },
  readState: () => calls.readState(),
  advanceClock: (seconds) => calls.advanceClock(seconds),
});
limitConnections(app);
watchLag();

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'frame':
      return calls.take(message.number, message.text);
    case 'origins':
      origins = message.origins;
      return;
    case 'listen':
      return void listen(message.port);
    case 'close':
      return void close();
  }
});
post({ kind: 'built' });

/** Caches share the memory that one thread's may take, and so do bodies under way. */
function shareOf(limits: ThreadData['config']['limits']): ThreadData['config']['limits'] {
  const [cachedPayloadBytesMax, bodiesBytesMax] = [limits.cachedPayloadBytesMax, limits.bodiesBytesMax].map((bytes) =>
    Math.ceil(bytes / data.threads),
  ) as [number, number];
  return { ...limits, cachedPayloadBytesMax, bodiesBytesMax };
}

async function listen(listeningPort: number): Promise<void> {
  const { host, limits } = config;
  const options = { host: listeningHost(host), port: listeningPort, backlog: limits.connectionsBacklogMax };
  try {
    await app.listen({ ...options, reusePort: true } as typeof options);
    post({ kind: 'listening', port: (app.server.address() as { readonly port: number }).port });
  } catch (error) {
    const { message, ...about } = error as NodeJS.ErrnoException;
    post({ kind: 'failed', message, about });
  }
}

async function close(): Promise<void> {
  await app.close();
  bell.stop();
  post({ kind: 'closed' });
}

/** The limit of connections is one for all threads: each closes at once what comes to it beyond. */
function limitConnections({ server }: HttpApp): void {
  const count = use.countOf(line, CONNECTIONS_CELL);
  server.on('connection', (socket) => {
    count.set(count.own + 1);
    socket.once('close', () => count.set(count.own - 1));
    if (count.total > config.limits.connectionsMax) socket.destroy();
  });
}

function watchLag(): void {
  const loop = watchLoop(LAG_EVERY_MS);
  let readings = flags.readings;
  const write = setInterval(() => {
    const { maxMs } = loop;
    lags.write(line, { p50Ms: loop.percentileMs(50), p99Ms: loop.percentileMs(99), maxMs }, stopwatchMs());
    if (flags.readings !== readings) loop.reset();
    readings = flags.readings;
  }, LAG_EVERY_MS);
  write.unref();
}
