/**
 * The keys of a data folder that is only read, for commands of the command line; a service may run on the folder
 * meanwhile.
 *
 * Every read is a statement of its own, so that the service can fold the log of the keys between two of them. A folder
 * without a file of keys has none: what is sealed reads as erased there.
 */
import { existsSync } from 'node:fs';
import type { KeyStore } from '#persistence/keys.ts';
import { KeyReader, keysPath } from '#persistence/sqlite/key-file.ts';

export interface KeysOnDisk extends Pick<KeyStore, 'read'> {
  /** Null where the folder has no keys. */
  readonly addressKey: Buffer | null;
  stateOf(id: string): ReturnType<KeyReader['stateOf']>;
  close(): void;
}

/** Opens the keys of a folder for reading. Throws KeysUnusable when they cannot be read. */
export function openKeysOnDisk(folder: string): KeysOnDisk {
  const path = keysPath(folder);
  if (!existsSync(path)) {
    return { addressKey: null, stateOf: () => 'UNKNOWN', read: () => Promise.resolve(new Map()), close: () => {} };
  }
  const reader = new KeyReader(path);
  return {
    addressKey: reader.identity.addressKey,
    stateOf: (id) => reader.stateOf(id),
    read: (ids) => Promise.resolve(reader.read(ids)),
    close: () => reader.close(),
  };
}
