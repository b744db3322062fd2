/**
 * What buyers and operators of a simulated sale ask for when they amend an order, and what they must be answered.
 *
 * Places are not predicted: a change may find none.
 */
import type { Chance } from './chance.ts';
import { MINUTE } from './events.ts';
import type { SaleModel } from './model.ts';
import {
  countApplied,
  pendingOf,
  statusOfAmendment,
  unitsOf,
  type ModelOrder,
  type ModelPayment,
} from './model-order.ts';
import type { AmendmentRequest } from '#domain/amendment-request.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { CommandOf } from '#domain/command.ts';
import type { HoldLine } from '#domain/fact.ts';

/** The possible outcomes of an amendment, as those of every command. */
interface Outcomes {
  readonly outcomes: readonly string[];
  readonly rarity?: string;
}

// ── people ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** An amendment of an order that its buyer or an operator thinks of; now and then its tickets are wrong. */
export function drawAmendment(
  chance: Chance,
  order: ModelOrder,
  { performances, sellingStages }: EventDefinition,
  others: readonly ModelOrder[],
): CommandOf<'AmendOrder'> | null {
  const units = unitsOf(order).filter(({ ticketIds }) => ticketIds.length > 0);
  if (units.length === 0) return null;
  const by = chance.percent(40) ? ('BUYER' as const) : ('OPERATOR' as const);
  const first = chance.between(0, units.length - 1);
  const named = units.slice(first, first + chance.between(1, 2));
  const ids = named.flatMap(({ ticketIds }) => ticketIds);
  const what = chance.weighted({ cancel: 4, date: 2, type: 3, reissue: 1, rename: 1, all: 0.5 });
  const stays = { performanceId: null, ticketTypeId: null, sellingStageId: null, seatIds: null };
  const request: AmendmentRequest = {
    cancel: what === 'cancel' ? ids : what === 'all' ? [...order.tickets] : [],
    reissue: what === 'reissue' ? ids : [],
    change:
      what === 'date'
        ? [{ ...stays, ticketIds: ids, performanceId: chance.pick(performances).id }]
        : what === 'type'
          ? [{ ...stays, ticketIds: ids, ticketTypeId: chance.pick(Object.keys(sellingStages[1]!.prices)) }]
          : [],
    attendees:
      what === 'rename' || (what === 'type' && chance.percent(20))
        ? ids.map((ticketId) => ({
            ticketId,
            attendee: { name: 'Anna', email: null, documentNumber: null, phone: null },
          }))
        : [],
    feeCents: by === 'OPERATOR' && chance.percent(20) ? chance.between(1, 400) : 0,
    goodwill: by === 'OPERATOR' && chance.percent(30),
  };
  const wrong = chance.percent(6)
    ? chance.pick([...others.flatMap(({ tickets }) => tickets), ...order.voided, 'tkt_1'])
    : null;
  const cancel = wrong === null ? request.cancel : [...new Set([...request.cancel, wrong])];
  const note = by === 'OPERATOR' && chance.percent(50) ? 'Anna called about it' : null;
  const whole = chance.percent(96) ? cancel : cancel.slice(1);
  const asked = { ...request, cancel: whole };
  if ([...whole, ...asked.reissue!, ...asked.change!, ...asked.attendees!].length === 0) return null;
  return { type: 'AmendOrder', orderId: order.id, by, request: asked, quote: null, operator: null, note };
}

/** An amendment is withdrawn, by its buyer or an operator: in most cases the newest one. */
export function drawWithdrawal(chance: Chance, { id: orderId, amendments }: ModelOrder): CommandOf<'CancelAmendment'> {
  const ids = [...amendments.keys()];
  const amendmentId = chance.percent(3) ? 'amd_1' : chance.percent(80) ? ids.at(-1)! : chance.pick(ids);
  const by = chance.percent(60) ? 'BUYER' : 'OPERATOR';
  return { type: 'CancelAmendment', orderId, amendmentId, by, operator: by === 'BUYER' ? null : 'olga' };
}

// ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const refused = (code: string): Outcomes => ({ outcomes: [code] });

export function predictAmendment(
  model: SaleModel,
  { orderId, by, request }: CommandOf<'AmendOrder'>,
  now: number,
): Outcomes {
  const order = model.orders.get(orderId);
  if (order === undefined) return refused('ORDER_NOT_FOUND');
  const status = model.statusOfOrder(order, now);
  if (status !== 'CONFIRMED' && status !== 'PARTIALLY_PAID') return refused('ORDER_NOT_AMENDABLE');
  if (order.amendments.size >= 100) return refused('ORDER_NOT_AMENDABLE');
  if (pendingOf(order, now) !== null) return refused('AMENDMENT_PENDING');
  const { cancel, reissue = [], change = [], attendees = [] } = request;
  const groups = [cancel, ...change.map(({ ticketIds }) => ticketIds)];
  const named = [...groups.flat(), ...reissue, ...attendees.map(({ ticketId }) => ticketId)];
  const isValid = (id: string): boolean => order.tickets.includes(id);
  if (named.some((id) => !isValid(id) && !order.voided.includes(id))) return refused('TICKET_NOT_FOUND');
  if (!named.every(isValid)) return refused('TICKET_VOID');
  const units = unitsOf(order);
  const isPart = (ids: readonly string[]): boolean =>
    units.some(
      ({ ticketIds }) => ticketIds.some((id) => ids.includes(id)) && !ticketIds.every((id) => ids.includes(id)),
    );
  if (groups.some(isPart)) return refused('UNIT_INCOMPLETE');
  if (by === 'BUYER' && !isAllowed(model, order, request, now)) return refused('AMENDMENT_NOT_ALLOWED');
  if (change.length > 0) {
    const places = ['PERFORMANCE_NOT_ON_SALE', 'TICKET_NOT_ON_SALE', 'INSUFFICIENT_TICKETS', 'VALIDATION_ERROR'];
    const limits = ['MAX_PER_ORDER_EXCEEDED', 'MAX_TICKETS_PER_ORDER_EXCEEDED'];
    const isOfErased = attendees.length > 0 && order.isErased;
    return { outcomes: [isOfErased ? 'ORDER_ERASED' : 'DONE', ...places, ...(by === 'BUYER' ? limits : [])] };
  }
  if (attendees.length > 0 && order.isErased) return refused('ORDER_ERASED');
  const isOverCredit = reissue.length + attendees.length === 0 && request.feeCents > 0;
  return { outcomes: isOverCredit ? ['DONE', 'VALIDATION_ERROR'] : ['DONE'], rarity: `amended by ${by}` };
}

/** The answer to the withdrawal of an amendment. */
export function predictEndOfAmendment(
  model: SaleModel,
  { orderId, amendmentId }: CommandOf<'CancelAmendment'>,
  now: number,
): Outcomes & { readonly facts?: readonly string[] } {
  const order = model.orders.get(orderId);
  if (order === undefined) return refused('ORDER_NOT_FOUND');
  const amendment = order.amendments.get(amendmentId);
  if (amendment === undefined) return refused('NOT_FOUND');
  const status = statusOfAmendment(amendment, now);
  if (status === 'CANCELLED') return { outcomes: ['DONE'], facts: [], rarity: 'amendment: withdrawn again' };
  if (status !== 'PENDING') return { outcomes: ['AMENDMENT_NOT_PENDING'] };
  return { outcomes: ['DONE'], facts: ['AmendmentEnded'] };
}

/** Money that was asked for an amendment: it is applied, or the money is due back where it comes too late. */
export function predictMoneyForAmendment(
  model: SaleModel,
  order: ModelOrder,
  payment: ModelPayment,
  now: number,
): Outcomes & { readonly facts: readonly string[] } {
  const { status: statusThen, asked, appliedBefore } = order.amendments.get(payment.amendmentId!)!;
  const isPending = pendingOf(order, now)?.amendmentId === payment.amendmentId;
  const status = model.statusOfOrder(order, now);
  const mayStill =
    statusThen !== 'APPLIED' &&
    (status === 'CONFIRMED' || status === 'PARTIALLY_PAID') &&
    appliedBefore === countApplied(order) &&
    pendingOf(order, now) === null &&
    canStillBeHad(model, order, asked!.lines, now);
  if (!isPending && !mayStill) {
    return { outcomes: ['DONE'], facts: ['PaymentRecorded'], rarity: 'amendment: late money due back' };
  }
  const others = [...order.payments.values()].filter(
    (other) =>
      isPending && other !== payment && other.amendmentId === payment.amendmentId && other.status === 'WAITING',
  );
  const facts = ['PaymentRecorded', 'OrderAmended', ...others.map(() => 'PaymentClosed')];
  return { outcomes: ['DONE'], facts, rarity: isPending ? 'amendment: paid' : 'amendment: late money taken' };
}

/** Whether the places that an order is to have beyond its own can be had, where it gives up those that it has. */
function canStillBeHad(model: SaleModel, order: ModelOrder, lines: readonly HoldLine[], now: number): boolean {
  const hold = model.holds.get(order.holdId)!;
  const countOf = (all: readonly HoldLine[], isMeant: (line: HoldLine) => boolean): number =>
    all.reduce((sum, line) => sum + (isMeant(line) ? line.ticketCount : 0), 0);
  return lines.every(({ performanceId, ticketTypeId, sellingStageId, seatIds }) => {
    const isHere = (line: HoldLine): boolean => line.performanceId === performanceId;
    const isOfType = (line: { readonly ticketTypeId: string }): boolean => line.ticketTypeId === ticketTypeId;
    const isOfRow = (line: { readonly ticketTypeId: string; readonly sellingStageId: string }): boolean =>
      isOfType(line) && line.sellingStageId === sellingStageId;
    const had = hold.lines.find((line) => isHere(line) && isOfRow(line));
    const isSame = had?.ticketCount === countOf(lines, (line) => isHere(line) && isOfRow(line));
    if (isSame && seatIds.every((seatId) => had.seatIds.includes(seatId))) return true;
    if (!model.isDateOnSale(performanceId, now)) return false;
    const isFree = (seatId: string): boolean =>
      model.fitsType(seatId, ticketTypeId) &&
      !model.isBlocked(performanceId, seatId) &&
      !model.isTaken(performanceId, seatId, now, hold);
    if (!seatIds.filter((seatId) => !had?.seatIds.includes(seatId)).every(isFree)) return false;
    const { ticketTypes, sellingStages } = model.definition;
    const typeOf = (id: string) => ticketTypes.find((type) => type.id === id)!;
    const isOnFloor = (line: { readonly ticketTypeId: string }): boolean =>
      typeOf(line.ticketTypeId).localityId === 'floor';
    const limits = [
      [isOfType, typeOf(ticketTypeId).quota],
      [isOfRow, sellingStages.find(({ id }) => id === sellingStageId)!.quotas[ticketTypeId]],
      ...(seatIds.length === 0 ? [[isOnFloor, model.floorCapacity] as const] : []),
    ] as const;
    return limits.every(([isMeant, most]) => {
      const wanted = countOf(lines, (line) => isHere(line) && isMeant(line));
      const own = countOf(hold.lines, (line) => isHere(line) && isMeant(line));
      const left = (most ?? Infinity) - model.ticketsTaken(performanceId, now, hold, isMeant);
      return wanted <= own || wanted <= left;
    });
  });
}

function isAllowed(model: SaleModel, order: ModelOrder, request: AmendmentRequest, now: number): boolean {
  const { buyerChanges, performances } = model.definition;
  const { cancel, reissue = [], change = [], attendees = [] } = request;
  const startOf = (date: string): number => performances.find(({ id }) => id === date)!.startsAt!;
  const dateOf = (ticketId: string): string =>
    unitsOf(order).find(({ ticketIds }) => ticketIds.includes(ticketId))!.item.performanceId;
  const may = (kind: 'cancel' | 'change' | 'attendees', ids: readonly string[], to: string | null = null): boolean => {
    const rule = buyerChanges?.[kind] ?? null;
    const dates = [...ids.map(dateOf), ...(to === null ? [] : [to])];
    return (
      ids.length === 0 || (rule !== null && dates.every((date) => now < startOf(date) - rule.untilMinutes * MINUTE))
    );
  };
  const withdrawalEnd = order.placedAt + (buyerChanges?.withdrawalDays ?? 0) * 1_440 * MINUTE;
  const byRule = cancel.filter((id) => now >= Math.min(withdrawalEnd, startOf(dateOf(id))));
  return (
    may('cancel', byRule) &&
    change.every(({ ticketIds, performanceId }) => may('change', ticketIds, performanceId)) &&
    may('change', reissue) &&
    may(
      'attendees',
      attendees.map(({ ticketId }) => ticketId),
    )
  );
}
