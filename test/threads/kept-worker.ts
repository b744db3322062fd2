/**
 * Does the work of one thread after another: the entry of the threads of `kept-workers.ts`.
 *
 * The module of a thread is evaluated anew for each work, what it imports is kept. A work has ended when its port is
 * closed, by itself or by the other side; that is said by the number of the work.
 */
import { syncBuiltinESMExports } from 'node:module';
import workerThreads, { parentPort } from 'node:worker_threads';
import type { Progress, Work } from './kept-workers.ts';

const own = parentPort!;
const say = (progress: Progress): void => own.postMessage(progress);

own.on('message', ({ number, file, data, port }: Work) => {
  say({ number, kind: 'begun' });
  port.once('close', () => say({ number, kind: 'ended' }));
  Object.assign(workerThreads, { workerData: data, parentPort: port });
  syncBuiltinESMExports();
  void import(`${file}?${number}`);
});
