/** The order before it is placed: its items, how long they are held, and its total. */
import type { ComponentChildren } from 'preact';
import type { EventPayload, Hold } from '#client/bodies.ts';
import { dayAndHour, money, price, texts } from '../app/language.ts';
import { Countdown, VatLine } from '../parts/controls.tsx';
import { chosenPerks, type FormValues } from './fields.tsx';
import { SeatNames } from '../event/seat-register.tsx';
import type { KnownSeats } from '../../seat-choice/words.ts';
import { ticketTypeOf, unitPrice } from '../event/selection.ts';

interface OrderSummaryProps {
  readonly event: EventPayload;
  readonly hold: Hold;
  readonly values: FormValues;
  readonly total: number;
  readonly discount: { readonly code: string | null; readonly amount: number };
  readonly register: KnownSeats;
  readonly children: ComponentChildren;
}

export function OrderSummary({ event, hold, values, total, discount, register, children }: OrderSummaryProps) {
  const performanceIds = new Set(hold.items.map((item) => item.performance_id));
  return (
    <section class="basket" aria-label={texts.checkout.yourOrder}>
      <div class="basket-head">
        <h2>{event.name}</h2>
        <Countdown until={hold.expires_at} label={texts.basket.heldFor} />
      </div>
      {event.performances
        .filter(({ id }) => performanceIds.has(id))
        .map((performance) => (
          <div>
            <p class="small quiet">
              {performance.name}
              {performance.starts_at !== null && ` · ${dayAndHour(performance.starts_at, event.timezone)}`}
            </p>
            <ul class="items">
              {hold.items.map((item, index) =>
                item.performance_id !== performance.id ? null : (
                  <>
                    <li class="item">
                      <div>
                        <b>
                          {item.quantity} × {ticketTypeOf(event, item.ticket_type_id)?.name}
                        </b>
                        <SeatNames register={register} seatIds={item.seat_ids} />
                      </div>
                      <span class="item-price">{price(item.quantity * unitPrice(event, item), event.currency)}</span>
                    </li>
                    {chosenPerks(event, item, index, values).map(({ perk, quantity }) => (
                      <li class="item extra">
                        <div>
                          {quantity} × {perk.name}
                        </div>
                        <span class="item-price">{price(perk.price * quantity, event.currency)}</span>
                      </li>
                    ))}
                  </>
                ),
              )}
            </ul>
          </div>
        ))}
      {discount.amount > 0 && (
        <p class="discount">
          <span>{texts.checkout.codeOf(discount.code ?? '')}</span>
          <span>−{money(discount.amount, event.currency)}</span>
        </p>
      )}
      <p class="total">
        <span>{texts.checkout.total}</span>
        <b>{price(total, event.currency)}</b>
      </p>
      <VatLine event={event} total={total} />
      {children}
    </section>
  );
}
