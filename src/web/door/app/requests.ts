/** Requests of a station, each with the time that it may take, and what a missing answer means. */
import { unreachable, type ApiError } from '#client/api-error.ts';
import { send, type Answer } from '#client/transport.ts';
import type { ScanResult, SentScan, StationSync } from '#client/doors/wire.ts';

type Outcome<Body> = Answer<Body> | { readonly failure: ApiError };

export interface StationRequests {
  scan(
    token: string,
    scans: readonly SentScan[],
    msMax: number,
  ): Promise<Outcome<{ readonly results: readonly ScanResult[] }>>;
  sync(token: string, query: Readonly<Record<string, string>>): Promise<Outcome<StationSync>>;
}

/** How a failed request goes on. */
export type FailureKind = 'revoked' | 'refused' | 'unanswered';

const REFUSED: ReadonlySet<number> = new Set([400, 403, 413]);

/** Anything that the service would not say of scans, such as a proxy's 404, is no answer to them. */
export function failureKind({ status }: ApiError): FailureKind {
  if (status === 401) return 'revoked';
  return REFUSED.has(status) ? 'refused' : 'unanswered';
}

const SYNC_MS_MAX = 15_000;

export function stationRequests(fetch: typeof globalThis.fetch): StationRequests {
  const call = async <Body>(
    path: string,
    token: string,
    scans: object | null,
    msMax: number,
  ): Promise<Outcome<Body>> => {
    const init = {
      method: scans === null ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${token}`, ...(scans !== null && { 'content-type': 'application/json' }) },
      ...(scans !== null && { body: JSON.stringify(scans) }),
    };
    return send<Body>(fetch, path, init, AbortSignal.timeout(msMax)).catch((error: unknown) => ({
      failure: unreachable(error),
    }));
  };
  return {
    scan: (token, scans, msMax) => call('/api/doors/scans', token, { scans }, msMax),
    sync: (token, query) => call(`/api/doors/sync?${new URLSearchParams(query).toString()}`, token, null, SYNC_MS_MAX),
  };
}
