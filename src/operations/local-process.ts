/**
 * A program that runs beside this one on the same machine and listens at an address: a node, or a NATS server.
 *
 * It keeps its address, its settings and its log over each end and start.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { stopwatchMs } from '#persistence/stopwatch.ts';

const POLL_MS = 50;
const ANSWER_MS_MAX = 2_000;
/** A machine that is busy with other things creates the streams slowly. */
const READY_MS_MAX = 180_000;
/** Longer than a node takes to end. */
const END_MS_MAX = 15_000;
const LOG_TAIL_CHARS = 4_000;

/** It cannot be started; the message says why. */
export class CannotStart extends Error {
  /** 2: a NATS server is missing or too old. */
  readonly exitCode: 1 | 2;
  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.name = 'CannotStart';
    this.exitCode = exitCode;
  }
}

export interface ProcessOptions {
  readonly name: string;
  readonly kind: 'server' | 'node';
  readonly program: string;
  readonly args: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The address of clients: of NATS, or of buyers. */
  readonly url: string;
  /** The address of a node's operators, or of a server's monitoring. */
  readonly operatorsUrl: string;
  /** Answers 200 once it is ready. */
  readonly readyUrl: string;
  readonly logFile: string;
  /** In a group of its own a Ctrl-C at the terminal does not reach it. */
  readonly isOwnGroup: boolean;
}

export class LocalProcess {
  readonly name: string;
  readonly kind: 'server' | 'node';
  readonly url: string;
  readonly operatorsUrl: string;
  readonly #options: ProcessOptions;
  readonly #onEnd: (ended: LocalProcess, how: string) => void;
  #process: ChildProcess | null = null;
  #closed: Promise<unknown> = Promise.resolve();
  #isEnding = false;

  /** `onEnd` is called whenever it has been ready and ended before it was asked to. */
  constructor(options: ProcessOptions, onEnd: (ended: LocalProcess, how: string) => void = () => {}) {
    ({ name: this.name, kind: this.kind, url: this.url, operatorsUrl: this.operatorsUrl } = options);
    this.#options = options;
    this.#onEnd = onEnd;
  }

  /** Null while it does not run. */
  get pid(): number | null {
    return this.#process?.pid ?? null;
  }

  /** Starts it and waits until it is ready, or is asked to end. Throws CannotStart. */
  async start(): Promise<void> {
    const { program, args, environment, readyUrl, logFile, isOwnGroup: detached } = this.#options;
    const log = openSync(logFile, 'a');
    const started = spawn(program, args, { env: { ...environment }, stdio: ['ignore', log, log], detached });
    closeSync(log);
    this.#process = started;
    this.#isEnding = false;
    this.#closed = once(started, 'close').catch(() => {});
    let isReady = false;
    let end: string | null = null;
    started.once('close', (code, signal) => {
      end = signal ?? `exit code ${code}`;
      this.#process = null;
      if (isReady && !this.#isEnding) this.#onEnd(this, end);
    });
    const begun = stopwatchMs();
    while (!(await answersOk(readyUrl))) {
      if (this.#isEnding) return;
      if (end !== null) throw new CannotStart(`${this.name} ended (${end}):\n${this.tail()}`);
      if (stopwatchMs() - begun > READY_MS_MAX) throw new CannotStart(`${this.name} is not ready:\n${this.tail()}`);
      await pause(POLL_MS);
    }
    isReady = true;
  }

  /** Lets it end by itself, and kills it where that takes too long. */
  async end(): Promise<void> {
    this.#isEnding = true;
    // A stopped process gets no other signal than SIGKILL before it is resumed.
    this.resume();
    this.#process?.kill('SIGTERM');
    const late = setTimeout(() => void this.kill(), END_MS_MAX);
    await this.#closed;
    clearTimeout(late);
  }

  /** Ends it at once, as a power failure would. */
  async kill(): Promise<void> {
    this.#isEnding = true;
    this.#process?.kill('SIGKILL');
    await this.#closed;
  }

  /** Stops the process without ending it, until `resume`. */
  pause(): void {
    this.#process?.kill('SIGSTOP');
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  /** The end of its log. */
  tail(): string {
    const { logFile } = this.#options;
    return existsSync(logFile) ? readFileSync(logFile, 'utf8').slice(-LOG_TAIL_CHARS) : '';
  }
}

async function answersOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) })).ok;
  } catch {
    return false;
  }
}
