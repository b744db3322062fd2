import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sample } from '../../fixtures/events.ts';
import { withoutBrowser, type Visitor } from '../../fixtures/browser.ts';
import { fillIn, shopOf } from './shop.ts';

const HOUR_MS = 3_600_000;
const KNOWN_TO_S = 1;

describe('A buyer whose own clock is an hour wrong', { skip: withoutBrowser }, () => {
  const shop = shopOf();

  /**
   * Waits for a countdown between two moments, in seconds before its end. A page may know the service's time to the
   * second only, and shows as much more.
   */
  const countsDown = async ({ page }: Visitor, fromSeconds: number, toSeconds: number): Promise<void> => {
    const timer = page.getByRole('timer').first();
    await timer.waitFor();
    const parts = (await timer.innerText()).split(':').map(Number);
    const left = parts.reduce((sum, part) => sum * 60 + part, 0);
    assert.ok(left <= fromSeconds + KNOWN_TO_S && left >= toSeconds, `${parts.join(':')} is left`);
  };

  for (const [words, clockAheadMs] of [
    ['ahead', HOUR_MS],
    ['behind', -HOUR_MS],
  ] as const) {
    it(`sees how long tickets are held, on the event’s page and at the checkout, ${words}`, async () => {
      const path = await shop.ownEvent('club-night', `clock-${words}`);
      const buyer = await shop.enter(path, { clockAheadMs });
      await buyer.press('More: Single, Regular');
      await buyer.press('Hold 1 ticket');
      await countsDown(buyer, 600, 570);
      await buyer.press('Go to checkout');
      await countsDown(buyer, 600, 570);
      // A page that begins here has no stream of the event that would say the time.
      await buyer.page.reload();
      await countsDown(buyer, 600, 560);
      await fillIn(buyer);
      await buyer.close();
    });
  }

  it('sees when the waiting room opens, and how long a turn lasts', async () => {
    const opensAt = new Date((await now()) + 900_000).toISOString();
    const path = await shop.ownEvent('lighthouse-rush', 'clock-draw', { waiting_room_opens_at: opensAt });
    const early = await shop.enter(`${path}/queue`, { clockAheadMs: HOUR_MS });
    await early.sees('You are here in time');
    await countsDown(early, 900, 860);
    await early.close();
    const open = await shop.ownEvent('lighthouse-rush', 'clock-turn', { waiting_room_minutes: 5 });
    const buyer = await shop.enter(`${open}/queue`, { clockAheadMs: HOUR_MS });
    await buyer.sees('It is your turn.');
    await countsDown(buyer, 300, 270);
    await buyer.close();
  });

  it('reads in the list when a sale begins that has not begun', async () => {
    const { sellingStages: stages } = sample('club-night') as { sellingStages: Record<string, unknown>[] };
    const startsAt = new Date((await now()) + 2 * HOUR_MS).toISOString();
    await shop.ownEvent('club-night', 'clock-sale', {
      name: 'Later Shift',
      sellingStages: stages.map((stage) => ({ ...stage, starts_at: startsAt, ends_at: null })),
    });
    const { events } = (await shop.service.get('/api/events/public')).body as { events: Record<string, unknown>[] };
    assert.equal(events.find(({ slug }) => slug === 'clock-sale')!['sale_starts_at'], startsAt);
    const buyer = await shop.enter('/', { clockAheadMs: -HOUR_MS });
    const card = buyer.page.getByRole('article').filter({ hasText: 'Later Shift' });
    await card.getByText(/on sale from /).waitFor();
    await buyer.close();
  });

  it('sees the time in the example', async () => {
    await shop.service.define(sample('club-night'));
    const buyer = await shop.enter('/example', { clockAheadMs: -HOUR_MS });
    await buyer.press('Night Shift');
    await buyer.page.getByLabel(/Single · €19/).fill('1');
    await buyer.press('Hold');
    const text = await buyer.page.getByText(/Held for another \d+ s/).innerText();
    const left = Number(/\d+/.exec(text)![0]);
    assert.ok(left <= 600 + KNOWN_TO_S && left >= 570, text);
    await buyer.close();
  });

  it('sees the time of a service that is elsewhere in time', async () => {
    await shop.passTime(7_200);
    const path = await shop.ownEvent('club-night', 'clock-later');
    const buyer = await shop.enter(path);
    await buyer.press('More: Single, Regular');
    await buyer.press('Hold 1 ticket');
    await buyer.press('Go to checkout');
    await buyer.page.reload();
    await countsDown(buyer, 600, 560);
    await buyer.close();
  });

  it('is told whose time a date has, where clocks at the event show another', async () => {
    const path = await shop.ownEvent('theatre-run', 'clock-abroad');
    const abroad = await shop.enter(path, { timezoneId: 'America/New_York' });
    await abroad.sees('Central European Time');
    await abroad.close();
    const near = await shop.enter(path);
    await near.sees('Fri, 6 October 2028, 19:30');
    assert.equal(await near.page.getByText('European Time').count(), 0);
    await near.close();
  });

  const now = async (): Promise<number> => Date.parse(String((await shop.passTime(0)).body['now']));
});
