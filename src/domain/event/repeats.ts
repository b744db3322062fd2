/**
 * Idempotency keys of all commands: a repeat of a request under its key gets the first answer, whatever happened
 * meanwhile.
 *
 * 1. An answer is kept when the fact that carries the key is applied, so that answer and change are durable together.
 *    HoldPlaced and OrderPlaced carry the key of their own request, and CheckoutResumed gives an order a further one;
 *    the keys of all other commands are in RequestAnswered, the last fact of the turn.
 * 2. An answer has a tag for its kind. Only data that may change is kept: the fields of an order that later facts
 *    alter, but only the id of a payment or of an order that was placed. A hold is kept as its id while it is
 *    unchanged; the fact that changes or ends the hold replaces the id by the view from before.
 * 3. A payment counts as answered once it has its session; until then a repeat resumes it, and when it ended without
 *    one the request is decided anew. The same holds for the first payment of an order that was placed.
 * 4. A request with personal data is recognized by a keyed digest. A request that an older version answered has an open
 *    digest in its record, and is recognized by that.
 */
import { isPublished } from '../catalogue/state.ts';
import { valuesReply, type Decision, type ReplyReference } from '../decision.ts';
import { fact, type FactData, type FactOf, type IdempotencyKey, type RequestAnswer } from '../fact.ts';
import { viewHold } from '../holds/view.ts';
import { recall, remember, type IdempotencyRecord } from '../idempotency.ts';
import { Defect, invariant } from '../invariant.ts';
import { viewOrder } from '../orders/view.ts';
import {
  awaitsFirstSession,
  firstPaymentOf,
  reservedCents,
  waitingPayment,
  withoutSealedNote,
  type Order,
  type Payment,
} from '../orders/order.ts';
import { asThen, type ChangesThen } from '../orders/amendments/tickets.ts';
import { orderById } from '../orders/state.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import type { Command, CommandType } from '../command.ts';
import type { Hold } from '../holds/hold-records.ts';
import type { OrderTurn } from '../orders/state.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';
import type { HoldView, IdempotentAnswer, OrderThen, OrderView } from '../view.ts';
import type { EventState } from './state.ts';

/** A fact that carries an idempotency key. */
type KeyedFact = {
  [Type in 'HoldPlaced' | 'OrderPlaced' | 'CheckoutResumed' | 'RequestAnswered']: FactOf<Type>;
}['HoldPlaced' | 'OrderPlaced' | 'CheckoutResumed' | 'RequestAnswered'];

/** Whether the facts of a command carry its key themselves (rule 1). */
function carriesOwnKey({ type }: Command): boolean {
  return type === 'PlaceHold' || type === 'StartCheckout';
}

/** The idempotency key of a request; null where it has none. */
export function idempotencyOf(command: Command): IdempotencyKey | null {
  return (command as { readonly idempotency?: IdempotencyKey | null }).idempotency ?? null;
}

/** The command with the digest that is kept of its request (rule 4). */
export function withStoredDigest(
  state: EventState,
  command: Command,
  { sealing }: Pick<OrderTurn, 'sealing'>,
): Command {
  if (!SAYS_SOMETHING_ABOUT_PEOPLE.has(command.type)) return command;
  const idempotency = idempotencyOf(command);
  if (idempotency === null || sealing === null) return command;
  const { key, digest } = idempotency;
  if (state.idempotency.get(key)?.digest === digest) return command;
  return { ...command, idempotency: { key, digest: sealing.requestDigest(digest) } } as Command;
}

const SAYS_SOMETHING_ABOUT_PEOPLE: ReadonlySet<CommandType> = new Set<CommandType>([
  'StartCheckout',
  'SellAtCounter',
  'AmendOrder',
  'CancelOrder',
  'RecordRefund',
  'ExecuteRefund',
  'ResolveRefund',
  'ScanByHand',
]);

/** The decision that answers a repeat; null when the command has to be decided. IDEMPOTENCY_KEY_REUSED. */
export function recallDecision(
  state: EventState,
  command: Command,
  idempotency: IdempotencyKey,
  now: number,
): Decision | Refusal | null {
  // Whether the event is on sale, or has the order, is checked before the key.
  if (carriesOwnKey(command) && !isPublished(state)) return null;
  if (command.type === 'AmendOrder' && isRefusal(orderById(state, command.orderId))) return null;
  const record = recall(state.idempotency, idempotency, now);
  if (record === null || isRefusal(record)) return record;
  const reply = replyAgain(state, command, record.answer);
  return reply === null ? null : { facts: [], reply };
}

/**
 * The decision with the fact that keeps its answer. When that fact is applied, it looks up the result of the facts
 * before it.
 */
export function rememberAnswer(command: Command, decision: Decision, idempotency: IdempotencyKey): Decision {
  if (carriesOwnKey(command)) return decision;
  const { facts, reply } = decision;
  const answer = answerTo(reply);
  return { facts: [...facts, fact('RequestAnswered', { idempotency, answer })], reply };
}

function answerTo(named: ReplyReference): RequestAnswer {
  switch (named.shows) {
    case 'HOLD':
      return { of: 'HOLD', holdId: named.holdId };
    case 'PAYMENT':
      return { of: 'PAYMENT', orderId: named.orderId, paymentId: named.paymentId! };
    case 'ORDER':
      return { of: 'ORDER', orderId: named.orderId };
    case 'AMENDMENT':
      return { of: 'AMENDMENT', orderId: named.orderId, amendmentId: named.amendmentId };
    case 'VALUES': {
      const { reply } = named;
      if ('releasedHolds' in reply) {
        const { releasedHolds, cancelledOrders, amendedOrders } = reply;
        const amended = amendedOrders > 0 && { amendedOrders };
        return { of: 'PERFORMANCE', releasedHolds, cancelledOrders, ...amended };
      }
      if ('sums' in reply) return { of: 'REFUNDS' };
      if ('result' in reply) return { of: 'SCAN', result: reply.result };
      if ('blockedSeats' in reply) return { of: 'SEATS', seats: reply.blockedSeats };
      if ('unblockedSeats' in reply) return { of: 'SEATS', seats: reply.unblockedSeats };
    }
  }
  throw new Defect('the reply to a command that may be repeated is one that can be kept');
}

// ── evolve ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Keeps the answer to the request whose key a fact carries: the result of this fact and those before it in its turn.
 */
export function keepAnswer(state: EventState, happened: KeyedFact, at: number): void {
  const { idempotency } = happened.data;
  if (idempotency === null) return;
  const answer = answerIn(state, happened);
  remember(state.idempotency, idempotency, at, answer);
  if (answer.of === 'LIVE_HOLD') state.holds.byId.get(answer.holdId)!.answerKey = idempotency.key;
}

/** A fact is about to change or end this hold: the answer that it was until now is kept as a view (rule 2). */
export function keepHoldAsItWas(state: EventState, hold: Hold | undefined, at: number): void {
  if (hold?.answerKey === undefined) return;
  const record = state.idempotency.get(hold.answerKey);
  hold.answerKey = undefined;
  if (record?.answer.of !== 'LIVE_HOLD' || record.answer.holdId !== hold.id) return;
  state.idempotency.replace(record, { of: 'HOLD', hold: viewHold(state, hold) });
  state.idempotency.dropOld(at);
}

/** A new plan is about to be taken over: does the same for the holds that the plan shows in another way. */
export function keepHoldsAsShown(state: EventState, plan: SalePlan, at: number): void {
  for (const hold of state.holds.byId.objects()) {
    if (hold.answerKey === undefined) continue;
    const [before, after] = [state, { ...state, plan }].map((shown) => JSON.stringify(viewHold(shown, hold)));
    if (before !== after) keepHoldAsItWas(state, hold, at);
  }
}

/** Takes over a record of a snapshot. */
export function restoreAnswer(state: EventState, record: IdempotencyRecord<IdempotentAnswer>): void {
  state.idempotency.add(record);
  if (record.answer.of === 'LIVE_HOLD') state.holds.byId.get(record.answer.holdId)!.answerKey = record.key;
}

function answerIn(state: EventState, { type, data }: KeyedFact): IdempotentAnswer {
  switch (type) {
    case 'HoldPlaced':
      return { of: 'LIVE_HOLD', holdId: data.holdId };
    case 'OrderPlaced':
    case 'CheckoutResumed':
      return { of: 'ORDER', orderId: data.orderId };
    case 'RequestAnswered':
      return keptAnswer(state, data.answer);
  }
}

function keptAnswer(state: EventState, answer: FactData['RequestAnswered']['answer']): IdempotentAnswer {
  switch (answer.of) {
    case 'HOLD':
      return { of: 'LIVE_HOLD', holdId: answer.holdId };
    case 'ORDER': {
      const order = orderIn(state, answer.orderId);
      return { of: 'ORDER_THEN', orderId: answer.orderId, then: changingOf(viewOrder(state, order), order) };
    }
    case 'PAYMENT':
      return { ...answer, ...changesOf(orderIn(state, answer.orderId)) };
    case 'REFUNDS':
      return { ...answer, sums: state.orders.refunds.sums };
    default:
      return answer;
  }
}

/** The fields of an order's view that later facts alter. */
function changingOf(order: OrderView, amended: Order): OrderThen {
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
    ...changesOf(amended),
  };
}

/** What an answer about an order keeps of its amendments, where it has some. */
function changesOf({ changed, ticketIds }: Order): { readonly changes?: ChangesThen } {
  return changed === undefined ? {} : { changes: { changed, ticketIds } };
}

// ── repeated replies ────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The reply that was given, marked as a repeat; null where there was none yet and the request is decided anew (rule 3).
 */
function replyAgain(state: EventState, command: Command, answer: IdempotentAnswer): ReplyReference | null {
  switch (answer.of) {
    case 'HOLD':
      return holdAgain(answer.hold);
    case 'LIVE_HOLD':
      return holdAgain(viewHold(state, state.holds.byId.get(answer.holdId)!));
    case 'ORDER': {
      const order = orderIn(state, answer.orderId);
      return paymentAgain(order, firstPaymentOf(order), awaitsFirstSession(order), null);
    }
    case 'PAYMENT': {
      const order = orderIn(state, answer.orderId);
      const payment = order.payments.find(({ id }) => id === answer.paymentId);
      const isAwaited = waitingPayment(order)?.id === payment?.id;
      return payment === undefined ? null : paymentAgain(order, payment, isAwaited, answer.changes ?? null);
    }
    case 'ORDER_THEN': {
      const order = orderThen(state, answer);
      if (command.type === 'CancelOrder' || command.type === 'SellAtCounter' || command.type === 'RequestMail')
        return valuesReply<'CancelOrder' | 'SellAtCounter' | 'RequestMail'>({ order, replayed: true });
      // A refund and an erasure that were recorded already answer alike.
      return valuesReply<'RecordRefund' | 'EraseOrder'>({ order, repeated: true, replayed: true });
    }
    case 'AMENDMENT':
      return { shows: 'AMENDMENT', orderId: answer.orderId, amendmentId: answer.amendmentId, replayed: true };
    case 'PERFORMANCE': {
      const { of: _of, amendedOrders = 0, ...counts } = answer;
      return valuesReply<'CancelPerformance'>({ ...counts, amendedOrders, replayed: true });
    }
    case 'REFUNDS':
      return valuesReply<'ExecuteDueRefunds'>({ sums: answer.sums, replayed: true });
    case 'SCAN':
      return valuesReply<'ScanByHand'>({ result: answer.result, replayed: true });
    case 'SEATS':
      if (command.type === 'BlockSeats')
        return valuesReply<'BlockSeats'>({ blockedSeats: answer.seats, replayed: true });
      return valuesReply<'UnblockSeats'>({ unblockedSeats: answer.seats, replayed: true });
  }
}

function holdAgain(hold: HoldView): ReplyReference {
  return valuesReply<'PlaceHold' | 'ChangeHold'>({ hold, replayed: true });
}

/**
 * For an order with nothing to pay the payment is null, and the answer was complete at once. `changes`: those of
 * amendments before the answer; a repeated answer does not show later ones.
 */
function paymentAgain(
  { id: orderId }: Order,
  payment: Payment | null,
  isAwaited: boolean,
  changes: object | null,
): ReplyReference | null {
  const replayed = payment === null || payment.checkoutSessionId !== null;
  if (!replayed && !isAwaited) return null;
  const paymentId = payment?.id ?? null;
  return {
    shows: 'PAYMENT',
    orderId,
    paymentId,
    replayed,
    resumed: !replayed,
    ...(replayed && { before: { changes } }),
  };
}

function orderIn(state: EventState, orderId: string): Order {
  const order = orderById(state, orderId);
  invariant(!isRefusal(order), 'an order is kept as long as an answer about it');
  return order;
}

function orderThen(
  state: EventState,
  { orderId, then }: { readonly orderId: string; readonly then: OrderThen },
): OrderView {
  const { hasTickets, changes, ...kept } = then;
  const now = viewOrder(state, asThen(orderIn(state, orderId), (changes as ChangesThen | undefined) ?? null));
  // An answer that an older version kept has no such sum; it is calculated from the refunds.
  const refundPendingCents = reservedCents({ refunds: kept.refunds, purchase: now }, now.currency);
  const answered = { ...kept, refundPendingCents };
  const changing = now.personal.erasure === null ? answered : { ...answered, ...withoutNotes(kept) };
  return hasTickets
    ? { ...now, ...changing }
    : { ...now, ...changing, tickets: [], ticketCount: 0, ticketsNextAfter: null };
}

/** An answer from before an order was erased shows no more of its notes than the order does. */
function withoutNotes({ refunds, cancellation }: Pick<OrderThen, 'refunds' | 'cancellation'>) {
  return { refunds: refunds.map(withoutSealedNote), cancellation: cancellation && withoutSealedNote(cancellation) };
}
