/**
 * The pages of the reference: introduction, guides, operations, errors and states.
 *
 * Each text has one source: operations come from the OpenAPI document, errors from the table that sends them, states from the
 * machines, guides and examples from `src/docs`. The pages have no script and load nothing.
 */
import { createHash } from 'node:crypto';
import { drawnMachines } from '#src/docs/diagram.ts';
import { examples } from '#src/docs/examples.ts';
import { guides, type Block, type Guide } from '#src/docs/guides.ts';
import { ERRORS } from '../errors.ts';
import { DOCS_STYLE } from './docs-style.ts';
import { drawn, html, type Html } from './html.ts';

/** The part of an OpenAPI document that is shown. */
export interface ShownDocument {
  readonly info: { readonly title: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, ShownOperation>>>>;
}

interface ShownOperation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
}

export interface DocsPage {
  readonly path: string;
  readonly title: string;
  readonly body: Html;
}

const GROUPS = [
  { title: 'Guides', pages: guides.map(({ slug, title }) => [`/docs/guides/${slug}`, title] as const) },
  {
    title: 'Reference',
    pages: [
      ['/docs/operations', 'Operations'],
      ['/docs/errors', 'Errors'],
      ['/docs/states', 'States'],
      ['/docs/explorer', 'Explorer'],
      ['/openapi.json', 'OpenAPI document'],
    ] as const,
  },
];

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(DOCS_STYLE).digest('base64')}'`,
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Every page of the reference but those of the explorer, by its path; made when it is requested. */
export function docsPages(document: () => ShownDocument): ReadonlyMap<string, () => DocsPage> {
  return new Map([
    ['/docs', startPage],
    ['/docs/', startPage],
    ['/docs/operations', () => operationsPage(document())],
    ['/docs/errors', errorsPage],
    ['/docs/states', statesPage],
    ...guides.map((guide) => [`/docs/guides/${guide.slug}`, () => guidePage(guide)] as const),
  ]);
}

/** The headers of every page of the reference. */
export const DOCS_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': POLICY,
  'referrer-policy': 'same-origin',
} as const;

/** The page as HTML. */
export function documentOf({ path, title, body }: DocsPage): string {
  const links = GROUPS.map(
    (group) =>
      html`<b>${group.title}</b>
        <div class="links">
          ${group.pages.map(
            ([address, name]) => html`<a href="${address}" ${address === path ? current : null}>${name}</a>`,
          )}
        </div>`,
  );
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} · Holdfast</title>
        <link rel="icon" href="data:," />
        ${drawn(`<style>${DOCS_STYLE}</style>`)}
      </head>
      <body>
        <div class="docs">
          <nav aria-label="Reference"><a class="home" href="/docs">Holdfast</a>${links}</nav>
          <main>
            <h1>${title}</h1>
            ${body}
          </main>
        </div>
      </body>
    </html>`.html;
}

const current = drawn('aria-current="page"');

// ── where to begin, and guides ───────────────────────────────────────────────────────────────────────────────────────

function startPage(): DocsPage {
  const entries = guides.map(
    ({ slug, title, lead }) =>
      html`<li>
        <h3><a href="/docs/guides/${slug}">${title}</a></h3>
        <p>${lead}</p>
      </li>`,
  );
  const body = html`<p class="lead">
      Events, seats, holds, a fair waiting room and checkout over plain JSON. An answer to a change means that it is on
      disk.
    </p>
    <p>
      Times are RFC 3339 in UTC, amounts integers in the currency's minor unit. Every error has one body: match on its
      <a href="/docs/errors">code</a>. What may become of a hold, an order or a seat is drawn at
      <a href="/docs/states">states</a>, and every call can be tried in the <a href="/docs/explorer">explorer</a>.
    </p>
    <ul class="plain">
      ${entries}
    </ul>`;
  return { path: '/docs', title: 'Build a shop on Holdfast', body };
}

function guidePage({ slug, title, lead, sections }: Guide): DocsPage {
  const parts = sections.map(
    (section) =>
      html`<h2>${section.title}</h2>
        ${section.blocks.map(blockHtml)}`,
  );
  return {
    path: `/docs/guides/${slug}`,
    title,
    body: html`<p class="lead">${lead}</p>
      ${parts}`,
  };
}

function blockHtml(block: Block): Html {
  return 'code' in block ? codeHtml(block.code) : html`<p>${inline(block.text)}</p>`;
}

function codeHtml(code: string): Html {
  return drawn(`<pre tabindex="0"><code>${html`${code}`.html}</code></pre>`);
}

/** Text in which words between backticks are code. */
function inline(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

// ── operations, errors, states ───────────────────────────────────────────────────────────────────────────────────────

function operationsPage(document: ShownDocument): DocsPage {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  );
  const topics = [...new Set(operations.map(({ tags }) => tags[0] ?? ''))];
  const body = topics.map((topic) => {
    const items = operations
      .filter(({ tags }) => (tags[0] ?? '') === topic)
      .map(({ path, method, summary, operationId }) => {
        const example = examples[operationId];
        return html`<li id="${operationId}">
          <h3><span class="verb ${method}">${method}</span> <code>${path}</code></h3>
          <p>${summary}. <a href="/docs/explorer#/${topic}/${operationId}">Fields, answers and trying it</a></p>
          ${example === undefined ? null : codeHtml(example)}
        </li>`;
      });
    return html`<h2>${topic}</h2>
      <ul class="plain">
        ${items}
      </ul>`;
  });
  const lead = html`<p class="lead">
    Every call of this listener. Any of them may answer with an <a href="/docs/errors">error</a>; the lines work on the
    demo catalogue.
  </p>`;
  return { path: '/docs/operations', title: document.info.title, body: html`${lead}${body}` };
}

function errorsPage(): DocsPage {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, message, meaning }]) =>
      html`<tr id="${code}">
        <td>${status}</td>
        <td>
          <a href="#${code}"><code>${code}</code></a>
        </td>
        <td><b>${message}</b><br />${meaning}</td>
      </tr>`,
  );
  const sample = JSON.stringify(
    {
      statusCode: 409,
      code: 'INSUFFICIENT_TICKETS',
      message: ERRORS.INSUFFICIENT_TICKETS.message,
      detail: { ticket_type_id: 'single', available: 1 },
      timestamp: '2028-09-23T21:00:00.000Z',
    },
    null,
    2,
  );
  const body = html`<p class="lead">
      Every error has the same body. Codes never change their meaning; messages are for people and may.
    </p>
    ${codeHtml(sample)}
    <div class="frame">
      <table>
        <thead>
          <tr>
            <th>Status</th>
            <th>Code</th>
            <th>What happened, and what to do</th>
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`;
  return { path: '/docs/errors', title: 'Errors', body };
}

function statesPage(): DocsPage {
  const parts = drawnMachines().map(({ title, description, transitions, svg }) => {
    const rows = transitions.map(
      ({ from, trigger, to, when }) =>
        html`<tr>
          <td><code>${from ?? 'new'}</code></td>
          <td>${trigger === null ? null : html`<code>${trigger}</code>`}</td>
          <td><code>${to}</code></td>
          <td>${inline(when)}</td>
        </tr>`,
    );
    return html`<h2>${title}</h2>
      <p>${inline(description)}</p>
      <div class="frame" tabindex="0">${drawn(svg)}</div>
      <div class="frame">
        <table>
          <thead>
            <tr>
              <th>From</th>
              <th>Trigger</th>
              <th>To</th>
              <th>When</th>
            </tr>
          </thead>
          <tbody>
            ${rows}
          </tbody>
        </table>
      </div>`;
  });
  const lead = html`<p class="lead">
    Every status and every legal change of it, drawn from the machines that the service itself obeys. What is not here
    cannot happen.
  </p>`;
  return { path: '/docs/states', title: 'States', body: html`${lead}${parts}` };
}
