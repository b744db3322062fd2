/**
 * The first HTML of the shop's pages: what a reader, a search engine and a shared link see before the pages' script has come, and
 * without it.
 *
 * The script draws the same elements with the same classes, so that nothing moves when it takes over; a test compares them. Everything
 * that comes from a catalogue is escaped by `html`, data blocks by `dataBlock`.
 */
import type { Legal } from '#client/bodies.ts';
import { POSTER_BOX, posterShapes } from '#client/poster.ts';
import { LANGUAGES, type Language } from '#texts/language.ts';
import { TEXTS } from '#texts/texts.ts';
import { drawn, html, type Html } from './html.ts';

/** A page of the shop, to be filled into its document. */
export interface ShopPage {
  readonly head: Html;
  readonly app: Html | null;
  /** What the page's script would have to ask for; null where it asks. */
  readonly data: object | null;
}

/** What a head says of a page. */
export interface HeadLines {
  readonly title: string;
  readonly description: string;
  /** The page's own address; null for one that should not be found. */
  readonly url: string | null;
  readonly image: string | null;
  readonly language: Language;
}

export function headOf({ title, description, url, image, language }: HeadLines): Html {
  const { shop } = TEXTS[language].frame;
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

/** A script element that is data: it is not run, so the policy does not concern it. No text in it can end the element. */
export function dataBlock(type: string, id: string, value: object): Html {
  const text = JSON.stringify(value).replaceAll('<', '\\u003c');
  return html`<script type="${type}" id="${id}">
    ${drawn(text)}
  </script>`;
}

/** What stands in front of and after the main part, as `parts/frame.tsx` draws it. */
export function frameOf(language: Language, legal: Legal | null, main: Html): Html {
  const { frame } = TEXTS[language];
  const links = [
    [frame.terms, legal?.terms_url ?? null],
    [frame.imprint, legal?.imprint_url ?? null],
    [frame.privacy, legal?.privacy_url ?? null],
  ] as const;
  const shown = links.flatMap(([name, href]) =>
    href === null ? [] : [html`<a href="${href}" rel="noopener">${name}</a>`],
  );
  return html`<a class="skip" href="#main">${frame.skip}</a>
    <header class="bar">
      <a href="/" class="brand">
        <svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true">
          <rect width="32" height="32" rx="8" class="brand-ground"></rect>
          <path class="brand-ticket" d="M7 11h18v3.200a2 2 0 0 0 0 3.600V21H7v-3.200a2 2 0 0 0 0-3.600z"></path>
        </svg>
        <span>Holdfast</span>
      </a>
    </header>
    <p class="unseen" role="status" id="announcements"></p>
    <main id="main" tabindex="-1">${main}</main>
    <footer class="foot">
      ${legal === null ? null : html`<p class="legal">${shown}</p>`}
      <p>${frame.held} <a href="/docs">${frame.forDevelopers}</a></p>
      <p class="languages" role="group" aria-label="${frame.language}">
        ${Object.entries(LANGUAGES).map(
          ([tag, name]) =>
            html`<button type="button" lang="${tag}" aria-pressed="${tag === language ? 'true' : 'false'}">
              ${name}
            </button>`,
        )}
      </p>
    </footer>`;
}

/** The picture of an event, or its poster, as `parts/poster.tsx` draws them. */
export function artOf(slug: string, picture: string | undefined, isFirst: boolean): Html {
  if (picture !== undefined) {
    const loading = isFirst ? 'eager' : 'lazy';
    return html`<img class="poster" src="${picture}" alt="" width="1200" height="750" loading="${loading}" />`;
  }
  return html`<svg class="poster" viewBox="${POSTER_BOX}" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
    ${drawn(posterShapes(slug))}
  </svg>`;
}

/** In place of an event that there is not. */
export function missingPage(language: Language): ShopPage {
  const { missing, refusals } = TEXTS[language];
  const main = html`<div class="narrow">
    <h1 tabindex="-1">${missing.event}</h1>
    <p class="lead">${refusals.EVENT_NOT_FOUND}</p>
    <p><a href="/" class="button primary">${missing.seeAll}</a></p>
  </div>`;
  const head = headOf({ title: missing.title, description: '', url: null, image: null, language });
  return { head, app: frameOf(language, null, main), data: null };
}

/** A page that its script alone can draw. */
export function plainPage(language: Language): ShopPage {
  const { shop } = TEXTS[language].frame;
  return { head: headOf({ title: shop, description: '', url: null, image: null, language }), app: null, data: null };
}

/** The document of a page: the storefront's own, with its places filled in. */
export function documentOf(template: string, language: Language, { head, app, data }: ShopPage): string {
  const { noScript } = TEXTS[language];
  const noscript = html`<section class="narrow no-script">
    <h2>${noScript.title}</h2>
    <p>${noScript.why}</p>
    <p>${noScript.how}</p>
  </section>`;
  const parts: Readonly<Record<string, string>> = {
    language,
    head: head.html,
    app: (app ?? html``).html,
    noscript: noscript.html,
    data: data === null ? '' : dataBlock('application/json', 'first', data).html,
  };
  return template.replace(/\{\{(\w+)\}\}/g, (_, name: string) => parts[name] ?? '');
}
