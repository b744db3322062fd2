/** The running service's admin API, for the commands that ask it instead of touching the folder. */
import { CommandFailure } from './command.ts';
import type { AdminAccess } from './settings.ts';

export interface AdminAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The part of an error body that commands show. */
export interface AdminError {
  readonly code: string;
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** Calls the admin API. Throws CommandFailure when nobody answers there, or the token is not taken. */
export async function askService(
  { address, token }: AdminAccess,
  method: 'POST' | 'PUT',
  path: string,
  body?: unknown,
): Promise<AdminAnswer> {
  if (token === null) {
    throw new CommandFailure(
      'there is no token for the admin API',
      'Set ADMIN_TOKEN, or DATA_DIR to the data folder of the running service.',
    );
  }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  let response: Response;
  try {
    response = await fetch(`${address}${path}`, { method, headers, body: JSON.stringify(body ?? {}) });
  } catch (error) {
    throw new CommandFailure(
      `no service answers at ${address}`,
      'Start it, or say where it is with ADMIN_HOST and ADMIN_PORT.',
      error,
    );
  }
  const answer = unwrapped(await response.json());
  if (response.status !== 401) return { status: response.status, body: answer };
  throw new CommandFailure(
    `the service at ${address} does not take this token`,
    'Set ADMIN_TOKEN to its own, or DATA_DIR to its data folder.',
  );
}

/** A service with RESPONSE_ENVELOPE=data wraps what went well. */
function unwrapped(body: unknown): Readonly<Record<string, unknown>> {
  const fields = body as Readonly<Record<string, unknown>>;
  const isWrapped = Object.keys(fields).length === 1 && typeof fields['data'] === 'object' && fields['data'] !== null;
  return isWrapped ? (fields['data'] as Readonly<Record<string, unknown>>) : fields;
}

/** The error that an answer's body tells. */
export function errorOf({ body, status }: AdminAnswer): AdminError {
  const { code = `HTTP ${status}`, message = '', detail = {} } = body as Partial<AdminError>;
  return { code, message, detail };
}
