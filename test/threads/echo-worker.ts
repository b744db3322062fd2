/** Answers each frame of a link with its own text, as slowly as it is told. */
import { parentPort, workerData } from 'node:worker_threads';
import { followBell } from '#threads/doorbell.ts';
import { FrameLink } from '#threads/link.ts';

export interface EchoData {
  readonly calls: SharedArrayBuffer;
  readonly answers: SharedArrayBuffer;
  readonly callersBell: SharedArrayBuffer;
  readonly ownBell: SharedArrayBuffer;
  /** Frames between two pauses of a millisecond; 0 for none. */
  readonly framesAPause: number;
}

const { calls, answers, callersBell, ownBell, framesAPause } = workerData as EchoData;
let taken = 0;
const link: FrameLink = new FrameLink({
  incoming: calls,
  outgoing: answers,
  bell: new Int32Array(callersBell),
  isAnswering: true,
  take(number, text) {
    taken += 1;
    if (framesAPause > 0 && taken % framesAPause === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    link.send(number, text);
  },
  sendLong: (number, text) => parentPort!.postMessage([number, text]),
});
const bell = followBell(new Int32Array(ownBell), { hasWork: () => link.hasWork(), work: () => link.work() });
parentPort!.on('message', (message: readonly [number, string] | 'end') => {
  if (message !== 'end') return link.send(...message);
  bell.stop();
  parentPort!.close();
});
