import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutBrowser, type Visitor } from '../../fixtures/browser.ts';
import { sample } from '../../fixtures/events.ts';
import { fillIn, seat, shopOf } from './shop.ts';

describe('What the pages say about money and time', { skip: withoutBrowser }, () => {
  const shop = shopOf();

  /** Goes to the checkout with two singles of a copy of the club night, €38. */
  const twoSingles = async (slug: string, overrides = {}): Promise<Visitor> => {
    const buyer = await shop.enter(await shop.ownEvent('club-night', slug, overrides));
    await buyer.page.getByRole('button', { name: 'More: Single, Regular' }).click({ clickCount: 2 });
    await buyer.press('Hold 2 tickets');
    await buyer.press('Go to checkout');
    await fillIn(buyer);
    return buyer;
  };
  const payPage = (buyer: Visitor) => buyer.page.waitForURL(/\/sandbox\/pay\//);
  const now = async (): Promise<number> => Date.parse(String((await shop.passTime(0)).body['now']));

  it('apply a code before anything is ordered, and name the amount that is left', async () => {
    const buyer = await twoSingles('codes');
    const code = buyer.page.getByLabel('Code');
    await code.fill('GUESSED');
    await buyer.press('Apply');
    await buyer.sees('This code cannot be used for these tickets.');
    await code.and(buyer.page.locator('[aria-invalid=true]')).waitFor();
    await code.fill('nightowl');
    await buyer.press('Apply');
    await buyer.sees('nightowl takes €3.80 off.');
    await buyer.press('More: Beer');
    await buyer.press('Order and pay €38.70');
    await payPage(buyer);
    await buyer.sees('€38.70');
    await buyer.close();
  });

  it('never order with a code that was typed and not applied', async () => {
    const buyer = await twoSingles('codes-typed');
    await buyer.page.getByLabel('Code').fill('NIGHTOWL');
    await buyer.press('Order and pay €38');
    await buyer.sees('NIGHTOWL takes €3.80 off.');
    await buyer.press('Remove');
    await buyer.press('Order and pay €38');
    await payPage(buyer);
    await buyer.close();
  });

  it('say of installments what is due when, and ask for the first one', async () => {
    const buyer = await twoSingles('parts', { max_installments: 3 });
    await buyer.sees('€12.67 now, then €12.67, then €12.66 on your order’s page');
    await buyer.page.getByLabel(/In 3 parts/).check();
    await buyer.press('Order and pay €12.67 now');
    await payPage(buyer);
    await buyer.sees('€12.67');
    await buyer.sees('Installment 1 of 3');
    await buyer.press('Pay');
    await buyer.sees('1 of 3 installments are paid, €25.33 is still to come.');
    await buyer.close();
  });

  it('lead from Cancel on the payment page back to the basket, whose order waits', async () => {
    const buyer = await twoSingles('cancelled-payment');
    await buyer.press('Order and pay €38');
    await payPage(buyer);
    await buyer.press('Cancel');
    await buyer.sees('Your tickets wait for the payment');
    await buyer.sees('2 × Single');
    await buyer.sees(/Pay until/);
    await buyer.open('/e/cancelled-payment');
    await buyer.sees(/an order for this event that is not paid yet: its tickets are kept until/);
    await buyer.page.goBack();
    const payPages = '**/sandbox/pay/*';
    // An answer without content leaves the page as it is.
    await buyer.page.route(payPages, (route) => route.fulfill({ status: 204 }));
    const leaves = buyer.page.waitForRequest(payPages);
    await buyer.press('Pay €38');
    await buyer.page.locator('.actions button[aria-busy=true]').waitFor();
    await leaves;
    // So do browsers that come back from the payment page.
    await buyer.page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))");
    await buyer.page.locator('.actions button[aria-busy=false]').waitFor();
    await buyer.page.unroute(payPages);
    await buyer.press('Pay €38');
    await payPage(buyer);
    await buyer.press('Pay');
    await buyer.page.waitForURL(/\/orders\/ord_/);
    await buyer.sees('Confirmed');
    await buyer.close();
  });

  it('say of an order that ran out that it did, and lead on to choosing again', async () => {
    const buyer = await twoSingles('order-ran-out');
    await buyer.press('Order and pay €38');
    await payPage(buyer);
    const payPath = new URL(buyer.page.url()).pathname;
    await buyer.press('Your order');
    await buyer.page.waitForURL(/\/orders\/ord_/);
    const orderPath = new URL(buyer.page.url()).pathname;
    await shop.passTime(3_600);
    await buyer.open(payPath);
    await buyer.sees('The time for this session ran out');
    assert.equal(await buyer.page.getByText('can be paid').count(), 0);
    await buyer.open(orderPath);
    await buyer.sees('Expired');
    await buyer.press('Choose again');
    await buyer.sees('Your order was not paid in time, and its tickets are back on sale.');
    await buyer.open('/e/order-ran-out/checkout');
    await buyer.page.getByRole('heading', { level: 1, name: 'Your order ran out' }).waitFor();
    assert.equal(await buyer.page.getByText('You have your tickets').count(), 0);
    await buyer.close();
  });

  it('offer the tickets of an order that ran out once more at the checkout', async () => {
    const buyer = await twoSingles('order-again');
    await buyer.press('Order and pay €38');
    await payPage(buyer);
    await buyer.press('Cancel');
    await buyer.sees('Your tickets wait for the payment');
    await shop.passTime(3_600);
    await buyer.page.reload();
    await buyer.sees('Your order ran out');
    await buyer.press('Hold 2 tickets again');
    await buyer.page.getByLabel('E-mail').waitFor();
    await buyer.close();
  });

  it('say of an order that an operator cancelled with its date that it was', async () => {
    const buyer = await twoSingles('order-cancelled');
    await buyer.press('Order and pay €38');
    await payPage(buyer);
    await buyer.press('Cancel');
    await buyer.sees('Your tickets wait for the payment');
    await shop.service.admin.post('/admin/events/evt_order_cancelled/performances/night/cancel');
    await buyer.page.reload();
    await buyer.sees('Your order was cancelled');
    // Its tickets are not on sale again.
    await buyer.sees('A date of this order was cancelled.');
    await buyer.press('Choose again');
    await buyer.page.getByRole('heading', { name: 'Night Shift' }).waitFor();
    await buyer.close();
  });

  it('say when a sale begins that has not begun, count down to it and open it', async () => {
    const startsAt = new Date((await now()) + 3_000_000).toISOString();
    const sellingStages = [
      { id: 'regular', name: 'Regular', starts_at: startsAt, prices: { single: 1900, crew: 6800 } },
    ];
    const path = await shop.ownEvent('club-night', 'later', { sellingStages });
    const buyer = await shop.enter(path, { ownClock: true });
    await buyer.page.getByRole('heading', { name: /Regular: from/ }).waitFor();
    await buyer.page.getByText(/^(50:00|49:\d\d)$/).waitFor();
    await shop.passTime(2_980);
    await buyer.page.reload();
    await buyer.page.getByText(/^0?0:[012]\d$/).waitFor();
    await shop.passTime(21);
    await buyer.later(21_000);
    await buyer.press('More: Single');
    await buyer.press('Hold 1 ticket');
    await buyer.sees('Go to checkout');
    await buyer.close();
  });

  it('show a price from which anybody can buy, not that of a wheelchair place', async () => {
    await shop.service.define(sample('erfurt-volley'));
    const buyer = await shop.enter('/');
    await buyer.page.locator('.card', { hasText: 'Erfurt Volley Night' }).getByText('from €16').waitFor();
    await buyer.open('/e/erfurt-volley');
    await buyer.page.locator('.date').getByText('from €16').first().waitFor();
    await buyer.page
      .locator('.seat-layer')
      .getByRole('button', { name: /Block E · €24/ })
      .click();
    await seat(buyer, /wheelchair place · €12 · free/)
      .first()
      .waitFor();
    await buyer.close();
  });
});
