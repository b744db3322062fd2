/**
 * A brand: its fields, as the file that BRAND names and the `brand` of an event carry them, and what is asked of a
 * logo and of a colour.
 *
 *  1. A logo is a file beside the one that names it, or a data: URL. What is kept is a data: URL, so that every node
 *     that has a definition has its logo, and no buyer's browser asks anybody else for it.
 *  2. A colour with which nobody could read a page is refused, with its contrast and the one that is asked for.
 */
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { Type } from 'typebox';
import { readLogo } from '#brand/brand.ts';
import { CONTRAST_MIN, leastContrast, type Scheme } from '#brand/colours.ts';
import type { BrandDefinition } from '#domain/catalogue/definition.ts';
import { pointer, type FoundProblem } from '#domain/schema-problems.ts';
import { list, plain, present, record, required, type FileOf } from './codec.ts';
import { findBelow, pictureType } from './pictures.ts';
import { checkShape, collectProblems, type Accepted, type Report } from './shape.ts';
import { oneOf, printable, printableText, truth, webAddress } from './values.ts';

/** A logo is part of a definition, and of every page that is kept or printed. */
export const logoBytesMax = 32 * 1024;
/** Of such a logo as base64, with what stands before it. */
const logoLengthMax = 44_000;
const brandFileBytesMax = 256 * 1024;

const colour = plain(Type.String({ pattern: '^#[0-9A-Fa-f]{6}$', description: 'a colour such as #0b5a52' }));

const logo = plain(
  Type.String({
    maxLength: logoLengthMax,
    pattern:
      '^(?:data:image/(?:svg\\+xml|png|jpeg|webp|avif);base64,[A-Za-z0-9+/]+={0,2}|(?:[A-Za-z0-9][A-Za-z0-9._-]*/){0,4}[A-Za-z0-9][A-Za-z0-9._-]*\\.(?:svg|jpg|jpeg|png|webp|avif))$',
    description: `the path of an .svg, .png, .jpg, .jpeg, .webp or .avif file of at most ${logoBytesMax} bytes beside the file, or such a picture as a data: URL in base64`,
  }),
);

const support = plain(
  Type.String({
    maxLength: 300,
    pattern: '^(?:https://[^\\s/]\\S*|[^\\s@:/?&]+@(?:[^\\s@:/?&.]+\\.)+[^\\s@:/?&.]+)$',
    description: 'an e-mail address, or one that begins with https://',
  }),
);

const LABEL_LENGTH_MAX = 80;

const labels = plain(
  Type.Unsafe<Readonly<Record<string, string>>>({
    type: 'object',
    patternProperties: {
      '^[a-z]{2}$': { type: 'string', minLength: 1, maxLength: LABEL_LENGTH_MAX, pattern: printable },
    },
    additionalProperties: false,
    minProperties: 1,
    description: 'texts by language, such as {"en": "Imprint", "de": "Impressum"}',
  }),
);

const link = record({
  label: required(labels, 'what it says, in the page’s language; the first where that has none'),
  url: required(webAddress, 'where it leads'),
});

export const brand = record({
  name: present(printableText(120), 'what the venue is called on every page; Tickets where left out'),
  logo: present(logo, 'its picture, beside the name'),
  accent: present(
    colour,
    'of buttons and links on light pages, readable on them (4.5 : 1); made of accent_dark where left out',
  ),
  accent_dark: present(colour, 'the same on dark pages; made of accent where left out'),
  scheme: present(
    oneOf('AUTO', 'LIGHT', 'DARK'),
    'whether pages are light, dark, or as each buyer’s browser prefers; paper is always white',
    'AUTO',
  ),
  support: present(support, 'where buyers ask, on every page'),
  links: present(list(link, { maxItems: 12 }), 'at the foot of every page'),
  credit: present(truth, 'whether the foot of pages says that Holdfast sells', false),
});

type BrandFile = FileOf<typeof brand>;

/** Reads a file that a brand names, by its path; throws what is wrong with that. */
export type LogoReader = (path: string) => Buffer;

/** What the schema misses. Answers the logo as it is kept, where there is a good one. */
export function checkBrand(
  file: Accepted<BrandFile> | null | undefined,
  path: string,
  read: LogoReader | undefined,
  report: Report,
): string | undefined {
  checkAccent(file?.accent, 'light', pointer(path, 'accent'), report);
  checkAccent(file?.accent_dark, 'dark', pointer(path, 'accent_dark'), report);
  if (file?.logo == null) return undefined;
  try {
    return keptLogo(file.logo, read);
  } catch (error) {
    report(pointer(path, 'logo'), error instanceof Error ? error.message : String(error));
    return undefined;
  }
}

/** Rule 2. */
function checkAccent(accent: string | null | undefined, scheme: Scheme, path: string, report: Report): void {
  if (accent == null) return;
  const { ratio, beside } = leastContrast(accent, scheme);
  if (ratio >= CONTRAST_MIN) return;
  const shown = (Math.floor(ratio * 100) / 100).toFixed(2);
  report(
    path,
    `has a contrast of ${shown} : 1 with ${beside} of the ${scheme} pages, and needs ${CONTRAST_MIN} : 1 to be read`,
  );
}

/** Rule 1. Throws what is wrong. */
function keptLogo(named: string, read: LogoReader | undefined): string {
  const given = readLogo(named);
  if (given === null && read === undefined) throw new Error('must be a data: URL here, because no file comes with it');
  const bytes = given?.bytes ?? read!(named);
  if (bytes.length > logoBytesMax) throw new Error(`is larger than ${logoBytesMax} bytes`);
  const type = pictureType(bytes) ?? (isSvg(bytes) ? 'image/svg+xml' : null);
  if (type === null) throw new Error('is not an SVG, PNG, JPEG, WebP or AVIF picture by its content');
  if (given !== null && given.contentType !== type) throw new Error(`is ${type} by its content`);
  return `data:${type};base64,${bytes.toString('base64')}`;
}

/** Whether this is the text of a drawing: after the head and remarks comes its element. */
function isSvg(bytes: Buffer): boolean {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  return /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[^])*-->\s*|<!DOCTYPE[^>[]*>\s*)*<svg[\s>]/.test(text);
}

/** Reads logos in the folder of a file, or below. */
export const logosBeside = (file: string): LogoReader => {
  return (path) => {
    const found = findBelow(dirname(file), path);
    if (statSync(found).size > logoBytesMax) throw new Error(`is larger than ${logoBytesMax} bytes`);
    return readFileSync(found);
  };
};

/** The text of a file, without a byte order mark. Throws where it is not UTF-8: names would be garbled silently. */
export function readText(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
  } catch (error) {
    throw error instanceof TypeError ? new Error('is not UTF-8 text', { cause: error }) : error;
  }
}

/** The brand in a file, or every problem in it; a file that cannot be read is a problem too. */
export function readBrand(
  file: string,
): { readonly brand: BrandDefinition } | { readonly problems: readonly FoundProblem[] } {
  try {
    if (statSync(file).size > brandFileBytesMax) throw new Error(`is larger than ${brandFileBytesMax} bytes`);
    const json: unknown = JSON.parse(readText(file));
    const shape = checkShape<BrandFile>(brand.schema, json);
    const { problems, report } = collectProblems(shape.problems);
    const kept = checkBrand(shape.accepted, '', logosBeside(file), report);
    if (problems.length > 0) return { problems };
    return { brand: readBrandFile(json as BrandFile, kept) };
  } catch (error) {
    return { problems: [{ path: '', message: error instanceof Error ? error.message : String(error) }] };
  }
}

function readBrandFile(json: BrandFile, logoKept: string | undefined): BrandDefinition {
  const file = logoKept === undefined ? json : { ...json, logo: logoKept };
  return brand.read(file, { index: 0, owner: null, context: null });
}
