/**
 * The audit: whether the stock of an event agrees with its holds and orders.
 *
 * Counts everything anew from holds and orders and compares it with the counters, seat maps and indexes that turns keep
 * in step (I7, I8). Slow and plain on purpose: it shares no arithmetic with `inventory.ts`. Never used in a turn.
 */
import { sumOf } from '../money.ts';
import {
  agreedOf,
  awaitsFirstSession,
  isCovered,
  isLiveOrder,
  isPaidOrder,
  pendingAmendment,
  performanceIdsOf,
  type Order,
} from '../orders/order.ts';
import { addTo } from '../collections/maps.ts';
import { isLeftOn, wantedItemsOf } from '../orders/state.ts';
import type { HoldLine } from '../fact.ts';
import type { LocalityPlan } from '../catalogue/sale-plan.ts';
import type { EventState } from './state.ts';
import { isLive, type Hold } from '../holds/state.ts';
import type { PerformanceState } from '../inventory/performance.ts';

/** One rule that is broken. */
export interface Discrepancy {
  readonly what: string;
  readonly where: string;
}

/** What a hold or an order has of a performance, or an amendment wants beyond that. */
interface AuditedLine {
  readonly hold: Pick<Hold, 'id'>;
  readonly line: HoldLine;
  readonly kind: 'held' | 'sold';
}

/** Everything in an event that does not agree. Cost: a pass over its holds, orders and seats. */
export function auditEventState(state: EventState): readonly Discrepancy[] {
  const claims = claimsByPerformance(state);
  return [
    ...auditSessions(state),
    ...auditOrders(state),
    ...auditCancellations(state),
    ...lostClaims(state, claims),
    ...[...state.performances.values()].flatMap((performance) =>
      auditPerformance(state, performance, claims.get(performance.id) ?? []),
    ),
  ];
}

/** Tickets beyond capacity, by the counters alone: cheap enough to ask all day. Anything but 0 is a defect. */
export function oversoldTickets({ plan, performances }: Pick<EventState, 'plan' | 'performances'>): number {
  return sumOf([...performances.values()], ({ inventory }) =>
    sumOf(plan.localities, (locality) => {
      const { held, sold, blocked } = inventory.totalsOf(locality);
      return Math.max(0, held + sold + blocked - capacityOf(locality));
    }),
  );
}

function claimsByPerformance(state: EventState): Map<string, AuditedLine[]> {
  const claims = new Map<string, AuditedLine[]>();
  const note = (audited: AuditedLine): void => {
    const known = claims.get(audited.line.performanceId);
    if (known === undefined) claims.set(audited.line.performanceId, [audited]);
    else known.push(audited);
  };
  for (const hold of state.holds.byId.values()) {
    const kind = isLive(hold) ? 'held' : hold.status === 'CONSUMED' ? 'sold' : null;
    if (kind === null) continue;
    for (const line of hold.lines) note({ hold, line, kind });
  }
  for (const order of state.orders.inOrder) {
    for (const line of wantedLines(state, order)) note({ hold: { id: `of order ${order.id}` }, line, kind: 'held' });
  }
  return claims;
}

/** The places that a pending amendment wants and its order has not, as one line for each locality of a performance. */
function wantedLines(state: EventState, order: Order): readonly HoldLine[] {
  const wanted = pendingAmendment(order)?.asked?.change.lines ?? [];
  const own = state.holds.byId.get(order.purchase.holdId)?.lines ?? [];
  const isSamePlace = (one: HoldLine, other: HoldLine): boolean =>
    one.performanceId === other.performanceId &&
    state.plan.ticketTypeById.get(one.ticketTypeId)?.locality ===
      state.plan.ticketTypeById.get(other.ticketTypeId)?.locality;
  const first = wanted.filter((line, index) => wanted.findIndex((each) => isSamePlace(each, line)) === index);
  return first.flatMap((line) => {
    const [lines, before] = [wanted, own].map((all) => all.filter((each) => isSamePlace(each, line)));
    const seats = new Set(before!.flatMap(({ seatIds }) => seatIds));
    const seatIds = lines!.flatMap((each) => each.seatIds).filter((seatId) => !seats.has(seatId));
    const isNumbered = lines!.some((each) => each.seatIds.length > 0);
    const more = sumOf(lines!, (each) => each.ticketCount) - sumOf(before!, (each) => each.ticketCount);
    return [{ ...line, seatIds, ticketCount: isNumbered ? seatIds.length : Math.max(0, more) }];
  });
}

function lostClaims(state: EventState, claims: ReadonlyMap<string, readonly AuditedLine[]>): Discrepancy[] {
  return [...claims.keys()]
    .filter((performanceId) => !state.performances.has(performanceId))
    .map((performanceId) => ({
      what: 'tickets are held or sold at a performance that is gone',
      where: `performance ${performanceId}`,
    }));
}

// ── stock ────────────────────────────────────────────────────────────────────────────────────────────────────────────

function auditPerformance(
  state: EventState,
  performance: PerformanceState,
  claims: readonly AuditedLine[],
): Discrepancy[] {
  const localityOf = ({ line }: AuditedLine) => state.plan.ticketTypeById.get(line.ticketTypeId)?.locality;
  return state.plan.localities.flatMap((locality) => {
    const here = claims.filter((claim) => localityOf(claim) === locality);
    return [
      ...auditCounters(performance, locality, here),
      ...(locality.seating === null ? [] : auditSeats(performance, locality.seating.seatIds, here)),
    ];
  });
}

/** Capacity = available + held + sold + blocked, each as the claims add up and none below zero (I7). */
function auditCounters(
  performance: PerformanceState,
  locality: LocalityPlan,
  claims: readonly AuditedLine[],
): Discrepancy[] {
  const where = `performance ${performance.id}, locality ${locality.id}`;
  const { held, sold, blocked, available } = performance.inventory.totalsOf(locality);
  const capacity = capacityOf(locality);
  const found: Discrepancy[] = [];
  const expect = (name: string, counter: number, counted: number): void => {
    if (counter !== counted) found.push({ what: `${counter} tickets count as ${name}, but it is ${counted}`, where });
  };
  expect('held', held, ticketsOf(claims, 'held'));
  expect('sold', sold, ticketsOf(claims, 'sold'));
  expect('blocked', blocked, blockedSeats(performance, locality));
  expect('available', available, capacity - held - sold - blocked);
  if (available < 0) found.push({ what: `it is oversold by ${-available}`, where });
  return found;
}

function capacityOf({ definition }: LocalityPlan): number {
  if (definition.seating === 'GENERAL') return definition.capacity;
  return sumOf(definition.sections, (section) => sumOf(section.rows, (row) => row.seats.length));
}

function ticketsOf(claims: readonly AuditedLine[], kind: AuditedLine['kind']): number {
  return sumOf(claims, (claim) => (claim.kind === kind ? claim.line.ticketCount : 0));
}

function blockedSeats({ inventory }: PerformanceState, { seating }: LocalityPlan): number {
  return sumOf(seating?.seatIds ?? [], (seatId) => (inventory.seatState(seatId) === 'BLOCKED' ? 1 : 0));
}

/** A seat is in at most one claim, and in the state that its claim says. */
function auditSeats(
  { id, inventory }: PerformanceState,
  seatIds: readonly string[],
  claims: readonly AuditedLine[],
): Discrepancy[] {
  const found: Discrepancy[] = [];
  const claimOf = new Map<string, AuditedLine>();
  for (const claim of claims) {
    for (const seatId of claim.line.seatIds) {
      const other = claimOf.get(seatId);
      const where = `performance ${id}, seat ${seatId}`;
      if (other !== undefined) found.push({ what: `it is in the holds ${other.hold.id} and ${claim.hold.id}`, where });
      claimOf.set(seatId, claim);
    }
  }
  const expectedOf = { held: 'HELD', sold: 'SOLD' } as const;
  for (const seatId of seatIds) {
    const state = inventory.seatState(seatId);
    const claim = claimOf.get(seatId);
    const isRight =
      claim === undefined ? state === 'AVAILABLE' || state === 'BLOCKED' : state === expectedOf[claim.kind];
    if (isRight) continue;
    const what = `it is ${state}, but ${claim === undefined ? 'it is in no hold' : `it is ${claim.kind} by ${claim.hold.id}`}`;
    found.push({ what, where: `performance ${id}, seat ${seatId}` });
  }
  return found;
}

// ── holds and orders ─────────────────────────────────────────────────────────────────────────────────────────────────

/** A session has one ACTIVE hold, the one that it is found by (I8), and a performance counts those on it. */
function auditSessions(state: EventState): Discrepancy[] {
  const { holds } = state;
  const found: Discrepancy[] = [];
  const active = [...holds.byId.values()].filter(({ status }) => status === 'ACTIVE');
  for (const hold of active) {
    if (holds.activeBySession.get(hold.sessionKey) === hold) continue;
    found.push({ what: 'its session has another ACTIVE hold, or none', where: `hold ${hold.id}` });
  }
  const counted = new Map<string, number>();
  for (const { lines } of active) {
    for (const id of new Set(lines.map(({ performanceId }) => performanceId))) {
      addTo(counted, id, 1);
    }
  }
  for (const { id, activeHolds } of state.performances.values()) {
    const count = counted.get(id) ?? 0;
    if (activeHolds === count) continue;
    found.push({
      what: `${activeHolds} ACTIVE holds are noted for it, but there are ${count}`,
      where: `performance ${id}`,
    });
  }
  if (active.length === holds.activeBySession.size) return found;
  const what = `${holds.activeBySession.size} sessions have an ACTIVE hold, but ${active.length} holds are ACTIVE`;
  return [...found, { what, where: 'sessions' }];
}

function auditOrders(state: EventState): Discrepancy[] {
  const { inOrder, awaitingSession } = state.orders;
  return [...inOrder].flatMap((order) => {
    const found = discrepanciesOf(order, state.holds.byId.get(order.purchase.holdId));
    if (awaitingSession.has(order.number) !== awaitsFirstSession(order)) {
      found.push('it awaits its first session and is not noted so, or the other way round');
    }
    const pending = pendingAmendment(order);
    if (pending !== null && state.orders.pendingAmendments.get(pending.id) !== order.number) {
      found.push('an amendment of it is pending and is not noted so');
    }
    return found.map((what) => ({ what, where: `order ${order.id}` }));
  });
}

/** Everything on a cancelled performance has ended, or turns that end it are still to come. */
function auditCancellations(state: EventState): Discrepancy[] {
  const { orders, performances, cancelling } = state;
  const wanted = new Map<string, number>();
  const counted = new Map<string, number>();
  const countedOnOthers = new Map<string, number>();
  for (const order of [...orders.inOrder].filter(isLiveOrder)) {
    const dates = performanceIdsOf(order);
    const wantedDates = new Set(wantedItemsOf(order).map(({ performanceId }) => performanceId));
    for (const id of wantedDates) addTo(wanted, id, 1);
    for (const id of dates) {
      addTo(counted, id, 1);
      if (dates.size > 1 && isPaidOrder(order)) addTo(countedOnOthers, id, 1);
    }
  }
  return [...performances.values()].flatMap(({ id, status }) => {
    const count = counted.get(id) ?? 0;
    const noted = orders.liveByPerformance.get(id) ?? 0;
    const found: string[] = [];
    if (noted !== count) found.push(`${noted} live orders are noted for it, but there are ${count}`);
    const onOthers = countedOnOthers.get(id) ?? 0;
    const notedOnOthers = orders.onOthersByPerformance.get(id) ?? 0;
    if (notedOnOthers !== onOthers)
      found.push(`${notedOnOthers} of them are noted on others, but there are ${onOthers}`);
    const notedAsWanted = orders.wantedByPerformance.get(id) ?? 0;
    if (notedAsWanted !== (wanted.get(id) ?? 0))
      found.push(
        `${notedAsWanted} pending amendments are noted to want something on it, but ${wanted.get(id) ?? 0} do`,
      );
    if (cancelling.has(id) !== (status === 'CANCELLED' && isLeftOn(state, id))) {
      found.push('what is left on the cancelled performance is not noted to end, or the other way round');
    }
    return found.map((what) => ({ what, where: `performance ${id}` }));
  });
}

/**
 * A PENDING order has a CONVERTED hold, a paid one a CONSUMED hold and its tickets, one that is over no claim at all.
 */
function discrepanciesOf(order: Order, hold: Hold | undefined): string[] {
  const found: string[] = [];
  const expect = (holds: boolean, what: string): void => {
    if (!holds) found.push(what);
  };
  if (hold === undefined) return ['its hold is gone'];
  const isPaid = order.status === 'CONFIRMED' || order.status === 'PARTIALLY_PAID';
  const isRightHold = isPaid
    ? hold.status === 'CONSUMED'
    : order.status === 'PENDING'
      ? hold.status === 'CONVERTED'
      : true;
  expect(isRightHold, `it is ${order.status}, but its hold is ${hold.status}`);
  expect(
    isLiveOrder(order) || hold.status === 'RELEASED' || hold.status === 'EXPIRED',
    'it is over, but keeps its tickets',
  );
  expect(hold.orderId === order.id, 'its hold belongs to another order');
  const tickets = sumOf(agreedOf(order).items, (item) => item.ticketCount);
  expect(tickets === sumOf(hold.lines, (line) => line.ticketCount), 'its hold has another number of tickets');
  expect(!isPaid || order.ticketIds.length === tickets, 'it is paid, but its tickets are not issued');
  expect(isCovered(order), 'more was given back than was paid');
  const origins = order.changed?.origins.length ?? order.ticketIds.length;
  expect(origins === order.ticketIds.length, 'it was changed, but not each of its tickets has an origin');
  const { personal, customer, tracking, items } = order.purchase;
  const isOpen = customer !== null || tracking !== null || items.some(({ attendees }) => attendees !== null);
  expect(personal === undefined || !isOpen, 'its personal data is sealed, but a field is open');
  expect(personal !== undefined || customer !== null, 'its customer is neither sealed nor open');
  expect(
    order.erasure === undefined || (personal?.sealed ?? null) === null,
    'it was erased, but its personal data is there',
  );
  return found;
}
