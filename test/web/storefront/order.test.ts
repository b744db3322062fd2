import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { numberOf } from '#domain/orders/told-numbers.ts';
import { isOpenToAll } from '../../fixtures/axe.ts';
import { PHONE, withoutBrowser, type Visitor } from '../../fixtures/browser.ts';
import { settle, start, type Started } from '../../fixtures/checkout.ts';
import { fillIn, shopOf, type ShopVisitorOptions } from './shop.ts';

describe('The page of an order', { skip: withoutBrowser }, () => {
  const shop = shopOf();

  it('greets its buyer, and has a card for each ticket with number, entry, prepaid perks and a short code', async () => {
    const buyer = await shop.enter(await shop.ownEvent('club-night', 'cards'));
    await buyer.page.getByRole('button', { name: 'More: Single, Regular' }).click({ clickCount: 3 });
    await buyer.press('Continue with 3 tickets · €57');
    await fillIn(buyer);
    await buyer.page.getByRole('button', { name: 'More: Beer' }).click({ clickCount: 4 });
    await buyer.press('Order and pay €75');
    await buyer.page.waitForURL(/\/sandbox\/pay\//);
    await buyer.press('Pay');
    await buyer.page.waitForURL(/\/orders\/ord_/);
    await buyer.page.getByRole('heading', { level: 1, name: 'You are going, Ada' }).waitFor();
    const cards = await buyer.page.locator('.ticket').allInnerTexts();
    assert.equal(cards.length, 3);
    for (const [place, card] of cards.entries()) {
      assert.match(card, new RegExp(`${place + 1} of 3`));
      assert.match(card, /Entry until 01:00, €5\.00 at the entrance after that/);
      assert.match(card, place === 0 ? /Prepaid: 2 × Beer/ : /Prepaid: 1 × Beer/);
    }
    const orderId = buyer.page.url().split('/').at(-1)!;
    const { body } = await shop.service.call('GET', `/api/checkout/status/${orderId}`);
    const [first] = body['tickets'] as string[];
    assert.match(cards[0]!, new RegExp(numberOf(first!)));
    await buyer.sees(numberOf(orderId));
    assert.equal(await buyer.page.getByText(orderId).count(), 0, 'the secret address is not what people read out');
    await buyer.close();
  });

  it('gives its date for a calendar, without anything about people', async () => {
    const buyer = await shop.enter(await shop.buy(await shop.ownEvent('club-night', 'calendar')));
    const loading = buyer.page.waitForEvent('download');
    await buyer.press('Add to my calendar');
    assert.equal((await loading).suggestedFilename(), 'tickets.ics');
    const file = await (await fetch(`${buyer.page.url()}/calendar.ics`)).text();
    assert.match(file, /^BEGIN:VCALENDAR\r\n[^]*END:VCALENDAR\r\n$/);
    assert.match(file, /DTSTART:20280923T210000Z\r\nDTEND:20280924T050000Z\r\nSUMMARY:Night Shift: Saturday night/);
    assert.doesNotMatch(file, /ord_|Ada|example\.com/);
    await buyer.close();
  });

  it('prints tickets whole, and nothing that is for the screen', async () => {
    const buyer = await shop.enter(await shop.buy(await shop.ownEvent('club-night', 'printed')));
    await buyer.page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    for (const name of ['.bar', '.foot', '.actions', '.secret']) {
      assert.equal(await buyer.page.locator(name).first().isVisible(), false, name);
    }
    assert.equal(await buyer.page.locator('.ticket').first().isVisible(), true);
    const style =
      "getComputedStyle(document.querySelector('.ticket')).breakInside + getComputedStyle(document.body).color";
    assert.equal(await buyer.page.evaluate(style), 'avoidrgb(0, 0, 0)');
    await buyer.close();
  });

  for (const javaScriptEnabled of [true, false]) {
    const script = javaScriptEnabled ? 'with' : 'without';
    it(`has tickets given back and the contract withdrawn from, ${script} a script`, async () => {
      const path = await shop.ownEvent('club-night', `given-back-${script}`);
      const buyer = await shop.enter(await shop.buy(path), { ...PHONE, javaScriptEnabled });
      const look = async (state: string): Promise<void> => {
        if (!javaScriptEnabled) return;
        assert.equal(await buyer.overflows(), false, state);
        await isOpenToAll(buyer, state);
      };
      await buyer.press('Give tickets back');
      await buyer.page.getByRole('checkbox').first().check();
      await look('choice');
      await buyer.press('Continue');
      await buyer.sees('Is this right?');
      await look('quote');
      await buyer.press('Give back 1 ticket');
      await buyer.sees('We received your withdrawal on');
      await look('given back');
      await buyer.press('Withdraw from contract here');
      await buyer.page.getByText('Only for some of the tickets').click();
      await look('withdrawal');
      await buyer.press('Confirm withdrawal');
      await buyer.sees('This order was cancelled');
      await buyer.sees('We received your withdrawal on');
      await look('withdrawn');
      await buyer.close();
    });
  }

  it('has dates, seats and names changed, and codes made anew', async () => {
    const path = await shop.ownEvent('theatre-run', 'moved', { buyer_changes: { change: {}, attendees: {} } });
    const stalls = { ticket_type_id: 'stalls', selling_stage_id: 'general', performance_id: 'premiere', quantity: 2 };
    const buyer = await shop.enter(await shop.buy(path, [stalls]), PHONE);
    const { page } = buyer;
    const look = async (state: string): Promise<void> => {
      assert.equal(await buyer.overflows(), false, state);
      await isOpenToAll(buyer, state);
    };
    await buyer.press('Change date, kind of ticket or seats');
    for (const box of await page.getByRole('checkbox').all()) await box.check();
    await page.getByLabel('Date').selectOption({ index: 2 });
    await page.getByLabel('the best ones that are free').check();
    await look('choice of a date');
    await buyer.press('Continue');
    await look('quote of a date');
    await buyer.press('Change 2 tickets');
    await buyer.sees('2 tickets changed');
    await page.getByText('2 void tickets').click();
    await look('another date');
    await buyer.press('Change names');
    await page.getByLabel('Name', { exact: true }).first().fill('Grace Hopper');
    await look('names');
    await buyer.press('Continue');
    await buyer.press('Change 1 name');
    await page.locator('.holder', { hasText: 'Grace Hopper' }).waitFor();
    await buyer.press('Get new codes');
    await page.getByRole('checkbox').first().check();
    await look('codes');
    await buyer.press('Continue');
    await buyer.press('Make 1 new code');
    await buyer.sees('1 new code.');
    await buyer.close();
  });

  describe('before it is paid', () => {
    let order: Started;
    const unpaid = async (slug: string, options: ShopVisitorOptions): Promise<Visitor> => {
      await shop.ownEvent('club-night', slug);
      const items = [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 1 }];
      order = await start(shop.service, { event_id: `evt_${slug}`, items, customer: { name: 'Ada', email: 'a@b.de' } });
      return shop.enter(`/orders/${order.order_id}`, { ...PHONE, ...options });
    };

    for (const [locale, ordered, bought] of [
      ['en-GB', 'Your order', 'What you bought'],
      ['de-DE', 'Ihre Bestellung', 'Ihr Kauf'],
    ] as const) {
      it(`counts down, and is loaded again once the order stands otherwise, not before: ${locale}`, async () => {
        const buyer = await unpaid(`followed_${locale.slice(0, 2)}`, { locale, clockAheadMs: 3_600_000 });
        const { page } = buyer;
        await page.getByRole('heading', { name: ordered, exact: true }).waitFor();
        assert.equal(await page.getByText(bought, { exact: true }).count(), 0);
        await page.locator('.actions.next .due', { hasText: /^\s*[12]?\d:\d\d$/ }).waitFor();
        assert.equal(await page.getByRole('link', { name: /Look again|Noch einmal/ }).count(), 0);
        if (locale === 'de-DE') await isOpenToAll(buyer, 'awaited');
        await page.evaluate('globalThis.wasLoadedOnce = true');
        const look = async (): Promise<void> => {
          const answered = page.waitForResponse(/\/orders\/ord_/);
          await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
          await (await answered).finished();
        };
        await look();
        await page.locator('.due', { hasText: ':' }).waitFor();
        assert.equal(await page.evaluate('wasLoadedOnce'), true);
        await settle(shop.service, order, 'paid');
        await look();
        await page.getByRole('heading', { name: bought, exact: true }).waitFor();
        assert.equal(await page.locator('.due').count(), 0);
        await buyer.close();
      });
    }

    it('names the time of day and has a link that looks again, without a script', async () => {
      const buyer = await unpaid('looked_at', { javaScriptEnabled: false });
      const { page } = buyer;
      assert.match(await page.locator('.actions.next').innerText(), /^\s*Pay by \d\d:\d\d\s+Pay €/);
      await buyer.press('Look again');
      await buyer.sees('Awaiting payment');
      await settle(shop.service, order, 'paid');
      await buyer.press('Look again');
      await buyer.sees('Confirmed');
      assert.equal(await page.getByText('Look again').count(), 0);
      await buyer.close();
    });
  });

  it('says nothing of payment where nothing was to be paid', async () => {
    const buyer = await shop.enter(await shop.ownEvent('open-studios', 'free'), PHONE);
    await buyer.press('More: Visitor');
    await buyer.press('Continue with 1 ticket');
    await fillIn(buyer);
    assert.equal(await buyer.page.getByText(/pay/i).count(), 0);
    await buyer.press('Get my tickets');
    await buyer.page.waitForURL(/\/orders\/ord_/);
    await buyer.sees('You are going, Ada');
    assert.doesNotMatch(await buyer.page.locator('main').innerText(), /pay|paid|€|total/i);
    assert.equal(await buyer.overflows(), false);
    await buyer.close();
  });
});
