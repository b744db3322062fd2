/** The page where a buyer of the sandbox pays: no money moves, and every outcome can be tried. */
import type { Brand } from '#brand/brand.ts';
import type { Payable } from '#payments/checkout-sessions.ts';
import type { ServedTexts } from '#texts/served.ts';
import { html, type Html, type Page } from './html.ts';

interface SandboxPageContent extends Payable {
  readonly texts: ServedTexts;
  readonly brand: Brand;
  readonly timeZone: string;
  /** Where the buyer goes afterwards. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly baseUrl: string;
}

export function sandboxPage(content: SandboxPageContent): Page {
  const { order, payment, successUrl, cancelUrl, baseUrl, texts } = content;
  const words = texts.sandbox;
  return {
    texts,
    brand: content.brand,
    title: words.title(order.event.name),
    formTargets: [baseUrl, successUrl, cancelUrl],
    back: { href: `/orders/${order.id}`, label: words.yourOrder },
    body: html`<section>
      <h1>${words.title(order.event.name)}</h1>
      <p class="notice"><strong>${words.sandbox}</strong> ${words.note}</p>
      <p class="amount">${texts.frame.money(payment.amountCents, payment.currency)}</p>
      ${installmentOf(content)} ${windowOf(content)} ${outcomeOf(content)}
      <form class="actions next" method="post" action="/sandbox/pay/${payment.checkoutSessionId}">
        <p class="due" aria-hidden="true">${texts.frame.money(payment.amountCents, payment.currency)}</p>
        <button name="outcome" value="paid">${words.pay}</button>
        <button class="plain" name="outcome" value="declined">${words.decline}</button>
        <a class="button plain" href="${cancelUrl}">${words.cancel}</a>
      </form>
      ${isOpen(payment.status) ? html`<p class="quiet small">${words.cancelNote}</p>` : null}
    </section>`,
  };
}

function installmentOf({ order, payment, texts }: SandboxPageContent): Html | null {
  const count = order.installmentsCents.length;
  if (count < 2 || payment.amendment !== undefined) return null;
  const total = texts.frame.money(order.totalCents, order.currency);
  return html`<p>${texts.sandbox.installment(payment.installment, count, total)}</p>`;
}

function windowOf({ order, payment, timeZone, texts }: SandboxPageContent): Html | null {
  const until = payment.amendment?.expiresAt ?? (order.status === 'PENDING' ? order.expiresAt : null);
  if (payment.status !== 'OPEN' || until === null) return null;
  return html`<p class="quiet small">${texts.sandbox.payUntil(texts.frame.dayAndHour(until, timeZone))}</p>`;
}

const TEXT_OF_STATUS = {
  PAID: 'wasPaid',
  DECLINED: 'wasDeclined',
  CANCELLED: 'wasCancelled',
  EXPIRED: 'wasExpired',
} as const;

type Status = Payable['payment']['status'];

const isOpen = (status: Status): status is Exclude<Status, keyof typeof TEXT_OF_STATUS> => !(status in TEXT_OF_STATUS);

function outcomeOf({ payment: { status }, texts }: SandboxPageContent): Html | null {
  if (isOpen(status)) return null;
  return html`<p class="notice">${texts.sandbox[TEXT_OF_STATUS[status]]}</p>`;
}
