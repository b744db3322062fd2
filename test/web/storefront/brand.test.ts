/**
 * The pages of a venue: every page of a buyer, by settings alone. `SCREENSHOTS=FOLDER` keeps a picture of each.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { samplesFolder } from '#catalogue/files.ts';
import { isOpenToAll } from '../../fixtures/axe.ts';
import { PHONE, withoutBrowser, type Visitor } from '../../fixtures/browser.ts';
import { until } from '../../fixtures/until.ts';
import { openShop, shopOf } from './shop.ts';

const BRAND = path.join(samplesFolder, 'brand/theatre.json');
const { name } = JSON.parse(readFileSync(BRAND, 'utf8')) as { readonly name: string };
const SCREENSHOTS = process.env['SCREENSHOTS'];

/** Where axe is shown every page; the other size has the same colours, and other parts on some pages. */
const NARROW = '320x640';
const OTHER_WIDE = /^(event|checkout)$/;
const DARK_GROUND = 'rgb(20, 19, 17)';
const LIGHT_GROUND = 'rgb(250, 248, 244)';
const groundOf = ({ page }: Visitor): Promise<string> =>
  page.evaluate<string>('getComputedStyle(document.body).backgroundColor');

describe('The pages of a venue', { skip: withoutBrowser }, () => {
  let orders: readonly string[];
  const shop = shopOf(
    async () => {
      await shop.ownEvent('club-night', 'night');
      await shop.ownEvent('theatre-run', 'play');
      await shop.ownEvent('harbour-draw', 'harbour');
      orders = [await shop.buy('/e/night')];
      await shop.ownEvent('club-night', 'guests', {
        brand: { name: 'Gastspiel', accent: '#7a1f2b', scheme: 'LIGHT', links: [] },
      });
    },
    { BRAND },
  );

  /** Nothing of the software, the venue in title and header, nothing beyond the edge. */
  const isTheVenues = async (buyer: Visitor, state: string, size: string): Promise<void> => {
    const { page } = buyer;
    await page.evaluate('document.fonts.ready.then(() => {})');
    if (SCREENSHOTS !== undefined) {
      mkdirSync(SCREENSHOTS, { recursive: true });
      await page.screenshot({ path: path.join(SCREENSHOTS, `${state}-${size}.png`), fullPage: true });
    }
    assert.doesNotMatch(await page.content(), /holdfast/i, state);
    await until(async () => (await page.title()).endsWith(name), `the title of ${state} ends with the name`);
    await page.getByRole('link', { name, exact: true }).first().waitFor();
    await page.getByRole('link', { name: 'Impressum' }).first().waitFor();
    await page.getByRole('link', { name: 'kasse@theaterhaeuser-erfurt.example' }).waitFor();
    await until(
      () => page.evaluate<boolean>('[...document.images].every((image) => image.naturalWidth > 0)'),
      `the pictures of ${state} are there`,
    );
    assert.equal(await groundOf(buyer), DARK_GROUND, state);
    assert.equal(await buyer.overflows(), false, `${state} is wider than ${size}`);
    // A page that waits for a payment loads itself again, which axe takes for an obstacle.
    const isLookedAt = size === NARROW ? state !== 'order-waiting' : OTHER_WIDE.test(state);
    if (isLookedAt) await isOpenToAll(buyer, state, '.seat-layer');
  };

  /** Every page of a buyer, one after another. */
  const walk = async (buyer: Visitor, size: string): Promise<void> => {
    const { page } = buyer;
    const stages: readonly (readonly [state: string, address: string, shown: string])[] = [
      ['list', '/', '.card'],
      ['event', '/e/night', '.ticket-row'],
      ['plan', '/e/play', 'canvas'],
      ['waiting-room', '/e/harbour/queue', 'h1'],
      ['draw', '/e/harbour/draw', 'h1'],
      ['draw-served', '/api/events/public/harbour/draw', 'h1'],
      ['checkout-empty', '/e/night/checkout', 'h1'],
      ['order', orders[0]!, '.ticket'],
      ['order-change', `${orders[0]!}/change/cancel`, 'h1'],
      ['missing', '/e/none', 'h1'],
      ['missing-served', '/orders/ord_none', 'h1'],
    ];
    for (const [state, address, shown] of stages) {
      await buyer.open(address);
      await page.locator(shown).first().waitFor();
      await page.waitForLoadState();
      await isTheVenues(buyer, state, size);
    }
    await buyer.open('/e/night');
    await page.getByRole('button', { name: 'Mehr: Single, Regular' }).click();
    await page
      .getByRole('button', { name: /^Weiter/ })
      .first()
      .click();
    await page.getByLabel('E-Mail').fill('ada@example.com');
    await isTheVenues(buyer, 'checkout', size);
    await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
    await page.getByLabel(/AGB|Bedingungen/).check();
    await page.getByRole('button', { name: /bestellen/i }).click();
    await page.waitForURL(/\/sandbox\/pay\//);
    await isTheVenues(buyer, 'payment', size);
    await buyer.open(await page.locator('.back a').getAttribute('href').then(String));
    await isTheVenues(buyer, 'order-waiting', size);
  };

  const sizes = {
    [NARROW]: { ...PHONE, viewport: { width: 320, height: 640 } },
    '1440x900': { viewport: { width: 1440, height: 900 } },
  };
  for (const [size, options] of Object.entries(sizes)) {
    it(`are its own at ${size}, dark, in German, with a long name`, async () => {
      const buyer = await shop.enter('/', { ...options, locale: 'de-DE', colorScheme: 'light' });
      await walk(buyer, size);
      await buyer.close();
    });
  }

  it('are printed on white paper, with its name', async () => {
    const buyer = await shop.enter(orders[0]!, { locale: 'de-DE', colorScheme: 'dark' });
    await buyer.page.emulateMedia({ media: 'print' });
    if (SCREENSHOTS !== undefined)
      await buyer.page.screenshot({ path: path.join(SCREENSHOTS, 'print.png'), fullPage: true });
    assert.equal(await groundOf(buyer), 'rgb(255, 255, 255)');
    await buyer.page.getByText(name).first().waitFor();
    const ink = await buyer.page.evaluate<string>("getComputedStyle(document.querySelector('.brand')).color");
    assert.equal(ink, 'rgb(0, 0, 0)');
    await buyer.close();
  });

  it('change with an event that has a brand of its own, and back', async () => {
    const buyer = await shop.enter('/', { colorScheme: 'dark' });
    const isDressed = async (venue: string, ground: string): Promise<void> => {
      await buyer.page.locator('.brand').getByText(venue, { exact: true }).waitFor();
      await buyer.page.waitForFunction(`getComputedStyle(document.body).backgroundColor === '${ground}'`);
    };
    await isDressed(name, DARK_GROUND);
    await buyer.page.locator('a[href="/e/guests"]').dispatchEvent('click');
    await isDressed('Gastspiel', LIGHT_GROUND);
    await until(async () => (await buyer.page.title()).endsWith(' · Gastspiel'), 'the title has the name');
    await buyer.page.getByRole('link', { name: 'Imprint' }).waitFor({ state: 'detached' });
    await isOpenToAll(buyer, 'an event with a brand of its own');
    await buyer.page.goBack();
    await isDressed(name, DARK_GROUND);
    await buyer.open('/e/guests/checkout');
    await isDressed('Gastspiel', LIGHT_GROUND);
    await buyer.page.locator('.brand').click();
    await isDressed(name, DARK_GROUND);
    await buyer.close();
  });
});

describe('The pages of nobody in particular', { skip: withoutBrowser }, () => {
  it('say nothing of the software either', async () => {
    const shop = await openShop();
    await shop.ownEvent('club-night', 'night');
    const buyer = await shop.enter('/e/night');
    for (const address of ['/', '/e/night', '/e/night/checkout', await shop.buy('/e/night'), '/orders/ord_none']) {
      await buyer.open(address);
      await buyer.page.locator('h1').first().waitFor();
      assert.doesNotMatch(await buyer.page.content(), /holdfast/i, address);
      await buyer.page.locator('.brand').getByText('Tickets', { exact: true }).waitFor();
    }
    await buyer.close();
    await shop.close();
  });
});
