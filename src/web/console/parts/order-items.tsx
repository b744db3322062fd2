/** What was bought on an order: tickets by type and date, extras, seats in words and the guests on the tickets. */
import type { Ticket } from '#client/bodies.ts';
import type { AdminOrder, OrderedItem, VoidTicket } from '../app/bodies.ts';
import { moment, money } from '../app/format.ts';
import { linkWith } from '../app/router.ts';

type Placed = Pick<Ticket, 'section' | 'row_label' | 'seat_label'>;

const VOID_REASONS: Readonly<Record<VoidTicket['void_reason'], string>> = {
  ORDER_CANCELLED: 'order cancelled',
  PERFORMANCE_CANCELLED: 'date cancelled',
  TICKET_CANCELLED: 'given back',
  REPLACED: 'replaced',
};

export function OrderItems({ order }: { readonly order: AdminOrder }) {
  const performances = new Map(order.event.performances.map((performance) => [performance.id, performance]));
  const more = order.ticket_count - order.ticket_objects.length;
  return (
    <section class="card">
      <h2>Tickets</h2>
      <ul class="items">
        {order.items.map((item, index) => {
          const performance = performances.get(item.performance_id);
          return (
            <ItemRows
              key={index}
              item={item}
              currency={order.currency}
              date={performance === undefined ? item.performance_id : performance.name}
              startsAt={performance?.starts_at ?? null}
            />
          );
        })}
        {order.discounts.map(({ code, amount }, index) => (
          <li key={`discount ${index}`}>
            <span>Code {code}</span>
            <span class="number">−{money(amount, order.currency)}</span>
          </li>
        ))}
      </ul>
      {order.ticket_objects.length > 0 && (
        <details class="guests" open={order.ticket_objects.length <= 12}>
          <summary>
            {order.ticket_objects.some(({ attendee }) => attendee !== null) ? 'Guests and seats' : 'Ticket by ticket'}
          </summary>
          <ol>
            {order.ticket_objects.map((ticket) => (
              <li key={ticket.id}>
                {placeOf(ticket)}
                {ticket.attendee !== null && (
                  <>
                    {' '}
                    <b>{ticket.attendee.name}</b> <span class="quiet">{ticket.attendee.email}</span>
                  </>
                )}
                {!ticket.valid && <span class="quiet"> void</span>}{' '}
                <a href={linkWith({ ticket: ticket.id }, 'events', order.event.id, 'doors', ticket.performance_id)}>
                  <code>{ticket.number}</code>
                </a>
              </li>
            ))}
          </ol>
          {more > 0 && <p class="quiet small">and {more} more.</p>}
        </details>
      )}
      {order.void_tickets.length > 0 && (
        <details class="guests">
          <summary>Void tickets</summary>
          <ol>
            {order.void_tickets.map((ticket) => (
              <li key={ticket.id}>
                {placeOf(ticket)} {ticket.attendee?.name} <span class="quiet">{VOID_REASONS[ticket.void_reason]}</span>{' '}
                <code class="quiet">{ticket.number}</code>
              </li>
            ))}
          </ol>
        </details>
      )}
    </section>
  );
}

interface ItemRowsProps {
  readonly item: OrderedItem;
  readonly currency: string;
  readonly date: string;
  readonly startsAt: string | null;
}

function ItemRows({ item, currency, date, startsAt }: ItemRowsProps) {
  return (
    <>
      <li>
        <span>
          <b>
            {item.quantity} × {item.ticket_type_name}
          </b>{' '}
          <span class="quiet">
            {date}
            {startsAt !== null && `, ${moment(startsAt)}`}
            {item.ticket_count !== item.quantity && ` · ${item.ticket_count} tickets`}
          </span>
        </span>
        <span class="number">{money(item.unit_price * item.quantity, currency)}</span>
      </li>
      {item.bar_perks.map((perk) => (
        <li key={perk.bar_perk_id} class="extra">
          <span>
            {perk.quantity} × {perk.name}
          </span>
          <span class="number">{money(perk.unit_price * perk.quantity, currency)}</span>
        </li>
      ))}
    </>
  );
}

/** Section, row and seat in words; '' on unnumbered places. */
export function placeOf({ section, row_label: row, seat_label: seat }: Placed): string {
  if (seat === null) return '';
  return [section, row === null ? null : `row ${row}`, `seat ${seat}`].filter((part) => part !== null).join(', ');
}
