/**
 * What a checkout buys: the items of a request, tied to the lines that hold their tickets.
 *
 * Items are what the buyer asked for, each with a code, attendees and perks; lines are what the hold has, one for each
 * type, stage and performance.
 *
 * 1. The quantities and tickets of the items of a line add up to the line's.
 * 2. Seats that an item names are its own; the others of the line go to the items that name none, in their order.
 */
import { addToTally } from '../money.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { RequestedLine } from '../inventory/assignment.ts';
import { lineKey } from '../inventory/hold-line.ts';
import type { HoldLine } from '../fact.ts';
import type { Attendee } from '../personal.ts';
import type { BarPerkRequest, CheckoutItemRequest } from '../command.ts';
import type { OrderState } from './state.ts';

/** An item whose performance, type, stage, number of tickets and price are known. */
export interface PurchaseItem extends Omit<HoldLine, 'seatIds'> {
  /** The seats that the item names, or null. */
  readonly namedSeatIds: readonly string[] | null;
  readonly discountCode: string | null;
  readonly attendees: readonly Attendee[] | null;
  readonly barPerks: readonly BarPerkRequest[];
}

/** The items of a checkout without a hold, whose tickets were found but not assigned. */
export function itemsOfRequested(
  requested: readonly RequestedLine[],
  requests: readonly CheckoutItemRequest[],
): readonly PurchaseItem[] {
  return requested.map(({ performanceId, offer, quantity, ticketCount, unitPriceCents }, index) => ({
    ...extrasOf(requests[index]!),
    performanceId,
    ticketTypeId: offer.ticketTypeId,
    sellingStageId: offer.sellingStageId,
    quantity,
    ticketCount,
    unitPriceCents,
  }));
}

/** One item for each line of a hold, as it is bought when the request names no items. */
export function itemsOfLines(lines: readonly HoldLine[]): readonly PurchaseItem[] {
  return lines.map(({ performanceId, ticketTypeId, sellingStageId, quantity, ticketCount, unitPriceCents }) => ({
    performanceId,
    ticketTypeId,
    sellingStageId,
    quantity,
    ticketCount,
    unitPriceCents,
    namedSeatIds: null,
    discountCode: null,
    attendees: null,
    barPerks: [],
  }));
}

/**
 * The items of a checkout that takes a hold over. Their types, stages, performances, quantities and, where they name
 * any, seats must be the hold's: else HOLD_ITEMS_MISMATCH. Tickets and prices are those of the hold.
 */
export function matchItems(
  state: OrderState,
  lines: readonly HoldLine[],
  requests: readonly CheckoutItemRequest[],
): readonly PurchaseItem[] | Refusal {
  const visible = state.plan.visiblePerformances;
  const onlyPerformanceId = visible.length === 1 ? visible[0]!.id : null;
  const lineByKey = new Map(lines.map((line) => [lineKey(line), line]));
  const items: PurchaseItem[] = [];
  for (const request of requests) {
    const { ticketTypeId, sellingStageId, quantity } = request;
    const performanceId = request.performanceId ?? onlyPerformanceId ?? '';
    const line = lineByKey.get(lineKey({ performanceId, ticketTypeId, sellingStageId }));
    if (line === undefined) return refuse('HOLD_ITEMS_MISMATCH', {});
    const ticketCount = quantity * (line.ticketCount / line.quantity);
    const { unitPriceCents } = line;
    items.push({
      ...extrasOf(request),
      performanceId,
      ticketTypeId,
      sellingStageId,
      quantity,
      ticketCount,
      unitPriceCents,
    });
  }
  const isHold = haveSameQuantities(lines, items) && nameOnlyHeldSeats(lineByKey, items);
  return isHold ? items : refuse('HOLD_ITEMS_MISMATCH', {});
}

/** The seats of each item, in the order of the items (rule 2). */
export function allotSeats(lines: readonly HoldLine[], items: readonly PurchaseItem[]): readonly (readonly string[])[] {
  const named = new Set(items.flatMap((item) => (item.namedSeatIds ?? []).map((seatId) => seatKey(item, seatId))));
  const unnamed = new Map(
    lines.map((line) => [lineKey(line), line.seatIds.filter((seatId) => !named.has(seatKey(line, seatId)))]),
  );
  return items.map((item) => item.namedSeatIds ?? unnamed.get(lineKey(item))!.splice(0, item.ticketCount));
}

type Extras = Pick<PurchaseItem, 'namedSeatIds' | 'discountCode' | 'attendees' | 'barPerks'>;

function extrasOf({ seatIds, discountCode, attendees, barPerks }: CheckoutItemRequest): Extras {
  return { namedSeatIds: seatIds, discountCode, attendees, barPerks };
}

function haveSameQuantities(lines: readonly HoldLine[], items: readonly PurchaseItem[]): boolean {
  const quantities = new Map<string, number>();
  for (const item of items) addToTally(quantities, lineKey(item), item.quantity);
  return lines.every((line) => quantities.get(lineKey(line)) === line.quantity);
}

/**
 * Whether every seat named is one of its line's, named once, and an item that names seats names one for each ticket.
 */
function nameOnlyHeldSeats(lineByKey: ReadonlyMap<string, HoldLine>, items: readonly PurchaseItem[]): boolean {
  const named = new Set<string>();
  return items.every((item) => {
    const { namedSeatIds, ticketCount } = item;
    if (namedSeatIds === null) return true;
    const held = lineByKey.get(lineKey(item))!.seatIds;
    return (
      namedSeatIds.length === ticketCount &&
      namedSeatIds.every((seatId) => {
        const key = seatKey(item, seatId);
        const isNew = !named.has(key);
        named.add(key);
        return isNew && held.includes(seatId);
      })
    );
  });
}

/** A seat may be named on each of several performances. */
function seatKey({ performanceId }: { readonly performanceId: string }, seatId: string): string {
  return `${performanceId}\n${seatId}`;
}

/** Refuses the first item whose attendees are not as many as its tickets: ATTENDEE_COUNT_MISMATCH. */
export function checkAttendees(
  items: readonly Pick<PurchaseItem, 'ticketTypeId' | 'ticketCount' | 'attendees'>[],
  isRequired: boolean,
): Refusal | null {
  for (const { ticketTypeId, ticketCount: expected, attendees } of items) {
    if (attendees === null && !isRequired) continue;
    const given = attendees?.length ?? 0;
    if (given !== expected) return refuse('ATTENDEE_COUNT_MISMATCH', { ticketTypeId, expected, given });
  }
  return null;
}
