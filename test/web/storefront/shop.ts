/** A service with the sample events, and visitors of its storefront in a real browser. */
import { after, before } from 'node:test';
import type { Browser, Locator } from 'playwright-core';
import { samplesFolder } from '#catalogue/files.ts';
import { launchBrowser, newVisitor, type Visitor, type VisitorOptions } from '../../fixtures/browser.ts';
import { settle, start } from '../../fixtures/checkout.ts';
import type { Answer, Json } from '../../fixtures/client.ts';
import { sample } from '../../fixtures/events.ts';
import { openService, type TestService } from '../../fixtures/service.ts';

export interface Shop {
  readonly service: TestService;
  readonly browser: Browser;
  enter(path: string, options?: ShopVisitorOptions): Promise<Visitor>;
  passTime(seconds: number): Promise<Answer>;
  /** Defines a copy of a sample under a name of its own, so that tests are independent; resolves to its path. */
  ownEvent(name: string, slug: string, overrides?: Json): Promise<string>;
  /** Pays for three singles, or other items, at the event of a path; resolves to the path of the order. */
  buy(path: string, items?: readonly Json[]): Promise<string>;
  close(): Promise<void>;
}

export interface ShopVisitorOptions extends VisitorOptions {
  /** How far the buyer's own clock is ahead of the true time. */
  readonly clockAheadMs?: number;
}

/** The longest that a page in the waiting room waits before it asks again. */
export const POLL_MS_MAX = 6_000;

type Environment = Readonly<Record<string, string>>;

export async function openShop(environment: Environment = {}): Promise<Shop> {
  const [service, browser] = await Promise.all([
    openService({ clock: 'running', environment: { SANDBOX_CLOCK: 'on', PICTURES: samplesFolder, ...environment } }),
    launchBrowser(),
  ]);
  return {
    service,
    browser,
    async enter(path, { clockAheadMs = 0, ...options } = {}) {
      const buyer = await newVisitor(browser, service.publicUrl, { reuse: true, ...options });
      if (clockAheadMs !== 0) await buyer.page.addInitScript({ content: wrongClock(clockAheadMs) });
      await buyer.open(path);
      return buyer;
    },
    passTime: (seconds) => service.call('POST', '/sandbox/clock', { body: { advance_seconds: seconds } }),
    async ownEvent(name, slug, overrides = {}) {
      await service.define(sample(name, { id: `evt_${slug.replaceAll('-', '_')}`, slug, ...overrides }));
      return `/e/${slug}`;
    },
    async buy(path, items = [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 3 }]) {
      const customer = { name: 'Ada Lovelace', email: 'ada@example.com' };
      const eventId = `evt_${path.split('/').at(-1)!.replaceAll('-', '_')}`;
      const order = await start(service, { event_id: eventId, items, customer });
      await settle(service, order, 'paid');
      return `/orders/${order.order_id}`;
    },
    async close() {
      await browser.close();
      await service.close();
    },
  };
}

/** The same for the tests of a `describe`, with what `prepare` does in it; there once they run. */
export function shopOf(prepare: (shop: Shop) => Promise<unknown> = async () => {}, environment?: Environment): Shop {
  const opened = {} as Shop;
  before(() => openShop(environment).then((shop) => prepare(Object.assign(opened, shop))));
  after(() => opened.close?.());
  return opened;
}

export const seat = (buyer: Visitor, name: string | RegExp): Locator => buyer.page.getByRole('checkbox', { name });

/** Fills in the form of the checkout. */
export async function fillIn({ page }: Visitor): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
  await page.getByLabel('E-mail').fill('ada@example.com');
  await page.getByLabel(/terms/).check();
}

/** A script that sets a page's clock ahead, as on a machine whose clock is wrong; its stopwatch stays right. */
function wrongClock(aheadMs: number): string {
  return `globalThis.Date = class extends Date {
    constructor(...given) { super(...(given.length === 0 ? [Date.now()] : given)); }
    static now() { return super.now() + ${aheadMs}; }
  };`;
}
