/**
 * Ends everything on cancelled dates: holds first, then orders and their pending amendments. Turns after the
 * cancellation do this, because there may be tens of thousands.
 *
 * 1. ACTIVE holds are released. They count as released from the cancellation on (`holds/state.ts`).
 * 2. Orders are cancelled whole; where only tickets are to be cancelled, a paid order is amended: it keeps its tickets
 *    on other dates, nothing is charged for it, and where it has none left it is cancelled by its amendment.
 * 3. A pending amendment ends first, also where it would move its order to the date. Nothing refuses the amendment of
 *    rule 2: not the number of amendments, no entry at a door, no rule for buyers.
 */
import { PARTS } from '../../collections/maps.ts';
import { isToRelease } from '../../holds/state.ts';
import { sumOf } from '../../money.ts';
import { valuesReply, type Decision } from '../../decision.ts';
import { fact, type Fact } from '../../fact.ts';
import { isRefusal } from '../../refusal.ts';
import { invariant } from '../../invariant.ts';
import { cancelled } from '../decide.ts';
import { agreedOf, isLiveOrder, isPaidOrder, type Order } from '../order.ts';
import { factsOfAmendment } from './decide.ts';
import { endWithDate } from './pending.ts';
import { settle, type AmendmentPlan } from './settlement.ts';
import { creditsOf, groupsOf, perksCentsOf, unitsOf, type OrderUnit } from './units.ts';
import type { CommandOf } from '../../command.ts';
import { cancellingDatesOf, isCancelling, type OrderState, type OrderTurn } from '../state.ts';

/** Tickets that one turn cancels, unless one order has more, and orders that it ends: some milliseconds. */
const TICKETS_A_TURN = 100;
const ORDERS_ENDED_A_TURN = 10;

/** Holds that a turn looks at for each one that it may release, as long as it comes to the end of a part. */
const HOLDS_SEEN_EACH = 50;

/**
 * Ends a part of what is on cancelled performances. The parts are numbered: those of the holds below 0, so that the
 * last one is -1, then the orders by their numbers.
 */
export function decideCancelNextOrders(
  state: OrderState,
  { after, limit }: CommandOf<'CancelNextOrders'>,
  turn: OrderTurn,
): Decision {
  if (!isCancelling(state)) return { facts: [], reply: valuesReply<'CancelNextOrders'>({ nextAfter: null }) };
  const { facts, next } = hasHolds(state)
    ? releaseNext(state, after === null || after >= -1 ? -PARTS : after + 1, limit)
    : endNext(state, Math.max(0, (after ?? -1) + 1), limit, turn);
  const nextAfter = next < state.orders.inOrder.length ? next - 1 : null;
  return { facts, reply: valuesReply<'CancelNextOrders'>({ nextAfter }) };
}

interface EndedPart {
  readonly facts: readonly Fact[];
  /** Where the next turn begins. */
  readonly next: number;
}

function hasHolds({ cancelling, performances }: OrderState): boolean {
  return [...cancelling.keys()].some((performanceId) => performances.get(performanceId)!.activeHolds > 0);
}

/** Releases holds (rule 1). */
function releaseNext(state: OrderState, begin: number, limit: number): EndedPart {
  const facts: Fact[] = [];
  let next = begin;
  for (let seen = 0; next < 0 && seen < HOLDS_SEEN_EACH * limit; next += 1) {
    for (const hold of state.holds.activeBySession.valuesOf(next + PARTS)) {
      seen += 1;
      if (isToRelease(state, hold)) facts.push(fact('HoldReleased', { holdId: hold.id }));
      if (facts.length === limit) return { facts, next };
    }
  }
  return { facts, next };
}

/** Ends live orders, or what of them is on cancelled performances (rules 2 and 3). */
function endNext(state: OrderState, begin: number, limit: number, turn: OrderTurn): EndedPart {
  const { inOrder } = state.orders;
  const end = Math.min(inOrder.length, begin + limit);
  const facts: Fact[] = [];
  let next = begin;
  let orders = 0;
  for (let tickets = 0; next < end && tickets < TICKETS_A_TURN && orders < ORDERS_ENDED_A_TURN; next += 1) {
    const order = inOrder.at(next);
    const ended = isLiveOrder(order) ? endOf(state, order, turn) : [];
    if (ended.length === 0) continue;
    facts.push(...ended);
    tickets += sumOf(agreedOf(order).items, ({ ticketCount }) => ticketCount);
    orders += 1;
  }
  return { facts, next };
}

/** The facts that end an order, or its tickets on cancelled dates. */
function endOf(state: OrderState, order: Order, turn: OrderTurn): readonly Fact[] {
  const ended = endWithDate(state, order);
  const dates = cancellingDatesOf(state, agreedOf(order).items);
  if (dates.size === 0) return ended;
  const cancellations = [...dates].map((performanceId) => state.cancelling.get(performanceId)!);
  const whole = cancellations.find(({ orders }) => orders === undefined);
  const [first = whole!] = cancellations;
  if (whole !== undefined || !isPaidOrder(order)) return [...ended, cancelled(order, 'PERFORMANCE', whole ?? first)];
  const said = { amendmentId: turn.newId('amd'), operator: first.operator, note: first.note };
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
