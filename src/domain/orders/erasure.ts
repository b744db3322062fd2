/**
 * How personal data of orders is sealed, and erased: for a person who asks, or when the retention of the event has
 * passed.
 *
 * 1. The fact of an erasure names the keys of every sealed text of its order. The keys are destroyed once it is
 *    durable, and before anybody is answered.
 * 2. An order whose payment is awaited is not erased: its buyer is at the provider's page. Notes that are written about
 *    an erased order later are erased by the next request.
 * 3. Nothing else changes: tickets, money and seats stay, and so does the keyed hash of the address, for the limit. No
 *    search finds the order by it.
 */
import { fact, type Fact, type FactData, type OperatorNote, type OrderItem } from '../fact.ts';
import { keyIdOf, type ErasureCause, type PersonalData, type SealingFactType } from '../personal.ts';
import { valuesReply, type Decision } from '../decision.ts';
import { hasSealed, sealedTextsOf, type Order } from './order.ts';
import { orderById, type OrderState, type OrderTurn } from './state.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { retentionEndsAt } from '../catalogue/sale-plan.ts';
import type { CommandOf, CommandType } from '../command.ts';

/** Orders that one turn looks at: some milliseconds. */
const SCANNED_ORDERS_MAX = 1_000;

// ── sealing ──────────────────────────────────────────────────────────────────────────────────────────────────────────

type PersonalFields = Pick<FactData['OrderPlaced'], 'items' | 'customer' | 'personal' | 'tracking'>;

/** The fields of an OrderPlaced that say something about people: one sealed text, and nothing open. */
export function sealPersonal(
  orderId: string,
  items: readonly OrderItem[],
  { customer, tracking, addressHash }: Pick<PersonalData, 'customer' | 'tracking'> & { addressHash: string | null },
  { sealing }: Pick<OrderTurn, 'sealing'>,
): PersonalFields {
  if (sealing === null || addressHash === null) return { items, customer, tracking };
  const attendees = items.map((item) => item.attendees);
  const sealed = sealing.seal(orderId, 'OrderPlaced', { customer, attendees, tracking });
  return {
    items: items.map((item) => (item.attendees === null ? item : { ...item, attendees: null, isNamed: true })),
    customer: null,
    personal: { sealed, addressHash },
    tracking: null,
  };
}

/** What an operator wrote about an order, for its fact. */
export function sealMark(
  orderId: string,
  factType: SealingFactType,
  { operator, note }: OperatorNote,
  { sealing }: Pick<OrderTurn, 'sealing'>,
): OperatorNote & { readonly sealedNote?: string } {
  if (note === null || sealing === null) return { operator, note };
  return { operator, note: null, sealedNote: sealing.seal(orderId, factType, note) };
}

// ── erasing ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Erases an order; nothing when nothing sealed is left of it. ORDER_NOT_FOUND; ORDER_NOT_SEALED when its data are open
 * in a fact of an older version; ORDER_NOT_ERASABLE while its payment is awaited (rule 2).
 */
export function decideEraseOrder(state: OrderState, command: CommandOf<'EraseOrder'>): Decision | Refusal {
  const { orderId, operator } = command;
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  if (order.purchase.personal === undefined) return refuse('ORDER_NOT_SEALED', {});
  const facts = hasSealed(order) ? [erased(order, operator, 'REQUEST')] : [];
  if (facts.length > 0 && !isErasable(order)) return refuse('ORDER_NOT_ERASABLE', { status: order.status });
  return { facts, reply: { shows: 'ORDER', orderId, repeated: facts.length === 0 } };
}

/**
 * Erases orders whose retention has passed, from the one after number `after` on. At most `limit` are erased, and a
 * bounded number is looked at.
 */
export function decideEraseDueOrders(
  state: OrderState,
  { after, limit }: CommandOf<'EraseDueOrders'>,
  now: number,
): Decision {
  const { inOrder, openCount, sealedCount } = state.orders;
  const endsAt = retentionEndsAt(state.plan.definition);
  const isDue = endsAt !== null && endsAt <= now;
  if (!isDue || sealedCount === 0) {
    const unsealedOrders = isDue ? openCount : 0;
    return { facts: [], reply: valuesReply<'EraseDueOrders'>({ erasedOrders: 0, unsealedOrders, nextAfter: null }) };
  }
  const facts: Fact[] = [];
  let number = after === null ? 0 : after + 1;
  const end = Math.min(inOrder.length, number + SCANNED_ORDERS_MAX);
  for (; number < end && facts.length < limit; number += 1) {
    const order = inOrder.at(number);
    if (hasSealed(order) && isErasable(order)) facts.push(erased(order, null, 'RETENTION'));
  }
  const reply = valuesReply<'EraseDueOrders'>({
    erasedOrders: facts.length,
    unsealedOrders: openCount,
    nextAfter: number < inOrder.length ? number - 1 : null,
  });
  return { facts, reply };
}

function isErasable({ status }: Order): boolean {
  return status !== 'PENDING';
}

function erased(order: Order, operator: string | null, cause: ErasureCause): Fact {
  const keyIds = sealedTextsOf(order).map(keyIdOf);
  return fact('OrderErased', { orderId: order.id, keyIds, operator, cause });
}

/** Whether a command of a type may erase something. */
export function erases(type: CommandType): boolean {
  return type === 'EraseOrder' || type === 'EraseDueOrders';
}

/** The keys that a fact says are to be destroyed. */
export function keyIdsErasedBy(fact: Fact): readonly string[] {
  return fact.type === 'OrderErased' ? fact.data.keyIds : [];
}
