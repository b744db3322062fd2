/**
 * Virtual time, and processes that live in it.
 *
 * Owns the order in which everything happens: one thing at a time, each with all promises settled that it resolves.
 * Nothing here waits for a real clock, so that a minute of a cluster takes a few milliseconds, and a seed gives the
 * same run every time.
 *
 * 1. What belongs to a process (its timers, what arrives for it) happens while it runs. While it is paused that is
 *    kept, and happens after the pause, timers first, as an event loop does. When it has ended it never happens.
 * 2. The stopwatch of a process goes on while it is paused. Its time of day is the machine's, which may be set wrong.
 */
import type { Chance } from '../chance.ts';

interface Moment {
  readonly atMs: number;
  readonly order: number;
  readonly happen: () => void;
}

/** What happens more often than this in a run never ends. */
const MOMENTS_MAX = 400_000;

/** Resolves when all promises are settled that can be: Node runs its ticks after them. */
const settled = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

/** Rounds of the event loop for work in slices: an object of a simulation is one slice. */
const ROUNDS = 2;
const round = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const isEarlier = (one: Moment, other: Moment): boolean =>
  one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order);

export class Scheduler {
  readonly chance: Chance;
  nowMs = 0;
  /** The first failure; the run ends with it. */
  failure: Error | null = null;
  /** Whether anything may work in slices. */
  yieldsAlways = false;
  #rounds = 0;
  /** A heap: each moment is earlier than the two below it. */
  readonly #moments: Moment[] = [];
  #order = 0;

  constructor(chance: Chance) {
    this.chance = chance;
  }

  after(delayMs: number, happen: () => void): void {
    const moment = { atMs: this.nowMs + delayMs, order: (this.#order += 1), happen };
    const moments = this.#moments;
    let place = moments.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!isEarlier(moment, moments[above]!)) break;
      moments[place] = moments[above]!;
      place = above;
    }
    moments[place] = moment;
  }

  /** Runs until the time, or until the condition holds after a moment; returns whether it held. */
  async run(untilMs: number, isDone: () => boolean = () => false): Promise<boolean> {
    for (;;) {
      if (this.failure !== null) throw this.failure;
      if (isDone()) return true;
      const next = this.#moments[0];
      if (next === undefined || next.atMs > untilMs) break;
      if (this.#order > MOMENTS_MAX) throw new Error('the run does not end');
      this.#dropFirst();
      this.nowMs = next.atMs;
      next.happen();
      await settled();
      if (this.yieldsAlways) this.#rounds = ROUNDS;
      for (; this.#rounds > 0; this.#rounds -= 1) await round();
    }
    this.nowMs = untilMs;
    return false;
  }

  /** What was just given to a process is worked on in slices, which yield to the event loop. */
  letYield(): void {
    this.#rounds = ROUNDS;
  }

  fail(error: unknown): void {
    this.failure ??= error instanceof Error ? error : new Error(String(error));
  }

  #dropFirst(): void {
    const moments = this.#moments;
    const last = moments.pop()!;
    if (moments.length === 0) return;
    let place = 0;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= moments.length) break;
      if (below + 1 < moments.length && isEarlier(moments[below + 1]!, moments[below]!)) below += 1;
      if (!isEarlier(moments[below]!, last)) break;
      moments[place] = moments[below]!;
      place = below;
    }
    moments[place] = last;
  }
}

type ProcessState = 'RUNS' | 'PAUSED' | 'ENDED';

/** A process of a node: what it scheduled, and what arrives for it. */
export class SimulatedProcess {
  readonly name: string;
  readonly scheduler: Scheduler;
  /** Whether its connection to the servers stands. */
  isCutOff = false;
  /** How far the machine's time of day is off. */
  leaptMs = 0;
  #state: ProcessState = 'RUNS';
  #pauseSoon: (() => void) | null = null;
  readonly #keptTimers: (() => void)[] = [];
  readonly #keptArrivals: (() => void)[] = [];
  readonly #onEnd: (() => void)[] = [];

  constructor(scheduler: Scheduler, name: string) {
    this.scheduler = scheduler;
    this.name = name;
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** Milliseconds since the run's beginning; it goes on during a pause. */
  stopwatchMs(): number {
    return this.scheduler.nowMs;
  }

  /** The time of day, as the machine shows it. */
  wallMs(): number {
    return START_MS + Math.floor(this.scheduler.nowMs) + this.leaptMs;
  }

  /** A timer; returns the function that cancels it. */
  after(delayMs: number, run: () => void): () => void {
    let isCancelled = false;
    this.scheduler.after(Math.max(0, delayMs), () =>
      this.#happen(this.#keptTimers, () => {
        if (!isCancelled) run();
      }),
    );
    return () => (isCancelled = true);
  }

  /** Something arrives over the network. */
  receive(delayMs: number, run: () => void): void {
    this.scheduler.after(delayMs, () => this.#happen(this.#keptArrivals, run));
  }

  /** An answer of the servers arrives. */
  receiveAnswer(delayMs: number, run: () => void): void {
    this.scheduler.after(delayMs, () => {
      this.#pauseSoon?.();
      this.#happen(this.#keptArrivals, run);
    });
  }

  /** Pauses when the next answer arrives, so that it is taken in after the pause. */
  pauseBeforeAnswer(onPaused: () => void): void {
    this.#pauseSoon = () => {
      this.#pauseSoon = null;
      this.pause();
      onPaused();
    };
  }

  pause(): void {
    if (this.#state === 'RUNS') this.#state = 'PAUSED';
  }

  resume(): void {
    if (this.#state !== 'PAUSED') return;
    this.#state = 'RUNS';
    for (const kept of [this.#keptTimers, this.#keptArrivals])
      for (const run of kept.splice(0)) this.scheduler.after(0, () => this.#happen(kept, run));
  }

  /** The process ends at once, in any state. */
  end(): void {
    if (this.#state === 'ENDED') return;
    this.#state = 'ENDED';
    this.#keptTimers.length = 0;
    this.#keptArrivals.length = 0;
    for (const run of this.#onEnd) run();
  }

  onEnd(run: () => void): void {
    this.#onEnd.push(run);
  }

  #happen(kept: (() => void)[], run: () => void): void {
    if (this.#state === 'ENDED') return;
    if (this.#state === 'PAUSED') kept.push(run);
    else run();
  }
}

/** The time of day at the beginning of a run, in milliseconds since 1970. */
const START_MS = 1_800_000_000_000;
