/** The session key of calls that have no body: the X-Session-Key header, or the query parameter `session_key`. */
import { refuseProblems, type Refusal } from '#domain/refusal.ts';
import { SESSION_KEY_LENGTH_MAX, SESSION_KEY_LENGTH_MIN } from './schemas/fields.ts';
import { problemAt } from './validation.ts';

interface KeyedRequest {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly query: { readonly session_key?: string };
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

/** The key, or VALIDATION_ERROR when it is missing or its length is wrong; the query's length was judged by its schema. */
export function requiredSessionKey(request: KeyedRequest): string | Refusal {
  return optionalSessionKey(request) ?? refuseProblems([problemAt('session_key', 'is required')]);
}

/** The key or null when there is none; VALIDATION_ERROR when its length is wrong. */
export function optionalSessionKey(request: KeyedRequest): string | Refusal | null {
  const header = request.headers['x-session-key'];
  if (header === undefined) return request.query.session_key ?? null;
  const key = headerText(String(header));
  const length = [...key].length;
  if (length >= SESSION_KEY_LENGTH_MIN && length <= SESSION_KEY_LENGTH_MAX) return key;
  const message = `must have ${SESSION_KEY_LENGTH_MIN} to ${SESSION_KEY_LENGTH_MAX} characters`;
  return refuseProblems([problemAt('session_key', message)]);
}

/** The text of a header: Node reads bytes as Latin-1, while many clients send UTF-8. */
function headerText(header: string): string {
  if (/^[\x20-\x7e]*$/.test(header)) return header;
  try {
    return strictUtf8.decode(Buffer.from(header, 'latin1'));
  } catch {
    return header;
  }
}
