/** The proof of a draw as a page: what was committed to, the result, and a few lines of code that check it. */
import type { Brand } from '#brand/brand.ts';
import type { DrawView } from '#domain/view.ts';
import type { ServedTexts } from '#texts/served.ts';
import { html, type Html, type Page } from './html.ts';

interface DrawPageContent {
  readonly texts: ServedTexts;
  readonly brand: Brand;
  readonly name: string;
  readonly slug: string;
  readonly timezone: string;
  readonly opensAt: number | null;
  readonly draw: DrawView;
  /** Where the proof is. */
  readonly url: string;
}

/**
 * Checks a draw with Node alone: `node check-draw.mjs URL`. A test runs it against a real draw and against forged ones.
 */
export const CHECK_DRAW = `import { createHash, createHmac } from 'node:crypto';

const sha256 = (data) => createHash('sha256').update(data).digest('hex');
const entries = [];
let draw;
do {
  const response = await fetch(\`\${process.argv[2]}?limit=10000&offset=\${entries.length}\`);
  const body = await response.json();
  draw = body.data ?? body;
  entries.push(...draw.entries);
} while (entries.length < draw.count && draw.entries.length > 0);

const seed = Buffer.from(draw.seed, 'hex');
const digest = sha256([...entries].sort().join(''));
const opening = draw.opening && Buffer.from(draw.opening, 'hex');
const key = opening ? createHmac('sha256', seed).update(opening).digest() : seed;
const keys = entries.map((entry) => createHmac('sha256', key).update(digest + entry).digest('hex'));
const checks = {
  'the seed is the one that was committed to': sha256(seed) === draw.draw_commitment,
  'everybody who took part is shown once': entries.length === draw.count && new Set(entries).size === draw.count,
  'the digest is that of these entries': digest === draw.entries_digest,
  'the line is in the order of the draw': keys.every((key, index) => index === 0 || keys[index - 1] < key),
};
console.log(checks);
process.exitCode = Object.values(checks).every(Boolean) ? 0 : 1;`;

export function drawPage(content: DrawPageContent): Page {
  const { draw, name, slug, texts } = content;
  const words = texts.draw;
  return {
    texts,
    brand: content.brand,
    title: words.title(name),
    back: { href: `/e/${encodeURIComponent(slug)}`, label: name },
    body: html`<section>
        ${badgeOf(content)}
        <h1>${words.title(name)}</h1>
        ${draw.status === 'pending' ? promiseOf(content) : outcomeOf(content)}
      </section>
      ${numbersOf(content)}
      <section>
        <h2>${words.why}</h2>
        <p>${words.seed}</p>
        <p>${words.opening}</p>
        <p>${words.shown}</p>
        ${isWithoutOpening(draw) ? html`<p>${words.old}</p>` : null}
      </section>
      ${draw.status === 'pending' ? null : checkOf(content)}`,
  };
}

function badgeOf({ draw, texts }: DrawPageContent): Html {
  return draw.status === 'pending'
    ? html`<span class="badge wait">${texts.draw.pending}</span>`
    : html`<span class="badge good">${texts.draw.drawn}</span>`;
}

function promiseOf({ opensAt, timezone, texts }: DrawPageContent): Html {
  const when = opensAt === null ? null : texts.frame.dayAndHour(opensAt, timezone);
  return html`<p>${texts.draw.promise(when)}</p>`;
}

function outcomeOf({ draw, timezone, texts }: DrawPageContent): Html {
  return html`<p>${texts.draw.outcome(draw.count, texts.frame.dayAndHour(draw.drawnAt!, timezone))}</p>`;
}

/** A draw that was held and has no opening was recorded before openings existed. */
function isWithoutOpening({ status, opening }: DrawView): boolean {
  return status === 'drawn' && opening === null;
}

function numbersOf({ draw, texts }: DrawPageContent): Html {
  const { drawCommitment, seed, opening, entriesDigest } = draw;
  const words = texts.draw;
  const figure = (title: string, value: string | null): Html | null =>
    value === null
      ? null
      : html`<h2>${title}</h2>
          <p><code>${value}</code></p>`;
  return html`<section>
    ${figure(words.commitmentFigure, drawCommitment)} ${figure(words.seedFigure, seed)}
    ${figure(words.openingFigure, opening)} ${figure(words.digestFigure, entriesDigest)}
  </section>`;
}

function checkOf({ url, texts, brand }: DrawPageContent): Html {
  const words = texts.draw;
  const [before = '', file = '', after = ''] = words.withNode.split(/[[\]]/);
  return html`<section>
    <h2>${words.check}</h2>
    ${brand.credit ? html`<p>${words.withHoldfast} <code>holdfast draw verify ${url}</code></p>` : null}
    <p>${before}<code>${file}</code>${after} <code>node check-draw.mjs ${url}</code></p>
    <pre>${CHECK_DRAW}</pre>
    <p class="quiet small">${words.ownPlace}</p>
  </section>`;
}
