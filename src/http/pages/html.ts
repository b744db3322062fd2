/**
 * Pages that the service writes itself: text that is safe in HTML, and the frame around it.
 *
 * Every value in a template is escaped, unless it is HTML made by another template. The policy names a page's
 * one style sheet and its script, where it has one, by their hashes, so that nothing else can be added.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { LRUCache } from 'lru-cache';
import { styleOf, type Brand } from '#brand/brand.ts';
import { labelIn, supportHref } from '#client/brand.ts';
import type { ServedTexts } from '#texts/served.ts';
import { varyByLanguage } from '../protocol/negotiation.ts';
import { STYLE } from './style.ts';
import type { ErrorBody } from '../protocol/errors.ts';

/** HTML that was made by a template. */
export interface Html {
  readonly html: string;
}

type Content = Html | string | number | null | readonly Html[];

/** Writes HTML; a value in ${} is escaped unless it is HTML already, and null is left out. */
export function html(texts: TemplateStringsArray, ...contents: readonly Content[]): Html {
  return { html: String.raw({ raw: texts }, ...contents.map(htmlOf)) };
}

/** Takes text for HTML as it is; for what a library has drawn. */
export function drawn(text: string): Html {
  return { html: text };
}

function htmlOf(content: Content): string {
  if (content === null) return '';
  if (typeof content === 'string' || typeof content === 'number') return escapeHtml(String(content));
  return 'html' in content ? content.html : content.map((each) => each.html).join('');
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for HTML, inside and outside of attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character]!);
}

export interface Page {
  readonly texts: ServedTexts;
  /** Whose page it is. */
  readonly brand: Brand;
  readonly title: string;
  readonly body: Html;
  /** Runs once the page is there; it may ask this origin. The page works without it too. */
  readonly script?: InlineText;
  /** Where the buyer came from; above the page's text. */
  readonly back?: { readonly href: string; readonly label: string };
  /** Addresses that the page's forms may lead to beside its own. */
  readonly formTargets?: readonly string[];
}

/** Sends a page that must not be cached, indexed or framed. Its address is a secret that no link reveals. */
export function sendPage(reply: FastifyReply, page: Page): FastifyReply {
  return varyByLanguage(reply)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policyOf(page),
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
    })
    .send(documentOf(page));
}

/** A form may be answered with a redirect, which browsers check against the policy too. */
function policyOf({ formTargets = [], brand, script }: Page): string {
  const origins = new Set(formTargets.filter((url) => URL.canParse(url)).map((url) => new URL(url).origin));
  return [
    "default-src 'none'",
    `style-src ${pageStyle(brand).hash}`,
    ...(script === undefined ? [] : [`script-src ${script.hash}`, "connect-src 'self'"]),
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    `form-action ${["'self'", ...origins].join(' ')}`,
  ].join('; ');
}

const LOGO = drawn(
  '<svg viewBox="0 0 32 32" width="28" height="28" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M7 11h18v3.2a2 2 0 0 0 0 3.6V21H7v-3.2a2 2 0 0 0 0-3.6z"/></svg>',
);
const ARROW = drawn(
  '<svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true"><path d="M16 10H4m5-5-5 5 5 5"/></svg>',
);

function documentOf({ texts, brand, title, body, back, script }: Page): string {
  const head = html`<meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="robots" content="noindex" />
    <title>${brand.name === null ? title : `${title} · ${brand.name}`}</title>
    <link rel="icon" href="${brand.logo ?? 'data:,'}" />`;
  const way = back === undefined ? null : html`<p class="back"><a href="${back.href}">${ARROW} ${back.label}</a></p>`;
  return html`<!doctype html>
    <html lang="${texts.frame.language}">
      <head>
        ${head} ${drawn(`<style>${pageStyle(brand).text}</style>`)}
      </head>
      <body>
        <header class="bar${brand.name === null && brand.logo === null ? '' : ' own'}">
          <a class="brand" href="/">${markOf(brand)}<span>${brand.name ?? texts.frame.shop}</span></a>
        </header>
        <main>${way} ${body}</main>
        <footer class="foot">${footOf(brand, texts)}</footer>
        ${script === undefined ? null : drawn(`<script>${script.text}</script>`)}
      </body>
    </html>`.html;
}

/** The text of a style sheet or a script in a page, and as the policy names it. */
interface InlineText {
  readonly text: string;
  readonly hash: string;
}

export function inlineText(text: string): InlineText {
  return { text, hash: `'sha256-${createHash('sha256').update(text).digest('base64')}'` };
}

/** By the address of a brand's style sheet, which determines its contents. */
const knownStyles = new LRUCache<string, InlineText>({ max: 200 });

function pageStyle(brand: Brand): InlineText {
  const key = brand.style ?? '';
  const known = knownStyles.get(key);
  if (known !== undefined) return known;
  const made = inlineText(brand.style === null ? STYLE : STYLE + styleOf(brand));
  knownStyles.set(key, made);
  return made;
}

/** The logo beside the name; its `alt` is empty because the name says the same. */
const markOf = ({ logo }: Brand): Html =>
  logo === null ? LOGO : html`<img src="${logo}" alt="" width="36" height="36" />`;

function footOf({ support, links, credit }: Brand, { frame }: ServedTexts): Html {
  const shown = links.map(({ label, url }) => html`<a href="${url}">${labelIn(frame.language, label)}</a> `);
  const asked = support === null ? null : html`<a href="${supportHref(support)}">${support}</a>`;
  return html`<p>${frame.questions} ${asked}</p>
    ${shown.length === 0 ? null : html`<p class="links">${shown}</p>`} ${credit ? html`<p>${frame.credit}</p>` : null}`;
}

/** The page of an error; its code and status are those of the body that programs get. */
export function failurePage({ code }: Pick<ErrorBody, 'code'>, texts: ServedTexts, brand: Brand): Page {
  const { failures, frame } = texts;
  const [heading, hint] = failures[isKnown(code, failures) ? code : 'OTHER'];
  return {
    texts,
    brand,
    title: heading,
    body: html`<h1>${heading}</h1>
      <p class="lead">${hint}</p>
      <p class="actions"><a class="button" href="/">${frame.seeAll}</a></p>`,
  };
}

function isKnown(code: string, failures: ServedTexts['failures']): code is keyof ServedTexts['failures'] {
  return Object.hasOwn(failures, code);
}
