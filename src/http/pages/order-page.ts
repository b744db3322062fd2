/**
 * The page of an order, for its buyer: its status, what was bought and paid, the next step, and the tickets to show at the entrance.
 *
 * Its address is the buyer's secret.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { OrderView, TicketView } from '#domain/views.ts';
import { html, type Html, type Page } from './html.ts';
import { drawQr } from './qr.ts';
import { formatMoney, formatWhen } from './wording.ts';

export interface OrderPageContent {
  readonly order: OrderView;
  readonly definition: EventDefinition;
  /** Null for a void ticket. */
  readonly codeOf: (ticket: TicketView) => string | null;
  readonly now: number;
  readonly baseUrl: string;
}

/** Codes drawn on one page, some 8 KB each; of a larger order the others come with the order's status. */
const CODES_DRAWN_MAX = 200;

/** Codes drawn without giving the loop back: under 4 ms. */
const CODES_A_SLICE = 6;

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
      <section>
        <h2>What you bought</h2>
        <table>
          ${order.items.flatMap((item) => linesOf(item, order, definition))}
          ${order.discounts.map((discount) => discountOf(discount, order))} ${sumsOf(order)}
        </table>
      </section>
      <section class="small">
        <p>${order.customer.name}, ${order.customer.email}</p>
        <p class="quiet">Order ${order.id}</p>
        <p class="quiet">Whoever has this address sees your tickets: keep it to yourself.</p>
      </section>`,
  };
}

// ── status ───────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Standing {
  readonly badge: string;
  readonly tone: 'good' | 'wait' | 'bad';
  readonly words: string;
}

function headOf({ order, definition, now }: OrderPageContent): Html {
  const { badge, tone, words } = standingOf(order, definition.timezone);
  const isPayable = order.status === 'PENDING' || order.status === 'PARTIALLY_PAID';
  return html`<section>
    <span class="badge ${tone}">${badge}</span>
    <h1>${order.event.name}</h1>
    ${order.event.performances.map(
      ({ name, startsAt, status }) =>
        html`<p class="quiet">
          ${name}${startsAt === null ? '' : `, ${formatWhen(startsAt, definition.timezone)}`}${status === 'CANCELLED' ? ' (cancelled)' : ''}
        </p>`,
    )}
    <p>${words}</p>
    ${isPayable ? payOf(order, now) : null}
  </section>`;
}

function standingOf(order: OrderView, timeZone: string): Standing {
  const { status, paymentStatus, expiresAt, refundDueCents, currency, cancellation } = order;
  const refund = refundDueCents > 0 ? ` ${formatMoney(refundDueCents, currency)} will be given back to you.` : '';
  switch (status) {
    case 'CONFIRMED':
      return { badge: 'Confirmed', tone: 'good', words: `Paid in full. Your tickets are below.${refund}` };
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
    <td>${formatMoney(item.quantity * item.unitPriceCents, order.currency)}</td>
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

// ── tickets ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The code of each ticket that is shown; what stands in its place for a void one is for people only. */
async function drawCodes({ order, codeOf }: OrderPageContent): Promise<readonly Html[]> {
  const codes: Html[] = [];
  for (const ticket of order.tickets.slice(0, CODES_DRAWN_MAX)) {
    const code = codeOf(ticket);
    codes.push(code === null ? html`<p class="stamp">Void</p>` : drawQr(code));
    if (codes.length % CODES_A_SLICE === 0) await nextRound();
  }
  return codes;
}

function ticketsOf({ order, definition }: OrderPageContent, codes: readonly Html[]): Html {
  const isVoid = order.tickets.some(({ isValid }) => !isValid);
  const undrawn = order.ticketCount - codes.length;
  return html`<section>
    <h2>${isVoid ? 'Tickets (void)' : 'Tickets'}</h2>
    ${isVoid ? html`<p>These tickets are void: no door lets anybody in with them.</p>` : null}
    <ul class="tickets">
      ${codes.map((code, place) => {
        const ticket = order.tickets[place]!;
        const type = definition.ticketTypes.find(({ id }) => id === ticket.ticketTypeId);
        const performance = order.event.performances.find(({ id }) => id === ticket.performanceId);
        return html`<li class="ticket ${ticket.isValid ? '' : 'void'}">
          ${code}
          <div>
            <strong>${type?.name ?? ticket.ticketTypeId}</strong>
            ${seatOf(ticket)} ${ticket.attendee === null ? null : html`<p>${ticket.attendee.name}</p>`}
            <p class="quiet small">${whenOf(performance, definition.timezone)}</p>
          </div>
        </li>`;
      })}
    </ul>
    ${undrawn > 0 ? html`<p class="quiet">and ${undrawn} more tickets</p>` : null}
  </section>`;
}

/** The performance's name and beginning, because a ticket is shown alone. */
function whenOf(performance: OrderView['event']['performances'][number] | undefined, timeZone: string): string {
  if (performance === undefined) return '';
  return performance.startsAt === null
    ? performance.name
    : `${performance.name}, ${formatWhen(performance.startsAt, timeZone)}`;
}

function seatOf({ section, rowLabel, seatLabel }: TicketView): Html | null {
  if (seatLabel === null) return null;
  const row = rowLabel === null ? '' : `row ${rowLabel}, `;
  return html`<p>${section === null ? '' : `${section}, `}${row}seat ${seatLabel}</p>`;
}
