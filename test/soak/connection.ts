/** How a soak speaks to its service: requests that may fail because the service is being stopped or killed. */

export interface SoakAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export interface SoakCall {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What every answer of the service is checked for. */
export interface Watch {
  requests: number;
  /** Answers by status. */
  readonly statuses: Map<number, number>;
  /** What must never be seen, with an example each; bounded. */
  readonly wrong: string[];
  readonly secrets: Set<string>;
}

const WRONG_MAX = 50;
const REQUEST_MS_MAX = 20_000;

export function newWatch(): Watch {
  return { requests: 0, statuses: new Map(), wrong: [], secrets: new Set() };
}

export function noteWrong(watch: Watch, what: string): void {
  if (watch.wrong.length < WRONG_MAX) watch.wrong.push(what);
}

/** Sends a request; null when the connection failed, so that its outcome is unknown. */
export async function send(
  watch: Watch,
  url: string,
  { method = 'GET', body, headers = {} }: SoakCall = {},
): Promise<SoakAnswer | null> {
  const json = body === undefined ? {} : { 'content-type': 'application/json' };
  try {
    const response = await fetch(url, {
      method,
      headers: { ...json, ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(REQUEST_MS_MAX),
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    note(watch, method, url, response.status, text);
    return { status: response.status, body: parse(text) };
  } catch {
    return null;
  }
}

function note(watch: Watch, method: string, url: string, status: number, text: string): void {
  watch.requests += 1;
  watch.statuses.set(status, (watch.statuses.get(status) ?? 0) + 1);
  if (status >= 500 && status !== 503) noteWrong(watch, `${status} ${method} ${url}: ${text.slice(0, 300)}`);
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
