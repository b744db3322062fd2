/** The tickets of an order as cards to show at the entrance: number, seat, holder, entry, prepaid perks and code. */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { OpenedOrder } from '#actors/personal-data.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { OrderView, TicketView } from '#domain/views.ts';
import { html, type Html } from './html.ts';
import { drawQr } from './qr.ts';
import { formatMoney, formatWhen } from './wording.ts';

/** The text of a ticket's code; null for a void ticket. */
export type CodeOf = (ticket: TicketView) => string | null;

interface TicketsContent {
  readonly order: OrderView;
  readonly opened: OpenedOrder;
  readonly definition: EventDefinition;
  readonly codeOf: CodeOf;
}

/** Codes drawn on one page, some 8 KB each; of a larger order the others come with the order's status. */
const CODES_DRAWN_MAX = 200;

/** Codes drawn without giving the loop back: under 4 ms. */
const CODES_A_SLICE = 6;

/** Long enough to find one among many, and for people to read out; operators search by it. */
const SHORT_LENGTH = 8;

/** The end of an id, for people. What is left of the id is still a secret. */
export function shortOf(id: string): string {
  return id.slice(-SHORT_LENGTH);
}

/** The code of each ticket that is shown; what stands in its place for a void one is for people only. */
export async function drawCodes({ order, codeOf }: TicketsContent): Promise<readonly Html[]> {
  const codes: Html[] = [];
  for (const ticket of order.tickets.slice(0, CODES_DRAWN_MAX)) {
    const code = codeOf(ticket);
    codes.push(code === null ? html`<p class="stamp">Void</p>` : drawQr(code));
    if (codes.length % CODES_A_SLICE === 0) await nextRound();
  }
  return codes;
}

export function ticketsOf(content: TicketsContent, codes: readonly Html[]): Html {
  const { order } = content;
  const isVoid = order.tickets.some(({ isValid }) => !isValid);
  const undrawn = order.ticketCount - codes.length;
  return html`<section class="all-tickets">
    <h2>${isVoid ? 'Tickets (void)' : 'Tickets'}</h2>
    ${isVoid ? html`<p>These tickets are void: no door lets anybody in with them.</p>` : null}
    <ul class="tickets">
      ${codes.map((code, place) => cardOf(content, place, code))}
    </ul>
    ${undrawn > 0 ? html`<p class="quiet">and ${undrawn} more tickets</p>` : null}
  </section>`;
}

function cardOf({ order, opened, definition }: TicketsContent, place: number, code: Html): Html {
  const ticket = order.tickets[place]!;
  const attendee = opened.attendees[ticket.itemIndex]?.[ticket.offset];
  const type = definition.ticketTypes.find(({ id }) => id === ticket.ticketTypeId);
  const performance = order.event.performances.find(({ id }) => id === ticket.performanceId);
  const perks = perksOf(order, ticket);
  return html`<li class="ticket ${ticket.isValid ? '' : 'void'}">
    <div class="code">
      ${code}
      <p class="short">${shortOf(ticket.id)}</p>
    </div>
    <div class="about">
      <p class="quiet small">${place + 1} of ${order.ticketCount}</p>
      <p class="event">${order.event.name}</p>
      <p><strong>${type?.name ?? ticket.ticketTypeId}</strong></p>
      ${seatOf(ticket)} ${attendee === undefined ? null : html`<p class="holder">${attendee.name}</p>`}
      <p>${whenOf(performance, definition.timezone)}</p>
      ${type === undefined ? null : entryOf(type, order.currency)}
      ${perks.length === 0 ? null : html`<p class="perks">Prepaid: ${perks.join(', ')}</p>`}
    </div>
  </li>`;
}

/** The performance's name and beginning, because a ticket is shown alone. */
function whenOf(performance: OrderView['event']['performances'][number] | undefined, timeZone: string): string {
  if (performance === undefined) return '';
  return performance.startsAt === null
    ? performance.name
    : `${performance.name}, ${formatWhen(performance.startsAt, timeZone)}`;
}

/** Until when a ticket lets in, and what a later entry costs. */
function entryOf({ entryCutoff, lateFee }: EventDefinition['ticketTypes'][number], currency: string): Html | null {
  if (entryCutoff === null) return null;
  const after = lateFee === null ? '' : `, ${formatMoney(lateFee, currency)} at the entrance after that`;
  return html`<p class="small">Entry until ${entryCutoff}${after}</p>`;
}

function seatOf({ section, rowLabel, seatLabel }: TicketView): Html | null {
  if (seatLabel === null) return null;
  const row = rowLabel === null ? '' : `row ${rowLabel}, `;
  return html`<p class="seat">${section === null ? '' : `${section}, `}${row}seat ${seatLabel}</p>`;
}

/** A ticket's share of the perks that were bought with its item; what cannot be shared equally goes to the first tickets. */
function perksOf(order: OrderView, { itemIndex, offset }: TicketView): readonly string[] {
  const item = order.items[itemIndex];
  if (item === undefined) return [];
  return item.barPerks.flatMap(({ barPerkId, quantity }) => {
    const share = Math.floor(quantity / item.ticketCount) + (offset < quantity % item.ticketCount ? 1 : 0);
    const name = order.barPerks.find(({ id }) => id === barPerkId)?.name ?? barPerkId;
    return share === 0 ? [] : [`${share} × ${name}`];
  });
}
