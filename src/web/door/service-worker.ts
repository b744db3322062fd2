/**
 * Keeps the page of stations for when the service cannot be reached; it never touches the API.
 *
 * 1. The page and its files of one version lie in one cache. A newer version is loaded beside it.
 * 2. The page is shown in the version in use until the page itself asks for the newer one: a station changes only when
 *    it may.
 */

interface Extendable {
  waitUntil(work: Promise<unknown>): void;
}

interface Messages {
  postMessage(message: string): void;
}

interface Events {
  install: Extendable;
  activate: Extendable;
  message: Extendable & { readonly data: unknown; readonly source: Messages | null };
  fetch: { readonly request: Request; respondWith(answer: Promise<Response>): void };
}

declare const self: {
  addEventListener<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): void;
  skipWaiting(): Promise<void>;
  readonly clients: { claim(): Promise<void>; matchAll(): Promise<readonly Messages[]> };
};

/** Filled in when this file is bundled: the page first, then what it loads. */
declare const FILES: readonly [string, ...string[]];
declare const VERSION: string;

const PREFIX = 'holdfast.door.';
/** Has the name of the version in use, as the body of its one entry. */
const IN_USE = `${PREFIX}in-use`;
const [PAGE] = FILES;

const versionInUse = async (): Promise<string> => {
  const entry = await (await caches.open(IN_USE)).match(PAGE);
  return (await entry?.text()) ?? VERSION;
};

async function use(version: string): Promise<void> {
  await (await caches.open(IN_USE)).put(PAGE, new Response(version));
  const others = (await caches.keys()).filter((name) => name.startsWith(PREFIX));
  const left = new Set([IN_USE, PREFIX + version, PREFIX + VERSION]);
  await Promise.all(others.filter((name) => !left.has(name)).map((name) => caches.delete(name)));
}

self.addEventListener('install', (event) => {
  const load = async (): Promise<void> => {
    const cache = await caches.open(PREFIX + VERSION);
    await cache.addAll(FILES.map((file) => new Request(file, { cache: 'no-cache' })));
    const isFirst = (await (await caches.open(IN_USE)).match(PAGE)) === undefined;
    if (isFirst) await use(VERSION);
    await self.skipWaiting();
  };
  event.waitUntil(load());
});

self.addEventListener('activate', (event) => {
  const greet = async (): Promise<void> => {
    await self.clients.claim();
    for (const page of await self.clients.matchAll()) page.postMessage(VERSION);
  };
  event.waitUntil(greet());
});

self.addEventListener('message', (event) => {
  const { data, source } = event;
  const answer = async (): Promise<void> => {
    if (data === 'use newest') await use(VERSION);
    source?.postMessage(data === 'use newest' ? 'in use' : VERSION);
  };
  event.waitUntil(answer());
});

self.addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url);
  if (event.request.method !== 'GET' || !isOurs(pathname)) return;
  const find = async (): Promise<Response> => {
    const version = await versionInUse();
    const found = await (await caches.open(PREFIX + version)).match(pathname);
    return found ?? fetch(event.request);
  };
  event.respondWith(find());
});

function isOurs(pathname: string): boolean {
  return pathname === PAGE || pathname.startsWith(`${PAGE}/`) || pathname.startsWith('/fonts/');
}

export {};
