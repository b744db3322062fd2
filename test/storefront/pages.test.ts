import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { openService, type TestService } from '../fixtures/service.ts';

describe('The pages', () => {
  let service: TestService;
  let html = '';

  before(async () => {
    service = await openService();
    html = await (await fetch(`${service.publicUrl}/`)).text();
  });

  after(() => service.close());

  it('are one document at every address of the storefront, revalidated each time', async () => {
    for (const path of ['/', '/e/any-event', '/e/any-event/checkout', '/e/any-event/queue']) {
      const response = await fetch(service.publicUrl + path);
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(response.headers.get('cache-control'), 'no-cache');
      assert.equal(await response.text(), html, path);
      const again = await fetch(service.publicUrl + path, {
        headers: { 'if-none-match': response.headers.get('etag')! },
      });
      assert.equal(again.status, 304);
    }
  });

  it('load nothing but their own files, without inline code', async () => {
    const policy = (await fetch(`${service.publicUrl}/`)).headers.get('content-security-policy')!;
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|\*/);
    assert.doesNotMatch(html, /<style|<script(?![^>]*src=)|\sstyle=|\son\w+=/);
  });

  it('have files with hashed names that may be stored for ever, compressed where the browser accepts that', async () => {
    const names = [...html.matchAll(/"(\/assets\/main-[A-Z0-9]{8}\.(?:js|css))"/g)].map((match) => match[1]!);
    assert.equal(names.length, 2);
    for (const name of names) {
      const response = await fetch(service.publicUrl + name, { headers: { 'accept-encoding': 'br' } });
      assert.equal(response.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(response.headers.get('content-encoding'), 'br');
      const plain = await fetch(service.publicUrl + name, { headers: { 'accept-encoding': 'identity' } });
      assert.equal(plain.headers.get('content-encoding'), null);
      assert.equal(await response.text(), await plain.text());
    }
  });

  it('include an example page with files of its own', async () => {
    const example = await (await fetch(`${service.publicUrl}/example`)).text();
    const script = /"(\/example\/main-\w+\.js)"/.exec(example)![1]!;
    assert.equal((await fetch(service.publicUrl + script)).status, 200);
  });

  it('answer an unknown file with the error body', async () => {
    const { status, body } = await service.call('GET', '/assets/main-OLD.js');
    assert.deepEqual([status, body['code']], [404, 'NOT_FOUND']);
  });
});

describe('The colours', () => {
  const text = readFileSync(new URL('../../src/storefront/app/styles/tokens.css', import.meta.url), 'utf8');
  const [lightText = '', darkText = ''] = text.split('@media (prefers-color-scheme: dark)');
  const tokensIn = (part: string) =>
    new Map([...part.matchAll(/--([\w-]+):\s*(#[0-9a-f]{6})/g)].map((match) => [match[1]!, match[2]!]));
  const light = tokensIn(lightText);
  const schemes = { light, dark: new Map([...light, ...tokensIn(darkText)]) };

  const luminance = (color: string): number => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
      const channel = parseInt(color.slice(at, at + 2), 16) / 255;
      return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a: string, b: string): number => {
    const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
    return (high + 0.05) / (low + 0.05);
  };

  const texts = [
    ...['paper', 'surface', 'sunken'].flatMap((ground) => ['ink', 'ink-quiet'].map((ink) => [ink, ground] as const)),
    ...['good', 'warn', 'bad', 'accent'].map((tone) => [tone, `${tone}-soft`] as const),
    ...(['accent', 'warn', 'bad'] as const).map((tone) => [tone, 'surface'] as const),
    ['accent', 'paper'],
    ['accent-ink', 'accent'],
    ['accent-ink', 'accent-hover'],
  ] as const;
  const marks = ['blue', 'orange', 'green', 'pink', 'sky', 'olive'].map((hue) => [`hue-${hue}`, 'surface'] as const);

  for (const [name, tokens] of Object.entries(schemes)) {
    const ratioOf = ([ink, ground]: readonly [string, string]) => contrast(tokens.get(ink)!, tokens.get(ground)!);
    it(`reach 4.5 : 1 for text and 3 : 1 for seats and focus rings, ${name}`, () => {
      const weak = [
        ...texts.filter((pair) => ratioOf(pair) < 4.5),
        ...[...marks, ['focus', 'surface'] as const, ['focus', 'paper'] as const].filter((pair) => ratioOf(pair) < 3),
      ];
      assert.deepEqual(
        weak.map((pair) => `${pair.join(' on ')}: ${ratioOf(pair).toFixed(2)}`),
        [],
      );
    });
  }
});
