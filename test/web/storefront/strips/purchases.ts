/**
 * Purchases as a buyer makes them, from the page of an event to their end, with a stop in each state: for pictures
 * (`main.ts`) and for tests (`strips.test.ts`).
 *
 *  1. A purchase has an event of its own. One that moves the service's clock ends the holds of the others: purchases
 *     run one after another.
 *  2. What is pressed is named by the texts of the buyer's language.
 *  3. Nobody waits for real minutes: the service's clock is moved.
 */
import type { Language } from '#texts/locale/language.ts';
import { SERVED_TEXTS } from '#texts/served.ts';
import { TEXTS } from '#texts/texts.ts';
import type { Visitor } from '../../../fixtures/browser.ts';
import type { Json } from '../../../fixtures/client.ts';
import { until } from '../../../fixtures/until.ts';
import { POLL_MS_MAX, seat, type Shop, type ShopVisitorOptions } from '../shop.ts';

interface Player {
  readonly shop: Shop;
  readonly language: Language;
  /** The device and its scheme. */
  readonly options: ShopVisitorOptions;
  /** Tells the events of several players at one service apart: lower case, with hyphens. */
  readonly name: string;
  /** Called in each state, with a short name of it. */
  readonly at: (buyer: Visitor, state: string) => Promise<void>;
}

/** Each purchase by its name, in the order in which they are played. */
export const purchases: Readonly<Record<string, (player: Player) => Promise<void>>> = {
  seats: buySeats,
  'waiting-room': buyThroughWaitingRoom,
  'ran-out': runOutOfTime,
  taken: loseSeat,
  declined: payInVain,
};

async function buySeats(player: Player): Promise<void> {
  const { buyer, at, words } = await open(player, 'erfurt-volley', 'seats');
  const { page } = buyer;
  await at('event');
  await showPlan(buyer, player);
  await at('blocks');
  await page
    .locator('.seat-layer')
    .getByRole('button', { name: /Block E/ })
    .click();
  await seat(buyer, freeSeat(player, 'Block E', 9, 9)).waitFor();
  await at('block');
  await take(buyer, player, 'Block E', 9, 9);
  await at('one seat');
  await take(buyer, player, 'Block E', 9, 10);
  await at('two seats');
  await leavePlan(buyer);
  await at('basket');
  const answer = await holdBack(buyer);
  await buyer.press(words.basket.holdForNow(2));
  await page.locator('[aria-busy=true]').first().waitFor();
  await at('holding');
  answer();
  await buyer.sees(words.basket.toCheckout);
  await at('held');
  await buyer.press(words.basket.toCheckout);
  await page.getByLabel(words.checkout.email).waitFor();
  await at('checkout');
  await buyer.press(orderButton(player));
  await buyer.sees(words.problems.name);
  await at('errors');
  await page.context().setOffline(true);
  await buyer.sees(words.frame.offline);
  await at('no network');
  await page.context().setOffline(false);
  await fillIn(buyer, player);
  await at('filled in');
  await order(buyer, player);
  await at('payment');
  await pay(buyer, player);
  await at('order');
  await page.locator('.ticket').last().scrollIntoViewIfNeeded();
  await at('tickets');
  await buyer.close();
}

async function buyThroughWaitingRoom(player: Player): Promise<void> {
  const { shop } = player;
  const asking = { ...player, options: { ...player.options, ownClock: true } };
  const { buyer, at, words, eventId } = await open(asking, 'lighthouse-rush', 'line', { waiting_room_rate: 1 });
  const { page } = buyer;
  for (const person of ['first', 'second']) {
    await shop.service.call('POST', '/api/checkout/queue', {
      body: { event_id: eventId, session_key: `${person}-buyer` },
    });
  }
  await at('event');
  await page.getByRole('button', { name: words.basket.more('Field') }).click({ clickCount: 2 });
  await at('chosen');
  await buyer.press(words.basket.joinWaitingRoom);
  await buyer.sees(words.queue.yourPlace);
  await at('in line');
  await buyer.press(words.queue.leave);
  await at('leaving');
  await buyer.press(words.queue.stay);
  await shop.passTime(130);
  await buyer.later(POLL_MS_MAX);
  await buyer.sees(words.basket.continueWith(2));
  await at('turn');
  await buyer.press(words.basket.continueWith(2));
  await page.getByLabel(words.checkout.email).waitFor();
  await at('checkout');
  await fillIn(buyer, player);
  await order(buyer, player);
  await at('payment');
  await pay(buyer, player);
  await at('order');
  await buyer.close();
}

async function runOutOfTime(player: Player): Promise<void> {
  const { shop } = player;
  const { buyer, at, words, path } = await open(player, 'theatre-run', 'ran-out');
  const { page } = buyer;
  await buyer.press(words.plan.best.find);
  await buyer.sees(words.basket.continueWith(2));
  await at('best seats');
  const answer = await holdBack(buyer);
  await buyer.press(words.basket.continueWith(2));
  await page.locator('[aria-busy=true]').first().waitFor();
  await at('going on');
  answer();
  await page.getByLabel(words.checkout.email).waitFor();
  await fillIn(buyer, player);
  await shop.passTime(12 * 60 - 50);
  await lookAgain(buyer);
  await page.locator('.urgent:visible').first().waitFor();
  await at('last minute');
  // The page notices the end by its own clock.
  await shop.passTime(48);
  await lookAgain(buyer);
  await buyer.sees(words.nothingHeld.timeRanOut);
  await at('ran out at the checkout');
  await buyer.press(words.nothingHeld.holdAgain(2));
  await page.getByLabel(words.checkout.email).waitFor();
  await at('held again');
  await buyer.open(path);
  await buyer.sees(words.basket.toCheckout);
  await shop.passTime(13 * 60);
  await lookAgain(buyer);
  await buyer.sees(words.event.ranOut);
  await at('ran out at the event');
  await buyer.close();
}

async function loseSeat(player: Player): Promise<void> {
  const { buyer, at, words, eventId } = await open(player, 'theatre-run', 'taken');
  await showPlan(buyer, player);
  await take(buyer, player, 'Stalls', 'H', 9);
  await take(buyer, player, 'Stalls', 'H', 10);
  await at('two seats');
  const item = { ticket_type_id: 'stalls', selling_stage_id: 'general', performance_id: 'premiere', quantity: 1 };
  await player.shop.service.call('POST', '/api/checkout/holds', {
    body: { event_id: eventId, session_key: 'somebody-quicker', items: [{ ...item, seat_ids: ['stalls-H-9'] }] },
  });
  await buyer.sees(words.basket.noThanks);
  await at('taken in the plan');
  await leavePlan(buyer);
  await at('taken in the basket');
  await buyer.close();
}

async function payInVain(player: Player): Promise<void> {
  const { buyer, at, words, path } = await open(player, 'theatre-run', 'declined');
  const served = SERVED_TEXTS[player.language];
  await buyer.press(words.plan.best.find);
  await buyer.press(words.basket.continueWith(2));
  await buyer.page.getByLabel(words.checkout.email).waitFor();
  await fillIn(buyer, player);
  await order(buyer, player);
  await buyer.press(served.sandbox.decline);
  await buyer.page.waitForURL(/\/orders\//);
  await at('declined');
  await buyer.open(`${path}/checkout`);
  await buyer.sees(words.nothingHeld.declined);
  await at('waiting order');
  await buyer.open(path);
  await buyer.sees(words.ownOrder.pay);
  await at('event');
  await buyer.press(words.ownOrder.pay);
  await buyer.press(/€/);
  await buyer.page.waitForURL(/\/sandbox\/pay\//);
  await at('payment');
  await pay(buyer, player);
  await at('order');
  await buyer.close();
}

// ── what a buyer does ────────────────────────────────────────────────────────────────────────────────────────────────

/** Opens a copy of a sample event (rule 1). */
async function open(player: Player, sample: string, purchase: string, overrides: Json = {}) {
  const { shop, language, options } = player;
  const slug = `${player.name}-${purchase}`;
  const path = await shop.ownEvent(sample, slug, overrides);
  const locale = language === 'de' ? 'de-DE' : 'en-GB';
  const expected = /status of 4\d\d|ERR_INTERNET_DISCONNECTED/;
  const buyer = await shop.enter(path, { locale, expected, reducedMotion: 'reduce', ...options });
  await buyer.page.waitForLoadState();
  const at = async (state: string): Promise<void> => {
    await buyer.page.evaluate(AT_REST);
    await player.at(buyer, state);
  };
  return { buyer, at, path, words: TEXTS[language], eventId: `evt_${slug.replaceAll('-', '_')}` };
}

/** Resolves when nothing moves any more that comes to rest. */
const AT_REST = `Promise.allSettled(document.getAnimations()
  .filter((each) => each.effect.getTiming().iterations !== Infinity)
  .map(({ finished }) => finished)).then(() => new Promise(requestAnimationFrame)).then(() => {})`;

const isNarrow = ({ page }: Visitor): boolean => page.viewportSize()!.width <= 1_024;

/** Comes back to the page, whose clock then follows the service's (rule 3). */
const lookAgain = ({ page }: Visitor) => page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");

/** On a phone the plan fills the screen. */
async function showPlan(buyer: Visitor, { language }: Player): Promise<void> {
  const frame = buyer.page.locator('.seat-frame');
  await frame.waitFor();
  if (isNarrow(buyer)) await buyer.press(TEXTS[language].event.chooseSeats);
  else await buyer.page.locator('.seat-map').scrollIntoViewIfNeeded();
}

/** Has holds wait until what it resolves to is called. */
async function holdBack({ page }: Visitor): Promise<() => void> {
  const answered = Promise.withResolvers<void>();
  await page.route('**/api/checkout/holds', (route) => answered.promise.then(() => route.continue()));
  return answered.resolve;
}

/** Goes from a plan that fills the screen to the basket. */
async function leavePlan(buyer: Visitor): Promise<void> {
  if (isNarrow(buyer)) await buyer.page.locator('.dock-what').click();
}

const freeSeat = ({ language }: Player, block: string, row: number | string, place: number): RegExp => {
  const { plan } = TEXTS[language];
  return new RegExp(`${block} · .*${plan.Row} ${row}, ${plan.seat} ${place} .*${plan.states.free}`, 'i');
};

/** Chooses a free seat: a tap on a small one zooms in first. */
async function take(buyer: Visitor, player: Player, block: string, row: number | string, place: number): Promise<void> {
  const { plan } = TEXTS[player.language];
  await seat(buyer, freeSeat(player, block, row, place)).waitFor();
  const wanted = seat(buyer, new RegExp(`${block} · .*${plan.Row} ${row}, ${plan.seat} ${place} `, 'i'));
  const press = () => (isNarrow(buyer) ? wanted.tap() : wanted.click());
  const widthOf = async (): Promise<number> => (await wanted.boundingBox())!.width;
  const width = await widthOf();
  await press();
  await until(
    async () => (await wanted.isChecked()) || (await widthOf()) > width,
    'the seat is chosen or comes closer',
  );
  if (!(await wanted.isChecked())) await press();
  await until(() => wanted.isChecked(), 'the seat is chosen');
}

async function fillIn({ page }: Visitor, { language }: Player): Promise<void> {
  const { checkout } = TEXTS[language];
  await page.getByLabel(checkout.name, { exact: true }).fill('Ada Lovelace');
  await page.getByLabel(checkout.email).fill('ada@example.com');
  await page.getByRole('checkbox').last().check();
}

/** The words of the button that orders; in English the amount follows. */
const orderButton = ({ language }: Player): RegExp => (language === 'de' ? /Zahlungspflichtig/ : /^Order and pay/);

async function order(buyer: Visitor, player: Player): Promise<void> {
  await buyer.press(orderButton(player));
  await buyer.page.waitForURL(/\/sandbox\/pay\//);
}

async function pay(buyer: Visitor, { language }: Player): Promise<void> {
  await buyer.press(SERVED_TEXTS[language].sandbox.pay);
  await buyer.page.waitForURL(/\/orders\/ord_/);
}
