/** The proof of a draw as a page: what was committed to, the result, and a few lines of code that check it. */
import type { DrawView } from '#domain/views.ts';
import { html, type Html, type Page } from './html.ts';
import { formatWhen } from './wording.ts';

export interface DrawPageContent {
  readonly name: string;
  readonly slug: string;
  readonly timezone: string;
  readonly opensAt: number | null;
  readonly draw: DrawView;
  /** Where the proof is. */
  readonly url: string;
}

/** Checks a draw with Node alone: `node check-draw.mjs URL`. A test runs it against a real draw and against forged ones. */
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
  'the line is in the order of the draw': keys.every((key, place) => place === 0 || keys[place - 1] < key),
};
console.log(checks);
process.exitCode = Object.values(checks).every(Boolean) ? 0 : 1;`;

export function drawPage(content: DrawPageContent): Page {
  const { draw, name, slug } = content;
  return {
    title: `The draw for ${name}`,
    back: { href: `/e/${encodeURIComponent(slug)}`, label: name },
    body: html`<section>
        ${badgeOf(draw)}
        <h1>The draw for ${name}</h1>
        ${draw.status === 'pending' ? promiseOf(content) : outcomeOf(content)}
      </section>
      ${figuresOf(draw)}
      <section>
        <h2>Why nobody could steer it</h2>
        <p>
          When the waiting room was set up, a secret number was drawn, the seed, and only its fingerprint was shown: the
          commitment. Nobody can find another number with the same fingerprint, so the seed could not be exchanged.
        </p>
        <p>
          Everybody who was waiting when the doors opened took part. In that moment a second random number was made, the
          opening, and recorded together with the list. Each place in line is worked out from the seed, the opening and
          the list of all who took part. So nobody knew any place before the list was complete, not even somebody who
          could read the seed. When somebody came made no difference.
        </p>
        <p>
          Afterwards the seed, the opening and the whole line are shown here, so that anybody can work out the line
          again. Entries are shown by their fingerprints, because an entry's id is its pass.
        </p>
        ${isWithoutOpening(draw) ? oldDraw() : null}
      </section>
      ${draw.status === 'pending' ? null : checkOf(content)}`,
  };
}

function badgeOf({ status }: DrawView): Html {
  return status === 'pending'
    ? html`<span class="badge wait">Not drawn yet</span>`
    : html`<span class="badge good">Drawn</span>`;
}

function promiseOf({ opensAt, timezone }: DrawPageContent): Html {
  const when = opensAt === null ? '' : ` on ${formatWhen(opensAt, timezone)}`;
  return html`<p>The line is drawn when the doors open${when}. Keep the commitment below to compare it then.</p>`;
}

function outcomeOf({ draw, timezone }: DrawPageContent): Html {
  const people = draw.count === 1 ? '1 person' : `${draw.count} people`;
  return html`<p>The line of ${people} was drawn on ${formatWhen(draw.drawnAt!, timezone)}.</p>`;
}

/** A draw that is held and has none was recorded before there were openings. */
function isWithoutOpening({ status, opening }: DrawView): boolean {
  return status === 'drawn' && opening === null;
}

function oldDraw(): Html {
  return html`<p>
    This draw is from before openings were made: its line comes from the seed and the list alone. Nobody could exchange
    the seed, but whoever could read it beforehand could work out places in advance.
  </p>`;
}

function figuresOf({ drawCommitment, seed, opening, entriesDigest }: DrawView): Html {
  const figure = (title: string, value: string | null): Html | null =>
    value === null
      ? null
      : html`<h2>${title}</h2>
          <p><code>${value}</code></p>`;
  return html`<section>
    ${figure('Commitment', drawCommitment)} ${figure('Seed', seed)} ${figure('Opening', opening)}
    ${figure('Digest of all entries', entriesDigest)}
  </section>`;
}

function checkOf({ url }: DrawPageContent): Html {
  return html`<section>
    <h2>Check it yourself</h2>
    <p>With Holdfast: <code>holdfast draw verify ${url}</code></p>
    <p>
      With Node alone, save these lines as <code>check-draw.mjs</code> and run <code>node check-draw.mjs ${url}</code>
    </p>
    <pre>${CHECK_DRAW}</pre>
    <p class="quiet small">
      Your own place: look for the SHA-256 of your entry's id in the list of entries; where it stands is where you
      stood.
    </p>
  </section>`;
}
