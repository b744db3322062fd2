/** An operator at the console, whose pages have a clock of their own: what they read again, they can read at once. */
import { after, before } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchBrowser, newVisitor, type Visitor } from '../../fixtures/browser.ts';
import { ADMIN_TOKEN, openService, type TestService } from '../../fixtures/service.ts';

/** From the page that asks for the token. */
export async function signIn({ page }: Pick<Visitor, 'page'>): Promise<void> {
  await page.getByLabel('Token').fill(ADMIN_TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'On sale now' }).waitFor();
}

/** A prepared service, and an operator at its console, for the tests of a `describe`. */
export function operatorOf(prepare: (service: TestService) => Promise<unknown>): {
  readonly service: TestService;
  readonly operator: Visitor;
} {
  const opened = {} as { service: TestService; operator: Visitor };
  let browser: Browser | undefined;
  before(async () => {
    opened.service = await openService();
    await prepare(opened.service);
    browser = await launchBrowser();
    opened.operator = await newVisitor(browser, opened.service.adminUrl, { ownClock: true });
    await opened.operator.open('/');
    await signIn(opened.operator);
  });
  after(async () => {
    await browser?.close();
    await opened.service?.close();
  });
  return opened;
}
