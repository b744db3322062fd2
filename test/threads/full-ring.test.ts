/**
 * Rings that are full again and again: threads that ask faster than the engine takes, texts longer than what is free,
 * answers that nobody takes, and threads that die meanwhile. Each side goes on when the property says so.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import type { TakenCall } from '#threads/calls.ts';
import { makeBell, wasRung } from '#threads/doorbell.ts';
import { AnsweringSide, makeRings, openCalls, type LinkPace } from '#threads/sides.ts';
import { fc } from '../property.ts';

/** A frame has a quarter of it at most. */
const RING_BYTES = 2_048;
/** Where a ring says that its writer waits for room. */
const WAITS = 32;

/** A side that takes its next pass when it is told to. */
function paceByHand(framesAPassMax: number): LinkPace & { go(): void } {
  let rounds: (() => void)[] = [];
  let waiting: { readonly bell: Int32Array; readonly wake: () => void }[] = [];
  return {
    framesAPassMax,
    round: () => new Promise<void>((resolve) => rounds.push(resolve)),
    ring: (bell) => new Promise<void>((wake) => waiting.push({ bell, wake })),
    go() {
      const due = rounds;
      const rung = waiting.filter(({ bell }) => wasRung(bell));
      rounds = [];
      waiting = waiting.filter((who) => !rung.includes(who));
      for (const wake of [...due, ...rung.map((who) => who.wake)]) wake();
    },
  };
}

type Front = ReturnType<World['open']>;

const seen = { callsFull: 0, answersFull: 0, beside: 0, diedFull: 0 };

class World {
  readonly #bell = makeBell();
  readonly #pace: ReturnType<typeof paceByHand>;
  readonly #side: AnsweringSide;
  readonly fronts: Front[];
  #unanswered: (() => void)[] = [];
  /** What goes beside the rings and has not come. */
  #beside: (() => void)[] = [];
  #sent = 0;

  constructor(framesAPassMax: number) {
    this.#pace = paceByHand(framesAPassMax);
    this.#side = new AnsweringSide(this.#bell, undefined, this.#pace);
    this.fronts = [this.open(), this.open()];
  }

  open() {
    const rings = makeRings(RING_BYTES);
    const pace = paceByHand(3);
    /** The texts that the engine has not taken, in their order, and those that went beside the ring. */
    const front = { rings, pace, sent: [] as string[], long: new Set<string>(), isAlive: true, asked: 0, answered: 0 };
    const answer = ({ text, done }: TakenCall): void => {
      assert.ok(front.isAlive, 'nothing is taken of one that died');
      const { args } = JSON.parse(text) as { readonly args: readonly [string, string] };
      if (!front.long.delete(args[1])) assert.equal(front.sent.shift(), args[1], 'calls are taken in order, each once');
      this.#unanswered.push(() => done(`0,${JSON.stringify(args[1])}]`));
    };
    const beside = (take: (number: number, text: string) => void) => (number: number, text: string) => {
      seen.beside += 1;
      this.#beside.push(() => take(number, text));
    };
    const connection = this.#side.connect(
      rings,
      (taken) => taken.forEach(answer),
      beside((number, text) => {
        if (front.isAlive) calls.take(number, text);
      }),
    );
    const { calls } = openCalls({
      rings,
      engineBell: this.#bell,
      pace,
      definitions: () => 0,
      isTiming: false,
      sendLong: beside((number, text) => connection.take(number, text)),
    });
    return { ...front, front, calls, cut: connection.cut };
  }

  send({ front, calls }: Front, texts: readonly string[]): void {
    for (const text of texts) {
      const own = `${(this.#sent += 1)} ${text}`;
      const length = Buffer.byteLength(JSON.stringify({ kind: 'service', name: 'find', args: ['slug', own] }));
      if (((length + 3) & ~3) + 8 > RING_BYTES / 4) front.long.add(own);
      else front.sent.push(own);
      front.asked += 1;
      void calls.ask('find', ['slug', own]).then((answer) => {
        assert.ok(front.isAlive, 'one that died is answered nothing');
        assert.equal(answer, own);
        front.answered += 1;
      });
    }
    if (new Int32Array(front.rings.calls)[WAITS] === 1) seen.callsFull += 1;
  }

  answer(count: number): void {
    for (const done of this.#unanswered.splice(0, count)) done();
    for (const { front } of this.fronts) if (new Int32Array(front.rings.answers)[WAITS] === 1) seen.answersFull += 1;
  }

  goOn(): void {
    this.#pace.go();
    for (const come of this.#beside.splice(0)) come();
  }

  /** Another one comes in its place. */
  die(index: number): void {
    const { front, cut } = this.fronts[index]!;
    if (new Int32Array(front.rings.calls)[WAITS] === 1) seen.diedFull += 1;
    front.isAlive = false;
    cut();
    this.fronts[index] = this.open();
  }

  /** Everybody goes on until nothing is under way. */
  async end(): Promise<void> {
    const isUnderWay = (): boolean => this.fronts.some(({ front }) => front.answered < front.asked);
    for (let rounds = 0; isUnderWay(); rounds += 1) {
      assert.ok(rounds < 1_000, 'every call of one that lives is answered');
      this.goOn();
      this.answer(1_000);
      for (const { front } of this.fronts) front.pace.go();
      await nextRound();
    }
    this.#side.stop();
  }
}

const text = fc.oneof(
  { weight: 6, arbitrary: fc.string({ unit: 'grapheme', maxLength: 80 }) },
  { weight: 1, arbitrary: fc.string({ minLength: 500, maxLength: 900 }) },
);
const index = fc.nat(1);
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      index,
      texts: fc.array(text, { maxLength: 25, size: 'max' }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('engine' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('front' as const), index }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('answer' as const), count: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('die' as const), index }) },
);

describe('Full rings', () => {
  it('lose nothing, keep the order, and take nothing of a thread that died', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(1, 3, 256),
        fc.array(step, { maxLength: 60, size: 'max' }),
        async (framesAPassMax, steps) => {
          const world = new World(framesAPassMax);
          for (const each of steps) {
            if (each.kind === 'send') world.send(world.fronts[each.index]!, each.texts);
            else if (each.kind === 'engine') world.goOn();
            else if (each.kind === 'front') world.fronts[each.index]!.front.pace.go();
            else if (each.kind === 'answer') world.answer(each.count);
            else world.die(each.index);
            await nextRound();
          }
          await world.end();
        },
      ),
      { numRuns: 40 },
    );
    for (const [what, count] of Object.entries(seen)) assert.ok(count > 0, `the property met: ${what}`);
  });
});
