/**
 * The page of an order, for its buyer: its status, what was bought and paid, the next step, and the tickets to show at the entrance.
 *
 * Its address is the buyer's secret.
 */
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { OpenedOrder } from '#actors/personal-data.ts';
import type { OrderView } from '#domain/views.ts';
import { html, type Html, type Page } from './html.ts';
import { drawCodes, shortOf, ticketsOf, type CodeOf } from './order-tickets.ts';
import { formatMoney, formatWhen } from './wording.ts';

export interface OrderPageContent {
  readonly order: OrderView;
  readonly opened: OpenedOrder;
  readonly definition: EventDefinition;
  readonly codeOf: CodeOf;
  readonly now: number;
  readonly baseUrl: string;
}

/** Between two loads of a page that waits for the provider's report. */
const REFRESH_SECONDS = 10;

/** Writes the page; its codes are drawn in slices, so that others are served in between. */
export async function orderPage(content: OrderPageContent): Promise<Page> {
  const { order, definition, baseUrl } = content;
  const codes = await drawCodes(content);
  const refresh = order.status === 'PENDING' ? { refreshSeconds: REFRESH_SECONDS } : {};
  return {
    title: `${order.event.name}: your order`,
    ...refresh,
    back: { href: `/e/${encodeURIComponent(order.event.slug)}`, label: order.event.name },
    formTargets: [baseUrl, 'https://checkout.stripe.com'],
    body: html`${headOf(content)} ${order.tickets.length > 0 ? ticketsOf(content, codes) : null}
      <section class="bought">
        <h2>What you bought</h2>
        <table>
          ${order.items.flatMap((item) => linesOf(item, order, definition))}
          ${order.discounts.map((discount) => discountOf(discount, order))} ${isFree(order) ? null : sumsOf(order)}
        </table>
        ${vatOf(content)}
      </section>
      <section class="small">
        <p>Order number <strong class="number">${shortOf(order.id)}</strong></p>
        <p>${buyerOf(content)}</p>
        <p class="quiet secret">
          Whoever has the address of this page sees your tickets: keep it to yourself. For questions, the order number
          is enough.
        </p>
        ${legalOf(definition)}
      </section>`,
  };
}

function isFree({ paymentProvider }: OrderView): boolean {
  return paymentProvider === 'FREE';
}

function vatOf({ order, definition }: OrderPageContent): Html | null {
  const percent = definition.legal?.vatPercent ?? null;
  if (percent === null || isFree(order)) return null;
  const vatCents = Math.round((order.totalCents * percent) / (100 + percent));
  return html`<p class="quiet small">including ${percent} % VAT: ${formatMoney(vatCents, order.currency)}</p>`;
}

function legalOf({ legal }: EventDefinition): Html | null {
  const links = [
    ['Terms', legal?.termsUrl ?? null],
    ['Imprint', legal?.imprintUrl ?? null],
    ['Privacy', legal?.privacyUrl ?? null],
  ] as const;
  const shown = links.flatMap(([name, address]) => (address === null ? [] : [html`<a href="${address}">${name}</a> `]));
  return shown.length === 0 ? null : html`<p class="legal">${shown}</p>`;
}

/** Who bought, or what became of what the order said about people. */
function buyerOf({ opened, definition }: OrderPageContent): string {
  const { state, customer, erasedAt } = opened;
  if (customer !== null) return `${customer.name}, ${customer.email}`;
  if (state === 'UNREADABLE') return 'The personal data of this order cannot be read.';
  const on = erasedAt === null ? '' : ` on ${formatWhen(erasedAt, definition.timezone)}`;
  return `Personal data was erased${on}: nobody can read any more who bought these tickets. They stay as they were.`;
}

// ── status ───────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Standing {
  readonly badge: string;
  readonly tone: 'good' | 'wait' | 'bad';
  readonly words: string;
}

function headOf({ order, opened, definition, now }: OrderPageContent): Html {
  const { badge, tone, words } = standingOf(order, definition.timezone);
  const isPayable = order.status === 'PENDING' || order.status === 'PARTIALLY_PAID';
  const hasTimes = order.event.performances.some(({ startsAt }) => startsAt !== null);
  return html`<section class="${hasEnded(order) ? 'ended' : ''}">
    <span class="badge ${tone}">${badge}</span>
    <h1>${headingOf(order, opened)}</h1>
    <p class="event">${order.event.name}</p>
    ${order.event.performances.map(
      ({ name, startsAt, status }) =>
        html`<p class="quiet">
          ${name}${startsAt === null ? '' : `, ${formatWhen(startsAt, definition.timezone)}`}${status === 'CANCELLED' ? ' (cancelled)' : ''}
        </p>`,
    )}
    <p>${words}</p>
    ${isPayable ? payOf(order, now) : null} ${hasEnded(order) ? chooseAgain(order) : null}
    ${order.tickets.length > 0 && !hasEnded(order) ? takeAway(order, hasTimes) : null}
  </section>`;
}

/** What the order means to its buyer, by first name where it is known. */
function headingOf({ status }: OrderView, { customer }: OpenedOrder): string {
  const [first = ''] = (customer?.name ?? '').trim().split(/\s+/);
  switch (status) {
    case 'CONFIRMED':
    case 'PARTIALLY_PAID':
      return first === '' ? 'You are going' : `You are going, ${first}`;
    case 'PENDING':
      return 'Your tickets wait for the payment';
    case 'EXPIRED':
      return 'Your order ran out';
    case 'CANCELLED':
      return 'This order was cancelled';
  }
}

/** What a buyer takes away from the page: the date for a calendar, and paper. */
function takeAway({ id }: OrderView, hasTimes: boolean): Html {
  const calendar = html`<p class="actions">
    <a class="button plain" href="/orders/${id}/calendar.ics" download>Add to my calendar</a>
  </p>`;
  return html`${hasTimes ? calendar : null}
    <p class="quiet small screen">
      Show the codes on your phone, or print this page or save it as a PDF: each ticket stays whole.
    </p>`;
}

function standingOf(order: OrderView, timeZone: string): Standing {
  const { status, paymentStatus, expiresAt, refundDueCents, currency, cancellation } = order;
  const refund = refundDueCents > 0 ? ` ${formatMoney(refundDueCents, currency)} will be given back to you.` : '';
  switch (status) {
    case 'CONFIRMED':
      return {
        badge: 'Confirmed',
        tone: 'good',
        words: `${isFree(order) ? '' : 'Paid in full. '}Your tickets are below.${refund}`,
      };
    case 'PARTIALLY_PAID': {
      const rest = formatMoney(order.remainingCents, currency);
      const paid = `${order.paidInstallments} of ${order.installmentsCents.length} installments are paid`;
      const words = `${paid}, ${rest} is still to come. Your tickets are below.${refund}`;
      return { badge: 'Partly paid', tone: 'wait', words };
    }
    case 'PENDING': {
      const until =
        expiresAt === null ? '' : ` Your tickets are kept for you until ${formatWhen(expiresAt, timeZone)}.`;
      if (paymentStatus === 'FAILED') {
        return {
          badge: 'Payment declined',
          tone: 'bad',
          words: `The payment was declined; you can try again.${until}`,
        };
      }
      return { badge: 'Awaiting payment', tone: 'wait', words: `The payment has not arrived yet.${until}` };
    }
    case 'EXPIRED':
      return {
        badge: 'Expired',
        tone: 'bad',
        words: `The time to pay ran out and the tickets are back on sale.${refund}`,
      };
    case 'CANCELLED': {
      const by =
        cancellation?.cause === 'PERFORMANCE' ? 'A date of this order was cancelled.' : 'This order was cancelled.';
      return { badge: 'Cancelled', tone: 'bad', words: `${by}${refund}` };
    }
  }
}

function hasEnded({ status }: OrderView): boolean {
  return status === 'EXPIRED' || status === 'CANCELLED';
}

function chooseAgain({ event }: OrderView): Html {
  return html`<p class="actions"><a class="button" href="/e/${encodeURIComponent(event.slug)}">Choose again</a></p>`;
}

/** The way to the provider: its page where a session is open, else a form that has one opened. */
function payOf(order: OrderView, now: number): Html {
  const number = order.paidInstallments + 1;
  const cents = order.installmentsCents[order.paidInstallments] ?? order.remainingCents;
  const label = `Pay ${formatMoney(cents, order.currency)}`;
  const open = order.payments.find(
    ({ installment, status, sessionExpiresAt }) =>
      installment === number && status === 'OPEN' && (sessionExpiresAt === null || now < sessionExpiresAt),
  );
  if (typeof open?.redirectUrl === 'string') {
    return html`<p class="actions"><a class="button" rel="noreferrer" href="${open.redirectUrl}">${label}</a></p>`;
  }
  return html`<form class="actions" method="post" action="/orders/${order.id}/pay"><button>${label}</button></form>`;
}

// ── what was bought ──────────────────────────────────────────────────────────────────────────────────────────────────

function linesOf(item: OrderView['items'][number], order: OrderView, definition: EventDefinition): readonly Html[] {
  const type = definition.ticketTypes.find(({ id }) => id === item.ticketTypeId);
  const performance = order.event.performances.find(({ id }) => id === item.performanceId);
  const where = order.event.performances.length > 1 && performance !== undefined ? `, ${performance.name}` : '';
  const tickets = html`<tr>
    <td>${item.quantity} × ${type?.name ?? item.ticketTypeId}${where}</td>
    <td>${isFree(order) ? 'Free' : formatMoney(item.quantity * item.unitPriceCents, order.currency)}</td>
  </tr>`;
  const perks = item.barPerks.map(({ barPerkId, quantity, unitPriceCents }) => {
    const name = type?.barPerks.find(({ id }) => id === barPerkId)?.name ?? barPerkId;
    return html`<tr>
      <td>${quantity} × ${name}</td>
      <td>${formatMoney(quantity * unitPriceCents, order.currency)}</td>
    </tr>`;
  });
  return [tickets, ...perks];
}

function discountOf({ code, amountCents }: OrderView['discounts'][number], { currency }: OrderView): Html {
  return html`<tr>
    <td>Code ${code}</td>
    <td>−${formatMoney(amountCents, currency)}</td>
  </tr>`;
}

function sumsOf({ totalCents, paidCents, refundedCents, refundDueCents, currency }: OrderView): readonly Html[] {
  const sum = (words: string, cents: number) =>
    html`<tr class="sum">
      <td>${words}</td>
      <td>${formatMoney(cents, currency)}</td>
    </tr>`;
  return [
    html`<tr class="sum total">
      <td>Total</td>
      <td>${formatMoney(totalCents, currency)}</td>
    </tr>`,
    ...(paidCents > 0 ? [sum('Paid', paidCents)] : []),
    ...(refundedCents > 0 ? [sum('Given back', refundedCents)] : []),
    ...(refundDueCents > 0 ? [sum('Due back to you', refundDueCents)] : []),
  ];
}
