/**
 * A thread that answers the requests of buyers: the ordinary public app over calls to the engine's thread.
 *
 * 1. It has no state of a sale. It keeps views that it asks for again, and its share of what clients have in use. That
 *    share is in shared memory, where the main thread takes it back when this thread dies.
 * 2. It logs and reports through the main thread, whose log and metrics are those of the process.
 * 3. Once closed it leaves nothing in its thread, which may answer for another service then.
 */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { AddressInfo } from 'node:net';
import type { MessagePort } from 'node:worker_threads';
import type { TroubleMessage } from '#actors/trouble.ts';
import { absentProviders } from '#payments/service.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import type { EngineCalls } from '#threads/engine-calls.ts';
import { SharedClients, SharedWindows } from '#threads/keyed-counts.ts';
import { LagTable, SharedClock, SharedFlags, UseTable } from '#threads/shared-counts.ts';
import { openCalls } from '#threads/sides.ts';
import { watchLoop } from '#http/metrics/loop-delay.ts';
import { createThreadMetrics } from '#http/metrics/request-metrics.ts';
import { WINDOW_MS } from '#http/limits/rate-limits.ts';
import type { HttpApp } from '#http/protocol/app.ts';
import type { LogPort } from '#http/ports.ts';
import { listeningHost, originsOf } from './config.ts';
import { buildBuyersApp, referenceOf } from './public-app.ts';
import { openSecrets } from './secrets.ts';
import { CONNECTIONS_CELL, USE_CELLS, type FromThread, type ThreadData, type ToThread } from './thread-messages.ts';

/** How often the delay of the event loop is measured and written down: an idle thread has few other timers. */
const LAG_EVERY_MS = 1_000;

/** Tells the main thread. */
type Post = (message: FromThread) => void;

/** Builds the app, says so, and does what the main thread says until it is closed. */
export async function answerBuyers(data: ThreadData, port: MessagePort): Promise<void> {
  const { config, memory } = data;
  const post: Post = (message) => port.postMessage(message);
  const flags = new SharedFlags(memory.flags);
  const use = new UseTable(memory.use);
  const { rings, state } = data;
  const { calls, stop: stopCalls } = openCalls({
    rings,
    engineBell: memory.engineBell,
    definitions: () => (state.cluster === null ? flags.definitions : null),
    isTiming: config.serverTiming,
    sendLong: (number, text) => post({ kind: 'frame', number, text }),
  });
  const stopReports = reportThrough(post);
  const { ports, origins } = originsOf(config);
  const app = await buildApp(data, { calls, flags, use, post, origins });
  limitConnections(app, data, use);
  const stopLag = watchLag(data, flags);

  async function listen(listeningPort: number): Promise<void> {
    const { host, limits } = config;
    const options = { host: listeningHost(host), port: listeningPort, backlog: limits.connectionsBacklogMax };
    try {
      await app.listen({ ...options, reusePort: true } as typeof options);
      ports.public = (app.server.address() as AddressInfo).port;
      post({ kind: 'listening', port: ports.public });
    } catch (error) {
      const { message, ...about } = error as NodeJS.ErrnoException;
      post({ kind: 'failed', message, about });
    }
  }

  /** Rule 3. */
  async function close(): Promise<void> {
    await app.close();
    for (const stop of [stopCalls, stopReports, stopLag]) stop();
    post({ kind: 'closed' });
  }

  port.on('message', (message: ToThread) => {
    switch (message.kind) {
      case 'frame':
        return calls.take(message.number, message.text);
      case 'admin':
        ports.admin = message.port;
        return;
      case 'listen':
        return void listen(message.port);
      case 'close':
        return void close();
    }
  });
  post({ kind: 'built' });
}

// ── the log (rule 2) ─────────────────────────────────────────────────────────────────────────────────────────────────

function logBy(post: Post, level: 'error' | 'debug'): LogPort['error'] {
  return (details, message) => {
    try {
      post({ kind: 'log', level, details, message });
    } catch {
      // What cannot be cloned is sent as text.
      post({ kind: 'log', level, details: { details: String(details) }, message });
    }
  };
}

/** Reports troubles to the main thread; returns the function that ends that. */
function reportThrough(post: Post): () => void {
  const report = (message: unknown): void => {
    const { where, message: text, error } = message as TroubleMessage;
    post({ kind: 'trouble', where, message: text, error: error instanceof Error ? error : null });
  };
  subscribe('holdfast:trouble', report);
  return () => void unsubscribe('holdfast:trouble', report);
}

// ── the app ──────────────────────────────────────────────────────────────────────────────────────────────────────────

interface AppParts {
  readonly calls: EngineCalls;
  readonly flags: SharedFlags;
  readonly use: UseTable;
  readonly post: Post;
  readonly origins: () => { public: string; admin: string };
}

function buildApp(data: ThreadData, { calls, flags, use, post, origins }: AppParts): Promise<HttpApp> {
  const { config, demo, line, memory, state } = data;
  const isDebugging = ['debug', 'trace'].includes(config.logLevel);
  const log: LogPort = { error: logBy(post, 'error'), debug: isDebugging ? logBy(post, 'debug') : () => {} };
  const testStopwatch = data.stopwatch === null ? null : new Float64Array(data.stopwatch);
  const windows = new SharedWindows({ memory: memory.windows, secret: memory.secret }, WINDOW_MS);
  const { sandbox, webhooks, checkoutSessions, events, personalData } = calls;
  return buildBuyersApp({
    config: { ...config, limits: shareOf(data) },
    demo,
    events,
    clock: new SharedClock(memory.clock, testStopwatch === null ? stopwatchMs : () => testStopwatch[0]!),
    deployment: {
      state: () => state,
      get isStopping() {
        return flags.isStopping;
      },
    },
    log,
    tickets: openSecrets(config, { info: () => {}, warn: () => {} }).tickets,
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
      streams: new SharedClients(memory.streams, line, memory.secret),
    },
    baseUrl: () => origins().public,
    reference: referenceOf(origins),
    payments: {
      checkoutSessions,
      webhooks,
      sandbox: config.sandbox ? sandbox : null,
      absent: absentProviders(config.sandbox, config.stripe),
    },
    readState: () => calls.readState(),
    advanceClock: (seconds) => calls.advanceClock(seconds),
  });
}

/** The caches of all threads share the memory that the caches of one thread may take, and so do bodies under way. */
function shareOf({ config: { limits }, threads }: ThreadData): ThreadData['config']['limits'] {
  const [cachedPayloadBytesMax, bodiesBytesMax] = [limits.cachedPayloadBytesMax, limits.bodiesBytesMax].map((bytes) =>
    Math.ceil(bytes / threads),
  ) as [number, number];
  return { ...limits, cachedPayloadBytesMax, bodiesBytesMax };
}

/** The limit of connections is one for all threads: each closes at once what comes to it beyond. */
function limitConnections({ server }: HttpApp, { config, line }: ThreadData, use: UseTable): void {
  const count = use.countOf(line, CONNECTIONS_CELL);
  server.on('connection', (socket) => {
    count.set(count.own + 1);
    socket.once('close', () => count.set(count.own - 1));
    if (count.total > config.limits.connectionsMax) socket.destroy();
  });
}

/** Records the delay of the event loop; returns the function that ends that. */
function watchLag({ memory, line }: ThreadData, flags: SharedFlags): () => void {
  const lags = new LagTable(memory.lags);
  const loop = watchLoop(LAG_EVERY_MS);
  let readings = flags.readings;
  const write = setInterval(() => {
    const { maxMs } = loop;
    lags.write(line, { p50Ms: loop.percentileMs(50), p99Ms: loop.percentileMs(99), maxMs }, stopwatchMs());
    if (flags.readings !== readings) loop.reset();
    readings = flags.readings;
  }, LAG_EVERY_MS);
  write.unref();
  return () => {
    clearInterval(write);
    loop.stop();
  };
}
