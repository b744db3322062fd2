import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { after, before, describe, it } from 'node:test';
import { clubNight, sample } from '../../fixtures/events.ts';
import type { Json } from '../../fixtures/client.ts';
import { openService, type TestService } from '../../fixtures/service.ts';

/** Tickets of the club night's first stage. */
const early = { ticket_type_id: 'single', selling_stage_id: 'early', quantity: 2 };

/** The events that a page describes for search engines. */
function graphIn(text: string): Json[] {
  const [, block = ''] = /<script type="application\/ld\+json"[^>]*>([^]*?)<\/script>/.exec(text) ?? [];
  return (JSON.parse(block) as { '@graph': Json[] })['@graph'];
}

const HOSTILE = `</script><script>alert('1')</script> "quoted" & 'more' <!-- {{app}} $&`;

/** Kilobytes of a page with its scripts and styles, as a browser with an empty cache gets them, Brotli. */
const KILOBYTES_MAX = 80;
/** The fonts that a page of English or German words asks for besides. */
const LATIN_FONTS_BYTES_MAX = 70 * 1_024;

/** The bytes of an answer's body on the wire. */
async function bytesOf(url: string): Promise<number> {
  const sent = request(url, { headers: { 'accept-encoding': 'br' } }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  assert.equal(response.statusCode, 200, url);
  return Buffer.concat(await response.toArray()).length;
}

describe('The pages', () => {
  let service: TestService;
  let html = '';
  const read = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(service.publicUrl + path, { headers });
    return { response, text: await response.text() };
  };

  before(async () => {
    service = await openService();
    for (const name of ['club-night', 'theatre-run']) await service.define(sample(name));
    await service.define(sample('open-studios', { id: 'evt_x', slug: 'hostile', name: HOSTILE, description: HOSTILE }));
    html = (await read('/')).text;
  });

  after(() => service.close());

  it('have the list of events and an event in their first HTML, revalidated each time, in the language of the reader', async () => {
    for (const [path, shown] of [
      ['/', 'The Glass Orchard'],
      ['/e/night-shift', '<li>Single: €14</li>'],
      ['/e/the-glass-orchard?date=friday', 'Fri, 13 October 2028, 19:30'],
    ] as const) {
      const { response, text } = await read(path);
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(response.headers.get('cache-control'), 'no-cache');
      assert.match(response.headers.get('vary')!, /Accept-Language, Cookie/);
      assert.ok(text.includes(shown), path);
      const etag = response.headers.get('etag')!;
      assert.equal((await read(path, { 'if-none-match': etag })).response.status, 304);
      const german = await read(path, { 'if-none-match': etag, 'accept-language': 'de-AT,en;q=0.5' });
      assert.ok(german.text.includes('<html lang="de">') && german.response.headers.get('etag') !== etag, path);
      const chosen = await read(path, { 'accept-language': 'de', cookie: 'a=b; holdfast.language=en' });
      assert.equal(chosen.text, text);
    }
  });

  it('say what a shared link shows: title, description, address and picture, and each performance for search engines', async () => {
    const { text } = await read('/e/the-glass-orchard');
    const property = (name: string) => new RegExp(`property="og:${name}" content="([^"]*)"`).exec(text)?.[1];
    assert.equal(property('title'), 'The Glass Orchard');
    assert.equal(property('url'), `${service.publicUrl}/e/the-glass-orchard`);
    assert.equal(property('image'), `${service.publicUrl}/pictures/pictures/the-glass-orchard.webp`);
    assert.match(
      property('description')!,
      /^Fri, 6 October 2028, 19:30, Theater an der Brücke, .*Tickets from €15\. A comedy/,
    );
    const [event, ...others] = graphIn(text);
    assert.equal(others.length, 3);
    assert.deepEqual(
      [event!['name'], event!['startDate'], event!['doorTime'], event!['eventStatus']],
      [
        'The Glass Orchard',
        '2028-10-06T17:30:00.000Z',
        '2028-10-06T16:45:00.000Z',
        'https://schema.org/EventScheduled',
      ],
    );
    const address = {
      '@type': 'PostalAddress',
      streetAddress: 'Uferzeile 3',
      addressLocality: 'Wien',
      addressCountry: 'AT',
    };
    assert.deepEqual(event!['location'], { '@type': 'Place', name: 'Theater an der Brücke', address });
    const { lowPrice, priceCurrency, availability } = event!['offers'] as Json;
    assert.deepEqual([lowPrice, priceCurrency, availability], ['15.00', 'EUR', 'https://schema.org/InStock']);
  });

  it('show any name as text and never as markup', async () => {
    for (const path of ['/', '/e/hostile']) {
      const { text } = await read(path);
      assert.equal(text.match(/<script/g)!.length, path === '/' ? 2 : 3, 'the page’s script and its data blocks');
      assert.ok(!text.includes('<!-- {{') && !text.includes("alert('1')<"), path);
    }
    const { text } = await read('/e/hostile');
    assert.equal(graphIn(text)[0]!['name'], HOSTILE);
    assert.match(text, /<h1 tabindex="-1">&lt;\/script(?:>|&gt;)/);
  });

  it('answer an event that there is not with 404 and a page, and leave the steps of a purchase to their script', async () => {
    for (const path of ['/e/none', '/e/none/checkout', '/e/night-shift/elsewhere']) {
      const { response, text } = await read(path);
      assert.deepEqual(
        [response.status, response.headers.get('content-type')],
        [404, 'text/html; charset=utf-8'],
        path,
      );
      assert.match(text, /There is no such event/);
      assert.match(text, /content="noindex"/);
    }
    for (const page of ['checkout', 'queue', 'draw']) {
      const { response, text } = await read(`/e/night-shift/${page}`);
      assert.deepEqual([response.status, text.includes('<div id="app"></div>')], [200, true], page);
    }
    assert.equal((await read('/e/night-shift?date=never')).response.status, 200);
  });

  it('follow what is sold and what operators change', async () => {
    const { text } = await read('/e/night-shift');
    await service.hold({ event_id: 'evt_club', session_key: 'somebody-else', items: [early] });
    assert.notEqual((await read('/e/night-shift')).text, text);
    await service.define(sample('club-night', { name: 'Day Shift' }));
    for (const path of ['/', '/e/night-shift']) assert.ok((await read(path)).text.includes('Day Shift'), path);
  });

  it('narrow the list by its address: at most 24 cards, and no more in the data beside them, of all events', async () => {
    for (let n = 0; n < 30; n += 1) {
      const names = {
        id: `evt_${n}`,
        slug: `matinee-${n}`,
        name: `Matinée ${n}`,
        venue: { name: 'Saal', city: 'Graz' },
      };
      await service.define(clubNight(names));
    }
    const cardsIn = (text: string) => text.match(/class="card"/g)?.length ?? 0;
    const foundIn = (text: string) => {
      const [, block = ''] = /<script type="application\/json"[^>]*>([^]*?)<\/script>/.exec(text) ?? [];
      return (JSON.parse(block) as { found: Json[] }).found.map(({ name }) => name);
    };
    const all = (await read('/?q=MATINEE+graz')).text;
    assert.equal(cardsIn(all), 24);
    assert.equal(foundIn(all).length, 24);
    assert.match(all, /30 events/);
    const one = (await read('/?city=Graz&q=29')).text;
    assert.deepEqual([cardsIn(one), foundIn(one)], [1, ['Matinée 29']]);
    const long = (await read(`/?q=${'matinee+'.repeat(12)}2+29${'+never'.repeat(200)}`)).text;
    assert.equal(cardsIn(long), 1, 'characters after the hundredth do not count');
    await service.define(clubNight({ id: 'evt_29', slug: 'matinee-29', name: 'Soirée 29' }));
    assert.equal(cardsIn((await read('/?city=Graz&q=29')).text), 0, 'a search follows what operators change');
  });

  it('are limited to 60 narrowed lists a minute for each client', async () => {
    const behind = await openService({ environment: { TRUST_PROXY: '1' } });
    const statusOf = async (path: string, client: string, method = 'GET') => {
      const response = await fetch(behind.publicUrl + path, { method, headers: { 'x-forwarded-for': client } });
      await response.arrayBuffer();
      return response.status;
    };
    for (let n = 0; n < 59; n += 1) assert.equal(await statusOf(`/?q=${n}`, '192.0.2.1'), 200);
    assert.equal(await statusOf('/?q=head', '192.0.2.1', 'HEAD'), 200);
    assert.equal(await statusOf('/?q=60', '192.0.2.1'), 429);
    assert.equal(await statusOf('/', '192.0.2.1'), 200, 'the plain list is free');
    assert.equal(await statusOf('/?q=60', '192.0.2.2'), 200);
    await behind.close();
  });

  it('load nothing but their own files, without inline code', async () => {
    const policy = (await fetch(`${service.publicUrl}/`)).headers.get('content-security-policy')!;
    assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'/);
    assert.doesNotMatch(policy, /unsafe|\*/);
    assert.doesNotMatch(html, /<style|<script(?![^>]*(?:src=|type="application\/(?:ld\+)?json"))|\sstyle=|\son\w+=/);
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

  it('bring their own fonts, the same at both listeners, which a browser stores for ever and no page waits for', async () => {
    const fontsIn = (text: string): readonly string[] =>
      [...text.matchAll(/url\(["']?([^"')]+\.woff2)["']?\)/g)].map((match) => match[1]!).sort();
    const textAt = async (address: string): Promise<string> =>
      (await fetch(address, { headers: { accept: 'text/html' } })).text();
    const { publicUrl, adminUrl } = service;
    const fonts = fontsIn(await textAt(`${publicUrl}/nowhere`));
    assert.equal(fonts.length, 4);
    const latin = fonts.filter((font) => !font.includes('latin-ext'));
    const weights = await Promise.all(latin.map((font) => bytesOf(publicUrl + font)));
    assert.ok(weights[0]! + weights[1]! <= LATIN_FONTS_BYTES_MAX, weights.join(' + '));
    for (const [origin, path] of [
      [publicUrl, '/'],
      [publicUrl, '/example'],
      [publicUrl, '/docs'],
      [adminUrl, '/'],
      [adminUrl, '/docs'],
    ] as const) {
      const text = await textAt(origin + path);
      assert.doesNotMatch(text, /rel="preload"/);
      const style = /rel="stylesheet" href="([^"]+)"/.exec(text)?.[1];
      assert.deepEqual(fontsIn(style === undefined ? text : await textAt(origin + style)), fonts, origin + path);
    }
    for (const address of fonts.flatMap((font) => [publicUrl + font, adminUrl + font])) {
      const { headers } = await fetch(address);
      assert.equal(headers.get('content-type'), 'font/woff2');
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
      const named = await fetch(address, { headers: { 'if-none-match': headers.get('etag')! } });
      assert.equal(named.status, 304);
    }
    assert.equal((await fetch(`${publicUrl}/fonts/inter-old.woff2`)).status, 404);
  });

  it('include an example page with files of its own', async () => {
    const example = await (await fetch(`${service.publicUrl}/example`)).text();
    const script = /"(\/example\/main-\w+\.js)"/.exec(example)![1]!;
    assert.equal((await fetch(service.publicUrl + script)).status, 200);
  });

  it('weigh no more than a slow phone loads in half a second, with their scripts and styles', async () => {
    for (const path of ['/', '/e/night-shift', '/e/the-glass-orchard']) {
      const { text } = await read(path);
      const files = [...text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, file]) => file!);
      assert.ok(files.length >= 2, 'a script and a style');
      const weights = await Promise.all([path, ...new Set(files)].map((each) => bytesOf(service.publicUrl + each)));
      const kilobytes = weights.reduce((sum, bytes) => sum + bytes, 0) / 1024;
      assert.ok(kilobytes <= KILOBYTES_MAX, `${path}: ${kilobytes.toFixed(1)} KB`);
    }
  });

  it('answer an unknown file with the error body', async () => {
    const { status, body } = await service.call('GET', '/assets/main-OLD.js');
    assert.deepEqual([status, body['code']], [404, 'NOT_FOUND']);
  });
});

describe('The colours', () => {
  const text = readFileSync(new URL('../../../src/web/styles/tokens.css', import.meta.url), 'utf8');
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
