/**
 * Threads that write a journal or keys, archive, or take snapshots, for one folder of this process after another.
 *
 * A thread takes nearly all of its processor time to start, and a group of tests opens hundreds of folders. Imported by
 * `groups.ts`: a file that runs alone, and every process that a test starts, has threads as the product starts them.
 *
 * 1. A thread whose work has ended by closing its port waits for the next work of its kind. One that is terminated in
 *    the middle of its work, or has failed, is lost, as the product's are.
 * 2. One that does not begin, or does not end once its port is closed, is an error of its work after a bounded time.
 * 3. One that waits keeps no process alive.
 * 4. All threads are started from the files into which they were built (`fixtures/program.ts`).
 */
import { once, type EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import workerThreads, {
  MessageChannel,
  receiveMessageOnPort,
  Worker,
  type MessagePort,
  type WorkerOptions,
} from 'node:worker_threads';
import { builtProgram } from '../fixtures/program.ts';

export interface Work {
  readonly number: number;
  readonly file: string;
  readonly data: unknown;
  readonly port: MessagePort;
}

export interface Progress {
  readonly number: number;
  readonly kind: 'begun' | 'ended';
}

/** The class of Node; the name of the import stands for what takes its place below. */
const NodeWorker = Worker;

const KEPT = /\/(?:writer|keys-worker|archive-worker|snapshot-worker)\.\w+$/;
/** Those that wait for requests until they are terminated; each request has one answer. */
const TERMINATED_AT_REST = /\/snapshot-worker\.\w+$/;
/** After such a message a thread may leave files open. */
const FAULT = /^(?:BROKEN|FAILED|FULL|NOT_OPENED)$/;
/** Rule 2; a machine may be busy with other tests. */
const PATIENCE_MS = 120_000;

const folder = path.dirname(await builtProgram());
const entry = new URL('./kept-worker.ts', import.meta.url);
const waiting = new Map<string, Set<Worker>>();
let works = 0;

function takeWorker(file: string): Worker {
  const others = waiting.get(file) ?? new Set();
  waiting.set(file, others);
  for (const worker of others) {
    others.delete(worker);
    return worker;
  }
  const worker = new NodeWorker(entry, { execArgv: [] }).setMaxListeners(0);
  worker.unref();
  worker.on('exit', () => others.delete(worker));
  return worker;
}

function keptWorker(file: string, data: unknown): Worker {
  const node = takeWorker(file);
  const number = (works += 1);
  const { port1: own, port2: port } = new MessageChannel();
  let [requests, answers] = [0, 0];
  let isLost = false;
  let hasEnded = false;
  const worker: EventEmitter = Object.assign(Object.create(NodeWorker.prototype) as EventEmitter, {
    postMessage(message: unknown) {
      requests += 1;
      own.postMessage(message);
    },
    ref: () => own.ref(),
    unref: () => own.unref(),
    async terminate() {
      if (hasEnded) return 0;
      const isAtRest = TERMINATED_AT_REST.test(file) && answers > 0 && answers === requests;
      if (!isAtRest) return lose();
      const ended = once(worker, 'exit');
      own.close();
      await ended;
      return 0;
    },
  });
  Object.defineProperty(worker, 'threadId', { get: () => (hasEnded ? -1 : node.threadId) });
  const lose = (): Promise<number> => {
    isLost = true;
    return node.terminate();
  };
  const take = (message: unknown): void => {
    answers += 1;
    if (FAULT.test((message as { readonly kind?: string }).kind ?? '')) isLost = true;
    worker.emit('message', message);
  };
  const fail = (error: unknown): void => void worker.emit('error', error);
  const giveUpOn = (what: string): NodeJS.Timeout =>
    setTimeout(() => {
      fail(new Error(`a kept thread did not ${what} its work within ${PATIENCE_MS} ms: ${file}`));
      void lose();
    }, PATIENCE_MS).unref();
  const beginning = giveUpOn('begin');
  let ending: NodeJS.Timeout | undefined;
  /** What it posted comes before its end. */
  const takeAll = (): void => {
    for (let left; (left = receiveMessageOnPort(own) as { readonly message: unknown } | undefined);) {
      take(left.message);
    }
  };
  const end = (code: number): void => {
    clearTimeout(beginning);
    clearTimeout(ending);
    node.off('message', hear).off('error', fail).off('exit', die);
    own.close();
    hasEnded = true;
    worker.emit('exit', code);
  };
  const die = (code: number): void => {
    takeAll();
    if (answers === 0 && !isLost) fail(new Error(`a kept thread ended before its work: ${file}`));
    end(code);
  };
  const hear = (progress: Progress): void => {
    if (progress.number !== number) return;
    if (progress.kind === 'begun') return clearTimeout(beginning);
    takeAll();
    if (isLost) return void node.terminate();
    waiting.get(file)!.add(node);
    end(0);
  };
  own.on('message', take);
  own.once('close', () => {
    if (!hasEnded) ending = giveUpOn('end');
  });
  node.on('message', hear).on('error', fail).on('exit', die);
  node.postMessage({ number, file, data, port } satisfies Work, [port]);
  return worker as unknown as Worker;
}

/** In place of the class of Node, for modules that are imported from now on and for those that were before. */
function StartedWorker(file: string | URL, options: WorkerOptions = {}): Worker {
  const built = file instanceof URL ? path.join(folder, `${path.basename(fileURLToPath(file), '.ts')}.mjs`) : '';
  if (!existsSync(built)) return new NodeWorker(file, options);
  const { href } = pathToFileURL(built);
  return KEPT.test(href) ? keptWorker(href, options.workerData) : new NodeWorker(new URL(href), options);
}
StartedWorker.prototype = NodeWorker.prototype;

Object.assign(workerThreads, { Worker: StartedWorker });
syncBuiltinESMExports();
