/**
 * Where the units of changed tickets go: dates, types and stages, then places.
 *
 * 1. A change of date or seat alone keeps price and stage, open or not. Another type or stage has the price of the
 *    named stage; else of the unit's own stage if that is open and sells the type; else of the first open stage that
 *    sells it. An operator may name a closed one.
 * 2. What the order gives up counts as free for it. Without named seats tickets take the same ones where they are free
 *    and of the type, else the best ones.
 * 3. Units of one change that go to the same place sit together.
 */
import { isStageOpen, offerOf, type Offer } from '../../catalogue/sale-plan.ts';
import { lineKey } from '../../inventory/hold-line.ts';
import { assignTickets, type OwnHold, type RequestedLine, type SeatChoice } from '../../inventory/assignment.ts';
import { findPerformanceOnSale, inventoryOf } from '../../inventory/performance.ts';
import { checkSeats, createOverlay, returnInOverlay, type StockOverlay } from '../../inventory/stock-overlay.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../../refusal.ts';
import type { TicketChange } from '../../amendment-request.ts';
import type { CancellationCause, HoldLine } from '../../fact.ts';
import type { OrderState } from '../state.ts';
import type { OrderUnit } from './units.ts';

/** A unit that is changed, and where it goes. */
export interface ChangedUnit {
  readonly unit: OrderUnit;
  /** The index of its change in the request. */
  readonly index: number;
  readonly performanceId: string;
  readonly offer: Offer;
  /** It is of another type or stage, and has the price of that. */
  readonly isRepriced: boolean;
}

/** What a change asks for, and its units in the order of their tickets. */
export interface UnitsOfChange {
  readonly change: TicketChange;
  readonly units: readonly OrderUnit[];
}

/** The dates of changes, then their types and stages (rule 1): as `findRequested` refuses. */
export function findDestinations(
  state: OrderState,
  changes: readonly UnitsOfChange[],
  { by, now }: { readonly by: CancellationCause; readonly now: number },
): readonly ChangedUnit[] | Refusal {
  for (const { change, units } of changes) {
    const { performanceId } = change;
    if (performanceId === null || units.every((unit) => unit.performanceId === performanceId)) continue;
    const performance = findPerformanceOnSale(state, performanceId, now);
    if (isRefusal(performance)) return performance;
  }
  const found: ChangedUnit[] = [];
  for (const [index, { change, units }] of changes.entries()) {
    const { performanceId, ticketTypeId, sellingStageId, seatIds } = change;
    let isOther = false;
    for (const unit of units) {
      const isOtherType = ticketTypeId !== null && ticketTypeId !== unit.ticketTypeId;
      const isRepriced = isOtherType || (sellingStageId !== null && sellingStageId !== unit.sellingStageId);
      const offer = isRepriced ? findOffer(state, unit, change, { by, now }) : ownOffer(state, unit);
      if (isRefusal(offer)) return offer;
      const to = performanceId ?? unit.performanceId;
      found.push({ unit, index, performanceId: to, offer, isRepriced });
      isOther ||= isRepriced || to !== unit.performanceId;
    }
    const before = new Map(units.flatMap(({ slots }) => slots.map(({ ticketId, seatId }) => [ticketId, seatId])));
    const isOtherSeat = seatIds?.some((seatId, place) => seatId !== before.get(change.ticketIds[place]!)) ?? false;
    if (!isOtherSeat && !isOther) {
      return refuseProblems([{ path: ['change', index], message: 'changes nothing of its tickets' }]);
    }
  }
  return found;
}

function ownOffer({ plan }: OrderState, { ticketTypeId, sellingStageId }: OrderUnit): Offer | Refusal {
  return offerOf(plan, ticketTypeId, sellingStageId) ?? refuse('TICKET_NOT_ON_SALE', { ticketTypeId, sellingStageId });
}

/** The offer of another type or stage: TICKET_TYPE_NOT_FOUND, SELLING_STAGE_NOT_FOUND, TICKET_NOT_ON_SALE (rule 1). */
function findOffer(
  { plan }: OrderState,
  unit: OrderUnit,
  change: TicketChange,
  { by, now }: { readonly by: CancellationCause; readonly now: number },
): Offer | Refusal {
  const ticketTypeId = change.ticketTypeId ?? unit.ticketTypeId;
  const named = change.sellingStageId;
  if (!plan.ticketTypeById.has(ticketTypeId)) return refuse('TICKET_TYPE_NOT_FOUND', { ticketTypeId });
  if (named !== null && !plan.sellingStageById.has(named)) {
    return refuse('SELLING_STAGE_NOT_FOUND', { sellingStageId: named });
  }
  const stages = named === null ? [unit.sellingStageId, ...plan.sellingStages.map(({ id }) => id)] : [named];
  const mayBeClosed = by === 'OPERATOR' && named !== null;
  for (const stageId of stages) {
    const offer = offerOf(plan, ticketTypeId, stageId);
    if (offer !== undefined && (mayBeClosed || isStageOpen(offer.sellingStage.definition, now))) return offer;
  }
  return refuse('TICKET_NOT_ON_SALE', { ticketTypeId, sellingStageId: named ?? unit.sellingStageId });
}

/** The seats of changed tickets, by ticket id; tickets without numbered seats are not among them. */
export type NewSeats = ReadonlyMap<string, string>;

/**
 * Finds places for changed units (rules 2 and 3): VALIDATION_ERROR for seats named where there are none, or twice, and
 * as `assignTickets` refuses.
 */
export function assignPlaces(
  state: OrderState,
  changes: readonly UnitsOfChange[],
  changed: readonly ChangedUnit[],
  given: readonly OrderUnit[],
): NewSeats | Refusal {
  if (changed.length === 0) return new Map();
  const own: OwnHold = { status: 'CONSUMED', expiresAt: 0, lines: given.map(lineOf), isSold: true };
  const groups = groupsOf(changed);
  const requested: RequestedLine[] = [];
  const choosing = { own, wanted: namedSeats(changes, groups), overlays: new Map<string, StockOverlay>() };
  for (const group of groups) {
    const line = requestOf(state, changes, group, choosing);
    if (isRefusal(line)) return line;
    requested.push(line);
  }
  const lines = assignTickets(state, requested, own);
  if (isRefusal(lines)) return lines.code === 'VALIDATION_ERROR' ? atChange(lines) : lines;
  const left = new Map(lines.map((line) => [lineKey(line), [...line.seatIds]]));
  const seats = new Map<string, string>();
  for (const [place, group] of groups.entries()) {
    const { offer, performanceId, ticketCount } = requested[place]!;
    const { ticketTypeId, sellingStageId } = offer;
    const ofGroup = left.get(lineKey({ performanceId, ticketTypeId, sellingStageId }))!.splice(0, ticketCount);
    for (const [index, ticketId] of ticketIdsOf(group).entries()) {
      if (ofGroup.length > 0) seats.set(ticketId, ofGroup[index]!);
    }
  }
  return seats;
}

function lineOf({ slots, performanceId, ticketTypeId, sellingStageId, unitPriceCents }: OrderUnit): HoldLine {
  const seatIds = slots.flatMap(({ seatId }) => seatId ?? []);
  const at = { performanceId, ticketTypeId, sellingStageId };
  return { ...at, quantity: 1, ticketCount: slots.length, unitPriceCents, seatIds };
}

/** Units of one change that go to the same date, type and stage (rule 3). */
function groupsOf(changed: readonly ChangedUnit[]): readonly (readonly ChangedUnit[])[] {
  const groups = Map.groupBy(changed, ({ index, performanceId, offer }) =>
    [index, lineKey({ ...offer, performanceId })].join('\n'),
  );
  return [...groups.values()];
}

const ticketIdsOf = (group: readonly ChangedUnit[]): readonly string[] =>
  group.flatMap(({ unit }) => unit.slots.map(({ ticketId }) => ticketId));

function requestOf(
  state: OrderState,
  changes: readonly UnitsOfChange[],
  group: readonly ChangedUnit[],
  choosing: Choosing,
): RequestedLine | Refusal {
  const { index, performanceId, offer } = group[0]!;
  const { change } = changes[index]!;
  const seatChoice = seatChoiceOf(state, change, group, choosing);
  if (isRefusal(seatChoice)) return seatChoice;
  const { ticketTypeId, ticketType, priceCents: unitPriceCents } = offer;
  const ticketCount = ticketIdsOf(group).length;
  const quantity = ticketCount / ticketType.groupSize;
  return { performanceId, ticketTypeId, offer, quantity, ticketCount, unitPriceCents, seatChoice, had: false, index };
}

function seatChoiceOf(
  state: OrderState,
  { ticketIds, seatIds }: TicketChange,
  group: readonly ChangedUnit[],
  { own, wanted, overlays }: Choosing,
): SeatChoice | Refusal {
  const { index, performanceId, offer } = group[0]!;
  const { ticketType, ticketTypeId } = offer;
  if (ticketType.locality.seating === null) {
    if (seatIds === null) return { how: 'NONE' };
    return refuseProblems([{ path: ['change', index, 'seatIds'], message: 'general admission has no seats to pick' }]);
  }
  if (seatIds !== null) {
    const [expected, count] = [ticketIds.length, seatIds.length];
    if (expected !== count) return refuse('SEAT_COUNT_MISMATCH', { ticketTypeId, expected, given: count });
    const seatOf = new Map(ticketIds.map((ticketId, place) => [ticketId, seatIds[place]!]));
    return { how: 'NAMED', seatIds: ticketIdsOf(group).map((ticketId) => seatOf.get(ticketId)!) };
  }
  const same = group.flatMap(({ unit }) => unit.slots.flatMap(({ seatId }) => seatId ?? []));
  const keys = same.map((seatId) => seatKey(performanceId, seatId));
  if (same.length !== ticketIdsOf(group).length || keys.some((key) => wanted.has(key))) return { how: 'BEST' };
  let overlay = overlays.get(performanceId);
  if (overlay === undefined) {
    overlays.set(performanceId, (overlay = createOverlay(inventoryOf(state, performanceId))));
    for (const line of own.lines) if (line.performanceId === performanceId) returnInOverlay(overlay, line);
  }
  const { notInTicketType, notSellable, taken } = checkSeats(overlay, ticketType, same);
  if (notInTicketType.length + notSellable.length + taken.length > 0) return { how: 'BEST' };
  for (const key of keys) wanted.add(key);
  return { how: 'NAMED', seatIds: same };
}

/** What seats are chosen by: what the order gives up, and the seats that some change has already. */
interface Choosing {
  readonly own: OwnHold;
  readonly wanted: Set<string>;
  /** By date, with what the order gives up. */
  readonly overlays: Map<string, StockOverlay>;
}

const seatKey = (performanceId: string, seatId: string): string => `${performanceId}\n${seatId}`;

/** The seats that changes name. */
function namedSeats(changes: readonly UnitsOfChange[], groups: readonly (readonly ChangedUnit[])[]): Set<string> {
  return new Set(
    groups.flatMap((group) => {
      const { index, performanceId } = group[0]!;
      return (changes[index]!.change.seatIds ?? []).map((seatId) => seatKey(performanceId, seatId));
    }),
  );
}

function atChange(refusal: Extract<Refusal, { code: 'VALIDATION_ERROR' }>): Refusal {
  return refuseProblems(refusal.detail.errors.map(({ path, message }) => ({ path: path.with(0, 'change'), message })));
}
