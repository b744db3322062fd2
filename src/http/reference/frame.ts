/** The frame of every page of the reference: its head, the search, and the contents beside the page. */
import { createHash } from 'node:crypto';
import { readGuides } from '#docs/guides.ts';
import { DOCS_STYLE } from './style.ts';
import { drawn, html, type Html } from '../pages/html.ts';
import { addressOf, anchorOf, operationsOf, verbHtml, type ShownDocument } from './operations.ts';

export interface DocsPage {
  readonly path: string;
  readonly title: string;
  /** A sentence for search engines; made of the title where there is none. */
  readonly about?: string;
  readonly body: Html;
}

/** What the frame shows beside a page. */
interface Frame {
  readonly document: ShownDocument;
  /** Whether the listener has the script of the reference. */
  readonly hasScript: boolean;
}

/** The script of the reference: copying, sending and searching. Every page can be read without it. */
export const SCRIPT_PATH = '/docs/reference.js';

/** What the script searches. */
export const SEARCH_PATH = '/docs/search.json';

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(DOCS_STYLE).digest('base64')}'`,
  "script-src 'self'",
  "connect-src 'self'",
  'img-src data:',
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The headers of every page of the reference. */
export const DOCS_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'referrer-policy': 'same-origin',
} as const;

const current = drawn('aria-current="page"');

/** The page as HTML. */
export function documentOf(
  { path, title, about = `${title}, in the reference of Holdfast.`, body }: DocsPage,
  frame: Frame,
): string {
  const script = frame.hasScript ? drawn(`<script src="${SCRIPT_PATH}" defer></script>`) : null;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Holdfast</title>
        <meta name="description" content="${about}" />
        <link rel="icon" href="data:," />
        ${drawn(`<style>${DOCS_STYLE}</style>`)} ${script}
      </head>
      <body>
        <a class="skip" href="#page">To the page</a>
        <header class="bar">
          <a class="home" href="/docs">Holdfast <span>reference</span></a>
          <search hidden></search>
          <label class="menu"><input type="checkbox" id="contents-shown" /><span>Contents</span></label>
        </header>
        <div class="docs">
          ${contentsHtml(path, frame)}
          <main id="page">
            <h1>${title}</h1>
            ${body}
          </main>
        </div>
      </body>
    </html>`.html;
}

function contentsHtml(path: string, { document }: Frame): Html {
  const link = (address: string, name: string | Html): Html =>
    html`<a href="${address}" ${address === path ? current : null}>${name}</a>`;
  const operations = operationsOf(document);
  const topics = (document.tags ?? []).map(({ name }) => {
    const ofTopic = operations.filter(({ topic }) => topic === name);
    if (ofTopic.length === 0) return link(`/docs/operations#${anchorOf(name)}`, name);
    const isOpen = ofTopic.some((operation) => addressOf(operation) === path);
    const links = ofTopic.map((operation) =>
      link(addressOf(operation), html`${verbHtml(operation.method)} ${operation.summary}`),
    );
    return html`<details ${isOpen ? drawn('open') : null}>
      <summary>${name}</summary>
      ${links}
    </details>`;
  });
  const guides = [...Map.groupBy(readGuides(), ({ topic }) => topic)].map(
    ([topic, ofTopic]) =>
      html`<b>${topic}</b> ${ofTopic.map(({ slug, title }) => link(`/docs/guides/${slug}`, title))}`,
  );
  return html`<nav aria-label="Contents">
    ${guides}
    <b>Reference</b>
    ${link('/docs/operations', 'All operations')} ${topics} ${link('/docs/errors', 'Errors')}
    ${link('/docs/states', 'States')} ${link('/openapi.json', 'OpenAPI document')}
  </nav>`;
}
