import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { logoBytesMax, readBrand } from '#catalogue/brand.ts';
import { checkDefinition } from '#catalogue/definition.ts';
import { readCatalogue } from '#catalogue/files.ts';
import { readConfig } from '#service/config.ts';
import { smallestEvent } from '../fixtures/events.ts';

const folder = mkdtempSync(join(tmpdir(), 'brand-'));
after(() => rmSync(folder, { recursive: true }));

const SVG = '<?xml version="1.0"?>\n<!-- A curtain. -->\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>';
const dataUrl = (type: string, bytes: string | Buffer): string =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;

function written(name: string, content: string | Buffer | object): string {
  const isText = typeof content === 'string' || Buffer.isBuffer(content);
  writeFileSync(join(folder, name), isText ? content : JSON.stringify(content));
  return join(folder, name);
}

/** The problems of a brand in a file: path and message. */
function problemsOf(brand: unknown): [string, string][] {
  const read = readBrand(written('brand.json', brand as object));
  return 'problems' in read ? read.problems.map(({ path, message }) => [path, message]) : [];
}

const problemOf = (brand: unknown): string =>
  problemsOf(brand)
    .map((parts) => parts.join(' '))
    .join('; ');

describe('The file of a brand', () => {
  it('becomes a brand with its logo inside', () => {
    written('logo.svg', SVG);
    const file = {
      name: 'Theater',
      logo: 'logo.svg',
      accent_dark: '#e8b84a',
      scheme: 'DARK',
      support: 'kasse@theater.example',
      links: [{ label: { en: 'Imprint', de: 'Impressum' }, url: 'https://theater.example' }],
      x_note: 'of our own',
    };
    assert.deepEqual(readBrand(written('brand.json', file)), {
      brand: {
        name: 'Theater',
        logo: dataUrl('image/svg+xml', SVG),
        accentDark: '#e8b84a',
        scheme: 'DARK',
        support: 'kasse@theater.example',
        links: [{ label: { en: 'Imprint', de: 'Impressum' }, url: 'https://theater.example' }],
      },
    });
    assert.deepEqual(readBrand(written('brand.json', {})), { brand: {} });
  });

  it('is refused with the contrast of a colour that nobody could read, and the one that is asked for', () => {
    assert.deepEqual(problemsOf({ accent: '#ffd400', accent_dark: '#333333' }), [
      ['/accent', 'has a contrast of 1.22 : 1 with #f1ede5 of the light pages, and needs 4.5 : 1 to be read'],
      ['/accent_dark', 'has a contrast of 1.19 : 1 with #282622 of the dark pages, and needs 4.5 : 1 to be read'],
    ]);
  });

  it('is refused field by field', () => {
    assert.equal(problemOf({ naem: 'x' }), '/naem unknown field; did you mean name?');
    assert.equal(problemOf({ accent: 'red' }), '/accent must be a colour such as #0b5a52');
    assert.equal(problemOf({ scheme: 'dark' }), '/scheme must be one of AUTO, LIGHT, DARK');
    const support = '/support must be an e-mail address, or one that begins with https://';
    for (const bad of ['theater', 'http://theater.example', 'javascript:alert(1)', 'a@b.c?subject=x'])
      assert.equal(problemOf({ support: bad }), support);
    assert.equal(problemOf({ links: [{ label: {}, url: 'https://a' }] }), '/links/0/label must not be empty');
    assert.match(
      problemOf({ links: [{ label: { en: 'x' }, url: 'javascript:alert(1)' }] }),
      /^\/links\/0\/url must be/,
    );
    assert.match(problemOf({ name: '' }), /^\/name must not be empty/);
    assert.match(problemOf([]), /must be an object/);
  });

  it('is refused in another encoding than UTF-8', () => {
    const read = readBrand(written('latin1.json', Buffer.from('{"name":"Café"}', 'latin1')));
    assert.deepEqual(read, { problems: [{ path: '', message: 'is not UTF-8 text' }] });
  });

  it('is refused with a logo that cannot be shown', () => {
    written('page.svg', '<html><script>alert(1)</script></html>');
    written('large.png', Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(logoBytesMax)]));
    assert.match(problemOf({ logo: 'none.png' }), /^\/logo "none\.png" cannot be found/);
    assert.match(problemOf({ logo: '../logo.svg' }), /^\/logo must be the path of/);
    assert.match(problemOf({ logo: 'https://cdn.example/logo.svg' }), /^\/logo must be the path of/);
    assert.match(problemOf({ logo: 'page.svg' }), /^\/logo is not an SVG, PNG/);
    assert.match(problemOf({ logo: 'large.png' }), /^\/logo is larger than 32768 bytes/);
    // An expression that tried every way to split the remarks, or the parts of an address, would never end.
    assert.match(
      problemOf({ logo: dataUrl('image/svg+xml', `${'<!---->'.repeat(3_000)}x`) }),
      /^\/logo is not an SVG, PNG/,
    );
    assert.match(problemOf({ support: `x@${'.'.repeat(200_000)} ` }), /^\/support must/);
    assert.equal(problemOf({ logo: dataUrl('image/png', SVG) }), '/logo is image/svg+xml by its content');
  });

  it('is one line where the service starts, with what is to be corrected', () => {
    const path = written('brand.json', { accent: '#ffd400', x_: 1, logo: 'none.png' });
    const read = readConfig({ BRAND: path });
    assert.ok('problems' in read);
    assert.equal(read.problems.length, 1);
    assert.match(read.problems[0]!, /^BRAND is ".*brand\.json": \/accent has a contrast of 1\.22 : 1 .*; \/logo "none/);
    for (const bad of [join(folder, 'missing.json'), written('broken.json', '{'), folder]) {
      const { problems = [] } = readConfig({ BRAND: bad, PORT: 'x' }) as { readonly problems?: readonly string[] };
      assert.equal(problems.length, 2, String(problems));
      assert.match(problems[1]!, /^BRAND is "/);
    }
    const good = readConfig({ BRAND: written('brand.json', { name: 'Theatre' }) });
    assert.deepEqual('config' in good && good.config.brand, { name: 'Theatre' });
  });
});

describe('The brand of an event', () => {
  it('has its problems among those of the definition', () => {
    const checked = checkDefinition({ ...smallestEvent, name: '', brand: { accent: '#ffd400', scheme: 'GREY' } });
    assert.deepEqual('problems' in checked && checked.problems.map(({ path }) => path), [
      '/name',
      '/brand/scheme',
      '/brand/accent',
    ]);
  });

  it('has its logo as a data: URL, or in a file beside a catalogue file', () => {
    const event = { ...smallestEvent, brand: { logo: 'logo.svg' } };
    const checked = checkDefinition(event);
    assert.deepEqual('problems' in checked && checked.problems, [
      { path: '/brand/logo', message: 'must be a data: URL here, because no file comes with it' },
    ]);
    written('logo.svg', SVG);
    const { definitions, problems } = readCatalogue(written('event.json', event));
    assert.deepEqual(problems, []);
    assert.equal(definitions[0]!.brand!.logo, dataUrl('image/svg+xml', SVG));
  });
});
