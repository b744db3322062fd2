/** The page where a buyer of the sandbox pays: no money moves, and every outcome can be tried. */
import type { Payable } from '#payments/checkout-sessions.ts';
import { html, type Html, type Page } from './html.ts';
import { formatMoney, formatWhen } from './wording.ts';

export interface SandboxPageContent extends Payable {
  readonly timeZone: string;
  /** Where the buyer goes afterwards. */
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly baseUrl: string;
}

export function sandboxPage(content: SandboxPageContent): Page {
  const { order, payment, successUrl, cancelUrl, baseUrl } = content;
  return {
    title: `Pay for ${order.event.name}`,
    formTargets: [baseUrl, successUrl, cancelUrl],
    back: { href: `/orders/${order.id}`, label: 'Your order' },
    body: html`<section>
      <h1>Pay for ${order.event.name}</h1>
      <p class="notice"><strong>Sandbox.</strong> A stand-in for a payment provider: no money moves.</p>
      <p class="amount">${formatMoney(payment.amountCents, payment.currency)}</p>
      ${installmentOf(content)} ${windowOf(content)} ${outcomeOf(content)}
      <form class="actions" method="post" action="/sandbox/pay/${payment.checkoutSessionId}">
        <button name="outcome" value="paid">Pay</button>
        <button class="plain" name="outcome" value="declined">Decline</button>
        <a class="button plain" href="${cancelUrl}">Cancel</a>
      </form>
      <p class="quiet small">
        Cancel leads back to the shop. The order stays as it is and can be paid until its time is over.
      </p>
    </section>`,
  };
}

function installmentOf({ order, payment }: SandboxPageContent): Html | null {
  const count = order.installmentsCents.length;
  if (count < 2) return null;
  const total = formatMoney(order.totalCents, order.currency);
  return html`<p>Installment ${payment.installment} of ${count}; the order comes to ${total}.</p>`;
}

function windowOf({ order, payment, timeZone }: SandboxPageContent): Html | null {
  if (payment.status !== 'OPEN' || order.expiresAt === null || order.status !== 'PENDING') return null;
  return html`<p class="quiet small">To be paid until ${formatWhen(order.expiresAt, timeZone)}.</p>`;
}

const wordsOfStatus = {
  PAID: 'This session was paid already; paying again counts once.',
  DECLINED: 'This session was declined; paying it now is late money.',
  CANCELLED: 'This session was cancelled; paying it now is late money.',
  EXPIRED: 'The time for this session ran out; paying it now is late money.',
} as const;

function outcomeOf({ payment: { status } }: SandboxPageContent): Html | null {
  return status === 'OPEN' || status === 'REQUESTED' ? null : html`<p class="notice">${wordsOfStatus[status]}</p>`;
}
