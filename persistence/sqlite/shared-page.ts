/**
 * The memory that the main thread and the writer thread of a journal share: a batch goes to the writer in it, and the
 * durable head comes back.
 *
 * It owns the layout of the page and the wait of the writer. A batch is the joined canonical texts of its facts
 * (`chain.ts`), so the bytes in the page are the bytes that are hashed. It replaced a `postMessage` each way, because
 * those go through the event loop of the writer and clone what they carry: a fifth of the processor time of a batch of
 * eight facts.
 *
 *  1. The page has one batch. The main thread puts it there and sets BATCH; from then on the page is the writer's until
 *     the main thread receives DURABLE or a fault.
 *  2. A text that does not fit is not put there; it goes as a message, like every other request. After a message the
 *     main thread sets MESSAGE, because a thread that waits here does not see its port.
 *  3. The wait ends when a signal is set, also when it was set before the wait began, and at the moment that the writer
 *     gives: a thread that waits here runs no timers. Ending the process or the thread ends the wait.
 *  4. A process that ends in the middle of a batch loses only memory: what is durable is in the files alone.
 */

/** Words of the header. */
const SIGNALS = 0;
const LENGTH = 1;
/** Where the outcome begins: the durable head's number, the duration of the commit, the hash. */
const OUTCOME = 8;
const HASH = 24;
const HASH_BYTES = 32;
const TEXT = 64;
/** Room for the largest usual batch of ASCII texts, with what the canonical form adds. */
const TEXT_BYTES = 512 * 1024;

/** Signals to the writer. */
export const BATCH = 1;
export const MESSAGE = 2;
/**
 * The message to the main thread that a batch is durable; its outcome is in the page, because an object costs 3 µs
 * more.
 */
export const DURABLE = 'DURABLE';

/** A batch's last fact and the hash of its commit row. */
export interface Head {
  readonly seq: number;
  readonly hash: Uint8Array;
}

export class SharedPage {
  readonly memory: SharedArrayBuffer;
  readonly #header: Int32Array<SharedArrayBuffer>;
  readonly #outcome: Float64Array<SharedArrayBuffer>;
  readonly #hash: Uint8Array<SharedArrayBuffer>;
  readonly #text: Buffer<SharedArrayBuffer>;
  readonly #encoder = new TextEncoder();

  constructor(memory = new SharedArrayBuffer(TEXT + TEXT_BYTES)) {
    this.memory = memory;
    this.#header = new Int32Array(memory, 0, 2);
    this.#outcome = new Float64Array(memory, OUTCOME, 2);
    this.#hash = new Uint8Array(memory, HASH, HASH_BYTES);
    this.#text = Buffer.from(memory, TEXT);
  }

  /** Main thread: puts a batch into the page; false when it does not fit. */
  put(text: string): boolean {
    const { read, written } = this.#encoder.encodeInto(text, this.#text);
    this.#header[LENGTH] = written;
    return read === text.length;
  }

  /** Main thread: tells the writer that there is a batch in the page, or a message on its port. */
  signal(what: typeof BATCH | typeof MESSAGE): void {
    Atomics.or(this.#header, SIGNALS, what);
    Atomics.notify(this.#header, SIGNALS, 1);
  }

  /** Writer: waits for a signal at most so long, and takes all signals that are set. */
  wait(timeoutMs: number): number {
    if (timeoutMs > 0) Atomics.wait(this.#header, SIGNALS, 0, timeoutMs);
    return Atomics.exchange(this.#header, SIGNALS, 0);
  }

  /** Writer: the bytes of the batch; they are valid until its outcome is posted. */
  take(): Buffer<SharedArrayBuffer> {
    return this.#text.subarray(0, this.#header[LENGTH]);
  }

  /** Writer: leaves the outcome of a batch, before DURABLE is posted. */
  leaveOutcome({ seq, hash }: Head, commitMs: number): void {
    this.#outcome[0] = seq;
    this.#outcome[1] = commitMs;
    this.#hash.set(hash);
  }

  /** Main thread: the outcome of the batch that is DURABLE. */
  readOutcome(): { readonly head: Head; readonly commitMs: number } {
    return { head: { seq: this.#outcome[0]!, hash: this.#hash.slice() }, commitMs: this.#outcome[1]! };
  }
}
