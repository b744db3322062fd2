import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CDPSession, Locator, Page } from 'playwright-core';
import { layoutOf } from '#client/seat-layout.ts';
import { contrast } from '#client/contrast.ts';
import { zoneColour } from '../../../src/web/seat-map/palette.ts';
import { companionSeat, loneSeats } from '../../../src/web/seat-map/adjacent.ts';
import { bowl } from '../../../bench/bowl.ts';
import { PHONE, withoutBrowser, type Visitor } from '../../fixtures/browser.ts';
import { until } from '../../fixtures/until.ts';
import { openShop, seat, type Shop } from './shop.ts';

/**
 * Remembers the texts of the canvas with the place on the plan and the height on the canvas at which they stand,
 * because a canvas has no elements.
 */
const REMEMBER_TEXTS = `globalThis.written = [];
  const write = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
    globalThis.written.push({ text, x, y: this.getTransform().transformPoint({ x, y }).y });
    return write.call(this, text, x, y);
  };`;

/**
 * Remembers what shifts, also at a press, which browsers do not count against a page. What is chosen is added to the
 * basket and to the words of the bar at the foot, and the card goes to its seat.
 */
const COUNT_ALL_SHIFTS = `globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { sources } of list.getEntries())
      for (const { node } of sources) {
        const element = node instanceof Element ? node : node?.parentElement;
        if (element && !element.closest('.basket, .map-card, .dock')) globalThis.shifts.push(element.outerHTML.slice(0, 90));
      }
  }).observe({ type: 'layout-shift' });`;

/** Resolves when what has changed was drawn. */
const TWO_FRAMES = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))';

const widthOf = async (element: Locator): Promise<number> => (await element.boundingBox())!.width;

const written = (page: Page) => page.evaluate<{ text: string; x: number; y: number }[]>('globalThis.written.splice(0)');

/** Where the middle of an element is on the screen. */
async function middleOf(element: Locator): Promise<{ x: number; y: number }> {
  const { x, y, width, height } = (await element.boundingBox())!;
  return { x: x + width / 2, y: y + height / 2 };
}

async function isWithin(inner: Locator, outer: Locator): Promise<boolean> {
  const [{ x, y }, box] = [await middleOf(inner), (await outer.boundingBox())!];
  return x > box.x && y > box.y && x < box.x + box.width && y < box.y + box.height;
}

/** Whether an element lies in the window from edge to edge. */
async function isInWindow(element: Locator): Promise<boolean> {
  const box = (await element.boundingBox())!;
  const { width, height } = element.page().viewportSize()!;
  return box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height;
}

describe('The plan of a hall', { skip: withoutBrowser }, () => {
  let shop: Shop;
  /** Somebody who wants little motion, for whom the plan flies nowhere but is there. */
  let buyer: Visitor;
  let page: Page;

  before(async () => {
    shop = await openShop();
    buyer = await shop.enter('/', { reducedMotion: 'reduce' });
    page = buyer.page;
    await page.addInitScript({ content: REMEMBER_TEXTS });
  });

  after(async () => {
    await buyer?.close();
    await shop?.close();
  });

  const card = (): Locator => page.locator('.map-card');
  const frame = (): Locator => page.locator('.seat-frame');
  const open = async (name: string, slug: string): Promise<void> => {
    await buyer.open(await shop.ownEvent(name, slug));
    await page.locator('.seat-frame canvas').waitFor();
  };
  const free = (name: string): Locator => seat(buyer, new RegExp(`${name} .*free`)).first();

  /** The texts of the next frames, in which something has changed. */
  const writtenAfter = async (change: () => Promise<unknown>) => {
    await page.evaluate(TWO_FRAMES);
    await written(page);
    await change();
    await until(async () => page.evaluate<boolean>('globalThis.written.length > 0'), 'the plan is drawn');
    return written(page);
  };

  it('names rows at both ends, or at the edge behind which an end lies, and a block as long as some of it is in view', async () => {
    await open('theatre-run', 'named');
    await free('Row H, seat 9').waitFor();
    const zoomIn = () => page.getByRole('button', { name: 'Zoom in' }).click();
    const places = (texts: readonly { text: string; x: number }[]) =>
      new Set(texts.filter(({ text }) => text === 'H').map(({ x }) => Math.round(x)));
    const whole = places(await writtenAfter(() => free('Row H, seat 9').hover()));
    assert.equal(whole.size, 2, 'row H has a name at both ends');
    for (let n = 0; n < 5; n += 1) await zoomIn();
    const { width, height } = (await frame().boundingBox())!;
    const names = await writtenAfter(() => frame().hover());
    const rows = names.filter(({ text }) => /^[A-N]$/.test(text));
    assert.ok(rows.length >= 4 && rows.every(({ x }) => x < 30 || x > width - 30), 'rows are named at the edges');
    const blocks = names.filter(({ text }) => text === 'Stalls' || text === 'Front stalls');
    assert.ok(blocks.length > 0 && blocks.every(({ y }) => y > 0 && y < height), 'the name of the block stays in view');
  });

  it('names more than a hundred blocks whole where they have room, in two lines', async () => {
    await shop.service.define(bowl(20_000));
    const wide = await shop.enter('/nowhere', { viewport: { width: 1280, height: 1000 } });
    await wide.page.addInitScript({ content: REMEMBER_TEXTS });
    await wide.open('/e/bowl');
    await wide.press('Fill the screen with the plan');
    const texts: string[] = [];
    const timesOf = (tier: string): number => texts.filter((text) => text === tier).length;
    await until(async () => {
      texts.push(...(await written(wide.page)).map(({ text }) => text));
      return ['Lower', 'Middle', 'Upper'].every((tier) => timesOf(tier) >= 36);
    }, 'the names of the blocks are written');
    await wide.close();
  });

  it('leads through its blocks in a large hall, by pointer, keyboard and legend', async () => {
    await open('erfurt-volley', 'by-blocks');
    const block = (name: string | RegExp) => page.locator('.seat-layer').getByRole('button', { name });
    await block(/^Block D · €16 · \d+ free · 10 wheelchair places$/).waitFor();
    await block('Block B · €24 to €59 ·').waitFor();
    await block('Block D').hover();
    await card()
      .getByText(/Block D · €16/)
      .waitFor();
    await block('Block D').click();
    const inD = free('Block D · .*');
    await inD.waitFor();
    await until(async () => (await widthOf(inD)) > 15, 'its seats are large enough to choose from');
    await page.getByRole('button', { name: 'All blocks' }).click();
    await inD.waitFor({ state: 'hidden' });
    await frame().focus();
    for (const key of ['ArrowRight', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
    await card().getByText('Block E').waitFor();
    await page.locator('.seat:focus').waitFor();
    await page.locator('.block-list').getByRole('button', { name: 'Block C' }).click();
    const inC = free('Block C · .*');
    await inC.waitFor();
    await until(() => isWithin(inC, frame()), 'a seat of block C is in view');
    await page.getByRole('button', { name: /^VIP/ }).click();
    await page.getByRole('button', { name: /^VIP/, pressed: true }).waitFor();
    await until(() => isWithin(free('VIP'), frame()), 'a VIP seat is in view');
  });

  it('counts in each block what is looked for alone, by price category, by kind, and by both', async () => {
    await open('erfurt-volley', 'filtered');
    const blocks = page.locator('.block-list');
    const ofBlock = (name: string | RegExp) => blocks.getByRole('button', { name });
    const chip = (name: RegExp) => page.getByRole('button', { name });
    await chip(/^Wheelchair place$/).click();
    await ofBlock('Block D €12 10 free 10 wheelchair places').waitFor();
    await ofBlock(/^Block C$/).waitFor();
    await chip(/^Kategorie I /).click();
    await ofBlock('Block E €12 10 free 10 wheelchair places').waitFor();
    await ofBlock(/^Block D$/).waitFor();
    await chip(/^Wheelchair place$/).click();
    await ofBlock(/^Block B €24 \d+ free$/).waitFor();
    await chip(/^Kategorie I /).click();
    await ofBlock(/^Block B €24 to €59 \d+ free$/).waitFor();
  });

  it('zooms towards chosen seats, else free ones, with a small overview that moves the view', async () => {
    await open('theatre-run', 'zoomed');
    const far = free('Balcony · Row DD, seat 24');
    await far.click();
    const chosen = seat(buyer, /Row DD, seat 24 .*chosen/);
    const map = page.locator('.minimap');
    assert.equal(await map.count(), 0);
    const width = await widthOf(chosen);
    for (let n = 0; n < 5; n += 1) await page.getByRole('button', { name: 'Zoom in' }).click();
    await until(async () => (await widthOf(chosen)) > width * 2, 'the plan is zoomed');
    assert.ok(await isWithin(chosen, frame()), 'the chosen seat is lost');
    const box = (await map.boundingBox())!;
    await map.click({ position: { x: box.width / 2, y: box.height * 0.3 } });
    await until(async () => !(await isWithin(chosen, frame())), 'the overview moves the view');
    await page.getByRole('button', { name: 'Down' }).click();
    await page.getByRole('button', { name: 'Show the whole hall' }).click();
    await until(() => isWithin(chosen, frame()), 'the whole hall is seen');
    await map.waitFor({ state: 'detached' });
  });

  it('shows a card in the window, with the kinds of ticket of a seat to choose by keyboard', async () => {
    await open('theatre-run', 'kinds');
    await free('Front stalls · Row A, seat 1').hover();
    await card().getByText('€69').waitFor();
    await until(() => isInWindow(card()), 'the card is in the window');
    await free('Balcony · Row AA, seat 12').hover();
    await card().getByText('With a valid student card').waitFor();
    await until(() => isInWindow(card()), 'the other card is in the window');
    assert.equal(await card().getByRole('radio').count(), 0, 'a free seat has kinds to read');
    await frame().focus();
    await page.keyboard.press('ArrowRight');
    const focused = page.locator('.seat:focus');
    for (let n = 0; n < 20 && !/Balcony/.test((await focused.getAttribute('aria-label')) ?? ''); n += 1) {
      await page.keyboard.press('ArrowDown');
    }
    await page.keyboard.press('Enter');
    await card()
      .getByRole('radio', { name: /students/ })
      .waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('ArrowDown');
    await buyer.sees('1 × Balcony, students');
    await page.keyboard.press('Escape');
    await card().waitFor({ state: 'detached' });
    await focused.waitFor();
    assert.match((await focused.getAttribute('aria-label')) ?? '', /chosen, not held yet/);
  });

  it('asks who needs a wheelchair place, offers a seat for a companion, and lets single seats go', async () => {
    await open('theatre-run', 'wheels');
    await free('Stalls · Row M, seat 2').click();
    await buyer.sees('Does somebody in a wheelchair need this place?');
    assert.equal(await seat(buyer, /chosen/).count(), 0, 'nothing is chosen before the answer');
    await buyer.press('Yes, with a companion on Stalls, row M, seat 3');
    await buyer.sees('1 × Wheelchair place');
    await buyer.sees('1 × Stalls');
    await free('Stalls · Row M, seat 22').click();
    await buyer.press('No, choose another seat');
    await free('Stalls · Row M, seat 4').click();
    await buyer.sees('2 × Stalls');
    await buyer.press('Remove Stalls, row M, seat 3');
    await free('Stalls · Row M, seat 3').waitFor();
    await buyer.sees('1 × Stalls');
  });

  it('warns of a single seat that is left beside the choice, and shifts it by one', async () => {
    await open('theatre-run', 'alone');
    await free('Front stalls · Row C, seat 2').click();
    await buyer.sees(/row C, seat 1 would stay free alone/);
    await free('Front stalls · Row C, seat 3').click();
    await buyer.press('Shift my seats by one');
    await buyer.sees('Front stalls, row C, seats 1 and 2');
    await page.getByText(/would stay free alone/).waitFor({ state: 'detached' });
    await buyer.press('Hold 2 tickets');
    await buyer.sees('Go to checkout');
  });

  it('moves nothing at a press on a seat, and leaves the focus where it was', async () => {
    const path = await shop.ownEvent('theatre-run', 'still');
    for (const options of [{ viewport: { width: 1440, height: 900 } }, PHONE]) {
      const still = await shop.enter(path, { ...options, reducedMotion: 'reduce' });
      const at = still.page;
      const first = seat(still, /Row H, seat 9 .*free/);
      await first.waitFor();
      const isPhone = 'isMobile' in options;
      if (isPhone) await still.press('Choose seats');
      else await at.locator('.seat-map').scrollIntoViewIfNeeded();
      await at.evaluate(TWO_FRAMES);
      await at.evaluate(COUNT_ALL_SHIFTS);
      const before = (await first.boundingBox())!;
      await (isPhone ? first.tap() : first.click());
      const chosen = seat(still, /Row H, seat 9 .*chosen/);
      await chosen.waitFor();
      // A second one beside leaves a single seat, about which the plan has a word to say.
      const other = seat(still, /Row H, seat 11 .*free/);
      await (isPhone ? other.tap() : other.click());
      await still.sees(/would stay free alone/);
      assert.deepEqual(await chosen.boundingBox(), before);
      assert.deepEqual(await at.evaluate('globalThis.shifts'), []);
      await still.close();
    }
  });

  it('leads the focus into the basket when the tickets are given back', async () => {
    await open('theatre-run', 'rail');
    await free('Stalls · Row H, seat 9').click();
    await buyer.press('Hold 1 ticket');
    await seat(buyer, /seat 9 .*held for you/).waitFor();
    await page.getByRole('button', { name: 'Give the tickets back' }).press('Enter');
    await buyer.sees('Nothing chosen yet.');
    await page.locator('#your-tickets h2:focus').waitFor();
  });

  it('shows the best seats that were found, closely', async () => {
    await open('theatre-run', 'best-shown');
    const small = await widthOf(free('Row A, seat 8'));
    await buyer.press('Best seats for me');
    const found = seat(buyer, /Row A, seat 8 .*chosen/);
    await found.waitFor();
    await until(async () => (await widthOf(found)) > small, 'the seats are shown closely');
    await until(() => isWithin(found, frame()), 'the seats are in view');
    await until(() => isWithin(frame(), page.locator('body')), 'the plan is in view');
  });

  it('adds the best seats to what is chosen, replaces those found before, and says which', async () => {
    await open('theatre-run', 'best-added');
    await free('Balcony · Row AA, seat 12').click();
    await free('Front stalls · Row A, seat 8').click();
    await buyer.press('Best seats for me');
    await buyer.sees('3 × Front stalls');
    await buyer.press('More: Seats together');
    await buyer.press('Best seats for me');
    await buyer.sees('4 × Front stalls');
    await buyer.sees('Balcony, row AA, seat 12');
    assert.equal(await seat(buyer, /Row A, seat 8 .*chosen/).count(), 1, 'what was chosen by hand stays');
    await page.locator('.best select').selectOption({ label: 'Stalls · €54' });
    await page.getByRole('button', { name: 'Fewer: Seats together' }).click({ clickCount: 2 });
    await buyer.press('Best seats for me');
    await page.locator('#announcements', { hasText: /1 seat found .*They replace Front stalls, row A/ }).waitFor({
      state: 'attached',
    });
    await buyer.sees('1 × Front stalls');
    await buyer.sees('1 × Stalls');
  });

  it('gives a seat the kind that is chosen above the plan, where it can be that', async () => {
    await open('theatre-run', 'kind-above');
    await free('Balcony · Row AA, seat 12').waitFor();
    await page.locator('.best select').selectOption({ label: 'Balcony, students · €15' });
    await free('Balcony · Row AA, seat 12').click();
    await buyer.sees('1 × Balcony, students');
    await free('Stalls · Row H, seat 9').click();
    await buyer.sees('1 × Stalls');
  });

  it('wears the colours of the operator where they stand out, in light and in dark', async () => {
    await open('erfurt-volley', 'colours');
    const swatch = async (name: RegExp): Promise<string> =>
      /--hue: (\S+?);?$/.exec((await page.getByRole('button', { name }).locator('svg').getAttribute('style'))!)![1]!;
    assert.equal(await swatch(/^Kategorie II/), '#1d3557');
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
    await until(async () => (await swatch(/^Kategorie II/)) !== '#1d3557', 'the dark colour is another one');
    assert.equal(await swatch(/^Kategorie I €/), '#e87722');
    await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  });

  it('lets one finger scroll the page and two move the plan, and has the card at the lower edge of a phone', async () => {
    const path = await shop.ownEvent('theatre-run', 'fingers');
    const phone = await shop.enter(path, { ...PHONE, reducedMotion: 'reduce' });
    const plan = phone.page.locator('.seat-frame');
    const some = seat(phone, /Stalls · Row H, seat 9 .*free/);
    await some.waitFor();
    await plan.scrollIntoViewIfNeeded();
    const outer = (await seat(phone, /Balcony · Row AA, seat 1 /).boundingBox())!;
    assert.ok(outer.x - (await plan.boundingBox())!.x > 16, 'there is room for the names of rows');
    // Where it was smaller than its seats, Chromium needed a second for each frame of a hall with 4,800.
    assert.ok((await phone.page.locator('.seat-layer').boundingBox())!.x < outer.x, 'the layer has all of its seats');
    const before = await widthOf(some);
    const touch = await phone.page.context().newCDPSession(phone.page);
    const { x, y } = await middleOf(plan);
    await fingers(touch, [
      [
        { x: x - 20, y },
        { x: x + 20, y },
      ],
      [
        { x: x - 60, y },
        { x: x + 60, y },
      ],
      [
        { x: x - 100, y },
        { x: x + 100, y },
      ],
    ]);
    await until(async () => (await widthOf(some)) > before * 2, 'two fingers zoom');
    await phone.page.evaluate(TWO_FRAMES);
    const scroll = (): Promise<number> => phone.page.evaluate<number>('scrollY');
    const [top, left] = [await scroll(), (await some.boundingBox())!.x];
    // It is shown for a few seconds.
    const told = phone.sees('Move the plan with two fingers');
    await fingers(
      touch,
      Array.from({ length: 8 }, (_, n) => [{ x, y: y + 100 - n * 25 }]),
    );
    await until(async () => (await scroll()) > top + 20, 'one finger scrolls the page');
    assert.equal((await some.boundingBox())!.x, left, 'and does not move the plan');
    await told;
    await phone.page.getByRole('button', { name: 'Show the whole hall' }).click();
    const balcony = seat(phone, /Balcony · Row BB, seat 12 /);
    await plan.scrollIntoViewIfNeeded();
    const small = await widthOf(balcony);
    await balcony.tap();
    await until(async () => (await widthOf(balcony)) > small, 'a tap on a small seat zooms');
    assert.match((await balcony.getAttribute('aria-label')) ?? '', /free/, 'and does not choose it');
    await balcony.tap();
    const sheet = phone.page.locator('.map-card');
    await sheet.getByRole('radio', { name: /students/ }).check();
    await phone.page.locator('.dock').getByText('1 ticket · €15').waitFor();
    await until(() => isInWindow(sheet), 'the sheet is in the window');
    const isAbove = async (): Promise<boolean> => (await balcony.boundingBox())!.y < (await sheet.boundingBox())!.y;
    await until(isAbove, 'the sheet leaves the seat in sight');
    await phone.press('Done');
    await sheet.waitFor({ state: 'detached' });
    assert.equal(await phone.overflows(), false);
    await phone.close();
  });
});

/** Puts fingers down, moves them from step to step and lifts them. */
async function fingers(
  session: CDPSession,
  steps: readonly (readonly { readonly x: number; readonly y: number }[])[],
): Promise<void> {
  for (const [n, touchPoints] of steps.entries()) {
    const type = n === 0 ? 'touchStart' : 'touchMove';
    await session.send('Input.dispatchTouchEvent', { type, touchPoints: touchPoints.map((at, id) => ({ ...at, id })) });
  }
  await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
}

describe('Seats beside others', () => {
  /** One row of seats at these places, of which two numbers are wheelchair places. */
  const row = (places: readonly number[], wheels: readonly number[] = []) =>
    layoutOf({
      id: 'hall',
      name: 'Hall',
      zones: [],
      shapes: [],
      sections: [
        {
          id: 'S',
          name: 'Stalls',
          rows: [
            {
              label: 'A',
              seats: places.map((place, n) => ({
                id: `A-${n}`,
                seat_label: String(n),
                x: place * 25,
                y: 0,
                zone_key: 'all',
                accessible: wheels.includes(n),
                restricted_view: false,
              })),
            },
          ],
        },
      ],
    });
  const all = (): boolean => true;
  const lone = (taken: readonly number[], chosen: readonly number[], places = [0, 1, 2, 3, 4, 5]) => {
    const isFree = (number: number) => !taken.includes(number) && !chosen.includes(number);
    const found = loneSeats(row(places), isFree, new Set(chosen), all);
    return { lone: found.lone, to: found.shifted && [...found.shifted.values()] };
  };

  it('are single where a choice leaves one, beside an end, an aisle or a taken seat', () => {
    assert.deepEqual(lone([], [1, 2]), { lone: [0], to: [0, 1] });
    assert.deepEqual(lone([], [0, 1]), { lone: [], to: null });
    assert.deepEqual(lone([0], [2, 3]), { lone: [1], to: [1, 2] });
    assert.deepEqual(lone([], [1, 2], [0, 1, 2, 3, 6, 7]), { lone: [0, 3], to: [0, 1] }, 'fewer than two');
    assert.deepEqual(lone([], [0, 1], [0, 1, 2, 5, 6, 7]), { lone: [2], to: null }, 'elsewhere it is one as well');
  });

  it('are not shifted to where another single seat would be left', () => {
    assert.deepEqual(lone([3], [1]), { lone: [0, 2], to: [0] }, 'one is better than two');
    assert.deepEqual(lone([2, 3], [1]), { lone: [0], to: null });
  });

  it('serve a companion next to a wheelchair place, else as near as there is one in the row', () => {
    assert.equal(
      companionSeat(row([0, 1, 2, 3], [0, 1]), 1, (number) => number > 1),
      2,
    );
    assert.equal(
      companionSeat(row([0, 1, 4, 5]), 1, (number) => number > 1),
      2,
    );
    assert.equal(
      companionSeat(row([0, 1]), 1, () => false),
      null,
    );
  });
});

describe('The colour of a zone', () => {
  it('is the operator’s own from a contrast of three to one on', () => {
    assert.equal(zoneColour('#1D3557', '#0068a8', '#ffffff'), '#1d3557');
    assert.equal(zoneColour('#1D3557', '#56b4e9', '#1d1c19'), '#56b4e9');
    assert.equal(zoneColour('#fd3', '#857000', '#ffffff'), '#857000');
    assert.equal(zoneColour('rgb(1 2 3)', '#857000', '#ffffff'), '#857000');
    assert.equal(zoneColour(null, '#857000', '#ffffff'), '#857000');
    assert.equal(Math.round(contrast('#ffffff', '#000000')), 21);
  });
});
