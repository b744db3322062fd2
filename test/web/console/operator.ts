/** An operator at the console. */
import type { Browser } from 'playwright-core';
import { newVisitor, type Visitor, type VisitorOptions } from '../../fixtures/browser.ts';
import { ADMIN_TOKEN } from '../../fixtures/service.ts';

/** Opens the console of a service and signs in; the overview is shown then. */
export async function enterConsole(browser: Browser, adminUrl: string, options?: VisitorOptions): Promise<Visitor> {
  const operator = await newVisitor(browser, adminUrl, options);
  await operator.page.goto('/');
  await signIn(operator);
  return operator;
}

/** From the page that asks for the token. */
export async function signIn({ page }: Pick<Visitor, 'page'>): Promise<void> {
  await page.getByLabel('Token').fill(ADMIN_TOKEN);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'On sale now' }).waitFor();
}
