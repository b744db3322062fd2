/**
 * The threads that answer requests, in a simulated sale: commands cross the real rings to the engine, and answers come
 * back. Both sides are in this thread.
 *
 * 1. Bells are rung as between threads, but whoever is rung goes on after a delay from the seed; so batches are of any
 *    size. Rings are small, so that they are full now and then and long texts go beside them.
 * 2. A turn is checked by the sale when the engine plays it. Each call is played as it was sent, and once.
 * 3. A thread that dies leaves what it had under way, at any moment: before it was published, in the ring, at the
 *    engine, on its way back. Another one comes in its place, with rings of its own.
 * 4. What goes wrong at the engine fails the sale; it is not packed for a caller that may be dead.
 */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { Overloaded } from '#actors/admission.ts';
import { createAnswers, type Answers } from '#threads/calls.ts';
import { makeBell, wasRung } from '#threads/doorbell.ts';
import type { EngineCalls } from '#threads/engine-calls.ts';
import { AnsweringSide, makeRings, openCalls, type LinkPace } from '#threads/sides.ts';
import { unpackCommand } from '#threads/packed-rush.ts';
import type { Chance } from './chance.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { EventPort, Found } from '#actors/event-port.ts';
import type { Command, CommandOf, Reply } from '#domain/command.ts';
import type { Refusal } from '#domain/refusal.ts';

type Answer = Promise<Reply | Refusal>;

/** A turn as it is played: what its client is answered, and what leaves the event. */
export interface Played {
  readonly answer: Answer;
  readonly left: Answer;
}

interface FrontsPorts {
  readonly chance: Chance;
  /** The events of the process as it is now. */
  readonly events: { byEventId(eventId: string): EventActor | null | Promise<EventActor | null> };
  schedule(afterMs: number, happen: () => void): void;
  count(what: string): void;
  fail(error: unknown): void;
  /** Notes that an event is being activated. */
  activating(activation: Promise<unknown>): void;
}

interface Call {
  readonly command: unknown;
  readonly play: (actor: EventActor, run: () => Played) => void;
  answer: Answer | null;
  isPlayed: boolean;
}

interface Front {
  readonly calls: EngineCalls;
  readonly bell: SharedArrayBuffer;
  readonly cut: () => void;
  /** What was sent and has not come to the engine, in its order. */
  readonly sent: Call[];
  /** Calls without an answer. */
  underWay: number;
  /** It dies when it sends the next time. */
  isDoomed: boolean;
}

interface WhoWaits {
  readonly bell: Int32Array;
  readonly wake: () => void;
}

const RING_BYTES = [512, 2_048, 8_192];
const DELAYS_MS = [0, 20, 400, 4_000];
const RESTART_MS_MAX = 5_000;

export class Fronts {
  readonly #ports: FrontsPorts;
  readonly #ringBytes: number;
  readonly #delayMs: number;
  readonly #framesAPassMax: number;
  /** By line; null while one is started again. */
  readonly #fronts: (Front | null)[];
  #side!: AnsweringSide;
  #engineBell!: SharedArrayBuffer;
  #waiting: WhoWaits[] = [];
  /** The call that is being taken at the engine. */
  #taken: Call | null = null;
  /** Counts the processes. */
  #generation = 0;

  constructor(ports: FrontsPorts) {
    const { chance } = ports;
    this.#ports = ports;
    this.#ringBytes = chance.pick(RING_BYTES);
    this.#delayMs = chance.pick(DELAYS_MS);
    this.#framesAPassMax = chance.pick([1, 2, 256]);
    this.#fronts = Array.from({ length: chance.between(1, 3) }, () => null);
    this.start();
  }

  /** Starts them, and the engine's side, for a new process; nothing is left of the one before. */
  start(): void {
    this.#generation += 1;
    this.#waiting = [];
    this.#engineBell = makeBell();
    this.#side = new AnsweringSide(this.#engineBell, undefined, this.#pace());
    for (const line of this.#fronts.keys()) this.#fronts[line] = this.#open();
  }

  /** Rule 1. */
  #pace(): LinkPace {
    const { chance } = this.#ports;
    const delay = (): number => chance.between(0, chance.percent(80) ? Math.min(5, this.#delayMs) : this.#delayMs);
    const later = (wake: () => void): void => this.#later(delay(), wake);
    return {
      framesAPassMax: this.#framesAPassMax,
      round: () => new Promise<void>((resolve) => later(resolve)),
      ring: (bell) => new Promise<void>((wake) => this.#waiting.push({ bell, wake: () => later(wake) })),
    };
  }

  /** Does something later, unless the process ends before. */
  #later(afterMs: number, happen: () => void): void {
    const generation = this.#generation;
    this.#ports.schedule(afterMs, () => {
      if (generation === this.#generation) happen();
    });
  }

  /** Has those go on later whose bell was rung. */
  noticeBells(): void {
    const rung = this.#waiting.filter(({ bell }) => wasRung(bell));
    this.#waiting = this.#waiting.filter((who) => !rung.includes(who));
    for (const { wake } of rung) wake();
  }

  #open(): Front {
    const rings = makeRings(this.#ringBytes);
    const sendLong = (take: (number: number, text: string) => void) => (number: number, text: string) => {
      this.#ports.count('beside the ring');
      this.#later(this.#ports.chance.between(0, 5), () => take(number, text));
    };
    let isAlive = true;
    const sent: Call[] = [];
    const connection = this.#side.connect(
      rings,
      this.#answersTo(sent),
      sendLong((number, text) => calls.take(number, text)),
    );
    const { calls } = openCalls({
      rings,
      engineBell: this.#engineBell,
      pace: this.#pace(),
      definitions: () => 0,
      isTiming: false,
      sendLong: sendLong((number, text) => {
        if (isAlive) connection.take(number, text);
      }),
    });
    const cut = (): void => {
      isAlive = false;
      connection.cut();
    };
    return { calls, bell: rings.bell, cut, sent, underWay: 0, isDoomed: false };
  }

  // ── asking ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Sends a command by a thread that lives; `play` has its turn played and checked. Without one the request is lost.
   */
  execute(eventId: string, command: Command, play: Call['play']): void {
    const living = this.#fronts.filter((front) => front !== null);
    if (living.length === 0) return this.#ports.count('no front');
    void this.#send(this.#ports.chance.pick(living), eventId, command, play);
  }

  async #send(front: Front, eventId: string, command: Command, play: Call['play']): Promise<void> {
    const call: Call = { command: plain(command), play, answer: null, isPlayed: false };
    front.underWay += 1;
    try {
      const event = (await front.calls.events.byEventId(eventId))!;
      // Its thread may have died since.
      if (!this.#fronts.includes(front)) return;
      front.sent.push(call);
      call.answer = event.execute(command as CommandOf<'PlaceHold'>) as Answer;
      this.#ports.count('by a front');
      if (front.isDoomed) this.#die(front);
      await call.answer;
    } catch (error) {
      // The sale looks at the answers to what was played.
      if (call.isPlayed) return;
      if (!(error instanceof Overloaded)) return this.#ports.fail(error);
      this.#ports.count('OVERLOADED');
    } finally {
      front.underWay -= 1;
    }
  }

  // ── dying ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** One of them dies, now or when it has just sent something (rule 3). */
  killOne(): void {
    const front = this.#ports.chance.pick(this.#fronts);
    if (front === null) return;
    if (this.#ports.chance.percent(50)) front.isDoomed = true;
    else this.#die(front);
  }

  #die(front: Front): void {
    const { chance, count } = this.#ports;
    count(front.underWay > 0 ? 'front died at work' : 'front died');
    front.cut();
    // What the engine had not taken is not done any more.
    front.sent.length = 0;
    this.#waiting = this.#waiting.filter(({ bell }) => bell.buffer !== front.bell);
    const line = this.#fronts.indexOf(front);
    this.#fronts[line] = null;
    this.#later(chance.between(50, RESTART_MS_MAX), () => (this.#fronts[line] = this.#open()));
  }

  /** Every call of one that lives was answered. */
  assertAnswered(): void {
    for (const front of this.#fronts) assert.equal(front?.underWay ?? 0, 0, 'every call is answered');
  }

  // ── the engine's side ──────────────────────────────────────────────────────────────────────────────────────────────

  #answersTo(sent: Call[]): Answers {
    const { events } = this.#ports;
    const found = {
      byEventId: (eventId: string): Found => {
        const call = this.#taken;
        const actor = events.byEventId(eventId);
        if (!(actor instanceof Promise)) return this.#portOf(actor!, call);
        this.#ports.activating(actor);
        return actor.then((active) => this.#portOf(active!, call));
      },
    };
    const unused = {} as Parameters<typeof createAnswers>[0];
    const answer = createAnswers({
      ...unused,
      deployment: { events: found } as unknown as (typeof unused)['deployment'],
      payments: {} as (typeof unused)['payments'],
      isTiming: false,
    });
    return (calls) => {
      for (const call of calls) {
        try {
          this.#taken = takeSent(sent, call.text);
        } catch (error) {
          this.#ports.fail(error);
        }
        answer([call]);
        this.#taken = null;
      }
    };
  }

  /** The event for a call; for one that only looks whether it is there, the event itself. */
  #portOf(actor: EventActor, call: Call | null): EventPort {
    if (call === null || actor.isRetired) return actor;
    const play = (run: () => Answer): void => {
      try {
        assert.ok(!call.isPlayed, 'a call is played once');
        call.isPlayed = true;
        call.play(actor, () => ({ answer: call.answer!, left: run() }));
      } catch (error) {
        this.#ports.fail(error);
      }
    };
    return {
      eventId: actor.eventId,
      execute: (command) => {
        let left!: Answer;
        play(() => (left = actor.execute(command as never)));
        return left as never;
      },
      executeThen: (command, answered, failed) =>
        play(
          () =>
            new Promise((resolve, reject) => {
              const give = (answer: Reply | Refusal): void => {
                resolve(answer);
                answered(answer);
              };
              const lose = (error: unknown): void => {
                reject(error as Error);
                failed(error);
              };
              actor.executeThen(command, give, lose);
            }),
        ),
      read: (query) => actor.read(query),
    };
  }
}

/** The call of a text, the first that was sent like this; null of one that looks for an event (rule 2). */
function takeSent(sent: Call[], text: string): Call | null {
  const rush = unpackCommand(text);
  const { kind, command } = rush === null ? JSON.parse(text) : { kind: 'command', command: plain(rush.command) };
  if (kind !== 'command') return null;
  const place = sent.findIndex((call) => isDeepStrictEqual(call.command, command));
  assert.notEqual(place, -1, `a call came twice, or not as it was sent: ${text}`);
  return sent.splice(place, 1)[0]!;
}

/** As a text carries it. */
function plain(command: Command): unknown {
  return JSON.parse(JSON.stringify(command));
}
