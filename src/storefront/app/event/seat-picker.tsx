/**
 * Choosing numbered seats: the best ones found by the service, or picked on the plan.
 *
 * Owns how a seat looks and reads for this buyer; what is picked belongs to the page.
 */
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { EventPayload, PlannedSeat, Seating, SeatState, TicketAvailability, TicketType } from '#client/bodies.ts';
import { price } from '../format.ts';
import { HUES } from '../seat-map/palette.ts';
import { planOf, seatName, type Box, type SeatPlan } from '../seat-map/plan.ts';
import { SeatMap } from '../seat-map/seat-map.tsx';
import { SeatSymbols } from '../seat-map/symbols.tsx';
import type { Look } from '../seat-map/surface.ts';
import { BestSeats } from './best-seats.tsx';
import { rowFor, type PickedSeat } from './selection.ts';

interface SeatPickerProps {
  readonly event: EventPayload;
  readonly seating: Seating;
  readonly performanceId: string;
  readonly rows: readonly TicketAvailability[];
  /** The seats that are not free for the public. */
  readonly states: ReadonlyMap<string, SeatState>;
  readonly picked: readonly PickedSeat[];
  /** Seats of the buyer's own hold, picked or not. */
  readonly own: ReadonlySet<string>;
  readonly onPick: (seats: readonly PickedSeat[]) => void;
}

export function SeatPicker(props: SeatPickerProps) {
  const { event, seating, performanceId, rows, states, picked, own, onPick } = props;
  const [localityIndex, setLocality] = useState(0);
  const [closeTo, setCloseTo] = useState<Box | null>(null);
  const locality = seating.localities[localityIndex] ?? seating.localities[0]!;
  const plan = useMemo(() => planOf(locality), [locality]);
  const pickedIds = useMemo(() => new Set(picked.map(({ seatId }) => seatId)), [picked]);
  const typesBySeat = useMemo(() => typesOfSeats(event, rows, plan, locality.id), [event, rows, plan]);
  const looks = useMemo(
    () => plan.seats.map((seat, number) => lookOf(seat, typesBySeat[number]!, states, pickedIds, own)),
    [plan, typesBySeat, states, pickedIds, own],
  );
  const describe = useCallback(
    (number: number): string => describeSeat(plan, number, looks[number]!, typesBySeat[number]!, rows, event.currency),
    [plan, looks, typesBySeat],
  );

  const toggle = (number: number): void => {
    const { id } = plan.seats[number]!;
    if (pickedIds.has(id)) return onPick(picked.filter(({ seatId }) => seatId !== id));
    if (looks[number] !== 'free') return;
    const lastType = picked.at(-1)?.ticketTypeId;
    const types = typesBySeat[number]!;
    const type = types.find((each) => each.id === lastType) ?? types[0]!;
    onPick([...picked, { seatId: id, ticketTypeId: type.id }]);
  };

  return (
    <div class="picker">
      <SeatSymbols />
      {seating.localities.length > 1 && (
        <div class="tabs" role="group" aria-label="Area">
          {seating.localities.map(({ name }, index) => (
            <button type="button" aria-pressed={index === localityIndex} onClick={() => setLocality(index)}>
              {name}
            </button>
          ))}
        </div>
      )}
      <BestSeats
        event={event}
        performanceId={performanceId}
        rows={rows}
        localityId={locality.id}
        onSeats={(seats, ticketTypeId) => {
          onPick(seats.map(({ id }) => ({ seatId: id, ticketTypeId })));
          setCloseTo(boxOf(seats));
        }}
      />
      <SeatMap
        plan={plan}
        looks={looks}
        describe={describe}
        onToggle={toggle}
        closeTo={closeTo}
        label={`Seats of ${locality.name}`}
      />
      <Legend plan={plan} event={event} rows={rows} localityId={locality.id} />
    </div>
  );
}

function lookOf(
  { id }: PlannedSeat,
  types: readonly TicketType[],
  states: ReadonlyMap<string, SeatState>,
  picked: ReadonlySet<string>,
  own: ReadonlySet<string>,
): Look {
  if (picked.has(id)) return 'mine';
  const state = own.has(id) ? undefined : states.get(id);
  if (state === 'HELD') return 'held';
  if (state === 'SOLD') return 'sold';
  if (state === 'BLOCKED') return 'blocked';
  return types.length > 0 ? 'free' : 'other';
}

/** The ticket types that each seat can be bought as, the plain ones first; accessible types only on accessible seats. */
function typesOfSeats(
  event: EventPayload,
  rows: readonly TicketAvailability[],
  plan: SeatPlan,
  localityId: string,
): readonly (readonly TicketType[])[] {
  const sold = event.ticketTypes.filter((type) => type.locality_id === localityId && rowFor(rows, type.id));
  const byClass = new Map<string, readonly TicketType[]>();
  return plan.seats.map(({ zone_key: zone, accessible }) => {
    const key = `${zone} ${accessible}`;
    const known = byClass.get(key);
    if (known !== undefined) return known;
    const types = sold
      .filter((type) => (type.zone_keys === null || type.zone_keys.includes(zone)) && (accessible || !type.accessible))
      .sort((a, b) => Number(b.accessible) - Number(a.accessible) || a.group_size - b.group_size);
    byClass.set(key, types);
    return types;
  });
}

const STATE_WORDS: Readonly<Record<Look, string>> = {
  free: 'free',
  other: 'not on sale now',
  held: 'in somebody’s basket',
  sold: 'sold',
  blocked: 'not for sale',
  mine: 'yours',
};

function describeSeat(
  plan: SeatPlan,
  number: number,
  look: Look,
  types: readonly TicketType[],
  rows: readonly TicketAvailability[],
  currency: string,
): string {
  const seat = plan.seats[number]!;
  const row = types[0] && rowFor(rows, types[0].id);
  return [
    plan.sectionNames[number] ?? '',
    seatName(plan, number),
    plan.zones.length > 1 ? (plan.zones[plan.zoneOf[number]!]?.name ?? '') : '',
    seat.accessible ? 'wheelchair place' : '',
    seat.restricted_view ? 'restricted view' : '',
    row !== undefined && (look === 'free' || look === 'mine') ? price(row.price, currency) : '',
    STATE_WORDS[look],
  ]
    .filter((part, index, parts) => part !== '' && parts.indexOf(part) === index)
    .join(' · ');
}

function boxOf(seats: readonly { readonly x: number; readonly y: number }[]): Box {
  const xs = seats.map(({ x }) => x);
  const ys = seats.map(({ y }) => y);
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  return { x: x - 60, y: y - 60, width: Math.max(...xs) - x + 120, height: Math.max(...ys) - y + 120 };
}

interface LegendProps {
  readonly plan: SeatPlan;
  readonly event: EventPayload;
  readonly rows: readonly TicketAvailability[];
  readonly localityId: string;
}

function Legend({ plan, event, rows, localityId }: LegendProps) {
  const priceOf = (zone: string): string => {
    const prices = event.ticketTypes
      .filter((type) => type.locality_id === localityId && type.group_size === 1 && !type.accessible)
      .filter((type) => type.zone_keys === null || type.zone_keys.includes(zone))
      .flatMap((type) => rowFor(rows, type.id)?.price ?? []);
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
        <Swatch symbol="mine" /> Yours
      </li>
      <li>
        <Swatch symbol="held" /> In a basket
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
