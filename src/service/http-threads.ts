/**
 * The threads that answer the requests of buyers, where HTTP_THREADS asks for more than one: started, watched, started
 * again, stopped. They share the public port; the system spreads connections over them.
 *
 * 1. The engine's thread is this one, the main one: actors, journal, timers, snapshots, notifications, payment
 *    providers and the operators' listener stay where they are. `http-thread.ts` is the other side.
 * 2. A thread that ends by itself is reported, counted and started again, after a pause that grows each time it ends
 *    again. What its clients had in use is free again. What it had asked for is done and answered to nobody, as when a
 *    connection breaks.
 * 3. What such a thread answers is answered by the engine's rules: nothing here decides anything.
 */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import type { Logger } from 'pino';
import { reportTrouble, retryPauseMs } from '#actors/trouble.ts';
import type { Deployment, DeploymentState } from '#engine/deployment.ts';
import type { Metrics, RequestUse, ThreadsGauges } from '#http/ports.ts';
import type { PaymentService } from '#payments/service.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { createAnswers, type Answers } from '#threads/calls.ts';
import { makeBell } from '#threads/doorbell.ts';
import { SharedClients, SharedWindows } from '#threads/keyed-counts.ts';
import { LagTable, SharedClock, SharedFlags, UseTable } from '#threads/shared-counts.ts';
import { AnsweringSide, makeRings } from '#threads/sides.ts';
import { listeningHost, type Config } from './config.ts';
import { USE_CELLS, type FromThread, type SharedMemory, type ThreadData, type ToThread } from './thread-messages.ts';

/**
 * Limits that count addresses in one shared table: changes, joins, the shop, codes, caps, wrong tokens. The limit of
 * scans counts stations there too; they are few.
 */
const LIMITS_BY_ADDRESS = 6;

/** The first pause of rule 2, and how long a thread that lives counts as one that works. */
const RESTART_MS_MIN = 50;
const WORKS_AFTER_MS = 60_000;

/** Between two readings of a clock that nobody else reads; for the other threads it is wrong by less than this. */
const CLOCK_EVERY_MS = 1_000;

/** After a signal: threads that have not closed by then are ended. */
const CLOSE_MS_MAX = 8_000;

interface HttpThreadsOptions {
  readonly config: Config;
  readonly demo: boolean;
  readonly engine: Deployment;
  readonly payments: PaymentService;
  readonly metrics: Pick<Metrics, 'include' | 'watchInUse'>;
  readonly log: Pick<Logger, 'error' | 'debug'>;
  /** The state that health shows. */
  readonly readState: () => DeploymentState;
  readonly stopwatch: SharedArrayBuffer | null;
  readonly startThread: StartThread;
  /** What answers name; a free port stands there once the first thread listens. */
  readonly ports: { public: number };
}

/** What is used of a `Worker`. */
export type Thread = Pick<Worker, 'on' | 'once' | 'postMessage' | 'terminate'>;

/** Starts a thread that runs `answerBuyers`. */
export type StartThread = (workerData: ThreadData) => Thread;

/** Starts a new one; `options` are for tests. */
export function startWorker(
  workerData: ThreadData,
  options: Pick<WorkerOptions, 'execArgv' | 'resourceLimits'> = {},
): Thread {
  const name = `http-${workerData.line}`;
  return new Worker(new URL('./http-thread.ts', import.meta.url), { workerData, execArgv: [], name, ...options });
}

interface RunningThread {
  readonly worker: Thread;
  readonly connection: ReturnType<AnsweringSide['connect']>;
  readonly startedAtMs: number;
  /** Takes its counts over when it ends. */
  readonly keepCounts: (() => void)[];
  isListening: boolean;
}

/** Whether several threads may share a port here; where they may not, `listen` fails. */
export async function canSharePorts(): Promise<boolean> {
  return tryToListen({ host: '127.0.0.1', port: 0, reusePort: true }).then(
    () => true,
    () => false,
  );
}

function tryToListen(options: { readonly host: string; readonly port: number; readonly reusePort?: true }) {
  return new Promise<void>((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(options, () => server.close(() => resolve()));
  });
}

export class HttpThreads implements ThreadsGauges {
  readonly #options: HttpThreadsOptions;
  readonly #memory: SharedMemory;
  readonly #flags: SharedFlags;
  readonly #use: UseTable;
  readonly #lags: LagTable;
  readonly #clock: SharedClock;
  readonly #answer: Answers;
  readonly #side: AnsweringSide;
  /** By line; null while one is started again. */
  readonly #threads: (RunningThread | null)[];
  readonly #failures: number[];
  /** The pauses before threads are started again, by line. */
  readonly #pauses: NodeJS.Timeout[] = [];
  readonly #stops: (() => void)[] = [];
  #adminPort: number | null = null;
  #port: number;
  #restarts = 0;
  #isClosing = false;

  private constructor(options: HttpThreadsOptions) {
    const { config, stopwatch, metrics } = options;
    const { httpThreads: count, limits } = config;
    this.#options = options;
    this.#memory = {
      engineBell: makeBell(),
      flags: SharedFlags.memory(),
      clock: SharedClock.memory(),
      use: UseTable.memoryFor(count),
      windows: SharedWindows.memoryFor(LIMITS_BY_ADDRESS * limits.rateLimitedAddressesMax),
      streams: Array.from({ length: count }, () => SharedClients.memoryFor(limits.liveListenersMax)),
      lags: LagTable.memoryFor(count),
      secret: randomBytes(16).toString('hex'),
    };
    this.#flags = new SharedFlags(this.#memory.flags);
    this.#use = new UseTable(this.#memory.use);
    this.#lags = new LagTable(this.#memory.lags);
    const testStopwatch = stopwatch === null ? null : new Float64Array(stopwatch);
    this.#clock = new SharedClock(this.#memory.clock, testStopwatch === null ? stopwatchMs : () => testStopwatch[0]!);
    this.#port = config.port;
    this.#threads = Array.from({ length: count }, () => null);
    this.#failures = Array.from({ length: count }, () => 0);
    const { engine, payments, readState } = options;
    const onClockMoved = (): void => this.#clock.follow(engine.clock);
    this.#answer = createAnswers({
      deployment: engine,
      payments,
      readState,
      onClockMoved,
      isTiming: config.serverTiming,
    });
    // All calls of a pass were sent before it began, however long it takes: the clock is read once for all of them.
    const pass = (calls: () => void): void =>
      engine.clock.atOneMoment(() => {
        this.#clock.follow(engine.clock);
        calls();
      });
    this.#side = new AnsweringSide(this.#memory.engineBell, pass);
    this.#stops.push(() => this.#side.stop());
    for (const [what, cell] of Object.entries(USE_CELLS) as [RequestUse, number][])
      metrics.watchInUse(what, () => this.#use.total(cell));
  }

  /** Starts the threads; resolves when all listen. Rejects as `listen` does. */
  static async open(options: HttpThreadsOptions): Promise<HttpThreads> {
    const threads = new HttpThreads(options);
    try {
      await threads.#open();
    } catch (error) {
      await threads.close();
      throw error;
    }
    return threads;
  }

  async #open(): Promise<void> {
    const { host } = this.#options.config;
    // Threads that share a port would share it with another process, too.
    if (this.#port !== 0) await tryToListen({ host: listeningHost(host), port: this.#port });
    this.#followClock();
    const built = await Promise.all(this.#threads.map((_, line) => this.#start(line)));
    // The first one may take a free port, which the others share.
    for (const listen of built) this.#port = await listen();
  }

  #followClock(): void {
    const follow = (): void => this.#clock.follow(this.#options.engine.clock);
    follow();
    const timer = setInterval(follow, CLOCK_EVERY_MS).unref();
    this.#stops.push(() => clearInterval(timer));
  }

  // ── one thread ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Starts a thread; resolves when its app is built, with the function that has it listen and returns the port. */
  #start(line: number): Promise<() => Promise<number>> {
    const { config, demo, engine, stopwatch, startThread } = this.#options;
    const rings = makeRings();
    const state = engine.state();
    const threads = this.#threads.length;
    const worker = startThread({ config, demo, threads, line, memory: this.#memory, rings, state, stopwatch });
    const thread: RunningThread = {
      worker,
      connection: this.#side.connect(rings, this.#answer, (number, text) =>
        post(worker, { kind: 'frame', number, text }),
      ),
      startedAtMs: stopwatchMs(),
      keepCounts: [],
      isListening: false,
    };
    this.#threads[line] = thread;
    const built = Promise.withResolvers<() => Promise<number>>();
    const listening = Promise.withResolvers<number>();
    // Whoever starts the thread learns of its end by either.
    listening.promise.catch(() => {});
    const fail = (error: Error): void => {
      built.reject(error);
      listening.reject(error);
    };
    worker.on('message', (message: FromThread) => {
      switch (message.kind) {
        case 'built':
          if (this.#adminPort !== null) post(worker, { kind: 'admin', port: this.#adminPort });
          return built.resolve(() => {
            post(worker, { kind: 'listen', port: this.#port });
            return listening.promise;
          });
        case 'listening':
          thread.isListening = true;
          this.#options.ports.public = message.port;
          return listening.resolve(message.port);
        case 'failed':
          return fail(Object.assign(new Error(message.message), message.about));
        default:
          this.#take(thread, message);
      }
    });
    let reason: unknown = null;
    worker.on('error', (error) => (reason = error));
    worker.on('exit', () => {
      fail(reason instanceof Error ? reason : new Error('a thread that answers requests ended'));
      this.#ended(line, thread, reason);
    });
    return built.promise;
  }

  #take(thread: RunningThread, message: FromThread): void {
    switch (message.kind) {
      case 'frame':
        return thread.connection.take(message.number, message.text);
      case 'news':
        return void thread.keepCounts.push(this.#options.metrics.include(message.news));
      case 'log':
        return this.#options.log[message.level](message.details, message.message);
      case 'trouble':
        return reportTrouble(message.where, message.message, message.error);
    }
  }

  /** Rule 2. */
  #ended(line: number, thread: RunningThread, reason: unknown): void {
    if (this.#threads[line] !== thread) return;
    this.#threads[line] = null;
    thread.connection.cut();
    for (const keep of thread.keepCounts) keep();
    this.#use.clear(line);
    new BigInt64Array(this.#memory.streams[line]!).fill(0n);
    if (this.#isClosing) return;
    this.#restarts += 1;
    const lived = stopwatchMs() - thread.startedAtMs;
    this.#failures[line] = lived > WORKS_AFTER_MS ? 1 : this.#failures[line]! + 1;
    reportTrouble('http', `thread ${line} that answers requests has ended and is started again`, reason);
    const pauseMs = retryPauseMs(this.#failures[line], RESTART_MS_MIN);
    this.#pauses[line] = setTimeout(() => void this.#restart(line), pauseMs).unref();
  }

  async #restart(line: number): Promise<void> {
    try {
      const listen = await this.#start(line);
      await listen();
    } catch {
      // One that ended before it listened is started again; one that cannot listen ends.
      await this.#threads[line]?.worker.terminate();
    }
  }

  // ── what is seen of them ───────────────────────────────────────────────────────────────────────────────────────────

  get port(): number {
    return this.#port;
  }

  get running(): number {
    return this.#threads.filter((thread) => thread?.isListening === true).length;
  }

  get restarts(): number {
    return this.#restarts;
  }

  /** What health shows beside the state of the engine. */
  shownIn(state: DeploymentState): DeploymentState {
    const missing = this.#threads.flatMap((thread, line) => (thread?.isListening === true ? [] : [`thread:${line}`]));
    if (missing.length === 0) return state;
    const trouble = missing.length === this.#threads.length ? 'no thread answers requests' : null;
    return { ...state, trouble: state.trouble ?? trouble, degraded: [...state.degraded, ...missing] };
  }

  delays(): ReturnType<ThreadsGauges['delays']> {
    this.#flags.noteReading();
    return this.#threads.flatMap((thread, line) => {
      const { at, ...lag } = this.#lags.read(line);
      // A thread that does not run records nothing.
      const silentMs = Math.max(0, stopwatchMs() - Math.max(at, thread?.startedAtMs ?? 0) - 2 * CLOCK_EVERY_MS);
      return thread === null ? [] : [{ thread: `http-${line}`, ...lag, maxMs: Math.max(lag.maxMs, silentMs) }];
    });
  }

  /** Ends a thread without notice, as a defect does; for tests. */
  async kill(line: number): Promise<void> {
    await this.#threads[line]?.worker.terminate();
  }

  // ── what they are told ─────────────────────────────────────────────────────────────────────────────────────────────

  noteAdminPort(port: number): void {
    this.#adminPort = port;
    for (const thread of this.#threads) if (thread !== null) post(thread.worker, { kind: 'admin', port });
  }

  /** Slugs may have moved. */
  noteDefinition(): void {
    this.#flags.noteDefinition();
  }

  /** Changes that come now are refused. */
  noteStopping(): void {
    this.#flags.isStopping = true;
  }

  /** Has the threads finish what they have accepted, and ends them. */
  async close(): Promise<void> {
    this.#isClosing = true;
    for (const pause of this.#pauses) clearTimeout(pause);
    await Promise.all(this.#threads.map((thread) => (thread === null ? null : closeWorker(thread.worker))));
    for (const stop of this.#stops) stop();
  }
}

function post(worker: Thread, message: ToThread): void {
  worker.postMessage(message);
}

async function closeWorker(worker: Thread): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, CLOSE_MS_MAX);
    const end = (): void => {
      clearTimeout(timer);
      resolve();
    };
    worker.on('message', (message: FromThread) => message.kind === 'closed' && end());
    worker.once('exit', end);
    post(worker, { kind: 'close' });
  });
  await worker.terminate();
}

/** What is shown of threads that are opened later. */
export function gaugesOf(threads: () => HttpThreads | null): ThreadsGauges {
  return {
    get running() {
      return threads()?.running ?? 0;
    },
    get restarts() {
      return threads()?.restarts ?? 0;
    },
    delays: () => threads()?.delays() ?? [],
  };
}

/** The state that health and metrics show: of a deployment, and of threads that are opened later. */
export function shownWith(
  engine: Pick<Deployment, 'state' | 'isStopping'>,
  threads: () => HttpThreads | null,
): Pick<Deployment, 'state' | 'isStopping'> {
  return {
    state: () => threads()?.shownIn(engine.state()) ?? engine.state(),
    get isStopping() {
      return engine.isStopping;
    },
  };
}
