/**
 * The page's address: which page it names, and how it changes without a new document.
 *
 *  1. A page opens at its top. Whoever comes back to it finds it where it was left, once it is long enough again: what
 *     it shows may still be on its way.
 */
import type { ComponentChildren } from 'preact';
import { useAddress } from '../../hooks.ts';
import { pagesBase } from './service.ts';

type Route =
  | { readonly page: 'events' }
  | { readonly page: 'event' | 'checkout' | 'queue' | 'draw'; readonly slug: string }
  | { readonly page: 'unknown' };

const PAGES_OF_EVENT: Readonly<Record<string, 'event' | 'checkout' | 'queue' | 'draw'>> = {
  '': 'event',
  checkout: 'checkout',
  queue: 'queue',
  draw: 'draw',
};

/** The route that an address names. */
function routeOf(pathname: string): Route {
  const path = pathname.startsWith(pagesBase) ? pathname.slice(pagesBase.length) : pathname.replace(/^\//, '');
  const [first = '', slug = '', page = '', ...more] = path.replace(/\/$/, '').split('/');
  if (first === '' || first === 'index.html') return { page: 'events' };
  const ofEvent = PAGES_OF_EVENT[page];
  if (first !== 'e' || slug === '' || ofEvent === undefined || more.length > 0) return { page: 'unknown' };
  return { page: ofEvent, slug: decodeURIComponent(slug) };
}

export const eventPath = (slug: string, page = ''): string =>
  `${pagesBase}e/${encodeURIComponent(slug)}${page === '' ? '' : `/${page}`}`;
export const homePath = pagesBase;

let moves = 0;

/** Whether this document has shown another page before; the browser itself reads out the title of the first one. */
export const hasMoved = (): boolean => moves > 0;

/** Shows another page; `replace` adds no entry to the browser's history. */
export function go(path: string, options: { readonly replace?: boolean } = {}): void {
  const { pathname } = location;
  keepScroll();
  layer = null;
  history[options.replace ? 'replaceState' : 'pushState']({ top: scrollY }, '', withApi(path));
  moves += 1;
  dispatchEvent(new PopStateEvent('popstate'));
  if (location.pathname === pathname) return;
  stopReturning();
  scrollTo(0, 0);
}

interface Entry {
  /** How far the page was scrolled. */
  readonly top: number;
  readonly isLayer?: boolean;
}

/** What lies over the page and is closed by the way back. */
let layer: { onBack: () => void } | null = null;

/**
 * Gives the way back something to close before it leaves the page; the returned function is to be called when that is
 * closed.
 */
export function openLayer(onBack: () => void): () => void {
  keepScroll();
  history.pushState({ top: scrollY, isLayer: true } satisfies Entry, '');
  const own = { onBack };
  layer = own;
  return () => {
    own.onBack = () => {};
    if (layer === own && (history.state as Entry | null)?.isLayer === true) history.back();
  };
}

const REST_MS = 150;
const RETURNING_MS_MAX = 5_000;
let stopReturning = (): void => {};

const keepScroll = (): void => history.replaceState({ ...(history.state as Entry | null), top: scrollY }, '');

/** Keeps with each entry of the history how far its page was scrolled, and scrolls there on the way back (rule 1). */
export function keepScrolls(): void {
  let rest: ReturnType<typeof setTimeout> | undefined;
  keepScroll();
  addEventListener('scroll', () => {
    clearTimeout(rest);
    rest = setTimeout(keepScroll, REST_MS);
  });
  addEventListener('popstate', ({ isTrusted, state }) => {
    // A link to a part of the page has no entry yet: the browser scrolls there.
    if (!isTrusted || state === null) return;
    clearTimeout(rest);
    if (layer !== null) {
      const { onBack } = layer;
      layer = null;
      return onBack();
    }
    returnTo((state as Entry).top);
  });
}

/** Scrolls to where the page was left, until it is long enough for that; the buyer's own movement comes first. */
function returnTo(top: number): void {
  moves += 1;
  stopReturning();
  const follow = new ResizeObserver(() => {
    scrollTo(0, top);
    if (document.documentElement.scrollHeight - innerHeight >= top) stopReturning();
  });
  const timer = setTimeout(() => stopReturning(), RETURNING_MS_MAX);
  const own = ['wheel', 'touchstart', 'keydown', 'pointerdown'] as const;
  stopReturning = (): void => {
    follow.disconnect();
    clearTimeout(timer);
    for (const type of own) removeEventListener(type, stopReturning);
    stopReturning = () => {};
  };
  for (const type of own) addEventListener(type, stopReturning, { passive: true });
  follow.observe(document.body);
}

/**
 * Leaves for a page of the service or of a payment provider. Browsers may come back to this one as it was left, when an
 * order has been paid or has ended: it is loaded again then.
 */
export function leaveFor(address: string): void {
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  location.assign(address);
}

/** Adds the query parameter that names the service, where the address has one. */
function withApi(path: string): string {
  const api = new URLSearchParams(location.search).get('api');
  if (api === null) return path;
  return `${path}${path.includes('?') ? '&' : '?'}api=${encodeURIComponent(api)}`;
}

/** The route and the query of the address now; the component is rendered again whenever they change. */
export function useRoute(): { readonly route: Route; readonly query: URLSearchParams } {
  const address = useAddress('popstate', () => location.pathname + location.search);
  const [pathname = '/', search = ''] = address.split('?');
  return { route: routeOf(pathname), query: new URLSearchParams(search) };
}

interface LinkProps {
  readonly to: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A link to another page of the storefront; a click with a modifier key is left to the browser. */
export function Link({ to, children, ...rest }: LinkProps) {
  const follow = (click: MouseEvent): void => {
    if (click.defaultPrevented || click.button !== 0 || click.metaKey || click.ctrlKey || click.shiftKey) return;
    click.preventDefault();
    go(to);
  };
  return (
    <a href={to} onClick={follow} {...rest}>
      {children}
    </a>
  );
}
