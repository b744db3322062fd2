/**
 * Keys between the stream of a cluster and a file of keys, as a single machine has it.
 *
 * 1. A key that is destroyed while the stream is read is destroyed in the file too, so that its bytes are not in it.
 * 2. Destroyed keys stay named on both sides: a verification tells them from lost ones.
 * 3. A copy that fails leaves no file behind.
 */
import { dirname } from 'node:path';
import { removeIfPresent, syncFile, syncFolder } from '#persistence/files.ts';
import type { Key, KeysIdentity } from '#persistence/keys.ts';
import { KeyFile, KeyReader } from '#persistence/sqlite/key-file.ts';
import { batchesOf, placeOfKey, topicOf, type KeyBatch } from '#persistence/nats/keys/batches.ts';
import { readAllKeys, type KeysPart } from '#persistence/nats/keys/copy.ts';
import type { KeyLog } from '#persistence/key-log.ts';

/** Keys that are written with one fsync; some hundred kilobytes. */
const KEYS_AT_ONCE = 4_096;

/**
 * Writes all keys of a stream to a file that does not exist, which only its owner may read. Rejects with
 * LogUnreachable.
 */
export async function copyKeysToFile(log: KeyLog, identity: KeysIdentity, path: string): Promise<void> {
  try {
    const file = new CopiedKeys(path, identity);
    try {
      for await (const part of readAllKeys(log)) file.add(part);
      file.flush();
    } finally {
      file.close();
    }
    syncFile(path);
    syncFolder(dirname(path));
  } catch (error) {
    for (const suffix of ['', '-wal', '-shm']) removeIfPresent(path + suffix);
    throw error;
  }
}

/**
 * The keys of a file in whole batches, one of them in memory at a time; keys that `erasedIds` names are passed on as
 * destroyed. Throws BatchUnreadable for an id that no store gives.
 */
export function* batchesOfFile(reader: KeyReader, erasedIds: ReadonlySet<string>): Generator<KeyBatch> {
  let [keys, destroyedIds]: [Key[], string[]] = [[], []];
  let topic: string | null = null;
  for (const { id, key } of reader.inOrder()) {
    const place = placeOfKey(id);
    const next = place === null ? null : topicOf(place);
    if (next !== topic) {
      yield* batchesOf(keys, destroyedIds);
      [keys, destroyedIds, topic] = [[], [], next];
    }
    if (key === null || erasedIds.has(id)) destroyedIds.push(id);
    else keys.push({ id, key });
  }
  yield* batchesOf(keys, destroyedIds);
}

/** A file of keys in the making. */
class CopiedKeys {
  readonly #file: KeyFile;
  readonly #reader: KeyReader;
  readonly #keys = new Map<string, Key>();
  readonly #destroyed = new Set<string>();

  constructor(path: string, identity: KeysIdentity) {
    this.#file = new KeyFile(path, { identity });
    this.#reader = new KeyReader(path);
  }

  add({ keys, destroyedIds }: KeysPart): void {
    for (const key of keys) if (this.#reader.stateOf(key.id) === 'UNKNOWN') this.#keys.set(key.id, key);
    for (const id of destroyedIds) {
      this.#keys.delete(id);
      if (this.#reader.stateOf(id) !== 'DESTROYED') this.#destroyed.add(id);
    }
    if (this.#keys.size + this.#destroyed.size >= KEYS_AT_ONCE) this.flush();
  }

  flush(): void {
    for (const id of this.#destroyed) this.#keys.delete(id);
    this.#file.store([...this.#keys.values()]);
    this.#file.destroy([...this.#destroyed]);
    this.#keys.clear();
    this.#destroyed.clear();
  }

  close(): void {
    this.#reader.close();
    this.#file.close();
  }
}
