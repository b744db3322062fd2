/** A sale that is steered from the console in a real browser, while somebody shops and somebody waits. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { newVisitor, withoutBrowser, type Visitor } from '../../fixtures/browser.ts';
import { openShop, POLL_MS_MAX, type Shop } from '../storefront/shop.ts';
import { signIn } from './operator.ts';

describe('A rush that is steered from the console', { skip: withoutBrowser }, () => {
  let shop: Shop;
  let operator: Visitor;
  before(async () => {
    shop = await openShop();
    operator = await newVisitor(shop.browser, shop.service.adminUrl);
  });
  after(async () => {
    await operator?.close();
    await shop?.close();
  });

  const steer = async (change: (dialog: ReturnType<Visitor['page']['getByRole']>) => Promise<void>): Promise<void> => {
    const { page } = operator;
    await page.getByRole('button', { name: 'Steer the sale' }).click();
    const dialog = page.getByRole('dialog');
    await change(dialog);
    await dialog.getByRole('button', { name: 'Set this' }).click();
    await dialog.waitFor({ state: 'detached' });
  };

  it('is paused, told something and resumed; who waits and who shops sees it without a reload', async () => {
    const path = await shop.ownEvent('club-night', 'rush', { waiting_room: true, waiting_room_rate: 1 });
    const enter = () => shop.enter(path, { ownClock: true });
    const [first, second] = [await enter(), await enter()];
    const buyersPoll = () => Promise.all([first, second].map(({ later }) => later(POLL_MS_MAX)));
    await first.page.getByRole('link', { name: /waiting room/i }).click();
    await first.page.getByText('It is your turn.').waitFor();
    await second.page.getByRole('link', { name: /waiting room/i }).click();
    await second.page.getByText('Your place in line').waitFor();

    const { page } = operator;
    await page.goto('/');
    await signIn(operator);
    await page.getByRole('link', { name: 'Night Shift' }).first().click();
    await steer(async (dialog) => {
      await dialog.getByLabel(/^Paused/).check();
      await dialog.getByLabel(/^What buyers are told/).fill('The lights are out: back at nine.');
      await page.keyboard.press('Enter');
      assert.ok(await dialog.isVisible(), 'Enter in a field does not answer the question');
    });
    await page.getByText('The sale is paused.').waitFor();
    await buyersPoll();
    for (const buyer of [first, second]) {
      await buyer.page.getByText('The lights are out: back at nine.').waitFor();
      await buyer.page.getByText('The sale is paused for a moment.').first().waitFor();
    }
    await steer(async (dialog) => {
      await dialog.getByLabel(/^Paused/).uncheck();
      await dialog.getByLabel(/^What buyers are told/).fill('');
    });
    await page.getByText('The sale is paused.').waitFor({ state: 'detached' });
    await buyersPoll();
    for (const buyer of [first, second]) {
      await buyer.page.getByText('The lights are out: back at nine.').waitFor({ state: 'detached' });
    }
    await first.press('More: Single');
    await first.press('Hold 1 ticket');
    await first.sees('Go to checkout');
    for (const buyer of [first, second]) await buyer.close();
  });
});
