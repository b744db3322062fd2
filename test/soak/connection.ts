/** The HTTP client of a soak: requests may fail because the service is being stopped or killed. */

export interface SoakAnswer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

interface SoakCall {
  readonly method?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A count of all answers, and the wrong ones. */
export interface AnswerLog {
  requests: number;
  /** Answers by status. */
  readonly statuses: Map<number, number>;
  /** Descriptions of wrong answers; limited in number. */
  readonly wrong: string[];
  readonly secrets: Set<string>;
}

const WRONG_MAX = 50;
const REQUEST_MS_MAX = 20_000;

export function newAnswerLog(): AnswerLog {
  return { requests: 0, statuses: new Map(), wrong: [], secrets: new Set() };
}

export function noteWrong(answers: AnswerLog, what: string): void {
  if (answers.wrong.length < WRONG_MAX) answers.wrong.push(what);
}

/** Sends a request; null when the connection failed and the outcome is unknown. */
export async function send(
  answers: AnswerLog,
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
    note(answers, method, url, response.status, text);
    return { status: response.status, body: parse(text) };
  } catch {
    return null;
  }
}

function note(answers: AnswerLog, method: string, url: string, status: number, text: string): void {
  answers.requests += 1;
  answers.statuses.set(status, (answers.statuses.get(status) ?? 0) + 1);
  if (status >= 500 && status !== 503) noteWrong(answers, `${status} ${method} ${url}: ${text.slice(0, 300)}`);
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
