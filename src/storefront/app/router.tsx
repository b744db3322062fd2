/** Which page is shown: the address, read and changed without loading a document. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { pagesBase } from './shop.ts';

export type Route =
  | { readonly page: 'events' }
  | { readonly page: 'event' | 'checkout' | 'queue' | 'draw'; readonly slug: string }
  | { readonly page: 'unknown' };

const PAGES_OF_EVENT: Readonly<Record<string, 'event' | 'checkout' | 'queue' | 'draw'>> = {
  '': 'event',
  checkout: 'checkout',
  queue: 'queue',
  draw: 'draw',
};

/** The route that an address stands for. */
export function routeOf(pathname: string): Route {
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

/** Shows another page; `replace` leaves no step behind in the history. */
export function go(path: string, options: { readonly replace?: boolean } = {}): void {
  history[options.replace ? 'replaceState' : 'pushState'](null, '', keepApi(path));
  dispatchEvent(new PopStateEvent('popstate'));
}

/** Keeps the query parameter that names the service, where there is one. */
function keepApi(path: string): string {
  const api = new URLSearchParams(location.search).get('api');
  if (api === null) return path;
  return `${path}${path.includes('?') ? '&' : '?'}api=${encodeURIComponent(api)}`;
}

/** The address now; the component is drawn anew whenever it changes. */
export function useAddress(): { readonly route: Route; readonly query: URLSearchParams } {
  const [address, setAddress] = useState(location.pathname + location.search);
  useEffect(() => {
    const follow = (): void => setAddress(location.pathname + location.search);
    addEventListener('popstate', follow);
    return () => removeEventListener('popstate', follow);
  }, []);
  const [pathname = '/', search = ''] = address.split('?');
  return { route: routeOf(pathname), query: new URLSearchParams(search) };
}

interface LinkProps {
  readonly to: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A link to another page of the shop; a click with a modifier opens it as the browser does. */
export function Link({ to, children, ...rest }: LinkProps) {
  const follow = (click: MouseEvent): void => {
    if (click.defaultPrevented || click.button !== 0 || click.metaKey || click.ctrlKey || click.shiftKey) return;
    click.preventDefault();
    go(to);
    scrollTo(0, 0);
  };
  return (
    <a href={to} onClick={follow} {...rest}>
      {children}
    </a>
  );
}
