import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isOpenByDayAndNight } from '../../../fixtures/axe.ts';
import { PHONE, withoutBrowser, type Visitor } from '../../../fixtures/browser.ts';
import { shopOf } from '../shop.ts';
import { purchases } from './purchases.ts';

/** Pixels of the bar with the next step: one line of words on a button, or two. */
const BAR_HEIGHT_MAX = 76;

/** States that are a page of their own, which nobody comes back to. */
const AT_TOP =
  /^(event|checkout|payment|order|declined|waiting order|in line|turn|ran out at the checkout|held again)$/;

/** States with the parts of one before, in other words or further down. */
const LIKE_ANOTHER = /^(one seat|filled in|tickets)$/;

/** What a buyer on a phone would see as wrong, in words; runs in the page. */
const DEFECTS = `(() => {
  const found = [];
  const isSeen = (each) => each.checkVisibility({ visibilityProperty: true }) && each.closest('[inert]') === null;
  const bar = document.querySelector('.dock, .actions.next');
  const box = bar?.getBoundingClientRect();
  if (bar !== null && Math.abs(box.bottom - innerHeight) > 1) found.push('the bar does not stand at the foot');
  if (bar?.matches('.dock') && box.height > ${BAR_HEIGHT_MAX} && bar.querySelector('.notice') === null) found.push('the bar is ' + box.height + ' high');
  if (document.querySelector('.map-card') !== null && document.querySelector('.map-area.full') === null) found.push('a card lies over the page');
  const frame = document.querySelector('.seat-frame');
  if (frame !== null && (frame.scrollTop !== 0 || frame.scrollLeft !== 0)) found.push('the plan is scrolled beside its picture');
  for (const each of document.querySelectorAll('button, a, h1, h2, p, label, .notice')) {
    if (isSeen(each) && each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1 && !each.closest('.unseen')) found.push('clipped: ' + each.innerText);
  }
  const due = document.querySelector('.due');
  if (due !== null && due.getClientRects().length > 0 && due.getBoundingClientRect().height > 40) found.push('the amount is broken');
  return found;
})()`;

/** What the bar says of a buyer in line. */
const LINE = /^Nr\. [1-3] in der Schlange.*Minuten?$/;

/** All but one in German, whose words are longer. */
const languageOf = (purchase: string): 'de' | 'en' => (purchase === 'declined' ? 'en' : 'de');

/** How the step in the bar looks and where it stands. */
const STEP = `(() => {
  const step = document.querySelector('.dock .button');
  const { x, y, width, height } = step.getBoundingClientRect();
  const { color } = getComputedStyle(step);
  return { place: { x, y, width, height }, color };
})()`;

interface Step {
  readonly place: unknown;
}

describe('Purchases on a phone', { skip: withoutBrowser }, () => {
  /** What axe was shown. */
  const looked = new Set<string>();
  const shop = shopOf();

  for (const [purchase, play] of Object.entries(purchases)) {
    const language = languageOf(purchase);
    it(`shut nobody out and hide nothing, in each state, by day and by night: ${purchase}, ${language}`, async () => {
      let states = 0;
      let step: Step | undefined;
      const at = async (buyer: Visitor, state: string): Promise<void> => {
        states += 1;
        const { page } = buyer;
        assert.equal(await buyer.overflows(), false, state);
        assert.deepEqual(await page.evaluate(DEFECTS), [], state);
        if (AT_TOP.test(state)) assert.equal(await page.evaluate('scrollY'), 0, `${state} opens at its top`);
        if (/^(basket|best seats)$/.test(state)) step = await page.evaluate<Step>(STEP);
        if (state === 'holding') {
          const { place } = await page.evaluate<Step>(STEP);
          assert.deepEqual(place, step!.place, 'nothing moves while a button is busy');
          await isAloneBusy(buyer, '.basket .actions');
        }
        if (state === 'going on') {
          assert.deepEqual(await page.evaluate(STEP), step, 'a busy button neither moves nor pales');
          await isAloneBusy(buyer, '.dock');
        }
        if (state === 'in line') await page.locator('.dock-what', { hasText: LINE }).waitFor();
        if (state === 'turn') await page.locator('.dock .bar-clock').waitFor();
        if (state === 'declined') {
          await page.locator('.due', { hasText: /^\s*\d?\d:\d\d$/ }).waitFor();
        }
        if (state === 'held again') await page.locator('h1:focus').waitFor();
        if (state === 'no network') await isInSight(buyer, '.offline');
        if (state === 'ran out at the event') await page.locator('.dock').getByText(/^2 /).waitFor();
        if (LIKE_ANOTHER.test(state)) return;
        // The same page in two purchases, but for those of their events.
        const name = state === 'event' ? `event of ${purchase}` : state;
        if (looked.has(name)) return;
        looked.add(name);
        // A thousand seats are looked at once.
        await isOpenByDayAndNight(buyer, state, state === 'block' ? undefined : '.seat-layer');
      };
      await play({ shop, language, options: PHONE, name: language, at });
      assert.ok(states > 2);
    });
  }
});

/** The one busy button stands in `place`; the other one for what is chosen only cannot be pressed. */
async function isAloneBusy({ page }: Visitor, place: string): Promise<void> {
  assert.equal(await page.locator(`${place} [aria-busy=true] .spinner`).count(), 1);
  assert.equal(await page.locator('[aria-busy=true], .spinner').count(), 2);
  assert.equal(await page.locator('.actions [aria-disabled=true], .dock .button[aria-disabled=true]').count(), 2);
}

async function isInSight({ page }: Visitor, selector: string): Promise<void> {
  const { y, height } = (await page.locator(selector).boundingBox())!;
  assert.ok(y >= 0 && y + height <= page.viewportSize()!.height, `${selector} is out of sight`);
}
