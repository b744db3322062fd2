/** What became of an order since it was paid: its changes, its void tickets, and the money that was given back. */
import type { AmendmentView, OrderView, RefundView, VoidReason } from '#domain/view.ts';
import { numberOf } from '#domain/orders/told-numbers.ts';
import type { ServedTexts } from '#texts/served.ts';
import type { OfferedOrder } from './change-offers.ts';
import { html, type Html } from './html.ts';
import { ticketInWords } from './order-tickets.ts';

/**
 * A change that waits for its payment, with the link to it and the button that drops the change; null where none waits.
 */
export function pendingOf({ order, texts, definition }: OfferedOrder): Html | null {
  const amendment = order.amendments.find(({ status }) => status === 'PENDING');
  if (amendment === undefined) return null;
  const { changes: words, frame } = texts;
  const until = frame.dayAndHour(amendment.expiresAt!, definition.timezone);
  return html`<section>
    <h2>${words.pendingTitle}</h2>
    <p>${words.pendingUntil(whatOf(amendment, texts), until)}</p>
    <div class="actions">
      <form method="post" action="/orders/${order.id}/pay">
        <button>${words.payChange(frame.money(amendment.toPayCents, order.currency))}</button>
      </form>
      <form method="post" action="/orders/${order.id}/amendments/${amendment.id}/drop">
        <button class="plain">${words.dropChange}</button>
      </form>
    </div>
  </section>`;
}

/** Says that a change was made, and when: of a withdrawal, when it was received. */
export function doneOf(amendment: AmendmentView, { texts, definition }: OfferedOrder): Html {
  const words = texts.changes;
  const when = texts.frame.dayAndHour(amendment.createdAt, definition.timezone);
  const done = amendment.isWithdrawal === true ? words.receipt(when) : words.done(when);
  return html`<p class="notice good" role="status">
    <strong>${done}</strong> ${whatOf(amendment, texts)}. ${moneyOf(amendment, { texts, definition })}
  </p>`;
}

/** The history of the order; null where nothing happened to it. */
export function historyOf(content: OfferedOrder): Html | null {
  const { order, texts, definition } = content;
  const words = texts.changes;
  const parts = [
    listOf(
      words.history,
      order.amendments
        .filter(({ status }) => status !== 'PENDING')
        .map((amendment) => amendmentInWords(amendment, content)),
    ),
    listOf(
      words.refunds,
      order.refunds.map((refund) => refundInWords(refund, order, texts, definition.timezone)),
    ),
    voidTicketsOf(content),
  ].filter((part) => part !== null);
  return parts.length === 0 ? null : html`<section class="history">${parts}</section>`;
}

function listOf(heading: string, lines: readonly string[]): Html | null {
  if (lines.length === 0) return null;
  return html`<h2>${heading}</h2>
    <ul class="lines">
      ${lines.map((line) => html`<li>${line}</li>`)}
    </ul>`;
}

function amendmentInWords(amendment: AmendmentView, { texts, definition }: OfferedOrder): string {
  const words = texts.changes;
  const when = texts.frame.dayAndHour(amendment.createdAt, definition.timezone);
  const what = whatOf(amendment, texts);
  const told = amendment.isWithdrawal === true ? words.withdrawn(when, what) : words.was(when, what);
  const by = amendment.by === 'OPERATOR' ? words.byOrganizer : amendment.by === 'PERFORMANCE' ? words.byDate : '';
  if (amendment.status !== 'APPLIED') {
    return `${words.was(when, what)} ${amendment.status === 'EXPIRED' ? words.notDone : words.dropped}`;
  }
  return [told, by, moneyOf(amendment, { texts, definition })].filter((part) => part !== '').join(' ');
}

/** "2 tickets given back, 1 name changed". */
function whatOf({ tickets }: AmendmentView, { changes: words }: ServedTexts): string {
  const count = (wanted: AmendmentView['tickets'][number]['action']): number =>
    tickets.filter(({ action }) => action === wanted).length;
  const told = [
    [count('CANCEL'), words.cancelled],
    [count('CHANGE'), words.changed],
    [count('REISSUE'), words.reissued],
    [count('RENAME'), words.renamed],
  ] as const;
  return told.flatMap(([n, inWords]) => (n === 0 ? [] : [inWords(n)])).join(', ');
}

function moneyOf(
  { feeCents, toRefundCents }: AmendmentView,
  { texts: { changes: words, frame }, definition: { currency } }: Pick<OfferedOrder, 'texts' | 'definition'>,
): string {
  const fee = feeCents > 0 ? [words.costs(frame.money(feeCents, currency))] : [];
  const back = toRefundCents > 0 ? [words.back(frame.money(toRefundCents, currency))] : [];
  return [...fee, ...back].join(' ');
}

function refundInWords(
  { amountCents, currency, at, finishedAt, status = 'SUCCEEDED' }: RefundView,
  order: Pick<OrderView, 'currency'>,
  { changes: words, frame }: ServedTexts,
  timezone: string,
): string {
  const amount = frame.money(amountCents, currency ?? order.currency);
  const when = (moment: number): string => frame.dayAndHour(moment, timezone);
  switch (status) {
    case 'PENDING':
      return words.refundPending(amount, when(at));
    case 'SUCCEEDED':
      return words.refundSucceeded(amount, when(finishedAt ?? at));
    case 'FAILED':
      return words.refundFailed(amount, when(finishedAt ?? at));
    case 'NEEDS_OPERATOR':
      return words.refundOpen(amount);
  }
}

function voidTicketsOf(content: OfferedOrder): Html | null {
  const { order, texts } = content;
  const words = texts.changes;
  const why: Readonly<Record<VoidReason, string>> = {
    TICKET_CANCELLED: words.givenBack,
    REPLACED: words.replaced,
    PERFORMANCE_CANCELLED: words.ofCancelledDate,
    ORDER_CANCELLED: words.ofCancelledOrder,
  };
  if (order.voidTickets.length === 0) return null;
  return html`<details>
    <summary>${words.voidTickets(order.voidTickets.length)}</summary>
    <ul class="lines">
      ${order.voidTickets.map(
        (ticket) =>
          html`<li>
            <span class="short">${numberOf(ticket.id)}</span> <s>${ticketInWords(ticket, content)}</s>:
            ${why[ticket.voidReason]}
          </li>`,
      )}
    </ul>
  </details>`;
}
