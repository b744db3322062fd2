/**
 * A browser for tests of the pages: Debian's chromium, driven from here, watched for what no page may do.
 *
 * `openBrowser` answers null where there is none; tests then say so and are skipped.
 */
import { existsSync } from 'node:fs';
import { chromium, type Browser, type Page } from 'playwright-core';

const EXECUTABLES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

export const executable = EXECUTABLES.find((file) => existsSync(file)) ?? null;

/** Why browser tests are skipped here; false where they run. */
export const skip = executable === null && 'there is no chromium here';

export interface WatchedPage {
  readonly page: Page;
  /** Errors that the page told, and requests that it sent to another host. */
  readonly complaints: string[];
}

export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: executable!, args: ['--no-sandbox', '--disable-gpu'] });
}

/** A page in a profile of its own. Complaints that match `expected` are none. */
export async function openPage(browser: Browser, origin: string, expected?: RegExp): Promise<WatchedPage> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, baseURL: origin });
  const page = await context.newPage();
  page.setDefaultTimeout(10_000);
  const complaints: string[] = [];
  const complain = (text: string): void => {
    if (expected === undefined || !expected.test(text)) complaints.push(text);
  };
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complain(message.text());
  });
  page.on('pageerror', (error) => complain(String(error)));
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith('data:')) complain(`asks ${url}`);
  });
  return { page, complaints };
}
