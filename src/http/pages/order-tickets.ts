/**
 * The tickets of an order as cards to show at the entrance: picture, number, seat, holder, date,
 * place, price, entry, prepaid perks and code.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { OpenedOrder } from '#privacy/personal-data.ts';
import { numberOf } from '#domain/orders/told-numbers.ts';
import { doorsOf, type EventDefinition } from '#domain/catalogue/definition.ts';
import type { OrderView, TicketView } from '#domain/view.ts';
import type { ServedTexts } from '#texts/served.ts';
import { PICTURES_PATH } from '../protocol/fields.ts';
import { qrPath } from '../../web/qr-path.ts';
import { drawn, html, type Html } from './html.ts';
import { doorsAtOf, placeLine } from './place.ts';

/** The text of a ticket's code; null for a void ticket. */
export type CodeOf = (ticket: TicketView) => string | null;

interface TicketsContent {
  readonly texts: ServedTexts;
  readonly order: OrderView;
  readonly opened: OpenedOrder;
  readonly definition: EventDefinition;
  readonly codeOf: CodeOf;
}

/** Codes drawn on one page, some 8 KB each; of a larger order the others come with the order's status. */
const CODES_DRAWN_MAX = 200;

/** Codes drawn in one slice: under 4 ms. */
const CODES_A_SLICE = 6;

/** The code of each ticket that is shown; a void ticket has a text for people in its place. */
export async function drawCodes({ order, codeOf, texts }: TicketsContent): Promise<readonly Html[]> {
  const codes: Html[] = [];
  for (const ticket of order.tickets.slice(0, CODES_DRAWN_MAX)) {
    const code = codeOf(ticket);
    codes.push(code === null ? html`<p class="stamp">${texts.ticket.void}</p>` : drawQr(code, texts.ticket.qrCode));
    if (codes.length % CODES_A_SLICE === 0) await nextRound();
  }
  return codes;
}

export function ticketsOf(content: TicketsContent, codes: readonly Html[]): Html {
  const { order } = content;
  const words = content.texts.ticket;
  const isVoid = order.tickets.some(({ isValid }) => !isValid);
  const undrawn = order.ticketCount - codes.length;
  return html`<section class="all-tickets">
    <h2>${isVoid ? words.allVoid : words.all}</h2>
    ${isVoid ? html`<p>${words.voidNote}</p>` : null}
    <ul class="tickets">
      ${codes.map((code, index) => cardOf(content, index, code))}
    </ul>
    ${undrawn > 0 ? html`<p class="quiet">${words.more(undrawn)}</p>` : null}
  </section>`;
}

function cardOf({ order, opened, definition, texts }: TicketsContent, index: number, code: Html): Html {
  const ticket = order.tickets[index]!;
  const attendee = opened.attendees[ticket.itemIndex]?.[ticket.offset];
  const holder = attendee?.name ?? opened.customer?.name ?? null;
  const doorsAt = doorsAtOf(definition, ticket.performanceId);
  const type = definition.ticketTypes.find(({ id }) => id === ticket.ticketTypeId);
  const performance = order.event.performances.find(({ id }) => id === ticket.performanceId);
  const perks = perksOf(order, ticket);
  const { picture } = definition;
  return html`<li class="ticket ${ticket.isValid ? '' : 'void'}">
    ${picture === undefined ? null : html`<img src="${PICTURES_PATH}${picture}" alt="" />`}
    <div class="code">
      ${code}
      <p class="short">${numberOf(ticket.id)}</p>
    </div>
    <div class="about">
      <p class="quiet small">${texts.ticket.place(index + 1, order.ticketCount)}</p>
      <p class="event">${order.event.name}</p>
      <p><strong>${type?.name ?? ticket.ticketTypeId}</strong></p>
      ${seatOf(ticket, texts)} ${holder === null ? null : html`<p class="holder">${holder}</p>`}
      <p>${whenOf(performance, definition.timezone, texts)}</p>
      ${doorsAt === null ? null : html`<p>${texts.ticket.doorsAt(texts.frame.hour(doorsAt, definition.timezone))}</p>`}
      ${placeLine(definition, texts)} ${priceOf(ticket, order, type, texts)} ${doorsFor(ticket, definition, texts)}
      ${type === undefined ? null : entryOf(type, order.currency, texts)}
      ${perks.length === 0 ? null : html`<p class="perks">${texts.ticket.prepaid(perks.join(', '))}</p>`}
      ${ticket.replaces === null ? null : html`<p class="quiet small">${texts.changes.inPlaceOf(numberOf(ticket.replaces))}</p>`}
    </div>
  </li>`;
}

/** What the unit of a ticket cost, before discounts; null where its order has it at several prices. */
function priceOf(
  { ticketTypeId, performanceId }: TicketView,
  { items, currency }: OrderView,
  type: EventDefinition['ticketTypes'][number] | undefined,
  { frame, ticket: words }: ServedTexts,
): Html | null {
  const same = items.filter((item) => item.ticketTypeId === ticketTypeId && item.performanceId === performanceId);
  const [cents, ...others] = new Set(same.map(({ unitPriceCents }) => unitPriceCents));
  if (cents === undefined || others.length > 0) return null;
  const price = cents === 0 ? frame.free : frame.money(cents, currency);
  return html`<p class="small">${words.price(price, type?.groupSize ?? 1)}</p>`;
}

/** The performance's name and beginning, because a ticket is shown alone. */
function whenOf(
  performance: Pick<OrderView['event']['performances'][number], 'name' | 'startsAt'> | undefined,
  timeZone: string,
  { frame }: ServedTexts,
): string {
  if (performance === undefined) return '';
  return performance.startsAt === null
    ? performance.name
    : `${performance.name}, ${frame.dayAndHour(performance.startsAt, timeZone)}`;
}

/** The doors that take a ticket, where not every one does. */
function doorsFor(
  { ticketTypeId }: TicketView,
  definition: EventDefinition,
  { ticket: words }: ServedTexts,
): Html | null {
  const doors = doorsOf(definition);
  const taking = doors.filter(({ ticketTypeIds }) => ticketTypeIds?.includes(ticketTypeId) ?? true);
  if (taking.length === doors.length || taking.length === 0) return null;
  return html`<p class="doors">${words.doors(taking.map(({ name }) => name).join(', '), taking.length)}</p>`;
}

/** Until when a ticket lets in, and what a later entry costs. */
function entryOf(
  { entryCutoff, lateFee }: EventDefinition['ticketTypes'][number],
  currency: string,
  { frame, ticket: words }: ServedTexts,
): Html | null {
  if (entryCutoff === null) return null;
  const entry =
    lateFee === null ? words.entryUntil(entryCutoff) : words.entryLate(entryCutoff, frame.money(lateFee, currency));
  return html`<p class="small">${entry}</p>`;
}

function seatOf(ticket: TicketView, texts: ServedTexts): Html | null {
  const place = placeOf(ticket, texts);
  return place === null ? null : html`<p class="seat">${place}</p>`;
}

type Place = Pick<TicketView, 'ticketTypeId' | 'performanceId' | 'section' | 'rowLabel' | 'seatLabel'>;

/** Section, row and seat in words; null where seats have no numbers. */
function placeOf({ section, rowLabel, seatLabel }: Place, { ticket: words }: ServedTexts): string | null {
  if (seatLabel === null) return null;
  const row = rowLabel === null ? null : words.row(rowLabel);
  return [section, row, words.seat(seatLabel)].filter((part) => part !== null).join(', ');
}

/** A ticket in one line: its type, date and place. */
export function ticketInWords(
  ticket: Place,
  { texts, order, definition }: Pick<TicketsContent, 'texts' | 'order' | 'definition'>,
): string {
  const type = definition.ticketTypes.find(({ id }) => id === ticket.ticketTypeId)?.name ?? ticket.ticketTypeId;
  const dates = [...order.event.performances, ...definition.performances];
  const date = whenOf(
    dates.find(({ id }) => id === ticket.performanceId),
    definition.timezone,
    texts,
  );
  return [type, date, placeOf(ticket, texts)].filter((part) => part !== null && part !== '').join(', ');
}

function perksOf(order: OrderView, { barPerks }: TicketView): readonly string[] {
  return barPerks.map(({ barPerkId, quantity }) => {
    const name = order.barPerks.find(({ id }) => id === barPerkId)?.name ?? barPerkId;
    return `${quantity} × ${name}`;
  });
}

/** Draws a text as a QR code. */
function drawQr(text: string, label: string): Html {
  const { size, path } = qrPath(text);
  const box = `0 0 ${size} ${size}`;
  return html`<svg viewBox="${box}" role="img" aria-label="${label}" shape-rendering="crispEdges">
    ${drawn(`<path fill="#000" d="${path}"/>`)}
  </svg>`;
}
