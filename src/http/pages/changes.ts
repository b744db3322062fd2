/**
 * Pages on which buyers change a paid order: the choice of tickets, then what it comes to with the one button that does
 * it. They have no script: each is a form.
 *
 * 1. What was chosen comes back with the button, so that nothing is kept between two pages.
 * 2. A withdrawal is of all tickets at once, or of a part where that is asked for: its first page has the button.
 */
import type { AmendmentQuote } from '#domain/amendment-request.ts';
import type { TicketView } from '#domain/view.ts';
import type { OpenedOrder } from '#privacy/personal-data.ts';
import { refusalInWords } from '#texts/refusal-words.ts';
import type { Refused } from '../protocol/errors.ts';
import { toDetailBody } from '../protocol/formats.ts';
import { changeHref, offerOf, termsOf, unitsOf, type ChangeKind, type OfferedOrder } from './change-offers.ts';
import { html, type Html, type Page } from './html.ts';
import { shortOf, ticketInWords } from './order-tickets.ts';

/** The fields of a form as they came. */
export type FormFields = Readonly<Record<string, string>>;

export interface ChangeContent extends OfferedOrder {
  readonly opened: OpenedOrder;
  readonly kind: ChangeKind;
  readonly fields: FormFields;
  /** Why it was not done; a stale quote has the new one. */
  readonly refusal: Refused | null;
  readonly quote: AmendmentQuote | null;
}

/** The fields whose values are ids of tickets, of one unit each. */
export const UNIT_FIELD = 'unit.';

export function changePage(content: ChangeContent): Page {
  const { texts, order, kind, quote } = content;
  const words = texts.changes;
  const title = kind === 'withdrawal' ? words.withdrawTitle : words[kind];
  return {
    texts,
    title: `${order.event.name}: ${title}`,
    back: { href: `/orders/${order.id}`, label: texts.sandbox.yourOrder },
    body: quote === null ? choiceOf(content, title) : quoteOf(content, quote, title),
  };
}

function troubleOf({ refusal, texts, definition }: ChangeContent): Html | null {
  if (refusal === null) return null;
  const { refusals, refused, frame } = texts;
  const detail = toDetailBody(refusal.detail);
  const at = (moment: string, write: typeof frame.hour): string => write(Date.parse(moment), definition.timezone);
  const words = {
    refusals,
    refused,
    hour: (moment: string) => at(moment, frame.hour),
    dayAndHour: (moment: string) => at(moment, frame.dayAndHour),
  };
  const sentence = isEmpty(detail) ? texts.changes.chooseSome : refusalInWords({ code: refusal.code, detail }, words);
  return html`<p class="notice" role="alert">${sentence}</p>`;
}

/** Whether a request named no ticket. */
function isEmpty({ errors }: Readonly<Record<string, unknown>>): boolean {
  return Array.isArray(errors) && (errors as { readonly path: string }[])[0]?.path === '';
}

// ── the choice ───────────────────────────────────────────────────────────────────────────────────────────────────────

function choiceOf(content: ChangeContent, title: string): Html {
  const { texts, kind } = content;
  const words = texts.changes;
  const offer = offerOf(kind, content);
  if (offer === null) {
    const over = kind === 'withdrawal' ? words.withdrawOver : texts.refused.notOffered;
    return html`<section>
      <h1>${title}</h1>
      <p>${over}</p>
      ${leaveOf(content)}
    </section>`;
  }
  return html`<section>
    <h1>${title}</h1>
    ${troubleOf(content)}
    <p class="quiet">${termsOf(offer, content)}</p>
    ${formOf(content, offer.tickets, words.cancelWhich)}
  </section>`;
}

/** Tickets to choose among, and the button that goes on to the quote. */
function formOf(content: ChangeContent, tickets: readonly TicketView[], question: string): Html {
  const { texts, order, kind, fields } = content;
  const words = texts.changes;
  const units = unitsOf(order, tickets);
  const more = order.ticketCount - order.tickets.length;
  return html`<form method="post" action="${changeHref(order, kind)}">
    <fieldset>
      <legend>${question}</legend>
      ${units.map((unit, index) => {
        const name = `${UNIT_FIELD}${index}`;
        const isChosen = units.length === 1 || name in fields;
        return html`<label class="choice">
          <input
            type="checkbox"
            name="${name}"
            value="${unit.map(({ id }) => id).join(' ')}"
            ${isChosen ? CHECKED : null}
          />
          <span>${unitInWords(unit, content)}</span>
        </label>`;
      })}
    </fieldset>
    ${more > 0 ? html`<p class="quiet small">${words.more(more)}</p>` : null}
    <p class="actions">
      <button>${words.goOn}</button>
      <a class="button plain" href="/orders/${order.id}">${words.leave}</a>
    </p>
    <p class="quiet small">${words.nothingYet}</p>
  </form>`;
}

const CHECKED = html`checked`;

function unitInWords(unit: readonly TicketView[], content: ChangeContent): Html {
  const { texts, opened } = content;
  const [first] = unit;
  const names = unit.flatMap(({ itemIndex, offset }) => opened.attendees[itemIndex]?.[offset]?.name ?? []);
  const group = unit.length > 1 ? [texts.changes.group(unit.length)] : [];
  return html`${ticketInWords(first!, content)}
    <span class="quiet small">${[...group, ...names, unit.map(({ id }) => shortOf(id)).join(', ')].join(' · ')}</span>`;
}

function leaveOf({ texts, order }: ChangeContent): Html {
  return html`<p class="actions">
    <a class="button plain" href="/orders/${order.id}">${texts.changes.leave}</a>
  </p>`;
}

// ── the quote ────────────────────────────────────────────────────────────────────────────────────────────────────────

function quoteOf(content: ChangeContent, quote: AmendmentQuote, title: string): Html {
  const { texts, order, kind, fields } = content;
  const words = texts.changes;
  const isWithdrawal = kind === 'withdrawal';
  const hours = texts.frame.hour(quote.expiresAt, content.definition.timezone);
  return html`<section>
      <h1>${isWithdrawal ? title : words.quoteTitle}</h1>
      ${troubleOf(content)} ${isWithdrawal ? declarationOf(content) : null}
      <ul class="lines">
        ${quote.tickets.map((ticket) => html`<li>${quotedInWords(ticket, content)}</li>`)}
      </ul>
      ${moneyOf(quote, content)}
      <form class="actions" method="post" action="${changeHref(order, kind)}">
        ${Object.entries(fields).map(([name, value]) =>
          name === 'quote' ? html`` : html`<input type="hidden" name="${name}" value="${value}" />`,
        )}
        <input type="hidden" name="quote" value="${quote.quote}" />
        <button>${buttonOf(quote, content)}</button>
        <a class="button plain" href="/orders/${order.id}">${words.leave}</a>
      </form>
      <p class="quiet small">${words.quoteHolds(hours)}</p>
    </section>
    ${isWithdrawal ? partOf(content) : null}`;
}

/** What the directive on consumer rights asks for: who withdraws, from what, and where the confirmation goes. */
function declarationOf({ texts, order, opened, definition }: ChangeContent): Html {
  const words = texts.changes;
  const placed = texts.frame.dayAndHour(order.placedAt, definition.timezone);
  const { customer } = opened;
  return html`<p>${words.withdrawFrom(shortOf(order.id), placed)}</p>
    ${customer === null ? null : html`<p>${words.withdrawName(customer.name, customer.email)}</p>`}
    <p>${words.withdrawLead}</p>`;
}

/** The same for some of the tickets, where there are several. */
function partOf(content: ChangeContent): Html | null {
  const offer = offerOf('withdrawal', content);
  if (offer === null || unitsOf(content.order, offer.tickets).length < 2) return null;
  return html`<section>
    <details>
      <summary>${content.texts.changes.withdrawSome}</summary>
      ${formOf({ ...content, fields: {} }, offer.tickets, content.texts.changes.cancelWhich)}
    </details>
  </section>`;
}

/** What happens to a ticket; of a withdrawal the page has said it. */
function quotedInWords(quoted: AmendmentQuote['tickets'][number], content: ChangeContent): Html {
  const ticket = content.order.tickets.find(({ id }) => id === quoted.ticketId) ?? quoted;
  const what = content.kind === 'withdrawal' ? '' : ` · ${content.texts.changes.given}`;
  return html`${ticketInWords(ticket, content)} <span class="quiet small">${shortOf(quoted.ticketId)}${what}</span>`;
}

function moneyOf(quote: AmendmentQuote, { texts }: ChangeContent): Html {
  const { creditCents, perksCreditCents, feeCents, toRefundCents, currency } = quote;
  const words = texts.changes;
  const row = (name: string, cents: number, kind = '') =>
    html`<tr class="${kind}">
      <td>${name}</td>
      <td>${texts.frame.money(cents, currency)}</td>
    </tr>`;
  const rows = [
    ...(creditCents > 0 ? [row(words.credit, creditCents)] : []),
    ...(perksCreditCents > 0 ? [row(words.perksCredit, perksCreditCents)] : []),
    ...(feeCents > 0 ? [row(words.fee, feeCents)] : []),
    ...(toRefundCents > 0 ? [row(words.toRefund, toRefundCents, 'sum total')] : []),
  ];
  const note = toRefundCents > 0 ? words.wayBack : words.nothingBack;
  return html`${
      rows.length === 0
        ? null
        : html`<table>
            ${rows}
          </table>`
    }
    <p class="quiet small">${note}</p>`;
}

function buttonOf({ tickets }: AmendmentQuote, { kind, texts }: ChangeContent): string {
  return kind === 'withdrawal' ? texts.changes.confirmWithdrawal : texts.changes.giveBack(tickets.length);
}
