import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import type { Browser, Locator } from 'playwright-core';
import { until } from '../../fixtures/until.ts';
import type { Json } from '../../fixtures/client.ts';
import { sample } from '../../fixtures/events.ts';
import type { TestService } from '../../fixtures/service.ts';
import { serveHttp } from '../../fixtures/http-server.ts';
import { newVisitor, PHONE, withoutBrowser } from '../../fixtures/browser.ts';
import { fillIn, openShop, POLL_MS_MAX, seat, type Shop, type ShopVisitorOptions } from './shop.ts';

describe('The storefront', { skip: withoutBrowser }, () => {
  let shop: Shop;
  let service: TestService;
  let browser: Browser;

  before(async () => {
    shop = await openShop();
    ({ service, browser } = shop);
    await service.define(sample('club-night'));
    await service.define(sample('theatre-run'));
    await service.define(sample('open-studios'));
  });

  after(() => shop?.close());

  const enter = (path: string, options: ShopVisitorOptions = {}) => shop.enter(path, options);
  const ownEvent = (name: string, slug: string, overrides: Json = {}) => shop.ownEvent(name, slug, overrides);
  const passTime = (seconds: number) => shop.passTime(seconds);

  // These tests are independent and run two at a time; those that move the clock run alone, afterwards.
  describe('at any time', { concurrency: 2 }, () => {
    it('sells from the list to the paid order, and dispatches every step to tag managers as notifications have it', async () => {
      const buyer = await enter('/');
      const steps = ['view-content', 'add-to-cart', 'initiate-checkout', 'purchase', 'complete-payment'];
      await buyer.page.context().addInitScript({
        content: `for (const step of ${JSON.stringify(steps)}) document.addEventListener('holdfast:' + step, ({ detail }) =>
          sessionStorage.setItem('steps', JSON.stringify([...JSON.parse(sessionStorage.getItem('steps') ?? '[]'), { step, ...detail }])));`,
      });
      await buyer.open('/');
      await buyer.press('Night Shift');
      await buyer.page.getByRole('button', { name: 'More: Single, Regular' }).click({ clickCount: 2 });
      await buyer.press('Hold 2 tickets');
      await buyer.press('Go to checkout');
      await fillIn(buyer);
      await buyer.page.getByRole('button', { name: 'More: Beer' }).click();
      await buyer.press('Order and pay €42.50');
      await buyer.page.waitForURL(/\/sandbox\/pay\//);
      await buyer.press('Pay');
      await buyer.page.waitForURL(/\/orders\/ord_/);
      await buyer.sees(/confirmed/i);
      const orderId = buyer.page.url().split('/').at(-1)!;
      await buyer.open('/');
      // Read again from here: the page's policy forbids the evaluation that a wait inside the page needs.
      const storedSteps = () => buyer.page.evaluate<string>("sessionStorage.getItem('steps')");
      await until(async () => (await storedSteps()).includes('complete-payment'), 'the payment is dispatched');
      const reported = JSON.parse(await storedSteps()) as Json[];
      assert.deepEqual(
        reported.map(({ step }) => step),
        steps,
      );
      const contents = [{ id: 'single', quantity: 2, price: 1900 }];
      const bought = [...contents, { id: 'beer', quantity: 1, price: 450 }];
      assert.deepEqual(
        [reported[1]!['contents'], reported[1]!['value'], reported[1]!['currency']],
        [contents, 3800, 'EUR'],
      );
      for (const { contents, value, dedupe_id } of reported.slice(2)) {
        assert.deepEqual([contents, value], [bought, 4250]);
        assert.equal(dedupe_id, createHash('sha256').update(orderId).digest('hex'));
      }
      await buyer.open('/e/open-studios');
      await buyer.press('More: Visitor');
      await buyer.press('Hold 1 ticket');
      await buyer.press('Go to checkout');
      await fillIn(buyer);
      await buyer.press('Get my tickets');
      await buyer.page.waitForURL(/\/orders\/ord_/);
      const after = JSON.parse(await storedSteps()) as Json[];
      assert.deepEqual(
        after.slice(5).map(({ step }) => step),
        ['view-content', 'add-to-cart', 'purchase'],
      );
      await buyer.open('/e/night-shift');
      await buyer.sees('You have tickets for this event.');
      await buyer.close();
    });

    it('holds picked seats, changes the hold and releases it', async () => {
      const path = await ownEvent('theatre-run', 'picked');
      const buyer = await enter(path);
      await seat(buyer, /Stalls · Row F, seat 10 .*free/).click();
      await seat(buyer, /Stalls · Row F, seat 11 .*free/).click();
      await buyer.press('Hold 2 tickets');
      await buyer.sees('Stalls, row F, seats 10 and 11');
      await seat(buyer, /Stalls · Row F, seat 12 .*free/).click();
      await buyer.press('Update my tickets');
      await buyer.press('Go to checkout');
      await buyer.sees('Stalls, row F, seats 10, 11 and 12');
      await buyer.press('The Glass Orchard');
      await buyer.press('Give the tickets back');
      await buyer.sees('Nothing chosen yet.');
      const { body } = await service.call('GET', '/api/events/public/picked/seating/occupancy?performance_id=premiere');
      assert.deepEqual(body['held'], []);
      await buyer.close();
    });

    it('suggests the best seats for a number of people', async () => {
      const path = await ownEvent('theatre-run', 'best');
      const buyer = await enter(`${path}?date=friday`);
      await buyer.page.getByRole('combobox').selectOption({ label: 'Stalls · €54' });
      await buyer.press('More: Seats together');
      await buyer.press('Best seats for me');
      await buyer.press('Hold 3 tickets');
      await buyer.sees(/Second Friday/);
      await buyer.sees('Stalls, row F, seats 10, 11 and 12');
      await buyer.close();
    });

    it('shows two buyers each other’s seats, and holds a seat that both pick for one of them', async () => {
      const path = await ownEvent('theatre-run', 'race');
      const quick = await enter(path);
      const slow = await newVisitor(browser, service.publicUrl, { expected: /status of 4|ERR_FAILED/ });
      await slow.page.route('**/live?*', (route) => route.abort());
      await slow.open(path);
      await Promise.all([quick, slow].map((buyer) => seat(buyer, /Balcony · Row AA, seat 12 .*free/).click()));
      await seat(slow, /Balcony · Row AA, seat 13 .*free/).click();
      // Without a stream the page asks for the seats now and then; it must not learn of the other hold in time.
      const asked = '**/occupancy*';
      await slow.page.route(asked, (route) => route.abort());
      await quick.press('Hold 1 ticket');
      await quick.press('Go to checkout');
      await slow.press('Hold 2 tickets');
      await slow.sees(/just taken by somebody else \(Balcony, row AA, seat 12\)/);
      await slow.page.unroute(asked);
      await slow.press('Hold 1 ticket');
      await slow.sees('Go to checkout');
      await quick.press('The Glass Orchard');
      await seat(quick, /Row AA, seat 13 .*basket/).waitFor();
      await Promise.all([quick.close(), slow.close()]);
    });

    it('keeps a seat that is picked while the hold of others is being placed', async () => {
      const buyer = await enter(await ownEvent('theatre-run', 'meanwhile'));
      await seat(buyer, /Balcony · Row AA, seat 12 .*free/).click();
      const picked = Promise.withResolvers<void>();
      await buyer.page.route('**/api/checkout/holds', async (route) => {
        await picked.promise;
        await route.continue();
      });
      await buyer.press('Hold 1 ticket');
      await seat(buyer, /Balcony · Row AA, seat 13 .*free/).click();
      await seat(buyer, /Balcony · Row AA, seat 13 .*chosen/).waitFor();
      picked.resolve();
      await buyer.press('Update my tickets');
      await buyer.sees('Balcony, row AA, seats 12 and 13');
      await buyer.sees('Go to checkout');
      await buyer.close();
    });

    it('keeps hold and form after a reload in the middle of a purchase', async () => {
      const path = await ownEvent('theatre-run', 'reloaded');
      const buyer = await enter(path);
      await buyer.press('Best seats for me');
      await buyer.press('Hold 2 tickets');
      await buyer.sees('Go to checkout');
      await buyer.page.reload();
      await buyer.sees('Front stalls, row A, seats 8 and 9');
      await buyer.press('Go to checkout');
      await fillIn(buyer);
      await buyer.page.reload();
      const email = buyer.page.getByLabel('E-mail');
      await until(async () => (await email.inputValue()) === 'ada@example.com', 'the form is filled in again');
      await buyer.sees('Front stalls, row A, seats 8 and 9');
      await buyer.close();
    });

    it('fits a phone, where a tap on a small seat first zooms in', async () => {
      const path = await ownEvent('erfurt-volley', 'hall');
      // A plan that flies nowhere is at rest whenever it is read.
      const buyer = await enter('/', { ...PHONE, reducedMotion: 'reduce' });
      await buyer.sees('Night Shift');
      assert.equal(await buyer.overflows(), false);
      await buyer.open(path);
      const frame = buyer.page.locator('.seat-frame');
      const block = buyer.page.locator('.seat-layer').getByRole('button', { name: /Block A/ });
      await block.waitFor();
      assert.equal(await buyer.overflows(), false);
      await frame.tap({ position: await centreWithin(block, frame) });
      const someSeat = seat(buyer, /Block A · .*Row 5, seat 5 .*free/);
      await someSeat.waitFor();
      const before = (await someSeat.boundingBox())!;
      await someSeat.tap();
      await until(async () => (await someSeat.boundingBox())!.width > before.width * 1.5, 'the tap zooms in');
      assert.match((await someSeat.getAttribute('aria-label')) ?? '', /free/);
      await someSeat.tap();
      await buyer.page.locator('.dock-what').click();
      await buyer.press('Hold 1 ticket');
      await buyer.press('Go to checkout');
      await buyer.page.getByLabel('E-mail').waitFor();
      assert.equal(await buyer.overflows(), false);
      await buyer.close();
    });

    it('can be used with the keyboard alone', async () => {
      const path = await ownEvent('theatre-run', 'keyboard');
      const buyer = await enter(path);
      const { keyboard } = buyer.page;
      await seat(buyer, /Row A, seat 1 .*free/)
        .first()
        .waitFor();
      /** Waits for an element, then presses Tab until it has the focus. */
      const tabTo = async (element: Locator): Promise<void> => {
        await element.waitFor();
        for (let steps = 0; steps < 80; steps += 1) {
          await keyboard.press('Tab');
          if ((await element.and(buyer.page.locator(':focus')).count()) > 0) return;
        }
        assert.fail(`Tab never led to ${String(element)}`);
      };
      await tabTo(buyer.page.locator('.seat-frame'));
      for (const key of ['ArrowRight', 'ArrowRight', 'Enter', 'ArrowDown', 'Space']) await keyboard.press(key);
      await tabTo(buyer.page.getByRole('button', { name: 'Hold 2 tickets' }));
      await keyboard.press('Enter');
      await buyer.sees('Front stalls, row A, seat 2');
      await buyer.sees('Front stalls, row B, seat 2');
      await tabTo(buyer.page.getByText('Go to checkout'));
      await keyboard.press('Enter');
      await tabTo(buyer.page.getByLabel('Name', { exact: true }));
      await keyboard.type('Ada');
      await keyboard.press('Tab');
      await keyboard.type('ada@example.com');
      await tabTo(buyer.page.getByLabel(/terms/));
      await keyboard.press('Space');
      await tabTo(buyer.page.getByRole('button', { name: /Order and pay/ }));
      await keyboard.press('Enter');
      await buyer.page.waitForURL(/\/sandbox\/pay\//);
      await buyer.close();
    });

    it('draws a hall of thousands of seats on a canvas, with the same use', async () => {
      const rows = Array.from({ length: 70 }, (_, row) => ({ label: String(row + 1), seats: 80 }));
      const localities = [
        { id: 'bowl', name: 'Bowl', seating: 'NUMBERED', sections: [{ id: 'S', name: 'South', rows }] },
      ];
      const ticketTypes = [{ id: 'seat', name: 'Seat', locality_id: 'bowl' }];
      const sellingStages = [{ id: 'general', name: 'General sale', prices: { seat: 3000 } }];
      const performances = [
        { id: 'day', name: 'Day', starts_at: '2028-05-14T09:00:00Z', ends_at: '2028-05-14T17:00:00Z' },
      ];
      const path = await ownEvent('open-studios', 'bowl', { localities, ticketTypes, sellingStages, performances });
      const buyer = await enter(path);
      await buyer.page.locator('canvas').waitFor();
      await buyer.press('Best seats for me');
      await buyer.press('Hold 2 tickets');
      await buyer.sees('South, row 1, seats 40 and 41');
      await buyer.page.locator('.seat-frame').focus();
      for (const key of ['ArrowDown', 'ArrowDown', 'Enter']) await buyer.page.keyboard.press(key);
      await buyer.sees(/Row 2, seat 40 · €30 · chosen/);
      await buyer.close();
    });

    it('works when it is hosted on another origin', async () => {
      const html = await (await fetch(`${service.publicUrl}/`)).text();
      const hosted = html
        .replace('name="shop-api" content=""', `name="shop-api" content="${service.publicUrl}"`)
        .replaceAll('"/assets/', `"${service.publicUrl}/assets/`)
        .replace('<script ', '<script crossorigin ');
      const host = await serveHttp((_request, response) => {
        response.setHeader('content-type', 'text/html; charset=utf-8').end(hosted);
      });
      const buyer = await newVisitor(browser, host.url, {
        hosts: [new URL(host.url).host, new URL(service.publicUrl).host],
      });
      await buyer.open('/e/night-shift');
      await buyer.press('More: Single, Regular');
      await buyer.press('Hold 1 ticket');
      await buyer.press('Go to checkout');
      await buyer.close();
      await host.close();
    });

    it('has an example page that sells tickets', async () => {
      const buyer = await enter('/example');
      await buyer.press('Night Shift');
      await buyer.page.getByLabel(/Single · €19/).fill('2');
      await buyer.press('Hold');
      await buyer.sees(/Held for another \d+ s/);
      await buyer.page.getByLabel('E-mail').fill('ada@example.com');
      await buyer.press(/buy/);
      await buyer.page.waitForURL(/\/sandbox\/pay\//);
      await buyer.close();
    });
  });

  describe('when time passes', () => {
    it('admits people from the waiting room, in order, who find what they had chosen', async () => {
      const path = await ownEvent('lighthouse-rush', 'rush', { waiting_room_rate: 1 });
      await service.call('POST', '/api/checkout/queue', {
        body: { event_id: 'evt_rush', session_key: 'somebody-else' },
      });
      const buyer = await enter(path, { ownClock: true });
      await buyer.press('More: Field');
      await buyer.press('Join the waiting room');
      await buyer.sees('Your place in line');
      await buyer.sees('1 person is admitted a minute.');
      await buyer.page.getByRole('progressbar', { name: 'The way to your turn' }).waitFor();
      await buyer.press('Leave the line');
      await buyer.sees(/Leave the line\? Your place, No\. \d+, is given up for good\./);
      await buyer.page.locator(':focus', { hasText: 'Stay in line' }).waitFor();
      await buyer.page.keyboard.press('Escape');
      await buyer.press('Leave the line');
      await buyer.press('Stay in line');
      await buyer.sees('Your place in line');
      await passTime(61);
      await buyer.later(POLL_MS_MAX);
      await buyer.sees('It is your turn.');
      await buyer.press('Hold 1 ticket');
      await buyer.sees('Go to checkout');
      await buyer.close();
    });

    it('gives the place in line up only after a question', async () => {
      const path = await ownEvent('lighthouse-rush', 'leaving', { waiting_room_rate: 1 });
      await service.call('POST', '/api/checkout/queue', {
        body: { event_id: 'evt_leaving', session_key: 'somebody-else' },
      });
      const buyer = await enter(`${path}/queue`);
      await buyer.press('Leave the line');
      await buyer.press('Leave the line');
      await buyer.sees('This event has a waiting room.');
      await buyer.sees('Join the waiting room');
      await buyer.close();
    });

    it('says that it is the buyer’s turn where they look elsewhere, when they want that', async () => {
      const path = await ownEvent('lighthouse-rush', 'telling', { waiting_room_rate: 1 });
      await service.call('POST', '/api/checkout/queue', {
        body: { event_id: 'evt_telling', session_key: 'somebody-else' },
      });
      const buyer = await enter('/nowhere', { ownClock: true });
      await buyer.page.addInitScript({ content: NOTIFICATIONS });
      await buyer.open(`${path}/queue`);
      await buyer.press('Notify me when it is my turn');
      await buyer.sees('A notification tells you when it is your turn.');
      await buyer.page.evaluate('Object.defineProperty(document, "hidden", { get: () => true })');
      await passTime(61);
      await buyer.later(POLL_MS_MAX);
      await buyer.sees('Your turn lasts');
      await until(async () => (await buyer.page.evaluate<string[]>('told')).length > 0, 'a notification is shown');
      assert.deepEqual(await buyer.page.evaluate('told'), ['It is your turn.']);
      await buyer.close();
    });

    it('says after a moment that there is no network, and goes on by itself when it is back', async () => {
      const path = await ownEvent('lighthouse-rush', 'offline', { waiting_room_rate: 1 });
      await service.call('POST', '/api/checkout/queue', {
        body: { event_id: 'evt_offline', session_key: 'somebody-else' },
      });
      const expected = /status of 4|ERR_INTERNET_DISCONNECTED/;
      const buyer = await enter(`${path}/queue`, { ownClock: true, expected });
      await buyer.sees('Your place in line');
      await buyer.page.context().setOffline(true);
      await buyer.later(POLL_MS_MAX);
      await buyer.sees(/There is no network\./);
      await passTime(61);
      await buyer.page.context().setOffline(false);
      await buyer.later(POLL_MS_MAX);
      await buyer.sees('It is your turn.');
      await buyer.page.getByText('There is no network.').waitFor({ state: 'detached' });
      await buyer.close();
    });

    it('checks the proof of a draw in the buyer’s own browser', async () => {
      const now = Date.parse(String((await passTime(0)).body['now']));
      const opensAt = new Date(now + 600_000).toISOString();
      const path = await ownEvent('lighthouse-rush', 'drawn', {
        waiting_room_opens_at: opensAt,
        waiting_room_inactivity_seconds: 3600,
      });
      const join = (n: number) =>
        service.call('POST', '/api/checkout/queue', {
          body: { event_id: 'evt_drawn', session_key: `in-the-draw-${n}` },
        });
      await Promise.all(Array.from({ length: 20 }, (_, n) => join(n)));
      const buyer = await enter(`${path}/queue`);
      await buyer.sees('You are here in time');
      await passTime(601);
      await buyer.open(`${path}/draw`);
      await buyer.press('Check it in my browser');
      await buyer.sees('Everybody stands where the secrets put them.');
      await buyer.sees(/You were drawn as number \d+/);
      assert.equal(await buyer.page.getByText('This does not hold.').count(), 0);
      await buyer.close();
    });
  });
});

/** Stands in for the notifications of a browser, which nobody sees without a screen. */
const NOTIFICATIONS = `globalThis.told = [];
globalThis.Notification = class extends EventTarget {
  static permission = 'default';
  static async requestPermission() { return (Notification.permission = 'granted'); }
  constructor(title) { super(); told.push(title); }
};`;

/** Where the middle of an element lies within another. */
async function centreWithin(
  inner: { boundingBox(): Promise<{ x: number; y: number; width: number; height: number } | null> },
  outer: typeof inner,
): Promise<{ x: number; y: number }> {
  const [a, b] = [(await inner.boundingBox())!, (await outer.boundingBox())!];
  return { x: a.x + a.width / 2 - b.x, y: a.y + a.height / 2 - b.y };
}
