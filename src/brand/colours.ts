/**
 * The colours of the pages, and what a venue's accent makes of them.
 *
 *  1. An accent is read as text, on every ground that pages have, and texts are read on it: each with 4.5 : 1 (WCAG
 *     AA).
 *  2. Everything else that is made of an accent (what it is under a pointer, the text on it, its soft ground) is worked
 *     out, so that a venue gives one colour for each scheme.
 *  3. The values of pages are read from their style sheet and stand nowhere else.
 */
import { readFileSync } from 'node:fs';
import { contrast, inkOn, mixed } from '#client/contrast.ts';

export type Scheme = 'light' | 'dark';

type Tokens = Readonly<Record<string, string>>;

/** What each scheme sets. */
const TOKENS = readTokens(readFileSync(new URL('../web/styles/tokens.css', import.meta.url), 'utf8'));

/** By WCAG, level AA, for texts of any size. */
export const CONTRAST_MIN = 4.5;

/** Where links and texts in the colour of the accent stand. */
const GROUNDS = ['paper', 'surface', 'sunken'];

/** Texts on an accent. */
const INKS = ['#ffffff', '#101010'];

const FARTHEST: Readonly<Record<Scheme, string>> = { light: '#000000', dark: '#ffffff' };

const SOFT_SHARES = [0.12, 0.08, 0.05, 0.02];

/** The accent of the pages as they are without a brand. */
export const neutralAccent = (scheme: Scheme): string => TOKENS[scheme]['accent']!;

interface Legibility {
  readonly ratio: number;
  /** The colour that it was compared with. */
  readonly beside: string;
}

/** The least contrast of an accent in a scheme: as text on each ground, and of texts on it. */
export function leastContrast(accent: string, scheme: Scheme): Legibility {
  const beside = [...GROUNDS.map((name) => TOKENS[scheme][name]!), inkOn(accent, ...INKS)];
  return beside
    .map((colour) => ({ ratio: contrast(accent, colour), beside: colour }))
    .reduce((a, b) => (a.ratio <= b.ratio ? a : b));
}

export const isReadable = (accent: string, scheme: Scheme): boolean =>
  leastContrast(accent, scheme).ratio >= CONTRAST_MIN;

/** The colour itself where it can be read in a scheme, else the nearest mixture with black or white that can. */
export function readable(colour: string, scheme: Scheme): string {
  for (let share = 1; share > 0; share -= 0.05) {
    const made = mixed(colour, FARTHEST[scheme], share);
    if (isReadable(made, scheme)) return made;
  }
  return FARTHEST[scheme];
}

/** What a style sheet says for an accent. */
export function accentDeclarations(accent: string, scheme: Scheme): string {
  const ink = inkOn(accent, ...INKS);
  const softs = SOFT_SHARES.map((share) => mixed(accent, TOKENS[scheme]['surface']!, share));
  return declarations({
    accent,
    'accent-hover': mixed(accent, inkOn(ink, '#000000', '#ffffff'), 0.8),
    'accent-ink': ink,
    'accent-soft': softs.find((soft) => contrast(accent, soft) >= CONTRAST_MIN) ?? TOKENS[scheme]['surface']!,
  });
}

/** What a style sheet says for pages that have one scheme, whatever a browser prefers. */
export const schemeDeclarations = (scheme: Scheme): string => `color-scheme:${scheme};${declarations(TOKENS[scheme])}`;

const declarations = (tokens: Tokens): string =>
  Object.entries(tokens)
    .map(([name, value]) => `--${name}:${value};`)
    .join('');

/** The values of both schemes; of the light one those that the dark one sets too. */
function readTokens(css: string): Readonly<Record<Scheme, Tokens>> {
  const [light = {}, dark = {}] = Array.from(css.matchAll(/:root \{([^}]*)\}/g), ([, block = '']) =>
    Object.fromEntries(Array.from(block.matchAll(/--([\w-]+): ([^;]+);/g), ([, name, value]) => [name!, value!])),
  ) as Record<string, string>[];
  return { light: Object.fromEntries(Object.keys(dark).map((name) => [name, light[name]!])), dark };
}
