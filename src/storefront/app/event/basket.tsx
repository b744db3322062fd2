/**
 * The buyer's tickets: what is chosen, what is held and for how long, what it costs, and the next step.
 *
 * Shows and asks; what is wanted and held belongs to the page and to `use-hold.ts`.
 */
import type { EventPayload, Hold, HoldItemRequest } from '#client/bodies.ts';
import { count, day, hour, price } from '../format.ts';
import { Countdown } from '../parts/countdown.tsx';
import { ArrowIcon, CloseIcon } from '../parts/icons.tsx';
import { Notice } from '../parts/notice.tsx';
import { eventPath, Link } from '../router.tsx';
import { SeatNames } from './seat-names.tsx';
import type { SeatRegister } from './seat-register.ts';
import { rowKey, ticketCount, ticketTypeOf, totalOf, unitPrice } from './selection.ts';
import { lineKey } from './use-hold.ts';

interface BasketProps {
  readonly event: EventPayload;
  readonly items: readonly HoldItemRequest[];
  readonly hold: Hold | null;
  /** Whether the hold is just what is chosen. */
  readonly isHeld: boolean;
  readonly isBusy: boolean;
  readonly needsPass: boolean;
  readonly obstacle: string | null;
  readonly trouble: string | null;
  readonly register: SeatRegister;
  readonly onHold: () => void;
  readonly onRelease: () => void;
  readonly onRevert: () => void;
  readonly onDrop: (item: HoldItemRequest) => void;
}

export function Basket(props: BasketProps) {
  const { event, items, hold, isHeld, trouble } = props;
  const tickets = ticketCount(items, event);
  return (
    <section class="basket" id="your-tickets" aria-label="Your tickets">
      <div class="basket-head">
        <h2>Your tickets</h2>
        {hold !== null && <Countdown until={hold.expires_at} label="Held for you for" />}
      </div>
      {items.length === 0 && hold === null && <p class="quiet empty">Nothing chosen yet.</p>}
      {items.length > 0 && (
        <ul class="lines">
          {items.map((item) => (
            <Line key={lineKey(item)} {...props} item={item} />
          ))}
        </ul>
      )}
      {items.length > 0 && (
        <p class="total">
          <span>{count(tickets, 'ticket')}</span>
          <b>{price(totalOf(items, event), event.currency)}</b>
        </p>
      )}
      {trouble !== null && <Notice tone="bad">{trouble}</Notice>}
      {hold !== null && !isHeld && items.length > 0 && (
        <p class="small quiet">Your change is not held yet. What you held before stays yours until it is.</p>
      )}
      <Actions {...props} tickets={tickets} />
    </section>
  );
}

function Actions(props: BasketProps & { readonly tickets: number }) {
  const { event, items, hold, isHeld, isBusy, needsPass, obstacle, tickets } = props;
  if (items.length === 0 && hold === null) return null;
  return (
    <div class="actions">
      {obstacle !== null && <Notice tone="info">{obstacle}</Notice>}
      {isHeld && hold !== null ? (
        <Link to={eventPath(event.slug, 'checkout')} class="button primary wide">
          Go to checkout <ArrowIcon />
        </Link>
      ) : needsPass ? (
        <Link to={eventPath(event.slug, 'queue')} class="button primary wide">
          Join the waiting room <ArrowIcon />
        </Link>
      ) : (
        <button type="button" class="button primary wide" disabled={isBusy || obstacle !== null} onClick={props.onHold}>
          {items.length === 0
            ? 'Give all tickets back'
            : hold === null
              ? `Hold ${count(tickets, 'ticket')}`
              : 'Update my tickets'}
        </button>
      )}
      {!isHeld && hold !== null && (
        <button type="button" class="button wide" disabled={isBusy} onClick={props.onRevert}>
          Keep what I had
        </button>
      )}
      {isHeld && (
        <button type="button" class="button plain wide" disabled={isBusy} onClick={props.onRelease}>
          Give the tickets back
        </button>
      )}
    </div>
  );
}

function Line({ event, item, register, isBusy, onDrop }: BasketProps & { readonly item: HoldItemRequest }) {
  const type = ticketTypeOf(event, item.ticket_type_id);
  const date = event.performances.find(({ id }) => id === item.performance_id);
  const stages = new Set(event.ticketAvailability.map((row) => row.selling_stage_id));
  const stage = event.sellingStages.find(({ id }) => id === item.selling_stage_id);
  const several = event.performances.length > 1;
  return (
    <li class="line">
      <div>
        <b>
          {item.quantity} × {type?.name ?? item.ticket_type_id}
        </b>
        {stages.size > 1 && stage !== undefined && <span class="quiet"> {stage.name}</span>}
        {several && date !== undefined && (
          <p class="quiet small">
            {date.name}
            {date.starts_at !== null &&
              `, ${day(date.starts_at, event.timezone)}, ${hour(date.starts_at, event.timezone)}`}
          </p>
        )}
        {item.seat_ids !== undefined && item.seat_ids.length > 0 && (
          <SeatNames register={register} seatIds={item.seat_ids} />
        )}
      </div>
      <span class="line-price">{price(item.quantity * unitPrice(event, item), event.currency)}</span>
      <button
        type="button"
        class="tool"
        aria-label={`Take out ${type?.name ?? rowKey(item)}`}
        disabled={isBusy}
        onClick={() => onDrop(item)}
      >
        <CloseIcon />
      </button>
    </li>
  );
}
