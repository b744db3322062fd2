/**
 * Seats and stock for the lines of a request: which seats each line gets, and whether there are as many tickets.
 *
 * Overlays have the tentative stock, in which the session's own hold counts as given back. Mutates nothing (I2).
 *
 * 1. Seats that were named are taken in the overlay before any are assigned, so that no item is assigned another's
 *    seat.
 * 2. The seats that a hold keeps are taken before any are added, so that no new ticket gets a kept seat.
 * 3. Where one item is of an accessible type and another of another type, for the same performance and locality and
 *    both without named seats, the other is placed beside the first (`companions.ts`), at most two tickets for each
 *    accessible seat.
 */
import { bestBlock, growBlock, largestBlock, shrinkBlock } from './best-available.ts';
import { createSearchBudget, seatBeside, seatTogether, type BlockRequest, type SearchBudget } from './companions.ts';
import { addUpLines } from './hold-line.ts';
import { findPerformanceOnSale, inventoryOf } from './performance.ts';
import { isRefusal, refuse, refuseProblems, type Problem, type Refusal } from '../refusal.ts';
import { offerOf, type Offer } from '../catalogue/sale-plan.ts';
import { seatIdsAt } from '../catalogue/seating-plan.ts';
import {
  copyOverlay,
  createOverlay,
  giveBackInOverlay,
  checkSeats,
  leftInOverlay,
  shortfall,
  returnInOverlay,
  takeInOverlay,
  type StockOverlay,
} from './stock-overlay.ts';
import type { TimedHold } from './release-times.ts';
import type { HoldLine } from '../fact.ts';
import type { InventoryState } from './performance.ts';

/** A session's hold, or an order, as far as a reservation needs it: what it has counts as free for this session. */
export interface OwnHold extends TimedHold {
  readonly lines: readonly HoldLine[];
  /** The lines are what an order gives up of what it has bought. */
  readonly isSold?: true;
}

/** How the seats of a line are found. */
export type SeatChoice =
  | { readonly how: 'NONE' }
  /** Seats that the request names; those of a line that stays as it is, which were checked when it got them. */
  | { readonly how: 'NAMED' | 'KEPT'; readonly seatIds: readonly string[] }
  | { readonly how: 'BEST' }
  | { readonly how: 'SHRINK' | 'GROW'; readonly heldSeatIds: readonly string[] };

/** An item of which performance, type and stage are known. */
export interface RequestedLine extends LimitedItem {
  readonly offer: Offer;
  readonly unitPriceCents: number;
  readonly seatChoice: SeatChoice;
  /** Whether the hold has as many already, so that stock is not checked. */
  readonly had: boolean;
  /** The index of its item in the request; -1 for a line of the hold that the request does not name. */
  readonly index: number;
}

/**
 * Checks seats, then stock, and gives every line its seats; overlays carry each line's share to the next. Refuses with
 * the refusals of `reserveLines` from SEAT_COUNT_MISMATCH on.
 */
export function assignTickets(
  state: InventoryState,
  requested: readonly RequestedLine[],
  own: OwnHold | null,
): readonly HoldLine[] | Refusal {
  const overlays = openOverlays(state, requested, own);
  const seatRefusal = checkNamedSeats(requested, overlays);
  if (seatRefusal !== null) return seatRefusal;
  return requested.length === 1 ? assignOne(requested[0]!, overlays[0]!, own) : assignSeveral(requested, overlays, own);
}

/** A single line need not be taken in the overlay, because no other line follows. Most requests have one. Hot. */
function assignOne(request: RequestedLine, overlay: StockOverlay, own: OwnHold | null): readonly HoldLine[] | Refusal {
  const line = assignLine(request, 0, overlay, own);
  return isRefusal(line) ? line : sharedLines(request.offer, line);
}

/** By offer, the lines that were made last without seats. */
const lastLines = new WeakMap<Offer, readonly [HoldLine]>();

/** A line alone, as a list. A million holds of the same tickets share one, where they have no seats of their own. */
function sharedLines(offer: Offer, line: HoldLine): readonly [HoldLine] {
  if (line.seatIds.length > 0) return [line];
  const last = lastLines.get(offer);
  const isSame =
    last !== undefined &&
    last[0].quantity === line.quantity &&
    last[0].ticketCount === line.ticketCount &&
    last[0].unitPriceCents === line.unitPriceCents &&
    last[0].performanceId === line.performanceId;
  if (isSame) return last;
  const lines = [line] as const;
  lastLines.set(offer, lines);
  return lines;
}

function assignSeveral(
  requested: readonly RequestedLine[],
  overlays: readonly StockOverlay[],
  own: OwnHold | null,
): readonly HoldLine[] | Refusal {
  const lines = new Array<HoldLine | undefined>(requested.length).fill(undefined);
  const budget = createSearchBudget();
  // Looked for once: a request may have a thousand lines.
  const [hasShrunk, hasAccessible] = [requested.some(isShrunk), requested.some(isAccessible)];
  for (const assignsNow of [isKept, isNamed, isShrunk, isGrown, isNew]) {
    for (let index = 0; index < requested.length; index += 1) {
      const request = requested[index]!;
      if (!assignsNow(request) || lines[index] !== undefined) continue;
      const overlay = overlayOf(overlays, request.performanceId)!;
      const first = assignsNow === isNew && hasAccessible ? findFirst(requested, request) : -1;
      if (first >= 0) {
        const refused = assignParty({ requested, lines, overlay, own, budget }, first);
        if (refused !== null) return refused;
        continue;
      }
      const promised = assignsNow === isNamed && hasShrunk ? promisedTo(requested, request) : 0;
      const line = assignLine(request, promised, overlay, own);
      if (isRefusal(line)) return line;
      takeInOverlay(overlay, line);
      lines[index] = line;
    }
  }
  return addUpLines(lines as readonly HoldLine[]);
}

const isSettled = ({ seatChoice: { how } }: RequestedLine): boolean =>
  how === 'NAMED' || how === 'KEPT' || how === 'NONE';
const isKept = (request: RequestedLine): boolean => isSettled(request) && request.had;
const isNamed = (request: RequestedLine): boolean => isSettled(request) && !request.had;
const isShrunk = (request: RequestedLine): boolean => request.seatChoice.how === 'SHRINK';
const isGrown = (request: RequestedLine): boolean => request.seatChoice.how === 'GROW';
const isNew = (request: RequestedLine): boolean => request.seatChoice.how === 'BEST';
const isAccessible = ({ offer }: RequestedLine): boolean => offer.ticketType.accessible;
/** Whether the request has the line and names no seats for it. */
const isUnpicked = ({ seatChoice: { how }, index }: RequestedLine): boolean =>
  index >= 0 && how !== 'NAMED' && how !== 'NONE';

// ── companions ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** What is requested at one performance, and what of it was assigned so far. */
interface Assignment {
  readonly requested: readonly RequestedLine[];
  readonly lines: (HoldLine | undefined)[];
  readonly overlay: StockOverlay;
  readonly own: OwnHold | null;
  /** What is left for companions of all performances. */
  readonly budget: SearchBudget;
}

/** Whether two lines are for the same seats of the same performance, and of different types. */
function isCompanion(a: RequestedLine, b: RequestedLine): boolean {
  const isSamePlace =
    a.performanceId === b.performanceId && a.offer.ticketType.locality === b.offer.ticketType.locality;
  return isSamePlace && a.offer.ticketType !== b.offer.ticketType;
}

/**
 * The accessible line beside which a new line and others of the request are placed (rule 3), or -1: the first one of
 * its seats and performance, where the request has another type for them. It may be the line itself.
 */
function findFirst(requested: readonly RequestedLine[], request: RequestedLine): number {
  const isFirst = (each: RequestedLine): boolean =>
    each.offer.ticketType.accessible && isUnpicked(each) && (each === request || isCompanion(each, request));
  const first = requested.findIndex(isFirst);
  if (first < 0) return -1;
  const hasCompanions = requested.some((each) => isUnpicked(each) && isCompanion(each, requested[first]!));
  return hasCompanions ? first : -1;
}

/** Companions for each accessible seat; further tickets of other types get ordinary seats. */
const COMPANIONS_PER_SEAT_MAX = 2;

/** A line of another type, and how many of its tickets are placed beside the accessible ones. */
interface Companion {
  readonly request: RequestedLine;
  readonly beside: number;
}

/** Assigns an accessible line, if that is to be done still, and the new lines of other types beside it. */
function assignParty(assignment: Assignment, first: number): Refusal | null {
  const { requested, lines, overlay, budget } = assignment;
  const request = requested[first]!;
  const companions = companionsOf(assignment, request);
  const close = companions.filter(({ beside }) => beside > 0);
  const blocks =
    lines[first] === undefined ? seatTogether(overlay, requestOf(request), close.map(blockOf), budget) : null;
  const refused =
    lines[first] === undefined ? assignBlock(assignment, request, blocks?.[0] ?? bestBlockOf(request, overlay)) : null;
  if (refused !== null) return refused;
  const { indexOf } = request.offer.ticketType.locality.seating!;
  const seats = lines[first]!.seatIds.map((seatId) => indexOf.get(seatId)!);
  for (const [index, companion] of companions.entries()) {
    const besideThem = (): number[] | null =>
      blocks?.[index + 1] ?? seatBeside(overlay, seats, blockOf(companion), budget);
    const own = companion.beside === 0 ? null : besideThem();
    const over = assignBlock(assignment, companion.request, withOthers(companion, own, overlay));
    if (over !== null) return over;
  }
  return null;
}

/** The new lines that come along with an accessible one: those placed beside it come first. */
function companionsOf({ requested, lines }: Assignment, request: RequestedLine): readonly Companion[] {
  let left = COMPANIONS_PER_SEAT_MAX * request.ticketCount;
  const companions: Companion[] = [];
  for (const [index, each] of requested.entries()) {
    if (!isNew(each) || lines[index] !== undefined || !isCompanion(each, request)) continue;
    const beside = Math.min(left, each.ticketCount);
    left -= beside;
    companions.push({ request: each, beside });
  }
  return companions;
}

/**
 * The seats of a whole line: those beside the accessible ones, and the best block of the others; where there is no such
 * block, the best one of all together.
 */
function withOthers({ request, beside }: Companion, own: number[] | null, overlay: StockOverlay): number[] | null {
  const others = request.ticketCount - beside;
  if (others === 0 && own !== null) return own;
  const { ticketType } = request.offer;
  if (own !== null) {
    const after = copyOverlay(overlay);
    const seatIds = seatIdsAt(ticketType.locality.seating!, own);
    takeInOverlay(after, { ...lineOf(request, seatIds), ticketCount: beside });
    const rest = bestBlock(after, ticketType, others);
    if (rest !== null) return [...own, ...rest].sort((a, b) => a - b);
  }
  return bestBlock(overlay, ticketType, request.ticketCount);
}

/** Checks the stock of one line and gives it the seats that were found. */
function assignBlock(
  { requested, lines, overlay, own }: Assignment,
  request: RequestedLine,
  block: number[] | null,
): Refusal | null {
  if (block === null || leftInOverlay(overlay, request.offer) < request.ticketCount)
    return insufficient(request, overlay, own);
  const line = lineOf(request, seatIdsAt(request.offer.ticketType.locality.seating!, block));
  takeInOverlay(overlay, line);
  lines[requested.indexOf(request)] = line;
  return null;
}

const blockOf = ({ request, beside }: Companion): BlockRequest => ({ type: request.offer.ticketType, count: beside });

const requestOf = ({ offer, ticketCount }: RequestedLine): BlockRequest => ({
  type: offer.ticketType,
  count: ticketCount,
});

const bestBlockOf = ({ offer, ticketCount }: RequestedLine, overlay: StockOverlay): number[] | null =>
  bestBlock(overlay, offer.ticketType, ticketCount);

// ── one line ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Tickets of the same type that shrunk lines will keep once the named seats are taken. */
function promisedTo(requested: readonly RequestedLine[], { performanceId, offer }: RequestedLine): number {
  let promised = 0;
  for (const request of requested) {
    const isOfType = request.performanceId === performanceId && request.offer.ticketType === offer.ticketType;
    if (isOfType && isShrunk(request)) promised += request.ticketCount;
  }
  return promised;
}

/**
 * An overlay for each performance, in which the session's own hold is given back. They are few: a list is faster than a
 * Map.
 */
function openOverlays(
  state: InventoryState,
  requested: readonly RequestedLine[],
  own: OwnHold | null,
): readonly StockOverlay[] {
  const overlays: StockOverlay[] = [];
  for (const { performanceId } of requested) {
    if (overlayOf(overlays, performanceId) === undefined)
      overlays.push(createOverlay(inventoryOf(state, performanceId)));
  }
  if (own === null) return overlays;
  for (const line of own.lines) {
    const overlay = overlayOf(overlays, line.performanceId);
    if (overlay === undefined) continue;
    if (own.isSold === true) returnInOverlay(overlay, line);
    else giveBackInOverlay(overlay, line);
  }
  return overlays;
}

function overlayOf(overlays: readonly StockOverlay[], performanceId: string): StockOverlay | undefined {
  for (const overlay of overlays) if (overlay.inventory.performanceId === performanceId) return overlay;
  return undefined;
}

const hasSeats = (request: RequestedLine): boolean =>
  request.seatChoice.how === 'NAMED' || request.seatChoice.how === 'KEPT';

/**
 * Checks all named seats of all items together, so that an answer names every seat in the way. Seats that a line keeps
 * are only compared with the seats that other lines name: a later definition may have closed them to the type, but the
 * line does not lose them.
 */
function checkNamedSeats(requested: readonly RequestedLine[], overlays: readonly StockOverlay[]): Refusal | null {
  if (!requested.some(hasSeats)) return null;
  const notInTicketType: string[] = [];
  const notSellable: string[] = [];
  const taken: string[] = [];
  const namedBy = new Map<string, number>();
  const twice: Problem[] = [];
  let mismatch: Refusal | null = null;
  for (const { seatChoice, offer, performanceId, ticketCount: expected, index } of requested) {
    if (seatChoice.how !== 'NAMED' && seatChoice.how !== 'KEPT') continue;
    for (const seatId of seatChoice.seatIds) {
      const key = `${performanceId} ${seatId}`;
      const other = namedBy.get(key);
      if (other !== undefined) twice.push(namedTwice(seatId, Math.max(index, other)));
      namedBy.set(key, index);
    }
    if (seatChoice.how === 'KEPT') continue;
    const given = seatChoice.seatIds.length;
    if (given !== expected) {
      mismatch ??= refuse('SEAT_COUNT_MISMATCH', { ticketTypeId: offer.ticketTypeId, expected, given });
    }
    const check = checkSeats(overlayOf(overlays, performanceId)!, offer.ticketType, seatChoice.seatIds);
    notInTicketType.push(...check.notInTicketType);
    notSellable.push(...check.notSellable);
    taken.push(...check.taken);
  }
  if (twice.length > 0) return refuseProblems(twice);
  if (mismatch !== null) return mismatch;
  if (notInTicketType.length > 0) return refuse('SEAT_NOT_IN_TICKET_TYPE', { seatIds: notInTicketType });
  if (notSellable.length > 0) return refuse('SEAT_NOT_SELLABLE', { seatIds: notSellable });
  return taken.length > 0 ? refuse('SEAT_TAKEN', { seatIds: taken }) : null;
}

/** Of two lines with the same seat the later item of the request is the problem; at least one of them is an item. */
function namedTwice(seatId: string, index: number): Problem {
  return { path: ['items', index, 'seatIds'], message: `seat ${seatId} is named twice` };
}

/** Checks the stock of one line and finds its seats. */
function assignLine(
  request: RequestedLine,
  promised: number,
  overlay: StockOverlay,
  own: OwnHold | null,
): HoldLine | Refusal {
  const { offer, ticketCount } = request;
  if (!request.had && leftInOverlay(overlay, offer) - promised < ticketCount)
    return insufficient(request, overlay, own);
  const seatIds = findSeats(request, overlay);
  return seatIds === null ? insufficient(request, overlay, own) : lineOf(request, seatIds);
}

function lineOf(request: RequestedLine, seatIds: readonly string[]): HoldLine {
  const { offer, ticketCount, performanceId, quantity, unitPriceCents } = request;
  const { ticketTypeId, sellingStageId } = offer;
  return { performanceId, ticketTypeId, sellingStageId, quantity, ticketCount, unitPriceCents, seatIds };
}

const NO_SEATS: readonly string[] = [];

function findSeats(request: RequestedLine, overlay: StockOverlay): readonly string[] | null {
  const { seatChoice, ticketCount, offer } = request;
  const { ticketType } = offer;
  const plan = ticketType.locality.seating;
  if (seatChoice.how === 'NONE' || plan === null) return NO_SEATS;
  switch (seatChoice.how) {
    case 'KEPT':
      return seatChoice.seatIds;
    case 'NAMED': // The plan's own strings and not the request's: a million holds share them.
      return seatChoice.seatIds.map((seatId) => plan.seatIds[plan.indexOf.get(seatId)!]!);
    case 'SHRINK': {
      const kept = shrinkBlock(overlay, ticketType, seatChoice.heldSeatIds, ticketCount);
      return kept === null ? null : seatIdsAt(plan, kept);
    }
    case 'GROW':
    case 'BEST': {
      const grown =
        seatChoice.how === 'GROW' ? growBlock(overlay, ticketType, seatChoice.heldSeatIds, ticketCount) : null;
      const block = grown ?? bestBlock(overlay, ticketType, ticketCount);
      return block === null ? null : seatIdsAt(plan, block);
    }
  }
}

function insufficient(request: RequestedLine, overlay: StockOverlay, own: OwnHold | null): Refusal {
  const { offer, ticketCount, performanceId } = request;
  const { ticketTypeId, sellingStageId } = offer;
  const why = shortfall(overlay, offer, ticketCount, own);
  const detail = { ...why, ticketTypeId, sellingStageId, performanceId };
  const seeksBlock = request.seatChoice.how === 'BEST' || request.seatChoice.how === 'GROW';
  if (!seeksBlock) return refuse('INSUFFICIENT_TICKETS', detail);
  const block = Math.min(why.available, largestBlock(overlay, offer.ticketType));
  const refusal = refuse('INSUFFICIENT_TICKETS', { ...detail, largestBlock: block });
  const isApart = block < ticketCount && ticketCount <= why.available;
  return isApart ? { ...refusal, reason: 'NOT_SIDE_BY_SIDE' } : refusal;
}

/**
 * Whether all lines of an ended order could be taken again at `now`, seat by seat, whatever the windows of its stages.
 * For an order that goes on, `own` has the sold lines that it gives up.
 */
export function canRetake(
  state: InventoryState,
  lines: readonly HoldLine[],
  now: number,
  own: readonly HoldLine[] = [],
): boolean {
  const overlays = new Map<string, StockOverlay>();
  return lines.every((line) => {
    const offer = offerOf(state.plan, line.ticketTypeId, line.sellingStageId);
    if (offer === undefined || isRefusal(findPerformanceOnSale(state, line.performanceId, now))) return false;
    const { performanceId } = line;
    if (!overlays.has(performanceId)) {
      const opened = createOverlay(inventoryOf(state, performanceId));
      for (const given of own) if (given.performanceId === performanceId) returnInOverlay(opened, given);
      overlays.set(performanceId, opened);
    }
    const overlay = overlays.get(performanceId)!;
    if (leftInOverlay(overlay, offer) < line.ticketCount || !areSeatsFree(overlay, offer, line)) return false;
    takeInOverlay(overlay, line);
    return true;
  });
}

function areSeatsFree(overlay: StockOverlay, offer: Offer, { seatIds, ticketCount }: HoldLine): boolean {
  if (offer.ticketType.locality.seating === null) return seatIds.length === 0;
  const { notInTicketType, notSellable, taken } = checkSeats(overlay, offer.ticketType, seatIds);
  return seatIds.length === ticketCount && notInTicketType.length + notSellable.length + taken.length === 0;
}

/** What the limits need of an item. */
export interface LimitedItem {
  readonly performanceId: string;
  readonly ticketTypeId: string;
  readonly quantity: number;
  readonly ticketCount: number;
}
