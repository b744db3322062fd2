/**
 * The pages of the reference in a browser: examples work when they are pressed, the search finds, and one language is
 * chosen for all.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchBrowser, newVisitor, PHONE, withoutBrowser, type Visitor } from '../fixtures/browser.ts';
import { EXAMPLES } from './send-examples.ts';
import { ADMIN_TOKEN, openService, SECOND, type TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

describe('The reference in a browser', { skip: withoutBrowser }, () => {
  let service: TestService;
  let browser: Browser;

  before(async () => {
    service = await openService({ demo: true, clock: 'running', environment: EXAMPLES });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  /** Opens the page of an operation and sends each of its examples; answers the statuses that the page shows. */
  async function sendAll({ page, open, later }: Visitor, operation: string): Promise<readonly string[]> {
    await open(`/docs/operations/${operation}`);
    const statuses: string[] = [];
    for (const sample of await page.locator('.sample').all()) {
      await sample.getByText('Try it').click();
      const token = sample.getByLabel('Operators’ token');
      if ((await token.count()) > 0) await token.fill(ADMIN_TOKEN);
      await sample.getByRole('button', { name: 'Send' }).click();
      const status = sample.locator('.live .status');
      await until(async () => {
        // A stream is closed after a while without a message.
        await later(SECOND);
        return (await status.count()) > 0;
      });
      statuses.push((await status.textContent()) ?? '');
    }
    return statuses;
  }

  it('answers examples of each kind with success when they are pressed: alone, after others, as a stream, in another state', async () => {
    const visitor = await newVisitor(browser, service.publicUrl, { ownClock: true });
    // That every example works is tested without a browser in examples.test.ts.
    for (const operation of ['listEvents', 'getDraw', 'createHold', 'watchDate', 'getOrderStatus', 'advanceClock']) {
      for (const status of await sendAll(visitor, operation)) assert.match(status, /^20[01]/, operation);
    }
    await visitor.close();
  });

  it('sends an example of operators with their token, after what it needs', async () => {
    const visitor = await newVisitor(browser, service.adminUrl, { ownClock: true });
    assert.deepEqual(await sendAll(visitor, 'forecastCancellation'), ['200 OK']);
    await visitor.sees('First: PUT /admin/events/evt_late → 201');
    assert.deepEqual(await sendAll(visitor, 'getOrder'), ['200 OK']);
    await visitor.close();
  });

  it('searches, leads to what it found, and keeps the chosen language', async () => {
    const visitor = await newVisitor(browser, service.publicUrl, PHONE);
    const { page } = visitor;
    await visitor.open('/docs');
    await page.getByRole('searchbox', { name: 'Search the reference' }).fill('SEAT_TAKEN');
    await page.getByRole('link', { name: /^SEAT_TAKEN/ }).click();
    await page.waitForURL('**/docs/errors#SEAT_TAKEN');
    await visitor.open('/docs/guides/first-sale');
    await page.getByRole('radio', { name: 'Python' }).first().check();
    await visitor.open('/docs/operations/createHold');
    await page.getByText('urllib.request.urlopen(request)').filter({ visible: true }).first().waitFor();
    assert.equal(await visitor.overflows(), false);
    await page.getByRole('checkbox', { name: 'Contents' }).check();
    await page.getByRole('navigation').getByText('All operations').click();
    await visitor.sees('Every operation of');
    assert.equal(await visitor.overflows(), false);
    await visitor.close();
  });

  it('can be read without scripts', async () => {
    const visitor = await newVisitor(browser, service.publicUrl, { javaScriptEnabled: false });
    await visitor.open('/docs/operations/createHold');
    await visitor.sees('"event_id": "evt_club"');
    await visitor.page.getByRole('radio', { name: 'TypeScript' }).first().check();
    await visitor.page.getByText('await fetch(').filter({ visible: true }).first().waitFor();
    assert.equal(await visitor.page.getByRole('button').count(), 0);
    await visitor.close();
  });

  it('shows the example of a shop beside its source', async () => {
    const visitor = await newVisitor(browser, service.publicUrl);
    await visitor.open('/example');
    await visitor.sees('const client = createClient({ store: localStorage });');
    await visitor.page.getByRole('button', { name: 'Night Shift' }).waitFor();
    await visitor.close();
  });
});
