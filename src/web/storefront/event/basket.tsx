/**
 * The buyer's tickets: what is selected, what is held and for how long, its price, and the next step.
 *
 * Owns no state: every change is a callback.
 */
import type { HoldItemRequest } from '#client/bodies.ts';
import { dayAndHour, price, texts } from '../app/language.ts';
import { Countdown, VatLine } from '../parts/controls.tsx';
import { Notice } from '../../notice.tsx';
import { BusyButton, CloseIcon, pressedUnless } from '../../buttons.tsx';
import { NextStep, type NextStepProps } from './next-step.tsx';
import { useFocusWithin } from '../../hooks.ts';
import { SeatNames, seatsInWords } from './seat-register.tsx';
import type { KnownSeats } from '../../seat-choice/words.ts';
import { isItemHeld, itemKey, ticketCount, ticketTypeOf, totalOf, unitPrice } from './selection.ts';

const words = texts.basket;

interface BasketProps extends NextStepProps {
  readonly trouble: string | null;
  readonly register: KnownSeats;
  /** Whether the next step and what prevents it stand here, not in the bar at the foot. */
  readonly hasStep: boolean;
  readonly onRelease: () => void;
  readonly onRevert: () => void;
  /** Leaves an item, or one of its seats. */
  readonly onDrop: (item: HoldItemRequest, seatId?: string) => void;
}

export function Basket(props: BasketProps) {
  const { event, items, hold, isHeld, trouble, hasStep } = props;
  const tickets = ticketCount(items, event);
  const section = useFocusWithin(props.underWay !== null);
  return (
    <section class="basket" id="your-tickets" aria-label={words.title} ref={section}>
      <div class="basket-head">
        <h2 tabIndex={-1}>{words.title}</h2>
        {hold !== null && <Countdown until={hold.expires_at} label={words.heldFor} />}
      </div>
      {items.length === 0 && hold === null && <p class="quiet empty">{words.empty}</p>}
      {items.length > 0 && (
        <ul class="items">
          {items.map((item) => (
            <Item key={itemKey(item)} {...props} item={item} />
          ))}
        </ul>
      )}
      {items.length > 0 && (
        <p class="total">
          <span>{texts.frame.tickets(tickets)}</span>
          <b>{price(totalOf(items, event), event.currency)}</b>
        </p>
      )}
      {items.length > 0 && <VatLine event={event} total={totalOf(items, event)} />}
      {hasStep && trouble !== null && <Notice tone="bad">{trouble}</Notice>}
      {hold !== null && !isHeld && items.length > 0 && <p class="small quiet">{words.changeNotHeld}</p>}
      <Actions {...props} tickets={tickets} />
    </section>
  );
}

/** The next step; beside it, holding what is chosen while choosing more, and the ways back. */
function Actions(props: BasketProps & { readonly tickets: number }) {
  const { event, items, hold, isHeld, underWay, needsPass, obstacle, hasStep, tickets } = props;
  const isBusy = underWay !== null;
  if (items.length === 0 && hold === null) return null;
  const isHoldable = !isHeld && !needsPass && items.length > 0;
  return (
    <div class="actions">
      {hasStep && obstacle !== null && <Notice tone="info">{obstacle}</Notice>}
      {hasStep && <NextStep {...props} price={price(totalOf(items, event), event.currency)} />}
      {isHoldable && (
        <BusyButton
          class="button plain wide"
          isBusy={underWay === 'HOLD'}
          isOff={isBusy || obstacle !== null}
          onPress={props.onHold}
        >
          {hold === null ? words.holdForNow(tickets) : words.update}
        </BusyButton>
      )}
      {!isHeld && hold !== null && (
        <BusyButton class="button plain wide" isBusy={false} isOff={isBusy} onPress={props.onRevert}>
          {words.keepOld}
        </BusyButton>
      )}
      {isHeld && (
        <BusyButton class="button plain wide" isBusy={underWay === 'RELEASE'} isOff={isBusy} onPress={props.onRelease}>
          {words.giveBack}
        </BusyButton>
      )}
    </div>
  );
}

function Item({ event, item, hold, register, underWay, onDrop }: BasketProps & { readonly item: HoldItemRequest }) {
  const isBusy = underWay !== null;
  const type = ticketTypeOf(event, item.ticket_type_id);
  const performance = event.performances.find(({ id }) => id === item.performance_id);
  const stages = new Set(event.ticketAvailability.map((row) => row.selling_stage_id));
  const stage = event.sellingStages.find(({ id }) => id === item.selling_stage_id);
  const several = event.performances.length > 1;
  return (
    <li class="item">
      <div>
        <b>
          {item.quantity} × {type?.name ?? item.ticket_type_id}
        </b>
        {hold !== null && !isItemHeld(item, hold) && <span class="chip">{words.notHeldYet}</span>}
        {stages.size > 1 && stage !== undefined && <span class="quiet"> {stage.name}</span>}
        {several && performance !== undefined && (
          <p class="quiet small">
            {performance.name}
            {performance.starts_at !== null && `, ${dayAndHour(performance.starts_at, event.timezone)}`}
          </p>
        )}
        {item.seat_ids !== undefined && item.seat_ids.length > 0 && (
          <SeatNames register={register} seatIds={item.seat_ids} />
        )}
        {item.seat_ids !== undefined && item.seat_ids.length > 1 && (
          <ul class="seat-chips">
            {item.seat_ids.map((seatId) => (
              <li key={seatId}>
                <button
                  type="button"
                  class="seat-chip"
                  aria-label={texts.plan.removeSeat(seatsInWords(register, [seatId]).join())}
                  {...pressedUnless(isBusy, () => onDrop(item, seatId))}
                >
                  {register.get(seatId)?.label ?? seatId} <CloseIcon />
                </button>
              </li>
            ))}
          </ul>
        )}
      </div>
      <span class="item-price">{price(item.quantity * unitPrice(event, item), event.currency)}</span>
      <button
        type="button"
        class="tool"
        aria-label={words.takeOut(type?.name ?? item.ticket_type_id)}
        {...pressedUnless(isBusy, () => onDrop(item))}
      >
        <CloseIcon />
      </button>
    </li>
  );
}
