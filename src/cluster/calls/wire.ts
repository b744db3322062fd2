/**
 * The form of calls and answers between a node that forwards and the owner: JSON texts, many in a message.
 *
 * 1. Each call and answer becomes a text of its own once, and a message is put together from texts: so it is known how
 *    long a message gets, and what has to be sent again is not written again.
 * 2. A message that is longer than servers take travels in parts, which are put together at its receiver. A part that
 *    is lost loses the message.
 * 3. What an owner throws is told apart by its kind: Moved, or what `engine/packed-answers.ts` knows.
 */
import { packError, settleBy, type PackedAnswer } from '#engine/packed-answers.ts';
import { reportTrouble } from '#actors/trouble.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import { Moved, type Call } from './shard-calls.ts';

/** A call with the number that its answer is to have. */
export type NumberedCall = readonly [number: number, call: Call];

interface CallMessage {
  /** Every call of the sender to this owner with a smaller number is settled: its answer need not be kept. */
  readonly settledBelow: number;
  readonly calls: readonly NumberedCall[];
}

const MOVED = 1;

type NumberedAnswer = readonly [number: number, ...answer: PackedAnswer | readonly [kind: typeof MOVED, why: string]];

/** Characters of texts after which a message is closed; a character takes up to three bytes. */
export const MESSAGE_CHARS_MAX = 256 * 1024;

/** Calls, or answers, in one message. */
const MESSAGE_ITEMS_MAX = 256;

// ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export function writeCall(number: number, call: Call): string {
  return `[${number},${JSON.stringify(call)}]`;
}

/** The message of some calls (rule 1). */
export function writeCalls(settledBelow: number, texts: readonly string[]): Buffer {
  return Buffer.from(`{"settledBelow":${settledBelow},"calls":[${texts.join(',')}]}`);
}

export function readCalls(message: Uint8Array): CallMessage | null {
  const parsed = parseMessage(message) as CallMessage | null;
  return Array.isArray(parsed?.calls) ? parsed : null;
}

export function writeError(error: unknown): string {
  return error instanceof Moved ? `${MOVED},${JSON.stringify(error.why)}]` : packError(error);
}

/** An answer with its number. */
export function writeAnswer(number: number, answer: string): string {
  return `[${number},${answer}`;
}

export function writeAnswers(texts: readonly string[]): Buffer {
  return Buffer.from(`[${texts.join(',')}]`);
}

export function readAnswers(message: Uint8Array): readonly NumberedAnswer[] | null {
  const parsed = parseMessage(message) as readonly NumberedAnswer[] | null;
  return Array.isArray(parsed) ? parsed : null;
}

/** Settles a promise by an answer (rule 3). */
export function settle(
  [, ...answer]: NumberedAnswer,
  shard: number,
  resolve: (value: unknown) => void,
  reject: (error: Error) => void,
): void {
  if (answer[0] === MOVED) reject(new Moved(shard, answer[1]));
  else settleBy(answer, `the owner of shard ${shard} failed`, resolve, reject);
}

/**
 * A message that cannot be read, perhaps of another version, is reported and dropped: its sender tries until its own
 * limit.
 */
export function parseMessage(message: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(message.buffer, message.byteOffset, message.length).toString());
  } catch (error) {
    reportTrouble('cluster', 'a message of another node cannot be read', error);
    return null;
  }
}

/** Gathers texts and sends them together, when everything that has arrived is taken in or a message is full. */
export class MessageBatch {
  readonly #time: Pick<Timing, 'soon'>;
  readonly #send: (texts: readonly string[]) => void;
  #texts: string[] = [];
  #chars = 0;
  #isAwaited = false;

  constructor(time: Pick<Timing, 'soon'>, send: (texts: readonly string[]) => void) {
    this.#time = time;
    this.#send = send;
  }

  add(text: string): void {
    const isFull = this.#texts.length === MESSAGE_ITEMS_MAX || this.#chars + text.length > MESSAGE_CHARS_MAX;
    if (isFull) this.flush();
    this.#texts.push(text);
    this.#chars += text.length;
    if (this.#isAwaited) return;
    this.#isAwaited = true;
    this.#time.soon(() => {
      this.#isAwaited = false;
      this.flush();
    });
  }

  flush(): void {
    if (this.#texts.length === 0) return;
    const texts = this.#texts;
    this.#texts = [];
    this.#chars = 0;
    this.#send(texts);
  }
}

// ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Bytes of a message that is sent as one: every server takes it, also one that is not set up for a cluster. */
export const PART_BYTES_MAX = 512 * 1024;

/** Bytes of a message in parts, and of all that are being put together: several of the largest layouts. */
const PARTED_BYTES_MAX = 128 * 1024 * 1024;

/** The most characters of a call or an answer. At three bytes a character it still fits a message in several parts. */
export const ITEM_CHARS_MAX = 40 * 1024 * 1024;

/** A message whose parts do not all come within this time is given up. */
const PARTS_MS_MAX = 10_000;

/** The first byte of a part; JSON never begins with it. */
const PART_MARK = 0x50;
/** The mark, and three numbers: of the message, of the part, and of all parts. */
const PART_HEADER_BYTES = 13;

/** Cuts a message that is too long for one into parts (rule 2). */
export function* partsOf(message: Buffer, messageNumber: number, bytesMax = PART_BYTES_MAX): Generator<Buffer> {
  if (message.length <= bytesMax) {
    yield message;
    return;
  }
  const count = Math.ceil(message.length / bytesMax);
  for (let part = 0; part < count; part += 1) {
    const header = Buffer.alloc(PART_HEADER_BYTES);
    header[0] = PART_MARK;
    header.writeUInt32LE(messageNumber >>> 0, 1);
    header.writeUInt32LE(part, 5);
    header.writeUInt32LE(count, 9);
    yield Buffer.concat([header, message.subarray(part * bytesMax, (part + 1) * bytesMax)]);
  }
}

interface Parted {
  readonly parts: (Uint8Array | undefined)[];
  readonly since: number;
  missing: number;
  bytes: number;
}

/** Puts messages together from their parts, in whatever order these come (rule 2). */
export class PartsInbox {
  readonly #time: Pick<Timing, 'stopwatchMs'>;
  readonly #bytesMax: number;
  /** By sender and number of the message, the oldest first. */
  readonly #parted = new Map<string, Parted>();
  #bytes = 0;

  constructor(time: Pick<Timing, 'stopwatchMs'>, bytesMax = PARTED_BYTES_MAX) {
    this.#time = time;
    this.#bytesMax = bytesMax;
  }

  /** What waits for further parts, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Takes what came from a sender; returns the message that is complete now, or null. */
  take(sender: string, data: Uint8Array): Uint8Array | null {
    if (data[0] !== PART_MARK) return data;
    if (data.length < PART_HEADER_BYTES) return null;
    const header = Buffer.from(data.buffer, data.byteOffset, data.length);
    const key = `${sender} ${header.readUInt32LE(1)}`;
    const [part, count] = [header.readUInt32LE(5), header.readUInt32LE(9)];
    this.#dropOld();
    const parted = this.#parted.get(key) ?? this.#begin(key, count);
    if (parted === null || part >= parted.parts.length || parted.parts[part] !== undefined) return null;
    const content = data.subarray(PART_HEADER_BYTES);
    parted.parts[part] = content;
    parted.missing -= 1;
    parted.bytes += content.length;
    this.#bytes += content.length;
    if (parted.missing > 0) return null;
    this.#drop(key);
    return Buffer.concat(parted.parts as Uint8Array[]);
  }

  /** Null for a message that could never be kept whole. */
  #begin(key: string, count: number): Parted | null {
    if (count * PART_BYTES_MAX > this.#bytesMax) return null;
    const parts = Array.from<undefined>({ length: count });
    const parted: Parted = { parts, since: this.#time.stopwatchMs(), missing: count, bytes: 0 };
    this.#parted.set(key, parted);
    return parted;
  }

  /** Gives up what is too old, and the oldest while there is too much. */
  #dropOld(): void {
    const now = this.#time.stopwatchMs();
    for (const [key, { since }] of this.#parted) {
      if (now - since < PARTS_MS_MAX && this.#bytes <= this.#bytesMax) return;
      this.#drop(key);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#parted.get(key)?.bytes ?? 0;
    this.#parted.delete(key);
  }
}
