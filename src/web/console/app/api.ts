/**
 * How the console uses the operators' API: with the token of the session, which is stored for this tab alone, and with
 * errors of one kind.
 */
import { apiErrorOf, isApiError, type ApiError } from '#client/api-error.ts';
import { useLoaded } from '../../hooks.ts';
import { pathOf } from '#client/operations.ts';
import { send } from '#client/transport.ts';

// ── the session ──────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Session {
  readonly token: string;
  /** The operator's name, recorded with every change; '' leaves it out. */
  readonly operator: string;
}

const SESSION_KEY = 'holdfast-operator';

export function storedSession(): Session | null {
  const text = sessionStorage.getItem(SESSION_KEY);
  return text === null ? null : (JSON.parse(text) as Session);
}

export function storeSession(session: Session | null): void {
  if (session === null) sessionStorage.removeItem(SESSION_KEY);
  else sessionStorage.setItem(SESSION_KEY, JSON.stringify(session));
}

// ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Api {
  /** What is sent again under the same key is done once. */
  <Body>(method: 'GET' | 'POST' | 'PUT', address: string, body?: object, idempotencyKey?: string): Promise<Body>;
  /** Has the browser keep what the service answers, as a file. */
  readonly download: (address: string, fileName: string) => Promise<void>;
}

/** An API with a session's token; `onUnauthorized` is called when the service does not accept it. Throws ApiError. */
export function createApi(session: Session, onUnauthorized: () => void): Api {
  const failed = (failure: ApiError): ApiError => {
    if (failure.status === 401) onUnauthorized();
    return failure;
  };
  const ask = async <Body>(method: string, address: string, body?: object, idempotencyKey?: string): Promise<Body> => {
    const answer = await send<Body>(fetch, address, {
      method,
      headers: {
        ...headersOf(session, body),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      cache: 'no-store',
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!('failure' in answer)) return answer.body;
    throw failed(answer.failure);
  };
  const download = async (address: string, fileName: string): Promise<void> => {
    const response = await fetch(address, { headers: headersOf(session, undefined), cache: 'no-store' });
    if (!response.ok) throw failed(apiErrorOf(response.status, await response.json().catch(() => null), null));
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await response.blob());
    link.download = fileName;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), DOWNLOAD_MS);
  };
  return Object.assign(ask, { download });
}

/** After which the browser has taken what it was given. */
const DOWNLOAD_MS = 60_000;

/** Header values are bytes: the name is sent in UTF-8, one character for each byte, as the service reads it. */
function headersOf({ token, operator }: Session, body: object | undefined): Record<string, string> {
  const name = String.fromCharCode(...new TextEncoder().encode(operator));
  return {
    authorization: `Bearer ${token}`,
    ...(operator !== '' && { 'x-operator': name }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
}

/** An address of the API, its parts escaped. */
export function addressOf(...parts: readonly string[]): string {
  return `/admin/${pathOf(...parts)}`;
}

/** An error as a sentence for the operator. */
export function textOfError(error: unknown): string {
  if (!isApiError(error)) return String(error);
  const { seatIds, seat_ids: ids = seatIds, errors, conflicts = errors } = error.detail as Record<string, unknown>;
  const listed = Array.isArray(conflicts) ? conflicts.map(textOfProblem) : Array.isArray(ids) ? ids : [];
  const more = listed.length === 0 ? '' : `: ${listed.slice(0, 8).join(listed === ids ? ', ' : '; ')}`;
  return `${error.message} (${error.code})${more}`;
}

const textOfProblem = ({ path, message }: { readonly path: string; readonly message: string }): string =>
  `${path} ${message}`;

interface Polled<Value> {
  readonly value: Value | null;
  /** The last error as a sentence; null after an answer. */
  readonly trouble: string | null;
  readonly reload: () => void;
}

/**
 * What `read` answers, read again every `everyMs`; it gets the answer before. Null reads once. A new `key` starts over.
 */
export function usePolled<Value>(
  key: string,
  read: (before: Value | null) => Promise<Value>,
  everyMs: number | null,
): Polled<Value> {
  const { value, error, reload } = useLoaded(key, (_signal, before: Value | null) => read(before), everyMs);
  return { value, trouble: error === null ? null : textOfError(error), reload };
}
