/**
 * The reference model of one event: maps of holds, orders and entries, made from its facts, without any sums.
 *
 * Every fact is checked against the model before it is applied: it must have been possible, and exact to the
 * millisecond. The model is rebuilt from the surviving facts after a crash. `prediction.ts` reads it to predict
 * answers.
 */
import assert from 'node:assert/strict';
import { WaitingRoomModel } from '../fixtures/waiting-room-model.ts';
import { MINUTE } from './events.ts';
import { endAmendment, requestAmendment, takeAmendment } from './amendments.ts';
import {
  countedOf,
  heldBeyond,
  paidOf,
  pendingOf,
  refundedOf,
  remainingOf,
  seatsBeyond,
  splitAnew,
  type ModelHold,
  type ModelOrder,
  type ModelPayment,
  type ModelWanted,
} from './model-order.ts';
import type { EventDefinition, SeatDefinition } from '#domain/catalogue/definition.ts';
import type { Fact, FactData, HoldLine } from '#domain/fact.ts';

/** A code as the catalogue of the simulation spells it, which has capital letters alone. */
export const asInCatalogue = (typed: string): string => typed.trim().toUpperCase();

/** What the facts do not say: the address of an order, and the digest that is kept in place of one. */
interface ModelSecrets {
  addressOf(orderId: string): string;
  keyed(digest: string): string;
}

interface ModelEntry {
  readonly sessionKey: string;
  status: 'WAITING' | 'ADMITTED' | 'EXPIRED' | 'LEFT';
  admittedAt: number;
  passExpiresAt: number;
  /** Whether a request without a session key placed an order with the pass. */
  isSpentWithoutKey: boolean;
  /** The time of the fact that ended it; null before. */
  endedAt: number | null;
}

type Line = Pick<HoldLine, 'ticketTypeId' | 'sellingStageId'>;

export class SaleModel {
  readonly secrets: ModelSecrets;
  definition!: EventDefinition;
  readonly holds = new Map<string, ModelHold>();
  readonly orders = new Map<string, ModelOrder>();
  readonly entries = new Map<string, ModelEntry>();
  /** By idempotency key. */
  readonly keys = new Map<
    string,
    { readonly digest: string; readonly at: number; readonly orderId: string | null; readonly holdId: string | null }
  >();
  readonly cancelledDates = new Set<string>();
  readonly #blocked = new Set<string>();
  readonly #ticketIds = new Set<string>();
  waitingRoom: WaitingRoomModel | null = null;
  stretches: readonly (readonly string[])[] = [];
  #lastAt = 0;

  constructor(secrets: ModelSecrets) {
    this.secrets = secrets;
  }

  // ── queries ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The status of a hold at a time, whether or not a timer has fired. */
  statusOfHold({ status, expiresAt }: ModelHold, now: number): ModelHold['status'] {
    const runsOut = status === 'ACTIVE' || status === 'CONVERTED';
    return runsOut && expiresAt <= now ? 'EXPIRED' : status;
  }

  /** The status that is shown of a hold: one on a cancelled date is released, though its fact may come later. */
  shownStatusOfHold(hold: ModelHold, now: number): ModelHold['status'] {
    const isToRelease =
      hold.status === 'ACTIVE' && hold.lines.some((line) => this.cancelledDates.has(line.performanceId));
    return isToRelease ? 'RELEASED' : this.statusOfHold(hold, now);
  }

  /**
   * Whether a hold or entry that ended may be dropped: it stays readable for two hours, however many others end
   * meanwhile.
   */
  mayBeDropped({ endedAt }: Pick<ModelHold, 'endedAt'>, now: number): boolean {
    return endedAt !== null && endedAt + 120 * MINUTE <= now;
  }

  statusOfOrder({ status, expiresAt }: ModelOrder, now: number): ModelOrder['status'] {
    return status === 'PENDING' && expiresAt !== null && expiresAt <= now ? 'EXPIRED' : status;
  }

  #isTaking(hold: ModelHold, now: number): boolean {
    return ['ACTIVE', 'CONVERTED', 'CONSUMED'].includes(this.statusOfHold(hold, now));
  }

  /** What pending amendments want of a performance. */
  wantedOn(performanceId: string, now: number): readonly ModelWanted[] {
    return [...this.orders.values()].flatMap((order) => {
      const pending = order.amendments.size === 0 ? null : pendingOf(order, now);
      if (pending === null) return [];
      const isHere = (line: HoldLine): boolean => line.performanceId === performanceId;
      const own = this.holds.get(order.holdId)!.lines.filter(isHere);
      return [{ expiresAt: pending.expiresAt, lines: pending.lines.filter(isHere), own }];
    });
  }

  /** Tickets held and sold of a performance by lines that pass the test, without the session's own hold. */
  ticketsTaken(performanceId: string, now: number, own: ModelHold | null, test: (line: Line) => boolean): number {
    let count = 0;
    for (const hold of this.holds.values()) {
      if (hold === own || !this.#isTaking(hold, now)) continue;
      for (const line of hold.lines) if (line.performanceId === performanceId && test(line)) count += line.ticketCount;
    }
    for (const wanted of this.wantedOn(performanceId, now)) {
      count += heldBeyond(wanted, (line) => (test(line) ? line.ticketCount : 0));
    }
    return count;
  }

  isTaken(performanceId: string, seatId: string, now: number, own: ModelHold | null): boolean {
    for (const hold of this.holds.values()) {
      if (hold === own || !this.#isTaking(hold, now)) continue;
      if (hold.lines.some((line) => line.performanceId === performanceId && line.seatIds.includes(seatId))) return true;
    }
    return this.wantedOn(performanceId, now).some((wanted) => seatsBeyond(wanted).includes(seatId));
  }

  isBlocked(performanceId: string, seatId: string): boolean {
    return this.#blocked.has(`${performanceId} ${seatId}`);
  }

  blockedOn(performanceId: string): number {
    return [...this.#blocked].filter((place) => place.startsWith(`${performanceId} `)).length;
  }

  /**
   * Whether a type may take a seat: of its zones the accessible ones or the others, because the one accessible type
   * sells all zones.
   */
  fitsType(seatId: string, ticketTypeId: string): boolean {
    const seat = this.#seat(seatId);
    const type = this.definition.ticketTypes.find(({ id }) => id === ticketTypeId)!;
    if (seat?.accessible !== type.accessible) return false;
    return type.zoneKeys === null || type.zoneKeys.includes(seat.zoneKey);
  }

  #seat(seatId: string): SeatDefinition | undefined {
    const hall = this.definition.localities[1]!;
    const seats =
      hall.seating === 'NUMBERED' ? hall.sections.flatMap(({ rows }) => rows.flatMap((row) => row.seats)) : [];
    return seats.find(({ id }) => id === seatId);
  }

  get floorCapacity(): number {
    const floor = this.definition.localities[0]!;
    return floor.seating === 'GENERAL' ? floor.capacity : 0;
  }

  get beerStock(): number {
    return this.definition.ticketTypes[0]!.barPerks[0]!.stock ?? Number.POSITIVE_INFINITY;
  }

  isDateOnSale(performanceId: string, now: number): boolean {
    const date = this.definition.performances.find(({ id }) => id === performanceId)!;
    return !this.cancelledDates.has(performanceId) && (date.endsAt === null || now < date.endsAt);
  }

  #liveOrders(now: number): ModelOrder[] {
    const live = ['PENDING', 'PARTIALLY_PAID', 'CONFIRMED'];
    return [...this.orders.values()].filter((order) => live.includes(this.statusOfOrder(order, now)));
  }

  ticketsOfEmail(email: string, now: number): number {
    const key = plainAddress(email);
    const orders = this.#liveOrders(now).filter((order) => plainAddress(order.email) === key);
    return orders.reduce((sum, { ticketCount }) => sum + ticketCount, 0);
  }

  /** Uses of a code, however it is typed. */
  usesOf(code: string, now: number): number {
    const wanted = asInCatalogue(code);
    return this.#liveOrders(now).filter(({ codes }) => codes.has(wanted)).length;
  }

  beersSold(now: number): number {
    return this.#liveOrders(now).reduce((sum, { beers }) => sum + beers, 0);
  }

  // ── the facts of a turn ────────────────────────────────────────────────────────────────────────────────────────────

  /** Applies the facts of one turn. Throws when they are not possible. */
  take(facts: readonly Fact[], at: number): void {
    assert.ok(at >= this.#lastAt, 'time does not go back');
    this.#lastAt = at;
    for (const fact of facts) {
      this.#show(fact, at);
      this.#take(fact, at, facts);
    }
    for (const fact of facts) this.#assertDue(fact, at);
    for (const { performances, id } of [this.definition]) {
      for (const date of performances) this.#assertStock(id, date.id, at);
    }
  }

  /** Promise 14, as the facts of money say it once their turn is done. */
  #assertDue(fact: Fact, at: number): void {
    if (fact.type !== 'PaymentRecorded' && fact.type !== 'StrayMoneyRecorded') return;
    const order = this.#order(fact.data.orderId);
    assert.equal(fact.data.refundDueCents, this.refundDue(order, at), `what is due after ${fact.type}`);
  }

  /** The model of the waiting room treats a spent pass as an entry that left. */
  #show(fact: Fact, at: number): void {
    if (fact.type !== 'QueuePassSpent') return this.waitingRoom?.watch(fact, at);
    const { entryId, withoutKey } = fact.data;
    if (withoutKey === undefined) this.waitingRoom?.watch({ type: 'QueueEntryLeft', data: { entryId } }, at);
  }

  #take(fact: Fact, at: number, turn: readonly Fact[]): void {
    switch (fact.type) {
      case 'EventDefined':
        return this.#define(fact.data.definition);
      case 'PerformanceCancelled':
        this.cancelledDates.add(fact.data.performanceId);
        return;
      case 'SeatsBlocked':
        for (const seatId of fact.data.seatIds) {
          assert.ok(!this.isTaken(fact.data.performanceId, seatId, at, null), `${seatId} is taken and was blocked`);
          this.#blocked.add(`${fact.data.performanceId} ${seatId}`);
        }
        return;
      case 'SeatsUnblocked':
        for (const seatId of fact.data.seatIds) this.#blocked.delete(`${fact.data.performanceId} ${seatId}`);
        return;
      case 'HoldPlaced':
        return this.#place(fact.data, at, turn);
      case 'HoldChanged':
        return this.#change(fact.data, at);
      case 'HoldReleased':
        return this.#endHold(fact.data.holdId, ['ACTIVE'], 'RELEASED', at);
      case 'HoldExpired': {
        assert.ok(this.#hold(fact.data.holdId).expiresAt <= at, 'a hold expired early');
        return this.#endHold(fact.data.holdId, ['ACTIVE'], 'EXPIRED', at);
      }
      default:
        return this.#takeOfOrder(fact, at, turn);
    }
  }

  #define(definition: EventDefinition): void {
    this.definition = definition;
    const hall = definition.localities[1]!;
    if (hall.seating !== 'NUMBERED') return;
    this.stretches = hall.sections.flatMap(({ rows }) =>
      rows.flatMap(({ seats, aisleAfter }) => {
        const ends = [...aisleAfter, seats.length];
        return ends.map((end, index) => seats.slice(index === 0 ? 0 : ends[index - 1], end).map(({ id }) => id));
      }),
    );
    if (!definition.waitingRoom || this.waitingRoom !== null) return;
    this.waitingRoom = new WaitingRoomModel({
      opensAt: definition.waitingRoomOpensAt,
      rate: definition.waitingRoomRate,
      inactivityMs: definition.waitingRoomInactivitySeconds * 1000,
      passMs: definition.waitingRoomMinutes * MINUTE,
      maxAdmitted: definition.waitingRoomMaxAdmitted,
    });
  }

  #place(data: FactData['HoldPlaced'], at: number, turn: readonly Fact[]): void {
    const previous = [...this.holds.values()].find(
      ({ sessionKey, status }) => sessionKey === data.sessionKey && status === 'ACTIVE',
    );
    assert.equal(data.replacedHoldId, previous?.id ?? null, 'a new hold replaces the ACTIVE one of its session (I8)');
    if (previous !== undefined) Object.assign(previous, { status: 'RELEASED', endedAt: at });
    const isInline = turn.some(({ type }) => type === 'OrderPlaced');
    assert.equal(data.firstPlacedAt, previous?.firstPlacedAt ?? at);
    const end = isInline
      ? at + this.definition.paymentMinutes * MINUTE
      : this.#windowEnd(data.firstPlacedAt, previous?.expiresAt ?? at, at);
    assert.equal(data.expiresAt, end, 'the window of a new hold');
    this.assertFree(data.lines, at, null);
    for (const line of data.lines)
      assert.equal(line.unitPriceCents, this.#priceNow(line), 'a new line has the price of now');
    const { holdId: id, sessionKey, lines, expiresAt, firstPlacedAt, idempotency } = data;
    assert.ok(!this.holds.has(id), 'an id is used once');
    const unended = { status: 'ACTIVE', orderId: null, endedAt: null } as const;
    this.holds.set(id, { ...unended, id, sessionKey, lines, expiresAt, firstPlacedAt });
    if (idempotency !== null)
      this.keys.set(idempotency.key, { digest: idempotency.digest, at, orderId: null, holdId: id });
  }

  #change({ holdId, lines, expiresAt }: FactData['HoldChanged'], at: number): void {
    const hold = this.#hold(holdId);
    assert.equal(hold.status, 'ACTIVE');
    this.assertFree(lines, at, hold);
    const end = this.#windowEnd(hold.firstPlacedAt, hold.expiresAt, at);
    assert.equal(expiresAt, end, 'a change restarts the window');
    for (const line of lines) {
      const before = hold.lines.find((each) => keyOf(each) === keyOf(line));
      assert.equal(line.unitPriceCents, before?.unitPriceCents ?? this.#priceNow(line), 'a line keeps its price');
    }
    hold.lines = lines;
    hold.expiresAt = expiresAt;
  }

  /**
   * The end of a window from now, at most the ceiling; after the ceiling was lowered, at least the end that was
   * promised before.
   */
  #windowEnd(firstPlacedAt: number, endSoFar: number, at: number): number {
    const { holdMinutes, holdMaxMinutes } = this.definition;
    const end = at + holdMinutes * MINUTE;
    if (holdMaxMinutes === null || holdMaxMinutes === 0) return end;
    const ceiling = firstPlacedAt + holdMaxMinutes * MINUTE;
    return end <= ceiling ? end : Math.max(ceiling, Math.min(end, endSoFar));
  }

  /** Seats must be free, of the type's zones and named once; counters are checked after the turn. */
  assertFree(lines: readonly HoldLine[], at: number, own: ModelHold | null): void {
    const named = new Set<string>();
    for (const { performanceId, ticketTypeId, seatIds, ticketCount } of lines) {
      const type = this.definition.ticketTypes.find(({ id }) => id === ticketTypeId)!;
      assert.equal(seatIds.length, type.localityId === 'hall' ? ticketCount : 0, 'a numbered ticket has a seat');
      for (const seatId of seatIds) {
        const place = `${performanceId} ${seatId}`;
        assert.ok(!named.has(place), `${place} is twice in one hold`);
        named.add(place);
        assert.ok(this.fitsType(seatId, ticketTypeId), `${seatId} is not for ${ticketTypeId}`);
        assert.ok(!this.isBlocked(performanceId, seatId), `${place} is blocked and was held`);
        assert.ok(!this.isTaken(performanceId, seatId, at, own), `${place} is in two claims (I7)`);
      }
    }
  }

  #priceNow({ ticketTypeId, sellingStageId }: Line): number {
    return this.definition.sellingStages.find(({ id }) => id === sellingStageId)!.prices[ticketTypeId]!;
  }

  /** Tickets that no other has the id of. */
  issue(ticketIds: readonly string[]): void {
    for (const ticketId of ticketIds) {
      assert.ok(!this.#ticketIds.has(ticketId), 'a ticket is issued once');
      this.#ticketIds.add(ticketId);
    }
  }

  // ── orders ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  #takeOfOrder(fact: Fact, at: number, turn: readonly Fact[]): void {
    switch (fact.type) {
      case 'OrderPlaced':
        return this.#placeOrder(fact.data, at);
      case 'CheckoutResumed': {
        const { idempotency, orderId } = fact.data;
        this.keys.set(idempotency.key, { digest: idempotency.digest, at, orderId, holdId: null });
        return;
      }
      case 'PaymentRequested': {
        const { orderId, paymentId, installment, amendmentId = null } = fact.data;
        const order = this.#order(orderId);
        if (amendmentId !== null) {
          const { amendmentId: pendingId, toPayCents } = pendingOf(order, at)!;
          assert.equal(amendmentId, pendingId, 'a pending amendment is paid before any installment');
          order.payments.set(paymentId, newPayment({ installment, amendmentId }, toPayCents, order.currency));
          return;
        }
        assert.ok(order.status === 'PENDING' || order.status === 'PARTIALLY_PAID', 'only a live order is paid');
        order.payments.set(
          paymentId,
          newPayment({ installment }, order.installmentsCents[installment - 1]!, order.currency),
        );
        return;
      }
      case 'CheckoutSessionOpened':
        this.#payment(fact.data).session = fact.data.checkoutSessionId;
        return;
      case 'PaymentClosed': {
        const payment = this.#payment(fact.data);
        assert.equal(payment.status, 'WAITING');
        payment.status = 'OVER';
        return;
      }
      case 'PaymentRecorded': {
        const { amountCents, isCounted, webhookId } = fact.data;
        const payment = this.#payment(fact.data);
        assert.equal(payment.paidCents, null, 'a payment is paid once');
        Object.assign(payment, { status: 'OVER', paidCents: amountCents, isCounted, webhookId });
        return;
      }
      case 'StrayMoneyRecorded': {
        const { orderId, paymentId, strayOf, amountCents, currency, webhookId } = fact.data;
        const order = this.#order(orderId);
        const about = order.payments.get(strayOf)!;
        const stray = {
          ...newPayment(about, amountCents, currency),
          status: 'OVER' as const,
          paidCents: amountCents,
        };
        order.payments.set(paymentId, { ...stray, webhookId, strayOf });
        return;
      }
      case 'OrderPaid':
        return this.#pay(this.#order(fact.data.orderId), at);
      case 'TicketsIssued': {
        const order = this.#order(fact.data.orderId);
        assert.equal(fact.data.ticketIds.length, order.ticketCount, 'one ticket for each place of the order');
        this.issue(fact.data.ticketIds);
        order.tickets = fact.data.ticketIds;
        return;
      }
      case 'OrderExpired': {
        const order = this.#order(fact.data.orderId);
        assert.ok(order.expiresAt! <= at, 'an order expired early');
        assert.equal(order.status, 'PENDING');
        order.status = 'EXPIRED';
        closePayments(order);
        return this.#endHold(order.holdId, ['CONVERTED'], 'EXPIRED', at);
      }
      case 'AmendmentRequested': {
        const { data } = fact;
        const order = this.#order(data.orderId);
        requestAmendment(this, order, data, at);
        order.payments.set(
          data.paymentId,
          newPayment({ installment: 0, amendmentId: data.amendmentId }, data.toPayCents, order.currency),
        );
        return;
      }
      case 'AmendmentEnded':
        return endAmendment(this.#order(fact.data.orderId), fact.data, at);
      case 'OrderAmended':
        return takeAmendment(this, this.#order(fact.data.orderId), fact.data, { at, turn });
      case 'OrderCancelled':
        return this.#cancelOrder(fact.data, at);
      case 'RefundRecorded': {
        return noteRefund(this.#order(fact.data.orderId), fact.data);
      }
      case 'RefundRequested': {
        if (fact.data.sealedNote !== undefined) this.#order(fact.data.orderId).sealedTexts += 1;
        return;
      }
      case 'RefundAnswered': {
        const order = this.#order(fact.data.orderId);
        if (fact.data.sealedNote !== undefined) order.sealedTexts += 1;
        if (fact.data.answer === 'FAILED') order.refunds = order.refunds.filter(({ id }) => id !== fact.data.refundId);
        return;
      }
      case 'OrderErased': {
        const order = this.#order(fact.data.orderId);
        assert.notEqual(order.status, 'PENDING', 'an order whose payment is awaited is not erased');
        assert.equal(fact.data.keyIds.length, order.sealedTexts, 'every text of the order is erased');
        order.sealedTexts = 0;
        order.isErased = true;
        return;
      }
      default:
        return this.#takeOfQueue(fact, at);
    }
  }

  #placeOrder(data: FactData['OrderPlaced'], at: number): void {
    const hold = this.#hold(data.holdId);
    assert.equal(this.statusOfHold(hold, at), 'ACTIVE', 'an order takes over an ACTIVE hold');
    const { orderId: id, holdId, items, installmentsCents, totalCents, expiresAt, idempotency } = data;
    const due = totalCents === 0 ? null : at + this.definition.paymentMinutes * MINUTE;
    assert.equal(expiresAt, due, 'the payment window');
    assert.equal(
      installmentsCents.reduce((sum, cents) => sum + cents, 0),
      totalCents,
      'installments add up',
    );
    assert.ok(
      (installmentsCents[0] ?? 0) - (installmentsCents.at(-1) ?? 0) <= 1,
      'installments differ by a cent at most',
    );
    hold.status = 'CONVERTED';
    hold.orderId = id;
    if (expiresAt !== null) hold.expiresAt = expiresAt;
    const payments = new Map<string, ModelPayment>();
    if (data.firstPaymentId !== null)
      payments.set(data.firstPaymentId, newPayment({ installment: 1 }, installmentsCents[0]!, data.currency));
    const ticketCount = items.reduce((sum, each) => sum + each.ticketCount, 0);
    assert.equal(
      ticketCount,
      hold.lines.reduce((sum, each) => sum + each.ticketCount, 0),
      'the order has the tickets of its hold',
    );
    const codes = new Set(
      [data.promoCode, ...items.map(({ discountCode }) => discountCode)]
        .filter((code) => code !== null)
        .map(asInCatalogue),
    );
    const beers = items.flatMap(({ barPerks }) => barPerks).reduce((sum, { quantity }) => sum + quantity, 0);
    const empty = { status: 'PENDING', cause: null, tickets: [] } as const;
    const email = this.secrets.addressOf(id);
    const order: ModelOrder = {
      ...empty,
      refunds: [],
      provider: data.paymentProvider,
      currency: data.currency,
      id,
      holdId,
      email,
      codes,
      ticketCount,
      beers,
      totalCents,
      installmentsCents,
      items: items.map((item, number) => ({ ...item, priced: { ...item, number } })),
      placedAt: at,
      feesCents: 0,
      goodwillCents: 0,
      amendments: new Map(),
      voided: [],
      isEndedByAmendment: false,
      expiresAt,
      payments,
      sealedTexts: 1,
      isErased: false,
    };
    this.orders.set(id, order);
    if (idempotency !== null)
      this.keys.set(idempotency.key, { digest: idempotency.digest, at, orderId: id, holdId: null });
    this.assertCaps(order, at);
  }

  /** No limit of the event is exceeded: uses of codes, perks, tickets of one address. */
  assertCaps({ email, codes }: ModelOrder, at: number): void {
    for (const text of codes) {
      const max = this.definition.promoCodes.find(({ code }) => code === text)!.maxUses ?? Infinity;
      assert.ok(this.usesOf(text, at) <= max, `${text} was used too often`);
    }
    assert.ok(this.beersSold(at) <= this.beerStock, 'more perks were sold than there are');
    const max = this.definition.maxTicketsPerEmail ?? Infinity;
    assert.ok(this.ticketsOfEmail(email, at) <= max, 'one address has too many tickets');
  }

  #pay(order: ModelOrder, at: number): void {
    const hold = this.#hold(order.holdId);
    const counted = [...order.payments.values()].filter(
      ({ isCounted, amendmentId }) => isCounted && amendmentId === null,
    );
    const isLate = order.status === 'EXPIRED' || order.status === 'CANCELLED';
    if (isLate) {
      assert.notEqual(order.cause, 'OPERATOR', 'what an operator cancelled stays cancelled');
      assert.notEqual(order.cause, 'PERFORMANCE', 'what an operator cancelled stays cancelled');
      this.assertFree(hold.lines, at, hold);
    }
    splitAnew(order);
    order.status = remainingOf(order) === 0 ? 'CONFIRMED' : 'PARTIALLY_PAID';
    order.cause = null;
    if (isLate) this.assertCaps(order, at);
    assert.equal(
      new Set(counted.map(({ installment }) => installment)).size,
      counted.length,
      'an installment was paid twice',
    );
    hold.status = 'CONSUMED';
  }

  #cancelOrder(
    { orderId, cause, refundDueCents, sealedNote, amendmentId }: FactData['OrderCancelled'],
    at: number,
  ): void {
    const order = this.#order(orderId);
    if (sealedNote !== undefined) order.sealedTexts += 1;
    assert.ok(['PENDING', 'PARTIALLY_PAID', 'CONFIRMED'].includes(order.status), 'only a live order is cancelled');
    assert.equal(pendingOf(order, at), null, 'a pending amendment ends before its order');
    assert.equal(amendmentId !== undefined, order.isEndedByAmendment, 'an order without tickets is cancelled at once');
    const isLate = cause !== 'BUYER' || order.status === 'PENDING' || order.isEndedByAmendment;
    assert.ok(isLate, 'a buyer cancels only what is not paid');
    const due = order.isEndedByAmendment ? this.refundDue(order, at) : paidOf(order) - refundedOf(order);
    assert.equal(refundDueCents, due, 'all money paid, not kept and not refunded is due');
    order.status = 'CANCELLED';
    order.cause = cause;
    closePayments(order);
    this.#endHold(order.holdId, ['CONVERTED', 'CONSUMED'], 'RELEASED', at);
  }

  /** Money that the order cannot use and that was not refunded; ended by an amendment it keeps its fees. */
  refundDue(order: ModelOrder, now: number): number {
    const isKept = order.isEndedByAmendment || this.#liveOrders(now).includes(order);
    const useful = isKept ? Math.min(order.totalCents, countedOf(order)) : 0;
    return Math.max(0, paidOf(order) - useful - refundedOf(order));
  }

  // ── the waiting room ───────────────────────────────────────────────────────────────────────────────────────────────

  #takeOfQueue(fact: Fact, at: number): void {
    const end = (entryId: string, status: ModelEntry['status']) =>
      Object.assign(this.entries.get(entryId)!, { status, endedAt: at });
    switch (fact.type) {
      case 'QueueEntryJoined': {
        const { entryId, sessionKey } = fact.data;
        this.entries.set(entryId, {
          sessionKey,
          status: 'WAITING',
          admittedAt: 0,
          passExpiresAt: 0,
          isSpentWithoutKey: false,
          endedAt: null,
        });
        return;
      }
      case 'QueueEntriesAdmitted':
        for (const entryId of fact.data.entryIds) {
          const { passExpiresAt } = fact.data;
          Object.assign(this.entries.get(entryId)!, { status: 'ADMITTED', admittedAt: at, passExpiresAt });
        }
        return;
      case 'QueueEntriesDropped':
        for (const entryId of fact.data.entryIds) end(entryId, 'EXPIRED');
        return;
      case 'QueueEntryLeft':
        end(fact.data.entryId, 'LEFT');
        return;
      case 'QueuePassExpired':
        end(fact.data.entryId, 'EXPIRED');
        return;
      case 'QueuePassSpent': {
        const entry = this.entries.get(fact.data.entryId)!;
        assert.equal(entry.status, 'ADMITTED', 'only a live pass is spent');
        assert.ok(!entry.isSpentWithoutKey, 'a pass places one order without its session key');
        if (fact.data.withoutKey === undefined) end(fact.data.entryId, 'EXPIRED');
        else entry.isSpentWithoutKey = true;
        return;
      }
      default:
    }
  }

  // ── helpers ───────────────────────────────────────────────────────────────────────────────────────────

  #hold(holdId: string): ModelHold {
    const hold = this.holds.get(holdId);
    assert.ok(hold, `no hold ${holdId}`);
    return hold;
  }

  #order(orderId: string): ModelOrder {
    const order = this.orders.get(orderId);
    assert.ok(order, `no order ${orderId}`);
    return order;
  }

  #payment({ orderId, paymentId }: { readonly orderId: string; readonly paymentId: string }): ModelPayment {
    const payment = this.#order(orderId).payments.get(paymentId);
    assert.ok(payment, `no payment ${paymentId}`);
    return payment;
  }

  #endHold(holdId: string, from: readonly string[], to: ModelHold['status'], at: number): void {
    const hold = this.#hold(holdId);
    assert.ok(from.includes(hold.status), `a hold went from ${hold.status} to ${to}`);
    hold.status = to;
    hold.endedAt = at;
  }

  /** I7 from the facts alone: no more is taken than the capacity. */
  #assertStock(eventId: string, performanceId: string, at: number): void {
    const isOfFloor = ({ ticketTypeId }: Line) => ['adult', 'group', 'guest'].includes(ticketTypeId);
    const onFloor = this.ticketsTaken(performanceId, at, null, isOfFloor);
    assert.ok(onFloor <= this.floorCapacity, `${onFloor} of ${this.floorCapacity} on the floor of ${eventId}`);
  }
}

/** The payments of an order end with it. */
function closePayments({ payments }: ModelOrder): void {
  for (const payment of payments.values()) payment.status = 'OVER';
}

function newPayment(
  { installment, amendmentId = null }: Pick<ModelPayment, 'installment'> & Partial<Pick<ModelPayment, 'amendmentId'>>,
  amountCents: number,
  currency: string,
): ModelPayment {
  const empty = {
    status: 'WAITING',
    session: null,
    isCounted: false,
    paidCents: null,
    webhookId: null,
    strayOf: null,
  } as const;
  return { ...empty, installment, amendmentId, amountCents, currency };
}

function noteRefund(order: ModelOrder, data: FactData['RefundRecorded']): void {
  if (data.sealedNote !== undefined) order.sealedTexts += 1;
  const { refundId: id, amountCents, currency = order.currency, provider, sameAs } = data;
  const { reference = null, paymentId = null } = data;
  const reporter = provider === undefined ? 'OPERATOR' : data.reportReference === undefined ? 'PROVIDER' : 'CHARGE';
  if (reference !== null) {
    const others = order.refunds.filter((refund) => refund.id !== sameAs);
    assert.ok(!others.some((refund) => refund.reference === reference), 'a reference counts once');
  }
  const known = order.refunds.find((refund) => refund.id === sameAs);
  // A further word on one that is under way, or that failed, gives nothing back.
  if (known === undefined && sameAs !== undefined) return assert.equal(amountCents, 0);
  if (known !== undefined) {
    const isNew = !known.reportedBy.has(reporter) || (known.paymentId === null && paymentId !== null);
    const isMore = amountCents > 0 && reporter === 'PROVIDER' && known.reference === reference;
    assert.ok(isMore || (amountCents === 0 && isNew), 'a note and a report are one refund');
    known.amountCents += amountCents;
    assert.ok(refundedOf(order, currency) <= paidOf(order, currency), 'no more is refunded than was paid');
    known.reportedBy.add(reporter);
    known.reference ??= reference;
    known.paymentId ??= paymentId;
    return;
  }
  order.refunds.push({ id, amountCents, currency, reference, paymentId, reportedBy: new Set([reporter]) });
  assert.ok(refundedOf(order, currency) <= paidOf(order, currency), 'no more is refunded than was paid');
}

function keyOf(line: Pick<HoldLine, 'performanceId' | 'ticketTypeId' | 'sellingStageId'>): string {
  return [line.performanceId, line.ticketTypeId, line.sellingStageId].join();
}

/** An address in lower case, without the tag after a plus sign. */
export function plainAddress(email: string): string {
  return email
    .trim()
    .toLowerCase()
    .replace(/\+[^@]*@/, '@');
}
