/**
 * The operators' console in a real browser: signing in, seats blocked and unblocked, an order cancelled and refunded.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Browser, Locator, Page } from 'playwright-core';
import { sample } from '../../fixtures/events.ts';
import { until } from '../../fixtures/until.ts';
import { ADMIN_TOKEN, openService, type TestService } from '../../fixtures/service.ts';
import { launchBrowser, newVisitor, withoutBrowser, type Visitor } from '../../fixtures/browser.ts';

const SEAT = 'stalls-F-7';
const NEIGHBOUR = 'stalls-F-8';

describe('The console', { skip: withoutBrowser }, () => {
  let service: TestService;
  let browser: Browser;
  let operator: Visitor;
  let orderId: string;

  before(async () => {
    service = await openService();
    await service.define(sample('theatre-run', { refunds: 'MANUAL' }));
    await service.define(sample('lighthouse-rush'));
    orderId = await placePaidOrder(service);
    browser = await launchBrowser();
    operator = await newVisitor(browser, service.adminUrl, { expected: /status of 4(?:01|09)/, ownClock: true });
  });

  after(async () => {
    await browser?.close();
    await service?.close();
  });

  it('refuses a wrong token, and signs in with the right one for this tab alone', async () => {
    const { page } = operator;
    const answer = await page.goto('/');
    assert.match(answer!.headers()['content-security-policy']!, /default-src 'none'/);
    await page.getByLabel('Token').fill('not-the-token');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This token does not open the console.').waitFor();
    await page.getByLabel('Token').fill(ADMIN_TOKEN);
    await page.getByLabel('Your name').fill('Zoë');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'On sale now' }).waitFor();
    assert.equal(await page.evaluate('localStorage.length'), 0);
    await page.getByRole('link', { name: 'The Glass Orchard' }).waitFor();
    await page.getByText('Event-loop delay').waitFor();
  });

  it('blocks picked seats with a note, and unblocks them', async () => {
    const { page } = operator;
    await page.getByRole('link', { name: 'The Glass Orchard' }).click();
    await page.getByRole('link', { name: 'Seats' }).first().click();
    await seatOf(page, SEAT).click();
    await seatOf(page, NEIGHBOUR).click();
    await page.getByRole('button', { name: 'Block 2' }).click();
    await page.getByLabel('Note').fill('The lamp hangs low.');
    await page.getByRole('button', { name: 'Block 2 seats' }).click();
    await seatOf(page, SEAT, 'blocked').waitFor();
    assert.deepEqual(await blockedSeats(service), [SEAT, NEIGHBOUR]);
    await page.getByLabel('Seat id').fill(SEAT);
    await page.getByRole('button', { name: 'Pick', exact: true }).click();
    await page.getByRole('button', { name: 'Unblock 1' }).click();
    await page.getByRole('button', { name: 'Unblock 1 seat' }).click();
    await seatOf(page, SEAT, 'free').waitFor();
    assert.deepEqual(await blockedSeats(service), [NEIGHBOUR]);
  });

  it('picks rectangles of seats with the pointer and the keyboard, of which those of buyers are left out', async () => {
    const { page } = operator;
    const picked = async () => {
      const all = page.locator('[aria-checked="true"]');
      const labels = await all.evaluateAll((each) => each.map((seat) => seat.getAttribute('aria-label')!));
      return labels.map((label) => label.replace(/^Stalls, row (\w+), seat (\w+),.*/, 'stalls-$1-$2'));
    };
    const arePicked = async (...ids: readonly string[]) => {
      let found: readonly string[] = [];
      const isSo = async () => isDeepStrictEqual((found = await picked()), ids);
      await until(isSo, () => `${found.join(' ')} for ${ids.join(' ')}`);
    };
    const draw = async (from: string, to: string) => {
      const [a, b] = await Promise.all([from, to].map((id) => seatOf(page, id).boundingBox()));
      await page.mouse.move(a!.x - 2, a!.y - 2);
      await page.mouse.down();
      await page.mouse.move(b!.x, b!.y, { steps: 3 });
      await page.mouse.move(b!.x + b!.width + 2, b!.y + b!.height + 2);
      await page.getByText('seats in the rectangle').waitFor();
      await page.mouse.up();
    };
    await draw('stalls-G-6', 'stalls-H-8');
    const four = ['stalls-G-6', 'stalls-H-6', 'stalls-H-7', 'stalls-H-8'];
    await arePicked(...four);
    await page.keyboard.down('Shift');
    await draw('stalls-K-1', 'stalls-K-2');
    await page.keyboard.up('Shift');
    await arePicked(...four, 'stalls-K-1', 'stalls-K-2');
    await draw('stalls-M-1', 'stalls-M-2');
    await arePicked('stalls-M-1', 'stalls-M-2');
    await page.getByRole('checkbox', { name: 'Stalls, row M, seat 2, Stalls, wheelchair place, free' }).waitFor();
    const plan = page.getByRole('group', { name: /^Seats of/ });
    await plan.press('Escape');
    await seatOf(page, 'stalls-K-2').click();
    await plan.press('Shift+ArrowRight');
    await plan.press('Shift+ArrowDown');
    await arePicked('stalls-K-2', 'stalls-K-3', 'stalls-L-2', 'stalls-L-3');
    await plan.press('Shift+ArrowUp');
    await plan.press('ArrowLeft');
    await plan.press('Space');
    await arePicked('stalls-K-3');
    await page.getByRole('button', { name: 'Block 1' }).click();
    await page.getByText('Stalls, row K: 3').waitFor();
    await page.getByRole('button', { name: 'Leave as it is' }).click();
    await draw('stalls-G-1', 'stalls-G-9');
    await page.getByRole('button', { name: 'Block 7' }).click();
    await page.getByText('Stalls, row G: 1–6, 9').waitFor();
    await page.getByRole('button', { name: 'Leave as it is' }).click();
    await page.getByRole('button', { name: 'Clear' }).click();
  });

  it('finds an order by its e-mail address, cancels it and records a refund', async () => {
    const { page, later } = operator;
    await page.getByRole('link', { name: 'The Glass Orchard' }).click();
    await page.getByRole('link', { name: 'Orders' }).click();
    await page.getByLabel('E-mail address').fill('nobody@example.com');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByText('No order fits.').waitFor();
    await page.getByLabel('E-mail address').fill('ada@example.com');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.locator(`[data-order="${orderId}"]`).getByRole('link').click();
    await page.getByRole('button', { name: 'Cancel order…' }).click();
    await page.getByRole('button', { name: 'Leave as it is' }).click();
    assert.equal((await orderOf(service, orderId))['status'], 'CONFIRMED');
    await page.getByRole('button', { name: 'Cancel order…' }).click();
    await page.getByLabel('Note').fill('Fell ill.');
    await page.getByRole('button', { name: 'Cancel the order' }).click();
    await page.getByText('CANCELLED', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Record refund…' }).click();
    await page.getByLabel('Amount in EUR').fill('9999');
    await page.getByRole('button', { name: 'Record it' }).click();
    await page.getByText('REFUND_TOO_HIGH').waitFor();
    await page.getByLabel('Amount in EUR').fill('54,00');
    // The order is read again every few seconds. What was typed stays.
    const read = page.waitForResponse((answer) => answer.url().endsWith(`/admin/orders/${orderId}`));
    await later(5_000);
    await read;
    await page.evaluate('new Promise((shown) => requestAnimationFrame(() => requestAnimationFrame(shown)))');
    assert.equal(await page.getByLabel('Amount in EUR').inputValue(), '54,00');
    await page.getByRole('button', { name: 'Record it' }).click();
    await page.getByText('Given back').nth(1).waitFor();
    const order = await orderOf(service, orderId);
    assert.deepEqual(
      [order['status'], order['refund_due'], order['refunded_amount'], order['cancellation_note']],
      ['CANCELLED', 5_400, 5_400, 'Fell ill.'],
    );
  });

  it('gives money back, says on the overview that a refund needs an operator, and resolves it', async () => {
    const { page } = operator;
    const other = await placePaidOrder(service, 'H');
    await service.post('/sandbox/refunds', { next: 'refused' });
    await page.goto(`/#/orders/${other}`);
    await page.getByRole('button', { name: 'Give money back…' }).click();
    await page.getByLabel('Amount in EUR').fill('12.50');
    await page.getByRole('button', { name: 'Give it back' }).click();
    await page.getByText('Needs an operator').waitFor();
    await page.goto('/#/');
    await page.getByText('Refunds need an operator: The Glass Orchard (1).').waitFor();
    await page.goto(`/#/orders/${other}`);
    await page.getByRole('button', { name: 'Resolve…' }).click();
    await page.getByLabel('Reference').fill('bank 17');
    await page.getByRole('button', { name: 'It was given back', exact: true }).click();
    await page.getByText('bank 17').waitFor();
    assert.equal((await orderOf(service, other))['refunded_amount'], 1_250);
    await page.goto(`/#/orders/${orderId}`);
  });

  it('changes tickets for what it says beforehand, and shows void tickets and what is due', async () => {
    const { page } = operator;
    const other = await placePaidOrder(service, 'J');
    await page.goto(`/#/orders/${other}`);
    await page.getByRole('link', { name: 'Change tickets' }).click();
    await page.getByRole('button', { name: 'What does it come to?' }).click();
    await page.getByText('Choose the tickets.').waitFor();
    await page.getByRole('checkbox').first().check();
    await page.getByLabel('Fee in EUR').fill('5');
    await page.getByRole('button', { name: 'What does it come to?' }).click();
    await page.getByText('Total of the order then').waitFor();
    await page.getByLabel('Fee in EUR').fill('4.50');
    await page.getByText('Total of the order then').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'What does it come to?' }).click();
    await page.getByLabel('Note').fill('ill');
    await page.getByRole('button', { name: 'Give back 1 ticket' }).click();
    await page.getByText('Void tickets').waitFor();
    const order = await orderOf(service, other);
    assert.deepEqual([order['fees_amount'], (order['void_tickets'] as unknown[]).length], [450, 1]);
    assert.ok(Number(order['refund_due']) > 0);
  });

  it('gives back all that is due of an event after its sum, and shows how far it is', async () => {
    const { page } = operator;
    await page.goto('/#/events/evt_theatre/refunds');
    await page.getByRole('button', { name: 'Give back all that is due…' }).click();
    await page.getByRole('button', { name: 'Give it back' }).click();
    await page.locator('[data-refund]', { hasText: 'SUCCEEDED' }).first().waitFor();
    await page.getByRole('link', { name: 'Given back', exact: true }).click();
    await page.waitForURL(/status=SUCCEEDED/);
    await page.locator('[data-refund]').first().waitFor();
    const read = async () => (await service.operate('GET', '/admin/events/evt_theatre/refunds')).body;
    await until(async () => isDeepStrictEqual((await read())['to_ask'], []), 'everything is asked for');
    await page.goto(`/#/orders/${orderId}`);
  });

  it('erases the personal data of an order after a question, and says since when and by whom', async () => {
    const { page } = operator;
    await page.getByRole('heading', { name: 'Ada Byron' }).waitFor();
    await page.getByRole('button', { name: 'Erase personal data…' }).click();
    await page.getByText('It cannot be undone.').waitFor();
    assert.equal(await page.getByLabel('Note').count(), 0);
    await page.getByRole('button', { name: 'Leave as it is' }).click();
    assert.equal((await orderOf(service, orderId))['personal_data'], 'OPEN');
    await page.getByRole('button', { name: 'Erase personal data…' }).click();
    await page.getByRole('button', { name: 'Erase it for good' }).click();
    await page.getByText(/^Personal data was erased on .* by Zoë\.$/).waitFor();
    await page.getByRole('button', { name: 'Erase personal data…' }).waitFor({ state: 'detached' });
    assert.doesNotMatch(await page.locator('main').innerText(), /Ada|ada@|Fell ill/);
    await page.getByRole('link', { name: 'Orders' }).click();
    await page.getByRole('cell', { name: 'erased' }).first().waitFor();
    await page.goto(`/#/orders/${orderId}`);
  });

  it('erases what was noted about a change of an order that was erased before', async () => {
    const { page } = operator;
    const other = await placePaidOrder(service, 'K');
    await service.admin.post(`/admin/orders/${other}/erase`);
    const [ticket] = (await orderOf(service, other))['tickets'] as string[];
    await service.admin.post(`/admin/orders/${other}/amendments`, { reissue: [ticket], note: 'lost' });
    await page.goto(`/#/orders/${other}`);
    await page.getByRole('button', { name: 'Erase personal data…' }).click();
    await page.getByRole('button', { name: 'Erase it for good' }).click();
    await page.getByRole('button', { name: 'Erase personal data…' }).waitFor({ state: 'detached' });
    const { amendments } = await orderOf(service, other);
    assert.equal((amendments as { readonly note: string | null }[])[0]!.note, null);
    await page.goto(`/#/orders/${orderId}`);
  });

  it('removes the token when the operator signs out', async () => {
    const { page } = operator;
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Token').waitFor();
    assert.equal(await page.evaluate('sessionStorage.length'), 0);
  });

  it('has reported no error and sent no request to another host', () => operator.close());
});

/** A seat of the stalls on the plan, by its id, in a state where one is named. */
const seatOf = (page: Page, id: string, state = ''): Locator => {
  const [, row, number] = id.split('-');
  const named = `[aria-label^="Stalls, row ${row}, seat ${number},"]`;
  return page.locator(`.seat-layer ${named}${state === '' ? '' : `[aria-label$="${state}"]`}`);
};

/** An order of two seats in the stalls, paid at the sandbox. */
async function placePaidOrder(service: TestService, row = 'G'): Promise<string> {
  const items = [
    {
      ticket_type_id: 'stalls',
      selling_stage_id: 'general',
      performance_id: 'premiere',
      quantity: 2,
      seat_ids: [`stalls-${row}-7`, `stalls-${row}-8`],
    },
  ];
  const hold = await service.call('POST', '/api/checkout/holds', {
    body: { event_id: 'evt_theatre', session_key: 'session-of-ada', items },
  });
  const customer = { name: 'Ada Byron', email: 'ada@example.com' };
  const started = await service.call('POST', '/api/checkout/start', {
    body: {
      event_id: 'evt_theatre',
      hold_id: hold.body['id'],
      session_key: 'session-of-ada',
      customer,
      accept_terms: true,
    },
  });
  await service.call('POST', `/sandbox/payments/${String(started.body['checkout_session_id'])}`, {
    body: { outcome: 'paid' },
  });
  return String(started.body['order_id']);
}

async function orderOf(service: TestService, orderId: string) {
  return (await service.operate('GET', `/admin/orders/${orderId}`)).body;
}

async function blockedSeats(service: TestService): Promise<unknown> {
  return (await service.operate('GET', '/admin/events/evt_theatre/performances/premiere/seats')).body['blocked'];
}
