/**
 * Amendments of orders that were paid: quoted, and applied in one turn. One that costs something is applied once it is
 * paid (`pending.ts`).
 *
 * 1. All of it or nothing: one fact has everything that changes (`OrderAmended`).
 */
import { fact, type Fact, type FactData } from '../../fact.ts';
import { isRefusal, refuse, type Refusal } from '../../refusal.ts';
import { sealMark } from '../erasure.ts';
import { amendmentsOf, refundDueCents, type Order } from '../order.ts';
import { requestsOfDue } from '../refund-requests.ts';
import { viewAmendment, viewAmendmentAsAsked } from '../view.ts';
import { orderById, type OrderState, type OrderTurn } from '../state.ts';
import { closeOutdated, withNewTickets, type AmendmentPlan } from './settlement.ts';
import { decideCancelAmendment, requestAmendment } from './pending.ts';
import { planAmendment, type HasEntered } from './plan.ts';
import { checkQuote, quoteOf, type QuoteTurn } from './quotes.ts';
import type { AmendedBy, CommandOf } from '../../command.ts';
import type { Decision } from '../../decision.ts';
import type { AmendmentView } from '../../view.ts';
import type { AmendmentQuote, AmendmentRequest } from '../../amendment-request.ts';

/** What an amendment would do now. ORDER_NOT_FOUND, and as `planAmendment`. */
export function quoteAmendment(
  state: OrderState,
  { orderId, by, request }: { readonly orderId: string; readonly by: AmendedBy; readonly request: AmendmentRequest },
  turn: QuoteTurn,
  hasEntered: HasEntered,
): AmendmentQuote | Refusal {
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  const plan = planAmendment(state, order, request, { by, now: turn.now, hasEntered });
  return isRefusal(plan) ? plan : quoteOf({ orderId, by, request, ...plan }, turn);
}

/** An amendment of an order; in a repeated answer, as it was first answered. ORDER_NOT_FOUND, NOT_FOUND. */
export function findAmendment(
  state: OrderState,
  {
    orderId,
    amendmentId,
    replayed = false,
  }: { readonly orderId: string; readonly amendmentId: string; readonly replayed?: boolean },
): AmendmentView | Refusal {
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  const amendment = amendmentsOf(order).find(({ id }) => id === amendmentId);
  if (amendment === undefined) return refuse('NOT_FOUND', {});
  return (replayed ? viewAmendmentAsAsked(order, amendment) : null) ?? viewAmendment(order, amendment);
}

/** Amends an order, or withdraws one of its amendments. */
export function decideAmendment(
  state: OrderState,
  command: CommandOf<'AmendOrder'> | CommandOf<'CancelAmendment'>,
  turn: OrderTurn,
  hasEntered: HasEntered,
): Decision | Refusal {
  if (command.type === 'CancelAmendment') return decideCancelAmendment(state, command);
  return decideAmendOrder(state, command, turn, hasEntered);
}

/**
 * Amends an order. ORDER_NOT_FOUND, as `planAmendment`, QUOTE_STALE, and PAYMENT_PROVIDER_UNAVAILABLE where nobody
 * could ever pay what it costs.
 */
function decideAmendOrder(
  state: OrderState,
  command: CommandOf<'AmendOrder'>,
  turn: OrderTurn,
  hasEntered: HasEntered,
): Decision | Refusal {
  const { orderId, by, request, quote } = command;
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  const plan = planAmendment(state, order, request, { by, now: turn.now, hasEntered });
  if (isRefusal(plan)) return plan;
  const stale = quote === null ? null : checkQuote(quote, { orderId, by, request, ...plan }, turn);
  if (stale !== null) return stale;
  const amendmentId = turn.newId('amd');
  const { toPayCents } = plan.quoted;
  const said = {
    amendmentId,
    ...sealMark(orderId, 'OrderAmended', command, turn),
    ...sealAttendees(orderId, request, turn),
  };
  const reply = { shows: 'AMENDMENT', orderId, amendmentId } as const;
  if (toPayCents === 0) return { facts: factsOfAmendment(state, order, plan, said, turn), reply };
  const requested = requestAmendment(state, order, { ...plan.terms, ...said, toPayCents }, command, turn);
  if (isRefusal(requested)) return requested;
  return { facts: [requested], reply: { ...reply, paymentId: requested.data.paymentId } };
}

/** The facts of an amendment as it was planned, with the other fields of its request. */
export function factsOfAmendment(
  state: OrderState,
  order: Order,
  { change, after }: AmendmentPlan,
  said: Omit<FactData['OrderAmended'], keyof AmendmentPlan['change']>,
  turn: OrderTurn,
): readonly Fact[] {
  const { id: orderId } = order;
  const { amendmentId, operator, note } = said;
  const { by: cause } = change;
  const facts: Fact[] = [
    fact('OrderAmended', { ...withNewTickets(change, turn), ...said }),
    ...closeOutdated(order, after),
  ];
  if (change.ticketIds.length === 0) {
    // The note of a cancelled date is about no order.
    const by = { operator, note: cause === 'PERFORMANCE' ? note : null };
    facts.push(fact('OrderCancelled', { orderId, cause, amendmentId, ...by, refundDueCents: refundDueCents(after) }));
  }
  const isAutomatic = state.plan.definition.refunds === 'AUTOMATIC';
  return isAutomatic ? [...facts, ...requestsOfDue(after, turn, amendmentId)] : facts;
}

/** The people that an amendment names, for its fact. */
function sealAttendees(
  orderId: string,
  { attendees = [] }: AmendmentRequest,
  { sealing }: OrderTurn,
): Pick<FactData['OrderAmended'], 'attendees' | 'sealedAttendees'> {
  if (attendees.length === 0) return {};
  const people = attendees.map(({ attendee }) => attendee);
  if (sealing === null) return { attendees: people };
  return { sealedAttendees: sealing.seal(orderId, 'OrderAmended', people) };
}
