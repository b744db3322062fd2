/**
 * Plans what an amendment would do to an order now: everything in its quote and its fact.
 *
 * The checks run in the order of the API: the order's status; a pending one; tickets; permission; dates; types and
 * stages; limits; attendees; seats; stock. The quote is compared in `decide.ts`.
 *
 * 1. Nothing is changed here (I2). The same order, request and state give the same plan, so that quotes can be
 *    compared.
 * 2. Where all tickets of an amendment are given back, its fee is at most their credit.
 * 3. Where no ticket is left the order keeps its fees and nothing else.
 * 4. Units of one change that come from one item and get another price become one new item; their codes are applied to
 *    the new price.
 */
import { checkCartLimits } from '../../holds/cart-limits.ts';
import { lineKey } from '../../inventory/hold-line.ts';
import { sumOf } from '../../money.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../../refusal.ts';
import { agreedOf, amendmentsOf, isErased, pendingAmendment, type Order } from '../order.ts';
import { discountAnew, hasPromo } from '../pricing.ts';
import { assignPlaces, findDestinations, type ChangedUnit, type NewSeats, type UnitsOfChange } from './destinations.ts';
import { checkPermission, feeOf } from './permission.ts';
import { settle, type AmendmentPlan, type PlannedTicket } from './settlement.ts';
import { costOf, creditsOf, goodwillOf, groupsOf, perksCentsOf, unitsOf } from './units.ts';
import type { OrderUnit, UnitCredit } from './units.ts';
import type { AmendmentRequest } from '../../amendment-request.ts';
import type { CancellationCause, PricedItem } from '../../fact.ts';
import type { OrderState } from '../state.ts';

/** Bounds the memory of an order. */
export const ORDER_AMENDMENTS_MAX = 100;

/** Tickets that one amendment names. */
export const AMENDED_TICKETS_MAX = 1_000;

/** Whether a ticket entered at a door. Doors know orders, and not the other way round: the caller answers. */
export type HasEntered = (ticketId: string) => boolean;

/** Who amends, and when. */
interface Amending {
  readonly by: CancellationCause;
  readonly now: number;
  readonly hasEntered: HasEntered;
}

/** ORDER_NOT_AMENDABLE unless the order can be amended; AMENDMENT_PENDING while an amendment of it is to be paid. */
function refuseUnlessAmendable(order: Order): Refusal | null {
  const { status } = order;
  const count = amendmentsOf(order).filter(({ by }) => by !== 'PERFORMANCE').length;
  const isAmendable = (status === 'CONFIRMED' || status === 'PARTIALLY_PAID') && count < ORDER_AMENDMENTS_MAX;
  if (!isAmendable) return refuse('ORDER_NOT_AMENDABLE', { status });
  const pending = pendingAmendment(order);
  return pending === null ? null : refuse('AMENDMENT_PENDING', { amendmentId: pending.id });
}

interface NamedUnits {
  /** Of every ticket that is named, in the order of the order's tickets. */
  readonly unitOf: ReadonlyMap<string, OrderUnit>;
  readonly cancelled: readonly OrderUnit[];
  readonly changes: readonly UnitsOfChange[];
}

/** The units of the tickets of a request: TICKET_NOT_FOUND, TICKET_VOID, UNIT_INCOMPLETE, TICKET_ADMITTED. */
function findUnits(
  order: Order,
  units: readonly OrderUnit[],
  request: AmendmentRequest,
  hasEntered: HasEntered,
): NamedUnits | Refusal {
  const { cancel, reissue = [], change = [], attendees = [] } = request;
  const changing = change.flatMap((each) => each.ticketIds);
  const ticketIds = [...cancel, ...changing, ...reissue, ...attendees.map(({ ticketId }) => ticketId)];
  const wanted = new Set(ticketIds);
  const unitOf = new Map<string, OrderUnit>();
  for (const unit of units) for (const { ticketId } of unit.slots) if (wanted.has(ticketId)) unitOf.set(ticketId, unit);
  const known = new Set((order.changed?.voidedTickets ?? []).map(({ id }) => id));
  const strange = ticketIds.filter((ticketId) => !unitOf.has(ticketId) && !known.has(ticketId));
  if (strange.length > 0) return refuse('TICKET_NOT_FOUND', { ticketIds: strange });
  const voided = ticketIds.filter((ticketId) => !unitOf.has(ticketId));
  if (voided.length > 0) return refuse('TICKET_VOID', { ticketIds: voided });
  const missing: string[] = [];
  const unitsOfTickets = (ids: readonly string[]): readonly OrderUnit[] => {
    const named = new Set(ids);
    const found = [...new Set(ids.map((ticketId) => unitOf.get(ticketId)!))];
    const all = found.flatMap(({ slots }) => slots.map(({ ticketId }) => ticketId));
    missing.push(...all.filter((ticketId) => !named.has(ticketId)));
    return found;
  };
  const cancelled = unitsOfTickets(cancel);
  const changes = change.map((each) => ({ change: each, units: unitsOfTickets(each.ticketIds) }));
  if (missing.length > 0) return refuse('UNIT_INCOMPLETE', { ticketIds: missing });
  const entered = request.evenAdmitted === true ? [] : [...wanted].filter(hasEntered);
  return entered.length > 0 ? refuse('TICKET_ADMITTED', { ticketIds: entered }) : { unitOf, cancelled, changes };
}

/**
 * Plans an amendment. Refuses in order: ORDER_NOT_AMENDABLE and AMENDMENT_PENDING; as `findUnits`; of a buyer as
 * `checkPermission`; as `findDestinations`; of a buyer as `checkLimitsAfter`; ORDER_ERASED for attendees; as
 * `assignPlaces`; VALIDATION_ERROR for a fee over the credit (rule 2); as `settle`.
 */
export function planAmendment(
  state: OrderState,
  order: Order,
  request: AmendmentRequest,
  amending: Amending,
): AmendmentPlan | Refusal {
  const barred = refuseUnlessAmendable(order);
  if (barred !== null) return barred;
  const units = unitsOf(order);
  const named = findUnits(order, units, request, amending.hasEntered);
  if (isRefusal(named)) return named;
  const isBuyers = amending.by === 'BUYER';
  const permission = isBuyers ? checkPermission(state, order, request, named, amending.now) : null;
  if (permission !== null && isRefusal(permission)) return permission;
  const changed = findDestinations(state, named.changes, amending);
  if (isRefusal(changed)) return changed;
  const overLimits = isBuyers && changed.length > 0 ? checkLimitsAfter(state, units, named.cancelled, changed) : null;
  if (overLimits !== null) return overLimits;
  if ((request.attendees ?? []).length > 0 && isErased(order)) return refuse('ORDER_ERASED', {});
  const given = [...named.cancelled, ...changed.map(({ unit }) => unit)];
  const seats = assignPlaces(state, named.changes, changed, given);
  if (isRefusal(seats)) return seats;
  const repriced = changed.filter(({ isRepriced }) => isRepriced);
  const gone = new Set([...named.cancelled, ...repriced.map(({ unit }) => unit)]);
  const credits = creditsOf(units, (unit) => gone.has(unit));
  const anew = priceAnew(state, order, repriced, { units, credits, seats });
  if (isRefusal(anew)) return anew;
  const withoutPerks = repriced.flatMap(({ unit, offer }) => (offer.ticketTypeId === unit.ticketTypeId ? [] : [unit]));
  const perksCreditCents = perksCentsOf(order, [...named.cancelled, ...withoutPerks]);
  const creditCents = perksCreditCents + sumOf(credits.values(), (credit) => credit.creditCents);
  const creditOf = (of: readonly OrderUnit[]): number => sumOf(of, (unit) => credits.get(unit)!.creditCents);
  const feeCents =
    permission === null
      ? request.feeCents
      : feeOf(permission, {
          cancelledCents: creditOf(permission.byRule) + perksCentsOf(order, permission.byRule),
          changedCents: creditOf(repriced.map(({ unit }) => unit)) + perksCentsOf(order, withoutPerks),
        });
  if (isOnlyCancelled(request) && feeCents > creditCents) {
    return refuseProblems([{ path: ['fee'], message: `must be at most the credit of ${creditCents}` }]);
  }
  const moved = new Map(changed.filter((each) => !each.isRepriced).map((each) => [each.unit, each]));
  const left: OrderUnit[] = [];
  for (const unit of units) {
    const move = moved.get(unit);
    if (move !== undefined) left.push(movedUnit(move, seats));
    else if (!gone.has(unit)) left.push(unit);
    else for (const each of anew.units.get(unit) ?? []) left.push(each);
  }
  return settle(state, order, {
    groups: groupsOf(left),
    tickets: plannedTickets(request, { named, changed, credits, charged: anew.charged }),
    perksCreditCents,
    creditCents,
    chargeCents: sumOf(anew.charged.values(), (cents) => cents),
    goodwillGoneCents: sumOf(credits.values(), ({ goodwillCents }) => goodwillCents),
    feeCents,
    isGoodwill: request.goodwill === true,
    isWithdrawal: permission?.isWithdrawal ?? false,
    by: amending.by,
    endsAt: endOf(
      [permission?.endsAt ?? null, ...repriced.map(({ offer }) => offer.sellingStage.definition.endsAt)],
      amending.now,
    ),
  });
}

/** The first of the moments that are yet to come; null where there is none. */
function endOf(moments: readonly (number | null)[], now: number): number | null {
  const ends = moments.filter((moment) => moment !== null && moment > now) as number[];
  return ends.length === 0 ? null : Math.min(...ends);
}

/** Checks the limits of an order after a buyer's changes: refuses as `checkCartLimits`. */
function checkLimitsAfter(
  { plan }: OrderState,
  units: readonly OrderUnit[],
  cancelled: readonly OrderUnit[],
  changed: readonly ChangedUnit[],
): Refusal | null {
  const gone = new Set(cancelled);
  const changeOf = new Map(changed.map((each) => [each.unit, each]));
  const items = units.flatMap((unit) => {
    if (gone.has(unit)) return [];
    const { performanceId, offer, isRepriced } = changeOf.get(unit) ?? { ...unit, offer: unit, isRepriced: false };
    const ticketCount = unit.slots.length;
    const groupSize = plan.ticketTypeById.get(offer.ticketTypeId)?.groupSize ?? 1;
    return {
      performanceId,
      ticketTypeId: offer.ticketTypeId,
      quantity: isRepriced ? ticketCount / groupSize : 1,
      ticketCount,
    };
  });
  return checkCartLimits(plan, items);
}

function isOnlyCancelled({ change = [], reissue = [], attendees = [] }: AmendmentRequest): boolean {
  return change.length + reissue.length + attendees.length === 0;
}

function movedUnit({ unit, performanceId }: ChangedUnit, seats: NewSeats): OrderUnit {
  const slots = unit.slots.map((slot) => ({ ...slot, seatId: seats.get(slot.ticketId) ?? null }));
  return { ...unit, performanceId, slots };
}

// ── other prices ─────────────────────────────────────────────────────────────────────────────────────────────────────

interface Repricing {
  readonly units: readonly OrderUnit[];
  readonly credits: ReadonlyMap<OrderUnit, UnitCredit>;
  readonly seats: NewSeats;
}

interface PricedAnew {
  /**
   * The units that replace a former unit. Where several units become one item, the first has the new units and the
   * others have none.
   */
  readonly units: ReadonlyMap<OrderUnit, readonly OrderUnit[]>;
  /** What each new unit costs, by its first ticket. */
  readonly charged: ReadonlyMap<string, number>;
}

/** Units of another type or stage, as new items (rule 4): VALIDATION_ERROR where they fill no whole units. */
function priceAnew(
  state: OrderState,
  order: Order,
  repriced: readonly ChangedUnit[],
  repricing: Repricing,
): PricedAnew | Refusal {
  const placed = new Map<OrderUnit, readonly OrderUnit[]>(repriced.map(({ unit }) => [unit, []]));
  const charged = new Map<string, number>();
  if (repriced.length === 0) return { units: placed, charged };
  const groups = Map.groupBy(repriced, ({ unit, index, performanceId, offer }) =>
    [index, unit.priced.number, lineKey({ ...offer, performanceId })].join('\n'),
  );
  const numbers = repricing.units.map(({ priced }) => priced.number);
  let number = Math.max(order.purchase.items.length - 1, ...numbers);
  for (const group of groups.values()) {
    const [{ unit: first, index, offer }] = group as [ChangedUnit, ...ChangedUnit[]];
    const { groupSize } = offer.ticketType;
    const slots = group.flatMap(({ unit }) => unit.slots);
    if (slots.length % groupSize !== 0) {
      const message = `must fill whole units of ${groupSize} tickets of one item`;
      return refuseProblems([{ path: ['change', index, 'ticketIds'], message }]);
    }
    const units = newUnits(state, order, group, { ...repricing, number: (number += 1) });
    for (const [place, unit] of units.entries()) {
      charged.set(unit.slots[0]!.ticketId, costOf(unit, place + 1) - costOf(unit, place));
    }
    placed.set(first, units);
  }
  return { units: placed, charged };
}

function newUnits(
  { plan }: OrderState,
  order: Order,
  group: readonly ChangedUnit[],
  { credits, seats, number }: Repricing & { readonly number: number },
): readonly OrderUnit[] {
  const { offer, performanceId, unit: first } = group[0]!;
  const { ticketTypeId, sellingStageId, priceCents: unitPriceCents } = offer;
  const isOtherType = ticketTypeId !== first.ticketTypeId;
  const slots = group.flatMap(({ unit }) =>
    unit.slots.map(({ ticketId, origin }) => ({
      ticketId,
      origin: isOtherType ? { ...origin, withoutPerks: true as const } : origin,
      seatId: seats.get(ticketId) ?? null,
    })),
  );
  const { groupSize } = offer.ticketType;
  const quantity = slots.length / groupSize;
  const known = group.map(({ unit }) => credits.get(unit)!);
  const { promoCode } = agreedOf(order);
  const hadPromo = hasPromo(plan, promoCode, first);
  const keepsPromo = hadPromo && hasPromo(plan, promoCode, { ticketTypeId });
  const { discountCode, ...discounts } = discountAnew(plan, ticketTypeId, quantity * unitPriceCents, {
    discountCode: first.discountCode,
    discountCents: sumOf(known, ({ discountCents }) => discountCents),
    promoCode: hadPromo ? promoCode : null,
    promoDiscountCents: sumOf(known, ({ promoDiscountCents }) => promoDiscountCents),
  });
  const without = promoCode !== null && !keepsPromo && { withoutPromo: true as const };
  const priced: PricedItem = { number, quantity, ...discounts, ...without };
  const isNamed = group.some(({ unit }) => unit.isNamed);
  return Array.from({ length: quantity }, (_, place) => ({
    performanceId,
    ticketTypeId,
    sellingStageId,
    unitPriceCents,
    slots: slots.slice(place * groupSize, (place + 1) * groupSize),
    priced,
    discountCode,
    isNamed,
  }));
}

// ── tickets ──────────────────────────────────────────────────────────────────────────────────────────────────────────

interface Named {
  readonly named: NamedUnits;
  readonly changed: readonly ChangedUnit[];
  readonly credits: ReadonlyMap<OrderUnit, UnitCredit>;
  readonly charged: ReadonlyMap<string, number>;
}

/** Every ticket of the request with its action, in the order of the order's tickets. */
function plannedTickets(
  { reissue = [], attendees = [] }: AmendmentRequest,
  { named, changed, credits, charged }: Named,
): readonly PlannedTicket[] {
  const cancelled = new Set(named.cancelled);
  const changeOf = new Map(changed.map((each) => [each.unit, each]));
  const reissued = new Set(reissue);
  const personOf = new Map(attendees.map(({ ticketId }, person) => [ticketId, person]));
  const planned: PlannedTicket[] = [];
  for (const unit of new Set(named.unitOf.values())) {
    const change = changeOf.get(unit);
    const isCancelled = cancelled.has(unit);
    for (const [place, { ticketId }] of unit.slots.entries()) {
      const person = personOf.get(ticketId);
      const isReissued = reissued.has(ticketId);
      if (!isCancelled && change === undefined && !isReissued && person === undefined) continue;
      const isOtherType = change !== undefined && change.offer.ticketTypeId !== unit.ticketTypeId;
      planned.push({
        ticketId,
        action: isCancelled ? 'CANCEL' : change !== undefined ? 'CHANGE' : isReissued ? 'REISSUE' : 'RENAME',
        creditCents: place === 0 ? (credits.get(unit)?.creditCents ?? 0) : 0,
        priceCents: charged.get(ticketId) ?? 0,
        ...(isOtherType && { withoutPerks: true }),
        ...(change?.isRepriced === true && goodwillOf(unit) > 0 && { goodwillCents: 0 }),
        ...(person !== undefined && { person }),
        unit,
      });
    }
  }
  return planned;
}
