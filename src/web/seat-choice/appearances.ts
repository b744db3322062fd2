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
import type { BlockSummary } from '../seat-map/draw-blocks.ts';
import { isOwn, type Appearance } from '../seat-map/draw-plan.ts';
import type { SeatPlan } from '../seat-map/plan.ts';
import { isBackOf, type SeatFilter } from './filter.ts';
import { rowFor, typesForSeat } from './picked.ts';
import { seatName, type SeatWords } from './words.ts';

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
  words: SeatWords,
  { event, rows, states, own }: Sale,
  plan: SeatPlan,
  localityId: string,
  pickedIds: ReadonlySet<string>,
  filter: SeatFilter,
) {
  const types = useSame(event.ticketTypes);
  const offers = useSame(offersOf(types, rows));
  const typesBySeat = useMemo(() => typesOfSeats(types, offers, plan, localityId), [types, offers, plan]);
  const appearances = useMemo(
    () => plan.seats.map((seat, number) => appearanceOf(seat, typesBySeat[number]!, states, pickedIds, own)),
    [plan, typesBySeat, states, pickedIds, own],
  );
  const isBack = useMemo(() => isBackOf(plan, typesBySeat, filter), [plan, typesBySeat, filter]);
  const summaries = useMemo(
    () => summariesOf(words, plan, appearances, typesBySeat, isBack, pricesOf(offers), event.currency),
    [plan, appearances, typesBySeat, isBack, event.currency],
  );
  const describe = useCallback(
    (number: number, appearance: Appearance): string =>
      describeSeat(words, plan, number, appearance, typesBySeat[number]!, offers, event.currency),
    [plan, typesBySeat, event.currency],
  );
  const describeBlock = useCallback(
    (block: number): string => {
      const { price: prices, free, accessible } = summaries[block]!;
      return [plan.blocks[block]!.name, prices, free, accessible].filter((part) => part !== '').join(' · ');
    },
    [plan, summaries],
  );
  return { typesBySeat, appearances, isBack, summaries, describe, describeBlock };
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

interface Prices {
  readonly low: number;
  readonly high: number;
}

/** What a seat can cost by its types: single tickets that anybody can buy, any ticket where there is no other. */
function pricesOf(rows: readonly TicketAvailability[]): (types: readonly TicketType[]) => Prices | null {
  const known = new Map<readonly TicketType[], Prices | null>();
  const read = (types: readonly TicketType[]): Prices | null => {
    const open = types.filter((type) => !type.accessible && type.group_size === 1);
    const prices = (open.length > 0 ? open : types).map(({ id }) => rowFor(rows, id)!.price);
    return prices.length === 0 ? null : { low: Math.min(...prices), high: Math.max(...prices) };
  };
  return (types) => {
    if (!known.has(types)) known.set(types, read(types));
    return known.get(types)!;
  };
}

/** The prices from the lowest to the highest, in words. */
export function rangeText({ plan, price }: SeatWords, { low, high }: Prices, currency: string): string {
  return low === high ? price(low, currency) : plan.range(price(low, currency), price(high, currency));
}

/** The lowest price, which says where there are others. */
function lowestText({ plan, price }: SeatWords, { low, high }: Prices, currency: string): string {
  return low === high ? price(low, currency) : plan.from(price(low, currency));
}

function joined(a: Prices | null, b: Prices | null): Prices | null {
  if (a === null || b === null) return a ?? b;
  return { low: Math.min(a.low, b.low), high: Math.max(a.high, b.high) };
}

function summariesOf(
  words: SeatWords,
  plan: SeatPlan,
  appearances: readonly Appearance[],
  typesBySeat: readonly (readonly TicketType[])[],
  isBack: readonly boolean[] | null,
  prices: (types: readonly TicketType[]) => Prices | null,
  currency: string,
): readonly BlockSummary[] {
  if (!plan.isByBlock) return plan.blocks.map(({ seats }) => ({ ...NO_SUMMARY, zone: plan.zoneOf[seats[0]!]! }));
  return plan.blocks.map(({ seats }) => {
    const counts = new Map<number, number>();
    // The prices of wheelchair places stand for a block only where it has no other places.
    let open: Prices | null = null;
    let other: Prices | null = null;
    let [free, accessible] = [0, 0];
    const found = isBack === null ? seats : seats.filter((seat) => !isBack[seat]);
    for (const seat of seats) counts.set(plan.zoneOf[seat]!, (counts.get(plan.zoneOf[seat]!) ?? 0) + 1);
    for (const seat of found) {
      if (appearances[seat] !== 'free' && !isOwn(appearances[seat])) continue;
      free += 1;
      if (plan.seats[seat]!.accessible) accessible += 1;
      const types = typesBySeat[seat]!;
      if (types.every((type) => type.accessible)) other = joined(other, prices(types));
      else open = joined(open, prices(types));
    }
    const range = open ?? other;
    const left = free === 0 ? words.plan.soldOut : words.plan.freeSeats(free);
    return {
      price: range === null ? '' : rangeText(words, range, currency),
      shortPrice: range === null ? '' : lowestText(words, range, currency),
      free: found.length === 0 ? '' : left,
      accessible: accessible === 0 ? '' : words.plan.wheelchairPlaces(accessible),
      isFull: free === 0,
      zone: [...counts].reduce((a, b) => (b[1] > a[1] ? b : a), [0, 0])[0],
      isBack: found.length === 0,
    };
  });
}

const NO_SUMMARY = { price: '', shortPrice: '', free: '', accessible: '', isFull: false, isBack: false };

/** What a seat is besides its row and number: its zone, and what is special about it. */
export function traitsOf(words: SeatWords, plan: SeatPlan, number: number): readonly string[] {
  const seat = plan.seats[number]!;
  return [
    plan.zones.length > 1 ? (plan.zones[plan.zoneOf[number]!]?.name ?? '') : '',
    seat.accessible ? words.plan.wheelchairPlace : '',
    seat.restricted_view ? words.plan.restrictedView : '',
  ].filter((part) => part !== '');
}

function describeSeat(
  words: SeatWords,
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
    seatName(words, plan, number),
    ...traitsOf(words, plan, number),
    row !== undefined && (appearance === 'free' || isOwn(appearance)) ? words.price(row.price, currency) : '',
    words.plan.states[appearance],
  ]
    .filter((part, index, parts) => part !== '' && parts.indexOf(part) === index)
    .join(' · ');
}
