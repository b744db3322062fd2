/**
 * Does the work of one thread after another: the entry of the threads of `kept-workers.ts`.
 *
 * The module of a thread is evaluated anew for each work, what it imports is kept. Its work has ended where the thread
 * would: when nothing is left to wait for.
 */
import { syncBuiltinESMExports } from 'node:module';
import workerThreads, { parentPort, type MessagePort } from 'node:worker_threads';

interface Work {
  readonly file: string;
  readonly data: unknown;
  readonly port: MessagePort;
}

const own = parentPort!;
let works = 0;
let port: MessagePort | null = null;

own.on('message', (work: Work) => {
  works += 1;
  port = work.port;
  Object.assign(workerThreads, { workerData: work.data, parentPort: port });
  syncBuiltinESMExports();
  own.unref();
  void import(`${work.file}?${works}`);
});

process.on('beforeExit', () => {
  port?.close();
  own.ref();
  own.postMessage('ended');
});
