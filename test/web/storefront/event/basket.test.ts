import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutBrowser, type Visitor } from '../../../fixtures/browser.ts';
import { sample } from '../../../fixtures/events.ts';
import { until } from '../../../fixtures/until.ts';
import { fillIn, seat, shopOf } from '../shop.ts';

/** Counts the prices that a page writes in one rendering: the most of all that follow, however many polls come. */
const COUNT_PRICES = `globalThis.mostPrices = 0;
  let prices = 0;
  const { get } = Object.getOwnPropertyDescriptor(Intl.NumberFormat.prototype, 'format');
  Object.defineProperty(Intl.NumberFormat.prototype, 'format', {
    get() {
      if (prices === 0) setTimeout(() => (prices = 0));
      prices += 1;
      globalThis.mostPrices = Math.max(globalThis.mostPrices, prices);
      return get.call(this);
    },
  });`;

interface Hall {
  readonly sections: readonly { readonly rows: readonly object[] }[];
}

describe('The basket', { skip: withoutBrowser }, () => {
  const shop = shopOf();

  /** The seats that are held on a date. */
  const held = async (slug: string, performanceId: string): Promise<unknown> => {
    const path = `/api/events/public/${slug}/seating/occupancy?performance_id=${performanceId}`;
    return (await shop.service.call('GET', path)).body['held'];
  };

  const free = (buyer: Visitor, name: string) => seat(buyer, new RegExp(`${name} .*free`)).first();

  describe('over several tabs', () => {
    it('shows the hold of one tab in the others at once', async () => {
      const path = await shop.ownEvent('club-night', 'tabs');
      const first = await shop.enter(path);
      const second = await first.tab(path);
      await second.sees('Nothing chosen yet.');
      await first.press('More: Single, Regular');
      await first.press('Hold 1 ticket');
      await second.sees('Held for you for');
      await second.press('More: Single, Regular');
      await second.press('Update my tickets');
      await first.sees('2 × Single');
      await first.press('Go to checkout');
      await second.press('Give the tickets back');
      await first.sees('Your basket is empty');
      await first.close();
    });

    it('adds what another tab has chosen to the hold instead of replacing it', async () => {
      const path = await shop.ownEvent('theatre-run', 'tabs-seats');
      const first = await shop.enter(path);
      const second = await first.tab(path);
      await free(second, 'Balcony · Row AA, seat 14').click();
      await free(first, 'Balcony · Row AA, seat 12').click();
      await first.press('Hold 1 ticket');
      await second.sees('Balcony, row AA, seats 12 and 14');
      await second.press('Update my tickets');
      await first.sees('Balcony, row AA, seats 12 and 14');
      await second.sees('Go to checkout');
      assert.equal(((await held('tabs-seats', 'premiere')) as string[]).length, 2);
      await first.close();
    });

    it('places no second hold when a tab has not heard of the first', async () => {
      const path = await shop.ownEvent('theatre-run', 'tabs-deaf');
      const first = await shop.enter(path);
      const deaf = "addEventListener('storage', (event) => event.stopImmediatePropagation(), true)";
      const second = await first.tab(path, deaf);
      await free(second, 'Balcony · Row AA, seat 14').click();
      await free(first, 'Balcony · Row AA, seat 12').click();
      await first.press('Hold 1 ticket');
      await first.sees('Go to checkout');
      await second.press('Hold 1 ticket');
      await second.sees('You hold tickets in another window.');
      await second.sees('Balcony, row AA, seats 12 and 14');
      assert.equal(((await held('tabs-deaf', 'premiere')) as string[]).length, 1);
      await second.press('Update my tickets');
      await second.sees('Go to checkout');
      assert.equal(((await held('tabs-deaf', 'premiere')) as string[]).length, 2);
      await first.close();
    });
  });

  describe('while others buy', () => {
    it('loses a seat that somebody else takes at once, and offers seats beside those that stay', async () => {
      const path = await shop.ownEvent('theatre-run', 'lost');
      const [quick, slow] = [await shop.enter(path), await shop.enter(path)];
      await free(slow, 'Balcony · Row AA, seat 12').click();
      await free(slow, 'Balcony · Row AA, seat 13').click();
      await slow.sees('Hold 2 tickets');
      await slow.page.evaluate(COUNT_PRICES);
      await free(quick, 'Balcony · Row AA, seat 12').click();
      await quick.press('Hold 1 ticket');
      await slow.sees(/was just taken by somebody else/);
      await slow.sees('Hold 1 ticket');
      // In a rush seats change some times a second: those that do not are not named anew, each with its price.
      const most = await slow.page.evaluate<number>('globalThis.mostPrices');
      assert.ok(most > 0 && most < 100, String(most));
      await slow.press('Take Balcony, row AA, seats 13 and 14 instead');
      await seat(slow, /Row AA, seat 14 .*chosen, not held yet/).waitFor();
      await slow.press('Hold 2 tickets');
      await slow.sees('Go to checkout');
      await seat(slow, /Row AA, seat 14 .*held for you/).waitFor();
      assert.equal(((await held('lost', 'premiere')) as string[]).length, 3);
      await slow.page.getByText(/just taken/).waitFor({ state: 'detached' });
      await Promise.all([quick.close(), slow.close()]);
    });
  });

  describe('keeps what was chosen', () => {
    it('over other dates and a reload, and holds all of it at once', async () => {
      const path = await shop.ownEvent('theatre-run', 'dates');
      const buyer = await shop.enter(path);
      await free(buyer, 'Balcony · Row AA, seat 12').click();
      await buyer.page.locator('.date').getByText('Second Friday').click();
      await buyer.page.waitForURL(/date=friday/);
      await free(buyer, 'Balcony · Row AA, seat 9').click();
      // A choice is stored after it was painted.
      const stored = "Object.values(sessionStorage).some((text) => text.includes('-AA-12') && text.includes('-AA-9'))";
      await until(() => buyer.page.evaluate<boolean>(stored), 'the choice is stored');
      await buyer.page.reload();
      await buyer.sees('Balcony, row AA, seat 12');
      await buyer.sees('Balcony, row AA, seat 9');
      await buyer.press('Hold 2 tickets');
      await buyer.sees('Go to checkout');
      assert.equal(((await held('dates', 'premiere')) as string[]).length, 1);
      assert.equal(((await held('dates', 'friday')) as string[]).length, 1);
      await buyer.close();
    });

    it('after a hold ran out at the checkout, form and all', async () => {
      const path = await shop.ownEvent('theatre-run', 'ran-out');
      const buyer = await shop.enter(path);
      await free(buyer, 'Balcony · Row AA, seat 12').click();
      await free(buyer, 'Balcony · Row AA, seat 13').click();
      await buyer.press('Hold 2 tickets');
      await buyer.press('Go to checkout');
      await fillIn(buyer);
      await shop.passTime(3_600);
      await buyer.page.reload();
      await buyer.sees('Your time ran out');
      await buyer.sees('Balcony, row AA, seats 12 and 13');
      await buyer.press('Hold 2 tickets again');
      const email = buyer.page.getByLabel('E-mail');
      await until(async () => (await email.inputValue()) === 'ada@example.com', 'the form is filled in again');
      assert.equal(((await held('ran-out', 'premiere')) as string[]).length, 2);
      const { page } = buyer;
      const seatings: string[] = [];
      page.on('request', (request) => request.url().includes('/seating') && seatings.push(request.url()));
      await shop.passTime(3_600);
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await buyer.sees('Your time ran out');
      await buyer.sees('Balcony, row AA, seats 12 and 13');
      assert.deepEqual(seatings, [], 'the names of seats are known from the checkout');
      await buyer.press('Choose again');
      await buyer.press('Hold 2 tickets');
      await buyer.sees('Balcony, row AA, seats 12 and 13');
      await buyer.sees('Go to checkout');
      await buyer.close();
    });

    it('by its name at the checkout, also where a seat was added after the first visit there', async () => {
      const buyer = await shop.enter(await shop.ownEvent('theatre-run', 'grown'));
      await free(buyer, 'Balcony · Row AA, seat 12').click();
      await buyer.press('Hold 1 ticket');
      await buyer.press('Go to checkout');
      await buyer.sees('Balcony, row AA, seat 12');
      const [hall, ...others] = sample('theatre-run')['localities'] as Hall[];
      const [first, ...more] = hall!.sections;
      const longer = { ...hall, sections: [{ ...first, rows: [...first!.rows, { label: 'ZZ', seats: 4 }] }, ...more] };
      await shop.ownEvent('theatre-run', 'grown', { localities: [longer, ...others] });
      await buyer.page.goBack();
      await free(buyer, 'Front stalls · Row ZZ, seat 2').click();
      await buyer.press('Update my tickets');
      await buyer.press('Go to checkout');
      await buyer.sees('Front stalls, row ZZ, seat 2');
      await buyer.close();
    });

    it('on a phone that slept until the hold had run out, and heard of no seats since', async () => {
      const buyer = await shop.enter(await shop.ownEvent('theatre-run', 'slept'), {
        expected: /status of 4|ERR_FAILED/,
        ownClock: true,
      });
      const { page } = buyer;
      await page.route('**/live?*', (route) => route.abort());
      await page.reload();
      await free(buyer, 'Balcony · Row AA, seat 12').click();
      await buyer.press('Hold 1 ticket');
      await buyer.sees('Go to checkout');
      // The last that the page hears of its seat is that it is held.
      let isHeard = false;
      void page.waitForResponse(/\/occupancy/).then(() => (isHeard = true));
      const asks = () => buyer.later(3_000).then(() => isHeard);
      await until(asks, 'the page asks for the seats, after a stream has failed some times');
      await page.route('**/occupancy*', (route) => route.abort());
      await shop.passTime(1_000);
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await buyer.sees('What you chose is still marked here');
      await seat(buyer, /Row AA, seat 12 .*chosen, not held yet/).waitFor();
      await page.unroute('**/occupancy*');
      await buyer.press('Hold 1 ticket');
      await buyer.sees('Go to checkout');
      await buyer.close();
    });

    it('in a new window after the hold ran out in another one', async () => {
      const path = await shop.ownEvent('club-night', 'ran-out-later');
      const buyer = await shop.enter(path);
      await buyer.press('More: Single, Regular');
      await buyer.press('Hold 1 ticket');
      await buyer.sees('Go to checkout');
      await buyer.page.close();
      await shop.passTime(1_200);
      const later = await buyer.tab(path);
      await later.sees('Your time ran out and the tickets are back on sale.');
      await later.press('Hold 1 ticket');
      await later.sees('Go to checkout');
      await buyer.close();
    });
  });
});
