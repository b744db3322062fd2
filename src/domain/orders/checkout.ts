/**
 * How an order is placed: a checkout takes over a hold, or reserves its items itself.
 *
 * The order of the checks is the API's: idempotency key; terms; hold or waiting-room pass; performances, types and
 * stages; installments; purchase limits; attendees; codes; perks; seats and stock; a provider to pay.
 *
 * 1. A refused checkout changes nothing: the hold stays ACTIVE, no code and no perk is spent.
 * 2. Without a hold, one is placed and converted in the same turn, by the same rules as any other; the session's ACTIVE
 *    hold counts as free and is replaced.
 * 3. Performances, stages and prices of a hold are not checked again: they are those of its placing.
 * 4. A start that never led to a provider's session is resumed by the same start: by its hold, or by its idempotency
 *    key.
 * 5. At a counter an operator sells for any performance that takes place: terms, pass, window of a stage, pause and a
 *    closed date do not matter. The order is CONFIRMED in the same turn, paid in cash or given away; an order that is
 *    given away costs nothing, perks included. The limits of the event are checked unless the operator says otherwise.
 */
import { findCodes, findPerks, priceItems, totalOf } from './pricing.ts';
import { fact, type Fact, type FactData, type HoldLine, type OrderItem } from '../fact.ts';
import { refuseUnlessActive } from '../holds/decide.ts';
import { AMOUNT_CENTS_MAX, isAmount, splitEvenly } from '../money.ts';
import type { OrderTurn, OrderState } from './state.ts';
import { awaitsFirstSession, firstPaymentOf, type Order } from './order.ts';
import { issueTickets } from './payments.ts';
import {
  allotSeats,
  checkAttendees,
  itemsOfLines,
  itemsOfRequested,
  matchItems,
  type PurchaseItem,
} from './purchase.ts';
import { sealMark, sealPersonal } from './erasure.ts';
import { checkCartSize } from '../holds/cart-limits.ts';
import { checkLimits } from './purchase-limits.ts';
import { emailKey } from '../email-key.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../refusal.ts';
import { assignTickets, type RequestedLine } from '../inventory/assignment.ts';
import { findRequested } from '../holds/new-lines.ts';
import { boundOrderTexts, boundTracking } from './tracking.ts';
import type { CommandOf } from '../command.ts';
import { refuseWhilePaused } from '../steering.ts';
import { checkPass, decideSpendPass } from '../waiting-room/decide.ts';
import type { PaymentKind } from '../catalogue/definition.ts';
import { isPublished } from '../catalogue/state.ts';
import type { Decision, ReplyReference } from '../decision.ts';
import { activeHoldOf, findAnyHold, type Hold } from '../holds/state.ts';

type StartCheckout = CommandOf<'StartCheckout'>;

/** The request for an order, wherever its tickets come from. */
type Asked = Omit<StartCheckout, 'type' | 'holdId' | 'items' | 'acceptTerms' | 'queuePass'>;

/** The tickets of a checkout: those of a hold, or those that can be assigned once everything else was checked. */
interface Selection {
  readonly items: readonly PurchaseItem[];
  /** The hold to take over, or null. */
  readonly hold: Hold | null;
  /** What is to be assigned where there is no hold. */
  readonly requested: readonly RequestedLine[];
}

/** Starts a checkout, or finds the one that was started before. Refuses in the API's order. */
export function decideStartCheckout(state: OrderState, command: StartCheckout, turn: OrderTurn): Decision | Refusal {
  if (!isPublished(state)) return refuse('EVENT_NOT_FOUND', {});
  const { now, sealing } = turn;
  if (!command.acceptTerms) return refuse('TERMS_NOT_ACCEPTED', {});
  const unfinished = findUnfinished(state, command);
  if (unfinished !== null) return resume(unfinished, command);
  const selection = select(state, command, now);
  if (isRefusal(selection)) return selection;
  const addressHash = sealing?.addressHash(command.customer.email) ?? null;
  const purchase = checkPurchase(state, command, selection, { now, addressHash });
  if (isRefusal(purchase)) return purchase;
  const { hold } = selection;
  const orderId = turn.newId('ord');
  const holdId = hold?.id ?? turn.newId('hld');
  const paymentId = totalOf(purchase.items) === 0 ? null : turn.newId('pay');
  const placed = placeOrder(state, command, { orderId, holdId, paymentId, items: purchase.items, addressHash }, turn);
  const spent = decideSpendPass(state, hold?.sessionKey ?? command.sessionKey, command.queuePass);
  const reserved = hold === null ? [placeHold(state, command, { orderId, holdId, lines: purchase.lines }, now)] : [];
  const reply: ReplyReference = { shows: 'PAYMENT', orderId, paymentId, resumed: false, replayed: false };
  return { facts: [...reserved, ...placed, ...spent], reply };
}

/** Makes an order at a counter (rule 5). Refuses in the API's order. */
export function decideSellAtCounter(
  state: OrderState,
  command: CommandOf<'SellAtCounter'>,
  turn: OrderTurn,
): Decision | Refusal {
  if (!isPublished(state)) return refuse('EVENT_NOT_FOUND', {});
  const { items: requests, customer, exceedsLimits } = command;
  const isGivenAway = command.payment === 'FREE';
  const found = findRequested(state, requests, turn.now, 'COUNTER');
  if (isRefusal(found)) return found;
  const requested = isGivenAway ? found.map((line) => ({ ...line, unitPriceCents: 0 })) : found;
  const selection = { items: itemsOfRequested(requested, requests), hold: null, requested };
  const addressHash = turn.sealing?.addressHash(customer.email) ?? null;
  const asked = { ...AT_COUNTER, customer };
  const purchase = checkPurchase(state, asked, selection, { now: turn.now, addressHash, exceedsLimits });
  if (isRefusal(purchase)) return purchase;
  const items = isGivenAway ? purchase.items.map(givenAway) : purchase.items;
  const totalCents = totalOf(items);
  const orderId = turn.newId('ord');
  const holdId = turn.newId('hld');
  const paymentId = totalCents === 0 ? null : turn.newId('pay');
  const ids = { orderId, holdId, paymentId };
  const placed = orderPlaced(state, asked, { ...ids, items, addressHash, kind: 'CASH', expiresAt: null }, turn);
  const sold = fact('SoldAtCounter', {
    orderId,
    ...(exceedsLimits && { exceedsLimits }),
    ...sealMark(orderId, 'SoldAtCounter', command, turn),
  });
  const paid = { amountCents: totalCents, currency: placed.currency, reference: null, webhookId: null };
  const recorded =
    paymentId === null
      ? []
      : [fact('PaymentRecorded', { orderId, paymentId, ...paid, isCounted: true, refundDueCents: 0 })];
  const facts = [
    placeHold(state, asked, { orderId, holdId, lines: purchase.lines }, turn.now),
    fact('OrderPlaced', placed),
    sold,
    ...recorded,
    ...confirmed(orderId, items, turn),
  ];
  return { facts, reply: { shows: 'ORDER', orderId, repeated: false } };
}

/** The fields of a checkout that an order at a counter lacks. */
const AT_COUNTER = {
  sessionKey: null,
  installmentCount: 1,
  promoCode: null,
  tracking: null,
  successUrl: null,
  cancelUrl: null,
  idempotency: null,
};

function givenAway(item: OrderItem): OrderItem {
  return { ...item, barPerks: item.barPerks.map((perk) => ({ ...perk, unitPriceCents: 0 })) };
}

// ── repeats ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The order that took the hold over and still has no session (rule 4). */
function findUnfinished(state: OrderState, command: StartCheckout): Order | null {
  const orderId = findHoldOf(state, command)?.orderId ?? null;
  const order = orderId === null ? undefined : state.orders.byId.get(orderId);
  return order !== undefined && awaitsFirstSession(order) ? order : null;
}

/** From now on the key of this start leads to the order too. */
function resume(order: Order, { idempotency }: StartCheckout): Decision {
  const facts = idempotency === null ? [] : [fact('CheckoutResumed', { orderId: order.id, idempotency })];
  const paymentId = firstPaymentOf(order)?.id ?? null;
  return { facts, reply: { shows: 'PAYMENT', orderId: order.id, paymentId, resumed: true, replayed: false } };
}

/** The hold that the command names, unless a session key is given that does not own it. */
function findHoldOf(state: OrderState, { holdId, sessionKey }: StartCheckout): Hold | null {
  return holdId === null ? null : (findAnyHold(state, holdId, sessionKey) ?? null);
}

// ── the checks ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Hold, match of items and hold, or pass; then performances, types and stages of what is reserved without a hold. */
function select(state: OrderState, command: StartCheckout, now: number): Selection | Refusal {
  if (command.holdId !== null) return selectHeld(state, command);
  const { items: requests, sessionKey, queuePass } = command;
  if (requests === null) return refuseProblems([{ path: ['items'], message: 'is required where there is no hold_id' }]);
  const barred = refuseWhilePaused(state) ?? checkPass(state, sessionKey, queuePass, now);
  if (barred !== null) return barred;
  const requested = findRequested(state, requests, now);
  if (isRefusal(requested)) return requested;
  return { items: itemsOfRequested(requested, requests), hold: null, requested };
}

function selectHeld(state: OrderState, command: StartCheckout): Selection | Refusal {
  const hold = findHoldOf(state, command);
  if (hold === null) return refuse('HOLD_NOT_FOUND', {});
  const over = refuseUnlessActive(hold, 'CONVERT');
  if (over !== null) return over;
  const { lines } = hold;
  const items = command.items === null ? itemsOfLines(lines) : matchItems(state, lines, command.items);
  return isRefusal(items) ? items : { items, hold, requested: [] };
}

/** Checks everything from the installments to the stock, and prices the items. */
function checkPurchase(
  state: OrderState,
  command: Asked,
  { items, hold, requested }: Selection,
  {
    now,
    addressHash,
    exceedsLimits = false,
  }: { readonly now: number; readonly addressHash: string | null; readonly exceedsLimits?: boolean },
): { readonly items: readonly OrderItem[]; readonly lines: readonly HoldLine[] } | Refusal {
  const { plan, orders, perksSold } = state;
  const { maxInstallments, requireIndividualData } = plan.definition;
  const { installmentCount, customer, promoCode } = command;
  if (installmentCount > maxInstallments) {
    return refuse('INSTALLMENTS_NOT_ALLOWED', { limit: maxInstallments, requested: installmentCount });
  }
  const openKey = emailKey(customer.email);
  const buyerKeys = addressHash === null ? [openKey] : [addressHash, openKey];
  const overLimits = exceedsLimits ? checkCartSize(items) : checkLimits(plan, items, buyerKeys, orders.ticketsByBuyer);
  const barred = overLimits ?? checkAttendees(items, requireIndividualData);
  if (barred !== null) return barred;
  const codes = findCodes(plan, items, promoCode, orders.usesByCode, now);
  if (isRefusal(codes)) return codes;
  const perks = findPerks(plan, items, perksSold);
  if (isRefusal(perks)) return perks;
  const lines = hold?.lines ?? assignTickets(state, requested, activeHoldOf(state, command.sessionKey));
  if (isRefusal(lines)) return lines;
  const priced = priceItems(items, allotSeats(lines, items), perks, codes);
  return checkTotal(priced) ?? checkPayable(state, command, priced) ?? { items: priced, lines };
}

/** Checks the limit of this service on an order's total. */
function checkTotal(items: readonly OrderItem[]): Refusal | null {
  if (isAmount(totalOf(items))) return null;
  return refuseProblems([{ path: ['items'], message: `the order comes to more than ${AMOUNT_CENTS_MAX} cents` }]);
}

/** Refuses what nobody could ever pay, so that it keeps no tickets off sale. */
function checkPayable(state: OrderState, command: Asked, items: readonly OrderItem[]): Refusal | null {
  const isAbsent = command.absentProviders?.includes(state.plan.definition.paymentProvider) ?? false;
  return isAbsent && totalOf(items) > 0 ? refuse('PAYMENT_PROVIDER_UNAVAILABLE', {}) : null;
}

// ── the facts ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The hold of a checkout that began without one. Where no session is named, the order stands for the session. */
function placeHold(
  state: OrderState,
  { sessionKey }: Asked,
  {
    orderId,
    holdId,
    lines,
  }: { readonly orderId: string; readonly holdId: string; readonly lines: readonly HoldLine[] },
  now: number,
): Fact {
  const replaced = activeHoldOf(state, sessionKey);
  return fact('HoldPlaced', {
    holdId,
    sessionKey: sessionKey ?? orderId,
    lines,
    expiresAt: now + state.plan.paymentWindowMs,
    firstPlacedAt: replaced?.firstPlacedAt ?? now,
    replacedHoldId: replaced?.id ?? null,
    idempotency: null,
    orderId,
  });
}

/** The order and, where nothing is to be paid, its tickets at once. */
function placeOrder(
  state: OrderState,
  command: StartCheckout,
  {
    orderId,
    holdId,
    paymentId,
    items,
    addressHash,
  }: {
    readonly orderId: string;
    readonly holdId: string;
    readonly addressHash: string | null;
    readonly paymentId: string | null;
    readonly items: readonly OrderItem[];
  },
  turn: OrderTurn,
): readonly Fact[] {
  const isFree = totalOf(items) === 0;
  const kind = state.plan.definition.paymentProvider;
  const expiresAt = isFree ? null : turn.now + state.plan.paymentWindowMs;
  const terms = { orderId, holdId, paymentId, items, addressHash, kind, expiresAt };
  const order = fact('OrderPlaced', orderPlaced(state, command, terms, turn));
  return isFree ? [order, ...confirmed(orderId, items, turn)] : [order];
}

/** The terms of the order; an order that costs nothing is FREE, whatever kind of payment it would have. */
function orderPlaced(
  { plan }: OrderState,
  command: Asked,
  {
    orderId,
    holdId,
    paymentId,
    items,
    addressHash,
    kind,
    expiresAt,
  }: {
    readonly orderId: string;
    readonly holdId: string;
    readonly paymentId: string | null;
    readonly items: readonly OrderItem[];
    readonly addressHash: string | null;
    readonly kind: PaymentKind;
    readonly expiresAt: number | null;
  },
  turn: OrderTurn,
): FactData['OrderPlaced'] {
  const { customer, promoCode, tracking, successUrl, cancelUrl, idempotency } = command;
  const totalCents = totalOf(items);
  const isFree = totalCents === 0;
  return {
    orderId,
    holdId,
    ...sealPersonal(orderId, items, { customer, tracking: boundTracking(tracking), addressHash }, turn),
    promoCode,
    ...boundOrderTexts(command),
    successUrl,
    cancelUrl,
    currency: plan.definition.currency,
    totalCents,
    paymentProvider: isFree ? 'FREE' : kind,
    installmentsCents: isFree ? [] : splitEvenly(totalCents, Math.min(command.installmentCount, totalCents)),
    firstPaymentId: paymentId,
    expiresAt,
    idempotency,
  };
}

/** Nothing of an order is left to pay: it has its tickets. */
function confirmed(orderId: string, items: readonly OrderItem[], turn: OrderTurn): readonly Fact[] {
  return [fact('OrderPaid', { orderId, trigger: 'PAY_IN_FULL' }), issueTickets(orderId, items, turn)];
}
