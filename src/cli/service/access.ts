/**
 * The two ways in which a command changes events: through a running service's admin API, or with an engine of its own.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEngine, type Engine, type EngineOptions } from '#engine/engine.ts';
import { addressOf } from '#service/config.ts';
import { LIMITS } from '#service/limits.ts';
import { CommandFailure, type CliCall } from '../terminal/command.ts';
import { readSettings } from '../folder/data-folder.ts';

export interface AdminAccess {
  readonly address: string;
  /** Null when neither the settings nor the data folder have one. */
  readonly token: string | null;
}

/** Address and token of the running service's admin API. */
export function adminAccess(call: CliCall): AdminAccess {
  const { adminHost, adminPort, adminToken, dataDir } = readSettings(call);
  return { address: addressOf(adminHost, adminPort), token: adminToken ?? keptToken(dataDir) };
}

function keptToken(dataDir: string): string | null {
  const path = join(dataDir, 'admin-token');
  return existsSync(path) ? readFileSync(path, 'utf8').trim() : null;
}

interface AdminAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The part of an error body that commands show. */
interface AdminError {
  readonly code: string;
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Calls the admin API. Throws CommandFailure when there is no answer, or the token is refused. */
export async function callService(
  { address, token }: AdminAccess,
  method: 'GET' | 'POST' | 'PUT',
  path: string,
  body?: unknown,
  operator: string | null = null,
): Promise<AdminAnswer> {
  if (token === null) {
    throw new CommandFailure(
      'there is no token for the admin API',
      'Set ADMIN_TOKEN, or DATA_DIR to the data folder of the running service.',
    );
  }
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    // Header bytes are Latin-1; a name may have any letter.
    ...(operator !== null && { 'x-operator': Buffer.from(operator).toString('latin1') }),
  };
  const sent = method === 'GET' ? {} : { body: JSON.stringify(body ?? {}) };
  let response: Response;
  try {
    response = await fetch(`${address}${path}`, { method, headers, ...sent });
  } catch (error) {
    throw new CommandFailure(
      `no service answers at ${address}`,
      'Start it, or set ADMIN_HOST and ADMIN_PORT to its address.',
      error,
    );
  }
  const answer = unwrapped(await response.json());
  if (response.status !== 401) return { status: response.status, body: answer };
  throw new CommandFailure(
    `the service at ${address} refuses this token`,
    'Set ADMIN_TOKEN to its own, or DATA_DIR to its data folder.',
  );
}

/** A service with RESPONSE_ENVELOPE=data wraps successful bodies. */
function unwrapped(body: unknown): Readonly<Record<string, unknown>> {
  const fields = body as Readonly<Record<string, unknown>>;
  const isWrapped = Object.keys(fields).length === 1 && typeof fields['data'] === 'object' && fields['data'] !== null;
  return isWrapped ? (fields['data'] as Readonly<Record<string, unknown>>) : fields;
}

/** The error in the body of an answer. */
export function errorOf({ body, status }: AdminAnswer): AdminError {
  const { code = `HTTP ${status}`, message = '', detail = {} } = body as Partial<AdminError>;
  return { code, message, detail };
}

/** Starts an engine on the data folder, as a service would. Rejects with FolderInUse, and as `startEngine` does. */
export function openOffline(call: CliCall, options: Pick<EngineOptions, 'keepsUndelivered'> = {}): Promise<Engine> {
  const { dataDir, liveEventsMax } = readSettings(call);
  const { output, exit } = call;
  return startEngine({
    ...options,
    folder: dataDir,
    liveEventsMax,
    waitingRepliesMax: LIMITS.waitingRepliesMax,
    onProgress: ({ seq, headSeq }) => output.progress('reading the journal', seq, headSeq),
    onFatal({ message, hint }) {
      output.trouble(message, hint);
      exit(1);
    },
  });
}
