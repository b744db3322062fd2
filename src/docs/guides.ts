/**
 * The guides of the reference: the Markdown files of `guides/`, which read the same on a code host and on the pages of
 * the service.
 *
 * 1. A guide is a title, a paragraph that says what it answers, and sections.
 * 2. Code under ```sh example=KEY is an example of `examples.ts`. The file has it for curl, as `npm run render` writes
 *    it; the page has it in every language, with its answer. Examples can be sent in the order of the guide: a later
 *    one takes its values from what an earlier one was answered.
 * 3. A link leads to another guide, or to a file of `src/operations`, which has a page as well.
 */
import { readFileSync } from 'node:fs';
import { Marked, type Token, type Tokens } from 'marked';
import { valuesOf } from './example.ts';
import { examples, type ExampleKey } from './examples.ts';

export type GuideBlock =
  { readonly html: string; readonly text: string } | { readonly code: string } | { readonly example: ExampleKey };

export interface Guide {
  readonly slug: string;
  readonly topic: string;
  readonly title: string;
  readonly lead: string;
  readonly sections: readonly { readonly title: string; readonly blocks: readonly GuideBlock[] }[];
}

/** The guides by topic, in reading order; each is the name of a file. */
const SLUGS: Readonly<Record<string, readonly string[]>> = {
  'Build a shop': ['first-sale', 'seats', 'waiting-room', 'payments', 'client', 'seats-element'],
  'Run it': ['going-live', 'settings', 'operating', 'doors', 'restore', 'several-machines', 'privacy', 'rehearsal'],
};

const OPERATIONS = '../../operations/';

let read: readonly Guide[] | null = null;

/** Every guide in reading order; the files are read at the first call. */
export function readGuides(): readonly Guide[] {
  return (read ??= Object.entries(SLUGS).flatMap(([topic, slugs]) =>
    slugs.map((slug) => guideOf(topic, slug, readFileSync(new URL(`guides/${slug}.md`, import.meta.url), 'utf8'))),
  ));
}

/** The files of `src/operations` that guides lead to (rule 3), by name. */
export function readLinkedFiles(): ReadonlyMap<string, string> {
  const blocks = readGuides().flatMap(({ sections }) => sections.flatMap((section) => section.blocks));
  const names = blocks.flatMap((block) =>
    'html' in block ? Array.from(block.html.matchAll(/"\/docs\/files\/([^"]+)"/g), ([, name]) => name!) : [],
  );
  return new Map(
    [...new Set(names)]
      .toSorted()
      .map((name) => [name, readFileSync(new URL(`../operations/${name}`, import.meta.url), 'utf8')]),
  );
}

/** The examples of a guide, in their order. */
export function exampleKeysOf({ sections }: Pick<Guide, 'sections'>): readonly ExampleKey[] {
  return sections.flatMap(({ blocks }) => blocks.flatMap((block) => ('example' in block ? [block.example] : [])));
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

function guideOf(topic: string, slug: string, text: string): Guide {
  const tokens = markdown.lexer(text).filter(({ type }) => type !== 'space' && type !== 'html');
  const [title, lead, ...rest] = tokens as readonly Tokens.Generic[];
  if (title?.type !== 'heading' || lead?.type !== 'paragraph')
    throw new Error(`${slug}.md begins without a title and a paragraph (rule 1)`);
  const sections: { title: string; blocks: GuideBlock[] }[] = [];
  for (const token of rest) {
    if (token.type === 'heading' && token['depth'] === 2) sections.push({ title: String(token['text']), blocks: [] });
    else sections.at(-1)!.blocks.push(blockOf(token));
  }
  return { slug, topic, title: String(title['text']), lead: String(lead['text']).replaceAll('\n', ' '), sections };
}

function blockOf(token: Token): GuideBlock {
  if (token.type !== 'code') return { html: framed(token, markdown.parser([token])), text: token.raw };
  const { text, lang = '' } = token as Tokens.Code;
  const key = /\bexample=(\w+)/.exec(lang)?.[1];
  if (key === undefined) return { code: text };
  if (!Object.hasOwn(examples, key)) throw new Error(`there is no example ${key} (rule 2)`);
  return { example: key as ExampleKey };
}

/** On a narrow page the cells of a row stand below each other. */
function framed({ type }: Token, html: string): string {
  return type === 'table'
    ? `<div class="frame stacked" tabindex="0" role="region" aria-label="Table">${html}</div>`
    : html;
}

const markdown = new Marked({
  renderer: {
    link({ href, tokens }) {
      return `<a href="${addressOf(href)}">${this.parser.parseInline(tokens)}</a>`;
    },
  },
});

/** The address of a page to which a link in a Markdown file leads (rule 3). */
function addressOf(href: string): string {
  if (href.startsWith(OPERATIONS)) return `/docs/files/${href.slice(OPERATIONS.length)}`;
  const guide = /^(?<slug>[a-z-]+)\.md(?<anchor>#[\w-]+)?$/.exec(href)?.groups;
  return guide === undefined ? href : `/docs/guides/${guide['slug']}${guide['anchor'] ?? ''}`;
}
