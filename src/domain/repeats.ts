/**
 * Commands that a request may repeat under its idempotency key: a repeat gets the first answer, whatever happened meanwhile.
 *
 * The facts of `PlaceHold` and `StartCheckout` carry the key themselves; the answers to all other commands are kept here.
 *
 * 1. The fact that keeps an answer is the last of its turn, so that answer and change are durable together.
 * 2. Only what may change is kept: of an order what its later life alters, of a payment its id alone.
 * 3. A payment counts as answered once it has its session; until then a repeat resumes it, and when it ended without one the
 *    request is decided anew.
 */
import { valuesReply, type Decision, type NamedReply } from './decision.ts';
import { fact, type FactData, type IdempotencyMark, type RequestAnswer } from './fact.ts';
import { viewHold } from './holds/view.ts';
import { recall, remember } from './idempotency.ts';
import { Defect, invariant } from './invariant.ts';
import { viewOrder } from './orders/view.ts';
import { waitingPayment, withoutSealedNote } from './orders/order.ts';
import { orderById } from './orders/state.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import type { Command, CommandOf } from './command.ts';
import type { IdempotentAnswer, OrderThen, OrderView } from './views.ts';
import type { EventState } from './event-state.ts';

type RepeatableType =
  | 'ChangeHold'
  | 'OpenPayment'
  | 'CancelOrder'
  | 'RecordRefund'
  | 'EraseOrder'
  | 'CancelPerformance'
  | 'BlockSeats'
  | 'UnblockSeats';

type Repeatable = { [Type in RepeatableType]: CommandOf<Type> }[RepeatableType];

const REPEATABLE: ReadonlySet<Command['type']> = new Set<RepeatableType>([
  'ChangeHold',
  'OpenPayment',
  'CancelOrder',
  'RecordRefund',
  'EraseOrder',
  'CancelPerformance',
  'BlockSeats',
  'UnblockSeats',
]);

/** The mark of a request that may be repeated, where the command has one. */
export function markOf(command: Command): IdempotencyMark | null {
  return REPEATABLE.has(command.type) ? ((command as Repeatable).idempotency ?? null) : null;
}

/** The decision that answers a repeat; null when the command has to be decided. IDEMPOTENCY_KEY_REUSED. */
export function recallDecision(
  state: EventState,
  command: Command,
  mark: IdempotencyMark,
  now: number,
): Decision | Refusal | null {
  const record = recall(state.idempotency, mark, now);
  if (record === null || isRefusal(record)) return record;
  const reply = replyAgain(state, command as Repeatable, record.answer);
  return reply === null ? null : { facts: [], reply };
}

/** The decision with the fact that keeps its answer; what the facts before it led to is looked up when it is applied. */
export function rememberAnswer({ facts, reply }: Decision, mark: IdempotencyMark): Decision {
  const answer = answerTo(reply);
  return { facts: [...facts, fact('RequestAnswered', { idempotency: mark, answer })], reply };
}

function answerTo(named: NamedReply): RequestAnswer {
  switch (named.shows) {
    case 'HOLD':
      return { of: 'HOLD', holdId: named.holdId };
    case 'PAYMENT':
      return { of: 'PAYMENT', orderId: named.orderId, paymentId: named.paymentId! };
    case 'ORDER':
      return { of: 'ORDER', orderId: named.orderId };
    case 'VALUES': {
      const { reply } = named;
      if ('releasedHolds' in reply) {
        return { of: 'PERFORMANCE', releasedHolds: reply.releasedHolds, cancelledOrders: reply.cancelledOrders };
      }
      if ('blockedSeats' in reply) return { of: 'SEATS', seats: reply.blockedSeats };
      if ('unblockedSeats' in reply) return { of: 'SEATS', seats: reply.unblockedSeats };
    }
  }
  throw new Defect('the reply to a command that may be repeated is one that can be kept');
}

// ── evolve ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Keeps an answer as the facts before it in its turn have made it. */
export function evolveRequestAnswered(state: EventState, data: FactData['RequestAnswered'], at: number): void {
  remember(state.idempotency, data.idempotency, at, keptAnswer(state, data.answer));
}

function keptAnswer(state: EventState, answer: FactData['RequestAnswered']['answer']): IdempotentAnswer {
  switch (answer.of) {
    case 'HOLD': {
      const hold = state.holds.byId.get(answer.holdId);
      invariant(hold !== undefined, 'a hold that was changed in this turn exists');
      return { of: 'HOLD', hold: viewHold(state, hold) };
    }
    case 'ORDER': {
      const order = orderById(state, answer.orderId);
      invariant(!isRefusal(order), 'an order that a command was about exists');
      return { of: 'ORDER_THEN', orderId: answer.orderId, then: changingOf(viewOrder(state, order)) };
    }
    default:
      return answer;
  }
}

/** What the later life of an order alters of its view. */
function changingOf(order: OrderView): OrderThen {
  return {
    status: order.status,
    paymentStatus: order.paymentStatus,
    paidCents: order.paidCents,
    remainingCents: order.remainingCents,
    refundedCents: order.refundedCents,
    refundDueCents: order.refundDueCents,
    refundsDue: order.refundsDue,
    paidInstallments: order.paidInstallments,
    payments: order.payments,
    refunds: order.refunds.map((refund) => ({ ...refund })),
    event: order.event,
    cancellation: order.cancellation,
    hasTickets: order.ticketCount > 0,
  };
}

// ── repeated replies ────────────────────────────────────────────────────────────────────────────────────────────────

/** The reply that was given, marked as a repeat; null where there was none yet and the request is decided anew (3). */
function replyAgain(state: EventState, command: Repeatable, answer: IdempotentAnswer): NamedReply | null {
  switch (answer.of) {
    case 'HOLD':
      return valuesReply<'ChangeHold'>({ hold: answer.hold, replayed: true });
    case 'PAYMENT':
      return paymentAgain(state, answer);
    case 'ORDER_THEN': {
      const order = orderThen(state, answer);
      if (command.type === 'CancelOrder') return valuesReply<'CancelOrder'>({ order, replayed: true });
      // A refund and an erasure that were recorded already answer alike.
      return valuesReply<'RecordRefund' | 'EraseOrder'>({ order, repeated: true, replayed: true });
    }
    case 'PERFORMANCE': {
      const { releasedHolds, cancelledOrders } = answer;
      return valuesReply<'CancelPerformance'>({ releasedHolds, cancelledOrders, replayed: true });
    }
    case 'SEATS':
      if (command.type === 'BlockSeats')
        return valuesReply<'BlockSeats'>({ blockedSeats: answer.seats, replayed: true });
      return valuesReply<'UnblockSeats'>({ unblockedSeats: answer.seats, replayed: true });
    case 'ORDER':
      invariant(false, 'a key marks requests of one route, because the route is in the digest');
  }
}

function paymentAgain(
  state: EventState,
  { orderId, paymentId }: { readonly orderId: string; readonly paymentId: string },
): NamedReply | null {
  const order = orderById(state, orderId);
  const payment = isRefusal(order) ? undefined : order.payments.find(({ id }) => id === paymentId);
  if (isRefusal(order) || payment === undefined) return null;
  const isAnswered = payment.checkoutSessionId !== null;
  if (!isAnswered && waitingPayment(order)?.id !== paymentId) return null;
  return { shows: 'PAYMENT', orderId, paymentId, replayed: isAnswered, resumed: !isAnswered };
}

function orderThen(
  state: EventState,
  { orderId, then }: { readonly orderId: string; readonly then: OrderThen },
): OrderView {
  const order = orderById(state, orderId);
  invariant(!isRefusal(order), 'an order is kept as long as an answer about it');
  const { hasTickets, ...kept } = then;
  const now = viewOrder(state, order);
  const changing = now.personal.erasure === null ? kept : { ...kept, ...withoutNotes(kept) };
  return hasTickets
    ? { ...now, ...changing }
    : { ...now, ...changing, tickets: [], ticketCount: 0, ticketsNextAfter: null };
}

/** An answer from before an order was erased shows of its notes what the order does. */
function withoutNotes({ refunds, cancellation }: Pick<OrderThen, 'refunds' | 'cancellation'>) {
  return { refunds: refunds.map(withoutSealedNote), cancellation: cancellation && withoutSealedNote(cancellation) };
}
