/** A device at a door: the page of stations in a profile of its own, paired and placed. */
import assert from 'node:assert/strict';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { newVisitor, PHONE, type Visitor } from '../../fixtures/browser.ts';
import type { MadeStation } from '../../fixtures/doors.ts';
import type { TestService } from '../../fixtures/service.ts';

export interface Device extends Visitor {
  /** Types a code as a scanner does; resolves to the verdict that is shown. */
  scan(code: string): Promise<string>;
  /** Touches a verdict away, or waits until it goes by itself. */
  next(): Promise<void>;
  /** Resolves once the page is in a state. */
  is(state: string): Promise<void>;
  /** Cuts the network, or mends it. */
  cut(isCut: boolean): Promise<void>;
  /** What the status bar says under a heading. */
  status(heading: string): Promise<string>;
  /** Everything in the browser's databases, caches and stores, as text. */
  stored(): Promise<string>;
}

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

export async function newDevice(
  browser: Browser,
  service: Pick<TestService, 'publicUrl'>,
  options: BrowserContextOptions & { readonly origin?: string } = {},
): Promise<Device> {
  const { origin = service.publicUrl, ...contextOptions } = options;
  // A request without a network, or that is refused, is no error of the page.
  const expected = /status of (?:4\d\d|503)|net::ERR_/;
  const visitor = await newVisitor(browser, origin, { ...PHONE, ...contextOptions, expected });
  const { page } = visitor;
  const verdict = page.locator('html[data-verdict]');
  const device: Device = {
    ...visitor,
    async scan(code) {
      await page.evaluate(`for (const key of [...${JSON.stringify(code)}, 'Enter']) {
        document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
      }`);
      await verdict.waitFor();
      return (await verdict.getAttribute('data-verdict'))!;
    },
    async next() {
      const shown = page.getByRole('alertdialog');
      if ((await shown.count()) === 0) return;
      const isGood = await shown.evaluate((element: { readonly className: string }) => /good/.test(element.className));
      if (!isGood) await shown.click();
      await shown.waitFor({ state: 'detached' });
    },
    is: (state) => page.locator(`html[data-state="${state}"]`).waitFor(),
    cut: (isCut) => page.context().setOffline(isCut),
    status: (heading) => page.locator('.status > div', { hasText: heading }).last().locator('dd').innerText(),
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
export async function placeDevice({ page }: Device, door = 'Main door', date = /Eve/): Promise<void> {
  const dates = page.locator('select[name="date"]');
  await dates.waitFor();
  const options = await dates.locator('option').allInnerTexts();
  await dates.selectOption({ label: options.find((each) => date.test(each))! });
  await page.locator('select[name="door"]').selectOption({ label: door });
  await page.locator('form button').first().click();
  await page.locator('.where').waitFor();
  // The page hears the keys of a scanner once it was painted.
  await page.evaluate(
    'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50))))',
  );
}
