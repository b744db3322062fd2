/**
 * What threads report to each other by shared memory alone: how much each has in use, the service's time, how late
 * their event loops are, and whether the service stops.
 *
 * 1. A thread writes its own line and reads the sum of all. So what a thread that died had in use can be taken back.
 * 2. The time is the stopwatch, which is the same on every thread, and how far the service's clock is ahead of it.
 */
import type { Clock } from '#actors/clock.ts';

/** What clients have in use on one thread and on all. */
interface LineCount {
  readonly own: number;
  readonly total: number;
  set(own: number): void;
}

/** A cache line of 32-bit numbers. */
const CELLS_A_LINE = 16;

/** Numbers by thread and what they count (rule 1). */
export class UseTable {
  readonly #cells: Int32Array;
  readonly #lines: number;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Int32Array(memory);
    this.#lines = this.#cells.length / CELLS_A_LINE;
  }

  static memoryFor(lines: number): SharedArrayBuffer {
    return new SharedArrayBuffer(lines * CELLS_A_LINE * Int32Array.BYTES_PER_ELEMENT);
  }

  total(cell: number): number {
    let sum = 0;
    for (let line = 0; line < this.#lines; line += 1) sum += Atomics.load(this.#cells, line * CELLS_A_LINE + cell);
    return sum;
  }

  countOf(line: number, cell: number): LineCount {
    const cells = this.#cells;
    const place = line * CELLS_A_LINE + cell;
    const total = (): number => this.total(cell);
    return {
      get own() {
        return Atomics.load(cells, place);
      },
      get total() {
        return total();
      },
      set: (own) => void Atomics.store(cells, place, own),
    };
  }

  /** Nothing is in use on a thread that has ended. */
  clear(line: number): void {
    for (let cell = 0; cell < CELLS_A_LINE; cell += 1) Atomics.store(this.#cells, line * CELLS_A_LINE + cell, 0);
  }
}

/** The service's time for other threads (rule 2). */
export class SharedClock implements Clock {
  readonly #ahead: Float64Array;
  readonly #stopwatchMs: () => number;
  #last = 0;

  constructor(memory: SharedArrayBuffer, stopwatchMs: () => number) {
    this.#ahead = new Float64Array(memory);
    this.#stopwatchMs = stopwatchMs;
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  }

  /** On the thread that has the clock: lets the others use its time. */
  follow(clock: Clock): void {
    this.#ahead[0] = clock.now() - this.#stopwatchMs();
  }

  now(): number {
    this.#last = Math.max(this.#last, Math.floor(this.#stopwatchMs() + this.#ahead[0]!));
    return this.#last;
  }
}

/** Words that the main thread changes and all read. */
export class SharedFlags {
  readonly #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#words = new Int32Array(memory);
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT);
  }

  get isStopping(): boolean {
    return Atomics.load(this.#words, 0) === 1;
  }

  set isStopping(isStopping: boolean) {
    Atomics.store(this.#words, 0, isStopping ? 1 : 0);
  }

  /** Grows with every definition of an event, which may move a slug. */
  get definitions(): number {
    return Atomics.load(this.#words, 1);
  }

  noteDefinition(): void {
    Atomics.add(this.#words, 1, 1);
  }

  /** Grows with every reading of the metrics; what is shown since the last one begins anew. */
  get readings(): number {
    return Atomics.load(this.#words, 2);
  }

  noteReading(): void {
    Atomics.add(this.#words, 2, 1);
  }
}

/** How late the event loops of threads are, in milliseconds: each writes its own line. */
export class LagTable {
  readonly #cells: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#cells = new Float64Array(memory);
  }

  static memoryFor(lines: number): SharedArrayBuffer {
    return new SharedArrayBuffer(lines * 4 * Float64Array.BYTES_PER_ELEMENT);
  }

  write(line: number, lags: { readonly p50Ms: number; readonly p99Ms: number; readonly maxMs: number }, at: number) {
    this.#cells.set([lags.p50Ms, lags.p99Ms, lags.maxMs, at], line * 4);
  }

  /** What a thread wrote, and when by the stopwatch; 0 when it never did. */
  read(line: number) {
    const [p50Ms = 0, p99Ms = 0, maxMs = 0, at = 0] = this.#cells.subarray(line * 4, line * 4 + 4);
    return { p50Ms, p99Ms, maxMs, at };
  }
}
