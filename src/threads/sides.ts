/**
 * The two sides of the calls between threads, over links of rings: the engine's side, which answers every connected
 * thread, and the side of a thread that asks.
 *
 * 1. The engine's thread has one bell for everybody that asks it.
 * 2. Who is cut off gets nothing more and is asked for nothing more: calls that the engine has taken are done without
 *    an answer, the others are not done.
 */
import type { Answers, TakenCall } from './calls.ts';
import { followBell, makeBell, type Pauses } from './doorbell.ts';
import { EngineCalls, type EngineCallsPorts } from './engine-calls.ts';
import { FrameLink, type LinkPorts } from './link.ts';
import { makeRing } from './ring.ts';

/** The shared memory between the engine's thread and one that asks. */
export interface Rings {
  readonly calls: SharedArrayBuffer;
  readonly answers: SharedArrayBuffer;
  /** The bell of the thread that asks. */
  readonly bell: SharedArrayBuffer;
}

export function makeRings(capacity?: number): Rings {
  return { calls: makeRing(capacity), answers: makeRing(capacity), bell: makeBell() };
}

/** How both sides wait, and what they take in a pass; a simulation has its own. */
export interface LinkPace extends Pauses {
  readonly framesAPassMax: number;
}

/** The link to a thread that asks. */
interface Connection {
  /** A call that came beside the ring. */
  take(number: number, text: string): void;
  /** Rule 2. */
  cut(): void;
}

export class AnsweringSide {
  readonly #links = new Set<FrameLink>();
  readonly #pace: LinkPace | undefined;
  readonly #bell: { stop(): void };
  #underWay = 0;

  /** `pass` does the calls that one of the asking threads has sent. */
  constructor(bell: SharedArrayBuffer, pass: (calls: () => void) => void = (calls) => calls(), pace?: LinkPace) {
    this.#pace = pace;
    const hasWork = (): boolean => {
      for (const link of this.#links) if (link.hasWork()) return true;
      return false;
    };
    const work = (): void => {
      for (const link of this.#links) if (link.hasWork()) pass(() => link.work());
    };
    this.#bell = followBell(new Int32Array(bell), { hasWork, work }, pace);
  }

  connect(rings: Rings, answer: Answers, sendLong: LinkPorts['sendLong']): Connection {
    let isCut = false;
    let calls: TakenCall[] = [];
    const take = (number: number, text: string): void => {
      if (isCut) return;
      this.#underWay += 1;
      const done = (packed: string): void => {
        this.#underWay -= 1;
        if (!isCut) link.send(number, packed, this.#underWay === 0);
      };
      calls.push({ text, done });
    };
    const taken = (): void => {
      const together = calls;
      calls = [];
      if (together.length > 0) answer(together);
    };
    const link: FrameLink = new FrameLink({
      incoming: rings.calls,
      outgoing: rings.answers,
      bell: new Int32Array(rings.bell),
      isAnswering: true,
      framesAPassMax: this.#pace?.framesAPassMax,
      take,
      taken,
      sendLong,
    });
    this.#links.add(link);
    const cut = (): void => {
      isCut = true;
      this.#links.delete(link);
    };
    const takeAlone = (number: number, text: string): void => {
      take(number, text);
      taken();
    };
    return { take: takeAlone, cut };
  }

  stop(): void {
    this.#bell.stop();
  }
}

interface AskingPorts extends Omit<EngineCallsPorts, 'send' | 'publications'>, Pick<LinkPorts, 'sendLong'> {
  readonly rings: Rings;
  readonly engineBell: SharedArrayBuffer;
  readonly pace?: LinkPace;
}

/** Calls to the engine over rings; an answer that came beside them is given to `calls.take`. */
export function openCalls({ rings, engineBell, pace, sendLong, ...about }: AskingPorts) {
  const calls: EngineCalls = new EngineCalls({
    ...about,
    send: (number, text, isAlone) => link.send(number, text, isAlone),
    publications: () => link.publications,
  });
  const link: FrameLink = new FrameLink({
    incoming: rings.answers,
    outgoing: rings.calls,
    bell: new Int32Array(engineBell),
    isAnswering: false,
    framesAPassMax: pace?.framesAPassMax,
    take: (number, text) => calls.take(number, text),
    sendLong,
  });
  const work = { hasWork: () => link.hasWork(), work: () => link.work() };
  const { stop } = followBell(new Int32Array(rings.bell), work, pace);
  return { calls, stop };
}
