/** The secrets of the service: as configured, or made at first start and kept in the data folder, readable by its owner only. */
import { randomBytes } from 'node:crypto';
import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_MODE, makePrivateFolder, syncFolder } from '#persistence/files.ts';
import { TICKET_KEY } from '#tickets/signing.ts';

/** A kept secret is not what was written; nothing was changed. */
export class SecretDamaged extends Error {
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.name = 'SecretDamaged';
    this.hint = hint;
  }
}

export interface KeptSecret {
  readonly folder: string;
  readonly fileName: string;
  /** Comes before what is kept; null when it is not set. */
  readonly configured: string | null;
  /** What every such secret looks like. */
  readonly pattern: RegExp;
  make(): string;
}

/** At least 16 characters: a shorter one can be guessed. */
export const TOKEN = /^[\x21-\x7e]{16,512}$/;
/** Standard Webhooks' form, with at least 16 bytes. */
export const WEBHOOK_SECRET =
  /^whsec_(?=[A-Za-z0-9+/]{22})(?:[A-Za-z0-9+/]{4}){0,64}(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** The kinds of secrets: how one looks, and how one is made from 32 random bytes. */
export const SECRETS = {
  token: { pattern: TOKEN, make: makeToken },
  ticketKey: { pattern: TICKET_KEY, make: makeToken },
  webhook: { pattern: WEBHOOK_SECRET, make: () => `whsec_${randomBytes(32).toString('base64')}` },
} as const;

/** The secret as configured, as kept, or a new one. Throws SecretDamaged when what is kept is none. */
export function keptSecret({ folder, fileName, configured, pattern, make }: KeptSecret): string {
  if (configured !== null) return configured;
  const kept = readKept(folder, fileName);
  if (kept === null) return keep(folder, fileName, make());
  if (pattern.test(kept)) return kept;
  throw new SecretDamaged(
    `${join(folder, fileName)} is damaged: it does not hold such a secret`,
    `Bring ${fileName} back from a backup, or remove it: the next start makes a new one.`,
  );
}

/**
 * Holds a key against the fingerprint that was kept when it was made: a key in which a bit flipped is a key as well, and
 * would sign what no door believes. Throws SecretDamaged.
 */
export function confirmKey(folder: string, fileName: string, fingerprint: string): void {
  const markName = `${fileName}.fingerprint`;
  const kept = readKept(folder, markName);
  if (kept === null) keep(folder, markName, fingerprint);
  else if (kept !== fingerprint) {
    throw new SecretDamaged(
      `${join(folder, fileName)} is not the key that was kept here: its fingerprint is not the one in ${markName}`,
      `Bring both back from a backup. To sign with this key all the same remove ${markName}: doors then need its public half, and codes given out before are worth nothing.`,
    );
  }
}

/** What is kept in a file, whatever it looks like; null when there is none. */
export function peekSecret(folder: string, fileName: string): string | null {
  return readKept(folder, fileName);
}

function readKept(folder: string, fileName: string): string | null {
  try {
    return readFileSync(join(folder, fileName), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Writes a file whole or not at all. */
function keep(folder: string, fileName: string, text: string): string {
  makePrivateFolder(folder);
  const draft = join(folder, `${fileName}.tmp`);
  const file = openSync(draft, 'w', FILE_MODE);
  try {
    // A draft that a crash left may have other rights.
    fchmodSync(file, FILE_MODE);
    writeSync(file, `${text}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(draft, join(folder, fileName));
  syncFolder(folder);
  return text;
}

/** A bearer token or a seed: 32 random bytes in base64url. */
function makeToken(): string {
  return randomBytes(32).toString('base64url');
}
