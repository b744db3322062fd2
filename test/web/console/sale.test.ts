/** The sale on one screen, in a real browser: figures, reasons, ranges that are in the address, news as they come. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { withoutBrowser } from '../../fixtures/browser.ts';
import { buy, newCustomer } from '../../fixtures/checkout.ts';
import { clubNight, floor } from '../../fixtures/events.ts';
import { MINUTE } from '../../fixtures/service.ts';
import { operatorOf } from './operator.ts';

const POLL_MS = 5_000;

describe('The sale on one screen', { skip: withoutBrowser }, () => {
  const opened = operatorOf((service) => service.define(clubNight({ max_tickets_per_email: null })));
  const buyTickets = (quantity: number) =>
    buy(opened.service, { event_id: 'evt_club', items: [floor(quantity)], customer: newCustomer() });

  it('shows what was sold by minute, when it is sold out, and what was refused', async () => {
    const { service, operator } = opened;
    const { page } = operator;
    await buyTickets(2);
    service.wait(3 * MINUTE);
    const body = { event_id: 'evt_club', session_key: 'session-greedy', items: [floor(9_999)] };
    await service.call('POST', '/api/checkout/holds', { body });
    await page.getByRole('link', { name: 'Club night' }).first().click();
    await page.getByRole('link', { name: 'Sale by minute' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sale: Club night' }).waitFor();
    await page.getByRole('img', { name: /^Tickets a minute: up to 2; last 0 sold, 0 returned, 0 orders$/ }).waitFor();
    await page.getByRole('img', { name: /^Money a minute: up to €/ }).waitFor();
    const tiles = page.locator('[aria-label="The sale now"]');
    const told = /Tickets sold\s*2[^\d][^]*Tickets a minute, last ten\s*0\.7\s*Sold out\s*in about \d+ h/;
    await tiles.filter({ hasText: told }).waitFor();
    await page.locator('[data-reason="INSUFFICIENT_TICKETS"]').waitFor();
    await page.getByText('a restart begins them anew').waitFor();
    assert.equal(await page.locator('.time-chart details tr').count(), 0, 'no rows before they are shown');
    await page.getByText('The figures of “Tickets a minute”').click();
    const table = page.getByRole('region', { name: 'Tickets a minute' }).getByRole('row');
    await table.nth(1).waitFor();
    assert.deepEqual(await table.allInnerTexts(), ['From\tsold\treturned\torders', '14:00\t2\t0\t1']);
  });

  it('has the range in its address, and shows a colleague the same', async () => {
    const { service, operator } = opened;
    const { page } = operator;
    await page.getByRole('link', { name: 'Last hour' }).click();
    await page.waitForURL(/sale\?range=1h$/);
    await page.getByRole('link', { name: '5 min', exact: true }).click();
    await page.waitForURL(/step=5/);
    await page.getByRole('img', { name: /^Tickets in 5 minutes: up to 2/ }).waitFor();
    await page.getByRole('link', { name: 'Keep what is shown now' }).click();
    await page.waitForURL(/from=.*to=.*step=5/);
    const sameLink = page.locator(':focus').filter({ hasText: /^8 May 2027, \d\d:00 to 8 May 2027, 14:03$/ });
    await sameLink.waitFor();
    await page.getByRole('region', { name: 'Tickets in 5 minutes' }).getByText('14:00').waitFor();
    service.wait(10 * MINUTE);
    await buyTickets(3);
    await page.reload();
    await page.getByRole('img', { name: /^Tickets in 5 minutes: up to 2/ }).waitFor();
    await page.getByRole('link', { name: 'Since it opened' }).click();
    await page.getByRole('img', { name: /^Tickets in 5 minutes: up to 3/ }).waitFor();
  });

  it('goes on as the sale does, and tells it in one sentence', async () => {
    const { page, later } = opened.operator;
    await buyTickets(1);
    await later(POLL_MS);
    await page.getByRole('definition').filter({ hasText: /^6$/ }).waitFor();
    const said = page.getByRole('status').filter({ hasText: 'tickets sold' });
    assert.match(await said.innerText(), /^5 tickets sold, 95 unsold\./, 'as the minute began');
    opened.service.wait(MINUTE);
    await later(POLL_MS);
    await said.filter({ hasText: '6 tickets sold' }).waitFor();
  });

  it('has a page of the service alone, from the overview', async () => {
    const { page, later, stop } = opened.operator;
    await page.goto('/#/');
    await page.getByRole('link', { name: 'The last hours' }).click();
    await page.getByRole('img', { name: /^Time to answer: up to \d/ }).waitFor();
    await page.getByRole('img', { name: /^Time to write to disk \(fsync\): up to \d/ }).waitFor();
    opened.service.wait(70 * MINUTE);
    await page.reload();
    await page.getByText('Nothing was refused in this range.').waitFor();
    // Another range is read at once, not with the next poll.
    await stop();
    const chosen = page.getByRole('link', { name: '12 hours' });
    await chosen.click();
    await page.waitForURL(/#\/service\?range=12h$/);
    await chosen.and(page.locator('[aria-current]')).waitFor();
    await later(100);
    await page.locator('[data-reason="INSUFFICIENT_TICKETS"]').waitFor();
    await page.clock.resume();
    await page.getByRole('img', { name: /^Requests in 5 minutes: up to \d/ }).waitFor();
    await page.getByText('Nothing is known of the shaded steps.').first().waitFor();
    await page.goto('/#/service?step=0.00001');
    await page.getByRole('img', { name: /^Requests a minute: / }).waitFor();
  });

  it('tells a range of days, one of which nothing is kept, and a sale that is not open', async () => {
    const { service, operator } = opened;
    const { page, later } = operator;
    await page.goto('/#/events/evt_club/sale?from=2027-05-05T00:00:00Z&to=2027-05-07T00:00:00Z');
    await page.getByRole('img', { name: 'Tickets in 15 minutes: nothing in this range' }).waitFor();
    await page.getByText('Nothing is known of this range.').first().waitFor();
    const axis = page.locator('.time-chart figcaption').first();
    assert.match(await axis.innerText(), /^5 May, 02:00\s+6 May, 02:00\s+7 May, 02:00$/);
    const texts = await axis
      .locator('span')
      .evaluateAll((spans) => spans.map((span) => span.getBoundingClientRect().y));
    assert.equal(new Set(texts).size, 1, 'in one row');
    await service.define(clubNight({ id: 'evt_draft', slug: 'draft', status: 'DRAFT' }));
    await page.goto('/#/events/evt_draft/sale');
    await later(POLL_MS);
    const tiles = page.locator('[aria-label="The sale now"]');
    await tiles.filter({ hasText: /Tickets a minute, last ten\s*–\s*Sold out\s*–/ }).waitFor();
  });

  it('has reported no error and sent no request to another host', () => opened.operator.close());
});
