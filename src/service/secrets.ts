/**
 * The secrets of the service: configured, or made at the first start and kept in the data folder, readable by its owner
 * only.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fchmodSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { FILE_MODE, makePrivateFolder, syncFolder } from '#persistence/files.ts';
import { createTicketSigner, TICKET_KEY, type TicketSigner } from '#tickets/signing.ts';

/** A secret in the data folder is not as it was written. Nothing was changed. */
export class SecretDamaged extends Error {
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.name = 'SecretDamaged';
    this.hint = hint;
  }
}

interface StoredSecret {
  readonly folder: string;
  readonly fileName: string;
  /** Takes precedence over the file; null when it is not set. */
  readonly configured: string | null;
  /** Matches every secret of this kind. */
  readonly pattern: RegExp;
  make(): string;
}

/** At least 16 characters: a shorter one can be guessed. */
export const TOKEN = /^[\x21-\x7e]{16,512}$/;
/** Standard Webhooks' form, with at least 16 bytes. */
export const WEBHOOK_SECRET =
  /^whsec_(?=[A-Za-z0-9+/]{22})(?:[A-Za-z0-9+/]{4}){0,64}(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/;

/** The kinds of secrets; a new one is made from 32 random bytes. */
export const SECRETS = {
  token: { pattern: TOKEN, make: makeToken },
  ticketKey: { pattern: TICKET_KEY, make: makeToken },
  webhook: { pattern: WEBHOOK_SECRET, make: () => `whsec_${randomBytes(32).toString('base64')}` },
} as const;

const ADMIN_TOKEN_FILE = 'admin-token';
const TICKET_KEY_FILE = 'ticket-key';
const WEBHOOK_SECRET_FILES = { provider_a: 'webhook-secret-a', provider_b: 'webhook-secret-b' } as const;

/** The files of a data folder that hold secrets, and what each of them is. */
export const SECRET_FILES: Readonly<Record<string, string>> = {
  [ADMIN_TOKEN_FILE]: "the operators' token",
  [TICKET_KEY_FILE]: 'the key that signs tickets',
  [WEBHOOK_SECRET_FILES.provider_a]: 'the secret of webhooks of provider A',
  [WEBHOOK_SECRET_FILES.provider_b]: 'the secret of webhooks of provider B',
};

/** The settings that hold secrets; null where one is not set. */
interface SecretSettings {
  readonly dataDir: string;
  readonly adminToken: string | null;
  readonly ticketKeys: readonly [string, ...string[]] | null;
  readonly webhookSecretA: string | null;
  readonly webhookSecretB: string | null;
}

export interface ServiceSecrets {
  readonly adminToken: string;
  /** Where the admin token is from: the setting, or a file of the data folder that is kept or new. */
  readonly adminTokenFrom: string;
  readonly tickets: TicketSigner;
  readonly webhooks: Readonly<Record<keyof typeof WEBHOOK_SECRET_FILES, string>>;
}

interface SecretsLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
}

/** All secrets of the service; those that are not configured are made at the first start. Throws SecretDamaged. */
export function openSecrets(settings: SecretSettings, log: SecretsLog): ServiceSecrets {
  const { dataDir: folder, adminToken, webhookSecretA, webhookSecretB } = settings;
  const wasKept = peekSecret(folder, ADMIN_TOKEN_FILE) !== null;
  const token = keptSecret({ folder, fileName: ADMIN_TOKEN_FILE, configured: adminToken, ...SECRETS.token });
  const file = join(folder, ADMIN_TOKEN_FILE);
  const webhookSecret = (name: keyof typeof WEBHOOK_SECRET_FILES, configured: string | null): string =>
    keptSecret({ folder, fileName: WEBHOOK_SECRET_FILES[name], configured, ...SECRETS.webhook });
  return {
    adminToken: token,
    adminTokenFrom: adminToken !== null ? 'ADMIN_TOKEN' : `${file}, ${wasKept ? 'kept' : 'new'}`,
    webhooks: {
      provider_a: webhookSecret('provider_a', webhookSecretA),
      provider_b: webhookSecret('provider_b', webhookSecretB),
    },
    tickets: openTicketSigner(settings, log),
  };
}

/** A kept key that TICKET_KEY no longer lists is reported: codes that it signed cannot be checked. */
function openTicketSigner({ dataDir, ticketKeys }: SecretSettings, log: SecretsLog): TicketSigner {
  if (ticketKeys !== null) {
    const former = peekSecret(dataDir, TICKET_KEY_FILE);
    if (former !== null && !ticketKeys.includes(former)) {
      log.warn(
        { path: join(dataDir, TICKET_KEY_FILE) },
        'TICKET_KEY does not list the key that is kept here: codes that it signed cannot be checked',
      );
    }
    return createTicketSigner(ticketKeys);
  }
  const kept = { folder: dataDir, fileName: TICKET_KEY_FILE, configured: null, ...SECRETS.ticketKey };
  const signer = createTicketSigner([keptSecret(kept)]);
  confirmKey(dataDir, TICKET_KEY_FILE, signer.keys[0].kid);
  return signer;
}

/** The configured secret, the kept one, or a new one. Throws SecretDamaged when the file has no such secret. */
export function keptSecret({ configured, make, ...stored }: StoredSecret): string {
  return configured ?? readSecret(stored) ?? keep(stored.folder, stored.fileName, make());
}

/** The kept secret; null where there is none. Throws SecretDamaged when the file has no such secret. */
function readSecret({
  folder,
  fileName,
  pattern,
}: Pick<StoredSecret, 'folder' | 'fileName' | 'pattern'>): string | null {
  const kept = peekSecret(folder, fileName);
  if (kept === null || pattern.test(kept)) return kept;
  throw new SecretDamaged(
    `${join(folder, fileName)} is damaged: it does not hold such a secret`,
    `Bring ${fileName} back from a backup, or remove it: the next start makes a new one.`,
  );
}

/** The secrets of a data folder that a start would refuse. Only reads. */
export function damagedSecrets(folder: string): readonly SecretDamaged[] {
  const { token, ticketKey, webhook } = SECRETS;
  const kinds: Readonly<Record<string, { readonly pattern: RegExp }>> = {
    [ADMIN_TOKEN_FILE]: token,
    [TICKET_KEY_FILE]: ticketKey,
  };
  return Object.keys(SECRET_FILES).flatMap((fileName) => {
    try {
      const kept = readSecret({ folder, fileName, ...(kinds[fileName] ?? webhook) });
      if (fileName !== TICKET_KEY_FILE || kept === null || peekSecret(folder, markOf(fileName)) === null) return [];
      confirmKey(folder, fileName, createTicketSigner([kept]).keys[0].kid);
      return [];
    } catch (error) {
      if (error instanceof SecretDamaged) return [error];
      throw error;
    }
  });
}

/**
 * Compares a key with the fingerprint that was kept when it was made: with a flipped bit it is still a key, but nobody
 * could check its signatures. Throws SecretDamaged.
 */
export function confirmKey(folder: string, fileName: string, fingerprint: string): void {
  const markName = markOf(fileName);
  const kept = peekSecret(folder, markName);
  if (kept === null) keep(folder, markName, fingerprint);
  else if (kept !== fingerprint) {
    throw new SecretDamaged(
      `${join(folder, fileName)} is not the key that was kept here: its fingerprint is not the one in ${markName}`,
      `Bring both back from a backup. To sign with this key all the same remove ${markName}: checks at the entrance then need its public half, and codes given out before are worth nothing.`,
    );
  }
}

/** The file of a key's fingerprint. */
function markOf(fileName: string): string {
  return `${fileName}.fingerprint`;
}

/** The text of a kept secret, not checked; null when there is none. */
function peekSecret(folder: string, fileName: string): string | null {
  try {
    return readFileSync(join(folder, fileName), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Writes the whole file or nothing. */
function keep(folder: string, fileName: string, text: string): string {
  makePrivateFolder(folder);
  const draft = join(folder, `${fileName}.tmp`);
  const file = openSync(draft, 'w', FILE_MODE);
  try {
    // A draft that a crash left can have other permissions.
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
