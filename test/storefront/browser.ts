/**
 * A browser for tests of the pages: Debian's Chromium, one process for all, a context of its own for each buyer.
 *
 * Every page is watched: an error in its console, an error in its code or a request to another host fails the test that
 * opened it, when it says `close`. Answers of the API that are a no (4xx) are no errors of the page.
 */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const CHROMIUM = '/usr/bin/chromium';

/** Why tests in a browser are skipped, or false when they are not. */
export const withoutBrowser: string | false = existsSync(CHROMIUM)
  ? false
  : `there is no ${CHROMIUM}: apt-get install chromium brings it`;

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } as const;

export interface Buyer {
  readonly page: Page;
  /** Opens a page of the shop by its path. */
  open(path: string): Promise<void>;
  /** Presses the button or link with this name. */
  press(name: string | RegExp): Promise<void>;
  /** Waits until this text is to be seen. */
  sees(text: string | RegExp): Promise<void>;
  /** Whether something reaches beyond the right edge of the screen. */
  overflows(): Promise<boolean>;
  /** Goes away; throws what went wrong in the pages. */
  close(): Promise<void>;
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
}

/** A buyer with an empty browser; `hosts` are the ones that may be spoken to. */
export async function newBuyer(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions & { readonly hosts?: readonly string[] } = {},
): Promise<Buyer> {
  const { hosts = [new URL(origin).host], ...contextOptions } = options;
  const context = await browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', ...contextOptions });
  context.setDefaultTimeout(20_000);
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on('pageerror', (error) => troubles.push(`error: ${error.message}`));
  page.on('console', (message) => {
    const isRefusal = /status of 4\d\d/.test(message.text());
    if (message.type() === 'error' && !isRefusal) troubles.push(`console: ${message.text()}`);
  });
  page.on('request', (request) => {
    const { host, protocol } = new URL(request.url());
    if (protocol.startsWith('http') && !hosts.includes(host)) troubles.push(`request to ${host}`);
  });
  return {
    page,
    open: async (path) => void (await page.goto(origin + path)),
    async press(name) {
      const button = page.getByRole('button', { name }).or(page.getByRole('link', { name }));
      await button.first().click();
    },
    sees: (text) => page.getByText(text).first().waitFor(),
    overflows: () => page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth'),
    async close() {
      await context.close();
      if (troubles.length > 0) throw new Error(troubles.join('\n'));
    },
  };
}
