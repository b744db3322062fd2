/**
 * The pages of the reference: introduction, guides, operations, errors and states.
 *
 * Each text has one source: operations come from the OpenAPI document, errors from the table that sends them, states
 * from the machines, guides and examples from `src/docs`, answers from a real service.
 */
import { drawnMachines } from '#docs/diagram.ts';
import type { Example } from '#docs/example.ts';
import { examples, refusedExample, type ExampleKey } from '#docs/examples.ts';
import { exampleKeysOf, placeIn, readGuides, readLinkedFiles, type GuideBlock, type Guide } from '#docs/guides.ts';
import { snippetOf } from '#docs/snippets.ts';
import { ERRORS } from '../protocol/errors.ts';
import type { DocsPage } from './frame.ts';
import { drawn, html, type Html } from '../pages/html.ts';
import { addressOf, anchorOf, operationHtml, operationsHtml, operationsOf, type ShownDocument } from './operations.ts';
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
    return { path: addressOf(operation), title: operation.summary, about: operation.description ?? '', body };
  });
  const all = html`${operationsHtml(document, origin)}`;
  const pages: readonly DocsPage[] = [
    startPage(source),
    {
      path: '/docs/operations',
      title: document.info.title,
      about: `Every operation of ${document.info.title}.`,
      body: all,
    },
    ...operations,
    errorsPage(source),
    statesPage(),
    ...readGuides().map((guide) => guidePage(guide, source)),
    ...Array.from(readLinkedFiles(), ([name, text]): DocsPage => ({
      path: `/docs/files/${name}`,
      title: name,
      body: codeHtml(text, name),
    })),
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
  const entries = [...Map.groupBy(readGuides(), ({ topic }) => topic)].map(
    ([topic, guides]) =>
      html`<h2>${topic}</h2>
        <ul class="plain">
          ${guides.map(
            ({ slug, title, lead }) =>
              html`<li>
                <h3><a href="/docs/guides/${slug}">${title}</a></h3>
                <p>${lead}</p>
              </li>`,
          )}
        </ul>`,
  );
  const topics = (document.tags ?? []).map(
    ({ name, description = '' }) =>
      html`<li><a href="/docs/operations#${anchorOf(name)}">${name}</a> ${description}</li>`,
  );
  const about =
    'Events, seats, holds, a fair waiting room and checkout over plain JSON. An answer to a change means that it is on disk.';
  const body = html`<p class="lead">${about}</p>
    <p>
      This is the reference of <code>${origins[listener]}</code>. Times are RFC 3339 in UTC, amounts integers in the
      currency's minor unit. Every error has one body: match on its <a href="/docs/errors">code</a>. What may become of
      a hold, an order or a seat is drawn at <a href="/docs/states">states</a>.
    </p>
    ${entries}
    <h2>Operations</h2>
    <ul>
      ${topics}
    </ul>
    ${
      listener === 'public'
        ? html`<p>A shop of a hundred lines that uses them is at <a href="/example">/example</a>, with its source.</p>`
        : null
    }`;
  return { path: '/docs', title: 'Build a shop on Holdfast', about, body };
}

function guidePage(guide: Guide, source: DocsSource): DocsPage {
  const { slug, title, lead, sections } = guide;
  const keys = exampleKeysOf(guide);
  const parts = sections.map(
    (section) =>
      html`<h2 id="${anchorOf(section.title)}">${section.title}</h2>
        ${section.blocks.map((block) => blockHtml(block, keys, source))}`,
  );
  return {
    path: `/docs/guides/${slug}`,
    title,
    about: lead,
    body: html`<p class="lead">${lead}</p>
      ${parts}`,
  };
}

function blockHtml(block: GuideBlock, keys: readonly ExampleKey[], { listener, origins }: DocsSource): Html {
  if ('html' in block) return drawn(block.html);
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
