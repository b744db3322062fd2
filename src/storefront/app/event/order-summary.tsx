/** What is about to be bought, how long it is held, and the button. */
import type { ComponentChildren } from 'preact';
import type { EventPayload, Hold } from '#client/bodies.ts';
import { dayAndHour, price } from '../format.ts';
import { Countdown } from '../parts/countdown.tsx';
import type { FormValues } from './checkout-fields.tsx';
import { SeatNames } from './seat-names.tsx';
import type { SeatRegister } from './seat-register.ts';
import { ticketTypeOf, unitPrice } from './selection.ts';

interface OrderSummaryProps {
  readonly event: EventPayload;
  readonly hold: Hold;
  readonly values: FormValues;
  readonly total: number;
  readonly register: SeatRegister;
  readonly children: ComponentChildren;
}

export function OrderSummary({ event, hold, values, total, register, children }: OrderSummaryProps) {
  const dates = new Set(hold.items.map((line) => line.performance_id));
  return (
    <section class="basket" aria-label="Your order">
      <div class="basket-head">
        <h2>{event.name}</h2>
        <Countdown until={hold.expires_at} label="Held for you for" />
      </div>
      {event.performances
        .filter(({ id }) => dates.has(id))
        .map((date) => (
          <div>
            <p class="small quiet">
              {date.name}
              {date.starts_at !== null && ` · ${dayAndHour(date.starts_at, event.timezone)}`}
            </p>
            <ul class="lines">
              {hold.items.map((line, index) =>
                line.performance_id !== date.id ? null : (
                  <>
                    <li class="line">
                      <div>
                        <b>
                          {line.quantity} × {ticketTypeOf(event, line.ticket_type_id)?.name}
                        </b>
                        <SeatNames register={register} seatIds={line.seat_ids} />
                      </div>
                      <span class="line-price">{price(line.quantity * unitPrice(event, line), event.currency)}</span>
                    </li>
                    {extrasOf(event, line.ticket_type_id, index, values).map(({ name, quantity, cents }) => (
                      <li class="line extra">
                        <div>
                          {quantity} × {name}
                        </div>
                        <span class="line-price">{price(cents, event.currency)}</span>
                      </li>
                    ))}
                  </>
                ),
              )}
            </ul>
          </div>
        ))}
      <p class="total">
        <span>Total</span>
        <b>{price(total, event.currency)}</b>
      </p>
      {children}
    </section>
  );
}

/** The bar perks that were chosen for a hold. */
export function perksOf(event: EventPayload, hold: Hold, values: FormValues) {
  return hold.items.flatMap(({ ticket_type_id }, index) =>
    chosenPerks(event, ticket_type_id, index, values).map(({ perk: { id, price }, quantity }) => ({
      id,
      quantity,
      price,
    })),
  );
}

function chosenPerks(event: EventPayload, ticketTypeId: string, index: number, values: FormValues) {
  return (ticketTypeOf(event, ticketTypeId)?.barPerks ?? [])
    .map((perk) => ({ perk, quantity: Number(values[`perk-${index}-${perk.id}`] ?? 0) }))
    .filter(({ quantity }) => quantity > 0);
}

function extrasOf(event: EventPayload, ticketTypeId: string, index: number, values: FormValues) {
  return chosenPerks(event, ticketTypeId, index, values).map(({ perk, quantity }) => ({
    name: perk.name,
    quantity,
    cents: perk.price * quantity,
  }));
}
