/** Which page the address names; the part behind # alone, so that one document serves them all. */
import { useEffect, useState } from 'preact/hooks';

export type Route =
  | { readonly page: 'overview' }
  | { readonly page: 'event'; readonly eventId: string }
  | { readonly page: 'seats'; readonly eventId: string; readonly performanceId: string }
  | { readonly page: 'orders'; readonly eventId: string }
  | { readonly page: 'journal'; readonly eventId: string | null }
  | { readonly page: 'order'; readonly orderId: string };

export function readRoute(hash: string): Route {
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

/** The link to a page, its parts made safe. */
export function linkTo(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => {
      setHash(location.hash);
      scrollTo(0, 0);
    };
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return readRoute(hash);
}
