/**
 * The shop's pages with their first HTML, in the language that the buyer chose or reads.
 *
 * 1. A page is made of the same view as the payload and kept under its revision: while nothing changes, a request costs
 *    the reading of a revision. The list, as the address narrows it, is kept as long as its bodies are the same.
 * 2. A page is read like a payload, and takes no turn. Where it cannot be read, because too much is asked of the event,
 *    the bare document comes, whose script asks by itself.
 * 3. An event that does not exist is answered with 404 and a page.
 */
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import { LRUCache } from 'lru-cache';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Overloaded } from '#actors/admission.ts';
import { readAt } from '#actors/event-port.ts';
import { filterOf, isEmpty, queryOf, SEARCH_PAGE, type Filter } from '#client/event-filter.ts';
import { firstPerformance } from '#client/first-performance.ts';
import type { EventList, EventListEntry, EventPayload } from '#client/bodies.ts';
import type { PayloadView } from '#domain/event/revisioned-views.ts';
import type { BrandedEvent } from '#domain/catalogue/definition.ts';
import type { EventSummary } from '#domain/event/public-view.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { Language } from '#texts/locale/language.ts';
import { brandPart, toEventBody, toEventSummaryBody } from '../buyers/events/body.ts';
import { LargeBody, PASSING } from '../protocol/encoding.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { languageOfRequest, varyByLanguage } from '../protocol/negotiation.ts';
import { eventPage } from './event.ts';
import { documentOf, LIST_LIMIT, listPage, missingPage, plainPage, type ShopBrand, type ShopPage } from './document.ts';
import { createPayloadCache, type CachedBody } from '../protocol/payload-cache.ts';
import type { PageFile, PublicPorts } from '../ports.ts';
import { toCursor } from '../protocol/request-parts.ts';
import type { HttpApp } from '../protocol/app.ts';
import { pageHeaders, sendFile } from '../pages/route.ts';

/** Lists that are kept, each narrowed in its own way, and their bytes (I10). */
const LISTS_MAX = 32;
const LIST_BYTES_MAX = 16 * 1024 * 1024;

/** Pages without contents that are kept: for each language, and for each brand of an event. */
const FIXED_MAX = 500;

const PAGES_OF_EVENT: ReadonlySet<string> = new Set(['checkout', 'queue', 'draw']);

type ShopPorts = Pick<PublicPorts, 'events' | 'clock' | 'settings' | 'baseUrl'> & {
  readonly storefront: NonNullable<PublicPorts['storefront']>;
};

export function shopRoutes(app: HttpApp, ports: ShopPorts): void {
  const pages = keptPages(ports);
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    make: (language: Language) => Promise<PageFile | null>,
  ) => {
    const language = languageOfRequest(request);
    varyByLanguage(pageHeaders(reply)).header('content-language', language);
    const file = await make(language).catch((error: unknown) => {
      if (error instanceof Overloaded) return pages.plain(language);
      throw error;
    });
    if (file !== null) return sendFile(request, reply, file, 'no-cache');
    return sendFile(request, reply.code(404), await pages.missing(language), 'no-cache');
  };

  const query = Type.Object({ date: Type.Optional(Type.String()) });
  const slugOnly = Type.Object({ slug: Type.String() });
  const perMinuteMax = ports.settings.limits.narrowedPagesPerMinuteMax;
  const counts = (request: FastifyRequest): boolean => !isEmpty(filterIn(request));
  app.get('/', { schema: { hide: true }, config: { clientLimit: { perMinuteMax, counts } } }, (request, reply) =>
    show(request, reply, (language) => pages.list(language, filterIn(request))),
  );
  app.get('/e/:slug', { schema: { hide: true, params: slugOnly, querystring: query } }, (request, reply) =>
    show(request, reply, (language) => pages.event(request.params.slug, request.query.date ?? null, language)),
  );
  app.get(
    '/e/:slug/:page',
    { schema: { hide: true, params: Type.Object({ slug: Type.String(), page: Type.String() }) } },
    (request, reply) =>
      show(request, reply, async (language) => {
        const { slug, page } = request.params;
        if (!PAGES_OF_EVENT.has(page)) return null;
        const event = await readAt(ports.events.bySlug(slug), EVENT_NOT_FOUND, { type: 'ReadBrand' });
        return isRefusal(event) ? null : pages.plain(language, event);
      }),
  );
}

const filterIn = ({ url }: FastifyRequest): Filter => filterOf(new URLSearchParams(url.replace(/^[^?]*/, '')));

interface ShopPages {
  /** The document alone, for a page that its script draws: of an event, or of none. */
  plain(language: Language, event?: BrandedEvent): Promise<PageFile>;
  missing(language: Language): Promise<PageFile>;
  list(language: Language, filter: Filter): Promise<PageFile>;
  /** Null where there is no such event. */
  event(slug: string, date: string | null, language: Language): Promise<PageFile | null>;
}

function keptPages(ports: ShopPorts): ShopPages {
  const { events, clock, settings, baseUrl, storefront } = ports;
  const { brand: shop } = brandPart(settings.brand, null);
  const fixed = new LRUCache<string, PageFile>({ max: FIXED_MAX });
  const lists = new LRUCache<string, { readonly source: EventList; readonly file: PageFile }>({
    max: LISTS_MAX,
    maxSize: LIST_BYTES_MAX,
    sizeCalculation: ({ source, file }, key) => 8 * source.events.length + 2 * (key.length + file.body.bytes.length),
  });
  const toEntry = keptEntries();

  const fill = async (language: Language, page: ShopPage, brand = shop): Promise<PageFile> =>
    htmlFile(documentOf(await storefront.document(), language, page, { shop, page: brand }));

  const once = async (
    name: string,
    language: Language,
    make: (language: Language, brand: ShopBrand) => ShopPage | Promise<ShopPage>,
    brand = shop,
  ): Promise<PageFile> => {
    const key = `${name} ${language} ${brand === shop ? '' : JSON.stringify(brand)}`;
    const file = fixed.get(key) ?? (await fill(language, await make(language, brand), brand));
    fixed.set(key, file);
    return file;
  };

  const plain: ShopPages['plain'] = (language, event) =>
    once('plain', language, plainPage, event?.brand === undefined ? shop : brandPart(settings.brand, event).brand);
  return {
    plain,
    missing: (language) =>
      once('missing', language, async () => missingPage(language, await storefront.views(language), shop)),
    async list(language, filter) {
      const limit = isEmpty(filter) ? LIST_LIMIT : SEARCH_PAGE;
      const { events: found, nextAfter } = await events.list({ limit, after: null });
      const list = { events: found.map(toEntry), next_cursor: toCursor(nextAfter) };
      const key = `${language} ${queryOf(filter)}`;
      const known = lists.get(key);
      if (known !== undefined && isSameList(known.source, list)) return known.file;
      const views = await storefront.views(language);
      const page = listPage(list, language, filter, { views, baseUrl: baseUrl(), now: clock.now(), brand: shop });
      const file = await fill(language, page);
      lists.set(key, { source: list, file });
      return file;
    },
    event: keptEvents(ports, plain),
  };
}

/**
 * Makes the function that writes a line of the list: the same object as long as it says the same, so that lists are
 * compared by their objects and a search finds what it made of a line before.
 */
function keptEntries(): (summary: EventSummary) => EventListEntry {
  interface Kept {
    summary: EventSummary;
    readonly json: string;
    readonly entry: EventListEntry;
  }
  const kept = new LRUCache<string, Kept>({ max: 2 * SEARCH_PAGE });
  return (summary) => {
    const before = kept.get(summary.id);
    if (before?.summary === summary) return before.entry;
    const entry = toEventSummaryBody(summary);
    const json = JSON.stringify(entry);
    if (before?.json === json) {
      before.summary = summary;
      return before.entry;
    }
    kept.set(summary.id, { summary, json, entry });
    return entry;
  };
}

function isSameList(a: EventList, b: EventList): boolean {
  const isSame = a.next_cursor === b.next_cursor && a.events.length === b.events.length;
  return isSame && a.events.every((entry, index) => entry === b.events[index]);
}

/** The page of an event, kept under the revision of its view. */
function keptEvents(ports: ShopPorts, plain: ShopPages['plain']): ShopPages['event'] {
  const { events, clock, settings, baseUrl, storefront } = ports;
  const { cachedPayloadsMax, cachedPayloadBytesMax } = settings.limits;
  const kept = createPayloadCache(cachedPayloadsMax, cachedPayloadBytesMax);
  const { brand: shop } = brandPart(settings.brand, null);
  /** The body as a client reads it: the same, with what its schema leaves open named. */
  const toPayload = ({ event }: PayloadView): EventPayload => toEventBody(event, settings.brand) as EventPayload;
  const readOne = (slug: string, performanceId: string | null, knownRevision: string | null) => {
    const query = { type: 'ReadPayload', performanceId, sessionKey: null, knownRevision } as const;
    return readAt(events.bySlug(slug), EVENT_NOT_FOUND, query);
  };
  return async (slug, date, language) => {
    const [template, views] = await Promise.all([storefront.document(), storefront.views(language)]);
    const read = async (knownRevision: string | null) => {
      const view = await readOne(slug, date, knownRevision);
      if (!('revision' in view) || date !== null) return view;
      const shown = firstPerformance(toPayload(view));
      return shown === null ? view : readOne(slug, shown, null);
    };
    const make = (view: PayloadView): CachedBody => {
      const event = toPayload(view);
      const { brand } = event;
      const performanceId = event.ticketAvailability[0]?.performance_id ?? null;
      const parts = { views, baseUrl: baseUrl(), now: clock.now(), brand };
      const page = eventPage(event, performanceId, language, parts);
      const { etag, body } = htmlFile(documentOf(template, language, page, { shop, page: brand }));
      return { etag, body };
    };
    const found = await kept.recall(`${language} ${slug} ${date ?? ''}`, read, make);
    if (!('outcome' in found)) return { contentType: HTML_TYPE, etag: found.etag!, body: found.body as LargeBody };
    return isRefusal(found) && found.code === 'EVENT_NOT_FOUND' ? null : plain(language);
  };
}

const HTML_TYPE = 'text/html; charset=utf-8';

function htmlFile(text: string): PageFile {
  const bytes = Buffer.from(text);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  return { contentType: HTML_TYPE, etag, body: new LargeBody(bytes, PASSING) };
}
