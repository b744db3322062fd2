/** An error as a page: its message, and the way back. */
import type { ErrorBody } from '../errors.ts';
import { html, type Page } from './html.ts';

const HINTS: Readonly<Record<string, string>> = {
  NOT_FOUND: 'The link may be old, or mistyped.',
  ORDER_NOT_FOUND: 'An order’s address is long and exact. Open it from the shop, or copy all of it.',
  OVERLOADED: 'Nothing was changed. Please load the page again in a moment.',
  PAYMENT_PROVIDER_UNAVAILABLE: 'Your tickets stay yours until the time to pay is over. Please try again in a moment.',
};

/** The page of an error; its code and status are those of the body that programs get. */
export function failurePage({ code, message }: Pick<ErrorBody, 'code' | 'message'>): Page {
  return {
    title: message,
    body: html`<h1>${message}</h1>
      <p class="lead">${HINTS[code] ?? ''}</p>
      <p class="actions"><a class="button" href="/">See all events</a></p>`,
  };
}
