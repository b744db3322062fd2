/**
 * Which page the address names, by the part behind # alone, so that one document serves all pages:
 * `#/page/id?filter=value`.
 *
 * 1. Filters are part of the address, so that what an operator sees can be sent to another one and be gone back to.
 */
import { useAddress } from '../../hooks.ts';
import { pathOf } from '#client/operations.ts';

type Route =
  | { readonly page: 'overview' }
  | { readonly page: 'cluster' }
  | { readonly page: 'money' }
  | { readonly page: 'service' }
  | { readonly page: 'search' }
  | { readonly page: 'event'; readonly eventId: string }
  | { readonly page: 'seats'; readonly eventId: string; readonly performanceId: string }
  | { readonly page: 'doors'; readonly eventId: string; readonly performanceId: string }
  | { readonly page: 'orders'; readonly eventId: string }
  | { readonly page: 'journal' }
  | { readonly page: 'refunds'; readonly eventId: string }
  | { readonly page: 'sale'; readonly eventId: string }
  | { readonly page: 'amend'; readonly orderId: string }
  | { readonly page: 'order'; readonly orderId: string };

function readRoute(hash: string): Route {
  const [path = ''] = hash.replace(/^#?\/?/, '').split('?');
  const [first, id, next, last] = path.split('/').map(decodeURIComponent);
  if (first === 'orders' && id && next === 'tickets') return { page: 'amend', orderId: id };
  if (first === 'orders' && id) return { page: 'order', orderId: id };
  if (first === 'cluster' || first === 'money' || first === 'search' || first === 'journal') return { page: first };
  if (first === 'service') return { page: first };
  if (first !== 'events' || !id) return { page: 'overview' };
  if (next === 'orders' || next === 'refunds' || next === 'sale') return { page: next, eventId: id };
  if ((next === 'seats' || next === 'doors') && last) return { page: next, eventId: id, performanceId: last };
  return { page: 'event', eventId: id };
}

/** The link to a page, its parts escaped. */
export function linkTo(...parts: readonly string[]): string {
  return `#/${pathOf(...parts)}`;
}

type Filters = Readonly<Record<string, string>>;

/** A link with filters; those without a value are left out. */
export function linkWith(filters: Filters, ...parts: readonly string[]): string {
  const query = queryOf(filters);
  return linkTo(...parts) + (query === '' ? '' : `?${query}`);
}

/** Filters as the query of an address. */
export function queryOf(filters: Filters): string {
  return new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== '')).toString();
}

/** The route of the address now; the component is rendered again whenever it changes. */
export function useRoute(): Route {
  return readRoute(useAddress('hashchange', () => location.hash));
}

/** The filters of the address now; one that is not there is ''. */
export function useFilters<Name extends string>(...names: readonly Name[]): Readonly<Record<Name, string>> {
  const hash = useAddress('hashchange', () => location.hash);
  const query = new URLSearchParams(hash.split('?')[1] ?? '');
  return Object.fromEntries(names.map((name) => [name, query.get(name) ?? ''])) as Record<Name, string>;
}

// One document serves all pages, so the browser would keep the scroll position of the page before.
addEventListener('hashchange', () => scrollTo(0, 0));
