/** Which page the address names, by the part behind # alone, so that one document serves all pages. */
import { useAddress } from '#client/browser/hooks.ts';
import { pathOf } from '#client/operations.ts';

export type Route =
  | { readonly page: 'overview' }
  | { readonly page: 'event'; readonly eventId: string }
  | { readonly page: 'seats'; readonly eventId: string; readonly performanceId: string }
  | { readonly page: 'orders'; readonly eventId: string }
  | { readonly page: 'journal'; readonly eventId: string | null }
  | { readonly page: 'order'; readonly orderId: string };

function readRoute(hash: string): Route {
  const [first, id, next, last] = hash
    .replace(/^#?\/?/, '')
    .split('/')
    .map(decodeURIComponent);
  if (first === 'orders' && id) return { page: 'order', orderId: id };
  if (first === 'journal') return { page: 'journal', eventId: id ? id : null };
  if (first !== 'events' || !id) return { page: 'overview' };
  if (next === 'orders') return { page: 'orders', eventId: id };
  if (next === 'seats' && last) return { page: 'seats', eventId: id, performanceId: last };
  return { page: 'event', eventId: id };
}

/** The link to a page, its parts escaped. */
export function linkTo(...parts: readonly string[]): string {
  return `#/${pathOf(...parts)}`;
}

/** The route of the address now; the component is rendered again whenever it changes. */
export function useRoute(): Route {
  return readRoute(useAddress('hashchange', () => location.hash));
}

// One document serves all pages, so the browser would keep the scroll position of the page before.
addEventListener('hashchange', () => scrollTo(0, 0));
