/**
 * The console for everybody: each page and dialog in a real browser with axe, large text, a phone, and where the focus
 * is.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { isOpenByDayAndNight, isOpenToAll } from '../../fixtures/axe.ts';
import { launchBrowser, newVisitor, withoutBrowser, type Visitor } from '../../fixtures/browser.ts';
import { settle, start, type Started } from '../../fixtures/checkout.ts';
import { sample, seat, theatreRun } from '../../fixtures/events.ts';
import { openService, type TestService } from '../../fixtures/service.ts';
import { signIn } from './operator.ts';

const DESKTOP = { width: 1280, height: 900 };
const PHONE = { width: 360, height: 740 };

describe('The console for everybody', { skip: withoutBrowser }, () => {
  let service: TestService;
  let browser: Browser;
  let operator: Visitor;
  let paid: Started;

  before(async () => {
    service = await openService();
    for (const event of [theatreRun(), sample('lighthouse-rush')]) await service.define(event);
    paid = await start(service, {
      event_id: 'evt_play',
      items: [seat('stalls', 'fri', 2)],
      customer: { name: 'Zoë Kaltenbach', email: 'zoe@example.com' },
    });
    await settle(service, paid, 'paid');
    browser = await launchBrowser();
    operator = await newVisitor(browser, service.adminUrl);
    await operator.page.goto('/');
    await operator.page.getByLabel('Token').waitFor();
  });
  after(async () => {
    await browser?.close();
    await service?.close();
  });

  /** Each page with what is there when it is complete. */
  const pages = (): readonly (readonly [address: string, complete: string])[] => [
    ['#/', '.date-list'],
    ['#/events/evt_play', '[aria-label="Money by hour"]'],
    ['#/events/evt_play/seats/fri', '[data-appearance="sold"]'],
    ['#/events/evt_play/orders', '[data-order]'],
    [`#/orders/${paid.order_id}`, '.items'],
    [`#/orders/${paid.order_id}/tickets`, '.amend [type="checkbox"]'],
    ['#/events/evt_play/refunds', '.tiles'],
    ['#/events/evt_play/sale?step=60', '[aria-label="Refused, by reason"], .time-chart [role=img]'],
    ['#/service', '.time-chart [role=img]'],
    ['#/money', '[aria-label="Money by hour"]'],
    ['#/search?q=zoe', '[data-order]'],
    ['#/journal', 'tbody tr'],
    ['#/events/evt_play/doors/fri', '.tiles'],
  ];
  const open = async ([address, complete]: readonly [string, string]): Promise<void> => {
    await operator.page.goto(`/${address}`);
    await operator.page.locator(complete).first().waitFor();
  };
  const hasFocus = (text: string): Promise<void> =>
    operator.page.getByText(text, { exact: true }).and(operator.page.locator(':focus')).waitFor();

  /** With text at 200 % and on a phone; and nothing lies upon anything else. */
  const fits = async (where: string): Promise<void> => {
    const { page } = operator;
    for (const [viewport, size] of [
      [DESKTOP, '200%'],
      [PHONE, '200%'],
      [PHONE, ''],
    ] as const) {
      await page.setViewportSize(viewport);
      await page.evaluate(`document.documentElement.style.fontSize = '${size}'`);
      assert.deepEqual(await page.evaluate(UNFIT), [], `${where} ${viewport.width} ${size}`);
    }
    await page.setViewportSize(DESKTOP);
  };

  it('shuts nobody out on any page, which fits with text at 200 % and on a phone', async () => {
    await isOpenToAll(operator, 'login');
    await signIn(operator);
    for (const at of pages()) {
      await open(at);
      await isOpenByDayAndNight(operator, at[0]);
      await fits(at[0]);
    }
  });

  it('shuts nobody out in any dialog', async () => {
    const { page } = operator;
    await open(pages()[4]!);
    for (const name of ['Cancel order…', 'Give money back…', 'Record refund…', 'Erase personal data…']) {
      await page.getByRole('button', { name }).click();
      await page.getByRole('dialog').waitFor();
      await isOpenToAll(operator, name);
      await page.getByRole('button', { name: 'Leave as it is' }).click();
      await hasFocus(name);
    }
    await open(pages()[2]!);
    await page.getByRole('group', { name: /^Seats of/ }).press('Control+a');
    await page.getByRole('button', { name: /^Block \d+$/ }).click();
    await isOpenToAll(operator, 'seats picked and a question');
    await page.getByRole('button', { name: 'Leave as it is' }).click();
  });

  it('names its pages, and has the focus on the heading of one that was opened and after a change', async () => {
    const { page } = operator;
    await open(pages()[0]!);
    await page.getByRole('link', { name: 'The play' }).click();
    await page.getByRole('heading', { level: 1, name: 'The play' }).waitFor();
    await hasFocus('The play');
    assert.equal(await page.title(), 'The play · Holdfast console');
    await open(pages()[4]!);
    await page.getByRole('button', { name: 'Record refund…' }).click();
    await page.getByLabel('Amount in EUR').fill('1');
    await page.getByRole('button', { name: 'Record it' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await hasFocus('Zoë Kaltenbach');
  });

  it('has reported no error and sent no request to another host', () => operator.close());
});

/**
 * What reaches beyond the screen's edge; pairs of texts, fields and buttons whose boxes overlap, but what is fixed to
 * the edge lies above on purpose; cells that are much higher than wide, whose column has shrunk.
 */
const UNFIT = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  const wide = scrollWidth <= clientWidth ? [] : ['too wide', ...[...document.querySelectorAll('body *')]
    .filter((each) => each.getBoundingClientRect().right > innerWidth + 1
      && !each.closest('.table-frame, .seat-frame, .unseen'))];
  const tall = [...document.querySelectorAll('td')]
    .filter(({ clientHeight, clientWidth }) => clientHeight > 3 * clientWidth);
  const parts = [...document.querySelectorAll('a, button, input, select, h1, h2, h3, p, dt, dd, .tag')]
    .filter((each) => each.checkVisibility() && !each.closest('.pick-bar, .unseen, .skip, svg'))
    .flatMap((each) => [...each.getClientRects()].map((box) => ({ each, box })));
  const pairs = [];
  for (const [n, one] of parts.entries()) {
    for (const other of parts.slice(n + 1)) {
      const across = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
      const down = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
      if (across <= 2 || down <= 4 || one.each.contains(other.each) || other.each.contains(one.each)) continue;
      pairs.push(one.each, other.each);
    }
  }
  return [...wide, ...tall, ...pairs].slice(0, 8).map((each) => each.outerHTML?.slice(0, 80) ?? each);
})()`;
