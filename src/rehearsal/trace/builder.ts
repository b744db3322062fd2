/**
 * Makes a trace of an event's facts: who wanted what, and when.
 *
 * 1. Nothing personal is taken over: session keys, addresses and ids become numbers in the order in which they come.
 * 2. A hold took the best seats when they are the ones that a search would have suggested at that moment; others were
 *    picked.
 * 3. What began before the period is not part of it: what it does later is left out and counted.
 * 4. What orders became after they were paid is left out and counted: amendments, with what was paid for them.
 * 5. Somebody who was dropped from the waiting room stopped polling as long before as the event's setting says.
 */
import { type EventReplay, startReplay, eventNumberIn } from '#offline/events.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { Fact, FactData, HoldLine } from '#domain/fact.ts';
import { lineKey } from '#domain/inventory/hold-line.ts';
import { isRefusal } from '#domain/refusal.ts';
import { buyerKeyOf } from '#domain/orders/purchase-limits.ts';
import { Sales, seatKey, type SoldOrder } from './sales.ts';
import type { Intent, OperatorAction, TakenBefore, Trace, TracedItem, TracedOrderItem, WaitEnd } from './trace.ts';
import type { JournalView } from '#persistence/sqlite/view.ts';

export interface Period {
  /** Milliseconds since 1970. Null in `from`: the first fact of a buyer; null in `to`: the last fact. */
  readonly from: number | null;
  readonly to: number | null;
}

/** Facts with which a buyer begins. */
const ARRIVALS: ReadonlySet<string> = new Set<Fact['type']>(['QueueEntryJoined', 'HoldPlaced', 'OrderPlaced']);

/** Scans are of codes that only the original tickets have. */
const SCANS = 'scans at the doors';

interface TracedHold {
  readonly number: number;
  readonly person: number;
  readonly isPicked: boolean;
  /** False for the hold that a checkout places itself. */
  readonly wasHeld: boolean;
  lines: readonly HoldLine[];
}

interface TracedOrder {
  readonly number: number;
  readonly person: number;
  readonly sold: Omit<SoldOrder, 'at'>;
  isSold: boolean;
  /** Made by an operator: nothing of it is a buyer's step. */
  isOfCounter: boolean;
}

interface Wait {
  readonly person: number;
  readonly joinedAt: number;
  readonly entry: number;
  end: WaitEnd | null;
}

export class TraceBuilder {
  readonly #eventId: string;
  readonly #replay: EventReplay;
  readonly #period: Period;
  readonly #people = new Map<string, number>();
  readonly #buyers = new Map<string, number>();
  readonly #holds = new Map<string, TracedHold>();
  readonly #orders = new Map<string, TracedOrder>();
  readonly #waits = new Map<string, Wait>();
  readonly #intents: Intent[] = [];
  readonly #operations: OperatorAction[] = [];
  readonly #cancelled = new Set<string>();
  /** Payments of amendments (rule 4). */
  readonly #ofAmendments = new Set<string>();
  readonly #leftOut: Record<string, number> = {};
  #definition: EventDefinition | null = null;
  #begun: { at: number; definition: EventDefinition; takenBefore: TakenBefore; sales: Sales } | null = null;
  #lastAt = 0;

  constructor(eventId: string, replay: EventReplay, period: Period) {
    this.#eventId = eventId;
    this.#replay = replay;
    this.#period = period;
  }

  /** Takes the event's next fact. False once the period is over. */
  see(fact: Fact, at: number): boolean {
    const { from, to } = this.#period;
    if (to !== null && at > to) return false;
    const begins = from === null ? ARRIVALS.has(fact.type) : at >= from;
    if (this.#begun === null && begins && this.#definition !== null) this.#begin(from ?? at, at);
    if (this.#begun !== null) {
      this.#lastAt = at - this.#begun.at;
      this.#note(fact, this.#lastAt, at);
    }
    if (fact.type === 'EventDefined') this.#definition = fact.data.definition;
    this.#replay.apply(fact, at);
    return true;
  }

  /** The trace of what was seen; null when nobody did anything in the period. */
  finish(): Trace | null {
    if (this.#begun === null) return null;
    const { at: beganAt, definition, takenBefore, sales } = this.#begun;
    const { to } = this.#period;
    const lengthMs = to === null ? this.#lastAt : Math.max(this.#lastAt, to - beganAt);
    const joins = [...this.#waits.values()].map(({ person, joinedAt, entry, end }): Intent => ({
      kind: 'JOIN',
      at: joinedAt,
      person,
      entry,
      end: end ?? { at: lengthMs, by: 'PERIOD' },
    }));
    return {
      eventId: this.#eventId,
      beganAt,
      lengthMs,
      definition,
      people: this.#people.size,
      // A stable sort: at the same moment somebody joins before holding.
      intents: [...joins, ...this.#intents].sort((a, b) => a.at - b.at),
      operations: this.#operations,
      takenBefore,
      outcome: sales.outcome(),
      leftOut: this.#leftOut,
    };
  }

  #begin(beganAt: number, now: number): void {
    const definition = this.#definition!;
    const { performances } = this.#replay.read({ type: 'ReadTotals', performanceId: null }, now);
    const open = performances.filter(({ status }) => status === 'ON_SALE' || status === 'SOLD_OUT');
    const onSale = open.reduce((sum, { available }) => sum + available, 0);
    const seats = open.map(({ id }) => ({ performanceId: id, seatIds: this.#takenSeats(id, now) }));
    const places: Record<string, number> = {};
    for (const { id, seating } of definition.localities) {
      if (seating !== 'GENERAL') continue;
      const taken = open.map(({ localities }) => {
        const totals = localities.find((each) => each.id === id)!;
        return totals.capacity - totals.available;
      });
      places[id] = taken.length === 0 ? 0 : Math.min(...taken);
    }
    const takenBefore = { seats: seats.filter(({ seatIds }) => seatIds.length > 0), places };
    this.#begun = { at: beganAt, definition, takenBefore, sales: new Sales(onSale) };
  }

  #takenSeats(performanceId: string, now: number): readonly string[] {
    const wanted = { audience: 'OPERATORS', performanceId, since: null, knownRevision: null } as const;
    const view = this.#replay.read({ type: 'ReadOccupancy', ...wanted }, now);
    if (isRefusal(view) || !('held' in view)) return [];
    return [...view.held, ...view.sold, ...view.blocked];
  }

  #note(fact: Fact, at: number, now: number): void {
    switch (fact.type) {
      case 'QueueEntryJoined':
        return this.#noteJoin(fact.data, at);
      case 'QueueEntriesAdmitted':
        return this.#endWaits(fact.data.entryIds, { at, by: 'ADMITTED' });
      case 'QueueEntriesDropped':
        return this.#endWaits(fact.data.entryIds, { at: at - this.#inactivityMs(), by: 'GONE' });
      case 'QueueEntryLeft':
        return this.#noteLeave(fact.data.entryId, at);
      case 'HoldPlaced':
        return this.#noteHold(fact.data, at, now);
      case 'HoldChanged':
        return this.#noteChange(fact.data, at);
      case 'HoldReleased':
        return this.#noteRelease(fact.data.holdId, at);
      default:
        return this.#notePurchase(fact, at);
    }
  }

  #notePurchase(fact: Fact, at: number): void {
    switch (fact.type) {
      case 'OrderPlaced':
        return this.#noteOrder(fact.data, at);
      case 'SoldAtCounter':
        return this.#noteCounterSale(fact.data, at);
      case 'PaymentRequested':
        if (fact.data.amendmentId !== undefined) return void this.#ofAmendments.add(fact.data.paymentId);
        return this.#ofOrder(fact.data.orderId, 'payments asked for', ({ number, person, isOfCounter }) => {
          if (!isOfCounter) this.#intents.push({ kind: 'REQUEST_PAYMENT', at, person, order: number });
        });
      case 'PaymentRecorded':
        return this.#notePayment(fact.data, 'paid', at);
      case 'PaymentClosed':
        if (fact.data.outcome === 'EXPIRED') return;
        return this.#notePayment(fact.data, fact.data.outcome === 'DECLINED' ? 'declined' : 'cancelled', at);
      case 'TicketsIssued':
        return this.#ofOrder(fact.data.orderId, 'tickets issued', (order) => {
          if (!order.isSold) this.#begun!.sales.sold({ ...order.sold, at });
          order.isSold = true;
        });
      default:
        return this.#noteOperation(fact, at);
    }
  }

  #noteOperation(fact: Fact, at: number): void {
    switch (fact.type) {
      case 'EventDefined':
        return void this.#operations.push({ kind: 'DEFINE', at, definition: fact.data.definition });
      case 'PerformanceCancelled': {
        const { performanceId, orders = 'WHOLE' } = fact.data;
        this.#cancelled.add(performanceId);
        return void this.#operations.push({ kind: 'CANCEL_PERFORMANCE', at, performanceId, orders });
      }
      case 'SeatsBlocked':
      case 'SeatsUnblocked': {
        const { performanceId, seatIds } = fact.data;
        const kind = fact.type === 'SeatsBlocked' ? 'BLOCK' : 'UNBLOCK';
        return void this.#operations.push({ kind, at, performanceId, seatIds });
      }
      case 'OrderCancelled':
        return this.#ofOrder(fact.data.orderId, 'orders cancelled', (order) => {
          const { number, person } = order;
          const { cause, amendmentId } = fact.data;
          if (cause === 'OPERATOR') this.#leaveOut('orders cancelled by operators');
          if (cause === 'BUYER' && amendmentId === undefined)
            this.#intents.push({ kind: 'PAY', at, person, order: number, outcome: 'cancelled' });
          if (order.isSold) this.#begun!.sales.cancelled({ ...order.sold, at });
          order.isSold = false;
        });
      case 'AmendmentRequested':
        this.#ofAmendments.add(fact.data.paymentId);
        return this.#leaveOut('amendments to be paid');
      case 'OrderAmended':
        // With a performance its tickets are cancelled in the rehearsal too.
        if (fact.data.by === 'PERFORMANCE') return;
        return this.#leaveOut('orders amended');
      case 'RefundRequested':
        return this.#leaveOut('refunds executed');
      case 'RefundRecorded':
        return this.#leaveOut('refunds recorded');
      case 'StrayMoneyRecorded':
        return this.#leaveOut('money that no payment asked for');
      case 'TicketsScanned':
        return this.#leaveOut(SCANS, fact.data.scans.length);
      case 'TicketScannedByHand':
        return this.#leaveOut(SCANS);
    }
  }

  // ── the waiting room ───────────────────────────────────────────────────────────────────────────────────────────────

  #noteJoin({ entryId, sessionKey }: FactData['QueueEntryJoined'], at: number): void {
    const person = this.#personOf(sessionKey);
    this.#waits.set(entryId, { person, joinedAt: at, entry: this.#waits.size, end: null });
  }

  #noteLeave(entryId: string, at: number): void {
    const wait = this.#waits.get(entryId);
    if (wait === undefined) return this.#leaveOut('leaving a line joined before the period');
    wait.end ??= { at, by: 'LEFT' };
    this.#intents.push({ kind: 'LEAVE', at, person: wait.person, entry: wait.entry });
  }

  #endWaits(entryIds: readonly string[], end: WaitEnd): void {
    for (const entryId of entryIds) {
      const wait = this.#waits.get(entryId);
      if (wait !== undefined) wait.end ??= { ...end, at: Math.max(end.at, wait.joinedAt) };
    }
  }

  #inactivityMs(): number {
    return (this.#definition?.waitingRoomInactivitySeconds ?? 0) * 1_000;
  }

  // ── holds ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  #noteHold({ holdId, sessionKey, lines, orderId }: FactData['HoldPlaced'], at: number, now: number): void {
    const person = this.#personOf(sessionKey);
    const isPicked = !this.#areBest(sessionKey, lines, now);
    const hold: TracedHold = { number: this.#holds.size, person, isPicked, wasHeld: orderId === undefined, lines };
    this.#holds.set(holdId, hold);
    // A checkout without a hold places its own; the order that follows says what it has.
    if (!hold.wasHeld) return;
    const items = lines.map((line) => itemOf(line, isPicked));
    this.#intents.push({ kind: 'HOLD', at, person, hold: hold.number, items });
  }

  /** Rule 2. A search could not know which of several lines with seats comes first, so these count as picked. */
  #areBest(sessionKey: string, lines: readonly HoldLine[], now: number): boolean {
    const [line, ...others] = lines.filter(({ seatIds }) => seatIds.length > 0);
    if (line === undefined || others.length > 0) return line === undefined;
    const { ticketTypeId, performanceId, ticketCount: count, seatIds } = line;
    const best = this.#replay.read({ type: 'SuggestSeats', ticketTypeId, performanceId, count, sessionKey }, now);
    if (isRefusal(best)) return false;
    const own = new Set(seatIds);
    return best.length === own.size && best.every(({ id }) => own.has(id));
  }

  #noteChange({ holdId, lines }: FactData['HoldChanged'], at: number): void {
    const hold = this.#holds.get(holdId);
    if (hold === undefined) return this.#leaveOut('changes of holds placed before the period');
    const before = new Map(hold.lines.map((line) => [lineKey(line), line]));
    const kept = new Set(lines.map(lineKey));
    const changed = lines.filter((line) => before.get(lineKey(line))?.quantity !== line.quantity);
    const dropped = hold.lines.filter((line) => !kept.has(lineKey(line)));
    const items = [
      ...(changed.length + dropped.length === 0 ? lines.slice(0, 1) : changed).map((line) =>
        itemOf(line, hold.isPicked),
      ),
      ...dropped.map((line) => ({ ...itemOf(line, false), quantity: 0 })),
    ];
    hold.lines = lines;
    this.#intents.push({ kind: 'CHANGE', at, person: hold.person, hold: hold.number, items });
  }

  #noteRelease(holdId: string, at: number): void {
    const hold = this.#holds.get(holdId);
    if (hold === undefined) return this.#leaveOut('releases of holds placed before the period');
    // With a performance all its holds are released, by no buyer, in the turns after its cancellation.
    if (hold.lines.some(({ performanceId }) => this.#cancelled.has(performanceId))) return;
    this.#intents.push({ kind: 'RELEASE', at, person: hold.person, hold: hold.number });
  }

  // ── orders ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  #noteOrder(data: FactData['OrderPlaced'], at: number): void {
    const { orderId, holdId, items, promoCode, installmentsCents, totalCents } = data;
    const hold = this.#holds.get(holdId);
    if (hold === undefined) return this.#leaveOut('orders of holds placed before the period');
    const { person } = hold;
    const seats = items.flatMap(({ performanceId, seatIds }) => seatIds.map((id) => seatKey(performanceId, id)));
    const tickets = items.reduce((sum, { ticketCount }) => sum + ticketCount, 0);
    const order = this.#orders.size;
    this.#orders.set(orderId, {
      number: order,
      person,
      sold: { tickets, seats, totalCents, lines: items },
      isSold: false,
      isOfCounter: false,
    });
    const { wasHeld } = hold;
    this.#intents.push({
      kind: 'START',
      at,
      person,
      hold: wasHeld ? hold.number : null,
      order,
      buyer: numberOf(this.#buyers, buyerKeyOf(data)),
      items: items.map((item) => orderItemOf(item, hold.isPicked && !wasHeld)),
      promoCode,
      installments: Math.max(1, installmentsCents.length),
      totalCents,
    });
  }

  /** The order placed just now was made by an operator, whom neither the waiting room nor a pause stops. */
  #noteCounterSale({ orderId, exceedsLimits }: FactData['SoldAtCounter'], at: number): void {
    const order = this.#orders.get(orderId);
    const start = this.#intents.at(-1);
    if (order === undefined || start?.kind !== 'START' || start.order !== order.number) return;
    this.#intents.pop();
    order.isOfCounter = true;
    const { buyer, items, totalCents } = start;
    const payment = totalCents === 0 ? 'FREE' : 'CASH';
    this.#operations.push({
      kind: 'SELL_AT_COUNTER',
      at,
      buyer,
      items,
      payment,
      exceedsLimits: exceedsLimits === true,
    });
  }

  #notePayment(
    { orderId, paymentId }: FactData['PaymentRecorded' | 'PaymentClosed'],
    outcome: 'paid' | 'declined' | 'cancelled',
    at: number,
  ): void {
    if (this.#ofAmendments.has(paymentId)) return;
    this.#ofOrder(orderId, 'payments of orders placed before the period', ({ number, person, isOfCounter }) => {
      if (!isOfCounter) this.#intents.push({ kind: 'PAY', at, person, order: number, outcome });
    });
  }

  #ofOrder(orderId: string, what: string, use: (order: TracedOrder) => void): void {
    const order = this.#orders.get(orderId);
    if (order === undefined) this.#leaveOut(what);
    else use(order);
  }

  // ── numbers ────────────────────────────────────────────────────────────────────────────────────────────────────────

  #personOf(sessionKey: string): number {
    return numberOf(this.#people, sessionKey);
  }

  #leaveOut(what: string, times = 1): void {
    this.#leftOut[what] = (this.#leftOut[what] ?? 0) + times;
  }
}

function numberOf(numbers: Map<string, number>, name: string): number {
  let number = numbers.get(name);
  if (number === undefined) numbers.set(name, (number = numbers.size));
  return number;
}

function itemOf(
  { performanceId, ticketTypeId, sellingStageId, quantity, seatIds }: HoldLine,
  isPicked: boolean,
): TracedItem {
  const named = isPicked && seatIds.length > 0 ? seatIds : null;
  return { performanceId, ticketTypeId, sellingStageId, quantity, seatIds: named };
}

function orderItemOf(item: FactData['OrderPlaced']['items'][number], isPicked: boolean): TracedOrderItem {
  const { performanceId, ticketTypeId, sellingStageId, quantity, ticketCount, seatIds } = item;
  return {
    performanceId,
    ticketTypeId,
    sellingStageId,
    quantity,
    ticketCount,
    seatIds: isPicked && seatIds.length > 0 ? seatIds : null,
    isNamed: item.attendees !== null || item.isNamed === true,
    discountCode: item.discountCode,
    barPerks: item.barPerks.map(({ barPerkId, quantity: perks }) => ({ barPerkId, quantity: perks })),
  };
}

const PROGRESS_EVERY = 4_096;

/** The trace of a period, or null when no buyer did anything in it. Rejects with JournalDamaged and UnknownFact. */
export async function readTrace(
  view: JournalView,
  eventId: string,
  period: Period,
  onProgress: (seq: number, headSeq: number) => void = () => {},
): Promise<Trace | null> {
  const replay = startReplay(eventId, await eventNumberIn(view, eventId));
  const builder = new TraceBuilder(eventId, replay, period);
  const headSeq = view.heads.get(eventId) ?? 0;
  let count = 0;
  for (const row of await view.factsOf(eventId)) {
    if (!builder.see(replay.readFact(row), row.at)) break;
    count += 1;
    if (count % PROGRESS_EVERY === 0) onProgress(row.seq, headSeq);
  }
  return builder.finish();
}
