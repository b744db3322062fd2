/**
 * The documents of the shop's pages: what a reader, a search engine and a shared link see before the pages' script has
 * come, and without it.
 *
 * The first HTML is drawn by the shop's own components (`web/storefront/server.tsx`). Everything that comes from a
 * catalogue is escaped, in the head by `html`, in data blocks by `dataBlock`.
 */
import type { EventBrand, EventList } from '#client/bodies.ts';
import { isEmpty, narrowed, type Filter } from '#client/event-filter.ts';
import type { Language } from '#texts/locale/language.ts';
import { TEXTS } from '#texts/texts.ts';
import type { ShopViews } from '../../web/shop-views.ts';
import { drawn, html, type Html } from '../pages/html.ts';

/** Undefined where pages have no brand. */
export type ShopBrand = EventBrand | undefined;

/** A page of the shop, to be filled into its document. */
export interface ShopPage {
  readonly head: Html;
  /** The first HTML; null where its script alone can draw the page. */
  readonly app: string | null;
  /** What the page's script would have to ask for; null where it asks. */
  readonly data: object | null;
}

/** What a head says of a page. */
interface HeadLines {
  readonly title: string;
  readonly description: string;
  /** The page's own address; null for one that should not be found. */
  readonly url: string | null;
  readonly image: string | null;
  readonly language: Language;
  /** Whose page it is. */
  readonly brand: ShopBrand;
}

export function headOf({ title, description, url, image, language, brand }: HeadLines): Html {
  const shop = shopName(language, brand);
  const shown = title === shop ? title : `${title} · ${shop}`;
  if (url === null) {
    return html`<title>${shown}</title> <meta name="robots" content="noindex" />`;
  }
  return html`<title>${shown}</title>
    <meta name="description" content="${description}" />
    <link rel="canonical" href="${url}" />
    <meta property="og:type" content="website" />
    <meta property="og:site_name" content="${shop}" />
    <meta property="og:title" content="${title}" />
    <meta property="og:description" content="${description}" />
    <meta property="og:url" content="${url}" />
    <meta property="og:locale" content="${language === 'de' ? 'de_DE' : 'en_GB'}" />
    ${image === null ? null : html`<meta property="og:image" content="${image}" />`}
    <meta name="twitter:card" content="${image === null ? 'summary' : 'summary_large_image'}" />`;
}

/** The common name of all pages of a shop. */
const shopName = (language: Language, brand: ShopBrand): string => brand?.name ?? TEXTS[language].frame.shop;

/**
 * A script element that is data: it is not run, so the policy does not concern it. No text in it can end the element.
 */
export function dataBlock(type: string, id: string, value: object): Html {
  const text = JSON.stringify(value).replaceAll('<', '\\u003c');
  return html`<script type="${type}" id="${id}">
    ${drawn(text)}
  </script>`;
}

/** The page in place of an event that does not exist. */
export function missingPage(language: Language, views: ShopViews, brand: ShopBrand): ShopPage {
  const { title } = TEXTS[language].missing;
  const head = headOf({ title, description: '', url: null, image: null, language, brand });
  return { head, app: views.missing(brand), data: null };
}

/** Events that a page draws; its script draws the others. */
export const LIST_LIMIT = 24;

/** What pages are drawn with. */
export interface PageParts {
  readonly views: ShopViews;
  readonly baseUrl: string;
  readonly now: number;
  /** Whose page it is. */
  readonly brand: ShopBrand;
}

/**
 * The list, narrowed to the events that fit. For a narrowed list, `list` has all events, as far as a search reads at
 * once; the page's script is given the drawn events as `found`, because they are no page of the list.
 */
export function listPage(
  list: EventList,
  language: Language,
  filter: Filter,
  { views, baseUrl, now, brand }: PageParts,
): ShopPage {
  const { description } = TEXTS[language].frame;
  const title = shopName(language, brand);
  const head = headOf({ title, description, url: `${baseUrl}/`, image: null, language, brand });
  const app = views.list(list, filter, { now, cardsMax: LIST_LIMIT, brand });
  if (isEmpty(filter)) return { head, app, data: { list } };
  return { head, app, data: { found: narrowed(list.events, filter).slice(0, LIST_LIMIT) } };
}

/** A page that its script alone can draw. */
export function plainPage(language: Language, brand: ShopBrand): ShopPage {
  const title = shopName(language, brand);
  return { head: headOf({ title, description: '', url: null, image: null, language, brand }), app: null, data: null };
}

/** `shop` is the brand of the service, `page` that of the page. */
interface Brands {
  readonly shop: ShopBrand;
  readonly page: ShopBrand;
}

/** The document of a page: the storefront's own, with its places filled in. */
export function documentOf(
  template: string,
  language: Language,
  { head, app, data }: ShopPage,
  brands: Brands,
): string {
  const { noScript } = TEXTS[language];
  const noscript = html`<section class="narrow no-script">
    <h2>${noScript.title}</h2>
    <p>${noScript.why}</p>
    <p>${noScript.how}</p>
  </section>`;
  const parts: Readonly<Record<string, string>> = {
    language,
    head: head.html,
    app: app ?? '',
    noscript: noscript.html,
    brand: looksOf(brands.page).html,
    data: `${brandData(brands)}${data === null ? '' : dataBlock('application/json', 'first', data).html}`,
  };
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? '');
}

/** What the head of a page loads of its brand, behind the style of all pages. */
function looksOf(brand: ShopBrand): Html {
  const { style = null, logo = null } = brand ?? {};
  return html`${style === null ? null : html`<link rel="stylesheet" id="brand-style" href="${style}" />`}
  ${logo === null ? null : html`<link rel="icon" href="${logo}" />`}`;
}

/** For the page's script: without it the pages have no brand. */
function brandData({ shop, page }: Brands): string {
  return shop === undefined && page === undefined ? '' : dataBlock('application/json', 'brand', { shop, page }).html;
}
