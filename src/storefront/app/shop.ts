/** The service that these pages talk to, and where the pages themselves lie; both said by the page's meta tags. */
import { createClient, type Client } from '#client/client.ts';

/**
 * The service's address: '' for the page's own origin. The query may name it only where the page allows that, because
 * a link could otherwise show another shop under this one's name.
 */
function apiBase(): string {
  const given = metaContent('holdfast-api');
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

/** The path that all addresses of the pages begin with; ends with a slash. */
export const pagesBase = metaContent('holdfast-base') || '/';

/** The address of a page that the service shows itself. */
export function serviceAddress(path: string): string {
  return `${apiBase()}${path}`;
}
