/**
 * Two rings between two threads as one link: what one side sends the other one takes, in order, nothing is lost while
 * both live.
 *
 * 1. What is sent in one pass of the event loop is published in pieces, each twice as long as the piece before, and at
 *    the end of the pass. So the other side starts early in a pass of many requests, which takes milliseconds, and
 *    still gets large batches.
 * 2. What finds no room waits in a queue of this side and goes first. Its bound is the sender's: calls that are under
 *    way. The side that answers takes nothing more while its answers wait, so that calls stay in the ring, and their
 *    callers learn of it; the side that calls goes on taking answers, so that one of both always goes on.
 * 3. A text that is too long for the ring goes beside it and may overtake others: every answer has a number.
 * 4. A pass takes a limited number of frames, so that the thread's other work has its turn.
 */
import { ringBell } from './doorbell.ts';
import { RingReader, RingWriter } from './ring.ts';

/** Rule 1: the frames of the first piece. */
const FIRST_PIECE = 8;

/** Rule 4: about a millisecond of turns. */
const FRAMES_A_PASS_MAX = 256;

export interface LinkPorts {
  readonly incoming: SharedArrayBuffer;
  readonly outgoing: SharedArrayBuffer;
  /** The bell of the other side. */
  readonly bell: Int32Array;
  /** Whether this side answers, and so waits while it cannot send (rule 2). */
  readonly isAnswering: boolean;
  /** Rule 4; a simulation takes fewer. */
  readonly framesAPassMax?: number | undefined;
  take(number: number, text: string): void;
  /** The frames of a pass were all handed over. */
  taken?(): void;
  /** Sends beside the ring (rule 3). */
  sendLong(number: number, text: string): void;
}

export class FrameLink {
  readonly #ports: LinkPorts;
  readonly #reader: RingReader;
  readonly #writer: RingWriter;
  /** What waits for room. */
  #line: (readonly [number: number, text: string])[] = [];
  #isPublishDue = false;
  /** Frames that wait to be published. */
  #unpublished = 0;
  /** How many of them are published together next (rule 1). */
  #piece = FIRST_PIECE;
  /** How often a text was sent beside the ring (rule 3). */
  #sentBeside = 0;
  /** Whether frames are being taken; what is sent meanwhile is published after them. */
  #isTaking = false;

  constructor(ports: LinkPorts) {
    this.#ports = ports;
    this.#reader = new RingReader(ports.incoming);
    this.#writer = new RingWriter(ports.outgoing);
  }

  /** Frames that wait for room. */
  get waiting(): number {
    return this.#line.length;
  }

  /** How often something became visible to the other side: frames that were published, or a text beside the ring. */
  get publications(): number {
    return this.#writer.publications + this.#sentBeside;
  }

  /** Sends with the others of this pass, or at once where there are no others. */
  send(number: number, text: string, isAlone = false): void {
    if (this.#line.length > 0 || !this.#write(number, text)) {
      this.#line.push([number, text]);
      return;
    }
    if (this.#isTaking) return;
    if (isAlone) return this.#publish();
    this.#unpublished += 1;
    if (!this.#isPublishDue) {
      this.#isPublishDue = true;
      setImmediate(() => {
        this.#isPublishDue = false;
        this.#piece = FIRST_PIECE;
        this.#publish();
      });
    }
    if (this.#unpublished < this.#piece) return;
    this.#piece *= 2;
    this.#publish();
  }

  hasWork(): boolean {
    if (this.#line.length > 0) {
      if (this.#writer.hasRoomFor(this.#line[0]![1])) return true;
      if (this.#ports.isAnswering) return false;
    }
    return this.#reader.hasFrames;
  }

  work(): void {
    const { isAnswering, bell, take, taken, framesAPassMax = FRAMES_A_PASS_MAX } = this.#ports;
    this.#sendLine();
    if (isAnswering && this.#line.length > 0) return;
    this.#isTaking = true;
    const isRoomWaitedFor = this.#reader.drain(framesAPassMax, take);
    taken?.();
    this.#isTaking = false;
    if (isRoomWaitedFor) ringBell(bell);
    this.#publish();
  }

  #sendLine(): void {
    let sent = 0;
    while (sent < this.#line.length && this.#write(...this.#line[sent]!)) sent += 1;
    if (sent === 0) return;
    this.#line = this.#line.slice(sent);
    this.#publish();
  }

  /** False where it has to wait for room; the other side is rung, because it may wait for what is there. */
  #write(number: number, text: string): boolean {
    switch (this.#writer.write(number, text)) {
      case 'WRITTEN':
        return true;
      case 'TOO_LONG':
        this.#ports.sendLong(number, text);
        this.#sentBeside += 1;
        return true;
      case 'NO_ROOM':
        ringBell(this.#ports.bell);
        return false;
    }
  }

  #publish(): void {
    this.#unpublished = 0;
    if (this.#writer.publish()) ringBell(this.#ports.bell);
  }
}
