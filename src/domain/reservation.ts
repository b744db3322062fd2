/**
 * The one way to tickets: items asked for become lines of a hold, or a refusal, all or nothing.
 *
 * Owns the rules of dates, types, stages, seats and stock, in the API's order of checks. Holds, changes of holds and
 * checkouts without a hold all come through here, so that they cannot differ. Mutates nothing (I2): what the stock
 * would be is kept in trials, in which the session's own hold counts as given back. Called by `holds.ts` and `orders.ts`.
 *
 * 1. Dates of all items are judged before types and stages of all, those before seats of all, those before stock.
 * 2. Seats that were named are taken in the trial before any are assigned, so that no item is assigned another's seat.
 * 3. What a hold has already is never judged anew: it may be kept or shrunk after its stage closed or a quota fell.
 * 4. What a hold keeps is taken before anything is added to it, so that nothing new is promised the places of what is kept.
 */
import { bestBlock, largestBlock } from './best-available.ts';
import { growBlock, shrinkBlock } from './held-block.ts';
import { beginTrial, giveBackInTrial, judgeSeats, leftInTrial, shortfall, takeInTrial, type Trial } from './trial.ts';
import { checkCartLimits, type LimitedItem } from './purchase-limits.ts';
import { isStageOpen, rowOf, type SaleRow } from './sale-plan.ts';
import { seatIdsAt } from './seating-plan.ts';
import { findDateOnSale, inventoryOf, isOnSale, type Stock } from './performances.ts';
import { isRefusal, refuse, refuseProblems, type Problem, type Refusal } from './refusal.ts';
import type { Claimant } from './release-queue.ts';
import type { HoldLine } from './fact.ts';
import type { ItemRequest } from './command.ts';

/** Lines that one hold may have; the API's bound on items. */
export const HOLD_LINES_MAX = 20;

/** A session's hold, as far as a reservation needs it: what it has counts as free for this session. */
export interface OwnHold extends Claimant {
  readonly lines: readonly HoldLine[];
}

/** How the seats of a wanted line are found. */
type Seating =
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
  /** Whether the hold has as many already, so that stock is not judged (3). */
  readonly had: boolean;
  /** The place of its item in the request; -1 for a line of the hold that the request does not name. */
  readonly index: number;
}

/**
 * Reserves new items: lines ready for a hold, equal type, stage and date added up into one line.
 *
 * `own` is the session's hold that the new one would replace. Refuses in order: PERFORMANCE_*, VALIDATION_ERROR (one seat
 * named twice, seats on general admission), TICKET_TYPE_NOT_FOUND, SELLING_STAGE_NOT_FOUND, TICKET_NOT_ON_SALE,
 * MAX_PER_ORDER_EXCEEDED and MAX_TICKETS_PER_ORDER_EXCEEDED (unless the event leaves limits to the checkout), SEAT_COUNT_MISMATCH, SEAT_NOT_IN_TICKET_TYPE, SEAT_NOT_SELLABLE, SEAT_TAKEN, INSUFFICIENT_TICKETS.
 */
export function reserve(
  stock: Stock,
  items: readonly ItemRequest[],
  own: OwnHold | null,
  now: number,
): readonly HoldLine[] | Refusal {
  const wanted = findWanted(stock, items, now);
  if (isRefusal(wanted)) return wanted;
  return refuseOverLimits(stock, wanted) ?? assignTickets(stock, wanted, own);
}

/**
 * The first half of `reserve`: the date, type and stage of each item. A checkout judges limits, codes and perks before it goes
 * on to `assignTickets`. Refuses with what `reserve` refuses up to TICKET_NOT_ON_SALE.
 */
export function findWanted(stock: Stock, items: readonly ItemRequest[], now: number): readonly WantedLine[] | Refusal {
  const performanceIds: string[] = [];
  for (const item of items) {
    const date = findDateOnSale(stock, item.performanceId, now);
    if (isRefusal(date)) return date;
    performanceIds.push(date.id);
  }
  const wanted: WantedLine[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const line = wantNew(stock, items[index]!, performanceIds[index]!, index, now);
    if (isRefusal(line)) return line;
    wanted.push(line);
  }
  return wanted;
}

/**
 * Changes the lines of a hold as a PATCH asks: named lines get the quantity given, 0 drops one, others stay.
 * Refuses like `reserve`; dropping the last line, naming a line twice and more than HOLD_LINES_MAX lines are VALIDATION_ERRORs.
 */
export function rearrange(
  stock: Stock,
  hold: OwnHold,
  items: readonly ItemRequest[],
  now: number,
): readonly HoldLine[] | Refusal {
  const named = nameLines(stock, hold, items, now);
  if (isRefusal(named)) return named;
  const wanted: WantedLine[] = [];
  for (const line of hold.lines) {
    if (!named.some((each) => each.line === line)) wanted.push(keep(stock, line));
  }
  for (const { item, line, name, index } of named) {
    if (item.quantity === 0) continue;
    const change =
      line === null ? wantNew(stock, item, name.performanceId, index, now) : wantChanged(stock, item, line, index, now);
    if (isRefusal(change)) return change;
    wanted.push(change);
  }
  if (wanted.length === 0) {
    return refuseProblems([{ path: ['items'], message: 'a hold keeps at least one line; DELETE releases it' }]);
  }
  if (wanted.length > HOLD_LINES_MAX) {
    return refuseProblems([{ path: ['items'], message: `a hold has at most ${HOLD_LINES_MAX} lines` }]);
  }
  return refuseOverLimits(stock, wanted) ?? assignTickets(stock, inHoldOrder(wanted, hold), hold);
}

/** The refusal of a hold that no order could take; a hold that changes is checked as it would be then. */
function refuseOverLimits({ plan }: Stock, wanted: readonly WantedLine[]): Refusal | null {
  return plan.limitsAtHold ? checkCartLimits(plan, wanted) : null;
}

interface NamedLine {
  readonly item: ItemRequest;
  readonly name: LineName;
  /** The line of the hold that the item names, or null when it would be added. */
  readonly line: HoldLine | null;
  readonly index: number;
}

/** Finds the line that each item of a change names. A date is judged only where tickets are added. */
function nameLines(
  stock: Stock,
  hold: OwnHold,
  items: readonly ItemRequest[],
  now: number,
): readonly NamedLine[] | Refusal {
  const named: NamedLine[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index]!;
    const visible = stock.plan.visiblePerformances;
    const { ticketTypeId, sellingStageId, performanceId } = item;
    const onlyDate = visible.length === 1 ? visible[0]!.id : '';
    const name = { performanceId: performanceId ?? onlyDate, ticketTypeId, sellingStageId };
    const line = hold.lines.find((each) => isSameLine(each, name)) ?? null;
    if (line === null) {
      const date = findDateOnSale(stock, performanceId, now);
      if (isRefusal(date)) return date;
    }
    if (named.some((each) => isSameLine(each.name, name))) {
      return refuseProblems([{ path: ['items', index], message: 'names a line that another item names already' }]);
    }
    named.push({ item, name, line, index });
  }
  return named;
}

/** An item that asks for tickets the session does not have yet. */
function wantNew(
  stock: Stock,
  item: ItemRequest,
  performanceId: string,
  index: number,
  now: number,
): WantedLine | Refusal {
  const row = findRowOnSale(stock, item, now);
  if (isRefusal(row)) return row;
  const seating = seatingOf(row, item, index);
  if (isRefusal(seating)) return seating;
  return {
    performanceId,
    ticketTypeId: row.ticketTypeId,
    row,
    quantity: item.quantity,
    ticketCount: item.quantity * row.ticketType.groupSize,
    unitPriceCents: row.priceCents,
    seating,
    had: false,
    index,
  };
}

/** A line of the hold with another quantity or other seats; its price stays. */
function wantChanged(
  stock: Stock,
  item: ItemRequest,
  line: HoldLine,
  index: number,
  now: number,
): WantedLine | Refusal {
  const ticketGrowth = item.quantity - line.quantity;
  if (ticketGrowth > 0) {
    const date = findDateOnSale(stock, line.performanceId, now);
    if (isRefusal(date)) return date;
    const open = findRowOnSale(stock, item, now);
    if (isRefusal(open)) return open;
  }
  const row = rowOf(stock.plan, line.ticketTypeId, line.sellingStageId);
  if (row === undefined) return refuse('TICKET_NOT_ON_SALE', line);
  const asked = seatingOf(row, item, index);
  if (isRefusal(asked)) return asked;
  const ticketCount = item.quantity * row.ticketType.groupSize;
  const seating = asked.how === 'BEST' ? seatingFromHeld(line, ticketCount) : asked;
  const had = ticketGrowth <= 0;
  const { performanceId, ticketTypeId, unitPriceCents } = line;
  const { quantity } = item;
  return { performanceId, ticketTypeId, row, quantity, ticketCount, unitPriceCents, seating, had, index };
}

function seatingFromHeld(line: HoldLine, ticketCount: number): Seating {
  const heldSeatIds = line.seatIds;
  if (ticketCount === line.ticketCount) return { how: 'KEPT', seatIds: heldSeatIds };
  return { how: ticketCount < line.ticketCount ? 'SHRINK' : 'GROW', heldSeatIds };
}

/** A line of the hold that stays as it is. */
function keep(stock: Stock, line: HoldLine): WantedLine {
  const row = rowOf(stock.plan, line.ticketTypeId, line.sellingStageId)!;
  const seating: Seating = line.seatIds.length === 0 ? { how: 'NONE' } : { how: 'KEPT', seatIds: line.seatIds };
  const { performanceId, ticketTypeId, quantity, ticketCount, unitPriceCents } = line;
  return { performanceId, ticketTypeId, row, quantity, ticketCount, unitPriceCents, seating, had: true, index: -1 };
}

/** The sale row of an item, if it is sold now: TICKET_TYPE_NOT_FOUND, SELLING_STAGE_NOT_FOUND, TICKET_NOT_ON_SALE. */
function findRowOnSale(stock: Stock, item: ItemRequest, now: number): SaleRow | Refusal {
  const { ticketTypeId, sellingStageId } = item;
  const row = rowOf(stock.plan, ticketTypeId, sellingStageId);
  if (row !== undefined && isStageOpen(row.sellingStage.definition, now)) return row;
  if (!stock.plan.ticketTypeById.has(ticketTypeId)) return refuse('TICKET_TYPE_NOT_FOUND', { ticketTypeId });
  if (!stock.plan.sellingStageById.has(sellingStageId)) return refuse('SELLING_STAGE_NOT_FOUND', { sellingStageId });
  return refuse('TICKET_NOT_ON_SALE', { ticketTypeId, sellingStageId });
}

function seatingOf(row: SaleRow, item: ItemRequest, index: number): Seating | Refusal {
  const numbered = row.ticketType.locality.seating !== null;
  if (numbered) return item.seatIds === null ? { how: 'BEST' } : { how: 'NAMED', seatIds: item.seatIds };
  if (item.seatIds === null) return { how: 'NONE' };
  return refuseProblems([{ path: ['items', index, 'seatIds'], message: 'general admission has no seats to pick' }]);
}

// ── seats and stock ──────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The second half of `reserve`: judges seats, then stock, and gives every line its seats; trials carry each line's share to
 * the next. Refuses with what `reserve` refuses from SEAT_COUNT_MISMATCH on.
 */
export function assignTickets(
  stock: Stock,
  wanted: readonly WantedLine[],
  own: OwnHold | null,
): readonly HoldLine[] | Refusal {
  const trials = openTrials(stock, wanted, own);
  const seatRefusal = judgeNamedSeats(wanted, trials);
  if (seatRefusal !== null) return seatRefusal;
  return wanted.length === 1 ? assignOne(wanted[0]!, trials[0]!, own) : assignSeveral(wanted, trials, own);
}

/** One line alone leaves nothing to any other, so that it need not be taken in the trial. Most requests are this. Hot. */
function assignOne(want: WantedLine, trial: Trial, own: OwnHold | null): readonly HoldLine[] | Refusal {
  const line = assignLine(want, 0, trial, own);
  return isRefusal(line) ? line : [line];
}

function assignSeveral(
  wanted: readonly WantedLine[],
  trials: readonly Trial[],
  own: OwnHold | null,
): readonly HoldLine[] | Refusal {
  const lines = new Array<HoldLine>(wanted.length);
  for (const assignsNow of [isKept, isNamed, isShrunk, isAssigned]) {
    for (let index = 0; index < wanted.length; index += 1) {
      const want = wanted[index]!;
      if (!assignsNow(want)) continue;
      const promised = assignsNow === isNamed ? promisedTo(wanted, want) : 0;
      const trial = trialOf(trials, want.performanceId)!;
      const line = assignLine(want, promised, trial, own);
      if (isRefusal(line)) return line;
      takeInTrial(trial, line);
      lines[index] = line;
    }
  }
  return addUp(lines);
}

const isSettled = ({ seating: { how } }: WantedLine): boolean => how === 'NAMED' || how === 'KEPT' || how === 'NONE';
const isKept = (want: WantedLine): boolean => isSettled(want) && want.had;
const isNamed = (want: WantedLine): boolean => isSettled(want) && !want.had;
const isShrunk = (want: WantedLine): boolean => want.seating.how === 'SHRINK';
const isAssigned = (want: WantedLine): boolean => want.seating.how === 'BEST' || want.seating.how === 'GROW';

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
function openTrials(stock: Stock, wanted: readonly WantedLine[], own: OwnHold | null): readonly Trial[] {
  const trials: Trial[] = [];
  for (const { performanceId } of wanted) {
    if (trialOf(trials, performanceId) === undefined) trials.push(beginTrial(inventoryOf(stock, performanceId)));
  }
  if (own === null) return trials;
  for (const line of own.lines) {
    const trial = trialOf(trials, line.performanceId);
    if (trial !== undefined) giveBackInTrial(trial, line);
  }
  return trials;
}

function trialOf(trials: readonly Trial[], performanceId: string): Trial | undefined {
  for (const trial of trials) if (trial.inventory.performanceId === performanceId) return trial;
  return undefined;
}

const hasSeats = (want: WantedLine): boolean => want.seating.how === 'NAMED' || want.seating.how === 'KEPT';

/**
 * Judges all named seats of all items together, so that an answer names every seat in the way. Seats that a line keeps are
 * only held against those that others name: a later definition may have closed them to the type, which is no reason to lose them.
 */
function judgeNamedSeats(wanted: readonly WantedLine[], trials: readonly Trial[]): Refusal | null {
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
    const judgement = judgeSeats(trialOf(trials, performanceId)!, row.ticketType, seating.seatIds);
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
function assignLine(want: WantedLine, promised: number, trial: Trial, own: OwnHold | null): HoldLine | Refusal {
  const { row, ticketCount, performanceId, quantity, unitPriceCents } = want;
  if (!want.had && leftInTrial(trial, row) - promised < ticketCount) return insufficient(want, trial, own);
  const seatIds = findSeats(want, trial);
  if (seatIds === null) return insufficient(want, trial, own);
  const { ticketTypeId, sellingStageId } = row;
  return { performanceId, ticketTypeId, sellingStageId, quantity, ticketCount, unitPriceCents, seatIds };
}

const NO_SEATS: readonly string[] = [];

function findSeats(want: WantedLine, trial: Trial): readonly string[] | null {
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
      const kept = shrinkBlock(trial, ticketType, seating.heldSeatIds, ticketCount);
      return kept === null ? null : seatIdsAt(plan, kept);
    }
    case 'GROW':
    case 'BEST': {
      const grown = seating.how === 'GROW' ? growBlock(trial, ticketType, seating.heldSeatIds, ticketCount) : null;
      const block = grown ?? bestBlock(trial, ticketType, ticketCount);
      return block === null ? null : seatIdsAt(plan, block);
    }
  }
}

function insufficient(want: WantedLine, trial: Trial, own: OwnHold | null): Refusal {
  const { row, ticketCount, performanceId } = want;
  const { ticketTypeId, sellingStageId } = row;
  const why = shortfall(trial, row, ticketCount, own);
  const detail = { ...why, ticketTypeId, sellingStageId, performanceId };
  const seeksBlock = want.seating.how === 'BEST' || want.seating.how === 'GROW';
  return refuse(
    'INSUFFICIENT_TICKETS',
    seeksBlock ? { ...detail, largestBlock: largestBlock(trial, row.ticketType) } : detail,
  );
}

// ── lines ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What makes two lines the same line. */
type LineName = Pick<HoldLine, 'performanceId' | 'ticketTypeId' | 'sellingStageId'>;

function isSameLine(a: LineName, b: LineName): boolean {
  return (
    a.ticketTypeId === b.ticketTypeId && a.sellingStageId === b.sellingStageId && a.performanceId === b.performanceId
  );
}

/** The name of a line as one text, for tallies. */
export function lineKey(line: LineName): string {
  return `${line.performanceId}\n${line.ticketTypeId}\n${line.sellingStageId}`;
}

/** Lines of the same type, stage and date become one. */
function addUp(lines: readonly HoldLine[]): readonly HoldLine[] {
  const byKey = new Map<string, HoldLine>();
  for (const line of lines) {
    const key = lineKey(line);
    const same = byKey.get(key);
    byKey.set(key, same === undefined ? line : joinLines(same, line));
  }
  return [...byKey.values()];
}

function joinLines(a: HoldLine, b: HoldLine): HoldLine {
  return {
    ...a,
    quantity: a.quantity + b.quantity,
    ticketCount: a.ticketCount + b.ticketCount,
    seatIds: [...a.seatIds, ...b.seatIds],
  };
}

/** Lines that the hold had keep their places; new ones follow. */
function inHoldOrder(wanted: readonly WantedLine[], hold: OwnHold): readonly WantedLine[] {
  if (wanted.length === 1) return wanted;
  const places = new Map(hold.lines.map((line, place) => [lineKey(line), place]));
  const placeOf = ({ performanceId, row }: WantedLine): number =>
    places.get(lineKey({ performanceId, ticketTypeId: row.ticketTypeId, sellingStageId: row.sellingStageId })) ??
    places.size;
  return [...wanted].sort((a, b) => placeOf(a) - placeOf(b));
}

/** Whether all lines of an order that ended could be taken again at `now`, seat by seat, its stages' windows apart. */
export function canRetake(stock: Stock, lines: readonly HoldLine[], now: number): boolean {
  const trials = new Map<string, Trial>();
  return lines.every((line) => {
    const row = rowOf(stock.plan, line.ticketTypeId, line.sellingStageId);
    if (row === undefined || !isDateOnSale(stock, line.performanceId, now)) return false;
    const { performanceId } = line;
    if (!trials.has(performanceId)) trials.set(performanceId, beginTrial(inventoryOf(stock, performanceId)));
    const trial = trials.get(performanceId)!;
    if (leftInTrial(trial, row) < line.ticketCount || !areSeatsFree(trial, row, line)) return false;
    takeInTrial(trial, line);
    return true;
  });
}

function areSeatsFree(trial: Trial, row: SaleRow, { seatIds, ticketCount }: HoldLine): boolean {
  if (row.ticketType.locality.seating === null) return seatIds.length === 0;
  const { notInTicketType, notSellable, taken } = judgeSeats(trial, row.ticketType, seatIds);
  return seatIds.length === ticketCount && notInTicketType.length + notSellable.length + taken.length === 0;
}

function isDateOnSale(stock: Stock, performanceId: string, now: number): boolean {
  const date = stock.dates.get(performanceId);
  const definition = stock.plan.performanceById.get(performanceId);
  return date !== undefined && definition !== undefined && isOnSale(date, definition, now);
}
