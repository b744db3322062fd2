import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOpenByDayAndNight, isOpenToAll } from '../../fixtures/axe.ts';
import { PHONE, withoutBrowser, type Visitor } from '../../fixtures/browser.ts';
import { sample } from '../../fixtures/events.ts';
import { until } from '../../fixtures/until.ts';
import { SERVED_TEXTS } from '#texts/served.ts';
import { TEXTS } from '#texts/texts.ts';
import { fillIn, shopOf } from './shop.ts';
import { SHOWN_TEXTS, textsOnlyOf, type TextTree } from './text-patterns.ts';

const SHIFT_MAX = 0.05;

/** Adds up how far the layout shifts without a press. */
const COUNT_SHIFTS = `globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });`;

/**
 * Markup without the space between elements, and without what is chosen in a form: a script sets it as a property. Nor
 * does it write the value of an option whose text is its value.
 */
const shapeOf = (markup: string): string =>
  markup
    .replace(/\s+/g, ' ')
    .replace(/ ?([<>]) ?/g, '$1')
    .replace(/(<input[^>]*) value="[^"]*"/g, '$1')
    .replaceAll(' selected=""', '')
    .replace(/<option value="([^"]*)">\1</g, '<option>$1<');

/** Waits until the page's script has drawn what was expected; says the difference where it never does. */
async function expectSame(read: () => Promise<string>, expected: string): Promise<void> {
  let seen = '';
  await until(async () => (seen = await read()) === expected, 'the page is drawn').catch(() => {});
  assert.equal(seen, expected);
}

const [english, german] = (['en', 'de'] as const).map(
  (language) => ({ ...TEXTS[language], served: SERVED_TEXTS[language] }) as unknown as TextTree,
) as [TextTree, TextTree];

/** The English texts on a page, without what an event calls its own things. */
async function englishOn({ page }: Visitor): Promise<readonly string[]> {
  const names = JSON.stringify(sample('theatre-run'));
  const texts = textsOnlyOf(english, german, await page.evaluate<string[]>(SHOWN_TEXTS));
  return texts.filter((text) => !names.includes(JSON.stringify(text)));
}

describe('The pages for everybody', { skip: withoutBrowser }, () => {
  const shop = shopOf(async () => {
    for (const name of ['club-night', 'theatre-run', 'supper-club', 'lighthouse-rush']) {
      await shop.service.define(sample(name));
    }
  });

  // What phones show by night too (strips.test.ts) is looked at by day.
  it('shut nobody out, in any state of a purchase, by day and by night', async () => {
    const buyer = await shop.enter('/');
    await buyer.sees('Night Shift');
    await isOpenByDayAndNight(buyer, 'list');
    await buyer.open('/e/night-shift/nowhere');
    await buyer.sees('There is no such page');
    await isOpenByDayAndNight(buyer, 'no such page');
    await buyer.open('/e/lighthouse-farewell');
    await buyer.sees('This event has a waiting room.');
    await isOpenByDayAndNight(buyer, 'waiting room');
    await buyer.open('/e/the-glass-orchard');
    await buyer.press('Best seats for me');
    await buyer.sees('Continue with 2 tickets');
    await isOpenByDayAndNight(buyer, 'seats chosen');
    await buyer.press('Hold 2 tickets');
    await buyer.sees('Go to checkout');
    await isOpenToAll(buyer, 'seats held', '.seat-layer');
    await buyer.press('Go to checkout');
    await buyer.page.getByLabel('Code').fill('GUESSED');
    await buyer.press('Apply');
    await buyer.sees('This code cannot be used for these tickets.');
    await isOpenByDayAndNight(buyer, 'a wrong code');
    await buyer.page.getByLabel('Code').fill('');
    await buyer.press('Order and pay');
    await buyer.sees('Please write your name.');
    await isOpenToAll(buyer, 'errors');
    await fillIn(buyer);
    await buyer.press('Order and pay');
    await buyer.page.waitForURL(/\/sandbox\/pay\//);
    await isOpenToAll(buyer, 'payment');
    await buyer.press('Cancel');
    await buyer.sees('Your tickets wait for the payment');
    await isOpenToAll(buyer, 'waiting order');
    await buyer.press('Pay €');
    await buyer.page.waitForURL(/\/sandbox\/pay\//);
    await buyer.press('Pay');
    await buyer.page.waitForURL(/\/orders\/ord_/);
    await isOpenToAll(buyer, 'order');
    await buyer.open('/orders/ord_nothing');
    await isOpenByDayAndNight(buyer, 'no such order');
    await buyer.close();
  });

  it('speak German alone to whoever reads German, from the list to the order and in the waiting room, and fit a phone', async () => {
    const buyer = await shop.enter('/', { ...PHONE, locale: 'de-DE' });
    const { page } = buyer;
    const look = async (state: string): Promise<void> => {
      assert.deepEqual(await englishOn(buyer), [], state);
      assert.equal(await buyer.overflows(), false, state);
    };
    await buyer.sees('Night Shift');
    await look('list');
    await buyer.press('English');
    await buyer.sees('What’s on');
    assert.ok((await englishOn(buyer)).length > 5);
    await buyer.press('Deutsch');
    await buyer.sees('Programm');
    await buyer.open('/e/night-shift');
    await buyer.sees('Crew of four');
    await look('tickets');
    await buyer.open('/e/lighthouse-farewell');
    await buyer.sees('Zum Warteraum');
    await look('waiting room');
    await buyer.open('/e/the-glass-orchard');
    await buyer.press('Beste Plätze für mich');
    await buyer.sees('Weiter mit 2 Tickets');
    await look('seats chosen');
    await buyer.press('Weiter mit 2 Tickets');
    await page.getByLabel('Gutscheincode').waitFor();
    await buyer.press('Zahlungspflichtig bestellen');
    await buyer.sees('Bitte geben Sie Ihren Namen an.');
    await look('errors');
    await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
    await page.getByLabel('E-Mail').fill('ada@example.com');
    await page.getByLabel(/AGB/).check();
    await buyer.press('Zahlungspflichtig bestellen');
    await page.waitForURL(/\/sandbox\/pay\//);
    await look('payment');
    await buyer.press('Abbrechen');
    await buyer.sees('Ihre Tickets warten auf die Zahlung');
    await look('waiting order');
    await buyer.press(/€ bezahlen/);
    await page.waitForURL(/\/sandbox\/pay\//);
    await buyer.press('Bezahlen');
    await page.waitForURL(/\/orders\/ord_/);
    await look('order');
    await buyer.open('/orders/ord_nothing');
    await look('no such order');
    const joins = (eventId: string) =>
      shop.service.call('POST', '/api/checkout/queue', { body: { event_id: eventId, session_key: 'somebody-else' } });
    const opensAt = new Date(Date.parse(String((await shop.passTime(0)).body['now'])) + 600_000).toISOString();
    const draw = await shop.ownEvent('lighthouse-rush', 'german-draw', { waiting_room_opens_at: opensAt });
    await buyer.open(`${draw}/queue`);
    await buyer.sees('Sie sind rechtzeitig da');
    await look('before the draw');
    await buyer.open(`${draw}/draw`);
    await buyer.sees('Die Auslosung hat noch nicht stattgefunden.');
    await look('proof before the draw');
    await shop.passTime(601);
    const line = await shop.ownEvent('lighthouse-rush', 'german-line', { waiting_room_rate: 1 });
    await joins('evt_german_line');
    await buyer.open(`${line}/queue`);
    await buyer.sees('Ihr Platz in der Schlange');
    await look('in the line');
    await shop.passTime(61);
    await page.reload();
    await buyer.sees('Sie sind an der Reihe.');
    await look('a turn');
    await buyer.open(`${draw}/draw`);
    await buyer.press('In meinem Browser prüfen');
    await buyer.sees('Alle stehen dort, wohin die Geheimnisse sie stellen.');
    await look('proof');
    await isOpenToAll(buyer, 'proof, in German');
    await buyer.open('/api/events/public/german-draw/draw');
    await buyer.sees('Selbst nachprüfen');
    await look('proof of the service');
    await buyer.close();
  });

  it('fit with text at 200 %, on a desktop and on a phone', async () => {
    for (const options of [{}, PHONE]) {
      const buyer = await shop.enter('/', options);
      const enlarge = async (path: string): Promise<void> => {
        await buyer.page.evaluate("document.documentElement.style.fontSize = '200%'");
        const wide = `[...document.querySelectorAll('body *')].filter((each) => each.getBoundingClientRect().right > innerWidth + 1 &&
          !each.closest('.seat-map, .date-strip, .unseen')).map((each) => each.outerHTML.slice(0, 80)).slice(0, 4).join(' | ')`;
        assert.equal(await buyer.overflows(), false, `${path}: ${await buyer.page.evaluate<string>(wide)}`);
      };
      await buyer.sees('Night Shift');
      await enlarge('list');
      await buyer.open('/e/the-glass-orchard');
      await buyer.press('Best seats for me');
      await buyer.press('Hold 2 tickets');
      await buyer.sees('Go to checkout');
      await enlarge('event');
      await buyer.open('/e/the-glass-orchard/checkout');
      await buyer.page.getByLabel('E-mail').waitFor();
      await enlarge('checkout');
      await buyer.open('/');
      await buyer.page.locator('.bar-basket').waitFor();
      await enlarge('list with a basket');
      const [brand, basket] = await Promise.all(
        ['.brand', '.bar-basket'].map((name) => buyer.page.locator(name).boundingBox()),
      );
      assert.ok(brand!.x + brand!.width <= basket!.x || brand!.y + brand!.height <= basket!.y, 'the header overlaps');
      await buyer.open('/e/lighthouse-farewell/queue');
      await buyer.sees('It is your turn.');
      await enlarge('a turn');
      await buyer.open('/e/night-shift');
      await buyer.press('More: Single, Regular');
      await buyer.press('Continue with 1 ticket');
      await buyer.sees('Extras');
      await enlarge('extras');
      await buyer.close();
    }
  });

  it('say in words what to do where scripts are switched off', async () => {
    const buyer = await shop.enter('/e/night-shift', { javaScriptEnabled: false });
    const plea = buyer.page.getByRole('heading', { name: 'Please switch JavaScript on' });
    assert.ok((await plea.boundingBox())!.y < 100, 'it stands above what cannot be used');
    await buyer.close();
  });

  it('have the same elements in their first HTML as their script draws', async () => {
    const withScript = await shop.enter('/nowhere');
    const without = await shop.enter('/nowhere', { javaScriptEnabled: false });
    for (const [path, part] of [
      ['/', '#app'],
      ['/?q=glass&city=Wien', '#app'],
      ['/?q=nothing', '#app'],
      ['/e/night-shift', '.event-head'],
      ['/e/none', '#app'],
    ] as const) {
      await Promise.all([withScript.open(path), without.open(path)]);
      const [drawn, first] = [withScript, without].map(({ page }) => page.locator(part));
      await expectSame(async () => shapeOf(await drawn!.innerHTML()), shapeOf(await first!.innerHTML()));
    }
    const path = await shop.ownEvent('open-studios', 'no-picture', { picture: 'gone.webp' });
    await withScript.open(path);
    await withScript.page.locator('svg.poster').waitFor();
    await Promise.all([withScript.close(), without.close()]);
  });

  it('say that a date is over', async () => {
    const over = { id: 'd', starts_at: '2020-05-01T18:00:00Z', ends_at: '2020-05-01T21:00:00Z' };
    const buyer = await shop.enter(await shop.ownEvent('open-studios', 'past', { performances: [over] }));
    await buyer.sees('This date is over.');
    await buyer.open('/');
    await buyer.page.locator('.card', { hasText: '2020' }).getByText('Over', { exact: true }).waitFor();
    await buyer.close();
  });

  it('search a long list by text, city, month and price, with the choice in the address', async () => {
    const cities = ['Erfurt', 'Köln', 'Weimar'];
    for (let n = 0; n < 12; n += 1) {
      await shop.ownEvent('open-studios', `found-${n}`, {
        name: `Found ${n}`,
        venue: { name: 'Brücke', city: cities[n % 3]! },
        sellingStages: [{ id: 'free', prices: { visitor: n * 100 } }],
      });
    }
    const buyer = await shop.enter('/nowhere');
    await buyer.page.context().addInitScript({ content: COUNT_SHIFTS });
    await buyer.open('/');
    const { page } = buyer;
    const headings = page.locator('.card h2');
    await page.getByLabel('Search').fill('found brucke');
    await buyer.sees('12 events');
    await page.getByLabel('City').selectOption('Köln');
    await page.getByLabel(/Price up to/).fill('5');
    await page.getByText('2 events', { exact: true }).waitFor();
    assert.deepEqual(await headings.allTextContents(), ['Found 1', 'Found 4']);
    assert.equal(new URL(page.url()).search, '?q=found+brucke&city=K%C3%B6ln&price=5');
    const { search } = new URL(page.url());
    const without = await shop.enter(`/${search}`, { javaScriptEnabled: false });
    assert.deepEqual(await without.page.locator('.card h2').allTextContents(), ['Found 1', 'Found 4']);
    assert.equal(await without.page.getByLabel('City').inputValue(), 'Köln');
    await without.close();
    await page.reload();
    await page.getByText('2 events', { exact: true }).waitFor();
    await page.getByLabel('Month').selectOption({ label: 'September 2028' });
    await page.getByRole('heading', { name: 'No event fits.' }).waitFor();
    await buyer.press('Show all events');
    await buyer.sees('Found 11');
    assert.equal(new URL(page.url()).search, '');
    await isOpenToAll(buyer, 'search');
    assert.ok((await page.evaluate<number>('globalThis.shift')) < SHIFT_MAX);
    await buyer.close();
  });

  it('say in words that there is no such page, wherever it would be', async () => {
    const buyer = await shop.enter('/e/never-heard-of');
    await buyer.sees('We could not find this event.');
    await buyer.open('/nowhere');
    await buyer.sees('The link may be old, or mistyped.');
    await buyer.press('See all events');
    await buyer.sees('What’s on');
    await buyer.close();
  });

  it('do not jump while they load', async () => {
    for (const options of [{}, PHONE]) {
      const buyer = await shop.enter('/nowhere', options);
      await buyer.page.context().addInitScript({ content: COUNT_SHIFTS });
      for (const [path, text] of [
        ['/', 'Night Shift'],
        ['/e/night-shift', 'Crew of four'],
        ['/e/the-glass-orchard', 'Best seats for me'],
        ['/e/lighthouse-farewell/queue', 'Waiting room'],
      ] as const) {
        await buyer.open(path);
        await buyer.sees(text);
        await buyer.page.waitForLoadState('load');
        const shift = await buyer.page.evaluate<number>('globalThis.shift');
        assert.ok(shift < SHIFT_MAX, `${path} shifts by ${shift}`);
      }
      await buyer.close();
    }
  });
});
