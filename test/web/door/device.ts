/** A device at a door: the page of stations in a profile of its own, with a clock of its own, paired and placed. */
import assert from 'node:assert/strict';
import type { Browser, BrowserContextOptions, Request } from 'playwright-core';
import { newVisitor, PHONE, type Visitor } from '../../fixtures/browser.ts';
import type { MadeStation } from '../../fixtures/doors.ts';
import { SECOND, type TestService } from '../../fixtures/test-service.ts';
import { until } from '../../fixtures/until.ts';

export interface Device extends Visitor {
  /** Types a code as a scanner does. */
  type(code: string): Promise<void>;
  /** The verdict that is shown of what is done. It stays until `next`, because the page's clock is stopped. */
  verdict(act: () => Promise<void>): Promise<string>;
  /** The verdict that is shown of a code that is typed. */
  scan(code: string): Promise<string>;
  /** Resolves once the verdict that is shown says this. */
  says(words: RegExp): Promise<void>;
  /** Touches a verdict away that does not go by itself. */
  next(): Promise<void>;
  /** Resolves once the page is in a state. */
  is(state: string): Promise<void>;
  /** Cuts the network, or mends it. */
  cut(isCut: boolean): Promise<void>;
  /** Resolves once the status bar says this under a heading. */
  status(heading: string, value: number): Promise<void>;
  /** Has the next round begin, in which the station sends and syncs. */
  round(): Promise<void>;
  /** Everything in the browser's databases, caches and stores, as text. */
  stored(): Promise<string>;
}

const ROUND_MS = 5 * SECOND;
/** After which what lets in or out goes by itself. */
const SHOWN_MS = 1_500;
/** After which what was drawn was painted too. */
const PAINTED_MS = 100;

const STORED = `(async () => {
  const found = [JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), document.cookie];
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys()) {
      found.push(request.url);
      if (/json|html|plain/.test((await cache.match(request)).headers.get('content-type'))) {
        found.push(await (await cache.match(request)).text());
      }
    }
  }
  for (const { name } of await indexedDB.databases()) {
    const database = await new Promise((resolve) => {
      const opening = indexedDB.open(name);
      opening.onsuccess = () => resolve(opening.result);
    });
    for (const store of database.objectStoreNames) {
      const all = database.transaction(store).objectStore(store).getAll();
      await new Promise((resolve) => (all.onsuccess = resolve));
      found.push(store + JSON.stringify(all.result));
    }
    database.close();
  }
  return found.join('\\n');
})()`;

/** With the worker that keeps the page for when there is no network, which takes a fifth of what a device takes. */
export const KEEPS_PAGE = { serviceWorkers: 'allow' } as const;

export async function newDevice(
  browser: Browser,
  service: Pick<TestService, 'publicUrl'>,
  options: BrowserContextOptions & { readonly origin?: string } = {},
): Promise<Device> {
  const { origin = service.publicUrl, ...contextOptions } = options;
  // A request without a network, or that is refused, is no error of the page.
  const expected = /status of (?:4\d\d|503)|net::ERR_|Service Worker registration blocked/;
  const known = { ...PHONE, serviceWorkers: 'block', ...contextOptions } as const;
  const visitor = await newVisitor(browser, origin, { ...known, expected, ownClock: true });
  const { page, later } = visitor;
  const shown = page.getByRole('alertdialog');
  const underWay = new Set<Request>();
  page.on('request', (request) => underWay.add(request));
  page.on('requestfinished', (request) => underWay.delete(request));
  page.on('requestfailed', (request) => underWay.delete(request));
  const device: Device = {
    ...visitor,
    type: (code) =>
      page.evaluate(`for (const key of [...${JSON.stringify(code)}, 'Enter']) {
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
      }`),
    async verdict(act) {
      await visitor.stop();
      await act();
      await shown.waitFor();
      await later(PAINTED_MS);
      return (await page.locator('html').getAttribute('data-verdict'))!;
    },
    scan: (code) => device.verdict(() => device.type(code)),
    says: (words) => shown.filter({ hasText: words }).waitFor(),
    async next() {
      await later(SHOWN_MS);
      if ((await shown.count()) > 0) await shown.dispatchEvent('click');
      await page.clock.resume();
      await page.locator('html:not([data-verdict])').waitFor();
    },
    is: (state) => page.locator(`html[data-state="${state}"]`).waitFor(),
    async cut(isCut) {
      await page.context().setOffline(isCut);
      // A request that was sent before is still answered, and could tell of what happens after.
      if (isCut) await until(() => underWay.size === 0);
    },
    status: (heading, value) =>
      page.locator('main > .status > div', { hasText: new RegExp(`^${heading}\\s*${value}$`) }).waitFor(),
    round: () => later(ROUND_MS),
    stored: () => page.evaluate(STORED),
  };
  return device;
}

/** Pairs a device by the address that the console shows, and places it. */
export async function pairDevice(
  device: Device,
  { token }: MadeStation,
  door = 'Main door',
  date = /Eve/,
): Promise<void> {
  const { page } = device;
  await device.open(`/door#${token}`);
  await device.is('ready');
  assert.ok(!page.url().includes(token));
  await placeDevice(device, door, date);
}

/** Places a device that is asked where it stands. */
export async function placeDevice({ page, later }: Device, door = 'Main door', date = /Eve/): Promise<void> {
  const dates = page.locator('select[name="date"]');
  await dates.waitFor();
  const options = await dates.locator('option').allInnerTexts();
  await dates.selectOption({ label: options.find((each) => date.test(each))! });
  await page.locator('select[name="door"]').selectOption({ label: door });
  await page.locator('form button').first().click();
  await page.locator('.where').waitFor();
  // The page hears the keys of a scanner once it was painted.
  await later(PAINTED_MS);
}
