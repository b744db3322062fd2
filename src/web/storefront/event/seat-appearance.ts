/**
 * How each seat and block of a plan looks and reads for a buyer, and as which ticket types a seat can be bought.
 *
 *  1. In a rush what is left changes some times a second. As long as the same is on sale at the same prices, only
 *     appearances and block summaries are made anew: the names of thousands of seats would take longer than the time
 *     between two changes.
 */
import { useCallback, useMemo, useRef } from 'preact/hooks';
import type { EventPayload, PlannedSeat, TicketAvailability, TicketType } from '#client/bodies.ts';
import type { SeatStates } from '#client/live.ts';
import { price } from '../app/format.ts';
import { texts } from '../app/language.ts';
import type { BlockSummary } from '../../seat-map/draw-blocks.ts';
import { isOwn, type Appearance } from '../../seat-map/appearance.ts';
import type { SeatPlan } from '../../seat-map/plan.ts';
import { seatName } from './seat-register.tsx';
import { rowFor, typesForSeat } from './selection.ts';

interface Sale {
  readonly event: EventPayload;
  readonly rows: readonly TicketAvailability[];
  /** The seats that are not free for the public. */
  readonly states: SeatStates;
  /** The seats of the buyer's own hold, whether they are picked now or not. */
  readonly own: ReadonlySet<string>;
}

export type SeatAppearances = ReturnType<typeof useSeatAppearances>;

export function useSeatAppearances(
  { event, rows, states, own }: Sale,
  plan: SeatPlan,
  localityId: string,
  pickedIds: ReadonlySet<string>,
) {
  const types = useSame(event.ticketTypes);
  const offers = useSame(offersOf(types, rows));
  const typesBySeat = useMemo(() => typesOfSeats(types, offers, plan, localityId), [types, offers, plan]);
  const appearances = useMemo(
    () => plan.seats.map((seat, number) => appearanceOf(seat, typesBySeat[number]!, states, pickedIds, own)),
    [plan, typesBySeat, states, pickedIds, own],
  );
  const summaries = useMemo(
    () => summariesOf(plan, appearances, typesBySeat, offers, event.currency),
    [plan, appearances, typesBySeat, event.currency],
  );
  const describe = useCallback(
    (number: number, appearance: Appearance): string =>
      describeSeat(plan, number, appearance, typesBySeat[number]!, offers, event.currency),
    [plan, typesBySeat, event.currency],
  );
  const describeBlock = useCallback(
    (block: number): string => {
      const { price: lowest, free } = summaries[block]!;
      return [plan.blocks[block]!.name, lowest, free].filter((part) => part !== '').join(' · ');
    },
    [plan, summaries],
  );
  return { typesBySeat, appearances, summaries, describe, describeBlock };
}

/** The value itself, or an earlier one that reads the same. */
function useSame<Value>(value: Value): Value {
  const earlier = useRef(value);
  if (JSON.stringify(earlier.current) !== JSON.stringify(value)) earlier.current = value;
  return earlier.current;
}

/** The row in which each ticket type is bought, without what is left of it (rule 1). */
function offersOf(types: readonly TicketType[], rows: readonly TicketAvailability[]): readonly TicketAvailability[] {
  return types.flatMap(({ id }) => {
    const row = rowFor(rows, id);
    return row === undefined ? [] : [{ ...row, available: 0, reserved: 0 }];
  });
}

function appearanceOf(
  { id }: PlannedSeat,
  types: readonly TicketType[],
  states: SeatStates,
  picked: ReadonlySet<string>,
  own: ReadonlySet<string>,
): Appearance {
  if (picked.has(id)) return own.has(id) ? 'mine' : 'chosen';
  const state = own.has(id) ? undefined : states.get(id);
  if (state === 'HELD') return 'held';
  if (state === 'SOLD') return 'sold';
  if (state === 'BLOCKED') return 'blocked';
  return types.length > 0 ? 'free' : 'other';
}

/** The ticket types that each seat can be bought as: those for accessible seats first, then the smallest groups. */
function typesOfSeats(
  ticketTypes: readonly TicketType[],
  rows: readonly TicketAvailability[],
  plan: SeatPlan,
  locality: string,
): readonly (readonly TicketType[])[] {
  const byClass = plan.zones.map(({ key: zone }) =>
    [false, true].map((accessible) =>
      typesForSeat(ticketTypes, rows, { locality, zone, accessible }).toSorted(
        (a, b) => Number(b.accessible) - Number(a.accessible) || a.group_size - b.group_size,
      ),
    ),
  );
  return plan.seats.map(({ accessible }, number) => byClass[plan.zoneOf[number]!]?.[Number(accessible)] ?? []);
}

/** The lowest price of a single ticket that anybody can buy; of any ticket where there is no other. */
function lowestPrice(types: readonly TicketType[], rows: readonly TicketAvailability[]): number | null {
  const open = types.filter((type) => !type.accessible && type.group_size === 1);
  const prices = (open.length > 0 ? open : types).map(({ id }) => rowFor(rows, id)!.price);
  return prices.length === 0 ? null : Math.min(...prices);
}

function summariesOf(
  plan: SeatPlan,
  appearances: readonly Appearance[],
  typesBySeat: readonly (readonly TicketType[])[],
  rows: readonly TicketAvailability[],
  currency: string,
): readonly BlockSummary[] {
  if (!plan.isByBlock) return plan.blocks.map(({ seats }) => ({ ...NO_SUMMARY, zone: plan.zoneOf[seats[0]!]! }));
  const priceOf = new Map<readonly TicketType[], number | null>();
  return plan.blocks.map(({ seats }) => {
    const counts = new Map<number, number>();
    // Places for wheelchairs say what a block costs only where it has nothing else.
    let [free, lowestOpen, lowestOther] = [0, Infinity, Infinity];
    for (const seat of seats) {
      counts.set(plan.zoneOf[seat]!, (counts.get(plan.zoneOf[seat]!) ?? 0) + 1);
      if (appearances[seat] !== 'free' && !isOwn(appearances[seat])) continue;
      free += 1;
      const types = typesBySeat[seat]!;
      if (!priceOf.has(types)) priceOf.set(types, lowestPrice(types, rows));
      const ofSeat = priceOf.get(types) ?? Infinity;
      if (types.every(({ accessible }) => accessible)) lowestOther = Math.min(lowestOther, ofSeat);
      else lowestOpen = Math.min(lowestOpen, ofSeat);
    }
    const zone = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0])[0];
    const lowest = lowestOpen === Infinity ? lowestOther : lowestOpen;
    const shortPrice = lowest === Infinity ? '' : price(lowest, currency);
    return {
      price: shortPrice === '' ? '' : texts.plan.from(shortPrice),
      shortPrice,
      free: free === 0 ? texts.plan.soldOut : texts.plan.freeSeats(free),
      isFull: free === 0,
      zone,
      zones: new Set(counts.keys()),
    };
  });
}

const NO_SUMMARY = { price: '', shortPrice: '', free: '', isFull: false, zones: new Set<number>() };

/** What a seat is besides its row and number: its zone, and what is special about it. */
export function traitsOf(plan: SeatPlan, number: number): readonly string[] {
  const seat = plan.seats[number]!;
  return [
    plan.zones.length > 1 ? (plan.zones[plan.zoneOf[number]!]?.name ?? '') : '',
    seat.accessible ? texts.plan.wheelchairPlace : '',
    seat.restricted_view ? texts.plan.restrictedView : '',
  ].filter((part) => part !== '');
}

function describeSeat(
  plan: SeatPlan,
  number: number,
  appearance: Appearance,
  types: readonly TicketType[],
  rows: readonly TicketAvailability[],
  currency: string,
): string {
  const row = types[0] && rowFor(rows, types[0].id);
  return [
    plan.sectionNames[number] ?? '',
    seatName(plan, number),
    ...traitsOf(plan, number),
    row !== undefined && (appearance === 'free' || isOwn(appearance)) ? price(row.price, currency) : '',
    texts.plan.states[appearance],
  ]
    .filter((part, index, parts) => part !== '' && parts.indexOf(part) === index)
    .join(' · ');
}
