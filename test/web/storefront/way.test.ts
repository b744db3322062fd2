import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PHONE, withoutBrowser, type Visitor } from '../../fixtures/browser.ts';
import { until } from '../../fixtures/until.ts';
import { fillIn, shopOf, type ShopVisitorOptions } from './shop.ts';

describe('The way from the choice to the order', { skip: withoutBrowser }, () => {
  const shop = shopOf();

  /** Goes to the checkout of a copy of the supper, whose guests have names, with two tickets. */
  const twoGuests = async (slug: string, overrides = {}, options: ShopVisitorOptions = {}): Promise<Visitor> => {
    const buyer = await shop.enter(await shop.ownEvent('supper-club', slug, overrides), options);
    await buyer.page.getByRole('button', { name: 'More: Guest' }).click({ clickCount: 2 });
    await buyer.press('Continue with 2 tickets');
    await buyer.page.getByLabel('E-mail').waitFor();
    return buyer;
  };
  /** Waits until the field with this name has the focus. */
  const isFocused = ({ page }: Visitor, name: string) => page.locator(`[name="${name}"]:focus`).waitFor();

  it('is one press, after which each page has the basket with its clock in the header, the same time everywhere', async () => {
    const buyer = await twoGuests('header');
    assert.equal(new URL(buyer.page.url()).pathname, '/e/header/checkout');
    await buyer.sees('2 × Guest');
    for (const path of ['/', '/e/header', '/e/header/checkout', '/e/header/nowhere', '/e/header/draw']) {
      await buyer.open(path);
      await buyer.page.getByRole('link', { name: /Your basket: 2 tickets/ }).waitFor();
    }
    await buyer.open('/e/header/checkout');
    await buyer.page.getByRole('timer').waitFor();
    const texts =
      "[...document.querySelectorAll('.bar-clock, [role=timer]')].map((each) => each.textContent.trim()).join()";
    // Until its first tick a part has the time at which it came.
    await until(async () => {
      const [inHeader, inSummary] = (await buyer.page.evaluate<string>(texts)).split(',');
      return inHeader !== undefined && inHeader === inSummary;
    }, 'both clocks show one time');
    await buyer.open('/');
    await buyer.press(/Your basket/);
    await buyer.page.getByLabel('E-mail').waitFor();
    await buyer.close();
  });

  it('opens each page at its top, and finds one that was left where it was left', async () => {
    const buyer = await shop.enter('/', PHONE);
    const { page } = buyer;
    const top = (): Promise<number> => page.evaluate<number>('Math.round(scrollY)');
    for (const slug of ['top', 'top-2', 'top-3']) await shop.ownEvent('supper-club', slug);
    await page.reload();
    await page.evaluate('scrollTo(0, 400)');
    await until(() => page.evaluate<boolean>('history.state?.top === 400'), 'the place is kept');
    await page.locator('a[href="/e/top"]').dispatchEvent('click');
    await page.getByRole('button', { name: 'More: Guest' }).click();
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await buyer.press('Continue with 1 ticket');
    await page.getByLabel('E-mail').waitFor();
    assert.equal(await top(), 0, 'the checkout opens at its top');
    await page.goBack();
    await until(async () => (await top()) > 0, 'the event is where it was left');
    await page.goBack();
    await until(async () => (await top()) === 400, 'the list is where it was left');
    await page.goForward();
    await page.goForward();
    await page.getByLabel('E-mail').waitFor();
    await page.evaluate('scrollTo(0, document.body.scrollHeight)');
    await shop.passTime(3_600);
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByRole('heading', { level: 1, name: 'Your time ran out' }).waitFor();
    assert.equal(await top(), 0, 'what comes in place of the form is seen from its top');
    await page.locator('h1:focus').waitFor();
    await buyer.close();
  });

  it('has a bar at the foot of a phone on every page of a purchase: price, clock and the next step', async () => {
    const buyer = await shop.enter(await shop.ownEvent('supper-club', 'phone'), PHONE);
    const { page } = buyer;
    const dock = page.locator('.dock');
    const bar = async (what: RegExp, step: string): Promise<void> => {
      await dock
        .getByRole('button', { name: step })
        .or(dock.getByRole('link', { name: step }))
        .waitFor();
      await until(async () => what.test(await dock.innerText()), `the bar says ${String(what)}`);
      const { y, height } = (await dock.boundingBox())!;
      assert.equal(Math.round(y + height), PHONE.viewport.height, 'it stands at the foot');
      assert.equal(await page.locator('.bar-basket').isVisible(), false);
      assert.equal(await buyer.overflows(), false);
    };
    const clock = /(?:10:00|9:\d\d)/;
    await bar(/from €89/, 'Choose tickets');
    await buyer.press('Choose tickets');
    await page.locator('[aria-label="More: Guest"]:focus').waitFor();
    await page.getByRole('button', { name: 'More: Guest' }).tap();
    await bar(/1 ticket · €89/, 'Continue with 1 ticket');
    await buyer.press('Hold 1 ticket');
    await bar(new RegExp(`1 ticket · €89\\s+${clock.source}`), 'Go to checkout');
    await buyer.press('Go to checkout');
    await bar(new RegExp(`1 ticket · €89\\s+${clock.source}`), 'Order with obligation to pay');
    await buyer.press('Order with obligation to pay');
    await isFocused(buyer, 'name');
    await buyer.open('/');
    await page.locator('.bar-basket').waitFor();
    await page.evaluate('scrollTo(0, 1000)');
    assert.ok((await page.locator('.bar-basket').boundingBox())!.y >= 0, 'the basket stays in sight');
    await buyer.open('/e/phone/checkout');
    await fillIn(buyer);
    await buyer.press('Order with obligation to pay');
    await page.waitForURL(/\/sandbox\/pay\//);
    const served = page.locator('.actions.next');
    assert.match(await served.innerText(), /€89/);
    assert.equal((await served.boundingBox())!.y + (await served.boundingBox())!.height, PHONE.viewport.height);
    await buyer.press('Cancel');
    await bar(/€89\s+[23]\d:\d\d/, 'Pay €89');
    await buyer.close();
  });

  it('says errors at their fields, and puts the focus into the first one', async () => {
    const buyer = await twoGuests('errors');
    await buyer.press('Order with obligation to pay');
    await isFocused(buyer, 'name');
    await until(async () => (await buyer.page.locator('[aria-invalid]').count()) === 4, 'four fields have errors');
    const email = buyer.page.getByLabel('E-mail');
    assert.match((await email.getAttribute('aria-describedby'))!, /problem-email/);
    await buyer.page.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
    await email.fill('ada@example');
    await buyer.press('Order with obligation to pay');
    await buyer.sees('This does not look like an e-mail address');
    await isFocused(buyer, 'email');
    await buyer.press('Order with obligation to pay');
    await isFocused(buyer, 'email');
    await fillIn(buyer);
    await buyer.page.getByLabel('Guest 2').fill('Charles Babbage');
    await buyer.press('Order with obligation to pay');
    await buyer.page.waitForURL(/\/sandbox\/pay\//);
    await buyer.close();
  });

  it('says a refusal of the service at its field too', async () => {
    const buyer = await twoGuests('refused', { max_tickets_per_email: 1 });
    await fillIn(buyer);
    await buyer.page.getByLabel('Guest 2').fill('Charles Babbage');
    await buyer.press('Order with obligation to pay');
    await buyer.sees('This event allows 1 ticket for one e-mail address.');
    await isFocused(buyer, 'email');
    await buyer.close();
  });

  it('issues the first ticket to the buyer, or to somebody else', async () => {
    const buyer = await twoGuests('guests');
    await fillIn(buyer);
    await buyer.page.getByLabel('Guest 2').fill('Charles Babbage');
    await buyer.press('Order with obligation to pay');
    await buyer.page.waitForURL(/\/sandbox\/pay\//);
    await buyer.press('Pay');
    await buyer.page.waitForURL(/\/orders\/ord_/);
    await buyer.sees('Charles Babbage');
    const orderId = buyer.page.url().split('/').at(-1)!;
    const { body } = await shop.service.call('GET', `/api/checkout/status/${orderId}`);
    const names = (body['ticket_objects'] as { attendee: { name: string } }[]).map(({ attendee }) => attendee.name);
    assert.deepEqual(names, ['Ada Lovelace', 'Charles Babbage']);
    await buyer.open('/e/guests');
    await buyer.press('More: Guest');
    await buyer.press('Continue with 1 ticket');
    await buyer.page.getByLabel('Guest 1: same as buyer').uncheck();
    await buyer.page.getByLabel('Guest 1', { exact: true }).waitFor();
    await buyer.close();
  });

  it('has what a shop must say from the catalogue: words of the button, tax, terms, imprint and privacy', async () => {
    const legal = {
      terms_url: 'https://shop.example/agb',
      imprint_url: 'https://shop.example/impressum',
      privacy_url: 'https://shop.example/datenschutz',
      vat_percent: 7,
      order_button: 'Zahlungspflichtig bestellen',
    };
    const buyer = await twoGuests('legal', { legal });
    await buyer.page.getByRole('button', { name: legal.order_button, exact: true }).waitFor();
    const above = "document.querySelector('.basket .button.primary').previousElementSibling.innerText";
    assert.match(await buyer.page.evaluate<string>(above), /^To pay now\s+€178$/);
    await buyer.sees('including 7 % VAT: €11.64');
    for (const [name, address] of [
      ['terms of sale', legal.terms_url],
      ['Terms', legal.terms_url],
      ['Imprint', legal.imprint_url],
      ['Privacy', legal.privacy_url],
    ] as const) {
      assert.equal(await buyer.page.getByRole('link', { name, exact: true }).getAttribute('href'), address);
    }
    await buyer.close();
  });

  it('keeps the focus in the basket after each step, and says what happened', async () => {
    const buyer = await shop.enter(await shop.ownEvent('club-night', 'focus'));
    const { page } = buyer;
    const hasFocus = (text: string) => page.locator(':focus', { hasText: text }).waitFor();
    const said = (text: RegExp) => page.locator('#announcements', { hasText: text }).waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'More: Single, Regular' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Hold 1 ticket' }).focus();
    await page.keyboard.press('Enter');
    await said(/1 ticket held for you for 10 minutes\./);
    await buyer.sees('Go to checkout');
    await hasFocus('Go to checkout');
    await page.getByRole('button', { name: 'Give the tickets back' }).focus();
    await page.keyboard.press('Enter');
    await said(/Your tickets were given back\./);
    await buyer.sees('Nothing chosen yet.');
    await hasFocus('Your tickets');
    await page.getByRole('button', { name: 'More: Single, Regular' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Fewer: Single, Regular' }).focus();
    await page.keyboard.press('Enter');
    await buyer.sees('Nothing chosen yet.');
    await page.locator('[aria-label="Fewer: Single, Regular"]:focus').waitFor();
    await page.getByRole('button', { name: 'More: Single, Regular' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Continue with 1 ticket' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('E-mail').waitFor();
    await hasFocus('Checkout');
    await buyer.close();
  });
});
