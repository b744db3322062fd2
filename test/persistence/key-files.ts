/** What tests of key files share: keys that are known from their ids, and the bytes of all files of keys. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A key made from its id, so that a test can look for it without having kept it. */
export function keyOf(id: string): Buffer {
  return createHash('sha256').update(`key of ${id}`).digest();
}

/**
 * keys.db with its log and shared memory, as they are on the disk. A process that serves must not call it: it would
 * drop SQLite's locks.
 */
export function rawKeyFiles(folder: string): Buffer {
  return Buffer.concat(
    readdirSync(folder)
      .filter((name) => name.startsWith('keys.db'))
      .map((name) => readFileSync(join(folder, name))),
  );
}
