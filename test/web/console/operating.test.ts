/**
 * What operators look up in the console in a real browser: money, search over everything, the journal by order and
 * type, names, and questions with figures.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { numberOf } from '#domain/orders/told-numbers.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import { FACT_TYPES as DOMAIN_TYPES } from '#domain/fact.ts';
import { SERVICE_FACT_TYPES } from '#engine/service-facts.ts';
import { settle, start, type Started } from '../../fixtures/checkout.ts';
import { clubNight, item, sample } from '../../fixtures/events.ts';
import { withoutBrowser } from '../../fixtures/browser.ts';
import { until } from '../../fixtures/until.ts';
import { operatorOf } from './operator.ts';

const POLL_MS = 2_000;

const source = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

describe('The console for those who look something up', { skip: withoutBrowser }, () => {
  let paid: Started;
  const opened = operatorOf(async (service) => {
    await service.define(sample('club-night', { refunds: 'MANUAL' }));
    await service.define(sample('open-studios'));
    const attendees = [{ name: 'Grace Hopper', email: 'grace@example.net' }, { name: 'Linus Pauling' }];
    paid = await start(service, {
      event_id: 'evt_club',
      items: [
        {
          ticket_type_id: 'single',
          selling_stage_id: 'regular',
          quantity: 2,
          attendees,
          bar_perks: [{ bar_perk_id: 'spritz', quantity: 1 }],
        },
      ],
      customer: { name: 'Zoë Kaltenbach', email: 'zoe@example.com' },
    });
    await settle(service, paid, 'paid');
    const refund = { amount: 1_000, reference: 're_1' };
    await service.operate('POST', `/admin/orders/${paid.order_id}/refunds`, { body: refund });
  });

  it('shows what was sold and refunded, by event and by hour, and names its one time zone', async () => {
    const { page } = opened.operator;
    await page.getByText('€45.50 sold · €10.00 refunded').waitFor();
    await page.getByText('All times are of Europe/Berlin').waitFor();
    await page.getByRole('link', { name: 'Money' }).click();
    const byHour = page.getByRole('region', { name: 'Money by hour' });
    const row = page.locator('[data-event="evt_club"]').filter({ hasText: /^Night Shift€45\.501€10\.001€35\.50$/ });
    await row.waitFor();
    const hour = byHour.locator('tbody tr').first();
    await hour.filter({ hasText: /^8 May 2027, 14:00\s*€45\.50 in 1\s*€10\.00 in 1/ }).waitFor();
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Night Shift' }).waitFor();
    await hour.filter({ hasText: '€45.50' }).waitFor();
  });

  it('searches everything from every page with a key, by a guest’s name, and keeps the search in the address', async () => {
    const { page } = opened.operator;
    await page.keyboard.press('Control+k');
    await page.getByLabel('Search orders').and(page.locator(':focus')).waitFor();
    await page.keyboard.type('hopper');
    await page.keyboard.press('Enter');
    await page.getByText('1 order found in 1 order; that is everything.').waitFor();
    assert.match(page.url(), /#\/search\?q=hopper$/);
    const row = page.locator(`[data-order="${paid.order_id}"]`);
    await row.filter({ hasText: /Zoë Kaltenbach.*a guest.*2 × Single, 1 × Spritz.*Night Shift/ }).waitFor();
    await page.getByLabel('What to search for').fill(numberOf(paid.order_id));
    await page.getByRole('search', { name: 'Filters' }).getByRole('button').click();
    await page.getByText('order number').waitFor();
    await page.goBack();
    await page.getByText('a guest').waitFor();
    await page.getByLabel('What to search for').fill('nobody at all');
    await page.getByRole('search', { name: 'Filters' }).getByRole('button').click();
    await page.getByText('Nothing found in 1 order; that is everything.').waitFor();
    await page.goBack();
  });

  it('names what was bought and who comes, leads to the buyer’s page, and asks with tickets and money', async () => {
    const { page } = opened.operator;
    await page.locator(`[data-order="${paid.order_id}"]`).getByRole('link').click();
    await page.getByRole('heading', { name: 'Zoë Kaltenbach' }).waitFor();
    const bought = /2 × Single.*Saturday night.*1 × Spritz.*Grace Hopper.*Linus Pauling/;
    await page.locator('main').filter({ hasText: bought }).waitFor();
    const link = page.getByRole('link', { name: 'Buyer’s page' });
    assert.equal(await link.getAttribute('href'), `${opened.service.publicUrl}/orders/${paid.order_id}`);
    await page.getByRole('button', { name: 'Cancel order…' }).click();
    await page.getByText('1 order with 2 tickets is cancelled').waitFor();
    await page.getByText('€35.50 are due back to the buyer').waitFor();
    const danger = page.getByRole('button', { name: 'Cancel the order' });
    assert.match((await danger.getAttribute('class'))!, /grave/);
    await page.getByRole('button', { name: 'Leave as it is' }).click();
  });

  it('filters the journal by order, type and event, in the address', async () => {
    const { page } = opened.operator;
    await page.getByRole('main').getByRole('link', { name: 'Journal' }).click();
    await page.getByRole('cell', { name: 'RefundRecorded' }).waitFor();
    assert.ok(page.url().includes(`#/journal?order=${paid.order_id}`));
    assert.equal(await page.getByRole('cell', { name: 'EventDefined' }).count(), 0);
    await page.getByLabel('Type').selectOption('OrderPaid');
    await page.getByRole('search', { name: 'Filters' }).getByRole('button').click();
    await page.getByRole('cell', { name: 'RefundRecorded' }).waitFor({ state: 'detached' });
    await page.locator('tbody tr').first().waitFor();
    assert.equal(await page.locator('tbody tr').count(), 1);
    await page.goto('/#/journal?event=evt_free&type=EventDefined');
    await page.getByRole('cell', { name: 'EventDefined' }).waitFor();
    assert.equal(await page.getByLabel('Type').inputValue(), 'EventDefined');
  });

  it('says with orders and money what the cancellation of a date does, before it does', async () => {
    const { page } = opened.operator;
    await page.goto('/#/events/evt_club');
    await page.getByRole('button', { name: 'Cancel date…' }).click();
    await page.getByText('1 order with 2 tickets is cancelled whole, and €35.50 is due back to 1 buyer.').waitFor();
    await page
      .getByText('2 tickets are cancelled: 0 orders go on with others, 1 order ends, and €35.50 is due')
      .waitFor();
    await page.getByRole('button', { name: 'Leave as it is' }).click();
  });

  it('cancels the tickets of a date alone, and has what is due given back', async () => {
    const { page, later } = opened.operator;
    const performances = ['sat', 'sun'].map((id, day) => ({ id, name: id, starts_at: `2028-05-1${day}T20:00:00Z` }));
    await opened.service.define(clubNight({ id: 'evt_two', slug: 'two', performances }));
    const items = performances.map(({ id }) => ({ ...item('single', 1), performance_id: id }));
    const bought = await start(opened.service, { event_id: 'evt_two', items });
    await settle(opened.service, bought, 'paid');
    await page.goto('/#/events/evt_two');
    await later(POLL_MS);
    await page.getByRole('button', { name: 'Cancel date…' }).first().click();
    await page.getByText('1 ticket is cancelled: 1 order goes on with others, 0 orders end, and €19.00').waitFor();
    await page.getByLabel('What is cancelled with it').selectOption('TICKETS');
    await page.getByRole('checkbox', { name: 'Give back what is due then' }).check();
    await page.getByRole('button', { name: 'Cancel the date' }).click();
    await page.getByText('CANCELLED').first().waitFor();
    const read = async () =>
      (await opened.service.operate<AdminOrderBody>('GET', `/admin/orders/${bought.order_id}`)).body;
    // Its orders follow in turns of their own.
    await until(async () => (await read()).refunds.length === 1);
    const { status, ticket_count: tickets } = await read();
    assert.deepEqual([status, tickets], ['CONFIRMED', 1]);
  });

  it('keeps the filters of an event’s orders in the address, the newest first', async () => {
    const { page } = opened.operator;
    await page.goto('/#/events/evt_club/orders?status=CONFIRMED');
    await page.locator(`[data-order="${paid.order_id}"]`).waitFor();
    assert.equal(await page.getByLabel('Status').inputValue(), 'CONFIRMED');
    await page.getByLabel('Status').selectOption('EXPIRED');
    await page.getByRole('search', { name: 'Filters' }).getByRole('button').click();
    await page.getByText('No order fits.').waitFor();
    assert.match(page.url(), /status=EXPIRED/);
  });

  it('has reported no error and sent no request to another host', () => opened.operator.close());
});

describe('What the console knows by heart', () => {
  it('are the types of facts that the journal has, those of a cluster’s index apart', () => {
    const listed = [...source('src/web/console/app/fact-types.ts').matchAll(/'(\w+)'/g)].map(([, type]) => type!);
    const ofIndex = ['EventReserved', 'EventIndexed', 'EventReservationEnded'];
    const known = [...Object.keys(DOMAIN_TYPES), ...Object.keys(SERVICE_FACT_TYPES)];
    assert.deepEqual(listed.toSorted(), known.filter((type) => !ofIndex.includes(type)).toSorted());
  });

  it('are the meanings of alerts, in the words of the rules for Prometheus', () => {
    const rules = source('src/operations/prometheus-alerts.yaml');
    const alerts = source('src/web/console/parts/alerts.tsx');
    const names = [...alerts.matchAll(/name: '(\w+)'/g)].map(([, name]) => name!);
    assert.ok(names.length >= 6);
    for (const name of names) {
      const [, summary, action] =
        new RegExp(`alert: ${name}\\n[^]*?summary: (.*)\\n\\s*action: (.*)\\n`).exec(rules) ?? [];
      assert.ok(summary !== undefined && alerts.includes(summary), `${name}: ${summary}`);
      assert.ok(action !== undefined && alerts.includes(action), `${name}: ${action}`);
    }
  });
});
