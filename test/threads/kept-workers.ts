/**
 * Threads that write a journal or keys, archive, or take snapshots, for one folder of this process after another.
 *
 * A thread takes nearly all of its processor time to start, and a group of tests opens hundreds of folders. Imported by
 * `groups.ts`: a file that runs alone, and every process that a test starts, has threads as the product starts them.
 *
 * 1. A thread whose work has ended waits for the next work of its kind. One that is terminated in the middle of its
 *    work, or fails, is lost, as the product's are.
 * 2. One that waits keeps no process alive.
 */
import { EventEmitter, once } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import workerThreads, { MessageChannel, receiveMessageOnPort, Worker, type WorkerOptions } from 'node:worker_threads';

/** The class of Node; the name of the import stands for what takes its place below. */
const NodeWorker = Worker;

const KEPT = /\/(?:writer|keys-worker|archive-worker|snapshot-worker)\.ts$/;
/** Those that wait for requests until they are terminated; each request has one answer. */
const TERMINATED_AT_REST = /\/snapshot-worker\.ts$/;

const entry = new URL('./kept-worker.ts', import.meta.url);
const waiting = new Map<string, Worker[]>();

function takeWorker(file: string): Worker {
  const known = waiting.get(file)?.pop();
  if (known !== undefined) return known;
  const worker = new NodeWorker(entry, { execArgv: [] }).setMaxListeners(0);
  worker.unref();
  worker.on('exit', () => {
    const others = waiting.get(file) ?? [];
    if (others.includes(worker)) others.splice(others.indexOf(worker), 1);
  });
  return worker;
}

function keptWorker(file: string, data: unknown): Worker {
  const node = takeWorker(file);
  const { port1: own, port2: port } = new MessageChannel();
  let requests = 0;
  let answers = 0;
  let hasEnded = false;
  const worker = Object.assign(new EventEmitter(), {
    postMessage(message: unknown) {
      requests += 1;
      own.postMessage(message);
    },
    ref: () => own.ref(),
    unref: () => own.unref(),
    async terminate() {
      if (hasEnded) return 0;
      const isAtRest = TERMINATED_AT_REST.test(file) && answers > 0 && answers === requests;
      if (!isAtRest) return node.terminate();
      const ended = once(worker, 'exit');
      own.close();
      await ended;
      return 0;
    },
  });
  Object.defineProperty(worker, 'threadId', { get: () => (hasEnded ? -1 : node.threadId) });
  const take = (message: unknown): void => {
    answers += 1;
    worker.emit('message', message);
  };
  const fail = (error: unknown): void => void worker.emit('error', error);
  const end = (code: number): void => {
    node.off('message', leave).off('error', fail).off('exit', end);
    // What it posted comes before its end.
    for (let left; (left = receiveMessageOnPort(own) as { readonly message: unknown } | undefined);) {
      take(left.message);
    }
    own.close();
    hasEnded = true;
    worker.emit('exit', code);
  };
  /** Rule 1. */
  const leave = (): void => {
    waiting.set(file, [...(waiting.get(file) ?? []), node]);
    end(0);
  };
  own.on('message', take);
  node.on('message', leave).on('error', fail).on('exit', end);
  node.postMessage({ file, data, port }, [port]);
  return worker as unknown as Worker;
}

/** In place of the class of Node, for modules that are imported from now on and for those that were before. */
function StartedWorker(file: string | URL, options: WorkerOptions = {}): Worker {
  if (!(file instanceof URL) || !KEPT.test(file.pathname)) return new NodeWorker(file, options);
  return keptWorker(file.href, options.workerData);
}
StartedWorker.prototype = NodeWorker.prototype;

Object.assign(workerThreads, { Worker: StartedWorker });
syncBuiltinESMExports();
