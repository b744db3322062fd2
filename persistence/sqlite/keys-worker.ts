/**
 * The entry of the thread that writes `keys.db`: it does one request after the other and answers each with its number.
 */
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { errorCode, messageOf } from '../faults.ts';
import { KEY_BYTES, KeysUnusable, KeyStoreFault, type Key } from '../keys.ts';
import { KeyFile, type KeyFileOptions } from './key-file.ts';

export type KeysRequest =
  | { readonly kind: 'STORE'; readonly ids: readonly string[]; readonly keys: Uint8Array }
  | { readonly kind: 'DESTROY'; readonly ids: readonly string[] }
  | { readonly kind: 'REMOVE'; readonly ids: readonly string[] }
  | { readonly kind: 'META'; readonly key: string; readonly value: string }
  | { readonly kind: 'CLOSE' };

export interface NumberedRequest {
  readonly number: number;
  readonly request: KeysRequest;
}

/** Errors lose their class between threads, so their fields are sent as plain data. */
export interface KeysFailure {
  readonly message: string;
  readonly hint: string;
  readonly isUnusable: boolean;
}

export type FromKeysWorker =
  | { readonly kind: 'READY'; readonly identity: { readonly keysId: string; readonly addressKey: Uint8Array } }
  | { readonly kind: 'NOT_OPENED'; readonly failure: KeysFailure }
  | { readonly kind: 'DONE'; readonly number: number }
  | { readonly kind: 'FAILED'; readonly number: number; readonly failure: KeysFailure };

/** The keys come as one piece: to copy each by itself to this thread takes longer than to make it. */
function keysOf({ ids, keys }: Extract<KeysRequest, { kind: 'STORE' }>): readonly Key[] {
  const bytes = Buffer.from(keys.buffer, keys.byteOffset, keys.byteLength);
  return ids.map((id, index) => ({ id, key: bytes.subarray(index * KEY_BYTES, (index + 1) * KEY_BYTES) }));
}

function run(file: KeyFile, request: KeysRequest): void {
  switch (request.kind) {
    case 'STORE':
      return file.store(keysOf(request));
    case 'DESTROY':
      return file.destroy(request.ids);
    case 'REMOVE':
      return file.remove(request.ids);
    case 'META':
      return file.setMeta(request.key, request.value);
    case 'CLOSE':
      return file.close();
  }
}

function failureOf(error: unknown): KeysFailure {
  const code = errorCode(error);
  const known = error instanceof KeyStoreFault || error instanceof KeysUnusable;
  return {
    message: known ? messageOf(error) : `keys.db cannot be written: ${messageOf(error)}${code && ` (${code})`}`,
    hint: known ? error.hint : 'Check the disk of the data folder, its room and its mount.',
    isUnusable: error instanceof KeysUnusable,
  };
}

function start(port: MessagePort): void {
  const post = (message: FromKeysWorker): void => port.postMessage(message);
  let file: KeyFile;
  try {
    const { path, ...options } = workerData as Pick<KeyFileOptions, 'busyWaitMs'> & { readonly path: string };
    file = new KeyFile(path, options);
    post({ kind: 'READY', identity: file.identity });
  } catch (error) {
    post({ kind: 'NOT_OPENED', failure: failureOf(error) });
    return port.close();
  }
  port.on('message', ({ number, request }: NumberedRequest) => {
    try {
      run(file, request);
      post({ kind: 'DONE', number });
    } catch (error) {
      post({ kind: 'FAILED', number, failure: failureOf(error) });
    }
    if (request.kind === 'CLOSE') port.close();
  });
}

if (parentPort === null) throw new Error('the writer of keys must run in a worker thread');
start(parentPort);
