/**
 * The pages of the reference: introduction, guides, operations, errors and states.
 *
 * Each text has one source: operations come from the OpenAPI document, errors from the table that sends them, states from the
 * machines, guides and examples from `src/docs`, answers from a real service.
 */
import { drawnMachines } from '#src/docs/diagram.ts';
import { valuesOf, type Example } from '#src/docs/example.ts';
import { examples, refusedExample, type ExampleKey } from '#src/docs/examples.ts';
import type { Block, Guide } from '#src/docs/guide.ts';
import { guides } from '#src/docs/guides.ts';
import { snippetOf } from '#src/docs/snippets.ts';
import { ERRORS } from '../errors.ts';
import type { DocsPage } from './docs-frame.ts';
import { drawn, html, type Html } from './html.ts';
import {
  addressOf,
  anchorOf,
  operationHtml,
  operationsHtml,
  operationsOf,
  type ShownDocument,
} from './operation-pages.ts';
import { answerHtml, answerOf, codeHtml, requestHtml, type Origins } from './samples.ts';

/** What the pages of a listener are made of. */
export interface DocsSource {
  readonly document: ShownDocument;
  readonly listener: 'public' | 'admin';
  readonly origins: Origins;
}

/** Every page of the reference, by its path. */
export function docsPages(source: DocsSource): ReadonlyMap<string, DocsPage> {
  const { document, listener, origins } = source;
  const origin = origins[listener];
  const operations = operationsOf(document).map((operation): DocsPage => {
    const body = operationHtml(operation, document, origins, origin);
    return { path: addressOf(operation), title: operation.summary, body };
  });
  const all = html`${operationsHtml(document, origin)}`;
  const pages: readonly DocsPage[] = [
    startPage(source),
    { path: '/docs/operations', title: document.info.title, body: all },
    ...operations,
    errorsPage(source),
    statesPage(),
    ...guides.map((guide) => guidePage(guide, source)),
  ];
  return new Map(pages.map((page) => [page.path, page]));
}

/** What is shown where there is no page. */
export const missingPage: DocsPage = {
  path: '',
  title: 'There is no such page',
  body: html`<p class="lead">
      The link may be old, or mistyped. Everything there is stands in the contents of this page.
    </p>
    <p><a href="/docs">Start of the reference</a> · <a href="/docs/operations">All operations</a></p>`,
};

// ── where to begin, and guides ───────────────────────────────────────────────────────────────────────────────────────

function startPage({ document, listener, origins }: DocsSource): DocsPage {
  const entries = guides.map(
    ({ slug, title, lead }) =>
      html`<li>
        <h3><a href="/docs/guides/${slug}">${title}</a></h3>
        <p>${lead}</p>
      </li>`,
  );
  const topics = (document.tags ?? []).map(
    ({ name, description = '' }) =>
      html`<li><a href="/docs/operations#${anchorOf(name)}">${name}</a> ${description}</li>`,
  );
  const body = html`<p class="lead">
      Events, seats, holds, a fair waiting room and checkout over plain JSON. An answer to a change means that it is on
      disk.
    </p>
    <p>
      This is the reference of <code>${origins[listener]}</code>. Times are RFC 3339 in UTC, amounts integers in the
      currency's minor unit. Every error has one body: match on its <a href="/docs/errors">code</a>. What may become of
      a hold, an order or a seat is drawn at <a href="/docs/states">states</a>.
    </p>
    <h2>Guides</h2>
    <ul class="plain">
      ${entries}
    </ul>
    <h2>Operations</h2>
    <ul>
      ${topics}
    </ul>
    ${
      listener === 'public'
        ? html`<p>A shop of a hundred lines that uses them is at <a href="/example">/example</a>, with its source.</p>`
        : null
    }`;
  return { path: '/docs', title: 'Build a shop on Holdfast', body };
}

function guidePage({ slug, title, lead, sections }: Guide, source: DocsSource): DocsPage {
  const keys = sections.flatMap(({ blocks }) => blocks.flatMap((block) => ('example' in block ? [block.example] : [])));
  const parts = sections.map(
    (section) =>
      html`<h2 id="${anchorOf(section.title)}">${section.title}</h2>
        ${section.blocks.map((block) => blockHtml(block, keys, source))}`,
  );
  return {
    path: `/docs/guides/${slug}`,
    title,
    body: html`<p class="lead">${lead}</p>
      ${parts}`,
  };
}

function blockHtml(block: Block, keys: readonly ExampleKey[], { listener, origins }: DocsSource): Html {
  if ('text' in block) return html`<p>${inline(block.text)}</p>`;
  if ('code' in block) return codeHtml(block.code);
  const example: Example = examples[block.example];
  const { operation, title, needs } = example;
  const host = example.listener === listener ? '' : origins[example.listener];
  const answer = answerHtml(block.example, origins);
  return html`<section class="sample">
    <h3>${title} <a class="more" href="${host}/docs/operations/${operation}">Fields and sending it</a></h3>
    ${needs === undefined ? null : html`<p class="needs">${inline(needs)}</p>`}
    ${requestHtml(block.example, origins, placeIn(keys, block.example))}
    ${
      answer === null
        ? null
        : html`<details>
            <summary>The answer</summary>
            ${answer}
          </details>`
    }
  </section>`;
}

/** What an example takes from those before it in a guide, and whether those after it take something from it. */
export function placeIn(keys: readonly ExampleKey[], key: ExampleKey) {
  const at = keys.indexOf(key);
  const namesGiven = (each: ExampleKey): string[] => Object.keys(examples[each].gives ?? {});
  const needed = new Set(keys.slice(at + 1).flatMap((each) => valuesOf(examples[each])));
  return {
    given: new Set(keys.slice(0, at).flatMap(namesGiven)),
    keeps: namesGiven(key).some((name) => needed.has(name)),
  };
}

/** Text in which words between backticks are code. */
function inline(text: string): Html[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`));
}

// ── errors, states ───────────────────────────────────────────────────────────────────────────────────────────────────

function errorsPage({ origins }: DocsSource): DocsPage {
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
  const { status, body: refused } = answerOf('refused', origins)!;
  const body = html`<p class="lead">
      Every error has the same body. Codes never change their meaning; messages are for people and may.
    </p>
    <p>Two seats of which another buyer has one are answered <span class="status">${String(status)}</span>:</p>
    ${codeHtml(snippetOf(refusedExample, 'curl', { examples, origin: origins.public }), refusedExample.title)}
    ${codeHtml(JSON.stringify(refused, null, 2), 'An error')}
    <div class="frame" tabindex="0" role="region" aria-label="Error codes">
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
    return html`<h2 id="${anchorOf(title)}">${title}</h2>
      <p>${inline(description)}</p>
      <div class="frame" tabindex="0" role="region" aria-label="Diagram: ${title}">${drawn(svg)}</div>
      <div class="frame" tabindex="0" role="region" aria-label="Changes: ${title}">
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
