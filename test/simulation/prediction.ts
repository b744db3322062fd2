/**
 * The prediction of answers: what a command must be answered, counted over the plain maps of the reference model.
 *
 * It shares types with the service and no code. `model.ts` applies the facts; this file reads the model before a
 * command and says which answers are right. Where the assigned seats would have to be known, both possible answers are
 * accepted.
 */
import { plainBestBlock, plainParty, type PlainSeat, type PlainType } from '../fixtures/best-available-model.ts';
import { predictAmendment, predictEndOfAmendment, predictMoneyForAmendment } from './amending.ts';
import { asInCatalogue, type SaleModel } from './model.ts';
import {
  heldBeyond,
  paidOf,
  pendingOf,
  refundedOf,
  remainingOf,
  seatsBeyond,
  type ModelHold,
  type ModelOrder,
  type ModelPayment,
} from './model-order.ts';
import type { CheckoutItemRequest, Command, CommandOf, ItemRequest } from '#domain/command.ts';
import type { HoldLine } from '#domain/fact.ts';

/** The possible outcomes of a command: its reply or one of these refusals, and the facts it writes. */
export interface Prediction {
  /** DONE, or the code of a refusal. */
  readonly outcomes: readonly string[];
  /** The types of its facts when it is DONE; absent where they are not predicted. */
  readonly facts?: readonly string[];
  /** Of INSUFFICIENT_TICKETS. */
  readonly available?: number;
  /** Of INSUFFICIENT_TICKETS, where one item alone was asked for. */
  readonly shortfall?: { readonly reservedByOthers: boolean; readonly nextReleaseAt: number | null };
  /** Of SEAT_TAKEN. */
  readonly seatIds?: readonly string[];
  /** Of an order. */
  readonly totalCents?: number;
  /** The name of a rare case, so that a simulation that never reaches it is noticed. */
  readonly rarity?: string;
  /** Of a hold that is placed: the seats that its items are assigned, by ticket type. */
  readonly assigned?: ReadonlyMap<string, readonly string[]>;
}

interface Want {
  readonly performanceId: string;
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly quantity: number;
  readonly ticketCount: number;
  readonly seatIds: readonly string[] | null;
  readonly had: boolean;
  readonly shrinks: boolean;
}

interface PricedItem {
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly performanceId: string;
  readonly quantity: number;
  readonly ticketCount: number;
  readonly unitPriceCents: number;
  readonly request: CheckoutItemRequest | null;
}

const refused = (code: string, more: Partial<Prediction> = {}): Prediction => ({ outcomes: [code], ...more });
const done = (...facts: string[]): Prediction => ({ outcomes: ['DONE'], facts });
const rare = (rarity: string, ...facts: string[]): Prediction => ({ ...done(...facts), rarity });
const DAY_MS = 86_400_000;

/** Predicts the answer to a command at a time. */
export function predict(model: SaleModel, command: Command, now: number): Prediction {
  const prediction = predictKept(model, command, now);
  const whenDropped = codeWhenDropped(model, command, now);
  return whenDropped === null ? prediction : { ...prediction, outcomes: [...prediction.outcomes, whenDropped] };
}

/** The refusal of a command about a hold or entry that ended so long ago that it may be dropped; null for any other. */
function codeWhenDropped(model: SaleModel, command: Command, now: number): string | null {
  if ('entryId' in command) {
    const entry = model.entries.get(command.entryId);
    return entry !== undefined && model.mayBeDropped(entry, now) ? 'QUEUE_ENTRY_NOT_FOUND' : null;
  }
  if (!('holdId' in command) || command.holdId === null) return null;
  const hold = model.holds.get(command.holdId);
  return hold !== undefined && hold.orderId === null && model.mayBeDropped(hold, now) ? 'HOLD_NOT_FOUND' : null;
}

/** The answer while everything that ended can still be read. */
function predictKept(model: SaleModel, command: Command, now: number): Prediction {
  switch (command.type) {
    case 'PlaceHold':
      return predictPlacing(model, command, now);
    case 'ChangeHold':
      return predictChange(model, command, now);
    case 'ReleaseHold': {
      const hold = ownHold(model, command.holdId, command.sessionKey);
      if (hold === null) return refused('HOLD_NOT_FOUND');
      const status = model.shownStatusOfHold(hold, now);
      if (status === 'RELEASED') return done();
      return status === 'ACTIVE' ? done('HoldReleased') : refused('HOLD_NOT_ACTIVE');
    }
    case 'StartCheckout':
      return predictCheckout(model, command, now);
    case 'OpenPayment':
      return predictOpenPayment(model, command.orderId, now);
    case 'RecordCheckoutSession': {
      const payment = model.orders.get(command.orderId)?.payments.get(command.paymentId);
      if (payment === undefined) return refused('ORDER_NOT_FOUND');
      return payment.session === null ? done('CheckoutSessionOpened') : done();
    }
    case 'RecordPayment':
      return predictReport(model, command, now);
    case 'CancelOrder': {
      const order = model.orders.get(command.orderId);
      if (order === undefined) return refused('ORDER_NOT_FOUND');
      const status = model.statusOfOrder(order, now);
      if (status === 'CANCELLED' && order.cause !== 'BUYER') return done();
      if (status === 'EXPIRED' || status === 'CANCELLED') return refused('ORDER_NOT_CANCELLABLE');
      return done(...(pendingOf(order, now) === null ? [] : ['AmendmentEnded']), 'OrderCancelled');
    }
    case 'AmendOrder':
      return predictAmendment(model, command, now);
    case 'CancelAmendment':
      return predictEndOfAmendment(model, command, now);
    case 'RecordRefund':
      return predictRefund(model, command);
    case 'EraseOrder':
      return predictErasure(model, command.orderId, now);
    case 'EraseDueOrders':
      return predictRetention(model, command, now);
    case 'JoinQueue':
      return model.definition.waitingRoom ? { outcomes: ['DONE'] } : refused('QUEUE_NOT_ENABLED');
    case 'PollQueue':
    case 'LeaveQueue': {
      const entry = model.entries.get(command.entryId);
      return entry?.sessionKey === command.sessionKey ? { outcomes: ['DONE'] } : refused('QUEUE_ENTRY_NOT_FOUND');
    }
    case 'BlockSeats':
    case 'UnblockSeats':
      return predictBlocking(model, command, now);
    case 'CancelPerformance':
      return model.cancelledDates.has(command.performanceId) ? done() : { outcomes: ['DONE'] };
    case 'DefineEvent': {
      const floor = command.definition.localities[0]!;
      const capacity = floor.seating === 'GENERAL' ? floor.capacity : 0;
      const takenOn = (id: string) =>
        model.ticketsTaken(id, now, null, ({ ticketTypeId }) => isOfFloor(model, ticketTypeId));
      const isTooSmall = model.definition.performances.some(({ id }) => takenOn(id) > capacity);
      if (JSON.stringify(command.definition) === JSON.stringify(model.definition)) return done();
      return isTooSmall ? refused('UPDATE_CONFLICT') : done('EventDefined');
    }
    default:
      return { outcomes: ['DONE'] };
  }
}

// ── holds ────────────────────────────────────────────────────────────────────────────────────────────────────────────

function ownHold(model: SaleModel, holdId: string, sessionKey: string): ModelHold | null {
  const hold = model.holds.get(holdId);
  return hold?.sessionKey === sessionKey ? hold : null;
}

function activeHoldOf(model: SaleModel, sessionKey: string | null, now: number): ModelHold | null {
  const isOwn = (hold: ModelHold) => hold.sessionKey === sessionKey && model.statusOfHold(hold, now) === 'ACTIVE';
  return [...model.holds.values()].find(isOwn) ?? null;
}

function predictPlacing(model: SaleModel, command: CommandOf<'PlaceHold'>, now: number): Prediction {
  const mark = command.idempotency;
  const known = mark === null ? undefined : model.keys.get(mark.key);
  if (mark !== null && known !== undefined && now < known.at + DAY_MS) {
    return known.digest === mark.digest ? done() : refused('IDEMPOTENCY_KEY_REUSED');
  }
  const pass = checkPass(model, command.sessionKey, command.queuePass, now);
  if (pass !== null) return refused(pass);
  const early = checkDatesAndTypes(model, command.items, now);
  if (early !== null) return refused(early);
  const own = activeHoldOf(model, command.sessionKey, now);
  const wants = command.items.map((item) => wantOf(model, item));
  const refusal = checkHoldLimits(model, wants) ?? checkStock(model, wants, own, now);
  const assigned = seatsFor(model, wants, own, now);
  return refusal === null ? { ...done('HoldPlaced'), assigned } : { ...refusal, assigned };
}

function checkPass(model: SaleModel, sessionKey: string | null, pass: string | null, now: number): string | null {
  if (!model.definition.waitingRoom) return null;
  if (pass === null) return 'QUEUE_PASS_REQUIRED';
  const entry = model.entries.get(pass);
  const isGood = entry?.status === 'ADMITTED' && now < entry.passExpiresAt;
  const isOwn = sessionKey === null ? entry?.isSpentWithoutKey === false : entry?.sessionKey === sessionKey;
  return isGood && isOwn ? null : 'QUEUE_PASS_INVALID';
}

function checkDate(model: SaleModel, performanceId: string | null, now: number): string | null {
  const dates = model.definition.performances;
  if (performanceId === null && dates.length !== 1) return 'PERFORMANCE_REQUIRED';
  const date = performanceId === null ? dates[0] : dates.find(({ id }) => id === performanceId);
  if (date === undefined) return 'PERFORMANCE_NOT_FOUND';
  return model.isDateOnSale(date.id, now) ? null : 'PERFORMANCE_NOT_ON_SALE';
}

function checkType(
  model: SaleModel,
  { ticketTypeId, sellingStageId, seatIds }: ItemRequest,
  now: number,
): string | null {
  const { ticketTypes, sellingStages } = model.definition;
  if (!ticketTypes.some(({ id }) => id === ticketTypeId)) return 'TICKET_TYPE_NOT_FOUND';
  const stage = sellingStages.find(({ id }) => id === sellingStageId);
  if (stage === undefined) return 'SELLING_STAGE_NOT_FOUND';
  const isOpen = (stage.startsAt ?? 0) <= now && now < (stage.endsAt ?? Number.POSITIVE_INFINITY);
  if (!isOpen || stage.prices[ticketTypeId] === undefined) return 'TICKET_NOT_ON_SALE';
  return seatIds !== null && isOfFloor(model, ticketTypeId) ? 'VALIDATION_ERROR' : null;
}

function checkDatesAndTypes(model: SaleModel, items: readonly ItemRequest[], now: number): string | null {
  for (const item of items) {
    const refusal = checkDate(model, item.performanceId, now);
    if (refusal !== null) return refusal;
  }
  for (const item of items) {
    const refusal = checkType(model, item, now);
    if (refusal !== null) return refusal;
  }
  return null;
}

function wantOf(model: SaleModel, item: ItemRequest): Want {
  const { ticketTypeId, sellingStageId, seatIds } = item;
  const performanceId = item.performanceId ?? model.definition.performances[0]!.id;
  const ticketCount = item.quantity * groupSizeOf(model, ticketTypeId);
  const { quantity } = item;
  return { performanceId, ticketTypeId, sellingStageId, quantity, ticketCount, seatIds, had: false, shrinks: false };
}

/** A hold that no order could take over is refused with the codes of a checkout where the event wants it so. */
function checkHoldLimits(model: SaleModel, wants: readonly Want[]): Prediction | null {
  return model.definition.limitsAtHold === true ? checkCart(model, wants) : null;
}

/** Units of a type in a performance over all items and stages, then tickets over everything. */
function checkCart(
  model: SaleModel,
  items: readonly Pick<Want, 'performanceId' | 'ticketTypeId' | 'quantity' | 'ticketCount'>[],
): Prediction | null {
  const { maxTicketsPerOrder, ticketTypes } = model.definition;
  const carts = Object.groupBy(items, ({ performanceId, ticketTypeId }) => `${performanceId} ${ticketTypeId}`);
  for (const cart of Object.values(carts)) {
    const max = ticketTypes.find(({ id }) => id === cart![0]!.ticketTypeId)!.maxPerOrder ?? Infinity;
    if (cart!.reduce((sum, each) => sum + each.quantity, 0) > max) return refused('MAX_PER_ORDER_EXCEEDED');
  }
  const tickets = items.reduce((sum, each) => sum + each.ticketCount, 0);
  return tickets > (maxTicketsPerOrder ?? 10_000) ? refused('MAX_TICKETS_PER_ORDER_EXCEEDED') : null;
}

function predictChange(model: SaleModel, command: CommandOf<'ChangeHold'>, now: number): Prediction {
  const hold = ownHold(model, command.holdId, command.sessionKey);
  if (hold === null) return refused('HOLD_NOT_FOUND');
  const status = model.shownStatusOfHold(hold, now);
  if (status !== 'ACTIVE') return refused(status === 'EXPIRED' ? 'HOLD_EXPIRED' : 'HOLD_NOT_ACTIVE');
  const only = model.definition.performances.length === 1 ? model.definition.performances[0]!.id : null;
  const named = new Map<string, { readonly item: ItemRequest; readonly line: HoldLine | undefined }>();
  for (const item of command.items) {
    const key = keyOf({ ...item, performanceId: item.performanceId ?? only ?? '' });
    const line = hold.lines.find((each) => keyOf(each) === key);
    const refusal = line === undefined ? checkDate(model, item.performanceId, now) : null;
    if (refusal !== null) return refused(refusal);
    if (named.has(key)) return refused('VALIDATION_ERROR');
    named.set(key, { item, line });
  }
  const kept = hold.lines.filter((line) => !named.has(keyOf(line)));
  const wants: Want[] = kept.map((line) => ({ ...line, seatIds: seatsOf(line), had: true, shrinks: false }));
  for (const { item, line } of named.values()) {
    if (item.quantity === 0) continue;
    const grows = line === undefined || item.quantity > line.quantity;
    const refusal =
      (line !== undefined && grows ? checkDate(model, line.performanceId, now) : null) ??
      (grows ? checkType(model, item, now) : null) ??
      (item.seatIds !== null && isOfFloor(model, item.ticketTypeId) ? 'VALIDATION_ERROR' : null);
    if (refusal !== null) return refused(refusal);
    const isSame = line !== undefined && item.quantity === line.quantity && item.seatIds === null;
    const seatIds = isSame ? seatsOf(line) : item.seatIds;
    const shrinks = line !== undefined && item.quantity < line.quantity && seatIds === null;
    const want = wantOf(model, item);
    wants.push({
      ...want,
      ticketCount: line === undefined ? want.ticketCount : (item.quantity / line.quantity) * line.ticketCount,
      performanceId: line?.performanceId ?? item.performanceId ?? only!,
      seatIds,
      had: !grows,
      shrinks,
    });
  }
  if (wants.length === 0) return refused('VALIDATION_ERROR');
  const places = hold.lines.map(keyOf);
  const placeOf = (want: Want) => (places.includes(keyOf(want)) ? places.indexOf(keyOf(want)) : places.length);
  wants.sort((a, b) => placeOf(a) - placeOf(b));
  return checkHoldLimits(model, wants) ?? checkStock(model, wants, hold, now) ?? done('HoldChanged');
}

const seatsOf = ({ seatIds }: HoldLine): readonly string[] | null => (seatIds.length === 0 ? null : seatIds);
const keyOf = (line: Pick<HoldLine, 'performanceId' | 'ticketTypeId' | 'sellingStageId'>): string =>
  [line.performanceId, line.ticketTypeId, line.sellingStageId].join();

// ── seats and stock ──────────────────────────────────────────────────────────────────────────────────────────────────

/** The refusal of seats or stock; null when everything is available. */
function checkStock(model: SaleModel, wants: readonly Want[], own: ModelHold | null, now: number): Prediction | null {
  return checkNamed(model, wants, own, now) ?? checkCounts(model, wants, own, now);
}

function checkNamed(model: SaleModel, wants: readonly Want[], own: ModelHold | null, now: number): Prediction | null {
  const named = wants.filter(({ seatIds }) => seatIds !== null);
  const places = named.flatMap(({ performanceId, seatIds }) => seatIds!.map((seatId) => `${performanceId} ${seatId}`));
  if (new Set(places).size < places.length) return refused('VALIDATION_ERROR');
  if (named.some(({ seatIds, ticketCount }) => seatIds!.length !== ticketCount)) return refused('SEAT_COUNT_MISMATCH');
  const which = (test: (want: Want, seatId: string) => boolean): string[] =>
    named.flatMap((want) => want.seatIds!.filter((seatId) => test(want, seatId)));
  const fits = ({ ticketTypeId }: Want, seatId: string) => model.fitsType(seatId, ticketTypeId);
  if (which((want, seatId) => !fits(want, seatId)).length > 0) return refused('SEAT_NOT_IN_TICKET_TYPE');
  const isBlocked = ({ performanceId }: Want, seatId: string) => model.isBlocked(performanceId, seatId);
  if (which(isBlocked).length > 0) return refused('SEAT_NOT_SELLABLE');
  const taken = which(({ performanceId }, seatId) => model.isTaken(performanceId, seatId, now, own));
  return taken.length > 0 ? refused('SEAT_TAKEN', { seatIds: taken }) : null;
}

function checkCounts(model: SaleModel, wants: readonly Want[], own: ModelHold | null, now: number): Prediction | null {
  const isSettled = (want: Want) => want.seatIds !== null || isOfFloor(model, want.ticketTypeId);
  const granted: Want[] = wants.filter((want) => want.had && isSettled(want));
  for (const want of wants.filter((each) => !each.had && isSettled(each))) {
    const shrunk = wants.filter((each) => each.shrinks && !isSettled(each) && each.ticketTypeId === want.ticketTypeId);
    const promised = shrunk
      .filter((each) => each.performanceId === want.performanceId)
      .reduce((sum, each) => sum + each.ticketCount, 0);
    if (leftFor(model, want, own, now, granted) - promised < want.ticketCount) {
      return insufficient(model, wants, want, own, now);
    }
    granted.push(want);
  }
  const unsettled = wants.filter((want) => !isSettled(want));
  if (unsettled.length > 1) return { outcomes: ['DONE', 'INSUFFICIENT_TICKETS'] };
  const [want] = unsettled;
  if (want === undefined) return null;
  if (want.shrinks) return losesSeats(own, want, granted) ? { outcomes: ['DONE', 'INSUFFICIENT_TICKETS'] } : null;
  // A line that grows keeps its seats, also a named one that would never be assigned, such as a wheelchair place.
  const held = own?.lines.find((line) => keyOf(line) === keyOf(want))?.seatIds ?? [];
  if (held.some((seatId) => !model.fitsType(seatId, want.ticketTypeId))) {
    return { outcomes: ['DONE', 'INSUFFICIENT_TICKETS'] };
  }
  const hasPlace = leftFor(model, want, own, now, granted) >= want.ticketCount;
  if (hasPlace && longestRun(model, want, own, now, granted) >= want.ticketCount) return null;
  return insufficient(model, wants, want, own, now);
}

function insufficient(
  model: SaleModel,
  wants: readonly Want[],
  want: Want,
  own: ModelHold | null,
  now: number,
): Prediction {
  const available = leftFor(model, want, own, now, []);
  const alone = wants.length === 1 ? { shortfall: shortfallOf(model, want, own, now) } : {};
  return refused('INSUFFICIENT_TICKETS', { available, ...alone });
}

/** Whether holds of others make an item unavailable, and when the first of them ends, counted over every hold. */
function shortfallOf(
  model: SaleModel,
  want: Want,
  own: ModelHold | null,
  now: number,
): Prediction['shortfall'] & object {
  const { performanceId, ticketTypeId, sellingStageId } = want;
  const claims: readonly ((line: HoldLine) => number)[] = [
    (line) =>
      isOfFloor(model, ticketTypeId)
        ? Number(isOfFloor(model, line.ticketTypeId)) * line.ticketCount
        : line.seatIds.filter((seatId) => model.fitsType(seatId, ticketTypeId)).length,
    (line) => Number(line.ticketTypeId === ticketTypeId) * line.ticketCount,
    (line) => Number(line.ticketTypeId === ticketTypeId && line.sellingStageId === sellingStageId) * line.ticketCount,
  ];
  const holds = [...model.holds.values()]
    .filter((hold) => hold !== own && ['ACTIVE', 'CONVERTED'].includes(model.statusOfHold(hold, now)))
    .map(({ expiresAt, lines }) => {
      const here = lines.filter((line) => line.performanceId === performanceId);
      return { expiresAt, tickets: claims.map((claim) => here.reduce((sum, line) => sum + claim(line), 0)) };
    });
  const wanted = model.wantedOn(performanceId, now).map((each) => {
    const tickets = claims.map((claim) => heldBeyond(each, claim));
    const seats = seatsBeyond(each).filter((seatId) => model.fitsType(seatId, ticketTypeId)).length;
    return { expiresAt: each.expiresAt, tickets: isOfFloor(model, ticketTypeId) ? tickets : tickets.with(0, seats) };
  });
  const stocks = stocksFor(model, want, own, now, []).map((left, index) => {
    const claimants = [...holds, ...wanted].filter(({ tickets }) => tickets[index]! > 0);
    return { left, claimants, held: claimants.reduce((sum, { tickets }) => sum + tickets[index]!, 0) };
  });
  const least = (figures: readonly number[]): number => Math.max(0, Math.min(...figures));
  const short = stocks.filter(({ left }) => left < want.ticketCount);
  const inTheWay = short.length > 0 ? short : stocks.slice(0, 1);
  const wouldReturn = least(stocks.map(({ left, held }) => left + held)) > least(stocks.map(({ left }) => left));
  const reservedByOthers = short.length > 0 ? wouldReturn : stocks[0]!.held > 0;
  const ends = inTheWay.flatMap(({ claimants }) => claimants.map(({ expiresAt }) => expiresAt));
  return { reservedByOthers, nextReleaseAt: reservedByOthers ? Math.min(...ends) : null };
}

/** Whether another line of the same request names seats of a line that shrinks. */
function losesSeats(own: ModelHold | null, want: Want, granted: readonly Want[]): boolean {
  const held = own?.lines.find((line) => keyOf(line) === keyOf(want))?.seatIds ?? [];
  return granted.some(({ seatIds }) => seatIds?.some((seatId) => held.includes(seatId)) ?? false);
}

/** The tickets of a type and stage that are available to everybody in a performance. */
export function ticketsLeft(
  model: SaleModel,
  row: Pick<Want, 'performanceId' | 'ticketTypeId' | 'sellingStageId'>,
  now: number,
): number {
  if (!model.isDateOnSale(row.performanceId, now)) return 0;
  const want = { ...row, quantity: 1, ticketCount: 1, seatIds: null, had: false, shrinks: false };
  return leftFor(model, want, null, now, []);
}

/** Whether a unit of any type can be bought in a performance now. */
export function canBeBought(model: SaleModel, performanceId: string, now: number): boolean {
  const { sellingStages } = model.definition;
  const open = sellingStages.filter(({ startsAt, endsAt }) => (startsAt ?? 0) <= now && now < (endsAt ?? Infinity));
  return open.some((stage) =>
    Object.keys(stage.prices).some((ticketTypeId) => {
      const row = { performanceId, ticketTypeId, sellingStageId: stage.id };
      return ticketsLeft(model, row, now) >= groupSizeOf(model, ticketTypeId);
    }),
  );
}

/** The tickets that are available of a type and stage: the least of the places, the type's quota and the stage's. */
function leftFor(model: SaleModel, want: Want, own: ModelHold | null, now: number, granted: readonly Want[]): number {
  return Math.max(0, Math.min(...stocksFor(model, want, own, now, granted)));
}

/** What is left of the places, of the type's quota and of the stage's quota. */
function stocksFor(
  model: SaleModel,
  want: Want,
  own: ModelHold | null,
  now: number,
  granted: readonly Want[],
): number[] {
  const { performanceId, ticketTypeId, sellingStageId } = want;
  const here = granted.filter((each) => each.performanceId === performanceId);
  const count = (test: (line: Pick<Want, 'ticketTypeId' | 'sellingStageId'>) => boolean): number =>
    model.ticketsTaken(performanceId, now, own, test) +
    here.filter(test).reduce((sum, each) => sum + each.ticketCount, 0);
  const type = model.definition.ticketTypes.find(({ id }) => id === ticketTypeId)!;
  const quota = model.definition.sellingStages.find(({ id }) => id === sellingStageId)!.quotas[ticketTypeId];
  const places = isOfFloor(model, ticketTypeId)
    ? model.floorCapacity - count((line) => isOfFloor(model, line.ticketTypeId))
    : freeSeats(model, want, own, now, granted)
        .flat()
        .filter((seatId) => seatId !== null).length;
  const ofType = type.quota === null ? Infinity : type.quota - count((line) => line.ticketTypeId === ticketTypeId);
  const isOfRow = (line: Pick<Want, 'ticketTypeId' | 'sellingStageId'>) =>
    line.ticketTypeId === ticketTypeId && line.sellingStageId === sellingStageId;
  const ofStage = quota === undefined ? Infinity : quota - count(isOfRow);
  return [places, ofType, ofStage];
}

/**
 * The seats that are assigned to one item alone, or to one of an accessible type and one of another; empty where they
 * are not predicted.
 */
function seatsFor(
  model: SaleModel,
  wants: readonly Want[],
  own: ModelHold | null,
  now: number,
): ReadonlyMap<string, readonly string[]> {
  const open = wants.filter((want) => want.seatIds === null && !isOfFloor(model, want.ticketTypeId));
  const [one, other] = open;
  if (one === undefined || open.length !== wants.length || open.length > 2) return new Map();
  const rows = plainRows(model, one.performanceId, own, now);
  const request = (want: Want) => ({ type: plainType(model, want.ticketTypeId), count: want.ticketCount });
  if (other === undefined) {
    const block = plainBestBlock(rows, plainType(model, one.ticketTypeId), one.ticketCount);
    return new Map(block === null ? [] : [[one.ticketTypeId, block]]);
  }
  const first = open.find(({ ticketTypeId }) => plainType(model, ticketTypeId).accessible);
  const companion = open.find((want) => want.ticketTypeId !== first?.ticketTypeId);
  if (first === undefined || companion === undefined || one.performanceId !== other.performanceId) return new Map();
  // Not all of them are companions.
  if (companion.ticketCount > 2 * first.ticketCount) return new Map();
  const party = plainParty(rows, request(first), request(companion));
  if (party === null || party.companion === null) return new Map();
  return new Map([
    [first.ticketTypeId, party.first],
    [companion.ticketTypeId, party.companion],
  ]);
}

function plainType(model: SaleModel, ticketTypeId: string): PlainType {
  const { zoneKeys: zones, accessible } = model.definition.ticketTypes.find(({ id }) => id === ticketTypeId)!;
  return { zones, accessible };
}

function plainRows(model: SaleModel, performanceId: string, own: ModelHold | null, now: number): PlainSeat[][] {
  const hall = model.definition.localities[1]!;
  const rows = hall.seating === 'NUMBERED' ? hall.sections.flatMap((section) => section.rows) : [];
  const isFree = (id: string): boolean =>
    !model.isBlocked(performanceId, id) && !model.isTaken(performanceId, id, now, own);
  return rows.map(({ seats, aisleAfter }) =>
    seats.map(({ id, x, y, zoneKey: zone, accessible, restrictedView: restricted }, i) => ({
      ...{ id, x, y, zone, accessible, restricted, free: isFree(id) },
      aisleBefore: i > 0 && aisleAfter.includes(i),
    })),
  );
}

/** Every stretch of neighbouring seats, with null for the unavailable ones. */
function freeSeats(model: SaleModel, want: Want, own: ModelHold | null, now: number, granted: readonly Want[]) {
  const { performanceId, ticketTypeId } = want;
  const gone = new Set(
    granted.filter((each) => each.performanceId === performanceId).flatMap(({ seatIds }) => seatIds ?? []),
  );
  const isFree = (seatId: string): boolean =>
    model.fitsType(seatId, ticketTypeId) &&
    !gone.has(seatId) &&
    !model.isBlocked(performanceId, seatId) &&
    !model.isTaken(performanceId, seatId, now, own);
  return model.stretches.map((stretch) => stretch.map((seatId) => (isFree(seatId) ? seatId : null)));
}

function longestRun(
  model: SaleModel,
  want: Want,
  own: ModelHold | null,
  now: number,
  granted: readonly Want[],
): number {
  let longest = 0;
  for (const stretch of freeSeats(model, want, own, now, granted)) {
    let run = 0;
    for (const seatId of stretch) {
      run = seatId === null || !model.fitsType(seatId, want.ticketTypeId) ? 0 : run + 1;
      longest = Math.max(longest, run);
    }
  }
  return longest;
}

function isOfFloor(model: SaleModel, ticketTypeId: string): boolean {
  return model.definition.ticketTypes.find(({ id }) => id === ticketTypeId)?.localityId === 'floor';
}

function groupSizeOf(model: SaleModel, ticketTypeId: string): number {
  return model.definition.ticketTypes.find(({ id }) => id === ticketTypeId)?.groupSize ?? 1;
}

function predictBlocking(model: SaleModel, command: CommandOf<'BlockSeats' | 'UnblockSeats'>, now: number): Prediction {
  const { performanceId, seatIds, type } = command;
  const taken = seatIds.filter((seatId) => model.isTaken(performanceId, seatId, now, null));
  if (taken.length > 0) return refused('SEAT_TAKEN', { seatIds: taken });
  const wasBlocked = type === 'UnblockSeats';
  const changes = seatIds.some((seatId) => model.isBlocked(performanceId, seatId) === wasBlocked);
  return changes ? done(wasBlocked ? 'SeatsUnblocked' : 'SeatsBlocked') : done();
}

// ── checkout ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function predictCheckout(model: SaleModel, command: CommandOf<'StartCheckout'>, now: number): Prediction {
  const mark = command.idempotency;
  const known = mark === null ? undefined : model.keys.get(mark.key);
  if (mark !== null && known !== undefined && now < known.at + DAY_MS) {
    if (known.digest !== model.secrets.keyed(mark.digest)) return refused('IDEMPOTENCY_KEY_REUSED');
    const order = model.orders.get(known.orderId!)!;
    const wasAnswered = firstOf(order) === null || firstOf(order)!.session !== null;
    if (wasAnswered || isUnfinished(model, order, now)) return done();
  }
  if (!command.acceptTerms) return refused('TERMS_NOT_ACCEPTED');
  const named = command.holdId === null ? undefined : model.holds.get(command.holdId);
  const hold = command.sessionKey === null || named?.sessionKey === command.sessionKey ? named : undefined;
  const unfinished = hold?.orderId == null ? undefined : model.orders.get(hold.orderId);
  if (unfinished !== undefined && isUnfinished(model, unfinished, now))
    return mark === null ? done() : done('CheckoutResumed');
  return command.holdId === null ? predictInline(model, command, now) : predictTakeover(model, command, hold, now);
}

function isUnfinished(model: SaleModel, order: ModelOrder, now: number): boolean {
  return model.statusOfOrder(order, now) === 'PENDING' && firstOf(order)?.session === null;
}

/** The try at the first installment; null for an order that was placed free. */
function firstOf({ payments }: ModelOrder): ModelPayment | null {
  const [first = null] = payments.values();
  return first?.amendmentId === null ? first : null;
}

function predictTakeover(
  model: SaleModel,
  command: CommandOf<'StartCheckout'>,
  hold: ModelHold | undefined,
  now: number,
): Prediction {
  if (hold === undefined) return refused('HOLD_NOT_FOUND');
  const status = model.shownStatusOfHold(hold, now);
  if (status !== 'ACTIVE') return refused(status === 'EXPIRED' ? 'HOLD_EXPIRED' : 'HOLD_NOT_ACTIVE');
  if (command.items !== null && !areItemsOf(model, hold, command.items)) return refused('HOLD_ITEMS_MISMATCH');
  const items = hold.lines.map((line): PricedItem => ({ ...line, request: null }));
  return checkPurchase(model, command, items, now) ?? placedOrder(model, command, items, []);
}

/** Whether the items of a request are the lines of a hold, in any order. */
function areItemsOf(model: SaleModel, hold: ModelHold, items: readonly ItemRequest[]): boolean {
  const only = model.definition.performances[0]!.id;
  const textOf = (line: ItemRequest | HoldLine): string =>
    [
      keyOf({ ...line, performanceId: line.performanceId ?? only }),
      line.quantity,
      [...(line.seatIds ?? [])].sort(),
    ].join();
  return items.map(textOf).sort().join(';') === hold.lines.map(textOf).sort().join(';');
}

function predictInline(model: SaleModel, command: CommandOf<'StartCheckout'>, now: number): Prediction {
  const requests = command.items!;
  const pass = checkPass(model, command.sessionKey, command.queuePass, now);
  if (pass !== null) return refused(pass);
  const early = checkDatesAndTypes(model, requests, now);
  if (early !== null) return refused(early);
  const wants = requests.map((item) => wantOf(model, item));
  const items = requests.map((request, index): PricedItem => {
    const stage = model.definition.sellingStages.find(({ id }) => id === request.sellingStageId)!;
    const unitPriceCents = stage.prices[request.ticketTypeId]!;
    return { ...wants[index]!, quantity: request.quantity, unitPriceCents, request };
  });
  const own = activeHoldOf(model, command.sessionKey, now);
  const prediction = checkPurchase(model, command, items, now);
  if (prediction !== null) return prediction;
  const stock = checkStock(model, wants, own, now);
  const placed = placedOrder(model, command, items, ['HoldPlaced']);
  return stock === null ? placed : stock.outcomes.includes('DONE') ? { ...placed, outcomes: stock.outcomes } : stock;
}

function placedOrder(
  model: SaleModel,
  command: CommandOf<'StartCheckout'>,
  items: readonly PricedItem[],
  before: readonly string[],
): Prediction {
  const totalCents = totalOf(model, items, command.promoCode);
  const facts = [...before, 'OrderPlaced', ...(totalCents === 0 ? ['OrderPaid', 'TicketsIssued'] : [])];
  return { outcomes: ['DONE'], facts, totalCents };
}

/** Units times price, less the item's code and then the order's, each rounded half up by item; and bar perks on top. */
function totalOf(model: SaleModel, items: readonly PricedItem[], promoCode: string | null): number {
  const off = (cents: number, text: string | null): number =>
    text === null ? 0 : Math.floor((cents * codeOf(model, text)!.percentOff! + 50) / 100);
  let total = 0;
  for (const { quantity, unitPriceCents, request } of items) {
    let cents = quantity * unitPriceCents;
    cents -= off(cents, request?.discountCode ?? null);
    cents -= off(cents, promoCode);
    for (const perk of request?.barPerks ?? []) cents += perk.quantity * 350;
    total += cents;
  }
  return total;
}

function codeOf(model: SaleModel, text: string) {
  return model.definition.promoCodes.find((each) => each.code === asInCatalogue(text));
}

/** The refusal of installments, limits, codes or perks, in the API's order; null when there is none. */
function checkPurchase(
  model: SaleModel,
  { installmentCount, customer, promoCode }: CommandOf<'StartCheckout'>,
  items: readonly PricedItem[],
  now: number,
): Prediction | null {
  const { maxInstallments, maxTicketsPerEmail } = model.definition;
  if (installmentCount > maxInstallments) return refused('INSTALLMENTS_NOT_ALLOWED');
  const overCart = checkCart(model, items);
  if (overCart !== null) return overCart;
  const tickets = items.reduce((sum, each) => sum + each.ticketCount, 0);
  const already = model.ticketsOfEmail(customer.email, now);
  if (maxTicketsPerEmail !== null && already + tickets > maxTicketsPerEmail)
    return refused('MAX_TICKETS_PER_EMAIL_EXCEEDED');
  const isMiscounted = ({ request, ticketCount }: PricedItem): boolean =>
    request !== null && request.attendees !== null && request.attendees.length !== ticketCount;
  if (items.some(isMiscounted)) return refused('ATTENDEE_COUNT_MISMATCH');
  const texts = [...items.map(({ request }) => request?.discountCode ?? null), promoCode].filter(
    (text) => text !== null,
  );
  for (const text of texts) {
    const endsAt = codeOf(model, text)?.endsAt;
    if (endsAt === undefined || (endsAt !== null && now >= endsAt)) return refused('PROMO_CODE_INVALID');
  }
  if (texts.some((text) => model.usesOf(text, now) >= (codeOf(model, text)!.maxUses ?? Infinity)))
    return refused('PROMO_CODE_EXHAUSTED');
  const perks = items.flatMap(({ ticketCount, request }) =>
    (request?.barPerks ?? []).map((perk) => ({ ...perk, ticketCount })),
  );
  if (perks.some(({ barPerkId }) => barPerkId !== 'beer')) return refused('BAR_PERK_NOT_FOUND');
  if (perks.some(({ quantity, ticketCount }) => quantity > ticketCount)) return refused('BAR_PERK_LIMIT_EXCEEDED');
  const wanted = perks.reduce((sum, { quantity }) => sum + quantity, 0);
  return wanted > 0 && model.beersSold(now) + wanted > model.beerStock ? refused('BAR_PERK_SOLD_OUT') : null;
}

// ── money ────────────────────────────────────────────────────────────────────────────────────────────────────────────

function predictErasure(model: SaleModel, orderId: string, now: number): Prediction {
  const order = model.orders.get(orderId);
  if (order === undefined) return refused('ORDER_NOT_FOUND');
  if (order.sealedTexts === 0) return rare('erased again');
  if (model.statusOfOrder(order, now) === 'PENDING') return refused('ORDER_NOT_ERASABLE');
  return order.isErased ? rare('note erased', 'OrderErased') : done('OrderErased');
}

/** The first orders that are due; here an event has far fewer than one turn looks at. */
function predictRetention(model: SaleModel, { after, limit }: CommandOf<'EraseDueOrders'>, now: number): Prediction {
  const { performances, retentionDays = null } = model.definition;
  if (retentionDays === null) return done();
  const lastEnd = Math.max(...performances.map(({ startsAt, endsAt }) => endsAt ?? startsAt!));
  if (now < lastEnd + retentionDays * DAY_MS) return done();
  const due = [...model.orders.values()]
    .slice(after === null ? 0 : after + 1)
    .filter((order) => order.sealedTexts > 0 && model.statusOfOrder(order, now) !== 'PENDING')
    .slice(0, limit);
  return due.length === 0 ? done() : rare('retention', ...due.map(() => 'OrderErased'));
}

function predictRefund(model: SaleModel, command: CommandOf<'RecordRefund'>): Prediction {
  const { provider, reference, amountCents } = command;
  const order = model.orders.get(command.orderId ?? '');
  if (order === undefined || (provider !== null && provider !== order.provider)) return refused('ORDER_NOT_FOUND');
  if (reference !== null && order.refunds.some((refund) => refund.reference === reference)) {
    return rare('refund again');
  }
  const currency = command.currency ?? order.currency;
  const other = order.refunds.some(
    (refund) =>
      refund.amountCents === amountCents &&
      refund.currency === currency &&
      refund.reportedBy.size === 1 &&
      (provider === null
        ? reference === null && refund.reportedBy.has('PROVIDER')
        : refund.reportedBy.has('OPERATOR') && refund.reference === null),
  );
  if (other) return rare('refund matched', 'RefundRecorded');
  const left = paidOf(order, currency) - refundedOf(order, currency);
  return amountCents > left ? refused('REFUND_TOO_HIGH') : done('RefundRecorded');
}

function predictOpenPayment(model: SaleModel, orderId: string, now: number): Prediction {
  const order = model.orders.get(orderId);
  if (order === undefined) return refused('ORDER_NOT_FOUND');
  const status = model.statusOfOrder(order, now);
  const pendingId = pendingOf(order, now)?.amendmentId ?? null;
  const isPayable = pendingId !== null || status === 'PENDING' || status === 'PARTIALLY_PAID';
  if (!isPayable) return refused('ORDER_NOT_PAYABLE');
  const payments = [...order.payments.values()].filter(({ amendmentId }) => amendmentId === pendingId);
  const next = pendingId === null ? 1 + payments.filter(({ isCounted }) => isCounted).length : 0;
  const waits = payments.some(({ installment, status: each }) => installment === next && each === 'WAITING');
  if (waits) return done();
  return pendingId === null ? done('PaymentRequested') : rare('amendment: opened again', 'PaymentRequested');
}

function predictReport(model: SaleModel, report: CommandOf<'RecordPayment'>, now: number): Prediction {
  for (const order of model.orders.values()) {
    const payment = [...order.payments.values()].find(({ session }) => session === report.checkoutSessionId);
    if (payment === undefined) continue;
    if (order.provider !== report.provider) return rare('report of the other provider');
    return foretellOutcome(model, order, payment, report, now);
  }
  return done();
}

function foretellOutcome(
  model: SaleModel,
  order: ModelOrder,
  payment: ModelPayment,
  report: CommandOf<'RecordPayment'>,
  now: number,
): Prediction {
  const status = model.statusOfOrder(order, now);
  const hasRunOut = payment.amendmentId !== null && payment.amendmentId !== pendingOf(order, now)?.amendmentId;
  const isWaiting = payment.status === 'WAITING' && !hasRunOut && status !== 'EXPIRED' && status !== 'CANCELLED';
  if (report.outcome === 'cancelled' && isWaiting) {
    if (status === 'PENDING') return done('OrderCancelled');
    const isOfPending = payment.amendmentId !== null && payment.amendmentId === pendingOf(order, now)?.amendmentId;
    if (isOfPending) return rare('amendment: cancelled at the provider', 'AmendmentEnded');
  }
  if (report.outcome !== 'paid') {
    if (!isWaiting) return done();
    return payment.amendmentId === null ? done('PaymentClosed') : rare('amendment: declined', 'PaymentClosed');
  }
  const paymentId = [...order.payments].find(([, each]) => each === payment)![0];
  const money = [...order.payments.values()].filter((each) => each === payment || each.strayOf === paymentId);
  const isRepeat = money.some(
    ({ paidCents, currency, webhookId }) =>
      paidCents !== null &&
      ((paidCents === report.amountCents && currency === report.currency) ||
        (webhookId !== null && webhookId === report.webhookId)),
  );
  if (isRepeat) return done();
  const isAsked = report.amountCents === payment.amountCents && report.currency === payment.currency;
  if (report.currency !== order.currency) return rare('foreign money', 'StrayMoneyRecorded');
  if (!isAsked || payment.paidCents !== null) return done('StrayMoneyRecorded');
  if (payment.amendmentId !== null) return predictMoneyForAmendment(model, order, payment, now);
  const paidBefore = [...order.payments.values()].some(
    (each) => each.isCounted && each.amendmentId === null && each.installment === payment.installment,
  );
  if (paidBefore) return done('PaymentRecorded');
  if (status !== 'EXPIRED' && status !== 'CANCELLED' && remainingOf(order) === 0) {
    return rare('nothing left to pay', 'PaymentRecorded');
  }
  if (status === 'PENDING') return done('PaymentRecorded', 'OrderPaid', 'TicketsIssued');
  if (status === 'PARTIALLY_PAID' || status === 'CONFIRMED') return done('PaymentRecorded', 'OrderPaid');
  const mayReturn = status === 'EXPIRED' || (order.cause === 'BUYER' && !order.isEndedByAmendment);
  if (!mayReturn || !canReturn(model, order, now)) return rare('late money due back', 'PaymentRecorded');
  return rare('late money taken', 'PaymentRecorded', 'OrderPaid', 'TicketsIssued');
}

/** Whether the tickets, seats, codes and perks of an order that ended are all available again. */
function canReturn(model: SaleModel, order: ModelOrder, now: number): boolean {
  const { lines } = model.holds.get(order.holdId)!;
  if (lines.some(({ performanceId }) => !model.isDateOnSale(performanceId, now))) return false;
  const max = model.definition.maxTicketsPerEmail;
  if (max !== null && model.ticketsOfEmail(order.email, now) + order.ticketCount > max) return false;
  const codes = [...order.codes];
  if (codes.some((text) => model.usesOf(text, now) >= (codeOf(model, text)!.maxUses ?? Infinity))) return false;
  if (order.beers > 0 && model.beersSold(now) + order.beers > model.beerStock) return false;
  const wants = lines.map((line): Want => ({ ...line, seatIds: seatsOf(line), had: false, shrinks: false }));
  return checkStock(model, wants, null, now) === null;
}
