/**
 * Seats and stock for the lines of a request: who gets which seats, and whether there are as many tickets.
 *
 * What the stock would be is kept in trials, in which the session's own hold counts as given back. Mutates nothing (I2).
 *
 * 1. Seats that were named are taken in the trial before any are assigned, so that no item is assigned another's seat.
 * 2. What a hold keeps is taken before anything is added to it, so that nothing new is promised the places of what is kept.
 * 3. Where one item is of an accessible type and another of another type, for the same performance and locality and both
 *    without named seats, the other is placed beside the first (`companions.ts`).
 */
import { bestBlock, growBlock, largestBlock, shrinkBlock } from './best-available.ts';
import { seatBeside, seatTogether, type BlockRequest } from './companions.ts';
import { addUpLines } from '../holds/lines.ts';
import { inventoryOf, isOnSale } from './performance.ts';
import { isRefusal, refuse, refuseProblems, type Problem, type Refusal } from '../refusal.ts';
import { rowOf, type SaleRow } from '../catalogue/sale-plan.ts';
import { seatIdsAt } from '../catalogue/seating-plan.ts';
import {
  createOverlay,
  giveBackInOverlay,
  checkSeats,
  leftInOverlay,
  shortfall,
  takeInOverlay,
  type StockOverlay,
} from './stock-overlay.ts';
import type { Claimant } from './claims.ts';
import type { HoldLine } from '../fact.ts';
import type { LimitedItem } from '../orders/purchase-limits.ts';
import type { EventState } from '../event-state.ts';

/** A session's hold, as far as a reservation needs it: what it has counts as free for this session. */
export interface OwnHold extends Claimant {
  readonly lines: readonly HoldLine[];
}

/** How the seats of a wanted line are found. */
export type Seating =
  | { readonly how: 'NONE' }
  /** Seats that the request names; those of a line that stays as it is, which were checked when it got them. */
  | { readonly how: 'NAMED' | 'KEPT'; readonly seatIds: readonly string[] }
  | { readonly how: 'BEST' }
  | { readonly how: 'SHRINK' | 'GROW'; readonly heldSeatIds: readonly string[] };

/** An item whose date, type and stage are known. */
export interface WantedLine extends LimitedItem {
  readonly row: SaleRow;
  readonly unitPriceCents: number;
  readonly seating: Seating;
  /** Whether the hold has as many already, so that stock is not judged. */
  readonly had: boolean;
  /** The place of its item in the request; -1 for a line of the hold that the request does not name. */
  readonly index: number;
}

/**
 * The second half of `reserve`: judges seats, then stock, and gives every line its seats; trials carry each line's share to
 * the next. Refuses with what `reserve` refuses from SEAT_COUNT_MISMATCH on.
 */
export function assignTickets(
  stock: EventState,
  wanted: readonly WantedLine[],
  own: OwnHold | null,
): readonly HoldLine[] | Refusal {
  const overlays = openOverlays(stock, wanted, own);
  const seatRefusal = checkNamedSeats(wanted, overlays);
  if (seatRefusal !== null) return seatRefusal;
  return wanted.length === 1 ? assignOne(wanted[0]!, overlays[0]!, own) : assignSeveral(wanted, overlays, own);
}

/** One line alone leaves nothing to any other, so that it need not be taken in the trial. Most requests are this. Hot. */
function assignOne(want: WantedLine, overlay: StockOverlay, own: OwnHold | null): readonly HoldLine[] | Refusal {
  const line = assignLine(want, 0, overlay, own);
  return isRefusal(line) ? line : [line];
}

function assignSeveral(
  wanted: readonly WantedLine[],
  overlays: readonly StockOverlay[],
  own: OwnHold | null,
): readonly HoldLine[] | Refusal {
  const lines = new Array<HoldLine | undefined>(wanted.length).fill(undefined);
  for (const assignsNow of [isKept, isNamed, isShrunk, isGrown, isNew]) {
    for (let index = 0; index < wanted.length; index += 1) {
      const want = wanted[index]!;
      if (!assignsNow(want) || lines[index] !== undefined) continue;
      const overlay = trialOf(overlays, want.performanceId)!;
      const first = assignsNow === isNew ? findFirst(wanted, want) : -1;
      if (first >= 0) {
        const refused = assignParty({ wanted, lines, overlay, own }, first);
        if (refused !== null) return refused;
        continue;
      }
      const promised = assignsNow === isNamed ? promisedTo(wanted, want) : 0;
      const line = assignLine(want, promised, overlay, own);
      if (isRefusal(line)) return line;
      takeInOverlay(overlay, line);
      lines[index] = line;
    }
  }
  return addUpLines(lines as readonly HoldLine[]);
}

const isSettled = ({ seating: { how } }: WantedLine): boolean => how === 'NAMED' || how === 'KEPT' || how === 'NONE';
const isKept = (want: WantedLine): boolean => isSettled(want) && want.had;
const isNamed = (want: WantedLine): boolean => isSettled(want) && !want.had;
const isShrunk = (want: WantedLine): boolean => want.seating.how === 'SHRINK';
const isGrown = (want: WantedLine): boolean => want.seating.how === 'GROW';
const isNew = (want: WantedLine): boolean => want.seating.how === 'BEST';
/** Whether the request has the line and names no seats for it. */
const isUnpicked = ({ seating: { how }, index }: WantedLine): boolean =>
  index >= 0 && how !== 'NAMED' && how !== 'NONE';

// ── companions ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Lines under way: what is wanted, and what of it was assigned. */
interface Assignment {
  readonly wanted: readonly WantedLine[];
  readonly lines: (HoldLine | undefined)[];
  readonly overlay: StockOverlay;
  readonly own: OwnHold | null;
}

/** Whether two lines are for the same seats of the same performance, and of different types. */
function isCompanion(a: WantedLine, b: WantedLine): boolean {
  const isSamePlace = a.performanceId === b.performanceId && a.row.ticketType.locality === b.row.ticketType.locality;
  return isSamePlace && a.row.ticketType !== b.row.ticketType;
}

/**
 * The accessible line beside which a new line and others of the request are placed (3), or -1: the first one of its seats and
 * performance, where the request has another type for them. It may be the line itself.
 */
function findFirst(wanted: readonly WantedLine[], want: WantedLine): number {
  const isFirst = (each: WantedLine): boolean =>
    each.row.ticketType.accessible && isUnpicked(each) && (each === want || isCompanion(each, want));
  const first = wanted.findIndex(isFirst);
  if (first < 0) return -1;
  const hasCompanions = wanted.some((each) => isUnpicked(each) && isCompanion(each, wanted[first]!));
  return hasCompanions ? first : -1;
}

/** Assigns an accessible line, if that is to be done still, and the new lines of other types beside it. */
function assignParty(assignment: Assignment, first: number): Refusal | null {
  const { wanted, lines, overlay, own } = assignment;
  const want = wanted[first]!;
  const companions = wanted.filter(
    (each, index) => isNew(each) && lines[index] === undefined && isCompanion(each, want),
  );
  const blocks = lines[first] === undefined ? seatTogether(overlay, requestOf(want), companions.map(requestOf)) : null;
  const refused =
    lines[first] === undefined ? assignBlock(assignment, want, blocks?.[0] ?? bestBlockOf(want, overlay)) : null;
  if (refused !== null) return refused;
  const { indexOf } = want.row.ticketType.locality.seating!;
  const seats = lines[first]!.seatIds.map((seatId) => indexOf.get(seatId)!);
  for (const [place, companion] of companions.entries()) {
    const block = blocks?.[place + 1] ?? seatBeside(overlay, seats, requestOf(companion));
    const over = assignBlock({ wanted, lines, overlay, own }, companion, block);
    if (over !== null) return over;
  }
  return null;
}

/** Judges the stock of one line and gives it the seats that were found. */
function assignBlock(
  { wanted, lines, overlay, own }: Assignment,
  want: WantedLine,
  block: number[] | null,
): Refusal | null {
  if (block === null || leftInOverlay(overlay, want.row) < want.ticketCount) return insufficient(want, overlay, own);
  const line = lineOf(want, seatIdsAt(want.row.ticketType.locality.seating!, block));
  takeInOverlay(overlay, line);
  lines[wanted.indexOf(want)] = line;
  return null;
}

const requestOf = ({ row, ticketCount }: WantedLine): BlockRequest => ({ type: row.ticketType, count: ticketCount });

const bestBlockOf = ({ row, ticketCount }: WantedLine, overlay: StockOverlay): number[] | null =>
  bestBlock(overlay, row.ticketType, ticketCount);

// ── one line ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Tickets of the same type that shrunk lines will keep once the named seats are taken (4). */
function promisedTo(wanted: readonly WantedLine[], { performanceId, row }: WantedLine): number {
  let promised = 0;
  for (const want of wanted) {
    const isOfType = want.performanceId === performanceId && want.row.ticketType === row.ticketType;
    if (isOfType && isShrunk(want)) promised += want.ticketCount;
  }
  return promised;
}

/** A trial for each date, in which the session's own hold is given back. They are few: a list is faster than a Map. */
function openOverlays(stock: EventState, wanted: readonly WantedLine[], own: OwnHold | null): readonly StockOverlay[] {
  const overlays: StockOverlay[] = [];
  for (const { performanceId } of wanted) {
    if (trialOf(overlays, performanceId) === undefined) overlays.push(createOverlay(inventoryOf(stock, performanceId)));
  }
  if (own === null) return overlays;
  for (const line of own.lines) {
    const overlay = trialOf(overlays, line.performanceId);
    if (overlay !== undefined) giveBackInOverlay(overlay, line);
  }
  return overlays;
}

function trialOf(overlays: readonly StockOverlay[], performanceId: string): StockOverlay | undefined {
  for (const overlay of overlays) if (overlay.inventory.performanceId === performanceId) return overlay;
  return undefined;
}

const hasSeats = (want: WantedLine): boolean => want.seating.how === 'NAMED' || want.seating.how === 'KEPT';

/**
 * Judges all named seats of all items together, so that an answer names every seat in the way. Seats that a line keeps are
 * only held against those that others name: a later definition may have closed them to the type, which is no reason to lose them.
 */
function checkNamedSeats(wanted: readonly WantedLine[], overlays: readonly StockOverlay[]): Refusal | null {
  if (!wanted.some(hasSeats)) return null;
  const notInTicketType: string[] = [];
  const notSellable: string[] = [];
  const taken: string[] = [];
  const namedBy = new Map<string, number>();
  const twice: Problem[] = [];
  let mismatch: Refusal | null = null;
  for (const { seating, row, performanceId, ticketCount: expected, index } of wanted) {
    if (seating.how !== 'NAMED' && seating.how !== 'KEPT') continue;
    for (const seatId of seating.seatIds) {
      const key = `${performanceId} ${seatId}`;
      const other = namedBy.get(key);
      if (other !== undefined) twice.push(namedTwice(seatId, Math.max(index, other)));
      namedBy.set(key, index);
    }
    if (seating.how === 'KEPT') continue;
    const given = seating.seatIds.length;
    if (given !== expected) {
      mismatch ??= refuse('SEAT_COUNT_MISMATCH', { ticketTypeId: row.ticketTypeId, expected, given });
    }
    const judgement = checkSeats(trialOf(overlays, performanceId)!, row.ticketType, seating.seatIds);
    notInTicketType.push(...judgement.notInTicketType);
    notSellable.push(...judgement.notSellable);
    taken.push(...judgement.taken);
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

/** Judges the stock of one line and finds its seats. */
function assignLine(
  want: WantedLine,
  promised: number,
  overlay: StockOverlay,
  own: OwnHold | null,
): HoldLine | Refusal {
  const { row, ticketCount } = want;
  if (!want.had && leftInOverlay(overlay, row) - promised < ticketCount) return insufficient(want, overlay, own);
  const seatIds = findSeats(want, overlay);
  return seatIds === null ? insufficient(want, overlay, own) : lineOf(want, seatIds);
}

function lineOf(want: WantedLine, seatIds: readonly string[]): HoldLine {
  const { row, ticketCount, performanceId, quantity, unitPriceCents } = want;
  const { ticketTypeId, sellingStageId } = row;
  return { performanceId, ticketTypeId, sellingStageId, quantity, ticketCount, unitPriceCents, seatIds };
}

const NO_SEATS: readonly string[] = [];

function findSeats(want: WantedLine, overlay: StockOverlay): readonly string[] | null {
  const { seating, ticketCount, row } = want;
  const { ticketType } = row;
  const plan = ticketType.locality.seating;
  if (seating.how === 'NONE' || plan === null) return NO_SEATS;
  switch (seating.how) {
    case 'KEPT':
      return seating.seatIds;
    case 'NAMED': // The plan's own strings and not the request's: a million holds share them.
      return seating.seatIds.map((seatId) => plan.seatIds[plan.indexOf.get(seatId)!]!);
    case 'SHRINK': {
      const kept = shrinkBlock(overlay, ticketType, seating.heldSeatIds, ticketCount);
      return kept === null ? null : seatIdsAt(plan, kept);
    }
    case 'GROW':
    case 'BEST': {
      const grown = seating.how === 'GROW' ? growBlock(overlay, ticketType, seating.heldSeatIds, ticketCount) : null;
      const block = grown ?? bestBlock(overlay, ticketType, ticketCount);
      return block === null ? null : seatIdsAt(plan, block);
    }
  }
}

function insufficient(want: WantedLine, overlay: StockOverlay, own: OwnHold | null): Refusal {
  const { row, ticketCount, performanceId } = want;
  const { ticketTypeId, sellingStageId } = row;
  const why = shortfall(overlay, row, ticketCount, own);
  const detail = { ...why, ticketTypeId, sellingStageId, performanceId };
  const seeksBlock = want.seating.how === 'BEST' || want.seating.how === 'GROW';
  return refuse(
    'INSUFFICIENT_TICKETS',
    seeksBlock ? { ...detail, largestBlock: Math.min(why.available, largestBlock(overlay, row.ticketType)) } : detail,
  );
}

/** Whether all lines of an order that ended could be taken again at `now`, seat by seat, its stages' windows apart. */
export function canRetake(stock: EventState, lines: readonly HoldLine[], now: number): boolean {
  const overlays = new Map<string, StockOverlay>();
  return lines.every((line) => {
    const row = rowOf(stock.plan, line.ticketTypeId, line.sellingStageId);
    if (row === undefined || !isDateOnSale(stock, line.performanceId, now)) return false;
    const { performanceId } = line;
    if (!overlays.has(performanceId)) overlays.set(performanceId, createOverlay(inventoryOf(stock, performanceId)));
    const overlay = overlays.get(performanceId)!;
    if (leftInOverlay(overlay, row) < line.ticketCount || !areSeatsFree(overlay, row, line)) return false;
    takeInOverlay(overlay, line);
    return true;
  });
}

function areSeatsFree(overlay: StockOverlay, row: SaleRow, { seatIds, ticketCount }: HoldLine): boolean {
  if (row.ticketType.locality.seating === null) return seatIds.length === 0;
  const { notInTicketType, notSellable, taken } = checkSeats(overlay, row.ticketType, seatIds);
  return seatIds.length === ticketCount && notInTicketType.length + notSellable.length + taken.length === 0;
}

function isDateOnSale(stock: EventState, performanceId: string, now: number): boolean {
  const performance = stock.performances.get(performanceId);
  const definition = stock.plan.performanceById.get(performanceId);
  return performance !== undefined && definition !== undefined && isOnSale(performance, definition, now);
}
