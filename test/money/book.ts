/**
 * The book: what a sale's money and stock must be by the contract, kept in the simplest way and without any code of the
 * service.
 *
 * Everything is counted anew from plain lists when it is asked for. The caller tells what was asked of the service, in
 * the order in which it happened, and what only the service can say: ids, and the seats that it chose.
 */
import assert from 'node:assert/strict';
import { halfUp, percent, split, sum } from './cents.ts';
import {
  CODES,
  CURRENCY,
  FLOOR_CAPACITY,
  MAX_PER_EMAIL,
  PAYMENT_MINUTES,
  PERFORMANCES,
  SEATS,
  STAGES,
  TYPES,
  type Code,
  type Stage,
  type Terms,
  type TicketType,
} from './event.ts';

// ── what is asked ────────────────────────────────────────────────────────────────────────────────────────────────────

export interface ItemRequest {
  readonly ticket_type_id: string;
  readonly selling_stage_id: string;
  readonly performance_id: string;
  readonly quantity: number;
  readonly seat_ids?: readonly string[];
  readonly discount_code?: string;
  readonly bar_perks?: readonly { readonly bar_perk_id: string; readonly quantity: number }[];
}

export interface Purchase {
  readonly items: readonly ItemRequest[];
  readonly email: string;
  readonly promo_code?: string;
  readonly installment_count: number;
}

// ── what is kept ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** What one price buys: one ticket, or those of a group. */
export interface Unit {
  performanceId: string;
  seatIds: string[];
  /** Their ids, once they are issued. */
  ticketIds: string[];
  /** Of each perk, in the shares that the cards show. */
  readonly perks: ReadonlyMap<string, number>;
  /** What of its price an amendment did not charge. */
  goodwill: number;
}

/** Units that were bought together at one price. */
export interface Line {
  readonly type: TicketType;
  readonly stage: Stage;
  readonly price: number;
  /** How many units it had at first; `discount` is of all these. */
  readonly boughtUnits: number;
  readonly codeDiscount: number;
  readonly promoDiscount: number;
  readonly code: Code | null;
  /** The order's code, where it is for these units. */
  readonly promo: Code | null;
  /** Those that the order still has. */
  units: Unit[];
}

export interface Payment {
  readonly sessionId: string | null;
  readonly installment: number;
  readonly amount: number;
  readonly currency: string;
  state: 'WAITING' | 'CLOSED' | 'DECLINED' | 'PAID';
  /** Whether the order took its money. */
  isCounted: boolean;
  paidAt: number;
  /** The session of money that nobody asked for. */
  readonly strayOf: string | null;
  /** The amendment that it pays for; null for an installment. */
  readonly amendmentId: string | null;
}

export interface Refund {
  id: string;
  readonly payment: Payment | null;
  amount: number;
  readonly currency: string;
  status: 'PENDING' | 'SUCCEEDED' | 'FAILED' | 'NEEDS_OPERATOR';
  readonly isExecuted: boolean;
  /** What the provider has of it. */
  there: 'NOTHING' | 'PENDING' | 'SUCCEEDED' | 'FAILED';
  /** When it is tried or asked about next, while it is PENDING. */
  nextTryAt: number;
  /** It had failed, but the provider said at a later try that it was given back. */
  isFoundAgain: boolean;
}

export type By = 'BUYER' | 'OPERATOR';

export interface Amendment {
  readonly id: string;
  readonly by: By;
  readonly difference: number;
  readonly fee: number;
  status: 'APPLIED' | 'PENDING' | 'EXPIRED' | 'CANCELLED';
  /** Of one that is to be paid: what it makes of the order, which was amended so often then. */
  readonly wanted: {
    /** It was paid: what the service issued and chose. */
    enter(newIds: ReadonlyMap<string, string>, seats: ReadonlyMap<string, string>): void;

    readonly lines: readonly Line[];
    readonly toPay: number;
    readonly expiresAt: number;
    readonly version: number;
  } | null;
}

export interface Order {
  id: string;
  readonly email: string;
  readonly placedAt: number;
  readonly expiresAt: number;
  status: 'PENDING' | 'PARTIALLY_PAID' | 'CONFIRMED' | 'EXPIRED' | 'CANCELLED';
  endedBy: 'BUYER' | 'OPERATOR' | null;
  /** Its last tickets were given back. */
  isEndedByAmendment: boolean;
  /** Tickets are issued with the first money, and stay when the order ends. */
  isIssued: boolean;
  lines: readonly Line[];
  /** Amounts in the order of their payment, those paid already too. */
  installments: number[];
  payments: Payment[];
  readonly refunds: Refund[];
  fees: number;
  goodwill: number;
  /** What an order had before its amendments left it no ticket. */
  lastTickets: string[];
  lastLines: readonly Line[];
  /** Tickets as the service lists them: valid ones, or the last. */
  listed: readonly string[];
  readonly amendments: Amendment[];
  /** Tickets that amendments made void, by the reason. */
  readonly voided: Map<string, 'TICKET_CANCELLED' | 'REPLACED'>;
  /** The ticket that one was issued for. */
  readonly replaces: Map<string, string>;
  readonly names: Map<string, string>;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

export class Book {
  readonly orders: Order[] = [];
  /** Tickets in the order in which they became void. */
  readonly revoked: string[] = [];
  readonly terms: Terms;
  now: number;

  constructor(terms: Terms, now: number) {
    this.terms = terms;
    this.now = now;
  }

  // ── purchases ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The code of the refusal that a checkout must get, null where it must be taken. */
  refusalOf(asked: Purchase): string | null {
    const { items, email, promo_code: promo } = asked;
    const isSold = ({ ticket_type_id: type, selling_stage_id: stage }: ItemRequest): boolean =>
      priceIn(stage, type) !== undefined && this.isOpen(stageNamed(stage));
    if (!items.every(isSold)) return 'TICKET_NOT_ON_SALE';
    const bought = items.map((item) => ({
      type: typeNamed(item.ticket_type_id),
      date: item.performance_id,
      units: item.quantity,
    }));
    if (isOverOrderLimit(bought)) return 'MAX_PER_ORDER_EXCEEDED';
    const tickets = sum(items.map(ticketsOf));
    if (this.ticketsOfAddress(email) + tickets > MAX_PER_EMAIL) return 'MAX_TICKETS_PER_EMAIL_EXCEEDED';
    const ofItems = items.filter((item) => item.discount_code !== undefined);
    if (ofItems.some((item) => !isFor(codeNamed(item.discount_code!), item.ticket_type_id)))
      return 'PROMO_CODE_INVALID';
    if (promo !== undefined && !items.some((item) => isFor(codeNamed(promo), item.ticket_type_id))) {
      return 'PROMO_CODE_INVALID';
    }
    const codes = new Set([...ofItems.map((item) => item.discount_code!), ...(promo === undefined ? [] : [promo])]);
    for (const code of codes) if (this.usesLeft(code) === 0) return 'PROMO_CODE_EXHAUSTED';
    return this.#refusalOfPerks(items) ?? this.#refusalOfStock(items);
  }

  #refusalOfPerks(items: readonly ItemRequest[]): string | null {
    const wanted = new Map<string, number>();
    for (const item of items) {
      for (const { bar_perk_id: id, quantity } of item.bar_perks ?? []) {
        const most = perkNamed(id).max_per_ticket ?? Infinity;
        if (quantity > most * ticketsOf(item)) return 'BAR_PERK_LIMIT_EXCEEDED';
        wanted.set(id, (wanted.get(id) ?? 0) + quantity);
      }
    }
    for (const [id, quantity] of wanted) if (quantity > this.perksLeft(id)) return 'BAR_PERK_SOLD_OUT';
    return null;
  }

  #refusalOfStock(items: readonly ItemRequest[]): string | null {
    const places = new Set<string>();
    for (const { performance_id: date, seat_ids: seats = [] } of items) {
      for (const seat of seats) {
        if (!this.freeSeats(date).includes(seat)) return 'SEAT_TAKEN';
        places.add(`${date} ${seat}`);
      }
    }
    for (const { id: date } of PERFORMANCES) {
      const here = items.filter((item) => item.performance_id === date);
      for (const type of TYPES) {
        const ofType = sum(here.filter((item) => item.ticket_type_id === type.id).map(ticketsOf));
        if (ofType > this.quotaLeft(type, date)) return 'INSUFFICIENT_TICKETS';
        for (const stage of STAGES) {
          const ofStage = here.filter((item) => item.ticket_type_id === type.id && item.selling_stage_id === stage.id);
          if (sum(ofStage.map(ticketsOf)) > this.stageLeft(type, stage, date)) return 'INSUFFICIENT_TICKETS';
        }
      }
      const onFloor = sum(here.filter((item) => typeNamed(item.ticket_type_id).locality_id === 'floor').map(ticketsOf));
      if (onFloor > this.floorLeft(date)) return 'INSUFFICIENT_TICKETS';
    }
    return null;
  }

  /** Enters an order that was placed; free ones are paid at once. */
  place(id: string, asked: Purchase): Order {
    const promo = asked.promo_code === undefined ? null : codeNamed(asked.promo_code);
    let promoAmount = promo?.amount_off ?? 0;
    const lines = asked.items.map((item) => {
      const type = typeNamed(item.ticket_type_id);
      const price = priceIn(item.selling_stage_id, type.id)!;
      const code = item.discount_code === undefined ? null : codeNamed(item.discount_code);
      const codeDiscount = takenOff(code, price * item.quantity, code?.amount_off ?? 0);
      const ofPromo = isFor(promo, type.id) ? promo : null;
      const promoDiscount = takenOff(ofPromo, price * item.quantity - codeDiscount, promoAmount);
      promoAmount -= promo?.amount_off === undefined ? 0 : promoDiscount;
      const stage = stageNamed(item.selling_stage_id);
      const units = unitsOf(item);
      return {
        type,
        stage,
        price,
        boughtUnits: item.quantity,
        codeDiscount,
        promoDiscount,
        code,
        promo: ofPromo,
        units,
      };
    });
    const order: Order = {
      id,
      email: asked.email,
      placedAt: this.now,
      expiresAt: this.now + PAYMENT_MINUTES * MINUTE,
      status: 'PENDING',
      endedBy: null,
      isEndedByAmendment: false,
      isIssued: false,
      lines,
      installments: [],
      payments: [],
      refunds: [],
      fees: 0,
      goodwill: 0,
      lastTickets: [],
      lastLines: [],
      listed: [],
      amendments: [],
      voided: new Map(),
      replaces: new Map(),
      names: new Map(),
    };
    const total = totalOf(order);
    if (total === 0) Object.assign(order, { status: 'CONFIRMED', isIssued: true });
    else order.installments = split(total, asked.installment_count);
    this.orders.push(order);
    return order;
  }

  // ── payments ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The payment that a buyer is sent to: one that waits already, or a new try; null where nothing is to be paid. */
  toPay(
    order: Order,
  ): { readonly waiting: Payment | null; readonly installment: number; readonly amount: number } | null {
    const pending = pendingOf(order);
    if (pending !== null) {
      const waiting = order.payments.findLast(
        ({ amendmentId, state }) => amendmentId === pending.id && state === 'WAITING',
      );
      return { waiting: waiting ?? null, installment: 0, amount: pending.wanted!.toPay };
    }
    if (order.status !== 'PENDING' && order.status !== 'PARTIALLY_PAID') return null;
    const installment = paidInstallments(order) + 1;
    const waiting = order.payments.findLast(
      (payment) => payment.installment === installment && payment.state === 'WAITING',
    );
    return { waiting: waiting ?? null, installment, amount: order.installments[installment - 1]! };
  }

  /** Enters the session of what is to be paid next. */
  open(order: Order, sessionId: string): Payment {
    const { waiting, installment, amount } = this.toPay(order)!;
    if (waiting !== null) return waiting;
    const payment: Payment = {
      amendmentId: pendingOf(order)?.id ?? null,
      sessionId,
      installment,
      amount,
      currency: CURRENCY,
      state: 'WAITING',
      isCounted: false,
      paidAt: 0,
      strayOf: null,
    };
    order.payments.push(payment);
    return payment;
  }

  /** A session was declined or cancelled at the provider. */
  close(order: Order, payment: Payment, outcome: 'declined' | 'cancelled'): void {
    if (payment.state !== 'WAITING') return;
    if (outcome === 'cancelled' && order.status === 'PENDING') return this.#end(order, 'CANCELLED', 'BUYER');
    payment.state = outcome === 'declined' ? 'DECLINED' : 'CLOSED';
    const pending = pendingOf(order);
    if (outcome === 'cancelled' && pending !== null && payment.amendmentId === pending.id)
      this.endPending(order, 'CANCELLED');
  }

  /** A pending amendment ends without being paid: what it held returns to sale. */
  endPending(order: Order, status: 'EXPIRED' | 'CANCELLED'): void {
    const pending = pendingOf(order);
    if (pending === null) return;
    pending.status = status;
    for (const payment of order.payments) {
      if (payment.amendmentId === pending.id && payment.state === 'WAITING') payment.state = 'CLOSED';
    }
  }

  /** The amendment that money of a payment brings about; null where the money is due back. */
  #broughtBy(order: Order, { amendmentId }: Payment): Amendment | null {
    const amendment = order.amendments.find(({ id }) => id === amendmentId)!;
    if (amendment.status === 'PENDING') return amendment;
    const isPaid = order.status === 'CONFIRMED' || order.status === 'PARTIALLY_PAID';
    const isSame = amendment.wanted?.version === appliedTo(order) && pendingOf(order) === null;
    if (amendment.status === 'APPLIED' || !isPaid || !isSame) return null;
    return this.#hasPlacesFor(order, amendment.wanted.lines) ? amendment : null;
  }

  /** Whether an order can have lines in place of its own. */
  #hasPlacesFor(order: Order, lines: readonly Line[]): boolean {
    return PERFORMANCES.every(({ id: date }) => {
      const left = (before: number, isMeant: (line: Line) => boolean): boolean =>
        beyond(order, lines, date, isMeant) <= Math.max(0, before);
      const own = order.lines
        .flatMap(({ units }) => units)
        .flatMap((unit) => (unit.performanceId === date ? unit.seatIds : []));
      const seats = lines
        .flatMap(({ units }) => units)
        .flatMap((unit) => (unit.performanceId === date ? unit.seatIds : []));
      const free = new Set([...this.freeSeats(date), ...own]);
      return (
        seats.every((seat) => free.has(seat)) &&
        left(this.floorLeft(date), isOnFloor) &&
        TYPES.every(
          (type) =>
            left(this.quotaLeft(type, date), (line) => line.type === type) &&
            STAGES.every((stage) =>
              left(this.stageLeft(type, stage, date), (line) => line.type === type && line.stage === stage),
            ),
        )
      );
    });
  }

  /** Money came through a session. The amendment that it brings about, which is to be entered. */
  pay(order: Order, payment: Payment, amount = payment.amount, currency = payment.currency): Amendment | null {
    const isOfSession = ({ sessionId, strayOf }: Payment): boolean => (sessionId ?? strayOf) === payment.sessionId;
    const isSame = (known: Payment): boolean => known.amount === amount && known.currency === currency;
    if (order.payments.some((known) => known.state === 'PAID' && isOfSession(known) && isSame(known))) return null;
    if (amount !== payment.amount || currency !== payment.currency || payment.state === 'PAID') {
      const { installment, amendmentId } = payment;
      const stray = { installment, amendmentId, amount, currency, state: 'PAID', isCounted: false } as const;
      order.payments.push({ ...stray, sessionId: null, paidAt: this.now, strayOf: payment.sessionId });
    } else {
      const brought = payment.amendmentId === null ? null : this.#broughtBy(order, payment);
      const isTaken = payment.amendmentId === null ? this.#isWanted(order, payment) : brought !== null;
      Object.assign(payment, { state: 'PAID', isCounted: isTaken, paidAt: this.now });
      if (brought !== null) return brought;
      if (isTaken) {
        splitAnew(order);
        const isLast = paidInstallments(order) === order.installments.length;
        Object.assign(order, { isIssued: true, endedBy: null, status: isLast ? 'CONFIRMED' : 'PARTIALLY_PAID' });
      }
    }
    this.askByItself(order);
    return null;
  }

  /** Whether the order can use the money of a payment: late money only if all of it can still be had. */
  #isWanted(order: Order, { installment }: Payment): boolean {
    if (order.payments.some((payment) => payment.isCounted && payment.installment === installment)) return false;
    if (isLive(order)) return remainingAmount(order) > 0;
    if (order.status === 'CANCELLED' && (order.endedBy !== 'BUYER' || order.isEndedByAmendment)) return false;
    const tickets = sum(order.lines.map(ticketsOfLine));
    if (this.ticketsOfAddress(order.email) + tickets > MAX_PER_EMAIL) return false;
    for (const code of codesOf(order)) if (this.usesLeft(code) === 0) return false;
    for (const [perk, quantity] of perksOf(order)) if (quantity > this.perksLeft(perk)) return false;
    return PERFORMANCES.every(({ id: date }) => {
      const units = (type: TicketType) =>
        order.lines.filter((line) => line.type === type).flatMap((line) => line.units);
      const here = (type: TicketType) => units(type).filter(({ performanceId }) => performanceId === date);
      const count = (type: TicketType) => here(type).length * sizeOf(type);
      const onFloor = TYPES.filter(({ locality_id: locality }) => locality === 'floor');
      return (
        sum(onFloor.map(count)) <= this.floorLeft(date) &&
        TYPES.every((type) => count(type) <= this.quotaLeft(type, date)) &&
        order.lines.every(({ type, stage }) => {
          const same = order.lines.filter((line) => line.type === type && line.stage === stage);
          const tickets = sum(
            same.flatMap((line) => line.units).map((unit) => (unit.performanceId === date ? sizeOf(type) : 0)),
          );
          return tickets <= this.stageLeft(type, stage, date);
        }) &&
        TYPES.flatMap(here).every(({ seatIds }) => seatIds.every((seat) => this.freeSeats(date).includes(seat)))
      );
    });
  }

  // ── ends ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Time passes; payment windows run out. */
  wait(ms: number): void {
    this.now += ms;
    for (const order of this.orders) {
      if (order.status === 'PENDING' && order.expiresAt <= this.now) this.#end(order, 'EXPIRED', null);
      if ((pendingOf(order)?.wanted!.expiresAt ?? Infinity) <= this.now) this.endPending(order, 'EXPIRED');
    }
  }

  cancelByOperator(order: Order): void {
    if (isLive(order)) this.#end(order, 'CANCELLED', 'OPERATOR');
  }

  #end(order: Order, status: 'EXPIRED' | 'CANCELLED', by: Order['endedBy']): void {
    this.endPending(order, 'CANCELLED');
    order.status = status;
    order.endedBy = by;
    for (const payment of order.payments) if (payment.state === 'WAITING') payment.state = 'CLOSED';
    this.revoked.push(...ticketIdsOf(order));
    if (status === 'CANCELLED') this.askByItself(order);
  }

  // ── refunds ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** How much more may be given back in a currency: recorded, pending and executed refunds never exceed what came. */
  refundable(order: Order, currency: string, payment: Payment | null = null): number {
    const all = sum(paidIn(order, currency)) - sum(goneIn(order, currency, () => true));
    const ofPayment = payment === null ? all : roomOf(order, payment);
    return Math.max(0, Math.min(all, ofPayment));
  }

  /** An operator recorded money that was given back. */
  note(order: Order, id: string, amount: number, currency: string): void {
    order.refunds.push({ ...NOTED, id, payment: null, amount, currency });
  }

  /** What `execute` without an amount asks for: what is due and not on its way, by currency. */
  toAsk(
    order: Order,
    payment: Payment | null = null,
  ): readonly { readonly currency: string; readonly amount: number }[] {
    const currencies = payment === null ? currenciesOf(order) : [payment.currency];
    return currencies.flatMap((currency) => {
      const due = refundDue(order, currency) - refundPending(order, currency);
      const amount = Math.min(due, this.refundable(order, currency, payment));
      return amount > 0 ? [{ currency, amount }] : [];
    });
  }

  /** Enters refunds that were asked for, over the PAID payments, newest first. Their ids come later. */
  execute(order: Order, amount: number | null, named: Payment | null): void {
    const asked =
      amount === null ? this.toAsk(order, named) : [{ currency: named?.currency ?? CURRENCY, amount } as const];
    for (const { currency, amount: whole } of asked) {
      const paid = order.payments.filter((payment) => payment.state === 'PAID' && payment.currency === currency);
      const newestFirst = paid.reverse().sort((one, other) => other.paidAt - one.paidAt);
      let left = whole;
      for (const payment of named === null ? newestFirst : [named]) {
        const part = Math.min(left, roomOf(order, payment));
        if (part === 0) continue;
        left -= part;
        order.refunds.push({ ...ASKED, payment, amount: part, currency, nextTryAt: this.now });
      }
      assert.equal(left, 0, 'the book has a payment for every cent that may be given back');
    }
  }

  askByItself(order: Order): void {
    if (this.terms.refunds === 'AUTOMATIC') this.execute(order, null, null);
  }

  /** The provider was asked for every refund whose try is due, and each came to the same. */
  tryAll(outcome: 'succeeded' | 'pending' | 'failed' | 'refused' | 'lost'): void {
    for (const order of this.orders) {
      for (const refund of [...order.refunds]) {
        if (refund.status !== 'PENDING' || refund.nextTryAt > this.now) continue;
        if (refund.there !== 'NOTHING') this.#find(refund);
        else if (this.#compare(order, refund)) this.#ask(refund, outcome);
      }
    }
  }

  /**
   * Compares a refund with what the provider says was given back through its session: what had failed by the book is
   * recorded and taken off. Whether something is left to ask for.
   */
  #compare(order: Order, refund: Refund): boolean {
    const { currency } = refund;
    const session = sessionOf(refund);
    const others = order.refunds.filter(
      (each) => each.currency === currency && sessionOf(each) === session && isThere(each),
    );
    let takenOff = 0;
    for (const other of others.filter(({ status, isFoundAgain }) => status === 'FAILED' && !isFoundAgain)) {
      const left = sum(paidIn(order, currency)) - refunded(order, currency);
      other.isFoundAgain = true;
      takenOff += other.amount;
      if (left > 0) this.note(order, '', Math.min(left, other.amount), currency);
    }
    const reserved = refundPending(order, currency) - refund.amount;
    const unreserved = sum(paidIn(order, currency)) - refunded(order, currency) - reserved;
    const paid = order.payments.filter((each) => each.state === 'PAID' && each.currency === currency);
    const through = paid.filter(({ sessionId, strayOf }) => (sessionId ?? strayOf) === session);
    const leftThere = sum(through.map(({ amount }) => amount)) - sum(others.map(({ amount }) => amount));
    const toAsk = Math.min(refund.amount - takenOff, unreserved, leftThere);
    if (toAsk > 0) refund.amount = toAsk;
    else refund.status = 'FAILED';
    return toAsk > 0;
  }

  #ask(refund: Refund, outcome: 'succeeded' | 'pending' | 'failed' | 'refused' | 'lost'): void {
    if (outcome === 'lost') {
      refund.there = 'SUCCEEDED';
      refund.nextTryAt = this.now + 5_000;
    } else if (outcome === 'refused') refund.status = 'NEEDS_OPERATOR';
    else {
      refund.there = outcome.toUpperCase() as Refund['there'];
      this.#find(refund);
    }
  }

  #find(refund: Refund): void {
    if (refund.there === 'PENDING') refund.nextTryAt = this.now + 24 * HOUR;
    else refund.status = refund.there as 'SUCCEEDED' | 'FAILED';
  }

  resolve(refund: Refund, outcome: 'RETRY' | 'GIVEN_BACK' | 'NOT_GIVEN_BACK'): void {
    if (outcome === 'RETRY') Object.assign(refund, { status: 'PENDING', nextTryAt: this.now });
    else refund.status = outcome === 'GIVEN_BACK' ? 'SUCCEEDED' : 'FAILED';
  }

  /** The provider said what became of a refund that it worked on. */
  settleRefund(refund: Refund, outcome: 'succeeded' | 'failed'): void {
    refund.there = outcome === 'succeeded' ? 'SUCCEEDED' : 'FAILED';
    this.#find(refund);
  }

  /** A refund that had succeeded has failed, as a report says; the provider's own list says something else. */
  failRefund(refund: Refund): void {
    refund.status = 'FAILED';
  }

  /** The sums of all refunds and of what is due, by currency. */
  refundSums(): Readonly<Record<string, readonly { amount: number; currency: string; count: number }[]>> {
    const currencies = [...new Set(this.orders.flatMap(currenciesOf))].toSorted();
    const add = (amountsIn: (currency: string) => readonly number[]) =>
      currencies
        .map((currency) => ({ currency, amounts: amountsIn(currency).filter((amount) => amount > 0) }))
        .filter(({ amounts }) => amounts.length > 0)
        .map(({ currency, amounts }) => ({ amount: sum(amounts), currency, count: amounts.length }));
    const ofStatus = (wanted: Refund['status']) =>
      add((currency) =>
        this.orders
          .flatMap(({ refunds }) => refunds)
          .filter((refund) => refund.status === wanted && refund.currency === currency)
          .map(({ amount }) => amount),
      );
    return {
      due: add((currency) => this.orders.map((order) => refundDue(order, currency))),
      to_ask: add((currency) =>
        this.orders.map((order) => refundDue(order, currency) - refundPending(order, currency)),
      ),
      pending: ofStatus('PENDING'),
      succeeded: ofStatus('SUCCEEDED'),
      failed: ofStatus('FAILED'),
      needs_operator: ofStatus('NEEDS_OPERATOR'),
    };
  }

  /** All money of the event in a currency. */
  money(currency: string): Readonly<Record<'paid' | 'back' | 'pending' | 'fees', number>> {
    const kept = this.orders.filter((order) => currency === CURRENCY && isKept(order));
    return {
      fees: sum(kept.map(({ fees }) => fees)),
      paid: sum(this.orders.flatMap((order) => paidIn(order, currency))),
      back: sum(this.orders.map((order) => refunded(order, currency))),
      pending: sum(this.orders.map((order) => refundPending(order, currency))),
    };
  }

  // ── stock ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  liveUnits(date: string, statuses: readonly Order['status'][] = LIVE): { readonly line: Line; readonly unit: Unit }[] {
    return this.orders
      .filter(({ status }) => statuses.includes(status))
      .flatMap(({ lines }) => lines.flatMap((line) => line.units.map((unit) => ({ line, unit }))))
      .filter(({ unit }) => unit.performanceId === date);
  }

  freeSeats(date: string): readonly string[] {
    const taken = new Set([...this.liveUnits(date).flatMap(({ unit }) => unit.seatIds), ...this.#seatsWanted(date)]);
    return SEATS.filter((seat) => !taken.has(seat));
  }

  /** Seats that pending amendments hold beyond those of their orders. */
  #seatsWanted(date: string): readonly string[] {
    const on = (lines: readonly Line[]): string[] =>
      lines.flatMap(({ units }) => units).flatMap((unit) => (unit.performanceId === date ? unit.seatIds : []));
    return this.orders.flatMap((order) => {
      const own = new Set(on(order.lines));
      return on(pendingOf(order)?.wanted!.lines ?? []).filter((seat) => !own.has(seat));
    });
  }

  /** Tickets that pending amendments hold beyond those of their orders, of lines that are meant. */
  #wanted(date: string, isMeant: (line: Line) => boolean): number {
    const all = this.orders.map((order) => beyond(order, pendingOf(order)?.wanted!.lines ?? [], date, isMeant));
    return sum(all.map((tickets) => Math.max(0, tickets)));
  }

  takenSeats(date: string): { readonly held: readonly string[]; readonly sold: readonly string[] } {
    const seats = (statuses: readonly Order['status'][]): string[] =>
      this.liveUnits(date, statuses)
        .flatMap(({ unit }) => unit.seatIds)
        .toSorted();
    const held = [...seats(['PENDING']), ...this.#seatsWanted(date)].toSorted();
    return { held, sold: seats(['PARTIALLY_PAID', 'CONFIRMED']) };
  }

  floorLeft(date: string): number {
    const onFloor = this.liveUnits(date).filter(({ line }) => line.type.locality_id === 'floor');
    return FLOOR_CAPACITY - sum(onFloor.map(({ line }) => sizeOf(line.type))) - this.#wanted(date, isOnFloor);
  }

  quotaLeft(type: TicketType, date: string): number {
    const taken = this.liveUnits(date).filter(({ line }) => line.type === type).length * sizeOf(type);
    return (type.quota ?? Infinity) - taken - this.#wanted(date, (line) => line.type === type);
  }

  stageLeft(type: TicketType, stage: Stage, date: string): number {
    const taken = this.liveUnits(date).filter(({ line }) => line.type === type && line.stage === stage);
    const wanted = this.#wanted(date, (line) => line.type === type && line.stage === stage);
    return (stage.quotas?.[type.id] ?? Infinity) - taken.length * sizeOf(type) - wanted;
  }

  isOpen({ ends_at: end }: Stage): boolean {
    return end === undefined || this.now < Date.parse(end);
  }

  /** What a row of the payload says: tickets left, and those that wait for money. */
  availability(
    type: TicketType,
    stage: Stage,
    date: string,
  ): { readonly available: number; readonly reserved: number } {
    const places = type.locality_id === 'floor' ? this.floorLeft(date) : this.freeSeats(date).length;
    const held = this.liveUnits(date, ['PENDING']).filter(({ line }) => line.type === type && line.stage === stage);
    return {
      available: Math.min(places, this.quotaLeft(type, date), this.stageLeft(type, stage, date)),
      reserved: held.length * sizeOf(type) + this.#wanted(date, (line) => line.type === type && line.stage === stage),
    };
  }

  /** The counters of a date as operators see them. */
  counters(date: string): { readonly available: number; readonly held: number; readonly sold: number } {
    const count = (statuses: readonly Order['status'][]): number =>
      sum(this.liveUnits(date, statuses).map(({ line }) => sizeOf(line.type)));
    const wanted = this.#wanted(date, isOnFloor) + this.#seatsWanted(date).length;
    const [held, sold] = [count(['PENDING']) + wanted, count(['PARTIALLY_PAID', 'CONFIRMED'])];
    return { available: FLOOR_CAPACITY + SEATS.length - held - sold, held, sold };
  }

  ticketsOfAddress(email: string): number {
    const own = this.orders.filter((order) => isLive(order) && addressOf(order.email) === addressOf(email));
    return sum(own.flatMap(({ lines }) => lines.map(ticketsOfLine)));
  }

  usesLeft(code: string): number {
    const users = this.orders.filter((order) => isLive(order) && codesOf(order).has(code));
    return (codeNamed(code)!.max_uses ?? Infinity) - users.length;
  }

  perksLeft(id: string): number {
    return (
      (perkNamed(id).stock ?? Infinity) - sum(this.orders.filter(isLive).map((order) => perksOf(order).get(id) ?? 0))
    );
  }
}

// ── the definition ───────────────────────────────────────────────────────────────────────────────────────────────────

export const typeNamed = (id: string): TicketType => TYPES.find((type) => type.id === id)!;
export const stageNamed = (id: string): Stage => STAGES.find((stage) => stage.id === id)!;
export const sizeOf = ({ group_size: size = 1 }: TicketType): number => size;
const codeNamed = (text: string): Code | null => CODES.find(({ code }) => code === text) ?? null;
const perkNamed = (id: string) => TYPES.flatMap(({ barPerks = [] }) => barPerks).find((perk) => perk.id === id)!;
export const priceIn = (stage: string, type: string): number | undefined => stageNamed(stage).prices[type];
const ticketsOf = ({ quantity, ticket_type_id: id }: ItemRequest): number => quantity * sizeOf(typeNamed(id));

export function isFor(code: Code | null, typeId: string): boolean {
  return code !== null && (code.ticket_type_ids?.includes(typeId) ?? true);
}

/** Trimmed, case-folded and without a `+tag`. */
const addressOf = (email: string): string =>
  email
    .trim()
    .toLowerCase()
    .replace(/\+[^@]*@/, '@');

// ── amounts ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What a code takes off; of an amount code at most what it still has. */
export function takenOff(code: Code | null, cents: number, amountLeft: number): number {
  if (code === null) return 0;
  return code.percent_off === undefined ? Math.min(cents, amountLeft) : percent(cents, code.percent_off);
}

/** The units of an item, with their shares of its perks: what cannot be shared equally goes to the first tickets. */
function unitsOf(item: ItemRequest): Unit[] {
  const size = sizeOf(typeNamed(item.ticket_type_id));
  const tickets = ticketsOf(item);
  const shareOf = (quantity: number, ticket: number): number =>
    Math.floor(quantity / tickets) + (ticket < quantity % tickets ? 1 : 0);
  return Array.from({ length: item.quantity }, (_, index) => {
    const places = Array.from({ length: size }, (_ticket, offset) => index * size + offset);
    const perks = (item.bar_perks ?? []).map(
      ({ bar_perk_id: id, quantity }) => [id, sum(places.map((place) => shareOf(quantity, place)))] as const,
    );
    const seatIds = (item.seat_ids ?? []).slice(index * size, (index + 1) * size);
    return { performanceId: item.performance_id, seatIds, ticketIds: [], perks: new Map(perks), goodwill: 0 };
  });
}

/** The discount of `units` of a line: that of the purchase × k / n, half up, of both codes together. */
export function discountOf({ codeDiscount, promoDiscount, boughtUnits }: Line, units: number): number {
  return halfUp((codeDiscount + promoDiscount) * units, boughtUnits);
}

/** What a number of a line's units cost without perks. */
export function costOf(line: Line, units = line.units.length): number {
  return line.price * units - discountOf(line, units);
}

export function costOfPerks(units: readonly Unit[]): number {
  return sum(units.flatMap(({ perks }) => [...perks].map(([id, quantity]) => perkNamed(id).price * quantity)));
}

/** Units × price − discounts + perks + fees − goodwill. */
export function totalOf({ lines, fees, goodwill }: Pick<Order, 'lines' | 'fees' | 'goodwill'>): number {
  return Math.max(0, sum(lines.map((line) => costOf(line) + costOfPerks(line.units))) + fees - goodwill);
}

/** What is left to pay, split over the installments that are not paid. */
export function splitAnew(order: Order): void {
  const installments = order.payments.filter(({ amendmentId }) => amendmentId === null);
  const paid = installments.filter(({ isCounted }) => isCounted).map(({ amount }) => amount);
  const left = remainingAmount(order);
  const unpaid = Math.max(1, order.installments.length - paid.length);
  order.installments = left === 0 ? paid : [...paid, ...split(left, Math.min(left, unpaid))];
}

/** Whether units are more than an order may have of their type on a date. */
export function isOverOrderLimit(
  all: readonly { readonly type: TicketType; readonly date: string; readonly units: number }[],
): boolean {
  return all.some(({ type, date }) => {
    const same = all.filter((each) => each.type === type && each.date === date);
    return sum(same.map(({ units }) => units)) > (type.max_per_order ?? Infinity);
  });
}

// ── one order ────────────────────────────────────────────────────────────────────────────────────────────────────────

const LIVE: readonly Order['status'][] = ['PENDING', 'PARTIALLY_PAID', 'CONFIRMED'];
const NOTED = { status: 'SUCCEEDED', isExecuted: false, there: 'NOTHING', nextTryAt: 0, isFoundAgain: false } as const;
const ASKED = { id: '', status: 'PENDING', isExecuted: true, there: 'NOTHING', isFoundAgain: false } as const;

export const isLive = ({ status }: Order): boolean => LIVE.includes(status);
export const ticketIdsOf = ({ lines }: Order): string[] =>
  lines.flatMap(({ units }) => units.flatMap(({ ticketIds }) => ticketIds));
export const ticketsOfLine = ({ type, units }: Line): number => units.length * sizeOf(type);
export const paidInstallments = ({ payments }: Order): number =>
  payments.filter(({ isCounted, amendmentId }) => isCounted && amendmentId === null).length;

/** The amendment of an order that is yet to be paid. */
export const pendingOf = ({ amendments }: Order): Amendment | null =>
  amendments.find(({ status }) => status === 'PENDING') ?? null;

/** How many amendments were applied to an order. */
export const appliedTo = ({ amendments }: Order): number =>
  amendments.filter(({ status }) => status === 'APPLIED').length;

const isOnFloor = ({ type }: Line): boolean => type.locality_id === 'floor';

/** How many tickets of a date lines have more than those of an order, of lines that are meant. */
function beyond(order: Order, lines: readonly Line[], date: string, isMeant: (line: Line) => boolean): number {
  const count = (of: readonly Line[]): number =>
    sum(
      of
        .filter(isMeant)
        .map(({ type, units }) => units.filter((unit) => unit.performanceId === date).length * sizeOf(type)),
    );
  return count(lines) - count(order.lines);
}

/** The codes that something of the order has. */
function codesOf({ lines }: Order): ReadonlySet<string> {
  const all = lines.filter(({ units }) => units.length > 0).flatMap(({ code, promo }) => [code, promo]);
  return new Set(all.flatMap((code) => code?.code ?? []));
}

function perksOf({ lines }: Order): ReadonlyMap<string, number> {
  const all = new Map<string, number>();
  for (const { perks } of lines.flatMap(({ units }) => units)) {
    for (const [id, quantity] of perks) all.set(id, (all.get(id) ?? 0) + quantity);
  }
  return all;
}

const paidIn = ({ payments }: Order, currency: string): number[] =>
  payments.filter((each) => each.state === 'PAID' && each.currency === currency).map(({ amount }) => amount);

/** What was given back or is on its way, of the refunds that `isMeant`. */
const goneIn = ({ refunds }: Order, currency: string, isMeant: (refund: Refund) => boolean): number[] =>
  refunds
    .filter((each) => each.currency === currency && each.status !== 'FAILED' && isMeant(each))
    .map(({ amount }) => amount);

const sessionOf = ({ payment }: Refund): string | null => payment && (payment.sessionId ?? payment.strayOf);
const isThere = ({ there }: Refund): boolean => there === 'PENDING' || there === 'SUCCEEDED';

/** What of a payment was not asked for. */
const roomOf = (order: Order, payment: Payment): number =>
  payment.amount - sum(goneIn(order, payment.currency, (refund) => refund.payment === payment));

export const currenciesOf = ({ payments }: Order): string[] => [
  ...new Set([CURRENCY, ...payments.filter(({ state }) => state === 'PAID').map(({ currency }) => currency)]),
];

export const paidAmount = (order: Order): number => sum(paidIn(order, CURRENCY));
const countedAmount = ({ payments }: Order): number =>
  sum(payments.map(({ isCounted, amount }) => (isCounted ? amount : 0)));
export const remainingAmount = (order: Order): number => Math.max(0, totalOf(order) - countedAmount(order));
export const refunded = (order: Order, currency = CURRENCY): number =>
  sum(goneIn(order, currency, ({ status }) => status === 'SUCCEEDED'));
export const refundPending = (order: Order, currency = CURRENCY): number =>
  sum(goneIn(order, currency, ({ status }) => status !== 'SUCCEEDED'));

const isKept = (order: Order): boolean => isLive(order) || order.isEndedByAmendment;

/**
 * Promise 14: what was paid less what the order keeps and what was given back. It keeps what paid for it; ended by an
 * amendment, when its total is the fees alone, that; ended otherwise nothing. Other currencies are never kept.
 */
export function refundDue(order: Order, currency = CURRENCY): number {
  const keeps = currency === CURRENCY && isKept(order) ? Math.min(countedAmount(order), totalOf(order)) : 0;
  return Math.max(0, sum(paidIn(order, currency)) - keeps - refunded(order, currency));
}

export function paymentStatus(order: Order): 'PENDING' | 'COMPLETED' | 'FAILED' {
  if (paidInstallments(order) === order.installments.length) return 'COMPLETED';
  const lastTry = order.payments.findLast(({ strayOf }) => strayOf === null);
  return !order.isIssued && lastTry?.state === 'DECLINED' ? 'FAILED' : 'PENDING';
}
