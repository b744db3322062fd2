/** A link between two real threads: full rings on both sides, long texts, and threads that wait for each other. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { followBell, makeBell } from '#threads/doorbell.ts';
import { FrameLink } from '#threads/link.ts';
import { makeRing, RingReader } from '#threads/ring.ts';
import type { EchoData } from './echo-worker.ts';

interface Echo {
  /** Sends a text; resolves with what came back under its number. */
  call(text: string): Promise<string>;
  /** The most frames that ever waited for room. */
  readonly waitedMost: number;
  /** The numbers of the answers in the order in which they came. */
  readonly answered: readonly number[];
  /** Blocks this thread, so that answers wait for room. */
  block(ms: number): void;
}

async function withEcho(
  { ringBytes, framesAPause = 0 }: { readonly ringBytes: number; readonly framesAPause?: number },
  work: (echo: Echo) => Promise<void>,
): Promise<void> {
  const [calls, answers, callersBell, ownBell] = [makeRing(ringBytes), makeRing(ringBytes), makeBell(), makeBell()];
  const workerData: EchoData = { calls, answers, callersBell, ownBell, framesAPause };
  const worker = new Worker(new URL('./echo-worker.ts', import.meta.url), { workerData, execArgv: [] });
  const waiting = new Map<number, (text: string) => void>();
  const answered: number[] = [];
  const take = (number: number, text: string): void => {
    answered.push(number);
    waiting.get(number)!(text);
    waiting.delete(number);
  };
  const link = new FrameLink({
    incoming: answers,
    outgoing: calls,
    bell: new Int32Array(ownBell),
    isAnswering: false,
    take,
    sendLong: (number, text) => worker.postMessage([number, text]),
  });
  worker.on('message', ([number, text]: [number, string]) => take(number, text));
  const bell = followBell(new Int32Array(callersBell), { hasWork: () => link.hasWork(), work: () => link.work() });
  let number = 0;
  let waitedMost = 0;
  await work({
    call: (text) =>
      new Promise((resolve) => {
        number += 1;
        waiting.set(number, resolve);
        link.send(number, text, waiting.size === 1);
        waitedMost = Math.max(waitedMost, link.waiting);
      }),
    get waitedMost() {
      return waitedMost;
    },
    answered,
    block: (ms) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms),
  });
  bell.stop();
  worker.postMessage('end');
  await once(worker, 'exit');
}

describe('A link between two threads', () => {
  it('publishes what is sent in a pass in pieces that double, and the rest at its end', async () => {
    const [calls, answers, bell] = [makeRing(), makeRing(), new Int32Array(makeBell())];
    const unused = { bell, isAnswering: false, take: () => assert.fail(), sendLong: () => assert.fail() };
    const link = new FrameLink({ incoming: answers, outgoing: calls, ...unused });
    const reader = new RingReader(calls);
    const published = (): number => {
      let frames = 0;
      reader.drain(Infinity, () => (frames += 1));
      return frames;
    };
    const seen: number[] = [];
    link.send(0, 'alone', true);
    seen.push(published());
    for (let n = 1; n <= 70; n += 1) link.send(n, 'call');
    seen.push(published());
    await nextRound();
    assert.deepEqual([...seen, published(), link.publications], [1, 56, 14, 5]);
  });

  it('counts a text that goes beside the ring as published', () => {
    const sent: number[] = [];
    const unused = { bell: new Int32Array(makeBell()), isAnswering: false, take: () => assert.fail() };
    const rings = { incoming: makeRing(), outgoing: makeRing(4_096) };
    const link = new FrameLink({ ...rings, ...unused, sendLong: (number) => void sent.push(number) });
    for (const number of [1, 2]) link.send(number, 'x'.repeat(4_096), true);
    assert.deepEqual([sent, link.publications], [[1, 2], 2]);
  });

  it('answers calls one after the other, each side waiting for the other', async () => {
    await withEcho({ ringBytes: 4_096 }, async (echo) => {
      for (let n = 0; n < 500; n += 1) assert.equal(await echo.call(`call ${n} ä€😀`), `call ${n} ä€😀`);
    });
  });

  it('loses nothing and keeps the order while both rings are full again and again', async () => {
    await withEcho({ ringBytes: 4_096, framesAPause: 500 }, async (echo) => {
      const calls: Promise<void>[] = [];
      for (let n = 0; n < 20_000; n += 1) {
        const text = `${n} `.padEnd(20 + (n % 300), 'x');
        calls.push(echo.call(text).then((answer) => assert.equal(answer, text)));
        if (n % 2_000 === 0) await nextRound();
        // Meanwhile the answers wait for room, and the other side takes no more calls.
        if (n % 5_000 === 0) echo.block(5);
      }
      await Promise.all(calls);
      assert.ok(echo.waitedMost > 1_000, `${echo.waitedMost} waited`);
      assert.deepEqual(
        echo.answered,
        Array.from({ length: 20_000 }, (_, index) => index + 1),
      );
    });
  });

  it('carries texts that are longer than the ring', async () => {
    await withEcho({ ringBytes: 1_024 }, async (echo) => {
      const long = 'long '.repeat(10_000);
      const answers = await Promise.all([echo.call('short'), echo.call(long), echo.call('short again')]);
      assert.deepEqual(answers, ['short', long, 'short again']);
    });
  });
});
