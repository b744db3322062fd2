/** README says what is so: every setting with its default, every package with its reason, and no page that is not there. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { SETTINGS, type Setting } from '#src/settings.ts';

const root = new URL('../', import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), 'utf8');
const readme = read('README.md');

describe('README', () => {
  it('lists every setting with its default and its meaning, in the order of the table in settings.ts', () => {
    const rows = [...readme.matchAll(/^\| `(?<name>[A-Z_]+)` +\| (?<given>.*?) +\| (?<meaning>.*?) +\|$/gm)];
    const listed = rows.map(({ groups }) => [groups!['name'], groups!['given'], groups!['meaning']]);
    const settings = Object.entries(SETTINGS as Readonly<Record<string, Setting>>);
    const expected = settings.map(([name, setting]) => {
      const given = setting.default === null ? 'not set' : `\`${setting.default}\``;
      return [name, given, setting.meaning.replaceAll('|', '\\|')];
    });
    assert.deepEqual(listed, expected);
  });

  it('names every package that is depended on', () => {
    const packages = JSON.parse(read('package.json')) as Record<string, Record<string, string>>;
    const names = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap((kind) =>
      Object.keys(packages[kind]!),
    );
    assert.deepEqual(
      names.filter((name) => !readme.includes(`\`${name}\``)),
      [],
    );
  });

  it('leads only to files that are there', () => {
    const links = [...readme.matchAll(/\]\((?<file>[^)#:]+)\)/g)].map(({ groups }) => groups!['file']!);
    assert.ok(links.length > 5);
    assert.deepEqual(
      links.filter((file) => !existsSync(new URL(file, root))),
      [],
    );
  });

  it('lists the invariants I1 to I10', () => {
    const listed = [...readme.matchAll(/^\| (I\d+) +\|/gm)].map(([, name]) => name);
    assert.deepEqual(
      listed,
      Array.from({ length: 10 }, (_, i) => `I${i + 1}`),
    );
  });
});

describe('CHANGELOG', () => {
  it('has the version of package.json', () => {
    const { version } = JSON.parse(read('package.json')) as { version: string };
    assert.ok(read('CHANGELOG.md').includes(`## [${version}]`));
  });
});
