/**
 * The naive oracle: what must come of a command, judged over plain maps that are counted anew every time.
 *
 * It shares types with the engine and no code. `ledger.ts` keeps the books from the facts; this file reads them and says
 * beforehand which answers are right. Where the choice among good seats would have to be known, both answers pass.
 */
import { plainBestBlock, plainParty, type PlainSeat, type PlainType } from '../domain/best-available-oracle.ts';
import type { CheckoutItemRequest, Command, CommandOf, ItemRequest } from '#domain/command.ts';
import type { HoldLine } from '#domain/fact.ts';
import { paidOf, refundedOf, type Ledger, type LedgerHold, type LedgerOrder, type LedgerPayment } from './ledger.ts';

/** What may come of a command: its reply or one of these refusals, and the facts that it leaves behind. */
export interface Verdict {
  /** DONE, or the code of a refusal. */
  readonly outcomes: readonly string[];
  /** The types of its facts when it is DONE; absent where they are not foretold. */
  readonly facts?: readonly string[];
  /** Of INSUFFICIENT_TICKETS. */
  readonly available?: number;
  /** Of INSUFFICIENT_TICKETS, where one item alone was asked for. */
  readonly shortfall?: { readonly reservedByOthers: boolean; readonly nextReleaseAt: number | null };
  /** Of SEAT_TAKEN. */
  readonly seatIds?: readonly string[];
  /** Of an order. */
  readonly totalCents?: number;
  /** What rare case it is, so that a simulation that never gets there is noticed. */
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

const no = (code: string, more: Partial<Verdict> = {}): Verdict => ({ outcomes: [code], ...more });
const yes = (...facts: string[]): Verdict => ({ outcomes: ['DONE'], facts });
const rare = (rarity: string, ...facts: string[]): Verdict => ({ ...yes(...facts), rarity });
const DAY_MS = 86_400_000;

/** What must come of a command at a moment. */
export function foretell(ledger: Ledger, command: Command, now: number): Verdict {
  switch (command.type) {
    case 'PlaceHold':
      return foretellPlacing(ledger, command, now);
    case 'ChangeHold':
      return foretellChange(ledger, command, now);
    case 'ReleaseHold': {
      const hold = ownHold(ledger, command.holdId, command.sessionKey);
      if (hold === null) return no('HOLD_NOT_FOUND');
      const status = ledger.statusOfHold(hold, now);
      if (status === 'RELEASED') return yes();
      return status === 'ACTIVE' ? yes('HoldReleased') : no('HOLD_NOT_ACTIVE');
    }
    case 'StartCheckout':
      return foretellCheckout(ledger, command, now);
    case 'OpenPayment':
      return foretellOpenPayment(ledger, command.orderId, now);
    case 'RecordCheckoutSession': {
      const payment = ledger.orders.get(command.orderId)?.payments.get(command.paymentId);
      if (payment === undefined) return no('ORDER_NOT_FOUND');
      return payment.session === null ? yes('CheckoutSessionOpened') : yes();
    }
    case 'RecordPayment':
      return foretellReport(ledger, command, now);
    case 'CancelOrder': {
      const order = ledger.orders.get(command.orderId);
      if (order === undefined) return no('ORDER_NOT_FOUND');
      const status = ledger.statusOfOrder(order, now);
      if (status === 'CANCELLED' && order.cause !== 'BUYER') return yes();
      return status === 'EXPIRED' || status === 'CANCELLED' ? no('ORDER_NOT_CANCELLABLE') : yes('OrderCancelled');
    }
    case 'RecordRefund':
      return foretellRefund(ledger, command);
    case 'JoinQueue':
      return ledger.definition.waitingRoom ? { outcomes: ['DONE'] } : no('QUEUE_NOT_ENABLED');
    case 'PollQueue':
    case 'LeaveQueue': {
      const entry = ledger.entries.get(command.entryId);
      return entry?.sessionKey === command.sessionKey ? { outcomes: ['DONE'] } : no('QUEUE_ENTRY_NOT_FOUND');
    }
    case 'BlockSeats':
    case 'UnblockSeats':
      return foretellBlocking(ledger, command, now);
    case 'CancelPerformance':
      return ledger.cancelledDates.has(command.performanceId) ? yes() : { outcomes: ['DONE'] };
    case 'DefineEvent': {
      const floor = command.definition.localities[0]!;
      const capacity = floor.seating === 'GENERAL' ? floor.capacity : 0;
      const takenOn = (id: string) =>
        ledger.ticketsTaken(id, now, null, ({ ticketTypeId }) => isOfFloor(ledger, ticketTypeId));
      const isTooSmall = ledger.definition.performances.some(({ id }) => takenOn(id) > capacity);
      if (JSON.stringify(command.definition) === JSON.stringify(ledger.definition)) return yes();
      return isTooSmall ? no('UPDATE_CONFLICT') : yes('EventDefined');
    }
    default:
      return { outcomes: ['DONE'] };
  }
}

// ── holds ────────────────────────────────────────────────────────────────────────────────────────────────────────────

function ownHold(ledger: Ledger, holdId: string, sessionKey: string): LedgerHold | null {
  const hold = ledger.holds.get(holdId);
  return hold?.sessionKey === sessionKey ? hold : null;
}

function activeHoldOf(ledger: Ledger, sessionKey: string | null, now: number): LedgerHold | null {
  const isOwn = (hold: LedgerHold) => hold.sessionKey === sessionKey && ledger.statusOfHold(hold, now) === 'ACTIVE';
  return [...ledger.holds.values()].find(isOwn) ?? null;
}

function foretellPlacing(ledger: Ledger, command: CommandOf<'PlaceHold'>, now: number): Verdict {
  const mark = command.idempotency;
  const known = mark === null ? undefined : ledger.keys.get(mark.key);
  if (mark !== null && known !== undefined && now < known.at + DAY_MS) {
    return known.digest === mark.digest ? yes() : no('IDEMPOTENCY_KEY_REUSED');
  }
  const pass = judgePass(ledger, command.sessionKey, command.queuePass, now);
  if (pass !== null) return no(pass);
  const early = judgeDatesAndTypes(ledger, command.items, now);
  if (early !== null) return no(early);
  const own = activeHoldOf(ledger, command.sessionKey, now);
  const wants = command.items.map((item) => wantOf(ledger, item));
  const refusal = checkHoldLimits(ledger, wants) ?? judgeStock(ledger, wants, own, now);
  const assigned = seatsFor(ledger, wants, own, now);
  return refusal === null ? { ...yes('HoldPlaced'), assigned } : { ...refusal, assigned };
}

function judgePass(ledger: Ledger, sessionKey: string | null, pass: string | null, now: number): string | null {
  if (!ledger.definition.waitingRoom) return null;
  if (pass === null) return 'QUEUE_PASS_REQUIRED';
  const entry = ledger.entries.get(pass);
  const isGood = entry?.status === 'ADMITTED' && now < entry.passExpiresAt;
  const isOwn = sessionKey === null ? entry?.isSpentWithoutKey === false : entry?.sessionKey === sessionKey;
  return isGood && isOwn ? null : 'QUEUE_PASS_INVALID';
}

function judgeDate(ledger: Ledger, performanceId: string | null, now: number): string | null {
  const dates = ledger.definition.performances;
  if (performanceId === null && dates.length !== 1) return 'PERFORMANCE_REQUIRED';
  const date = performanceId === null ? dates[0] : dates.find(({ id }) => id === performanceId);
  if (date === undefined) return 'PERFORMANCE_NOT_FOUND';
  return ledger.isDateOnSale(date.id, now) ? null : 'PERFORMANCE_NOT_ON_SALE';
}

function judgeType(ledger: Ledger, { ticketTypeId, sellingStageId, seatIds }: ItemRequest, now: number): string | null {
  const { ticketTypes, sellingStages } = ledger.definition;
  if (!ticketTypes.some(({ id }) => id === ticketTypeId)) return 'TICKET_TYPE_NOT_FOUND';
  const stage = sellingStages.find(({ id }) => id === sellingStageId);
  if (stage === undefined) return 'SELLING_STAGE_NOT_FOUND';
  const isOpen = (stage.startsAt ?? 0) <= now && now < (stage.endsAt ?? Number.POSITIVE_INFINITY);
  if (!isOpen || stage.prices[ticketTypeId] === undefined) return 'TICKET_NOT_ON_SALE';
  return seatIds !== null && isOfFloor(ledger, ticketTypeId) ? 'VALIDATION_ERROR' : null;
}

function judgeDatesAndTypes(ledger: Ledger, items: readonly ItemRequest[], now: number): string | null {
  for (const item of items) {
    const refusal = judgeDate(ledger, item.performanceId, now);
    if (refusal !== null) return refusal;
  }
  for (const item of items) {
    const refusal = judgeType(ledger, item, now);
    if (refusal !== null) return refusal;
  }
  return null;
}

function wantOf(ledger: Ledger, item: ItemRequest): Want {
  const { ticketTypeId, sellingStageId, seatIds } = item;
  const performanceId = item.performanceId ?? ledger.definition.performances[0]!.id;
  const ticketCount = item.quantity * groupSizeOf(ledger, ticketTypeId);
  const { quantity } = item;
  return { performanceId, ticketTypeId, sellingStageId, quantity, ticketCount, seatIds, had: false, shrinks: false };
}

/** A hold that no order could take is refused with the codes of a checkout, unless the event says otherwise. */
function checkHoldLimits(ledger: Ledger, wants: readonly Want[]): Verdict | null {
  return ledger.definition.limitsAtHold === false ? null : checkCart(ledger, wants);
}

/** Units of a type on a date over all items and stages, then tickets over everything. */
function checkCart(
  ledger: Ledger,
  items: readonly Pick<Want, 'performanceId' | 'ticketTypeId' | 'quantity' | 'ticketCount'>[],
): Verdict | null {
  const { maxTicketsPerOrder, ticketTypes } = ledger.definition;
  const carts = Object.groupBy(items, ({ performanceId, ticketTypeId }) => `${performanceId} ${ticketTypeId}`);
  for (const cart of Object.values(carts)) {
    const max = ticketTypes.find(({ id }) => id === cart![0]!.ticketTypeId)!.maxPerOrder ?? Infinity;
    if (cart!.reduce((sum, each) => sum + each.quantity, 0) > max) return no('MAX_PER_ORDER_EXCEEDED');
  }
  const tickets = items.reduce((sum, each) => sum + each.ticketCount, 0);
  return tickets > (maxTicketsPerOrder ?? 10_000) ? no('MAX_TICKETS_PER_ORDER_EXCEEDED') : null;
}

function foretellChange(ledger: Ledger, command: CommandOf<'ChangeHold'>, now: number): Verdict {
  const hold = ownHold(ledger, command.holdId, command.sessionKey);
  if (hold === null) return no('HOLD_NOT_FOUND');
  const status = ledger.statusOfHold(hold, now);
  if (status !== 'ACTIVE') return no(status === 'EXPIRED' ? 'HOLD_EXPIRED' : 'HOLD_NOT_ACTIVE');
  const only = ledger.definition.performances.length === 1 ? ledger.definition.performances[0]!.id : null;
  const named = new Map<string, { readonly item: ItemRequest; readonly line: HoldLine | undefined }>();
  for (const item of command.items) {
    const key = keyOf({ ...item, performanceId: item.performanceId ?? only ?? '' });
    const line = hold.lines.find((each) => keyOf(each) === key);
    const refusal = line === undefined ? judgeDate(ledger, item.performanceId, now) : null;
    if (refusal !== null) return no(refusal);
    if (named.has(key)) return no('VALIDATION_ERROR');
    named.set(key, { item, line });
  }
  const kept = hold.lines.filter((line) => !named.has(keyOf(line)));
  const wants: Want[] = kept.map((line) => ({ ...line, seatIds: seatsOf(line), had: true, shrinks: false }));
  for (const { item, line } of named.values()) {
    if (item.quantity === 0) continue;
    const grows = line === undefined || item.quantity > line.quantity;
    const refusal =
      (line !== undefined && grows ? judgeDate(ledger, line.performanceId, now) : null) ??
      (grows ? judgeType(ledger, item, now) : null) ??
      (item.seatIds !== null && isOfFloor(ledger, item.ticketTypeId) ? 'VALIDATION_ERROR' : null);
    if (refusal !== null) return no(refusal);
    const isSame = line !== undefined && item.quantity === line.quantity && item.seatIds === null;
    const seatIds = isSame ? seatsOf(line) : item.seatIds;
    const shrinks = line !== undefined && item.quantity < line.quantity && seatIds === null;
    wants.push({
      ...wantOf(ledger, item),
      performanceId: line?.performanceId ?? item.performanceId ?? only!,
      seatIds,
      had: !grows,
      shrinks,
    });
  }
  if (wants.length === 0) return no('VALIDATION_ERROR');
  const places = hold.lines.map(keyOf);
  const placeOf = (want: Want) => (places.includes(keyOf(want)) ? places.indexOf(keyOf(want)) : places.length);
  wants.sort((a, b) => placeOf(a) - placeOf(b));
  return checkHoldLimits(ledger, wants) ?? judgeStock(ledger, wants, hold, now) ?? yes('HoldChanged');
}

const seatsOf = ({ seatIds }: HoldLine): readonly string[] | null => (seatIds.length === 0 ? null : seatIds);
const keyOf = (line: Pick<HoldLine, 'performanceId' | 'ticketTypeId' | 'sellingStageId'>): string =>
  [line.performanceId, line.ticketTypeId, line.sellingStageId].join();

// ── seats and stock ──────────────────────────────────────────────────────────────────────────────────────────────────

/** The refusal of seats or stock; null when all can be had. */
function judgeStock(ledger: Ledger, wants: readonly Want[], own: LedgerHold | null, now: number): Verdict | null {
  return judgeNamed(ledger, wants, own, now) ?? judgeCounts(ledger, wants, own, now);
}

function judgeNamed(ledger: Ledger, wants: readonly Want[], own: LedgerHold | null, now: number): Verdict | null {
  const named = wants.filter(({ seatIds }) => seatIds !== null);
  const places = named.flatMap(({ performanceId, seatIds }) => seatIds!.map((seatId) => `${performanceId} ${seatId}`));
  if (new Set(places).size < places.length) return no('VALIDATION_ERROR');
  if (named.some(({ seatIds, ticketCount }) => seatIds!.length !== ticketCount)) return no('SEAT_COUNT_MISMATCH');
  const which = (test: (want: Want, seatId: string) => boolean): string[] =>
    named.flatMap((want) => want.seatIds!.filter((seatId) => test(want, seatId)));
  const fits = ({ ticketTypeId }: Want, seatId: string) => ledger.fitsType(seatId, ticketTypeId);
  if (which((want, seatId) => !fits(want, seatId)).length > 0) return no('SEAT_NOT_IN_TICKET_TYPE');
  const isBlocked = ({ performanceId }: Want, seatId: string) => ledger.isBlocked(performanceId, seatId);
  if (which(isBlocked).length > 0) return no('SEAT_NOT_SELLABLE');
  const taken = which(({ performanceId }, seatId) => ledger.isTaken(performanceId, seatId, now, own));
  return taken.length > 0 ? no('SEAT_TAKEN', { seatIds: taken }) : null;
}

function judgeCounts(ledger: Ledger, wants: readonly Want[], own: LedgerHold | null, now: number): Verdict | null {
  const isSettled = (want: Want) => want.seatIds !== null || isOfFloor(ledger, want.ticketTypeId);
  const granted: Want[] = wants.filter((want) => want.had && isSettled(want));
  for (const want of wants.filter((each) => !each.had && isSettled(each))) {
    const shrunk = wants.filter((each) => each.shrinks && !isSettled(each) && each.ticketTypeId === want.ticketTypeId);
    const promised = shrunk
      .filter((each) => each.performanceId === want.performanceId)
      .reduce((sum, each) => sum + each.ticketCount, 0);
    if (leftFor(ledger, want, own, now, granted) - promised < want.ticketCount) {
      return insufficient(ledger, wants, want, own, now);
    }
    granted.push(want);
  }
  const unsettled = wants.filter((want) => !isSettled(want));
  if (unsettled.length > 1) return { outcomes: ['DONE', 'INSUFFICIENT_TICKETS'] };
  const [want] = unsettled;
  if (want === undefined) return null;
  if (want.shrinks) return losesSeats(own, want, granted) ? { outcomes: ['DONE', 'INSUFFICIENT_TICKETS'] } : null;
  // A line that grows keeps its seats, also one that was named and would never be assigned, such as a wheelchair place.
  const held = own?.lines.find((line) => keyOf(line) === keyOf(want))?.seatIds ?? [];
  if (held.some((seatId) => !ledger.mayBeAssigned(seatId, want.ticketTypeId))) {
    return { outcomes: ['DONE', 'INSUFFICIENT_TICKETS'] };
  }
  const hasPlace = leftFor(ledger, want, own, now, granted) >= want.ticketCount;
  if (hasPlace && longestRun(ledger, want, own, now, granted) >= want.ticketCount) return null;
  return insufficient(ledger, wants, want, own, now);
}

function insufficient(
  ledger: Ledger,
  wants: readonly Want[],
  want: Want,
  own: LedgerHold | null,
  now: number,
): Verdict {
  const available = leftFor(ledger, want, own, now, []);
  const alone = wants.length === 1 ? { shortfall: shortfallOf(ledger, want, own, now) } : {};
  return no('INSUFFICIENT_TICKETS', { available, ...alone });
}

/** Whether others' holds are in the way of an item, and when the first of those ends: counted over every hold. */
function shortfallOf(ledger: Ledger, want: Want, own: LedgerHold | null, now: number): Verdict['shortfall'] & object {
  const { performanceId, ticketTypeId, sellingStageId } = want;
  const claims: readonly ((line: HoldLine) => number)[] = [
    (line) =>
      isOfFloor(ledger, ticketTypeId)
        ? Number(isOfFloor(ledger, line.ticketTypeId)) * line.ticketCount
        : line.seatIds.filter((seatId) => ledger.fitsType(seatId, ticketTypeId)).length,
    (line) => Number(line.ticketTypeId === ticketTypeId) * line.ticketCount,
    (line) => Number(line.ticketTypeId === ticketTypeId && line.sellingStageId === sellingStageId) * line.ticketCount,
  ];
  const others = [...ledger.holds.values()].filter(
    (hold) => hold !== own && ['ACTIVE', 'CONVERTED'].includes(ledger.statusOfHold(hold, now)),
  );
  const ticketsOf = (hold: LedgerHold, claim: (line: HoldLine) => number): number =>
    hold.lines.reduce((sum, line) => sum + (line.performanceId === performanceId ? claim(line) : 0), 0);
  const stocks = stocksFor(ledger, want, own, now, []).map((left, index) => {
    const claim = claims[index]!;
    const claimants = others.filter((hold) => ticketsOf(hold, claim) > 0);
    return { left, claimants, held: claimants.reduce((sum, hold) => sum + ticketsOf(hold, claim), 0) };
  });
  const least = (figures: readonly number[]): number => Math.max(0, Math.min(...figures));
  const short = stocks.filter(({ left }) => left < want.ticketCount);
  const inTheWay = short.length > 0 ? short : stocks.slice(0, 1);
  const wouldReturn = least(stocks.map(({ left, held }) => left + held)) > least(stocks.map(({ left }) => left));
  const reservedByOthers = short.length > 0 ? wouldReturn : stocks[0]!.held > 0;
  const ends = inTheWay.flatMap(({ claimants }) => claimants.map(({ expiresAt }) => expiresAt));
  return { reservedByOthers, nextReleaseAt: reservedByOthers ? Math.min(...ends) : null };
}

/** Whether another line of the same request names seats that a line which shrinks would choose from. */
function losesSeats(own: LedgerHold | null, want: Want, granted: readonly Want[]): boolean {
  const held = own?.lines.find((line) => keyOf(line) === keyOf(want))?.seatIds ?? [];
  return granted.some(({ seatIds }) => seatIds?.some((seatId) => held.includes(seatId)) ?? false);
}

/** What everybody could still buy of a type in a stage on a date. */
export function ticketsLeft(
  ledger: Ledger,
  row: Pick<Want, 'performanceId' | 'ticketTypeId' | 'sellingStageId'>,
  now: number,
): number {
  if (!ledger.isDateOnSale(row.performanceId, now)) return 0;
  const want = { ...row, quantity: 1, ticketCount: 1, seatIds: null, had: false, shrinks: false };
  return leftFor(ledger, want, null, now, []);
}

/** Whether a unit of anything can be bought on a date now. */
export function canBeBought(ledger: Ledger, performanceId: string, now: number): boolean {
  const { sellingStages } = ledger.definition;
  const open = sellingStages.filter(({ startsAt, endsAt }) => (startsAt ?? 0) <= now && now < (endsAt ?? Infinity));
  return open.some((stage) =>
    Object.keys(stage.prices).some((ticketTypeId) => {
      const row = { performanceId, ticketTypeId, sellingStageId: stage.id };
      return ticketsLeft(ledger, row, now) >= groupSizeOf(ledger, ticketTypeId);
    }),
  );
}

/** Tickets that could still be had of a type and stage: the least of places, the type's quota and the stage's. */
function leftFor(ledger: Ledger, want: Want, own: LedgerHold | null, now: number, granted: readonly Want[]): number {
  return Math.max(0, Math.min(...stocksFor(ledger, want, own, now, granted)));
}

/** What is left of the places, of the type's quota and of the stage's. */
function stocksFor(
  ledger: Ledger,
  want: Want,
  own: LedgerHold | null,
  now: number,
  granted: readonly Want[],
): number[] {
  const { performanceId, ticketTypeId, sellingStageId } = want;
  const here = granted.filter((each) => each.performanceId === performanceId);
  const count = (test: (line: Pick<Want, 'ticketTypeId' | 'sellingStageId'>) => boolean): number =>
    ledger.ticketsTaken(performanceId, now, own, test) +
    here.filter(test).reduce((sum, each) => sum + each.ticketCount, 0);
  const type = ledger.definition.ticketTypes.find(({ id }) => id === ticketTypeId)!;
  const quota = ledger.definition.sellingStages.find(({ id }) => id === sellingStageId)!.quotas[ticketTypeId];
  const places = isOfFloor(ledger, ticketTypeId)
    ? ledger.floorCapacity - count((line) => isOfFloor(ledger, line.ticketTypeId))
    : freeSeats(ledger, want, own, now, granted)
        .flat()
        .filter((seatId) => seatId !== null).length;
  const ofType = type.quota === null ? Infinity : type.quota - count((line) => line.ticketTypeId === ticketTypeId);
  const isOfRow = (line: Pick<Want, 'ticketTypeId' | 'sellingStageId'>) =>
    line.ticketTypeId === ticketTypeId && line.sellingStageId === sellingStageId;
  const ofStage = quota === undefined ? Infinity : quota - count(isOfRow);
  return [places, ofType, ofStage];
}

/** The seats that are assigned to one item alone, or to one of an accessible type and one of another; empty where it is not foretold. */
function seatsFor(
  ledger: Ledger,
  wants: readonly Want[],
  own: LedgerHold | null,
  now: number,
): ReadonlyMap<string, readonly string[]> {
  const open = wants.filter((want) => want.seatIds === null && !isOfFloor(ledger, want.ticketTypeId));
  const [one, other] = open;
  if (one === undefined || open.length !== wants.length || open.length > 2) return new Map();
  const rows = plainRows(ledger, one.performanceId, own, now);
  const request = (want: Want) => ({ type: plainType(ledger, want.ticketTypeId), count: want.ticketCount });
  if (other === undefined) {
    const block = plainBestBlock(rows, plainType(ledger, one.ticketTypeId), one.ticketCount);
    return new Map(block === null ? [] : [[one.ticketTypeId, block]]);
  }
  const first = open.find(({ ticketTypeId }) => plainType(ledger, ticketTypeId).accessible);
  const companion = open.find((want) => want.ticketTypeId !== first?.ticketTypeId);
  if (first === undefined || companion === undefined || one.performanceId !== other.performanceId) return new Map();
  const party = plainParty(rows, request(first), request(companion));
  if (party === null || party.companion === null) return new Map();
  return new Map([
    [first.ticketTypeId, party.first],
    [companion.ticketTypeId, party.companion],
  ]);
}

function plainType(ledger: Ledger, ticketTypeId: string): PlainType {
  const { zoneKeys: zones, accessible } = ledger.definition.ticketTypes.find(({ id }) => id === ticketTypeId)!;
  return { zones, accessible };
}

function plainRows(ledger: Ledger, performanceId: string, own: LedgerHold | null, now: number): PlainSeat[][] {
  const hall = ledger.definition.localities[1]!;
  const rows = hall.seating === 'NUMBERED' ? hall.sections.flatMap((section) => section.rows) : [];
  const isFree = (id: string): boolean =>
    !ledger.isBlocked(performanceId, id) && !ledger.isTaken(performanceId, id, now, own);
  return rows.map(({ seats, aisleAfter }) =>
    seats.map(({ id, x, y, zoneKey: zone, accessible, restrictedView: restricted }, i) => ({
      ...{ id, x, y, zone, accessible, restricted, free: isFree(id) },
      aisleBefore: i > 0 && aisleAfter.includes(i),
    })),
  );
}

/** Every stretch of neighbouring seats, with null in place of those that cannot be had. */
function freeSeats(ledger: Ledger, want: Want, own: LedgerHold | null, now: number, granted: readonly Want[]) {
  const { performanceId, ticketTypeId } = want;
  const gone = new Set(
    granted.filter((each) => each.performanceId === performanceId).flatMap(({ seatIds }) => seatIds ?? []),
  );
  const isFree = (seatId: string): boolean =>
    ledger.fitsType(seatId, ticketTypeId) &&
    !gone.has(seatId) &&
    !ledger.isBlocked(performanceId, seatId) &&
    !ledger.isTaken(performanceId, seatId, now, own);
  return ledger.stretches.map((stretch) => stretch.map((seatId) => (isFree(seatId) ? seatId : null)));
}

function longestRun(ledger: Ledger, want: Want, own: LedgerHold | null, now: number, granted: readonly Want[]): number {
  let longest = 0;
  for (const stretch of freeSeats(ledger, want, own, now, granted)) {
    let run = 0;
    for (const seatId of stretch) {
      run = seatId === null || !ledger.mayBeAssigned(seatId, want.ticketTypeId) ? 0 : run + 1;
      longest = Math.max(longest, run);
    }
  }
  return longest;
}

function isOfFloor(ledger: Ledger, ticketTypeId: string): boolean {
  return ledger.definition.ticketTypes.find(({ id }) => id === ticketTypeId)?.localityId === 'floor';
}

function groupSizeOf(ledger: Ledger, ticketTypeId: string): number {
  return ledger.definition.ticketTypes.find(({ id }) => id === ticketTypeId)?.groupSize ?? 1;
}

function foretellBlocking(ledger: Ledger, command: CommandOf<'BlockSeats' | 'UnblockSeats'>, now: number): Verdict {
  const { performanceId, seatIds, type } = command;
  const taken = seatIds.filter((seatId) => ledger.isTaken(performanceId, seatId, now, null));
  if (taken.length > 0) return no('SEAT_TAKEN', { seatIds: taken });
  const wasBlocked = type === 'UnblockSeats';
  const changes = seatIds.some((seatId) => ledger.isBlocked(performanceId, seatId) === wasBlocked);
  return changes ? yes(wasBlocked ? 'SeatsUnblocked' : 'SeatsBlocked') : yes();
}

// ── checkout ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function foretellCheckout(ledger: Ledger, command: CommandOf<'StartCheckout'>, now: number): Verdict {
  const mark = command.idempotency;
  const known = mark === null ? undefined : ledger.keys.get(mark.key);
  if (mark !== null && known !== undefined && now < known.at + DAY_MS) {
    if (known.digest !== mark.digest) return no('IDEMPOTENCY_KEY_REUSED');
    const order = ledger.orders.get(known.orderId!)!;
    const wasAnswered = order.payments.size === 0 || firstOf(order).session !== null;
    if (wasAnswered || isUnfinished(ledger, order, now)) return yes();
  }
  if (!command.acceptTerms) return no('TERMS_NOT_ACCEPTED');
  const named = command.holdId === null ? undefined : ledger.holds.get(command.holdId);
  const hold = command.sessionKey === null || named?.sessionKey === command.sessionKey ? named : undefined;
  const unfinished = hold?.orderId == null ? undefined : ledger.orders.get(hold.orderId);
  if (unfinished !== undefined && isUnfinished(ledger, unfinished, now))
    return mark === null ? yes() : yes('CheckoutResumed');
  return command.holdId === null ? foretellInline(ledger, command, now) : foretellTakeover(ledger, command, hold, now);
}

function isUnfinished(ledger: Ledger, order: LedgerOrder, now: number): boolean {
  return ledger.statusOfOrder(order, now) === 'PENDING' && order.payments.size > 0 && firstOf(order).session === null;
}

const firstOf = ({ payments }: LedgerOrder): LedgerPayment => payments.values().next().value!;

function foretellTakeover(
  ledger: Ledger,
  command: CommandOf<'StartCheckout'>,
  hold: LedgerHold | undefined,
  now: number,
): Verdict {
  if (hold === undefined) return no('HOLD_NOT_FOUND');
  const status = ledger.statusOfHold(hold, now);
  if (status !== 'ACTIVE') return no(status === 'EXPIRED' ? 'HOLD_EXPIRED' : 'HOLD_NOT_ACTIVE');
  if (command.items !== null && !areItemsOf(ledger, hold, command.items)) return no('HOLD_ITEMS_MISMATCH');
  const items = hold.lines.map((line): PricedItem => ({ ...line, request: null }));
  return judgePurchase(ledger, command, items, now) ?? placedOrder(ledger, command, items, []);
}

/** Whether typed items are the lines of a hold, in any order. */
function areItemsOf(ledger: Ledger, hold: LedgerHold, items: readonly ItemRequest[]): boolean {
  const only = ledger.definition.performances[0]!.id;
  const told = (line: ItemRequest | HoldLine): string =>
    [
      keyOf({ ...line, performanceId: line.performanceId ?? only }),
      line.quantity,
      [...(line.seatIds ?? [])].sort(),
    ].join();
  return items.map(told).sort().join(';') === hold.lines.map(told).sort().join(';');
}

function foretellInline(ledger: Ledger, command: CommandOf<'StartCheckout'>, now: number): Verdict {
  const requests = command.items!;
  const pass = judgePass(ledger, command.sessionKey, command.queuePass, now);
  if (pass !== null) return no(pass);
  const early = judgeDatesAndTypes(ledger, requests, now);
  if (early !== null) return no(early);
  const wants = requests.map((item) => wantOf(ledger, item));
  const items = requests.map((request, index): PricedItem => {
    const stage = ledger.definition.sellingStages.find(({ id }) => id === request.sellingStageId)!;
    const unitPriceCents = stage.prices[request.ticketTypeId]!;
    return { ...wants[index]!, quantity: request.quantity, unitPriceCents, request };
  });
  const own = activeHoldOf(ledger, command.sessionKey, now);
  const verdict = judgePurchase(ledger, command, items, now);
  if (verdict !== null) return verdict;
  const stock = judgeStock(ledger, wants, own, now);
  const placed = placedOrder(ledger, command, items, ['HoldPlaced']);
  return stock === null ? placed : stock.outcomes.includes('DONE') ? { ...placed, outcomes: stock.outcomes } : stock;
}

function placedOrder(
  ledger: Ledger,
  command: CommandOf<'StartCheckout'>,
  items: readonly PricedItem[],
  before: readonly string[],
): Verdict {
  const totalCents = totalOf(ledger, items, command.promoCode);
  const facts = [...before, 'OrderPlaced', ...(totalCents === 0 ? ['OrderPaid', 'TicketsIssued'] : [])];
  return { outcomes: ['DONE'], facts, totalCents };
}

/** Units times price, less the item's code and then the order's, each rounded half up by item; and bar perks on top. */
function totalOf(ledger: Ledger, items: readonly PricedItem[], promoCode: string | null): number {
  const off = (cents: number, text: string | null): number =>
    text === null ? 0 : Math.floor((cents * codeOf(ledger, text)!.percentOff! + 50) / 100);
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

function codeOf(ledger: Ledger, text: string) {
  return ledger.definition.promoCodes.find((each) => each.code === text);
}

/** Installments, limits, codes and perks, in the API's order; null when nothing is in the way. */
function judgePurchase(
  ledger: Ledger,
  { installmentCount, customer, promoCode }: CommandOf<'StartCheckout'>,
  items: readonly PricedItem[],
  now: number,
): Verdict | null {
  const { maxInstallments, maxTicketsPerEmail } = ledger.definition;
  if (installmentCount > maxInstallments) return no('INSTALLMENTS_NOT_ALLOWED');
  const overCart = checkCart(ledger, items);
  if (overCart !== null) return overCart;
  const tickets = items.reduce((sum, each) => sum + each.ticketCount, 0);
  const already = ledger.ticketsOfEmail(customer.email, now);
  if (maxTicketsPerEmail !== null && already + tickets > maxTicketsPerEmail)
    return no('MAX_TICKETS_PER_EMAIL_EXCEEDED');
  const isMiscounted = ({ request, ticketCount }: PricedItem): boolean =>
    request !== null && request.attendees !== null && request.attendees.length !== ticketCount;
  if (items.some(isMiscounted)) return no('ATTENDEE_COUNT_MISMATCH');
  const texts = [...items.map(({ request }) => request?.discountCode ?? null), promoCode].filter(
    (text) => text !== null,
  );
  for (const text of texts) {
    const endsAt = codeOf(ledger, text)?.endsAt;
    if (endsAt === undefined || (endsAt !== null && now >= endsAt)) return no('PROMO_CODE_INVALID');
  }
  if (texts.some((text) => ledger.usesOf(text, now) >= (codeOf(ledger, text)!.maxUses ?? Infinity)))
    return no('PROMO_CODE_EXHAUSTED');
  const perks = items.flatMap(({ ticketCount, request }) =>
    (request?.barPerks ?? []).map((perk) => ({ ...perk, ticketCount })),
  );
  if (perks.some(({ barPerkId }) => barPerkId !== 'beer')) return no('BAR_PERK_NOT_FOUND');
  if (perks.some(({ quantity, ticketCount }) => quantity > ticketCount)) return no('BAR_PERK_LIMIT_EXCEEDED');
  const wanted = perks.reduce((sum, { quantity }) => sum + quantity, 0);
  return wanted > 0 && ledger.beersSold(now) + wanted > ledger.beerStock ? no('BAR_PERK_SOLD_OUT') : null;
}

// ── money ────────────────────────────────────────────────────────────────────────────────────────────────────────────

function foretellRefund(ledger: Ledger, command: CommandOf<'RecordRefund'>): Verdict {
  const { provider, reference, amountCents } = command;
  const order = ledger.orders.get(command.orderId);
  if (order === undefined || (provider !== null && provider !== order.provider)) return no('ORDER_NOT_FOUND');
  if (reference !== null && order.refunds.some((refund) => refund.reference === reference)) {
    return rare('refund again');
  }
  const currency = command.currency ?? order.currency;
  const other = order.refunds.some(
    (refund) =>
      refund.amountCents === amountCents &&
      refund.currency === currency &&
      refund.saidBy.size === 1 &&
      (provider === null
        ? reference === null && refund.saidBy.has('PROVIDER')
        : refund.saidBy.has('OPERATOR') && refund.reference === null),
  );
  if (other) return rare('refund matched', 'RefundRecorded');
  const left = paidOf(order, currency) - refundedOf(order, currency);
  return amountCents > left ? no('REFUND_TOO_HIGH') : yes('RefundRecorded');
}

function foretellOpenPayment(ledger: Ledger, orderId: string, now: number): Verdict {
  const order = ledger.orders.get(orderId);
  if (order === undefined) return no('ORDER_NOT_FOUND');
  const status = ledger.statusOfOrder(order, now);
  if (status !== 'PENDING' && status !== 'PARTIALLY_PAID') return no('ORDER_NOT_PAYABLE');
  const payments = [...order.payments.values()];
  const next = 1 + payments.filter(({ isCounted }) => isCounted).length;
  return payments.some(({ installment, status: each }) => installment === next && each === 'WAITING')
    ? yes()
    : yes('PaymentRequested');
}

function foretellReport(ledger: Ledger, report: CommandOf<'RecordPayment'>, now: number): Verdict {
  for (const order of ledger.orders.values()) {
    const payment = [...order.payments.values()].find(({ session }) => session === report.checkoutSessionId);
    if (payment === undefined) continue;
    if (order.provider !== report.provider) return rare('report of the other provider');
    return foretellOutcome(ledger, order, payment, report, now);
  }
  return yes();
}

function foretellOutcome(
  ledger: Ledger,
  order: LedgerOrder,
  payment: LedgerPayment,
  report: CommandOf<'RecordPayment'>,
  now: number,
): Verdict {
  const status = ledger.statusOfOrder(order, now);
  const isWaiting = payment.status === 'WAITING' && status !== 'EXPIRED' && status !== 'CANCELLED';
  if (report.outcome === 'cancelled' && isWaiting && status === 'PENDING') return yes('OrderCancelled');
  if (report.outcome !== 'paid') return isWaiting ? yes('PaymentClosed') : yes();
  const paymentId = [...order.payments].find(([, each]) => each === payment)![0];
  const money = [...order.payments.values()].filter((each) => each === payment || each.strayOf === paymentId);
  const isRepeat = money.some(
    ({ paidCents, currency, webhookId }) =>
      paidCents !== null &&
      ((paidCents === report.amountCents && currency === report.currency) ||
        (webhookId !== null && webhookId === report.webhookId)),
  );
  if (isRepeat) return yes();
  const isAsked = report.amountCents === payment.amountCents && report.currency === payment.currency;
  if (report.currency !== order.currency) return rare('foreign money', 'StrayMoneyRecorded');
  if (!isAsked || payment.paidCents !== null) return yes('StrayMoneyRecorded');
  const paidBefore = [...order.payments.values()].some(
    (each) => each.isCounted && each.installment === payment.installment,
  );
  if (paidBefore) return yes('PaymentRecorded');
  if (status === 'PENDING') return yes('PaymentRecorded', 'OrderPaid', 'TicketsIssued');
  if (status === 'PARTIALLY_PAID' || status === 'CONFIRMED') return yes('PaymentRecorded', 'OrderPaid');
  const mayReturn = status === 'EXPIRED' || order.cause === 'BUYER';
  if (!mayReturn || !canBeHadAgain(ledger, order, now)) return rare('late money due back', 'PaymentRecorded');
  return rare('late money taken', 'PaymentRecorded', 'OrderPaid', 'TicketsIssued');
}

/** Whether an order that ended finds its tickets, seats, codes and perks again. */
function canBeHadAgain(ledger: Ledger, order: LedgerOrder, now: number): boolean {
  const { lines } = ledger.holds.get(order.holdId)!;
  if (lines.some(({ performanceId }) => !ledger.isDateOnSale(performanceId, now))) return false;
  const max = ledger.definition.maxTicketsPerEmail;
  if (max !== null && ledger.ticketsOfEmail(order.email, now) + order.ticketCount > max) return false;
  const codes = [...order.codes];
  if (codes.some((text) => ledger.usesOf(text, now) >= (codeOf(ledger, text)!.maxUses ?? Infinity))) return false;
  if (order.beers > 0 && ledger.beersSold(now) + order.beers > ledger.beerStock) return false;
  const wants = lines.map((line): Want => ({ ...line, seatIds: seatsOf(line), had: false, shrinks: false }));
  return judgeStock(ledger, wants, null, now) === null;
}
