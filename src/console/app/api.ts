/** How the console asks the operators' API: with the token of the session, and errors as one kind. */
import { apiErrorOf, isApiError, unreachable } from '#client/api-error.ts';
import { unwrapped } from '#client/transport.ts';
import type { Session } from './session.ts';

export type Api = <Body>(method: 'GET' | 'POST', address: string, body?: object) => Promise<Body>;

const ANSWER_MS_MAX = 20_000;

/** An API of this session; `onEnd` is told when its token is not, or no longer, the right one. Throws ApiError. */
export function createApi(session: Session, onEnd: () => void): Api {
  return async <Body>(method: 'GET' | 'POST', address: string, body?: object): Promise<Body> => {
    const response = await fetch(address, {
      method,
      headers: headersOf(session, body),
      cache: 'no-store',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw unreachable(error);
    });
    const answer: unknown = await response.json().catch(() => null);
    if (response.ok) return unwrapped(answer) as Body;
    if (response.status === 401) onEnd();
    throw apiErrorOf(response.status, answer, null);
  };
}

/** Header values are bytes: a name goes out in UTF-8, one character a byte, as the service reads it. */
function headersOf({ token, operator }: Session, body: object | undefined): Record<string, string> {
  const name = String.fromCharCode(...new TextEncoder().encode(operator));
  return {
    authorization: `Bearer ${token}`,
    ...(operator !== '' && { 'x-operator': name }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
}

/** An address under the API, its parts made safe. */
export function addressOf(...parts: readonly string[]): string {
  return `/admin/${parts.map(encodeURIComponent).join('/')}`;
}

/** What went wrong, in words for the operator. */
export function troubleText(error: unknown): string {
  if (!isApiError(error)) return String(error);
  const { seatIds, seat_ids: ids = seatIds } = error.detail as Record<string, unknown>;
  return `${error.message} (${error.code})${Array.isArray(ids) ? `: ${ids.slice(0, 8).join(', ')}` : ''}`;
}
