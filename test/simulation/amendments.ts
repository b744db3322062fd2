/**
 * What the fact of an amendment does to an order of the reference model, and what it must say for it to have been
 * possible.
 *
 * Money is checked from the fact alone: the total is what the order's units cost less discounts, with perks, fees and
 * less goodwill; units that were priced together keep their part of the discount, half up; what is left is split anew;
 * and what is due is what was paid and is not kept (promises 14 and 16). The model knows places, codes and void
 * tickets.
 */
import assert from 'node:assert/strict';
import { MINUTE } from './events.ts';
import {
  countApplied,
  dueOf,
  pendingOf,
  remainingOf,
  splitAnew,
  type ModelHold,
  type ModelOrder,
} from './model-order.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { AmendmentTerms, Fact, FactData, HoldLine, OrderItem } from '#domain/fact.ts';

/** The places and limits of the model. */
interface Places {
  readonly definition: EventDefinition;
  readonly holds: ReadonlyMap<string, ModelHold>;
  ticketsTaken(
    performanceId: string,
    now: number,
    own: ModelHold | null,
    test: (line: Pick<HoldLine, 'ticketTypeId' | 'sellingStageId'>) => boolean,
  ): number;
  assertFree(lines: readonly HoldLine[], at: number, own: ModelHold | null): void;
  assertCaps(order: ModelOrder, at: number): void;
  issue(ticketIds: readonly string[]): void;
}

type Amended = FactData['OrderAmended'];

/** The facts of a turn. */
interface Turn {
  readonly at: number;
  readonly turn: readonly Fact[];
}

/** Notes an amendment that is to be paid: the order stays as it is, and what it wants beyond its own is held. */
export function requestAmendment(
  model: Places,
  order: ModelOrder,
  data: FactData['AmendmentRequested'],
  at: number,
): void {
  assert.ok(['CONFIRMED', 'PARTIALLY_PAID'].includes(order.status), 'only a paid order is amended');
  const isPending = [...order.amendments.values()].some(({ status }) => status === 'PENDING');
  assert.ok(!isPending, 'one amendment is pending at a time');
  assert.ok(data.toPayCents > 0, 'an amendment is pending because something is to be paid');
  assert.equal(data.toPayCents, data.differenceCents, 'the difference is paid');
  assert.equal(data.totalCents, order.totalCents + data.differenceCents, 'the difference is that of the totals');
  assert.equal(data.expiresAt, at + model.definition.paymentMinutes * MINUTE, 'the payment window of an amendment');
  assert.deepEqual(placesOf(data.lines), placesOf(data.items), 'it wants the places of its items');
  model.assertFree(data.lines, at, model.holds.get(order.holdId)!);
  order.sealedTexts += textsOf(data);
  if (order.provider === 'FREE') order.provider = data.paymentProvider;
  order.amendments.set(data.amendmentId, { status: 'PENDING', asked: data, appliedBefore: countApplied(order) });
  assertQuotas(model, data.lines, at);
}

/** Ends an amendment before any money came. */
export function endAmendment(
  order: ModelOrder,
  { amendmentId, outcome }: FactData['AmendmentEnded'],
  at: number,
): void {
  const amendment = order.amendments.get(amendmentId)!;
  assert.equal(amendment.status, 'PENDING', 'only a pending amendment ends');
  const isOver = amendment.asked!.expiresAt <= at;
  assert.equal(outcome, isOver ? 'EXPIRED' : 'CANCELLED', 'an amendment runs out with its window, and not before');
  amendment.status = outcome;
  for (const payment of order.payments.values()) if (payment.amendmentId === amendmentId) payment.status = 'OVER';
}

const textsOf = ({ sealedNote, sealedAttendees }: AmendmentTerms): number =>
  [sealedNote, sealedAttendees].filter((text) => text !== undefined).length;

/** What was paid for an amendment in this turn; it is applied as it was asked for. Null for one that cost nothing. */
function paidFor(order: ModelOrder, data: Amended, { at, turn }: Turn): number | null {
  const asked = order.amendments.get(data.amendmentId)?.asked;
  if (asked === undefined || asked === null) return null;
  const { status, appliedBefore } = order.amendments.get(data.amendmentId)!;
  assert.notEqual(status, 'APPLIED', 'an amendment is applied once');
  const money = turn.flatMap((fact) => (fact.type === 'PaymentRecorded' ? [fact.data] : []));
  const isPaid = money.some(
    ({ paymentId, isCounted }) => isCounted && order.payments.get(paymentId)?.amendmentId === data.amendmentId,
  );
  assert.ok(isPaid, 'it is applied in the turn that records its money');
  assert.equal(appliedBefore, countApplied(order), 'the order is as it was when it was asked for');
  const pending = pendingOf(order, at);
  assert.ok(pending === null || pending === asked, 'late money leaves alone what is pending');
  const { items, lines, promoCode, totalCents, feesCents, differenceCents, feeCents, by } = asked;
  const terms = { items, lines, promoCode, totalCents, feesCents, differenceCents, feeCents, by };
  assert.deepEqual({ ...data, ...terms }, data, 'what was asked for is applied');
  return asked.toPayCents;
}

/** Applies the fact of an amendment. Throws where it was not possible or says wrong amounts. */
export function takeAmendment(model: Places, order: ModelOrder, data: Amended, moment: Turn): void {
  const { at } = moment;
  assert.ok(['CONFIRMED', 'PARTIALLY_PAID'].includes(order.status), 'only a paid order is amended');
  const paid = paidFor(order, data, moment);
  const dueBefore = dueOf(order, paid ?? 0);
  const isEmpty = data.ticketIds.length === 0;
  takeTickets(model, order, data);
  const costs = takeMoney(order, data, paid !== null);
  assert.equal(data.totalCents, costs, 'units × price − discounts + perks + fees − goodwill');
  const asked = order.amendments.get(data.amendmentId) ?? { asked: null, appliedBefore: countApplied(order) };
  order.amendments.set(data.amendmentId, { ...asked, status: 'APPLIED' });
  order.sealedTexts += textsOf(data);
  order.isEndedByAmendment = isEmpty;
  if (!isEmpty) {
    takePlaces(model, order, data, at);
    const codes = [data.promoCode, ...data.items.map(({ discountCode }) => discountCode)];
    order.codes = new Set(codes.flatMap((code) => (code === null ? [] : [code.trim().toUpperCase()])));
    order.items = data.items;
    order.ticketCount = data.ticketIds.length;
    order.beers = data.items.flatMap(({ barPerks }) => barPerks).reduce((sum, { quantity }) => sum + quantity, 0);
    order.tickets = data.ticketIds;
    model.assertCaps(order, at);
  }
  const isCovered = order.status === 'PARTIALLY_PAID' && remainingOf(order) === 0;
  assert.equal(data.trigger, isCovered ? 'COVER' : undefined, 'an order with nothing left to pay is CONFIRMED');
  if (isCovered) order.status = 'CONFIRMED';
  assert.equal(data.refundDueCents, dueOf(order), 'what is due after an amendment');
  assert.equal(data.toRefundCents, Math.max(0, dueOf(order) - dueBefore), 'what becomes due');
}

/** Tickets that are given up are void at once, and every other one stays or has one successor. */
function takeTickets(model: Places, order: ModelOrder, { tickets, ticketIds }: Amended): void {
  const stay = new Set(order.tickets);
  for (const { ticketId, action, newTicketId } of tickets) {
    assert.ok(stay.delete(ticketId), 'a ticket of an amendment is valid, and named once');
    const isIssued = action === 'CHANGE' || action === 'REISSUE';
    assert.equal(newTicketId !== undefined, isIssued, 'a ticket is issued for one that is changed');
    if (newTicketId !== undefined) model.issue([newTicketId]);
    if (action === 'RENAME') stay.add(ticketId);
    else {
      order.voided.push(ticketId);
      if (newTicketId !== undefined) stay.add(newTicketId);
    }
  }
  assert.deepEqual([...ticketIds].sort(), [...stay].sort(), 'the other tickets stay');
}

/** The total by the contract; what was priced together keeps its part of the discount. */
function takeMoney(order: ModelOrder, data: Amended, isPaid: boolean): number {
  const { items, feesCents, goodwillCents = 0 } = data;
  const parts = Map.groupBy(items, ({ priced }) => priced!.number);
  for (const part of parts.values()) {
    const { quantity, discountCents, promoDiscountCents } = part[0]!.priced!;
    const units = part.reduce((sum, item) => sum + item.quantity, 0);
    const off = part.reduce((sum, item) => sum + item.discountCents + item.promoDiscountCents, 0);
    const share = Math.floor((2 * (discountCents + promoDiscountCents) * units + quantity) / (2 * quantity));
    assert.equal(off, share, 'units that stay keep their part of the discount, half up');
  }
  const unitsCents = items.reduce((sum, item) => sum + costOf(item), 0);
  const added = isPaid ? 0 : Math.max(0, data.differenceCents);
  assert.equal(feesCents, order.feesCents + data.feeCents, 'a fee is kept once');
  assert.ok(goodwillCents <= order.goodwillCents + added, 'goodwill is what was not charged');
  // Goodwill and discounts are spread by different rules: of a ticket that had goodwill a cent may be left over.
  const totalCents = order.totalCents + data.differenceCents - added;
  assert.ok(totalCents >= -data.tickets.length, 'no more is credited than the order came to');
  assert.equal(data.totalCents, Math.max(0, totalCents), 'the difference is that of the totals');
  order.totalCents = data.totalCents;
  Object.assign(order, { feesCents, goodwillCents });
  splitAnew(order);
  assert.deepEqual(data.installmentsCents, order.installmentsCents, 'what is left is split anew');
  return Math.max(0, unitsCents + feesCents - goodwillCents);
}

function costOf({ quantity, unitPriceCents, discountCents, promoDiscountCents, barPerks }: OrderItem): number {
  const perks = barPerks.reduce((sum, perk) => sum + perk.quantity * perk.unitPriceCents, 0);
  return quantity * unitPriceCents - discountCents - promoDiscountCents + perks;
}

/** The hold has what the items have, and every place of it was free or the order's own. */
function takePlaces(model: Places, order: ModelOrder, { lines, items }: Amended, at: number): void {
  const hold = model.holds.get(order.holdId)!;
  assert.deepEqual(placesOf(lines), placesOf(items), 'the hold has the places of the items');
  model.assertFree(lines, at, hold);
  hold.lines = lines;
  assertQuotas(model, lines, at);
}

function assertQuotas(model: Places, lines: readonly HoldLine[], at: number): void {
  for (const { performanceId, ticketTypeId, sellingStageId } of lines) {
    const type = model.definition.ticketTypes.find(({ id }) => id === ticketTypeId)!;
    const stage = model.definition.sellingStages.find(({ id }) => id === sellingStageId)!;
    const taken = (isMeant: (line: { readonly sellingStageId: string }) => boolean): number =>
      model.ticketsTaken(performanceId, at, null, (line) => line.ticketTypeId === ticketTypeId && isMeant(line));
    assert.ok(taken(() => true) <= (type.quota ?? Infinity), `more ${ticketTypeId} than there are`);
    const ofStage = taken((line) => line.sellingStageId === sellingStageId);
    assert.ok(ofStage <= (stage.quotas[ticketTypeId] ?? Infinity), `more ${ticketTypeId} than in ${sellingStageId}`);
  }
}

type Place = Pick<OrderItem, 'performanceId' | 'ticketTypeId' | 'sellingStageId' | 'ticketCount' | 'seatIds'>;

function placesOf(all: readonly Place[]): readonly string[] {
  return all
    .flatMap(({ performanceId, ticketTypeId, sellingStageId, ticketCount, seatIds }) => {
      const row = [performanceId, ticketTypeId, sellingStageId].join();
      return seatIds.length > 0
        ? seatIds.map((seat) => `${row} ${seat}`)
        : Array.from({ length: ticketCount }, () => row);
    })
    .sort();
}
