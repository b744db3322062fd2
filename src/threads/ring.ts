/**
 * A ring of frames in shared memory: one thread writes, another one reads, neither waits for the other.
 *
 * Bytes 0, 64 and 128 of the memory, on cache lines of their own, have 32-bit numbers: how many bytes were ever written
 * (the writer's), how many were read (the reader's), and whether the writer waits for room. Frames begin at byte 256:
 * the length of the text in bytes, the number of the call, the text in UTF-8, filled up to a multiple of 4. The length
 * of a text that is not in ASCII has its bits inverted.
 *
 * 1. Positions count on without end, modulo 2^32; the capacity is a power of two, so that a position leads to its
 *    place.
 * 2. A frame lies in one piece. Where too little memory is left for it before the end, that rest stays empty.
 * 3. Frames are seen when they are published, many at once: a frame that a thread had half written when it died is
 *    never seen.
 * 4. A writer without room notes that it waits and looks once more, so that either it sees the room or the reader sees
 *    that it waits.
 * 5. A frame takes a quarter of the ring at most, so that an empty ring has room for each.
 * 6. Texts in ASCII are parts of one text of all the frames that are taken together, which costs less than a text for
 *    each. Code that keeps a part of it must copy that part, as `JSON.parse` does: otherwise the whole text is kept.
 */
const HEAD = 0;
const TAIL = 16;
const WAITS = 32;
const DATA_AT = 256;

const FRAME_HEADER = 8;
/** In place of a length: the rest before the end is empty (rule 2). */
const NOTHING_MORE = -1;

/** Some 800 calls of 300 bytes: what two commits of the journal carry. */
const RING_BYTES = 256 * 1024;

/** A ring in which nothing was written yet; its capacity is a power of two. */
export function makeRing(capacity = RING_BYTES): SharedArrayBuffer {
  return new SharedArrayBuffer(DATA_AT + capacity);
}

/** What both sides see of the memory. */
function partsOf(memory: SharedArrayBuffer) {
  const words = new Int32Array(memory, 0, DATA_AT / 4);
  return { words, headers: new Int32Array(memory, DATA_AT), bytes: Buffer.from(memory, DATA_AT) };
}

/** The bytes of a text, by what stands for them in its frame. */
function bytesIn(length: number): number {
  return length < 0 ? ~length : length;
}

function paddedLength(bytes: number): number {
  return FRAME_HEADER + ((bytes + 3) & ~3);
}

export class RingWriter {
  readonly #words: Int32Array;
  readonly #headers: Int32Array;
  readonly #bytes: Buffer;
  /** Where the next frame goes. */
  #head: number;
  /** What the reader had read when it was looked at last. */
  #tail: number;
  #publications = 0;

  constructor(memory: SharedArrayBuffer) {
    const { words, headers, bytes } = partsOf(memory);
    this.#words = words;
    this.#headers = headers;
    this.#bytes = bytes;
    this.#head = Atomics.load(words, HEAD) >>> 0;
    this.#tail = Atomics.load(words, TAIL) >>> 0;
  }

  /**
   * Writes a frame that is seen once it is published. Without room what was written is published, and the reader says
   * when it has read. A text that is TOO_LONG never fits (rule 5).
   */
  write(number: number, text: string): 'WRITTEN' | 'NO_ROOM' | 'TOO_LONG' {
    const length = Buffer.byteLength(text);
    const size = paddedLength(length);
    if (size * 4 > this.#bytes.length) return 'TOO_LONG';
    const skipped = this.#skippedFor(size);
    if (!this.#hasRoom(skipped + size)) return 'NO_ROOM';
    let at = this.#head & (this.#bytes.length - 1);
    if (skipped > 0) {
      this.#headers[at >> 2] = NOTHING_MORE;
      at = 0;
    }
    const isAscii = length === text.length;
    this.#headers[at >> 2] = isAscii ? length : ~length;
    this.#headers[(at >> 2) + 1] = number | 0;
    this.#bytes.write(text, at + FRAME_HEADER, length, isAscii ? 'latin1' : 'utf8');
    this.#head = (this.#head + skipped + size) >>> 0;
    return 'WRITTEN';
  }

  /** Whether a text that found none has room now. */
  hasRoomFor(text: string): boolean {
    const size = paddedLength(Buffer.byteLength(text));
    return this.#hasRoom(this.#skippedFor(size) + size);
  }

  /** What is left empty before a frame (rule 2). */
  #skippedFor(size: number): number {
    const left = this.#bytes.length - (this.#head & (this.#bytes.length - 1));
    return size > left ? left : 0;
  }

  #hasRoom(needed: number): boolean {
    const enough = (): boolean => needed <= this.#bytes.length - ((this.#head - this.#tail) >>> 0);
    if (enough()) return true;
    this.#tail = Atomics.load(this.#words, TAIL) >>> 0;
    if (enough()) return true;
    // Rule 4. What is written already has to be read before there is room.
    this.publish();
    Atomics.store(this.#words, WAITS, 1);
    this.#tail = Atomics.load(this.#words, TAIL) >>> 0;
    return enough();
  }

  /** How often something new was published. */
  get publications(): number {
    return this.#publications;
  }

  /** Lets the reader see what was written (rule 3); returns whether there was anything new. */
  publish(): boolean {
    if (Atomics.load(this.#words, HEAD) >>> 0 === this.#head) return false;
    Atomics.store(this.#words, HEAD, this.#head | 0);
    this.#publications += 1;
    return true;
  }
}

export class RingReader {
  readonly #words: Int32Array;
  readonly #headers: Int32Array;
  readonly #bytes: Buffer;
  #tail: number;

  constructor(memory: SharedArrayBuffer) {
    const { words, headers, bytes } = partsOf(memory);
    this.#words = words;
    this.#headers = headers;
    this.#bytes = bytes;
    this.#tail = Atomics.load(words, TAIL) >>> 0;
  }

  /** Whether there is a frame to read. */
  get hasFrames(): boolean {
    return Atomics.load(this.#words, HEAD) >>> 0 !== this.#tail;
  }

  /**
   * Hands over the frames that are there, at most so many, and then gives their room back. Returns whether the writer
   * waits for room, so that it has to be rung.
   */
  drain(framesMax: number, take: (number: number, text: string) => void): boolean {
    const head = Atomics.load(this.#words, HEAD) >>> 0;
    if (head === this.#tail) return false;
    const capacity = this.#bytes.length;
    let tail = this.#tail;
    for (let left = framesMax; left > 0 && tail !== head;) {
      const at = tail & (capacity - 1);
      const isSkipped = this.#headers[at >> 2] === NOTHING_MORE;
      const end = isSkipped ? capacity : this.#endOfPiece(at, Math.min((head - tail) >>> 0, capacity - at), left);
      if (!isSkipped) left -= this.#takePiece(at, end, take);
      tail = (tail + end - at) >>> 0;
    }
    this.#tail = tail;
    Atomics.store(this.#words, TAIL, tail | 0);
    return Atomics.exchange(this.#words, WAITS, 0) === 1;
  }

  /** The end of the frames that lie directly one after another, at most so many. */
  #endOfPiece(at: number, bytes: number, framesMax: number): number {
    let end = at;
    for (let left = framesMax; left > 0 && end - at < bytes; left -= 1) {
      const length = this.#headers[end >> 2]!;
      if (length === NOTHING_MORE) break;
      end += paddedLength(bytesIn(length));
    }
    return end;
  }

  /** Hands over the frames that lie between two places (rule 6); returns how many. */
  #takePiece(from: number, end: number, take: (number: number, text: string) => void): number {
    const piece = this.#bytes.toString('latin1', from, end);
    let frames = 0;
    for (let at = from; at < end; frames += 1) {
      const length = this.#headers[at >> 2]!;
      const bytes = bytesIn(length);
      const begin = at + FRAME_HEADER;
      const isAscii = bytes === length;
      const text = isAscii
        ? piece.slice(begin - from, begin - from + bytes)
        : this.#bytes.toString('utf8', begin, begin + bytes);
      take(this.#headers[(at >> 2) + 1]! >>> 0, text);
      at += paddedLength(bytes);
    }
    return frames;
  }
}
