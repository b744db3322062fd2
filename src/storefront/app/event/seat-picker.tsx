/**
 * Choosing numbered seats: the best ones found by the service, or picked on the plan.
 *
 * Owns how a seat looks and reads for this buyer; what is picked belongs to the page.
 */
import { useCallback, useMemo, useState } from 'preact/hooks';
import type { EventPayload, PlannedSeat, Seating, TicketAvailability, TicketType } from '#client/bodies.ts';
import type { SeatStates } from '#client/live.ts';
import { boxAround, grown, type Box } from '#client/seat-layout.ts';
import { price } from '../format.ts';
import { planOf, seatName, type SeatPlan } from '../seat-map/plan.ts';
import { SeatMap } from '../seat-map/seat-map.tsx';
import { Legend, SeatSymbols } from '../seat-map/legend.tsx';
import type { Look } from '../seat-map/surface.ts';
import { BestSeats } from './best-seats.tsx';
import type { SeatRegister } from './seat-register.tsx';
import { SeatsTaken } from './seats-taken.tsx';
import { pickedAs, rowFor, typesForSeat, type PickedSeat } from './selection.ts';

interface SeatPickerProps {
  readonly event: EventPayload;
  readonly seating: Seating;
  readonly performanceId: string;
  readonly rows: readonly TicketAvailability[];
  /** The seats that are not free for the public. */
  readonly states: SeatStates;
  readonly picked: readonly PickedSeat[];
  /** Seats of the buyer's own hold, picked or not. */
  readonly own: ReadonlySet<string>;
  /** Picked seats that somebody else took. */
  readonly lost: readonly PickedSeat[];
  readonly register: SeatRegister;
  readonly onPick: (seats: readonly PickedSeat[]) => void;
  readonly onLostSeen: () => void;
}

/** Space around seats that are shown closely, in plan units. */
const CLOSE_MARGIN = 60;

export function SeatPicker(props: SeatPickerProps) {
  const { event, seating, performanceId, rows, picked, onPick } = props;
  const [localityIndex, setLocality] = useState(0);
  const [closeTo, setCloseTo] = useState<Box | null>(null);
  const locality = seating.localities[localityIndex] ?? seating.localities[0]!;
  const plan = useMemo(() => planOf(locality), [locality]);
  const pickedIds = useMemo(() => new Set(picked.map(({ seatId }) => seatId)), [picked]);
  const { typesBySeat, looks, describe } = useLooks(props, plan, locality.id, pickedIds);

  const toggle = (number: number): void => {
    const { id } = plan.seats[number]!;
    if (pickedIds.has(id)) return onPick(picked.filter(({ seatId }) => seatId !== id));
    if (looks[number] !== 'free') return;
    const lastType = picked.at(-1)?.ticketTypeId;
    const types = typesBySeat[number]!;
    const type = types.find((each) => each.id === lastType) ?? types[0]!;
    onPick([...picked, ...pickedAs(rows, type.id, [id])]);
  };

  return (
    <div class="picker">
      <SeatSymbols />
      <Areas seating={seating} shown={localityIndex} onShow={setLocality} />
      <BestSeats
        event={event}
        performanceId={performanceId}
        rows={rows}
        localityId={locality.id}
        onSeats={(seats, ticketTypeId) => {
          onPick(
            pickedAs(
              rows,
              ticketTypeId,
              seats.map(({ id }) => id),
            ),
          );
          setCloseTo(grown(boxAround(seats), CLOSE_MARGIN));
        }}
      />
      <div class="map-place">
        <SeatsTaken
          {...props}
          plan={plan}
          isFree={(number, { ticketTypeId }) =>
            looks[number] === 'free' && typesBySeat[number]!.some(({ id }) => id === ticketTypeId)
          }
          onTake={(seats) => {
            onPick(seats);
            const places = seats.flatMap(({ seatId }) => plan.seats[plan.numberById.get(seatId) ?? -1] ?? []);
            if (places.length > 0) setCloseTo(grown(boxAround(places), CLOSE_MARGIN));
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
      </div>
      <Legend plan={plan} event={event} rows={rows} localityId={locality.id} />
    </div>
  );
}

/** The localities to choose from, where there are several. */
function Areas({ seating, shown, onShow }: { seating: Seating; shown: number; onShow: (index: number) => void }) {
  if (seating.localities.length < 2) return null;
  return (
    <div class="tabs" role="group" aria-label="Area">
      {seating.localities.map(({ name }, index) => (
        <button type="button" aria-pressed={index === shown} onClick={() => onShow(index)}>
          {name}
        </button>
      ))}
    </div>
  );
}

/** How each seat looks and reads, and as which ticket types it can be bought. */
function useLooks(
  { event, rows, states, own }: SeatPickerProps,
  plan: SeatPlan,
  localityId: string,
  pickedIds: ReadonlySet<string>,
) {
  const typesBySeat = useMemo(() => typesOfSeats(event, rows, plan, localityId), [event, rows, plan]);
  const looks = useMemo(
    () => plan.seats.map((seat, number) => appearanceOf(seat, typesBySeat[number]!, states, pickedIds, own)),
    [plan, typesBySeat, states, pickedIds, own],
  );
  const describe = useCallback(
    (number: number): string => describeSeat(plan, number, looks[number]!, typesBySeat[number]!, rows, event.currency),
    [plan, looks, typesBySeat],
  );
  return { typesBySeat, looks, describe };
}

function appearanceOf(
  { id }: PlannedSeat,
  types: readonly TicketType[],
  states: SeatStates,
  picked: ReadonlySet<string>,
  own: ReadonlySet<string>,
): Look {
  if (picked.has(id)) return own.has(id) ? 'mine' : 'chosen';
  const state = own.has(id) ? undefined : states.get(id);
  if (state === 'HELD') return 'held';
  if (state === 'SOLD') return 'sold';
  if (state === 'BLOCKED') return 'blocked';
  return types.length > 0 ? 'free' : 'other';
}

/** The ticket types that each seat can be bought as: those for accessible seats first, then the smallest groups. */
function typesOfSeats(
  event: EventPayload,
  rows: readonly TicketAvailability[],
  plan: SeatPlan,
  locality: string,
): readonly (readonly TicketType[])[] {
  const byClass = new Map<string, readonly TicketType[]>();
  return plan.seats.map(({ zone_key: zone, accessible }) => {
    const key = `${zone} ${accessible}`;
    const known = byClass.get(key);
    if (known !== undefined) return known;
    const types = typesForSeat(event, rows, { locality, zone, accessible }).toSorted(
      (a, b) => Number(b.accessible) - Number(a.accessible) || a.group_size - b.group_size,
    );
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
  chosen: 'chosen, not held yet',
  mine: 'held for you',
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
    row !== undefined && (look === 'free' || look === 'chosen' || look === 'mine') ? price(row.price, currency) : '',
    STATE_WORDS[look],
  ]
    .filter((part, index, parts) => part !== '' && parts.indexOf(part) === index)
    .join(' · ');
}
