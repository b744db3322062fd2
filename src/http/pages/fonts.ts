/**
 * The fonts of every page: the files that `fonts.css` names, under addresses with the hash of their contents.
 *
 * Both listeners serve them at these addresses, so that a browser stores each for ever, whichever pages it came with.
 * They are read at the start, because the policy of a page has the hash of its style, which has the addresses.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where the fonts lie. */
export const FONTS_PATH = '/fonts/';

const STYLES = new URL('../../web/styles/', import.meta.url);

/** A style sheet of the storefront. */
const styleSheet = (name: string): string => readFileSync(new URL(name, STYLES), 'utf8');

interface Font {
  /** Its address, without the path of all fonts. */
  readonly name: string;
  readonly etag: string;
  readonly bytes: Buffer;
}

const SOURCES = /(?<=\burl\(')[^']+\.woff2(?='\))/g;

/** By the name that `fonts.css` gives: a package and a file in it. */
const bySource = new Map(
  styleSheet('fonts.css')
    .match(SOURCES)!
    .map((source) => [source, readFont(source)]),
);
const byName = new Map(Array.from(bySource.values(), (font) => [font.name, font]));

function readFont(source: string): Font {
  const bytes = readFileSync(fileURLToPath(import.meta.resolve(source)));
  const hash = createHash('sha256').update(bytes).digest('base64url');
  return { name: `${basename(source, '.woff2')}-${hash.slice(0, 12)}.woff2`, etag: `"${hash.slice(0, 22)}"`, bytes };
}

/** The address of a font that `fonts.css` names. */
export function fontAddress(source: string): string {
  return FONTS_PATH + bySource.get(source)!.name;
}

/** A style with the addresses of fonts in place of their sources. */
const withAddresses = (style: string): string => style.replaceAll(SOURCES, fontAddress);

/** Null where there is no such font. */
export const fontNamed = (name: string): Font | null => byName.get(name) ?? null;

/** Without comments and line breaks, because the style is part of each page. */
const shortened = (style: string): string =>
  style
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/**
 * The fonts and values of every page that the service writes itself: those of the storefront, from the same style
 * sheets.
 */
export const SHARED_STYLE = `${shortened(withAddresses(styleSheet('fonts.css')))}
${shortened(styleSheet('tokens.css'))}
`;
