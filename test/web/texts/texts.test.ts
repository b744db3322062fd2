import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { LANGUAGES } from '#texts/locale/language.ts';
import { SERVED_TEXTS } from '#texts/served.ts';
import { door as doorDe } from '#texts/de/door.ts';
import { door as doorEn } from '#texts/en/door.ts';
import { TEXTS } from '#texts/texts.ts';
import { ERRORS } from '#http/protocol/errors.ts';
import { textsIn, type TextTree } from '../storefront/text-patterns.ts';

const source = fileURLToPath(new URL('../../../src/', import.meta.url));

function readFiles(folder: string, name: RegExp): { readonly file: string; readonly text: string }[] {
  return readdirSync(path.join(source, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => name.test(file))
    .map((file) => ({ file: `${folder}/${file}`, text: readFileSync(path.join(source, folder, file), 'utf8') }));
}

const pages = [
  ...readFiles('web/storefront', /\.tsx?$/),
  ...readFiles('web/seat-map', /\.tsx?$/),
  ...readFiles('web/seat-choice', /\.tsx?$/),
  ...readFiles('web/door', /\.tsx?$/),
  ...readFiles('web/texts', /^(?:event-lines|refusal-words)\.ts$/),
  ...readFiles('http', /\.ts$/),
];

/** Codes that answer operators and programs, never a buyer at a page. */
const NOT_FOR_BUYERS = [
  'NOT_FOUND',
  'MAIL_LIMIT_EXCEEDED',
  'MAIL_OFF',
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'HEADERS_TOO_LARGE',
  'UNAUTHORIZED',
  'ORDER_NOT_CANCELLABLE',
  'ORDER_NOT_ERASABLE',
  'ORDER_NOT_MAILABLE',
  'ORDER_NOT_SEALED',
  'REFUND_NOT_OPEN',
  'REFUND_SUM_CHANGED',
  'REFUND_TOO_HIGH',
  'STATION_LIMIT_EXCEEDED',
  'STATION_NOT_ALLOWED',
  'STATION_REVOKED',
  'UPDATE_CONFLICT',
];

/** Literals that look like texts: brand, keys of the keyboard, and what browsers and the service are asked for. */
const NO_TEXTS =
  /^(?:Holdfast|Arrow(?:Left|Right|Up|Down)?|Home|End|Enter|Escape|Space|Tab|Shift|Bearer|AudioContext|NotSupportedError)$/;

const DOOR_TEXTS = { en: doorEn, de: doorDe };

describe('The texts of the pages', () => {
  const byLanguage = Object.keys(LANGUAGES).map((language) => {
    const tag = language as keyof typeof LANGUAGES;
    return {
      language,
      texts: { ...TEXTS[tag], served: SERVED_TEXTS[tag], door: DOOR_TEXTS[tag] } as unknown as TextTree,
    };
  });

  it('are the same in every language: as many, under the same names, of the same kind', () => {
    const [first, ...others] = byLanguage.map(({ texts }) => textsIn(texts).map(({ name, kind }) => `${name} ${kind}`));
    for (const other of others) assert.deepEqual(other, first);
    assert.ok(first!.length > 250, `${first!.length} texts`);
  });

  it('are written: none is empty but the hint of an error that needs none', () => {
    const empty = byLanguage.flatMap(({ language, texts }) =>
      textsIn(texts)
        .filter(({ example, name }) => example.trim() === '' && !name.startsWith('served.failures.'))
        .map(({ name }) => `${language} ${name}`),
    );
    assert.deepEqual(empty, []);
  });

  it('are all shown by some page', () => {
    const dead = textsIn(byLanguage[0]!.texts)
      .map(({ name }) => name.replace(/^(?:served|door)\./, '').split('.') as [string, string])
      // These two are found by the code of an error.
      .filter(([group]) => group !== 'refusals' && group !== 'failures')
      .filter(([group, key]) => {
        const [ofGroup, ofText] = [
          new RegExp(`\\b${group}\\b`),
          new RegExp(`\\.${key}\\b|'${key}'|\\b${key}\\b[^=\n]*\\} = `),
        ];
        return !pages.some(({ text }) => ofGroup.test(text) && ofText.test(text));
      });
    assert.deepEqual(dead, []);
  });

  it('have a sentence for every code of the API that a buyer can meet', () => {
    const { refusals } = TEXTS.en;
    const withFigures = readFileSync(path.join(source, 'web/texts/refusal-words.ts'), 'utf8').match(
      /^ {2}[A-Z_]+(?=:)/gm,
    );
    const known = new Set([...Object.keys(refusals), ...(withFigures ?? []).map((code) => code.trim())]);
    const codes = Object.keys(ERRORS);
    assert.deepEqual(codes.filter((code) => !known.has(code)).sort(), NOT_FOR_BUYERS.toSorted());
    assert.deepEqual(
      [...known].filter((code) => !codes.includes(code)),
      ['UNREACHABLE'],
    );
  });

  it('stand nowhere else: no page has a sentence of its own', async () => {
    const shown = pages.filter(({ file }) => /^web\/(?:storefront|seat-choice|seat-map|door)\//.test(file));
    assert.ok(shown.length > 50, `${shown.length} files`);
    const found = await Promise.all(
      shown.map(async ({ file, text }) => {
        const { code } = await transform(text, {
          loader: file.endsWith('x') ? 'tsx' : 'ts',
          jsx: 'automatic',
          charset: 'utf8',
        });
        const literals = [...code.matchAll(/"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)];
        return literals
          .map(([, quoted = '', template = '']) => (quoted || template).replace(/\$\{[^}]*\}/g, '').trim())
          .filter((literal) => /^[A-Z][a-z]{2}|\p{L} ?…$|\p{L} .*\.$/u.test(literal) && !NO_TEXTS.test(literal))
          .map((literal) => `${file}: ${literal}`);
      }),
    );
    assert.deepEqual(found.flat(), []);
  });
});
