/** What the buyer of an order may change by themselves now, with which tickets, until when and for which fee. */
import type { BuyerChanges, ChangeRule, EventDefinition } from '#domain/catalogue/definition.ts';
import { checkRule, withdrawalEndOf } from '#domain/orders/amendments/permission.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView, TicketView } from '#domain/view.ts';
import type { ServedTexts } from '#texts/served.ts';
import { html, type Html } from './html.ts';

/** What can be asked for at a page of its own. */
const CHANGE_KINDS = ['withdrawal', 'cancel', 'change', 'reissue', 'attendees'] as const;

export type ChangeKind = (typeof CHANGE_KINDS)[number];

export const isChangeKind = (kind: string): kind is ChangeKind => (CHANGE_KINDS as readonly string[]).includes(kind);

/** An order as its pages read it. */
export interface OfferedOrder {
  readonly texts: ServedTexts;
  readonly order: OrderView;
  readonly definition: EventDefinition;
  readonly now: number;
}

interface Offer {
  readonly tickets: readonly TicketView[];
  /** When the offer ends, by date; null where it does not end. */
  readonly ends: ReadonlyMap<string, number | null>;
  readonly rule: ChangeRule | null;
  /** Until when there is no fee; null where no ticket is free of it now. */
  readonly freeUntil: number | null;
}

/** What is offered of a kind; null where no ticket of the order may be changed so. */
export function offerOf(kind: ChangeKind, { order, definition, now }: Omit<OfferedOrder, 'texts'>): Offer | null {
  if (order.status !== 'CONFIRMED' && order.status !== 'PARTIALLY_PAID') return null;
  const { buyerChanges } = definition;
  const rule = ruleOf(kind, buyerChanges);
  const dates = new Map(order.event.performances.map((performance) => [performance.id, performance]));
  const ends = new Map<string, number | null>();
  let freeUntil: number | null = null;
  const tickets = order.tickets.filter(({ performanceId, ticketTypeId }) => {
    const date = dates.get(performanceId);
    const withdrawalEnd = withdrawalEndOf(buyerChanges, order.placedAt, date);
    const isFree = kind !== 'withdrawal' && kind !== 'cancel' ? false : now < withdrawalEnd;
    const found = kind === 'withdrawal' ? null : checkRule(rule, ticketTypeId, [date], now);
    if (found === null ? !isFree : isRefusal(found)) return false;
    ends.set(performanceId, found === null ? withdrawalEnd : (found as { readonly endsAt: number | null }).endsAt);
    if (isFree) freeUntil = Math.min(freeUntil ?? withdrawalEnd, withdrawalEnd);
    return true;
  });
  return tickets.length === 0 ? null : { tickets, ends, rule, freeUntil };
}

/** The rule that a kind of change follows: new codes follow the one for changes. */
function ruleOf(kind: ChangeKind, changes: BuyerChanges | undefined): ChangeRule | null {
  if (kind === 'withdrawal') return null;
  return changes?.[kind === 'reissue' ? 'change' : kind] ?? null;
}

/** The tickets that are changed together: those of a unit. The last one may go on behind the page, and is left out. */
export function unitsOf({ ticketsNextAfter }: OrderView, tickets: readonly TicketView[]): readonly TicketView[][] {
  const units = [...Map.groupBy(tickets, ({ unit }) => unit).values()];
  return ticketsNextAfter === null ? units : units.slice(0, -1);
}

/** Until when and for which fee: "Until Sat, 23 September 2028, 20:00 · fee: €2.00 a ticket". */
export function termsOf({ ends, rule, freeUntil }: Offer, { texts, order, definition }: OfferedOrder): string {
  const { changes: words, frame } = texts;
  const moment = (end: number): string => frame.dayAndHour(end, definition.timezone);
  const dated = order.event.performances.flatMap(({ id, name }) => {
    const end = ends.get(id) ?? null;
    return end === null ? [] : [{ name, end }];
  });
  const isOne = new Set([...ends.values()]).size === 1;
  const until = isOne
    ? dated.slice(0, 1).map(({ end }) => words.until(moment(end)))
    : dated.map(({ name, end }) => words.dateUntil(name, moment(end)));
  const fees = [
    ...(rule !== null && rule.fee > 0 ? [words.feeEach(frame.money(rule.fee, definition.currency))] : []),
    ...(rule !== null && rule.feePercent > 0 ? [words.feePercent(rule.feePercent)] : []),
  ];
  const isFreeNow = freeUntil !== null && rule !== null && fees.length > 0;
  const terms = [
    ...until,
    ...(isFreeNow ? [words.freeUntil(moment(freeUntil!))] : []),
    fees.length === 0 ? words.withoutFee : words.fees(fees),
  ].join(' · ');
  return `${terms.slice(0, 1).toUpperCase()}${terms.slice(1)}`;
}

/** The way to the page of a kind. */
export const changeHref = ({ id }: Pick<OrderView, 'id'>, kind: ChangeKind): string => `/orders/${id}/changes/${kind}`;

/** The button that the directive on consumer rights asks for, while the days of withdrawal run; else null. */
export function withdrawalButton(content: OfferedOrder): Html | null {
  const offer = offerOf('withdrawal', content);
  if (offer === null) return null;
  return html`<p class="actions">
      <a class="button plain" href="${changeHref(content.order, 'withdrawal')}">${content.texts.changes.withdraw}</a>
    </p>
    <p class="quiet small screen">${termsOf(offer, content)}</p>`;
}

/** What may be changed, each with its terms and the way there; null where that is nothing. */
export function offersOf(content: OfferedOrder): Html | null {
  const words = content.texts.changes;
  const offers = CHANGE_KINDS.filter((kind) => kind !== 'withdrawal').flatMap((kind) => {
    const offer = offerOf(kind, content);
    if (offer === null) return [];
    return [
      html`<li>
        <a href="${changeHref(content.order, kind)}">${words[kind]}</a>
        <span class="quiet small">${termsOf(offer, content)}</span>
      </li>`,
    ];
  });
  if (offers.length === 0) return null;
  return html`<section class="screen">
    <h2>${words.offers}</h2>
    <ul class="offers">
      ${offers}
    </ul>
  </section>`;
}
