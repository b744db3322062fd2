/**
 * The page of an order, for its buyer: its status, what is bought and paid, the next step, and the tickets to show at
 * the entrance.
 *
 * Its address is the buyer's secret.
 */
import type { Brand } from '#brand/brand.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { OpenedOrder } from '#privacy/personal-data.ts';
import type { OrderView } from '#domain/view.ts';
import { numberOf } from '#domain/orders/told-numbers.ts';
import type { ServedTexts } from '#texts/served.ts';
import { offersOf, withdrawalButton } from './change-offers.ts';
import { drawn, html, inlineText, type Html, type Page } from './html.ts';
import { placeLine } from './place.ts';
import { doneOf, historyOf, pendingOf } from './order-history.ts';
import { drawCodes, ticketsOf, type CodeOf } from './order-tickets.ts';

interface OrderPageContent {
  readonly texts: ServedTexts;
  readonly brand: Brand;
  readonly order: OrderView;
  readonly opened: OpenedOrder;
  readonly definition: EventDefinition;
  readonly codeOf: CodeOf;
  readonly now: number;
  readonly baseUrl: string;
  /** The change that was just made, where its page led here; else null. */
  readonly done: string | null;
  /** Whether its address can be mailed, or is about to be. */
  readonly mail: 'OFF' | 'OFFERED' | 'REQUESTED';
}

/** Writes the page; its codes are drawn in slices, so that others are served in between. */
export async function orderPage(content: OrderPageContent): Promise<Page> {
  const { order, definition, baseUrl, texts } = content;
  const words = texts.order;
  const codes = await drawCodes(content);
  const isBought = order.paidCents > 0 || isFree(order);
  return {
    texts,
    brand: content.brand,
    title: words.title(order.event.name),
    ...(order.status === 'PENDING' && { script: FOLLOWING }),
    back: { href: `/e/${encodeURIComponent(order.event.slug)}`, label: order.event.name },
    formTargets: [baseUrl, 'https://checkout.stripe.com'],
    body: html`${headOf(content)} ${pendingOf(content)} ${order.tickets.length > 0 ? ticketsOf(content, codes) : null}
      ${offersOf(content)} ${historyOf(content)}
      <section class="bought">
        <h2>${isBought ? words.bought : texts.sandbox.yourOrder}</h2>
        <table>
          ${order.items.flatMap((item) => linesOf(item, content))}
          ${order.discounts.map((discount) => discountOf(discount, content))} ${isFree(order) ? null : sumsOf(content)}
        </table>
        ${vatOf(content)}
      </section>
      <section class="small">
        <p>${words.number} <strong class="number">${numberOf(order.id)}</strong></p>
        <p>${buyerOf(content)}</p>
        <p class="quiet secret">${words.secret}</p>
        ${legalOf(definition, texts)}
      </section>`,
  };
}

function isFree({ paymentProvider }: OrderView): boolean {
  return paymentProvider === 'FREE';
}

function vatOf({ order, definition, texts }: OrderPageContent): Html | null {
  const percent = definition.legal?.vatPercent ?? null;
  if (percent === null || isFree(order)) return null;
  const vatCents = Math.round((order.totalCents * percent) / (100 + percent));
  const amount = texts.frame.money(vatCents, order.currency);
  return html`<p class="quiet small">${texts.order.vat(percent, amount)}</p>`;
}

function legalOf({ legal }: EventDefinition, { order: words }: ServedTexts): Html | null {
  const links = [
    [words.terms, legal?.termsUrl ?? null],
    [words.imprint, legal?.imprintUrl ?? null],
    [words.privacy, legal?.privacyUrl ?? null],
  ] as const;
  const shown = links.flatMap(([name, address]) => (address === null ? [] : [html`<a href="${address}">${name}</a> `]));
  return shown.length === 0 ? null : html`<p class="legal">${shown}</p>`;
}

/** The buyer, or the text that says why the order shows nobody: it is erased or cannot be read. */
function buyerOf({ opened, definition, texts }: OrderPageContent): string {
  const { state, customer, erasedAt } = opened;
  if (customer !== null) return `${customer.name}, ${customer.email}`;
  if (state === 'UNREADABLE') return texts.order.unreadable;
  return texts.order.erased(erasedAt === null ? null : texts.frame.dayAndHour(erasedAt, definition.timezone));
}

// ── status ───────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Standing {
  readonly badge: string;
  readonly tone: 'good' | 'wait' | 'bad';
  readonly words: string;
}

function headOf(content: OrderPageContent): Html {
  const { order, opened, definition, texts } = content;
  const { badge, tone, words } = standingOf(content);
  const isChanging = order.amendments.some(({ status }) => status === 'PENDING');
  const isPayable = order.status === 'PENDING' || (order.status === 'PARTIALLY_PAID' && !isChanging);
  const hasTimes = order.event.performances.some(({ startsAt }) => startsAt !== null);
  const done = order.amendments.find(({ id, status }) => id === content.done && status === 'APPLIED');
  return html`<section class="${hasEnded(order) ? 'ended' : ''}">
    ${done === undefined ? null : doneOf(done, content)}
    <span class="badge ${tone}">${badge}</span>
    <h1>${headingOf(order, opened, texts)}</h1>
    <p class="event">${order.event.name}</p>
    ${order.event.performances.map(
      ({ name, startsAt, status }) =>
        html`<p class="quiet">
          ${name}${startsAt === null ? '' : `, ${texts.frame.dayAndHour(startsAt, definition.timezone)}`}${status === 'CANCELLED' ? ` ${texts.order.ofDateCancelled}` : ''}
        </p>`,
    )}
    ${placeLine(definition, texts)}
    <p>${words}</p>
    ${isAwaited(order) ? againLink(order, texts) : null} ${isPayable ? payOf(content) : null}
    ${hasEnded(order) ? chooseAgain(order, texts) : null}
    ${order.tickets.length > 0 && !hasEnded(order) ? takeAway(content, hasTimes) : null} ${withdrawalButton(content)}
  </section>`;
}

/** What the order means to its buyer, by first name where it is known. */
function headingOf({ status }: OrderView, { customer }: OpenedOrder, { order: words }: ServedTexts): string {
  const [first = ''] = (customer?.name ?? '').trim().split(/\s+/);
  switch (status) {
    case 'CONFIRMED':
    case 'PARTIALLY_PAID':
      return words.going(first);
    case 'PENDING':
      return words.waiting;
    case 'EXPIRED':
      return words.ranOut;
    case 'CANCELLED':
      return words.wasCancelled;
  }
}

/** What a buyer takes away from the page: the date for a calendar, and paper. */
function takeAway(content: OrderPageContent, hasTimes: boolean): Html {
  const {
    order: { id },
    texts: { order: words },
  } = content;
  const calendar = html`<p class="actions">
    <a class="button plain" href="/orders/${id}/calendar.ics" download>${words.calendar}</a>
  </p>`;
  return html`${hasTimes ? calendar : null} ${mailOf(content)}
    <p class="quiet small screen">${words.showOrPrint}</p>`;
}

/** The button that has the page's address mailed to the buyer, or the message that it was pressed. */
function mailOf({ order, opened, mail, texts: { order: words } }: OrderPageContent): Html | null {
  if (mail === 'OFF' || opened.customer === null) return null;
  if (mail === 'REQUESTED') return html`<p class="screen" role="status">${words.linkSent(opened.customer.email)}</p>`;
  return html`<form class="actions screen" method="post" action="/orders/${order.id}/mail">
    <button class="plain">${words.sendLink}</button>
  </form>`;
}

function standingOf({ order, definition, texts }: OrderPageContent): Standing {
  const { status, paymentStatus, expiresAt, refundDueCents, currency, cancellation } = order;
  const { frame, order: words } = texts;
  const refund = refundDueCents > 0 ? words.givenBack(frame.money(refundDueCents, currency)) : null;
  switch (status) {
    case 'CONFIRMED':
      return standing(words.confirmed, 'good', isFree(order) ? null : words.paidInFull, words.below, refund);
    case 'PARTIALLY_PAID': {
      const rest = frame.money(order.remainingCents, currency);
      const paid = words.installments(order.paidInstallments, order.installmentsCents.length, rest);
      return standing(words.partlyPaid, 'wait', paid, words.below, refund);
    }
    case 'PENDING': {
      const until = expiresAt === null ? null : words.keptUntil(frame.dayAndHour(expiresAt, definition.timezone));
      return paymentStatus === 'FAILED'
        ? standing(words.declined, 'bad', words.tryAgain, until)
        : standing(words.awaiting, 'wait', words.notArrived, until);
    }
    case 'EXPIRED':
      return standing(words.expired, 'bad', words.timeRanOut, refund);
    case 'CANCELLED': {
      const what = cancellation?.cause === 'PERFORMANCE' ? words.dateCancelled : words.orderCancelled;
      return standing(words.cancelled, 'bad', what, refund);
    }
  }
}

function standing(badge: string, tone: Standing['tone'], ...sentences: readonly (string | null)[]): Standing {
  return { badge, tone, words: sentences.filter((each) => each !== null).join(' ') };
}

function hasEnded({ status }: OrderView): boolean {
  return status === 'EXPIRED' || status === 'CANCELLED';
}

/** Whether the provider's report is still to come. */
function isAwaited({ status, paymentStatus }: OrderView): boolean {
  return status === 'PENDING' && paymentStatus !== 'FAILED';
}

/** The link that does what the script does by itself (`FOLLOWING`). */
function againLink({ id }: OrderView, { order: words }: ServedTexts): Html {
  return html`<noscript
    ><p class="actions"><a class="button plain" href="/orders/${id}">${words.lookAgain}</a></p></noscript
  >`;
}

function chooseAgain({ event }: OrderView, { order: words }: ServedTexts): Html {
  const href = `/e/${encodeURIComponent(event.slug)}`;
  return html`<p class="actions"><a class="button" href="${href}">${words.chooseAgain}</a></p>`;
}

/** The way to the provider: its page where a session is open, else a form that has one opened. */
function payOf(content: OrderPageContent): Html {
  const { order, now, texts } = content;
  const number = order.paidInstallments + 1;
  const cents = order.installmentsCents[order.paidInstallments] ?? order.remainingCents;
  const label = texts.order.pay(texts.frame.money(cents, order.currency));
  const open = order.payments.find(
    ({ installment, status, sessionExpiresAt }) =>
      installment === number && status === 'OPEN' && (sessionExpiresAt === null || now < sessionExpiresAt),
  );
  if (typeof open?.redirectUrl === 'string') {
    return html`<div class="actions next">
      ${timeLeft(content)}<a class="button" rel="noreferrer" href="${open.redirectUrl}">${label}</a>
    </div>`;
  }
  return html`<form class="actions next" method="post" action="/orders/${order.id}/pay">
    ${timeLeft(content)}<button>${label}</button>
  </form>`;
}

const DAY_MS = 86_400_000;

/** Until when there is time to pay, in the bar of a narrow screen; the page says it in a sentence too. */
function timeLeft(content: OrderPageContent): Html | null {
  const { definition, now } = content;
  const { status, expiresAt } = content.order;
  const { frame, order: words } = content.texts;
  if (status !== 'PENDING' || expiresAt === null) return null;
  const isSoon = expiresAt - now < DAY_MS;
  const until = words.payBy((isSoon ? frame.hour : frame.dayAndHour)(expiresAt, definition.timezone));
  const left = drawn(isSoon ? ` data-left="${expiresAt - now}"` : '');
  return html`<p class="due" aria-hidden="true">${CLOCK} <span${left}>${until}</span></p>`;
}

const CLOCK = drawn(
  '<svg viewBox="0 0 20 20" width="20" height="20"><path d="M17 10a7 7 0 1 1-14 0a7 7 0 1 1 14 0zM10 6v4.200l2.700 1.600"/></svg>',
);

// ── what was bought ──────────────────────────────────────────────────────────────────────────────────────────────────

function linesOf(item: OrderView['items'][number], content: OrderPageContent): readonly Html[] {
  const { order, definition, texts } = content;
  const type = definition.ticketTypes.find(({ id }) => id === item.ticketTypeId);
  const performance = order.event.performances.find(({ id }) => id === item.performanceId);
  const where = order.event.performances.length > 1 && performance !== undefined ? `, ${performance.name}` : '';
  const tickets = html`<tr>
    <td>${item.quantity} × ${type?.name ?? item.ticketTypeId}${where}</td>
    <td>
      ${isFree(order) ? texts.frame.free : texts.frame.money(item.quantity * item.unitPriceCents, order.currency)}
    </td>
  </tr>`;
  const perks = item.barPerks.map(({ barPerkId, quantity, unitPriceCents }) => {
    const name = type?.barPerks.find(({ id }) => id === barPerkId)?.name ?? barPerkId;
    return html`<tr>
      <td>${quantity} × ${name}</td>
      <td>${texts.frame.money(quantity * unitPriceCents, order.currency)}</td>
    </tr>`;
  });
  return [tickets, ...perks];
}

function discountOf({ code, amountCents }: OrderView['discounts'][number], { order, texts }: OrderPageContent): Html {
  return html`<tr>
    <td>${texts.order.code(code)}</td>
    <td>−${texts.frame.money(amountCents, order.currency)}</td>
  </tr>`;
}

function sumsOf({ order, texts }: OrderPageContent): readonly Html[] {
  const { totalCents, feesCents, goodwillCents, paidCents, refundedCents, refundDueCents, currency } = order;
  const words = texts.order;
  const sum = (name: string, cents: number) =>
    html`<tr class="sum">
      <td>${name}</td>
      <td>${texts.frame.money(cents, currency)}</td>
    </tr>`;
  return [
    ...(feesCents > 0 ? [sum(words.fees, feesCents)] : []),
    ...(goodwillCents > 0 ? [sum(words.goodwill, -goodwillCents)] : []),
    html`<tr class="sum total">
      <td>${words.total}</td>
      <td>${texts.frame.money(totalCents, currency)}</td>
    </tr>`,
    ...(paidCents > 0 ? [sum(words.paid, paidCents)] : []),
    ...(refundedCents > 0 ? [sum(words.refunded, refundedCents)] : []),
    ...(refundDueCents > 0 ? [sum(words.refundDue, refundDueCents)] : []),
  ];
}

// ── script ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Between two checks of the order's status; a page that becomes visible checks at once. */
const LOOK_MS = 10_000;

/**
 * The script of an order's page that is not paid yet: it shows the clock of the time to pay, and loads the page again
 * once its badge says something else. Without it the page names the time of day and has a link.
 *
 * 1. A page that nothing happened to is not loaded again: focus and what is read out stay where they are.
 * 2. The time left is the service's, counted on from the load of the page: the buyer's clock may be wrong.
 */
const FOLLOWING = inlineText(`(() => {
const clock = document.querySelector('[data-left]'), loaded = performance.now();
const two = (n) => String(n).padStart(2, '0');
const badgeOf = (page) => page.querySelector('.badge')?.textContent;
let isLooking = false;
const look = async () => {
  if (document.hidden || isLooking) return;
  isLooking = true;
  try {
    const text = await (await fetch(location.href)).text();
    const badge = badgeOf(new DOMParser().parseFromString(text, 'text/html'));
    if (badge !== undefined && badge !== badgeOf(document)) location.reload();
  } catch {} finally { isLooking = false; }
};
const tick = () => {
  const s = Math.max(0, Math.floor((clock.dataset.left - performance.now() + loaded) / 1000)), m = Math.floor(s / 60);
  clock.textContent = m < 60 ? m + ':' + two(s % 60) : Math.floor(m / 60) + ':' + two(m % 60) + ':' + two(s % 60);
  clock.classList.toggle('urgent', s <= 60);
};
if (clock !== null) { tick(); setInterval(tick, 1000); }
setInterval(look, ${LOOK_MS});
document.addEventListener('visibilitychange', look);
})();`);
