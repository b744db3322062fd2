/**
 * Pages on which buyers change a paid order: the choice of tickets, then what it comes to with the one button that does
 * it. They have no script: each is a form.
 *
 * 1. What was chosen comes back with the button, so that nothing is kept between two pages.
 * 2. A withdrawal is of all tickets at once, or of a part where that is asked for: its first page has the button.
 */
import type { Brand } from '#brand/brand.ts';
import type { AmendmentQuote } from '#domain/amendment-request.ts';
import { isStageOpen } from '#domain/catalogue/sale-plan.ts';
import { numberOf } from '#domain/orders/told-numbers.ts';
import type { TicketView } from '#domain/view.ts';
import type { OpenedOrder } from '#privacy/personal-data.ts';
import { refusalInWords } from '#texts/refusal-words.ts';
import type { Refused } from '../protocol/errors.ts';
import { toDetailBody } from '../protocol/formats.ts';
import { changeHref, offerOf, termsOf, unitsOf, type ChangeKind, type OfferedOrder } from './change-offers.ts';
import { html, type Html, type Page } from './html.ts';
import { ticketInWords } from './order-tickets.ts';

/** The fields of a form as they came. */
export type FormFields = Readonly<Record<string, string>>;

export interface ChangeContent extends OfferedOrder {
  readonly brand: Brand;
  readonly opened: OpenedOrder;
  readonly kind: ChangeKind;
  readonly datesOnSale: readonly string[];
  readonly fields: FormFields;
  /** Why it was not done; a stale quote has the new one. */
  readonly refusal: Refused | null;
  readonly quote: AmendmentQuote | null;
}

/** The fields whose values are ids of tickets, of one unit each. */
export const UNIT_FIELD = 'unit.';

/** Before the id of a ticket: the seat that it gets, and who comes with it. */
export const SEAT_FIELD = 'seat.';
export const NAME_FIELD = 'name.';
export const EMAIL_FIELD = 'email.';

/** Longer lists of names are the organizer's. */
const NAMES_MAX = 200;

export function changePage(content: ChangeContent): Page {
  const { texts, brand, order, kind, quote } = content;
  const words = texts.changes;
  const title = kind === 'withdrawal' ? words.withdrawTitle : words[kind];
  return {
    texts,
    brand,
    title: `${order.event.name}: ${title}`,
    back: { href: `/orders/${order.id}`, label: texts.sandbox.yourOrder },
    body: quote === null ? choiceOf(content, title) : quoteOf(content, quote, title),
  };
}

function troubleOf({ refusal, texts, definition, kind }: ChangeContent): Html | null {
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
  const none = kind === 'attendees' ? texts.changes.nobodyRenamed : texts.changes.chooseSome;
  const sentence = isEmpty(detail) ? none : refusalInWords({ code: refusal.code, detail }, words);
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
    ${formOf(content, offer.tickets)}
  </section>`;
}

/** What is asked for, and the button that goes on to the quote. */
function formOf(content: ChangeContent, tickets: readonly TicketView[]): Html {
  const { texts, order, kind } = content;
  const words = texts.changes;
  const listed = kind === 'attendees' ? tickets.slice(0, NAMES_MAX) : tickets;
  const more = order.ticketCount - order.tickets.length + tickets.length - listed.length;
  const fields = kind === 'attendees' ? peopleOf(content, listed) : choicesOf(content, listed);
  return html`<form method="post" action="${changeHref(order, kind)}">
    ${fields} ${kind === 'change' ? destinationOf(content) : null}
    ${more > 0 ? html`<p class="quiet small">${words.more(more)}</p>` : null}
    <p class="actions">
      <button>${words.goOn}</button>
      <a class="button plain" href="/orders/${order.id}">${words.leave}</a>
    </p>
    <p class="quiet small">${words.nothingYet}</p>
  </form>`;
}

/** Tickets to choose among: whole units, or for new codes each by itself. */
function choicesOf(content: ChangeContent, tickets: readonly TicketView[]): Html {
  const { texts, order, kind, fields } = content;
  const { cancelWhich, changeWhich, reissueWhich } = texts.changes;
  const question = { withdrawal: cancelWhich, cancel: cancelWhich, change: changeWhich, reissue: reissueWhich };
  const units = kind === 'reissue' ? tickets.map((ticket) => [ticket]) : unitsOf(order, tickets);
  const chosen = new Set(
    Object.entries(fields).flatMap(([name, ids]) => (name.startsWith(UNIT_FIELD) ? ids.split(' ') : [])),
  );
  return html`<fieldset>
    <legend>${question[kind as keyof typeof question]}</legend>
    ${units.map((unit, index) => {
      const isChosen = units.length === 1 || unit.some(({ id }) => chosen.has(id));
      return html`<label class="choice">
        <input
          type="checkbox"
          name="${UNIT_FIELD}${index}"
          value="${unit.map(({ id }) => id).join(' ')}"
          ${isChosen ? CHECKED : null}
        />
        <span>${unitInWords(unit, content)}</span>
      </label>`;
    })}
  </fieldset>`;
}

/** The fields for the new date, type and seats; a field that is left as it is changes nothing. */
function destinationOf({ texts, definition, datesOnSale, fields, now }: ChangeContent): Html {
  const { changes: words, frame } = texts;
  const dates = definition.performances
    .filter(({ id }) => datesOnSale.includes(id))
    .map(({ id, name, startsAt }) => ({
      id,
      name: startsAt === null ? name : `${name}, ${frame.dayAndHour(startsAt, definition.timezone)}`,
    }));
  const open = definition.sellingStages.filter((stage) => isStageOpen(stage, now));
  const types = definition.ticketTypes.filter(({ id }) => open.some(({ prices }) => prices[id] !== undefined));
  const isNumbered = definition.localities.some(({ seating }) => seating === 'NUMBERED');
  const select = (name: string, label: string, options: readonly { readonly id: string; readonly name: string }[]) =>
    html`<label class="field">
      <span>${label}</span>
      <select name="${name}">
        <option value="">${words.stays}</option>
        ${options.map(
          (option) =>
            html`<option value="${option.id}" ${fields[name] === option.id ? SELECTED : null}>${option.name}</option>`,
        )}
      </select>
    </label>`;
  const seats = (value: string, label: string, isChosen: boolean) =>
    html`<label class="choice">
      <input type="radio" name="seats" value="${value}" ${isChosen ? CHECKED : null} />
      <span>${label}</span>
    </label>`;
  return html`${dates.length > 1 ? select('performance_id', words.toDate, dates) : null}
  ${types.length > 1 ? select('ticket_type_id', words.toType, types) : null}
  ${
    isNumbered
      ? html`<fieldset>
          <legend>${words.toSeats}</legend>
          ${seats('same', words.sameSeats, fields['seats'] !== 'best')}
          ${seats('best', words.bestSeats, fields['seats'] === 'best')}
        </fieldset>`
      : null
  }`;
}

/** Who comes with each ticket, as fields. */
function peopleOf(content: ChangeContent, tickets: readonly TicketView[]): Html {
  const { texts, opened, fields } = content;
  const words = texts.changes;
  return html`<h2>${words.attendeesWho}</h2>
    ${tickets.map((ticket) => {
      const before = opened.attendees[ticket.itemIndex]?.[ticket.offset];
      const [name, email] = [`${NAME_FIELD}${ticket.id}`, `${EMAIL_FIELD}${ticket.id}`];
      return html`<fieldset class="person">
        <legend>${ticketInWords(ticket, content)} <span class="quiet small">${numberOf(ticket.id)}</span></legend>
        <label class="field">
          <span>${words.name}</span>
          <input name="${name}" value="${fields[name] ?? before?.name ?? ''}" maxlength="200" autocomplete="off" />
        </label>
        <label class="field">
          <span>${words.email}</span>
          <input
            type="email"
            name="${email}"
            value="${fields[email] ?? before?.email ?? ''}"
            maxlength="254"
            autocomplete="off"
          />
        </label>
      </fieldset>`;
    })}`;
}

const SELECTED = html`selected`;
const CHECKED = html`checked`;

function unitInWords(unit: readonly TicketView[], content: ChangeContent): Html {
  const { texts, opened } = content;
  const [first] = unit;
  const names = unit.flatMap(({ itemIndex, offset }) => opened.attendees[itemIndex]?.[offset]?.name ?? []);
  const group = unit.length > 1 ? [texts.changes.group(unit.length)] : [];
  return html`${ticketInWords(first!, content)}
    <span class="quiet small"
      >${[...group, ...names, unit.map(({ id }) => numberOf(id)).join(', ')].join(' · ')}</span
    >`;
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
  return html`<p>${words.withdrawFrom(numberOf(order.id), placed)}</p>
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
      ${formOf({ ...content, fields: {} }, offer.tickets)}
    </details>
  </section>`;
}

/** What happens to a ticket; of a withdrawal the page has said it. */
function quotedInWords(quoted: AmendmentQuote['tickets'][number], content: ChangeContent): Html {
  const { texts, kind, fields, order } = content;
  const words = texts.changes;
  const what = {
    CANCEL: words.given,
    CHANGE: words.becomes(ticketInWords(quoted, content)),
    REISSUE: words.newCode,
    RENAME: words.willCome(fields[`${NAME_FIELD}${quoted.ticketId}`] ?? ''),
  };
  const ticket = order.tickets.find(({ id }) => id === quoted.ticketId) ?? quoted;
  return html`${ticketInWords(ticket, content)}
    <span class="quiet small">${numberOf(quoted.ticketId)}</span>
    ${kind === 'withdrawal' ? null : html`<strong class="becomes">${what[quoted.action]}</strong>`}`;
}

function moneyOf(quote: AmendmentQuote, { texts }: ChangeContent): Html {
  const { creditCents, perksCreditCents, chargeCents, feeCents, toRefundCents, toPayCents, currency } = quote;
  const words = texts.changes;
  const row = ([name, cents, kind = '']: readonly [name: string, cents: number, kind?: string]) =>
    cents === 0
      ? html``
      : html`<tr class="${kind}">
          <td>${name}</td>
          <td>${texts.frame.money(cents, currency)}</td>
        </tr>`;
  const isFree = creditCents + chargeCents + feeCents === 0;
  const note = isFree ? words.free : toRefundCents > 0 ? words.wayBack : words.nothingBack;
  return html`${
    isFree
      ? null
      : html`<table>
          ${row([words.charge, chargeCents])} ${row([words.credit, creditCents])}
          ${row([words.perksCredit, perksCreditCents])} ${row([words.fee, feeCents])}
          ${row([words.toRefund, toRefundCents, 'sum total'])} ${row([words.toPay, toPayCents, 'sum total'])}
        </table>`
  }
  ${toPayCents > 0 ? null : html`<p class="quiet small">${note}</p>`}`;
}

/** The button says what it does, and what is paid. */
function buttonOf({ tickets, toPayCents, currency }: AmendmentQuote, { kind, texts }: ChangeContent): string {
  const { changes: words, frame } = texts;
  if (toPayCents > 0) return words.changeAndPay(frame.money(toPayCents, currency));
  const n = tickets.length;
  switch (kind) {
    case 'withdrawal':
      return words.confirmWithdrawal;
    case 'cancel':
      return words.giveBack(n);
    case 'change':
      return words.changeTickets(n);
    case 'reissue':
      return words.makeCodes(n);
    case 'attendees':
      return words.rename(n);
  }
}
