/**
 * The service that a gate belongs to, over its own API for stations.
 *
 * 1. What may pass by itself (no network, no answer in time, 429, 5xx, an answer of something else) is UpstreamAway:
 *    the gate goes on by itself and tries again. Anything else is UpstreamRefused.
 * 2. A redirection is not followed: the token would go elsewhere.
 */
import type { SentScan, StationSync } from '#client/doors/wire.ts';

export class UpstreamAway extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'UpstreamAway';
  }
}

export class UpstreamRefused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(status: number, code: string, message: string) {
    super(`${code}: ${message}`);
    this.name = 'UpstreamRefused';
    this.status = status;
    this.code = code;
  }
}

export interface Upstream {
  /** A page of the feed. Without `after` it begins anew. */
  sync(request: {
    readonly after: string | null;
    readonly limit: number;
    readonly queued: number;
  }): Promise<StationSync>;
  send(scans: readonly SentScan[]): Promise<void>;
}

export interface UpstreamOptions {
  /** The service's public address. */
  readonly url: string;
  readonly token: string;
  readonly version: string;
  readonly fetch?: typeof fetch;
}

const ANSWER_MS_MAX = 10_000;

export function createUpstream({ url, token, version, fetch: call = fetch }: UpstreamOptions): Upstream {
  const base = url.replace(/\/+$/, '');
  const ask = async (path: string, init: RequestInit): Promise<unknown> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(ANSWER_MS_MAX);
    let response: Response;
    let text: string;
    try {
      response = await call(`${base}${path}`, { ...init, headers, signal, redirect: 'error' });
      text = await response.text();
    } catch (error) {
      throw new UpstreamAway(`${base} does not answer: ${reasonOf(error)}`, error);
    }
    const body = jsonOf(text);
    if (response.ok && body !== null) return body;
    const { code, message } = (body ?? {}) as { readonly code?: unknown; readonly message?: unknown };
    const isRefusal = [400, 401, 403].includes(response.status) && typeof code === 'string';
    if (isRefusal) throw new UpstreamRefused(response.status, code, String(message));
    throw new UpstreamAway(`${base} answers ${response.status}${typeof code === 'string' ? ` ${code}` : ''}`);
  };
  return {
    async sync({ after, limit, queued }) {
      const query = new URLSearchParams({ limit: String(limit), queued: String(queued), version });
      if (after !== null) query.set('after', after);
      const page = (await ask(`/api/doors/sync?${query}`, {})) as StationSync;
      if (!isPage(page)) throw new UpstreamAway(`${base} answers no feed: it is no Holdfast service`);
      return page;
    },
    async send(scans) {
      await ask('/api/doors/scans', { method: 'POST', body: JSON.stringify({ scans }) });
    },
  };
}

function isPage({ cursor, changes, now, head }: Partial<StationSync>): boolean {
  const isHead = head === null || (typeof head?.event?.id === 'string' && Array.isArray(head.doors));
  return typeof cursor === 'string' && Array.isArray(changes) && !Number.isNaN(Date.parse(String(now))) && isHead;
}

/** Null where the text is no JSON object. */
function jsonOf(text: string): object | null {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' ? body : null;
  } catch {
    return null;
  }
}

/** `fetch` says only that it failed; its cause says why. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  const { code, message: ofCause } = (cause ?? {}) as { readonly code?: string; readonly message?: string };
  return code ?? ofCause ?? message;
}
