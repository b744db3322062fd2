/**
 * What becomes of the orders of dates that were cancelled.
 *
 * 1. They are cancelled whole; where only tickets are to be cancelled, a paid order is amended: it keeps its tickets on
 *    other dates, nothing is charged for it, and where it has none left it is cancelled by its amendment.
 * 2. An amendment of it that is to be paid ends first. Nothing refuses it: not the number of amendments, no entry at a
 *    door, no rule for buyers.
 */
import { releaseFirst } from '../../holds/decide.ts';
import { sumOf } from '../../money.ts';
import { valuesReply, type Decision } from '../../decision.ts';
import { isRefusal } from '../../refusal.ts';
import { invariant } from '../../invariant.ts';
import { cancelled } from '../decide.ts';
import { agreedOf, endOfPending, isLiveOrder, isPaidOrder, type Order } from '../order.ts';
import { factsOfAmendment } from './decide.ts';
import { endNextPending } from './pending.ts';
import { settle, type AmendmentPlan } from './settlement.ts';
import { creditsOf, groupsOf, perksCentsOf, unitsOf, type OrderUnit } from './units.ts';
import type { CommandOf } from '../../command.ts';
import type { Fact } from '../../fact.ts';
import type { OrderState, OrderTurn } from '../state.ts';

/** Tickets that one turn cancels, as long as they are of several orders, and orders that it ends: some milliseconds. */
const TICKETS_A_TURN = 100;
const ORDERS_ENDED_A_TURN = 10;

/**
 * Ends the live orders with a ticket on a cancelled performance (rule 1), those of a part of the event's orders. Holds
 * that are left there are released by turns before, and before them pending amendments end.
 */
export function decideCancelNextOrders(
  state: OrderState,
  { after, limit }: CommandOf<'CancelNextOrders'>,
  turn: OrderTurn,
): Decision {
  const { inOrder, cancelling, endingAmendments } = state.orders;
  const { toRelease } = state.holds;
  const first = endingAmendments.size > 0 ? endNextPending(state) : releaseFirst(toRelease);
  if (first.length > 0) {
    const isOver = cancelling.size === 0 && first.length === endingAmendments.size + toRelease.size;
    return { facts: first, reply: valuesReply<'CancelNextOrders'>({ nextAfter: isOver ? null : (after ?? -1) }) };
  }
  const begin = after === null ? 0 : after + 1;
  const end = cancelling.size === 0 ? inOrder.length : Math.min(inOrder.length, begin + limit);
  const facts: Fact[] = [];
  let number = begin;
  let orders = 0;
  const hasRoom = (tickets: number): boolean => tickets < TICKETS_A_TURN && orders < ORDERS_ENDED_A_TURN;
  for (let tickets = 0; number < end && hasRoom(tickets) && cancelling.size > 0; number += 1) {
    const order = inOrder.at(number);
    if (!isLiveOrder(order)) continue;
    const { items } = agreedOf(order);
    const dates = new Set(items.map(({ performanceId }) => performanceId).filter((id) => cancelling.has(id)));
    if (dates.size === 0) continue;
    facts.push(...endOf(state, order, dates, turn));
    tickets += sumOf(items, ({ ticketCount }) => ticketCount);
    orders += 1;
  }
  const nextAfter = number < inOrder.length && cancelling.size > 0 ? number - 1 : null;
  return { facts, reply: valuesReply<'CancelNextOrders'>({ nextAfter }) };
}

/** What an order's cancelled dates make of it. */
function endOf(state: OrderState, order: Order, dates: ReadonlySet<string>, turn: OrderTurn): readonly Fact[] {
  const cancellations = [...dates].map((performanceId) => state.orders.cancelling.get(performanceId)!);
  const whole = cancellations.find(({ orders }) => orders === undefined);
  const [first = whole!] = cancellations;
  const { operator, note } = whole ?? first;
  const ended = endOfPending(order, { cause: 'PERFORMANCE', operator });
  if (whole !== undefined || !isPaidOrder(order)) return [...ended, cancelled(order, 'PERFORMANCE', whole ?? first)];
  const said = { amendmentId: turn.newId('amd'), operator, note };
  return [...ended, ...factsOfAmendment(state, order, planWithoutDates(state, order, dates), said, turn)];
}

/** The amendment that cancels every ticket of a paid order on some dates, without a fee. */
export function planWithoutDates(state: OrderState, order: Order, dates: ReadonlySet<string>): AmendmentPlan {
  const units = unitsOf(order);
  const isGone = ({ performanceId }: OrderUnit): boolean => dates.has(performanceId);
  const gone = units.filter(isGone);
  const credits = creditsOf(units, isGone);
  const perksCreditCents = perksCentsOf(order, gone);
  const plan = settle(state, order, {
    groups: groupsOf(units.filter((unit) => !isGone(unit))),
    tickets: gone.flatMap((unit) =>
      unit.slots.map(({ ticketId }, place) => ({
        ticketId,
        action: 'CANCEL' as const,
        creditCents: place === 0 ? credits.get(unit)!.creditCents : 0,
        priceCents: 0,
        unit,
      })),
    ),
    perksCreditCents,
    creditCents: perksCreditCents + sumOf(credits.values(), ({ creditCents }) => creditCents),
    chargeCents: 0,
    goodwillGoneCents: sumOf(credits.values(), ({ goodwillCents }) => goodwillCents),
    feeCents: 0,
    isGoodwill: false,
    isWithdrawal: false,
    by: 'PERFORMANCE',
    endsAt: null,
  });
  invariant(!isRefusal(plan), 'tickets are given back without a charge');
  return plan;
}
