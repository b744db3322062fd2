import { randomBytes } from 'node:crypto';
import { mkdirSync, openSync, writeSync, fsyncSync, closeSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A secret of the service: as configured, or made at first start and kept in the data folder, readable by its owner only. */
export function keptSecret(folder: string, fileName: string, configured: string | null, make: () => string): string {
  if (configured !== null) return configured;
  const path = join(folder, fileName);
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  const secret = make();
  mkdirSync(folder, { recursive: true });
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, `${secret}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  return secret;
}

/** A bearer token: 32 random bytes in base64url. */
export function makeToken(): string {
  return randomBytes(32).toString('base64url');
}

/** A signing secret in the form that Standard Webhooks gives it. */
export function makeWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
