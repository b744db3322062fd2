/**
 * What an amendment does to an order of the book, by the contract: which requests are refused, what they cost, and how
 * the order is afterwards. The service alone says the ids of new tickets and the seats that it chose.
 *
 * 1. Everything is taken apart into units; what goes is credited with what its line cost before less what it costs
 *    after, one unit after another in the order in which the service lists tickets.
 * 2. A unit that is moved by date or seat alone stays in its line. Units of one change that come from one line and get
 *    another price are one new line.
 * 3. What is not charged goes with the tickets that it was not charged for; what is more than these cost, with the
 *    first that stays.
 */
import { halfUp, percent, sum } from './cents.ts';
import {
  costOf,
  costOfPerks,
  discountOf,
  isFor,
  isOverOrderLimit,
  priceIn,
  refundDue,
  remainingAmount,
  sizeOf,
  splitAnew,
  stageNamed,
  takenOff,
  totalOf,
  typeNamed,
  isLive,
  appliedTo,
  pendingOf,
  type Amendment,
  type Payment,
  type Book,
  type By,
  type Line,
  type Order,
  type Unit,
} from './book.ts';
import {
  CURRENCY,
  PAYMENT_MINUTES,
  PERFORMANCES,
  SEATS,
  STAGES,
  TYPES,
  type Rule,
  type Stage,
  type TicketType,
} from './event.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const QUOTE_LASTS = 10 * MINUTE;

export interface Change {
  readonly ticket_ids: readonly string[];
  readonly performance_id?: string;
  readonly ticket_type_id?: string;
  readonly selling_stage_id?: string;
  readonly seat_ids?: readonly string[];
}

export interface Request {
  readonly cancel?: readonly string[];
  readonly reissue?: readonly string[];
  readonly change?: readonly Change[];
  readonly attendees?: readonly { readonly ticket_id: string; readonly attendee: { readonly name: string } }[];
  readonly fee?: number;
  readonly goodwill?: boolean;
}

export interface Refused {
  readonly refusal: string;
  readonly detail?: object;
  /** The contract does not say before which other checks it comes. */
  readonly isAnywhere?: true;
}

interface PlannedTicket {
  readonly ticket_id: string;
  readonly action: 'CANCEL' | 'CHANGE' | 'REISSUE' | 'RENAME';
  readonly credit: number;
  readonly price: number;
  readonly ticket_type_id: string;
  readonly selling_stage_id: string;
  readonly performance_id: string;
  /** Undefined where the service chooses it. */
  readonly seat_id: string | null | undefined;
}

/** What the quote says, without its signature and its end. */
interface Quoted {
  readonly tickets: readonly PlannedTicket[];
  readonly perks_credit: number;
  readonly credit: number;
  readonly charge: number;
  readonly fee: number;
  readonly difference: number;
  readonly to_pay: number;
  readonly to_refund: number;
  readonly total_amount: number;
  readonly remaining_amount: number;
}

export interface Plan {
  readonly quoted: Quoted;
  /** When the quote ends. */
  readonly endsAt: number;
  readonly isWithdrawal: boolean;
  /** The order as it is afterwards, with tickets under their old ids and without the seats that the service chooses. */
  readonly after: Order;
}

interface Done {
  readonly id: string;
  readonly by: By;
  /** The ticket that was issued for one. */
  readonly newIds: ReadonlyMap<string, string>;
  readonly seats: ReadonlyMap<string, string>;
}

/** A ticket's place in the order. */
interface Place {
  readonly line: Line;
  readonly unit: Unit;
}

/** A unit that is changed, and where it goes. */
interface Move extends Place {
  readonly change: Change;
  readonly type: TicketType;
  readonly stage: Stage;
  readonly date: string;
  readonly isRepriced: boolean;
}

export function planOf(book: Book, order: Order, request: Request, by: By): Plan | Refused {
  const { cancel = [], reissue = [], change: changes = [], attendees = [] } = request;
  if (order.status !== 'CONFIRMED' && order.status !== 'PARTIALLY_PAID') {
    return { refusal: 'ORDER_NOT_AMENDABLE', detail: { status: order.status } };
  }
  const pending = pendingOf(order);
  if (pending !== null) return { refusal: 'AMENDMENT_PENDING', detail: { amendment_id: pending.id } };
  const lines = order.lines.map((line) => ({ ...line, units: line.units.map((unit) => ({ ...unit })) }));
  const places = lines.flatMap((line) => line.units.map((unit) => ({ line, unit })));
  const placeOf = new Map(places.flatMap((place) => place.unit.ticketIds.map((id) => [id, place] as const)));
  const wrong = refusalOfTickets(order, request, placeOf);
  if (wrong !== null) return wrong;
  const placesOf = (ids: readonly string[]): readonly Place[] =>
    inListedOrder(order, [...new Set(ids.map((id) => placeOf.get(id)!))]);
  const cancelled = placesOf(cancel);
  const permission = by === 'BUYER' ? permissionOf(book, order, request, placeOf, cancelled) : null;
  if (permission !== null && 'refusal' in permission) return permission;

  const moves: Move[] = [];
  for (const change of changes) {
    for (const place of placesOf(change.ticket_ids)) {
      const offer = offerOf(book, place.line, change, by);
      if (offer === null) return { refusal: 'TICKET_NOT_ON_SALE' };
      const isRepriced = offer.type !== place.line.type || offer.stage !== place.line.stage;
      moves.push({ ...place, change, ...offer, date: change.performance_id ?? place.unit.performanceId, isRepriced });
    }
    if (!changesSomething(change, moves)) return { refusal: 'VALIDATION_ERROR' };
  }

  const repriced = moves.filter((move) => move.isRepriced);
  const gone = inListedOrder(order, [...cancelled, ...repriced]);
  const credits = creditsOf(gone);
  const anew = newLines(order, changes, repriced, credits);
  if (anew === null) return { refusal: 'VALIDATION_ERROR', isAnywhere: true };
  const afterLines: Line[] = lines.map((line) => ({
    ...line,
    units: line.units.filter((unit) => !gone.some((place) => place.unit === unit)),
  }));
  afterLines.push(...anew.map(({ line }) => line));
  if (by === 'BUYER' && moves.length > 0 && isOverLimits(afterLines, moves)) {
    return { refusal: 'MAX_PER_ORDER_EXCEEDED' };
  }
  const seats = seatsOf(book, { changes, moves, given: [...cancelled, ...moves] });
  if (typeof seats === 'string') return { refusal: seats };
  for (const move of moves) if (!move.isRepriced) move.unit.performanceId = move.date;
  for (const { units } of afterLines) {
    for (const unit of units) {
      const known = unit.ticketIds.map((id) => seats.get(id));
      if (unit.ticketIds.some((id) => seats.has(id))) unit.seatIds = known.flatMap((seat) => seat ?? []);
    }
  }
  const short = refusalOfStock(book, order, afterLines, moves);
  if (short !== null) return short;

  const withoutPerks = repriced.filter(({ type, line }) => type !== line.type);
  const perksCredit = costOfPerks([...cancelled, ...withoutPerks].map(({ unit }) => unit));
  const credit = perksCredit + sum([...credits.values()].map((each) => each.credit));
  const charge = sum(anew.flatMap(({ prices }) => prices));
  const creditWith = (of: readonly Place[], perksOf: readonly Place[]): number =>
    sum(of.map(({ unit }) => credits.get(unit)!.credit)) + costOfPerks(perksOf.map(({ unit }) => unit));
  const fee =
    permission === null
      ? (request.fee ?? 0)
      : permission.feeOf(creditWith(permission.byRule, permission.byRule), creditWith(repriced, withoutPerks));
  if (moves.length + reissue.length + attendees.length === 0 && fee > credit) return { refusal: 'VALIDATION_ERROR' };
  const difference = charge + fee - credit;
  const waived = request.goodwill === true ? Math.max(0, difference) : 0;
  const toPay = Math.max(0, difference) - waived;

  const tickets = inListedOrder(order, placesOf([...placeOf.keys()])).flatMap(({ line, unit }) => {
    const move = moves.find((each) => each.unit === unit);
    return unit.ticketIds.flatMap((id, index): PlannedTicket[] => {
      const action = cancel.includes(id)
        ? 'CANCEL'
        : move !== undefined
          ? 'CHANGE'
          : reissue.includes(id)
            ? 'REISSUE'
            : attendees.some((each) => each.ticket_id === id)
              ? 'RENAME'
              : null;
      if (action === null) return [];
      const fresh = anew.find(({ line: { units } }) => units.some((each) => each.ticketIds[0] === id));
      return [
        {
          ticket_id: id,
          action,
          credit: index === 0 ? (credits.get(unit)?.credit ?? 0) : 0,
          price:
            fresh === undefined ? 0 : fresh.prices[fresh.line.units.findIndex((each) => each.ticketIds[0] === id)]!,
          ticket_type_id: (move?.type ?? line.type).id,
          selling_stage_id: (move?.stage ?? line.stage).id,
          performance_id: move?.date ?? unit.performanceId,
          seat_id: seats.has(id) ? seats.get(id) : move === undefined ? (unit.seatIds[index] ?? null) : null,
        },
      ];
    });
  });
  const after: Order = { ...order, lines: afterLines.filter(({ units }) => units.length > 0) };
  after.fees += fee;
  after.goodwill += waived - sum([...credits.values()].map((each) => each.goodwill));
  setGoodwill(after, tickets, waived);
  if (toPay > 0) after.payments = [...order.payments, paidBeside(toPay)];
  endOrSplit(after, by, order);
  const ends = [...(permission?.ends ?? []), ...repriced.flatMap(({ stage }) => Date.parse(stage.ends_at ?? ''))];
  return {
    quoted: {
      tickets,
      perks_credit: perksCredit,
      credit,
      charge,
      fee,
      difference,
      to_pay: toPay,
      to_refund: Math.max(0, refundDue(after) - refundDue(order)),
      total_amount: totalOf(after),
      remaining_amount: remainingAmount(after),
    },
    endsAt: Math.min(book.now + QUOTE_LASTS, ...ends.filter((end) => end > book.now)),
    isWithdrawal: permission?.isWithdrawal ?? false,
    after,
  };
}

function inListedOrder<Each extends { readonly unit: Unit }>(
  { listed }: Order,
  places: readonly Each[],
): readonly Each[] {
  const placeIn = ({ unit }: Each): number => listed.indexOf(unit.ticketIds[0]!);
  return places.toSorted((one, other) => placeIn(one) - placeIn(other));
}

// ── who may ask for what ─────────────────────────────────────────────────────────────────────────────────────────────

function refusalOfTickets(
  order: Order,
  { cancel = [], reissue = [], change = [], attendees = [] }: Request,
  placeOf: ReadonlyMap<string, Place>,
): Refused | null {
  const groups = [cancel, ...change.map(({ ticket_ids: ids }) => ids)];
  const named = [...groups.flat(), ...reissue, ...attendees.map(({ ticket_id: id }) => id)];
  if (named.some((id) => !placeOf.has(id) && !order.voided.has(id))) return { refusal: 'TICKET_NOT_FOUND' };
  if (named.some((id) => !placeOf.has(id))) return { refusal: 'TICKET_VOID' };
  const missing = groups.flatMap((ids) => {
    const all = new Set(ids.flatMap((id) => placeOf.get(id)!.unit.ticketIds));
    return [...all].filter((id) => !ids.includes(id));
  });
  if (missing.length > 0) return { refusal: 'UNIT_INCOMPLETE', detail: { ticket_ids: missing } };
  return null;
}

interface Permission {
  /** Given back by the rule, and not by withdrawal. */
  readonly byRule: readonly Place[];
  readonly isWithdrawal: boolean;
  /** When what is permitted ends. */
  readonly ends: readonly number[];
  feeOf(cancelled: number, changed: number): number;
}

function permissionOf(
  book: Book,
  order: Order,
  { reissue = [], change: changes = [], attendees = [] }: Request,
  placeOf: ReadonlyMap<string, Place>,
  cancelled: readonly Place[],
): Permission | Refused {
  const {
    cancel = null,
    change = null,
    attendees: rename = null,
    withdrawal_days: days = 0,
  } = book.terms.buyer_changes ?? {};
  const ends: number[] = [];
  const refused: Refused[] = [];
  const ask = (rule: Rule | null, { line, unit }: Place, more: readonly string[] = []): void => {
    if (rule === null) return void refused.push(notAllowed('NOT_OFFERED', null));
    if (rule.ticket_type_ids?.includes(line.type.id) === false)
      return void refused.push(notAllowed('TICKET_TYPE', null));
    const end = Math.min(...[unit.performanceId, ...more].map((date) => deadlineOf(date, rule.until_minutes ?? 0)));
    ends.push(end);
    if (book.now >= end) refused.push(notAllowed('TOO_LATE', end));
  };
  const withdrawalEnd = ({ unit }: Place): number =>
    Math.min(order.placedAt + days * DAY, startOf(unit.performanceId) ?? Infinity);
  const withdrawn = cancelled.filter((place) => book.now < withdrawalEnd(place));
  ends.push(...withdrawn.map(withdrawalEnd));
  const byRule = cancelled.filter((place) => !withdrawn.includes(place));
  for (const place of byRule) ask(cancel, place);
  for (const { ticket_ids: ids, performance_id: date } of changes) {
    for (const place of inListedOrder(
      order,
      ids.map((id) => placeOf.get(id)!),
    )) {
      ask(change, place, date === undefined ? [] : [date]);
    }
  }
  for (const id of reissue) ask(change, placeOf.get(id)!);
  for (const { ticket_id: id } of attendees) ask(rename, placeOf.get(id)!);
  if (refused[0] !== undefined) return refused[0];
  const ticketsIn = (all: readonly Place[]): number => sum(all.map(({ unit }) => unit.ticketIds.length));
  const changed = sum(changes.map(({ ticket_ids: ids }) => ids.length)) + reissue.length;
  return {
    byRule,
    isWithdrawal: withdrawn.length > 0,
    ends,
    feeOf: (ofCancelled, ofChanged) =>
      Math.min(ofCancelled, ticketsIn(byRule) * (cancel?.fee ?? 0) + percent(ofCancelled, cancel?.fee_percent ?? 0)) +
      changed * (change?.fee ?? 0) +
      percent(ofChanged, change?.fee_percent ?? 0) +
      attendees.length * (rename?.fee ?? 0),
  };
}

function notAllowed(reason: string, end: number | null): Refused {
  const until = end === null ? null : new Date(end).toISOString();
  return { refusal: 'AMENDMENT_NOT_ALLOWED', detail: { reason, until } };
}

function startOf(date: string): number | null {
  const start = PERFORMANCES.find(({ id }) => id === date)!.starts_at;
  return start === null ? null : Date.parse(start);
}

/** Before the start of a date; one without a start until it is over. */
function deadlineOf(date: string, minutes: number): number {
  const start = startOf(date);
  return start === null ? Date.parse(PERFORMANCES.find(({ id }) => id === date)!.ends_at) : start - minutes * MINUTE;
}

// ── where it goes ────────────────────────────────────────────────────────────────────────────────────────────────────

/** The named stage, else the ticket's own where it sells the type, else the first one open. */
function offerOf(
  book: Book,
  line: Line,
  { ticket_type_id: typeId = line.type.id, selling_stage_id: stageId }: Change,
  by: By,
): { readonly type: TicketType; readonly stage: Stage } | null {
  const type = typeNamed(typeId);
  if (type === line.type && (stageId === undefined || stageId === line.stage.id)) return { type, stage: line.stage };
  const sells = (stage: Stage): boolean => priceIn(stage.id, type.id) !== undefined;
  if (stageId !== undefined) {
    const stage = stageNamed(stageId);
    return sells(stage) && (by === 'OPERATOR' || book.isOpen(stage)) ? { type, stage } : null;
  }
  const stage = [line.stage, ...STAGES].find((each) => sells(each) && book.isOpen(each));
  return stage === undefined ? null : { type, stage };
}

function changesSomething(change: Change, moves: readonly Move[]): boolean {
  const own = moves.filter((move) => move.change === change);
  const seats = own.flatMap(({ unit }) => unit.seatIds);
  const isOther = ({ isRepriced, date, unit }: Move): boolean => isRepriced || date !== unit.performanceId;
  return own.some(isOther) || change.seat_ids?.some((seat, index) => seat !== seats[index]) === true;
}

/** Units of another type or stage as new lines (rule 2), with what each unit costs; null where they fill no units. */
function newLines(
  order: Order,
  changes: readonly Change[],
  repriced: readonly Move[],
  credits: ReadonlyMap<Unit, Credit>,
): { readonly line: Line; readonly prices: readonly number[] }[] | null {
  const all: { readonly line: Line; readonly prices: readonly number[] }[] = [];
  for (const change of changes) {
    const ofChange = repriced.filter((move) => move.change === change);
    for (const from of new Set(ofChange.map(({ line }) => line))) {
      const ofLine = ofChange.filter(({ line }) => line === from);
      const { type, stage, date } = ofLine[0]!;
      const units = regrouped(
        type,
        date,
        from,
        inListedOrder(order, ofLine).map(({ unit }) => unit),
      );
      if (units === null) return null;
      const line = newLine(
        type,
        stage,
        from,
        units,
        ofLine.map(({ unit }) => credits.get(unit)!),
      );
      all.push({ line, prices: units.map((_, index) => costOf(line, index + 1) - costOf(line, index)) });
    }
  }
  return all;
}

function regrouped(type: TicketType, date: string, from: Line, before: readonly Unit[]): Unit[] | null {
  if (type === from.type) return before.map((unit) => ({ ...unit, performanceId: date, goodwill: 0 }));
  const size = sizeOf(type);
  const ids = before.flatMap(({ ticketIds }) => ticketIds);
  if (ids.length % size !== 0) return null;
  return Array.from({ length: ids.length / size }, (_, index) => ({
    performanceId: date,
    seatIds: [],
    ticketIds: ids.slice(index * size, (index + 1) * size),
    perks: new Map(),
    goodwill: 0,
  }));
}

/** Codes apply to the new price where they are for its type; of an amount code the units keep their share. */
function newLine(type: TicketType, stage: Stage, from: Line, units: Unit[], shares: readonly Credit[]): Line {
  const price = priceIn(stage.id, type.id)!;
  const cents = price * units.length;
  const code = isFor(from.code, type.id) ? from.code : null;
  const codeDiscount = Math.min(cents, takenOff(code, cents, sum(shares.map((each) => each.ofCode))));
  const promo = isFor(from.promo, type.id) ? from.promo : null;
  const ofPromo = takenOff(promo, cents - codeDiscount, sum(shares.map((each) => each.ofPromo)));
  return { type, stage, price, boughtUnits: units.length, codeDiscount, promoDiscount: ofPromo, code, promo, units };
}

/** What a unit is credited with, and the shares of its codes and goodwill that go with it. */
interface Credit {
  readonly credit: number;
  readonly goodwill: number;
  readonly ofCode: number;
  readonly ofPromo: number;
}

/** Rule 1. */
function creditsOf(gone: readonly Place[]): ReadonlyMap<Unit, Credit> {
  const left = new Map<Line, number>();
  const credits = new Map<Unit, Credit>();
  for (const { line, unit } of gone) {
    const units = left.get(line) ?? line.units.length;
    left.set(line, units - 1);
    const cents = costOf(line, units) - costOf(line, units - 1);
    const goodwill = Math.min(cents, unit.goodwill);
    const both = discountOf(line, units) - discountOf(line, units - 1);
    const codeOf = (count: number): number => halfUp(line.codeDiscount * count, line.boughtUnits);
    const ofCode = Math.min(both, codeOf(units) - codeOf(units - 1));
    credits.set(unit, { credit: cents - goodwill, goodwill, ofCode, ofPromo: both - ofCode });
  }
  return credits;
}

// ── limits and places ────────────────────────────────────────────────────────────────────────────────────────────────

function isOverLimits(lines: readonly Line[], moves: readonly Move[]): boolean {
  const dateOf = (unit: Unit): string => moves.find((move) => move.unit === unit)?.date ?? unit.performanceId;
  return isOverOrderLimit(
    lines.flatMap(({ type, units }) => units.map((unit) => ({ type, date: dateOf(unit), units: 1 }))),
  );
}

interface Seating {
  readonly changes: readonly Change[];
  readonly moves: readonly Move[];
  /** What the order gives up, which is free for it. */
  readonly given: readonly Place[];
}

/** Seats of changed tickets, undefined for those that the service chooses; or the code of a refusal. */
function seatsOf(book: Book, { changes, moves, given }: Seating): ReadonlyMap<string, string | undefined> | string {
  const seats = new Map<string, string | undefined>();
  const named = new Set<string>();
  const free = new Map(
    PERFORMANCES.map(({ id: date }) => {
      const own = given.filter(({ unit }) => unit.performanceId === date).flatMap(({ unit }) => unit.seatIds);
      return [date, new Set([...book.freeSeats(date), ...own])] as const;
    }),
  );
  for (const change of changes) {
    const own = moves.filter((move) => move.change === change);
    if (change.seat_ids !== undefined && own.some(({ type }) => type.locality_id === 'floor'))
      return 'VALIDATION_ERROR';
    if (change.seat_ids !== undefined && change.seat_ids.length !== change.ticket_ids.length)
      return 'SEAT_COUNT_MISMATCH';
    for (const seat of change.seat_ids ?? []) {
      const key = `${own[0]!.date} ${seat}`;
      if (named.has(key)) return 'VALIDATION_ERROR';
      named.add(key);
    }
  }
  const taken = changes.some((change) => {
    const date = moves.find((move) => move.change === change)?.date;
    return change.seat_ids?.some((seat) => !free.get(date!)!.has(seat)) === true;
  });
  if (taken) return 'SEAT_TAKEN';
  for (const change of changes) {
    const own = moves.filter((move) => move.change === change && move.type.locality_id === 'hall');
    const before = own.flatMap(({ unit, date }) => unit.seatIds.map((seat) => ({ date, seat })));
    const canStay =
      change.seat_ids === undefined &&
      before.length === own.flatMap(({ unit }) => unit.ticketIds).length &&
      before.every(({ date, seat }) => free.get(date)!.has(seat) && !named.has(`${date} ${seat}`));
    if (canStay) for (const { date, seat } of before) named.add(`${date} ${seat}`);
    let index = 0;
    for (const { unit } of own) {
      for (const id of unit.ticketIds) {
        seats.set(id, change.seat_ids?.[change.ticket_ids.indexOf(id)] ?? (canStay ? before[index]!.seat : undefined));
        index += 1;
      }
    }
  }
  for (const date of free.keys())
    for (const seat of SEATS) if (named.has(`${date} ${seat}`)) free.get(date)!.delete(seat);
  for (const change of changes) {
    const ids = change.ticket_ids.filter((id) => seats.has(id) && seats.get(id) === undefined);
    const date = moves.find((move) => move.change === change)!.date;
    if (ids.length > longestBlock(free.get(date)!)) return 'INSUFFICIENT_TICKETS';
  }
  return seats;
}

function longestBlock(free: ReadonlySet<string>): number {
  let longest = 0;
  let block = 0;
  for (const [index, seat] of SEATS.entries()) {
    if (index % 5 === 0 || !free.has(seat)) block = 0;
    if (free.has(seat)) block += 1;
    longest = Math.max(longest, block);
  }
  return longest;
}

function refusalOfStock(book: Book, order: Order, lines: readonly Line[], moves: readonly Move[]): Refused | null {
  const units = (of: readonly Line[], date: string, isMeant: (line: Line) => boolean): number =>
    sum(
      of
        .filter(isMeant)
        .map((line) => line.units.filter((unit) => unit.performanceId === date).length * sizeOf(line.type)),
    );
  for (const { date } of moves) {
    const left = (before: number, isMeant: (line: Line) => boolean): number =>
      before + units(order.lines, date, isMeant) - units(lines, date, isMeant);
    const isShort =
      left(book.floorLeft(date), ({ type }) => type.locality_id === 'floor') < 0 ||
      left(book.freeSeats(date).length, ({ type }) => type.locality_id === 'hall') < 0 ||
      TYPES.some(
        (type) =>
          left(book.quotaLeft(type, date), (line) => line.type === type) < 0 ||
          STAGES.some(
            (stage) =>
              left(book.stageLeft(type, stage, date), (line) => line.type === type && line.stage === stage) < 0,
          ),
      );
    if (isShort) return { refusal: 'INSUFFICIENT_TICKETS' };
  }
  return null;
}

// ── the order afterwards ─────────────────────────────────────────────────────────────────────────────────────────────

/** Rule 3. */
function setGoodwill({ lines }: Order, tickets: readonly PlannedTicket[], cents: number): void {
  const unitOf = (id: string): Unit | undefined =>
    lines.flatMap(({ units }) => units).find(({ ticketIds }) => ticketIds.includes(id));
  let left = cents;
  for (const { ticket_id: id, price } of tickets) {
    const part = Math.min(left, price);
    left -= part;
    if (part > 0) unitOf(id)!.goodwill = part;
  }
  const first = tickets.find(({ action }) => action !== 'CANCEL');
  if (left > 0) unitOf(first!.ticket_id)!.goodwill += left;
}

function endOrSplit(after: Order, by: By, before: Order): void {
  splitAnew(after);
  if (after.lines.length === 0) {
    Object.assign(after, {
      status: 'CANCELLED',
      endedBy: by,
      isEndedByAmendment: true,
      lastTickets: [...before.listed],
      lastLines: before.lines,
    });
  } else if (after.status === 'PARTIALLY_PAID' && remainingAmount(after) === 0) after.status = 'CONFIRMED';
}

/** Enters an amendment that happened at once; `seats` are those that the service chose, by the new tickets. */
export function enterAmendment(
  book: Book,
  order: Order,
  plan: Plan,
  request: Request,
  { id, by, newIds, seats }: Done,
): void {
  const { difference, fee } = plan.quoted;
  order.amendments.push({ id, by, difference, fee, status: 'APPLIED', wanted: null });
  apply(book, order, plan, request, { by, newIds, seats });
}

/** Enters an amendment that is yet to be paid, with its session. */
export function enterPending(
  book: Book,
  order: Order,
  plan: Plan,
  request: Request,
  { id, by, sessionId }: Pick<Done, 'id' | 'by'> & { readonly sessionId: string },
): void {
  const { difference, fee, to_pay: toPay } = plan.quoted;
  const amendment: Amendment = {
    id,
    by,
    difference,
    fee,
    status: 'PENDING',
    wanted: {
      lines: plan.after.lines,
      toPay,
      expiresAt: book.now + PAYMENT_MINUTES * MINUTE,
      version: appliedTo(order),
      enter: (newIds, seats) => {
        amendment.status = 'APPLIED';
        apply(book, order, plan, request, { by, newIds, seats });
      },
    },
  };
  order.amendments.push(amendment);
  order.payments.push({ ...paidBeside(toPay), sessionId, amendmentId: id, state: 'WAITING', isCounted: false });
}

const paidBeside = (amount: number): Payment => ({
  sessionId: null,
  amendmentId: '',
  installment: 0,
  amount,
  currency: CURRENCY,
  state: 'PAID',
  isCounted: true,
  paidAt: 0,
  strayOf: null,
});

function apply(
  book: Book,
  order: Order,
  { quoted: { tickets, fee }, after }: Plan,
  { attendees = [] }: Request,
  { by, newIds, seats }: Omit<Done, 'id'>,
): void {
  for (const { ticket_id: id, action } of tickets) {
    const name = attendees.find((each) => each.ticket_id === id)?.attendee.name ?? order.names.get(id);
    if (name !== undefined) order.names.set(newIds.get(id) ?? id, name);
    if (action === 'RENAME') continue;
    book.revoked.push(id);
    order.voided.set(id, action === 'CANCEL' ? 'TICKET_CANCELLED' : 'REPLACED');
    if (action !== 'CANCEL') order.replaces.set(newIds.get(id)!, id);
  }
  for (const { type, units } of after.lines) {
    for (const unit of units) {
      unit.ticketIds = unit.ticketIds.map((id) => newIds.get(id) ?? id);
      if (type.locality_id === 'hall' && unit.seatIds.length === 0) {
        unit.seatIds = unit.ticketIds.map((id) => seats.get(id)!);
      }
    }
  }
  const before = { ...order };
  order.lines = after.lines;
  order.fees += fee;
  order.goodwill = after.goodwill;
  endOrSplit(order, by, before);
  for (const payment of order.payments) {
    const isAsked = payment.amendmentId === null && order.installments[payment.installment - 1] === payment.amount;
    if (payment.state === 'WAITING' && !(isLive(order) && isAsked)) payment.state = 'CLOSED';
  }
  book.askByItself(order);
}
