/**
 * How seats are drawn, for plan and legend alike, each in a square of 20: filled when free, striped when held, a dot when
 * sold, a cross when blocked, a check when the buyer's own: framed while only chosen, filled when held. A wheel marks accessible seats, a cut corner a restricted view.
 */
import type { EventPayload, TicketAvailability } from '#client/bodies.ts';
import { price } from '../format.ts';
import { HUES } from './palette.ts';
import type { SeatPlan } from './plan.ts';
import { rowFor, typesForSeat } from '../event/selection.ts';

export function SeatSymbols() {
  return (
    <svg class="symbols" width="0" height="0" aria-hidden="true">
      <defs>
        <symbol id="seat-free" viewBox="0 0 20 20">
          <rect class="s-fill" x="1" y="1" width="18" height="18" rx="5" />
        </symbol>
        <symbol id="seat-free-accessible" viewBox="0 0 20 20">
          <rect class="s-fill" x="1" y="1" width="18" height="18" rx="5" />
          <circle class="s-mark" cx="9.2" cy="12.4" r="3.9" />
          <path class="s-mark" d="M9.4 6.200v4.600h3.600l2.200 4h1.400" />
          <circle class="s-dot" cx="9.4" cy="4.300" r="1.500" />
        </symbol>
        <symbol id="seat-free-restricted" viewBox="0 0 20 20">
          <path class="s-fill" d="M6 1h8a5 5 0 0 1 5 5v8a5 5 0 0 1-5 5H10L1 10V6a5 5 0 0 1 5-5z" />
        </symbol>
        <symbol id="seat-mine" viewBox="0 0 20 20">
          <rect class="s-own" width="20" height="20" rx="6" />
          <path class="s-check" d="M5.200 10.400l3.300 3.300 6.500-7" />
        </symbol>
        <symbol id="seat-chosen" viewBox="0 0 20 20">
          <rect class="s-chosen" x="1.500" y="1.500" width="17" height="17" rx="5" />
          <path class="s-check" d="M5.200 10.400l3.300 3.300 6.500-7" />
        </symbol>
        <symbol id="seat-held" viewBox="0 0 20 20">
          <rect class="s-line" x="2" y="2" width="16" height="16" rx="4.500" />
          <path class="s-line" d="M3.500 12.500l9-9M5 17L17 5M9.500 17.500l8-8" />
        </symbol>
        <symbol id="seat-sold" viewBox="0 0 20 20">
          <circle class="s-gone" cx="10" cy="10" r="4" />
        </symbol>
        <symbol id="seat-blocked" viewBox="0 0 20 20">
          <path class="s-cross" d="M6 6l8 8M14 6l-8 8" />
        </symbol>
      </defs>
    </svg>
  );
}

interface LegendProps {
  readonly plan: SeatPlan;
  readonly event: EventPayload;
  readonly rows: readonly TicketAvailability[];
  readonly localityId: string;
}

export function Legend({ plan, event, rows, localityId }: LegendProps) {
  const priceOf = (zone: string): string => {
    const prices = typesForSeat(event, rows, { locality: localityId, zone, accessible: false })
      .filter((type) => type.group_size === 1)
      .map((type) => rowFor(rows, type.id)!.price);
    if (prices.length === 0) return '';
    const [low, high] = [Math.min(...prices), Math.max(...prices)];
    return low === high ? price(low, event.currency) : `from ${price(low, event.currency)}`;
  };
  const hasRestricted = plan.seats.some((seat) => seat.restricted_view);
  const hasAccessible = plan.seats.some((seat) => seat.accessible);
  return (
    <ul class="legend" aria-label="What the seats mean">
      {plan.zones.map((zone) => (
        <li>
          <Swatch symbol="free" hue={HUES[zone.hue]!} /> {plan.zones.length > 1 ? zone.name : 'Free'}{' '}
          <b>{priceOf(zone.key)}</b>
        </li>
      ))}
      <li>
        <Swatch symbol="chosen" /> Chosen
      </li>
      <li>
        <Swatch symbol="mine" /> Held for you
      </li>
      <li>
        <Swatch symbol="held" /> In another basket
      </li>
      <li>
        <Swatch symbol="sold" /> Sold
      </li>
      <li>
        <Swatch symbol="blocked" /> Not for sale
      </li>
      {hasAccessible && (
        <li>
          <Swatch symbol="free-accessible" hue={HUES[plan.zones[0]?.hue ?? 0]!} /> Wheelchair place
        </li>
      )}
      {hasRestricted && (
        <li>
          <Swatch symbol="free-restricted" hue={HUES[plan.zones[0]?.hue ?? 0]!} /> Restricted view
        </li>
      )}
    </ul>
  );
}

function Swatch({ symbol, hue = 'blue' }: { readonly symbol: string; readonly hue?: string }) {
  return (
    <svg class={`swatch hue-${hue}`} width="18" height="18" viewBox="0 0 20 20" aria-hidden="true">
      <use href={`#seat-${symbol}`} width="20" height="20" />
    </svg>
  );
}
