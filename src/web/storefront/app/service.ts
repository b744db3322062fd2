/**
 * The service that these pages use: its address and that of the pages, which the page's meta tags name, a client, and
 * its time.
 *
 * No page asks the buyer's own clock for the time: it may be hours off, and everything ends by the service's clock.
 */
import { useEffect, useState } from 'preact/hooks';
import { createClient, type Client } from '#client/client.ts';

/**
 * The service's address: '' for the page's own origin. The query may name it only where the page allows that, because a
 * link could otherwise show another storefront under the name of this one.
 */
function apiBase(): string {
  const given = metaContent('shop-api');
  const base = given === '?api' ? (new URLSearchParams(location.search).get('api') ?? '') : given;
  return base.replace(/\/+$/, '');
}

function metaContent(name: string): string {
  return document.querySelector<HTMLMetaElement>(`meta[name="${name}"]`)?.content ?? '';
}

function storage(): Storage | null {
  try {
    return globalThis.localStorage;
  } catch {
    return null;
  }
}

export const store = storage();
export const client: Client = createClient({ baseUrl: apiBase(), store });

/** The path with which all addresses of the pages begin; it ends with a slash. */
export const pagesBase = metaContent('shop-base') || '/';

/** The address of a page that the service itself renders. */
export function serviceAddress(path: string): string {
  return `${apiBase()}${path}`;
}

// ── time ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

export const serviceNow = (): number => client.clock.now();

const tickers = new Set<(now: number) => void>();
let ticking: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  const now = serviceNow();
  for (const ticker of tickers) ticker(now);
}
client.clock.follow(tick);

/**
 * The service's time, updated each second and at each correction; for all parts of a page at once, so that no two
 * differ.
 */
export function useServiceNow(): number {
  const [now, setNow] = useState(serviceNow);
  useEffect(() => onTick(setNow), []);
  return now;
}

/** Whether a moment has come; draws again when it does, and not each second. */
export function useIsPast(moment: number | null): boolean {
  const isPast = moment !== null && serviceNow() >= moment;
  const [, setPast] = useState(isPast);
  useEffect(() => onTick((now) => setPast(moment !== null && now >= moment)), [moment]);
  return isPast;
}

/** Calls each second and at each correction, and at once; returns the function that ends that. */
function onTick(ticker: (now: number) => void): () => void {
  tickers.add(ticker);
  ticking ??= setInterval(tick, 1_000);
  tick();
  return () => {
    tickers.delete(ticker);
    if (tickers.size > 0) return;
    clearInterval(ticking);
    ticking = undefined;
  };
}
