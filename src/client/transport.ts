/**
 * How a request reaches the service: time limits, repeats with growing pauses, and errors of one kind.
 *
 *
 *  1. What got no answer is sent again only where a repeat is harmless (`operations.ts`); a repeat has the same
 *     Idempotency-Key. 429 and 503 mean that nothing was changed, so everything may be repeated after them.
 *  2. A Retry-After is obeyed; one over `PAUSE_MS_MAX` is left to the caller, as `retryAfter` of the error.
 *  3. An aborted signal ends a request and every pause at once, with the signal's reason.
 */
import { apiErrorOf, unreachable, type ApiError } from './api-error.ts';
import { fillPath, OPERATIONS, type Operation, type OperationName } from './operations.ts';
import { timeIn } from './service-clock.ts';

export interface TransportOptions {
  /** Prefix of every address; '' is the page's own origin. */
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
  readonly pause: Pause;
  readonly repeatsMax: number;
}

/** Waits; rejects with the signal's reason when that is aborted meanwhile. */
export type Pause = (ms: number, signal?: AbortSignal) => Promise<void>;

export interface Request {
  readonly path?: readonly string[];
  readonly query?: Readonly<Record<string, string | number | null | undefined>>;
  readonly body?: unknown;
  readonly sessionKey?: string;
  /** The same key makes a repeat by the caller safe too. Without it each call has a key of its own. */
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface Answer<Body> {
  readonly body: Body;
  readonly status: number;
  /** Seconds, where the service named a pace. */
  readonly retryAfter: number | null;
}

export type Transport = <Body>(name: OperationName, request: Request) => Promise<Answer<Body>>;

const ATTEMPT_MS_MAX = 20_000;
const FIRST_PAUSE_MS = 300;
const PAUSE_MS_MAX = 10_000;
const IDEMPOTENCY_KEY_BYTES = 18;

export function createTransport(options: TransportOptions): Transport {
  return async function call<Body>(name: OperationName, request: Request): Promise<Answer<Body>> {
    const operation: Operation = OPERATIONS[name];
    const url = addressOf(options.baseUrl, operation, request);
    const init = requestInit(operation, request);
    for (let repeats = 0; ; repeats += 1) {
      request.signal?.throwIfAborted();
      const outcome = await send<Body>(options.fetch, url, init, request.signal);
      if (!('failure' in outcome)) return outcome;
      const pauseMs = pauseBefore(operation, outcome.failure, repeats);
      if (pauseMs === null || repeats >= options.repeatsMax) throw outcome.failure;
      await options.pause(pauseMs, request.signal);
    }
  };
}

/** The address of an operation under a base, its parameters filled in. */
export function addressOf(baseUrl: string, operation: Operation, { path = [], query = {} }: Request): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const search = new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString();
  return `${baseUrl}${fillPath(operation.path, path)}${search === '' ? '' : `?${search}`}`;
}

function requestInit(operation: Operation, { body, sessionKey, idempotencyKey }: Request): RequestInit {
  const headers: Record<string, string> = {};
  if (body !== undefined) headers['content-type'] = 'application/json';
  if (sessionKey !== undefined) headers['x-session-key'] = sessionKey;
  const key = idempotencyKey ?? (operation.key === true ? randomText(IDEMPOTENCY_KEY_BYTES) : undefined);
  if (key !== undefined) headers['idempotency-key'] = key;
  return { method: operation.method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) };
}

/** Sends a request once, with a time limit. Throws only when the signal is aborted. */
export async function send<Body>(
  fetch: typeof globalThis.fetch,
  url: string,
  init: RequestInit,
  signal?: AbortSignal,
): Promise<Answer<Body> | { readonly failure: ApiError }> {
  const timeLimit = AbortSignal.timeout(ATTEMPT_MS_MAX);
  try {
    const response = await fetch(url, { ...init, signal: signal ? AbortSignal.any([signal, timeLimit]) : timeLimit });
    const retryAfter = secondsOf(response.headers);
    const body = await jsonOf(response);
    if (!response.ok) return { failure: apiErrorOf(response.status, body, retryAfter) };
    return { body: unwrapped(body) as Body, status: response.status, retryAfter };
  } catch (error) {
    signal?.throwIfAborted();
    return { failure: unreachable(error) };
  }
}

/** How long to wait before a repeat; null when there must be none (rules 1 and 2). */
function pauseBefore(operation: Operation, failure: ApiError, repeats: number): number | null {
  const nothingChanged = failure.status === 503 || failure.status === 429;
  const unanswered = failure.status === 0 || failure.status === 502 || failure.status === 504;
  if (!nothingChanged && !(unanswered && operation.repeat)) return null;
  const growing = Math.min(FIRST_PAUSE_MS * 2 ** repeats, PAUSE_MS_MAX);
  const spread = growing * (0.75 + Math.random() / 2);
  if (failure.retryAfter === null) return spread;
  return failure.retryAfter * 1000 > PAUSE_MS_MAX ? null : Math.max(failure.retryAfter * 1000, spread);
}

/**
 * Seconds of a Retry-After header, given in seconds or as a date: by the clock of who answered, where the answer says
 * it.
 */
function secondsOf(headers: Headers): number | null {
  const header = headers.get('retry-after');
  if (header === null) return null;
  if (/^\d+$/.test(header)) return Number(header);
  const at = Date.parse(header);
  const sentAt = timeIn(headers);
  const now = Number.isNaN(sentAt) ? Date.now() : sentAt;
  return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - now) / 1000));
}

async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  try {
    return text === '' ? null : (JSON.parse(text) as unknown);
  } catch (error) {
    if (response.ok) throw error;
    return null;
  }
}

/** The resource itself, also where the service wraps its answers as {"data": …}. */
function unwrapped(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const names = Object.keys(body);
  return names.length === 1 && names[0] === 'data' ? (body as { readonly data: unknown }).data : body;
}

/** Waits on the machine's own timers. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal!.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

/** Random bytes as base64url text. */
export function randomText(bytes: number): string {
  const binary = String.fromCharCode(...crypto.getRandomValues(new Uint8Array(bytes)));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
