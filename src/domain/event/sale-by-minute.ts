/**
 * A sale by minute: tickets, money and the line of an event, added up from its facts alone, without its state.
 *
 * 1. Money counts in the minute in which it was recorded, as in the money by hour: a refund that failed afterwards is
 *    taken off in its minute. Amounts of two currencies are never added up.
 * 2. The newest minutes are kept apart; older ones become hours, and the oldest hours one. The sums stay whole.
 * 3. Of single orders and people only ids are kept: for the tickets of each order, and for who waits.
 */
import type { FactData, FactType } from '../fact.ts';
import { HOUR_MS } from '../orders/money-by-hour.ts';

const MINUTE_MS = 60_000;

/** A week without a pause. */
const MINUTES_MAX = 7 * 24 * 60;
const HOURS_MAX = 2_000;

/** The pace is of so many minutes that are over. */
const PACE_MINUTES_MAX = 10;

export interface MinuteMoney {
  readonly currency: string;
  readonly paidCents: number;
  readonly refundedCents: number;
}

export interface SaleSums {
  /** Tickets issued, and tickets of them that were given back since. */
  readonly tickets: number;
  readonly returned: number;
  /** Orders that got tickets. */
  readonly orders: number;
  /** People who joined the line, and who were admitted. */
  readonly joined: number;
  readonly admitted: number;
  readonly money: readonly MinuteMoney[];
}

interface SalePoint extends SaleSums {
  /** When it began. */
  readonly at: number;
  /** People in line at its end. */
  readonly waiting: number;
}

export interface SaleRange {
  /** Null: since the sale began. */
  readonly from: number | null;
  /** Null: until now. */
  readonly to: number | null;
  /** Null, or too short for POINTS_MAX points: the shortest step of STEPS_MS with few points. */
  readonly stepMs: number | null;
}

export interface SaleView {
  /** When the first stage of the sale begins, at the earliest its publication; null before that. */
  readonly opensAt: number | null;
  /** What happened before this is known by the hour alone; null while all minutes are. */
  readonly minutesSince: number | null;
  readonly from: number;
  readonly to: number;
  readonly stepMs: number;
  /** Each step of the range, the oldest first. */
  readonly points: readonly SalePoint[];
  /** Of everything since the first fact. */
  readonly totals: SaleSums;
  /** Tickets issued less those given back, in so many of the last minutes that are over. */
  readonly pace: { readonly tickets: number; readonly minutes: number };
}

/** The steps of a range, in milliseconds; points are of whole steps since 1970. */
const STEPS_MS = [1, 5, 15, 60, 360, 1_440].map((minutes) => minutes * MINUTE_MS);
const POINTS_MAX = 1_500;
const POINTS_WANTED_MAX = 240;

type Money = { -readonly [Field in keyof MinuteMoney]: MinuteMoney[Field] };
type Sums = { -readonly [Field in Exclude<keyof SaleSums, 'money'>]: number } & {
  readonly money: Money[];
  /** Null where the line did not change. */
  waiting: number | null;
};

/** The facts that count here; others are not parsed. */
const READ = {
  EventDefined: true,
  TicketsIssued: true,
  OrderAmended: true,
  OrderCancelled: true,
  PaymentRecorded: true,
  StrayMoneyRecorded: true,
  RefundRecorded: true,
  RefundAnswered: true,
  QueueEntryJoined: true,
  QueueEntriesAdmitted: true,
  QueueEntriesDropped: true,
  QueueEntryLeft: true,
  WaitingRoomRemoved: true,
} as const satisfies Partial<Record<FactType, true>>;

type ReadType = keyof typeof READ;
type ReadFact = { [Type in ReadType]: { readonly type: Type; readonly data: FactData[Type] } }[ReadType];

export class SaleByMinute {
  readonly #minutes = new Map<number, Sums>();
  readonly #hours = new Map<number, Sums>();
  readonly #totals = newSums();
  /** Tickets by order. */
  readonly #tickets = new Map<string, number>();
  readonly #waiting = new Set<string>();
  /** When refunds succeeded: one may fail afterwards, also one that was only reported. */
  readonly #refunds = new Map<string, number>();
  #currency = '';
  #publishedAt: number | null = null;
  #opensAt: number | null = null;
  /** Minutes before this one became hours. */
  #minutesSince: number | null = null;

  /** Adds a stored fact of the event; facts come in their order. Returns whether the fact had to be parsed. */
  note({ at, type, data }: { readonly at: number; readonly type: string; readonly data: string }): boolean {
    if (!Object.hasOwn(READ, type)) return false;
    this.#note({ type, data: JSON.parse(data) } as ReadFact, at);
    return true;
  }

  #note({ type, data }: ReadFact, at: number): void {
    switch (type) {
      case 'EventDefined':
        return this.#define(data, at);
      case 'TicketsIssued':
        this.#tickets.set(data.orderId, data.ticketIds.length);
        return this.#add(at, { tickets: data.ticketIds.length, orders: 1 });
      case 'OrderAmended':
        return this.#change(at, data.orderId, data.ticketIds.length);
      case 'OrderCancelled':
        this.#change(at, data.orderId, 0);
        return void this.#tickets.delete(data.orderId);
      case 'PaymentRecorded':
      case 'StrayMoneyRecorded':
        return this.#addMoney(at, { currency: data.currency, paidCents: data.amountCents, refundedCents: 0 });
      case 'RefundRecorded':
        return this.#refund(data, at);
      case 'RefundAnswered':
        return this.#answerRefund(data);
      case 'QueueEntryJoined':
        this.#waiting.add(data.entryId);
        return this.#add(at, { joined: 1 }, true);
      case 'QueueEntriesAdmitted':
        for (const entryId of data.entryIds) this.#waiting.delete(entryId);
        return this.#add(at, { admitted: data.entryIds.length }, true);
      case 'QueueEntriesDropped':
        for (const entryId of data.entryIds) this.#waiting.delete(entryId);
        return this.#add(at, {}, true);
      case 'QueueEntryLeft':
        this.#waiting.delete(data.entryId);
        return this.#add(at, {}, true);
      case 'WaitingRoomRemoved':
        this.#waiting.clear();
        return this.#add(at, {}, true);
    }
  }

  #define({ definition }: FactData['EventDefined'], at: number): void {
    this.#currency = definition.currency;
    if (definition.status !== 'PUBLISHED') return;
    this.#publishedAt ??= at;
    const stages = definition.sellingStages.map(({ startsAt }) => startsAt ?? -Infinity);
    this.#opensAt = Math.max(this.#publishedAt, stages.length === 0 ? -Infinity : Math.min(...stages));
  }

  /** An order has so many tickets from now on. */
  #change(at: number, orderId: string, tickets: number): void {
    const returned = (this.#tickets.get(orderId) ?? 0) - tickets;
    if (returned <= 0) return;
    this.#tickets.set(orderId, tickets);
    this.#add(at, { returned });
  }

  #refund({ refundId, currency = this.#currency, amountCents, sameAs }: FactData['RefundRecorded'], at: number): void {
    const known = sameAs === undefined ? at : this.#refunds.get(sameAs);
    if (sameAs === undefined) this.#refunds.set(refundId, at);
    if (known !== undefined && amountCents > 0)
      this.#addMoney(known, { currency, paidCents: 0, refundedCents: amountCents });
  }

  #answerRefund({ refundId, answer, currency = this.#currency, amountCents }: FactData['RefundAnswered']): void {
    const at = this.#refunds.get(refundId);
    if (answer !== 'FAILED' || at === undefined) return;
    this.#refunds.delete(refundId);
    this.#addMoney(at, { currency, paidCents: 0, refundedCents: -amountCents });
  }

  #add(at: number, more: Partial<SaleSums>, isOfLine = false): void {
    for (const sums of [this.#sumsAt(at), this.#totals]) {
      addTo(sums, { ...more, ...(isOfLine && { waiting: this.#waiting.size }) });
    }
  }

  #addMoney(at: number, money: MinuteMoney): void {
    // Each fact has a text of its own: the minutes share one.
    const { currency = money.currency } = this.#totals.money.find((each) => each.currency === money.currency) ?? {};
    this.#add(at, { money: [{ ...money, currency }] });
  }

  #sumsAt(at: number): Sums {
    if (this.#minutesSince !== null && at < this.#minutesSince) return spanOf(this.#hours, at, HOUR_MS);
    if (this.#minutes.size >= MINUTES_MAX) this.#coarsen();
    return spanOf(this.#minutes, at, MINUTE_MS);
  }

  /** The oldest quarter of the minutes become hours; the oldest quarter of too many hours becomes one (rule 2). */
  #coarsen(): void {
    const minutes = inOrder(this.#minutes);
    const [last] = minutes[minutes.length >> 2]!;
    this.#minutesSince = last - (last % HOUR_MS) + HOUR_MS;
    for (const [at, sums] of minutes) {
      if (at >= this.#minutesSince) break;
      addTo(spanOf(this.#hours, at, HOUR_MS), sums);
      this.#minutes.delete(at);
    }
    if (this.#hours.size <= HOURS_MAX) return;
    const oldest = inOrder(this.#hours).slice(0, HOURS_MAX >> 2);
    const whole = newSums();
    for (const [at, sums] of oldest) {
      addTo(whole, sums);
      this.#hours.delete(at);
    }
    this.#hours.set(oldest.at(-1)![0], whole);
  }

  /** What a range shows as of now. */
  view(range: SaleRange, now: number): SaleView {
    const begin = range.from ?? Math.min(this.#opensAt ?? now, now);
    const end = Math.min(range.to ?? Infinity, now + 1);
    const stepMs = stepOf(Math.max(1, end - begin), range.stepMs);
    const from = begin - (begin % stepMs);
    // None where the range ends before it begins: before the opening, or in the future.
    const points = end <= begin ? [] : Array.from({ length: Math.ceil((end - from) / stepMs) }, newSums);
    let before = 0;
    for (const [at, sums] of inOrder(this.#hours).concat(inOrder(this.#minutes))) {
      if (at >= end) break;
      if (at < from) before = sums.waiting ?? before;
      const point = at < from ? undefined : points[Math.floor((at - from) / stepMs)];
      if (point !== undefined) addTo(point, sums);
    }
    let waiting = before;
    return {
      opensAt: this.#opensAt,
      minutesSince: this.#minutesSince,
      from,
      to: Math.max(from, Math.min(end, now)),
      stepMs,
      points: points.map((sums, index) => ({
        at: from + index * stepMs,
        ...sums,
        waiting: (waiting = sums.waiting ?? waiting),
      })),
      totals: this.#totals,
      pace: this.#paceAt(now),
    };
  }

  #paceAt(now: number): SaleView['pace'] {
    const end = now - (now % MINUTE_MS);
    const opensAt = this.#opensAt ?? now;
    const begin = Math.max(end - PACE_MINUTES_MAX * MINUTE_MS, opensAt - (opensAt % MINUTE_MS));
    let tickets = 0;
    for (let at = begin; at < end; at += MINUTE_MS) {
      const sums = this.#minutes.get(at);
      if (sums !== undefined) tickets += sums.tickets - sums.returned;
    }
    return { tickets, minutes: Math.max(0, (end - begin) / MINUTE_MS) };
  }
}

function newSums(): Sums {
  return { tickets: 0, returned: 0, orders: 0, joined: 0, admitted: 0, money: [], waiting: null };
}

function addTo(sums: Sums, more: Partial<Sums> | Partial<SaleSums & { readonly waiting: number | null }>): void {
  const { tickets = 0, returned = 0, orders = 0, joined = 0, admitted = 0, money = [] } = more;
  sums.tickets += tickets;
  sums.returned += returned;
  sums.orders += orders;
  sums.joined += joined;
  sums.admitted += admitted;
  if ('waiting' in more) sums.waiting = more.waiting ?? sums.waiting;
  for (const { currency, paidCents, refundedCents } of money) {
    let known = sums.money.find((each) => each.currency === currency);
    if (known === undefined) sums.money.push((known = { currency, paidCents: 0, refundedCents: 0 }));
    known.paidCents += paidCents;
    known.refundedCents += refundedCents;
  }
}

function spanOf(spans: Map<number, Sums>, at: number, spanMs: number): Sums {
  const begin = at - (at % spanMs);
  let sums = spans.get(begin);
  if (sums === undefined) spans.set(begin, (sums = newSums()));
  return sums;
}

function inOrder(spans: ReadonlyMap<number, Sums>): [number, Sums][] {
  return [...spans].sort(([one], [other]) => one - other);
}

function stepOf(lengthMs: number, wantedMs: number | null): number {
  const fits = (stepMs: number, pointsMax: number): boolean => lengthMs / stepMs < pointsMax;
  if (wantedMs !== null && fits(wantedMs, POINTS_MAX)) return wantedMs;
  const longest = STEPS_MS.at(-1)!;
  const whole = Math.ceil(lengthMs / longest / POINTS_WANTED_MAX) * longest;
  return STEPS_MS.find((stepMs) => fits(stepMs, POINTS_WANTED_MAX)) ?? whole;
}
