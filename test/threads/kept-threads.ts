/**
 * Threads that answer buyers for one service of this process after another.
 *
 * A thread takes most of its processor time to import its modules, and a file of `test/api` opens many services. What a
 * thread's start and its end are like is tested where threads are opened as the product opens them: where
 * `service/http-threads.test.ts` asks for it, and by every process of its own.
 *
 * 1. A thread whose service has closed it waits for the next service. One that is ended before, or ends by itself, is
 *    lost, as the product's are.
 * 2. One that waits keeps no process alive.
 */
import { EventEmitter } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import type { StartThread, Thread } from '#service/http-threads.ts';
import type { FromThread } from '#service/thread-messages.ts';

const waiting: Worker[] = [];

function takeWorker(): Worker {
  const worker =
    waiting.pop() ?? new Worker(new URL('./kept-thread.ts', import.meta.url), { execArgv: [] }).setMaxListeners(0);
  worker.unref();
  return worker;
}

export const startKeptThread: StartThread = (data) => {
  const worker = takeWorker();
  const { port1: own, port2: port } = new MessageChannel();
  let isClosed = false;
  const thread = Object.assign(new EventEmitter(), {
    postMessage: own.postMessage.bind(own),
    /** Rule 1. */
    async terminate(): Promise<number> {
      if (!isClosed) return worker.terminate();
      leave();
      waiting.push(worker);
      return 0;
    },
  });
  const fail = (error: unknown): void => void thread.emit('error', error);
  const leave = (): void => {
    own.close();
    worker.off('error', fail).off('exit', leave);
    thread.emit('exit');
  };
  worker.on('error', fail).on('exit', leave);
  own.on('message', (message: FromThread) => {
    isClosed ||= message.kind === 'closed';
    thread.emit('message', message);
  });
  worker.postMessage({ data, port }, [port]);
  return thread as unknown as Thread;
};
