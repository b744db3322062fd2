/** The brand of an event: in its payload, and what its pages load. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { settle, start } from '../fixtures/checkout.ts';
import type { Json } from '../fixtures/client.ts';
import { gala } from '../fixtures/events.ts';
import { serviceWith } from '../fixtures/service.ts';

const SVG = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';

const brand = {
  name: 'Schauspiel & Co.',
  logo: `data:image/svg+xml;base64,${btoa(SVG)}`,
  accent_dark: '#E8B84A',
  scheme: 'DARK',
  support: 'kasse@theatre.example',
  links: [{ label: { en: 'Imprint', de: 'Impressum' }, url: 'https://theatre.example/imprint' }],
};

interface Payload {
  readonly brand?: Readonly<Record<string, unknown>> & { readonly logo: string; readonly style: string };
}

const service = serviceWith([gala({ brand, status: 'PUBLISHED' }), gala({ id: 'evt_plain', slug: 'plain' })]);

/** A page as a browser asks for it. */
const pageAt = (path: string, headers = {}): Promise<Response> =>
  fetch(service.publicUrl + path, { headers: { accept: 'text/html', 'accept-language': 'de', ...headers } });

const brandOfGala = async (): Promise<NonNullable<Payload['brand']>> =>
  (await service.get<Payload>('/api/events/public/gala')).body.brand!;

describe('The brand of an event', () => {
  it('is in its payload with everything worked out, and absent where nobody has one', async () => {
    const { logo, style, ...rest } = await brandOfGala();
    assert.match(logo, /^\/brand\/events\/gala\/logo-[\w-]{16}\.svg$/);
    assert.match(style, /^\/brand\/dark-[0-9a-f]{6}-e8b84a\.css$/);
    const { accent, ...others } = rest as { readonly accent: string };
    assert.match(accent, /^#[0-9a-f]{6}$/);
    assert.deepEqual(others, {
      name: brand.name,
      accent_dark: '#e8b84a',
      scheme: 'DARK',
      support: brand.support,
      links: brand.links,
      credit: false,
    });
    assert.equal((await service.get<Payload>('/api/events/public/plain')).body.brand, undefined);
  });

  it('has a logo that may be kept for ever, and a drawing that can run nothing', async () => {
    const { logo } = await brandOfGala();
    const answer = await pageAt(logo);
    assert.equal(answer.status, 200);
    assert.equal(await answer.text(), SVG);
    assert.equal(answer.headers.get('content-type'), 'image/svg+xml');
    assert.equal(
      answer.headers.get('content-security-policy'),
      "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    );
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff');
    assert.match(answer.headers.get('cache-control')!, /immutable/);
    for (const other of [
      logo.replace('/gala/', '/plain/'),
      logo.replace(/logo-./, 'logo-_'),
      '/brand/none',
      '/brand/x/y',
    ])
      assert.equal((await pageAt(other)).status, 404, other);
  });

  it('has a style sheet, which is there for readable colours alone', async () => {
    const { style } = await brandOfGala();
    const answer = await pageAt(style);
    assert.match(answer.headers.get('content-type')!, /^text\/css/);
    assert.match(await answer.text(), /color-scheme:dark/);
    assert.equal((await pageAt('/brand/dark-ffffff-000000.css')).status, 404);
  });

  it('is on the pages of the order, its payment and its dates, and on none of them stands another name', async () => {
    const order = await start(service);
    const paying = await pageAt(new URL(order.redirect_url!).pathname);
    const waiting = await pageAt(`/orders/${order.order_id}`);
    await settle(service, order, 'paid');
    const pages = [paying, waiting, await pageAt(`/orders/${order.order_id}`), await pageAt('/e/gala')];
    for (const page of [...pages, await pageAt('/e/gala/checkout'), await pageAt('/e/gala/queue')]) {
      const html = await page.text();
      assert.match(html, /Schauspiel &amp; Co\./, page.url);
      assert.doesNotMatch(html + JSON.stringify([...page.headers]), /holdfast/i, page.url);
      assert.match(html, page.url.includes('/e/') ? /rel="stylesheet" id="brand-style"/ : /Impressum<\/a>/, page.url);
    }
    const calendar = await (await pageAt(`/orders/${order.order_id}/calendar.ics`)).text();
    assert.match(calendar, /PRODID:-\/\/Schauspiel & Co\.\/\/Tickets/);
    assert.doesNotMatch(calendar, /holdfast/i);
  });

  it('is not told before the event is published, and stays while it has orders', async () => {
    const drafted = (more: object): Json => gala({ brand, status: 'DRAFT', ...more }) as Json;
    const draft = drafted({ id: 'evt_draft', slug: 'draft' });
    assert.equal((await service.operate('PUT', '/admin/events/evt_draft', { body: draft })).status, 201);
    const { logo } = await brandOfGala();
    for (const path of ['/e/draft/checkout', '/e/draft/queue', logo.replace('/gala/', '/draft/')])
      assert.equal((await pageAt(path)).status, 404, path);

    assert.equal((await service.operate('PUT', '/admin/events/evt_gala', { body: drafted({}) })).status, 200);
    for (const path of ['/e/gala/checkout', logo]) assert.equal((await pageAt(path)).status, 200, path);
  });

  it('is refused with the numbers where nobody could read a page with it', async () => {
    const answer = await service.operate<Json>('PUT', '/admin/events/evt_gala', {
      body: gala({ brand: { accent: '#ffd400', logo: 'logo.svg' } }) as Json,
    });
    assert.equal(answer.status, 400, JSON.stringify(answer.body));
    const { errors } = answer.body['detail'] as { readonly errors: readonly object[] };
    assert.deepEqual(errors, [
      {
        path: '/brand/accent',
        message: 'has a contrast of 1.22 : 1 with #f1ede5 of the light pages, and needs 4.5 : 1 to be read',
      },
      { path: '/brand/logo', message: 'must be a data: URL here, because no file comes with it' },
    ]);
  });
});
