/**
 * Commands that a request may repeat under its idempotency key: the repeat gets the first answer, whatever happened meanwhile.
 *
 * Owns which commands these are beside `PlaceHold` and `StartCheckout`, whose own facts carry the mark, and what is kept of their
 * answers. The book of keys is `idempotency.ts`. Called by `box-office.ts` around every decision.
 *
 * 1. The fact that keeps an answer is the last of its turn, so that answer and change are durable together.
 * 2. Only what may change is kept: of an order what its later life alters, of a payment its id alone.
 * 3. A payment counts as answered once it has its session; until then a repeat goes on with it, and when it ended without one the
 *    request is judged anew.
 */
import { fact, type Fact, type FactData, type IdempotencyMark } from './fact.ts';
import { viewHold } from './holds/holds.ts';
import { recall, remember } from './idempotency.ts';
import { invariant } from './invariant.ts';
import { viewOrder, viewPayment } from './orders/view.ts';
import { orderById } from './orders/orders.ts';
import { waitingPayment } from './orders/payments.ts';
import { isRefusal, type Refusal } from './refusal.ts';
import type { Command, CommandOf, Replies, Reply } from './command.ts';
import type { Decision } from './decision.ts';
import type { IdempotentAnswer, OrderThen, OrderView } from './views.ts';
import type { EventState } from './event-state.ts';

type RepeatableType =
  'ChangeHold' | 'OpenPayment' | 'CancelOrder' | 'RecordRefund' | 'CancelPerformance' | 'BlockSeats' | 'UnblockSeats';

type Repeatable = { [Type in RepeatableType]: CommandOf<Type> }[RepeatableType];

const REPEATABLE: ReadonlySet<Command['type']> = new Set<RepeatableType>([
  'ChangeHold',
  'OpenPayment',
  'CancelOrder',
  'RecordRefund',
  'CancelPerformance',
  'BlockSeats',
  'UnblockSeats',
]);

/** The decision on a command, or the answer that its idempotency key stands for: IDEMPOTENCY_KEY_REUSED. */
export function decideOnce(
  state: EventState,
  command: Command,
  now: number,
  decideAnew: () => Decision | Refusal,
): Decision | Refusal {
  const mark = markOf(command);
  if (mark === null) return decideAnew();
  const record = recall(state.idempotency, mark, now);
  if (record !== null && isRefusal(record)) return record;
  const reply = record === null ? null : replyAgain(state, command as Repeatable, record.answer);
  if (reply !== null) return { outcome: 'DECIDED', facts: [], reply: () => reply };
  const decision = decideAnew();
  if (isRefusal(decision)) return decision;
  const answer = answerTo(state, command as Repeatable, decision);
  return { ...decision, facts: [...decision.facts, fact('RequestAnswered', { idempotency: mark, answer })] };
}

function markOf(command: Command): IdempotencyMark | null {
  return REPEATABLE.has(command.type) ? ((command as Repeatable).idempotency ?? null) : null;
}

/** What the fact says of the answer; what the facts before it led to is looked up when it is applied. */
function answerTo(state: EventState, command: Repeatable, { facts }: Decision): FactData['RequestAnswered']['answer'] {
  switch (command.type) {
    case 'ChangeHold':
      return { of: 'HOLD', holdId: command.holdId };
    case 'OpenPayment':
      return { of: 'PAYMENT', orderId: command.orderId, paymentId: paymentAsked(state, command, facts) };
    case 'CancelOrder':
    case 'RecordRefund':
      return { of: 'ORDER', orderId: command.orderId };
    case 'CancelPerformance':
      return {
        of: 'PERFORMANCE',
        releasedHolds: countOf(facts, 'HoldReleased'),
        cancelledOrders: countOf(facts, 'OrderCancelled'),
      };
    case 'BlockSeats':
    case 'UnblockSeats':
      return { of: 'SEATS', seats: countSeats(facts) };
  }
}

/** The payment that a request for one leads to: a new one, or the one that waits already. */
function paymentAsked(state: EventState, { orderId }: CommandOf<'OpenPayment'>, facts: readonly Fact[]): string {
  const requested = facts.find((each) => each.type === 'PaymentRequested');
  if (requested !== undefined) return requested.data.paymentId;
  const order = orderById(state, orderId);
  const waiting = isRefusal(order) ? null : waitingPayment(order);
  invariant(waiting !== null, 'a request for a payment that leads to no new one finds one that waits');
  return waiting.id;
}

/** How many facts of a type a turn has led to. */
export function countOf(facts: readonly Fact[], type: Fact['type']): number {
  return facts.filter((each) => each.type === type).length;
}

/** How many seats a turn has blocked or unblocked. */
export function countSeats(facts: readonly Fact[] | Refusal): number {
  const [first] = isRefusal(facts) ? [] : facts;
  return first?.type === 'SeatsBlocked' || first?.type === 'SeatsUnblocked' ? first.data.seatIds.length : 0;
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
      invariant(hold !== undefined, 'a hold that was changed in this turn is there');
      return { of: 'HOLD', hold: viewHold(state, hold) };
    }
    case 'ORDER': {
      const order = orderById(state, answer.orderId);
      invariant(!isRefusal(order), 'an order that a command was about is there');
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

// ── the answer again ─────────────────────────────────────────────────────────────────────────────────────────────────

/** The reply that was given, marked as a repeat; null where there was none yet and the request is judged anew (3). */
function replyAgain(state: EventState, command: Repeatable, answer: IdempotentAnswer): Reply | null {
  switch (answer.of) {
    case 'HOLD':
      return done<'ChangeHold'>({ hold: answer.hold, replayed: true });
    case 'PAYMENT':
      return paymentAgain(state, answer);
    case 'ORDER_THEN': {
      const order = orderThen(state, answer);
      if (command.type === 'CancelOrder') return done<'CancelOrder'>({ order, replayed: true });
      return done<'RecordRefund'>({ order, repeated: true, replayed: true });
    }
    case 'PERFORMANCE':
      return done<'CancelPerformance'>({ ...answer, replayed: true });
    case 'SEATS':
      if (command.type === 'BlockSeats') return done<'BlockSeats'>({ blockedSeats: answer.seats, replayed: true });
      return done<'UnblockSeats'>({ unblockedSeats: answer.seats, replayed: true });
    case 'ORDER':
      invariant(false, 'a key marks requests of one route, because the route is in it');
  }
}

function paymentAgain(
  state: EventState,
  { orderId, paymentId }: { readonly orderId: string; readonly paymentId: string },
): Reply | null {
  const order = orderById(state, orderId);
  const payment = isRefusal(order) ? undefined : order.payments.find(({ id }) => id === paymentId);
  if (isRefusal(order) || payment === undefined) return null;
  const isAnswered = payment.checkoutSessionId !== null;
  if (!isAnswered && waitingPayment(order)?.id !== paymentId) return null;
  const reply = { order: viewOrder(state, order), payment: viewPayment(order, payment) };
  return done<'OpenPayment'>({ ...reply, replayed: isAnswered, resumed: !isAnswered });
}

function orderThen(
  state: EventState,
  { orderId, then }: { readonly orderId: string; readonly then: OrderThen },
): OrderView {
  const order = orderById(state, orderId);
  invariant(!isRefusal(order), 'an order is kept as long as the answers about it');
  const { hasTickets, ...changing } = then;
  const now = viewOrder(state, order);
  return hasTickets
    ? { ...now, ...changing }
    : { ...now, ...changing, tickets: [], ticketCount: 0, ticketsNextAfter: null };
}

function done<Type extends RepeatableType>(reply: Replies[Type]): Reply {
  return { outcome: 'DONE', ...reply } as Reply;
}
