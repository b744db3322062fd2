/** Selling at a counter from the console in a real browser. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutBrowser } from '../../fixtures/browser.ts';
import { clubNight } from '../../fixtures/events.ts';
import { operatorOf } from './operator.ts';

describe('The counter in the console', { skip: withoutBrowser }, () => {
  const opened = operatorOf((service) => service.define(clubNight()));

  const open = async () => {
    const { page } = opened.operator;
    await page.goto('/#/events/evt_club');
    await page.getByRole('button', { name: 'Sell at the counter' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
    await dialog.getByLabel('E-mail address').fill('ada@example.org');
    return dialog;
  };

  it('names what is taken, is not answered by Enter, and shows the order that it made', async () => {
    const { page } = opened.operator;
    const dialog = await open();
    await dialog.getByLabel('Quantity').fill('2');
    await dialog.getByRole('button', { name: 'Take €38.00 and sell' }).waitFor();
    await dialog.getByRole('button', { name: 'Another kind of ticket' }).click();
    await dialog.getByLabel('Ticket').nth(1).selectOption({ label: 'Crew of four, Regular · €68.00' });
    await dialog.getByLabel(/^Note/).fill('their card failed');
    await page.keyboard.press('Enter');
    assert.ok(await dialog.isVisible(), 'Enter in a field does not answer the question');
    await dialog.getByRole('button', { name: 'Take €106.00 and sell' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Made at the counter').waitFor();
    await page.getByText('their card failed').waitFor();
    await page.getByText('Ada Lovelace').first().waitFor();
  });

  it('gives away, and says what stands in the way', async () => {
    const { page } = opened.operator;
    const dialog = await open();
    await dialog.getByLabel('Quantity').fill('101');
    await dialog.getByLabel('Given away: nothing is paid').check();
    const give = (count: number) => dialog.getByRole('button', { name: `Give ${count} units away` });
    await give(101).click();
    await dialog.getByText('INSUFFICIENT_TICKETS').waitFor();
    await dialog.getByLabel('Quantity').fill('3');
    await give(3).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Made at the counter').waitFor();
    await page.goto('/#/money');
    // What is given away is no money.
    await page
      .locator('[data-event="evt_club"]')
      .filter({ hasText: /€106\.001€/ })
      .waitFor();
  });
});
