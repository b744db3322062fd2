/**
 * The documents say what is so: their links lead somewhere, what they name exists, what the code can write is as it
 * writes it, and no text stands in two of them.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readGuides, readLinkedFiles } from '#docs/guides.ts';
import { anchorOf } from '#http/reference/operations.ts';
import { readDocument, rendered, renderedFiles } from './docs/render-documents.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Every document that people write; machines/README.md is rendered whole. */
const documents = [
  ...renderedFiles,
  'src/README.md',
  'bench/README.md',
  'test/simulation/README.md',
  'CHANGELOG.md',
].map((file) => ({ file, text: readDocument(file) }));
const prose = documents.filter(({ file }) => file !== 'CHANGELOG.md');
const readme = readDocument('README.md');
const ofCode = readDocument('src/README.md');

const withoutCode = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, '');

/** The anchor that code hosts give a heading. */
const anchorOnHost = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');

function headingsOf(text: string): string[] {
  return Array.from(withoutCode(text).matchAll(/^#{1,4} (.+)$/gm), ([, title]) => title!);
}

describe('README', () => {
  it('is read in a few minutes: at most 250 lines and 1,700 words', () => {
    assert.ok(readme.split('\n').length - 1 <= 250);
    assert.ok(readme.split(/\s+/).filter(Boolean).length <= 1_700);
  });

  it('leads to every other document', () => {
    const linked = Array.from(readme.matchAll(/\]\(([^)#:]+)/g), ([, file]) => file);
    const others = [...documents.map(({ file }) => file), 'machines/README.md'].filter((file) => file !== 'README.md');
    assert.deepEqual(
      others.filter((file) => !linked.includes(file)),
      [],
    );
  });
});

describe('The documents', () => {
  it('lead only to files and headings that are there', () => {
    const dead = documents.flatMap(({ file, text }) =>
      Array.from(withoutCode(text).matchAll(/\]\(([^)#:]*)(?:#([^)]*))?\)/g), ([, name, anchor]) => {
        const target = name === '' ? file : path.posix.join(path.posix.dirname(file), name!);
        const isThere =
          existsSync(path.join(root, target)) &&
          (anchor === undefined || headingsOf(readDocument(target)).map(anchorOnHost).includes(anchor));
        return isThere ? [] : [`${file}: ${name}#${anchor ?? ''}`];
      }).flat(),
    );
    assert.deepEqual(dead, []);
  });

  it('name in backticks only files and folders that are there', () => {
    const tops = readdirSync(root);
    const sources = tops
      .filter((top) => ['machines', 'persistence', 'src', 'bench', 'test'].includes(top))
      .flatMap((top) => readdirSync(path.join(root, top), { recursive: true, encoding: 'utf8' }));
    const names = new Set(sources.map((file) => path.basename(file)));
    const isThere = (name: string, file: string): boolean =>
      existsSync(path.join(root, name)) ||
      existsSync(path.join(root, path.dirname(file), name)) ||
      (!name.includes('/') && names.has(name));
    const missing = prose.flatMap(({ file, text }) =>
      Array.from(withoutCode(text).matchAll(/`([\w.-]+(?:\/[\w.-]+)*\/?)`/g), ([, name]) => name!)
        .filter((name) => tops.includes(name.split('/')[0]!) || /\.(?:ts|tsx|mjs)$/.test(name))
        .filter((name) => !isThere(name, file))
        .map((name) => `${file}: ${name}`),
    );
    assert.deepEqual(missing, []);
  });

  it('have settings, examples and figures as `npm run render` writes them', () => {
    for (const file of renderedFiles) assert.equal(readDocument(file), rendered(readDocument(file)), file);
  });

  it('say nothing twice', () => {
    const places = new Map<string, Set<string>>();
    for (const { file, text } of prose) {
      const plain = withoutCode(text)
        .replaceAll(/^(?:\||<!--|#|!\[).*$/gm, '\n')
        .replaceAll(/\s*\n(?!\n)\s*/g, ' ');
      for (const sentence of plain.split(/(?<=[.:;?])\s+/))
        if (sentence.length >= 60) places.set(sentence, (places.get(sentence) ?? new Set()).add(file));
    }
    assert.deepEqual(
      [...places].filter(([, files]) => files.size > 1).map(([sentence, files]) => [sentence, ...files]),
      [],
    );
  });
});

describe('The guides', () => {
  it('are the files of src/docs/guides, each with one heading of the first level and sections', () => {
    const files = readGuides().map(({ slug }) => `src/docs/guides/${slug}.md`);
    assert.deepEqual(files.toSorted(), renderedFiles.filter((file) => file !== 'README.md').toSorted());
    for (const file of files) assert.equal(withoutCode(readDocument(file)).match(/^# /gm)?.length, 1, file);
    for (const { slug, sections } of readGuides()) assert.ok(sections.length > 1, slug);
  });

  it('have headings with the same anchor on a code host and on the pages', () => {
    for (const { sections } of readGuides())
      for (const { title } of sections) assert.equal(anchorOf(title), anchorOnHost(title), title);
  });

  it('lead to files for a deployment that have a page', () => {
    assert.ok(readLinkedFiles().has('nats.conf') && readLinkedFiles().has('litestream.yaml'));
  });
});

describe('src/README.md', () => {
  it('has a line with a reason for every package that is depended on, and for no other', () => {
    const packages = JSON.parse(readDocument('package.json')) as Record<string, Record<string, string>>;
    const names = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((kind) =>
      Object.keys(packages[kind]!),
    );
    const table = ofCode.slice(ofCode.indexOf('## Dependencies'));
    const listed = Array.from(table.matchAll(/^\| `([^`]+)` \| .{4,} \|$/gm), ([, name]) => name!);
    assert.deepEqual(listed.toSorted(), names.toSorted());
  });

  it('lists the invariants I1 to I10', () => {
    const listed = Array.from(ofCode.matchAll(/^\| (I\d+) +\|/gm), ([, name]) => name);
    assert.deepEqual(
      listed,
      Array.from({ length: 10 }, (_, i) => `I${i + 1}`),
    );
  });
});

describe('CHANGELOG', () => {
  const changelog = readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8');

  it('has the version of package.json, which calls itself -dev while changes are not released', () => {
    const { version } = JSON.parse(readDocument('package.json')) as { version: string };
    assert.ok(changelog.includes(version.endsWith('-dev') ? '## [Unreleased]' : `## [${version}]`));
  });

  it('has one line for each change, of at most 200 characters', () => {
    const changes = changelog.slice(changelog.indexOf('## ')).split('\n').filter(Boolean);
    assert.deepEqual(
      changes.filter(
        (line) =>
          !/^(?:## \[|### (?:Added|Changed|Deprecated|Removed|Fixed|Security)$|- )/.test(line) &&
          !line.startsWith('The first version'),
      ),
      [],
    );
    assert.deepEqual(
      changes.filter((line) => line.length > 200),
      [],
    );
  });
});
