import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { taskTimes } from '../../../bench/shop/processor-tasks.ts';
import { scoreOf } from '../../../bench/shop/score.ts';
import { PHONE, withoutBrowser } from '../../fixtures/browser.ts';
import { shopOf } from './shop.ts';

/** Of a phone whose processor is so many times slower than this machine's. */
const SLOWER = 4;
const TASK_MS_MAX = 200;
/** Of total blocking time: what tasks take beyond 50 ms each. */
const BLOCKING_MS_MAX = 200;

/** Resolves when a page has had nothing to do for three times, between which it may have found something. */
const IDLE = `(async () => {
  for (let times = 0; times < 3; times += 1) {
    await new Promise((done) => setTimeout(done, 50));
    await new Promise((done) => requestIdleCallback(done));
  }
})()`;

describe('The pages of a purchase on a slow phone', { skip: withoutBrowser }, () => {
  const shop = shopOf();

  it('keep the main thread busy for at most 200 ms at a time, and block it for as long in all', async () => {
    const event = await shop.ownEvent('club-night', 'weight-event');
    const hall = await shop.ownEvent('erfurt-volley', 'weight-hall');
    const buyer = await shop.enter(hall, PHONE);
    await buyer.press('Best seats for me');
    await buyer.press('Continue with 2 tickets');
    await buyer.page.getByLabel('E-mail').waitFor();
    for (const [path, shown] of [
      [event, 'Crew of four'],
      [hall, 'Best seats for me'],
      [`${hall}/checkout`, 'Order and pay €48'],
      [await shop.buy(event), 'You are going'],
    ] as const) {
      const tasks = await taskTimes(shop.browser, buyer.page, async () => {
        await buyer.open(path);
        await buyer.sees(shown);
        await buyer.page.evaluate(IDLE);
      });
      const slow = tasks.map((ms) => ms * SLOWER);
      const longest = Math.max(0, ...slow);
      const blocking = slow.reduce((sum, ms) => sum + Math.max(0, ms - 50), 0);
      assert.ok(longest > 0, `${path}: no task was seen`);
      assert.ok(longest <= TASK_MS_MAX, `${path}: a task of ${longest.toFixed(0)} ms`);
      assert.ok(blocking <= BLOCKING_MS_MAX, `${path}: blocked for ${blocking.toFixed(0)} ms`);
    }
    await buyer.close();
  });
});

describe('The score of a page', () => {
  it('goes through the points of Lighthouse: 90 at p10 of every figure, 50 at the medians, 100 for nothing', () => {
    const p10 = { fcp: 1_800, lcp: 2_500, blocking: 200, cls: 0.1 };
    const median = { fcp: 3_000, lcp: 4_000, blocking: 600, cls: 0.25 };
    // The largest paint stands in for the speed index, whose points are later: that part of 10 scores more.
    assert.ok(Math.abs(scoreOf(p10) - 90) < 1, String(scoreOf(p10)));
    assert.ok(Math.abs(scoreOf(median) - 53) < 1, String(scoreOf(median)));
    assert.equal(Math.round(scoreOf({ fcp: 0, lcp: 0, blocking: 0, cls: 0 })), 100);
    assert.ok(scoreOf({ ...p10, blocking: 300 }) < scoreOf(p10));
  });
});
